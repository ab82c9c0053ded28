"""``ragassay golden import``: a golden set of the questions in a file."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.base.counts import FEW, grouped, plural
from ragassay.base.errors import UsageError
from ragassay.base.note import Note
from ragassay.cli.command import Given, command
from ragassay.cli.flags import pairs
from ragassay.cli.output import show

if TYPE_CHECKING:
    from ragassay.golden.exchange.golden_import import Placing


@command("golden import")
def import_(given: Given) -> None:
    """Make a golden set of the queries, references and gold spans of a file.

    Several records of one id, as of several systems, are one item; where they ask or expect
    different things, both are named and nothing is made. Fields of a golden set (status, tags,
    kinds of wrong answers ...) are taken as what they are.

    ```sh
    ragassay golden import questions.jsonl --documents docs -o golden
    ragassay golden import questions.csv --documents docs -o golden --columns references=answer
    ```
    """
    from ragassay.golden.documents import readable_documents
    from ragassay.golden.exchange.golden_import import imported
    from ragassay.golden.golden_folder import GoldenSet, check_output, with_contexts

    if given.documents is None:
        command = shlex.join(["ragassay", "golden", "import", str(given.data), "--documents"])
        raise UsageError(
            "A golden set says where in your documents the evidence of each reference stands, so "
            f"name their folder: {command} FOLDER -o {shlex.quote(str(given.output))}. To score "
            "answers by the references of this file alone, no golden set is needed: ragassay run "
            f"ANSWERS --references {shlex.quote(str(given.data))}."
        )
    renamed = pairs("--columns", given.columns, "FIELD=COLUMN", "references=answer", several=True)
    if (given.output / "queries.jsonl").exists():
        raise UsageError(
            f"{given.output} is a golden set already. Choose another folder with -o. To add items, "
            "export it with --drafts and import both files together, by a pattern: 'all/*.jsonl'."
        )
    check_output(given.output, given.data, given.documents)
    loaded, left_out = readable_documents(given.documents, skip=given.skip_unreadable)
    warn_of_left_out(left_out)
    result = imported(
        given.data, loaded, accept=given.accept, columns=renamed, encoding=given.encoding
    )
    items = result.items
    with_contexts(items, loaded)
    golden_set = GoldenSet(given.output, items, given.documents, left_out)
    golden_set.write(loaded, f"imported from {given.data.name}.")
    spans = sum(len(item.gold or ()) for item in items)
    show.lines(
        f"{given.output}: {plural(len(items), 'item')}, {plural(spans, 'gold span')} in "
        f"{plural(len(loaded), 'document')}"
    )
    statuses = Counter(item.status for item in items)
    if statuses.keys() != {"accepted" if given.accept else "draft"}:
        counts = ", ".join(f"{n} {name}" for name, n in statuses.most_common())
        show.lines(f"Status: {counts}. What {given.data} accepts or rejects stays so.")
    if len(items) < result.n_records:
        records = plural(result.n_records, "record")
        show.lines(f"{given.data} has {records}: those of one id are one item.")
    show.lines(*_about_gold(result.gold, given.data))


def _about_gold(gold: Sequence[Placing], data: Path) -> Iterator[str]:
    """Lines about the gold passages of a file: how each was placed in the documents."""
    if gold:
        n = sum(one.gold is not None for one in gold)
        yield f"{n:,} of {plural(len(gold), 'gold passage')} placed in the documents."
    by_kind = grouped((kind, one) for one in gold for kind in one.kinds)
    for kind in _KINDS:
        if ones := by_kind.get(kind, ()):
            ids = dict.fromkeys(one.item for one in ones)
            yield str(Note(kind, {"n": len(ones), "data": str(data)}, tuple(ids)))
            if kind in _LISTED:
                yield from map(_line, ones[:_MOST_PASSAGES])
                if len(ones) > _MOST_PASSAGES:
                    yield f"  and {len(ones) - _MOST_PASSAGES:,} more"


def _line(one: Placing) -> str:
    from ragassay.golden.golden_diff import differing

    if one.gold is None:
        return f"  {one.where}: {one.reason}"
    in_file, in_document = differing(one.said.text or "", one.gold.text or "")
    return f"  {one.where}, distance {one.distance:.2f}: {in_file} is {in_document}"


_LISTED = ("gold_nearly", "gold_left_out")
_KINDS = ("gold_moved", "gold_filled", "gold_spaced", "gold_marked_up", *_LISTED)
"""Kinds of notes, and those whose passages are listed below."""
_MOST_PASSAGES = 20
"""Gold passages that are named one by one."""


def warn_of_left_out(left_out: Mapping[str, str]) -> None:
    """Says on standard error which documents are left out."""
    if left_out:
        reasons = "; ".join(f"{name} {why}" for name, why in list(left_out.items())[:FEW])
        more = f"; and {len(left_out) - FEW} more" if len(left_out) > FEW else ""
        n = plural(len(left_out), "document")
        show.warn([f"{n} left out, because they cannot be taken: {reasons}{more}."])
