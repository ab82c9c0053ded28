"""``ragassay golden import``, ``export``, ``sample`` and ``split``: sets from files, and parts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.base.errors import InputError, UsageError
from ragassay.base.note import Note
from ragassay.base.printable import FEW, plural, share
from ragassay.cli import show
from ragassay.cli.command import Given, command, pairs

if TYPE_CHECKING:
    from ragassay.golden.golden_folder import GoldenSet
    from ragassay.golden.golden_item import GoldenItem, Status


@command("golden import")
def import_(given: Given) -> None:
    """Make a golden set of the queries, references and gold spans of a file.

    Records with the same id become a single item. If they ask or expect different things, that is
    an error. Fields of a golden set (status, tags, kinds of wrong answers ...) are kept.

    ```sh
    ragassay golden import questions.jsonl --documents docs -o golden
    ragassay golden import questions.csv --documents docs -o golden --columns references=answer
    ```
    """
    from ragassay.golden.documents import readable_documents
    from ragassay.golden.golden_folder import GoldenSet, check_output, with_contexts
    from ragassay.golden.golden_import import imported

    renamed = pairs("--columns", given.columns, "FIELD=COLUMN", "references=answer", several=True)
    if (given.output / "queries.jsonl").exists():
        raise UsageError(
            f"{given.output} already is a golden set. Choose another folder with -o. To add items, "
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
    golden_set.save()
    golden_set.save_manifest(loaded)
    spans = sum(len(item.gold or ()) for item in items)
    references = sum(len(item.references) for item in items)
    show.lines(
        f"{given.output}: {plural(len(items), 'item')}, {plural(references, 'reference')}, "
        f"{plural(spans, 'gold span')} in {plural(len(loaded), 'document')}"
    )
    statuses = Counter(item.status for item in items)
    if statuses.keys() != {"accepted" if given.accept else "draft"}:
        counts = ", ".join(f"{n} {name}" for name, n in statuses.most_common())
        show.lines(f"Status: {counts}. Items that {given.data} accepts or rejects stay so.")
    if len(items) < result.n_records:
        records = plural(result.n_records, "record")
        show.lines(f"{given.data} has {records}: records with the same id are one item.")
    if result.gold:
        placed = sum(placing.gold is not None for placing in result.gold)
        passages = plural(len(result.gold), "gold passage")
        show.lines(f"{placed:,} of {passages} placed in the documents.")
    if left := [placing for placing in result.gold if placing.gold is None]:
        show.lines(str(Note("gold_left_out", {"n": len(left)})))
        show.lines(*(f"  {placing.where}: {placing.reason}" for placing in left[:_MOST_PASSAGES]))
        if len(left) > _MOST_PASSAGES:
            show.lines(f"  and {len(left) - _MOST_PASSAGES:,} more")


_MOST_PASSAGES = 20
"""Gold passages that are named one by one."""


def warn_of_left_out(left_out: Mapping[str, str]) -> None:
    """Says on standard error which documents are left out."""
    if left_out:
        reasons = "; ".join(f"{name} {why}" for name, why in list(left_out.items())[:FEW])
        more = f"; and {len(left_out) - FEW} more" if len(left_out) > FEW else ""
        n = plural(len(left_out), "document")
        show.warn([f"{n} left out, because they cannot be taken: {reasons}{more}."])


@command("golden export")
def export(given: Given) -> None:
    """Write the accepted items as a file that 'ragassay run' and other tools read.

    ```sh
    ragassay golden export golden -o questions.jsonl
    ragassay golden export golden -o questions.csv --where 'source=user log'
    ragassay golden export golden -o beir --format beir
    ragassay golden export golden -o qrels.txt --format qrels
    ragassay golden export golden -o pairs.jsonl --format pairs
    ```
    """
    from ragassay.base.files import write_bytes
    from ragassay.golden.golden_export import EXPORTS, export_format, exported, left_out
    from ragassay.golden.golden_folder import GoldenSet, check_output

    check_output(given.output, given.folder)
    kind = export_format(given.output, given.format)
    golden = GoldenSet.open(given.folder)
    statuses: tuple[Status, ...] = ("accepted", "draft") if given.drafts else ("accepted",)
    items = golden.with_status(*statuses, where=given.where or ())
    if not items:
        raise InputError(
            f"none of its {plural(len(golden.items), 'item')} is accepted",
            path=given.folder,
            hint="Accept some (ragassay golden review)"
            + ("." if given.drafts else ", or include drafts: --drafts."),
        )
    try:
        exports = exported(items, kind, golden.documents)
    except InputError as error:
        raise error.at(path=given.folder) from None
    if "" not in exports.files and given.output.exists() and any(given.output.iterdir()):
        raise UsageError(f"{given.output} is not empty. Choose another folder with -o.")
    for name, content in exports.files.items():
        write_bytes(given.output / name, content)
    n_with = sum(map(EXPORTS[kind].has, items))
    rows = plural(exports.rows, EXPORTS[kind].noun)
    show.lines(f"{given.output}: {rows} of {share(n_with, len(items), 'item')}")
    if lacking := left_out(items, kind):
        show.warn([f"The format {kind} has no place for {', '.join(lacking)}: left out."])


@command("golden sample")
def sample(given: Given) -> None:
    """Draw a part of a golden set in which each kind of query has its share.

    Rejected items are left out.

    ```sh
    ragassay golden sample golden 30 -o golden-30 --by type,complexity
    ```
    """
    from ragassay.golden.golden_folder import GoldenSet
    from ragassay.golden.golden_parts import sampled

    golden = GoldenSet.open(given.folder)
    among = golden.with_status("accepted", "draft", where=given.where or ())
    items = sampled(among, given.n, given.by.split(","), given.seed)
    _save_parts(golden, {given.output: items})


@command("golden split")
def split(given: Given) -> None:
    """Divide a golden set into disjoint parts, in which each kind has its share.

    Similar queries stay in the same part: those whose gold spans share a sentence, that ask nearly
    the same, or that belong to one conversation. So the shares, which are printed, may differ a
    little from the wanted shares. Rejected items are left out.

    ```sh
    ragassay golden split golden --into dev=0.3,test=0.7
    ```
    """
    from ragassay.golden.golden_folder import GoldenSet
    from ragassay.golden.golden_parts import groups, split as divide

    golden = GoldenSet.open(given.folder)
    try:
        pairs = [part.strip().split("=") for part in given.into.split(",")]
        shares = {name: float(share) for name, share in pairs}
        if len(shares) < len(pairs) or not all(re.fullmatch(r"\w[\w.-]*", name) for name in shares):
            raise ValueError
    except ValueError:
        raise UsageError(
            f"--into {given.into!r}: write NAME=SHARE, as in dev=0.3,test=0.7; each name once."
        ) from None
    items = golden.with_status("accepted", "draft", where=given.where or ())
    fields = given.by.split(",")
    if not items:
        raise UsageError(f"{given.folder} has only rejected items: there is nothing to divide.")
    group_of_item = groups(items, golden.documents())
    parts = divide(items, shares, fields, given.seed, group_of_item)
    sizes = Counter(group_of_item)
    for name, of_part in parts.items():
        if not of_part:
            raise UsageError(
                f"--into {given.into}: the part {name} would be empty, because the items fall into "
                f"{plural(len(sizes), 'group')} that stay together. Ask for fewer parts."
            )
    show.lines(
        f"{given.folder}: {plural(len(items), 'item')} in {plural(len(sizes), 'group')} by shared "
        f"sentences, near-duplicates and conversations; the largest has {max(sizes.values())}"
    )
    folder = given.folder if given.folder.name.strip(".") else given.folder.resolve()
    _save_parts(
        golden,
        {folder.with_name(f"{folder.name}-{name}"): of_part for name, of_part in parts.items()},
        [
            f" ({len(parts[name]) / len(items):.1%}, wanted {share:.1%})"
            for name, share in shares.items()
        ],
    )


def _save_parts(
    golden: GoldenSet, parts: Mapping[Path, list[GoldenItem]], shares: Sequence[str] = ("",)
) -> None:
    """Writes parts of a golden set, or none where a place is taken; the shares are printed."""
    from ragassay.golden.golden_folder import GoldenSet, check_output

    for place in parts:
        if (place / "queries.jsonl").exists():
            raise UsageError(
                f"{place} is a golden set already. Delete it or choose another folder."
            )
        check_output(place, golden.folder, golden.documents_folder)
    for (place, items), of_wanted in zip(parts.items(), shares, strict=True):
        part = GoldenSet(place, items, golden.documents_folder, golden.left_out)
        documents = part.documents()
        part.save()
        part.save_manifest(documents)
        show.lines(f"{place}: {plural(len(items), 'item')}{of_wanted}")
