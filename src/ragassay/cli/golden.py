"""``ragassay golden``: golden sets, from a file of questions to a set that people trust."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from ragassay.cli import show
from ragassay.cli.flags import Switch, pairs as pairs_of
from ragassay.counts import either, few, plural
from ragassay.errors import InputError, UsageError

if TYPE_CHECKING:
    from ragassay.engine.results import MetricSummary
    from ragassay.golden import Anchored, GoldenItem, GoldenSet, GoldSpan, Placing

golden = App(
    name="golden",
    help="""Make and look after golden sets.

A golden set is a folder: queries with references and gold spans, a line each, and the documents in
which the spans stand. `ragassay run ANSWERS --golden DIR` scores a system by it.

```sh
ragassay golden import questions.jsonl --documents docs -o golden
ragassay golden anchor golden
ragassay golden split golden --into dev=0.5,test=0.5
```
""",
    help_format="markdown",
)


@golden.command(name="import")
def import_(
    data: Path,
    /,
    *,
    documents: Path | None = None,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    columns: Annotated[list[str] | None, Parameter(negative=())] = None,
    encoding: str | None = None,
    accept: Switch = False,
    skip_unreadable: Switch = False,
) -> None:
    """Make a golden set of the queries, references and gold spans of a file.

    Several records of one id, as of several systems, are one item; where they ask or expect
    different things, both are named and nothing is made. Fields of a golden set (status, tags,
    kinds of wrong answers ...) are taken as what they are.

    ```sh
    ragassay golden import questions.jsonl --documents docs -o golden
    ragassay golden import questions.csv --documents docs -o golden --columns references=answer
    ```

    Args:
        data: File of any format that 'ragassay run' reads.
        documents: Folder with the documents in which gold spans stand: text, Markdown, HTML, PDF,
            DOCX. It stays where it is. Required.
        output: Folder of the golden set, made here.
        columns: FIELD=COLUMN, for columns with names of their own: references=answer. Repeatable.
        encoding: Encoding of the file's text, as in cp1252 (default: utf-8).
        accept: The items count as accepted; else a person reviews them first. What the file says in
            'status' (accepted, rejected) stays either way.
        skip_unreadable: Leave out documents that cannot be taken (encrypted, binary, empty, with
            the text of another one or its name but for the end); the golden set lists them.
    """
    from ragassay.golden import (
        GoldenSet,
        check_output,
        imported,
        readable_documents,
        with_contexts,
    )

    if documents is None:
        made_by = shlex.join(["ragassay", "golden", "import", str(data), "--documents"])
        raise UsageError(
            "A golden set says where in your documents the evidence of each reference stands, so "
            f"name their folder: {made_by} FOLDER -o {shlex.quote(str(output))}. To score answers "
            "by the references of this file alone, no golden set is needed: ragassay run ANSWERS "
            f"--references {shlex.quote(str(data))}."
        )
    chosen = pairs_of("--columns", columns, "FIELD=COLUMN", "references=answer", several=True)
    if (output / "queries.jsonl").exists():
        raise UsageError(
            f"{output} is a golden set already. Choose another folder with -o. To add items to it, "
            "export it with --drafts and import both files together, by a pattern: 'all/*.jsonl'."
        )
    check_output(output, data, documents)
    loaded, left_out = readable_documents(documents, skip=skip_unreadable)
    tell_left_out(left_out)
    found = imported(data, loaded, accept=accept, columns=chosen, encoding=encoding)
    items = found.items
    with_contexts(items, loaded)
    made = GoldenSet(output, items, documents, left_out)
    made.save()
    made.save_manifest(loaded)
    made.save_card(f"imported from {data.name}.")
    spans = sum(len(item.gold or ()) for item in items)
    show.lines(
        f"{output}: {plural(len(items), 'item')}, {plural(spans, 'gold span')} in "
        f"{plural(len(loaded), 'document')}"
    )
    statuses = Counter(item.status for item in items)
    if statuses.keys() != {"accepted" if accept else "draft"}:
        told = ", ".join(f"{n} {name}" for name, n in statuses.most_common())
        show.lines(f"Status: {told}. What {data} accepts or rejects stays so.")
    if len(items) < found.n_records:
        show.lines(f"{data} has {plural(found.n_records, 'record')}: those of one id are one item.")
    for line in _placed(found.gold, data):
        show.lines(line)


def _placed(gold: Sequence[Placing], data: Path) -> Iterator[str]:
    """What 'import' says of the gold passages of a file."""
    from ragassay.golden import differing

    taken = [one for one in gold if one.gold is not None]
    left_out = [one for one in gold if one.gold is None]
    if gold:
        yield f"{len(taken):,} of {plural(len(gold), 'gold passage')} placed in the documents."
    kinds: tuple[tuple[str, Callable[[Placing], bool]], ...] = (
        (f"put where the text stands, which is not where {data} says", lambda one: one.is_moved),
        ("without a text: it was taken from the place in the document", lambda one: one.is_filled),
        ("found with other white space", lambda one: one.likeness == "but for white space"),
        ("found with other markup or case", lambda one: one.likeness == "but for markup"),
    )
    for told, holds in kinds:
        if ones := [one.item for one in taken if holds(one)]:
            ids = ", ".join(list(dict.fromkeys(ones))[:5])
            yield f"{plural(len(ones), 'gold passage')} {told} (of {ids})."
    near = [one for one in taken if one.likeness == "nearly"]
    if near:
        yield f"{plural(len(near), 'gold passage')} found nearly: look at what differs."
    for one in near[:_MOST_PASSAGES]:
        assert one.gold is not None
        said, there = differing(one.said.text or "", one.gold.text or "")
        yield f"  {one.item} ({one.where}), distance {one.distance:.2f}: {said} is {there}"
    yield from _and_more(near)
    if left_out:
        yield (
            f"{plural(len(left_out), 'gold passage')} left out, and kept in the provenance of the "
            "item ('unplaced'). Mark the places on the page of 'ragassay golden review':"
        )
    for one in left_out[:_MOST_PASSAGES]:
        yield f"  {one.item} ({one.where}): {one.reason}"
    yield from _and_more(left_out)


def _and_more(ones: Sequence[Placing]) -> Iterator[str]:
    if len(ones) > _MOST_PASSAGES:
        yield f"  and {len(ones) - _MOST_PASSAGES:,} more"


_MOST_PASSAGES = 20
"""Gold passages that are named one by one."""


def tell_left_out(left_out: Mapping[str, str]) -> None:
    """Says on stderr which documents are left out.

    Args:
        left_out: path and reason of each.
    """
    if left_out:
        told = "; ".join(f"{name} {why}" for name, why in list(left_out.items())[:_TOLD])
        more = f"; and {len(left_out) - _TOLD} more" if len(left_out) > _TOLD else ""
        n = plural(len(left_out), "document")
        show.warn([f"{n} left out, because they cannot be taken: {told}{more}."])


_TOLD = 5
"""Documents that are left out and named."""


@golden.command
def anchor(folder: Path, /, *, dry_run: Switch = False, json: Switch = False) -> int:
    """Find the gold spans again after the documents were edited.

    A span is found by its text and what stands around it; edited texts by their distance. What
    could be at several places, or at one whose surroundings do not tell that it is the same
    (unsure), or stands nowhere, is listed and stays as it is: exit code 3. A person marks such
    places on the page of 'ragassay golden review', or rejects the items.
    Documents that were added, or were left out as unreadable and can be read now, are taken into
    documents.json and named.

    ```sh
    ragassay golden anchor golden --dry-run
    ragassay golden anchor golden
    ```

    Args:
        folder: The golden set.
        dry_run: Change nothing.
        json: Print what was found as JSON.
    """
    from ragassay.golden import GoldenSet, anchor as find, differing, excerpt

    opened = GoldenSet.open(folder)
    documents = opened.documents()
    known = opened.known_documents()
    added = [name for name in documents if known and name not in known]
    readable = opened.readable_again(documents)
    if readable:
        opened.take_in(readable)
        documents = opened.documents()
    found = list(find(opened.items, documents))
    if not dry_run:
        _take_places(opened, found)
        opened.save_manifest(documents)
    show.warn(_taken_in(added, [one.path for one in readable], dry_run=dry_run))
    open_ones = [one for one in found if one.new is None]
    if json:
        show.json([_anchored(one) for one in found if one.found != "unchanged"])
    else:
        counts = Counter(one.found for one in found)
        show.lines(
            f"{folder}: {plural(len(found), 'gold span')}: "
            + ", ".join(f"{n} {name}" for name, n in counts.most_common())
        )
        for one in found:
            if one.found == "changed" and one.new is not None:
                before, now = differing(one.old.text, one.new.text)
                look = " (other numbers: look at its references)" if one.has_other_numbers else ""
                show.wrapped(
                    f"changed: {one.item}, distance {one.distance:.2f}: {before} is {now}{look}"
                )
            elif one.new is not None and one.new.document != one.old.document:
                show.wrapped(f"moved: {one.item}: from {one.old.document} to {one.new.document}")
        for one in open_ones:
            where = few([f"{name}:{at}" for name, at in one.places])
            if one.found == "unsure":
                where = f"one place, {where}, whose surroundings do not tell that it is the same"
            old = excerpt(one.old.text)
            show.wrapped(f"{one.found}: {one.item}: {old}" + (where and f" ({where})"))
        if open_ones:
            show.lines(
                f"Mark the right places on the page of 'ragassay golden review {folder}', or "
                "reject the items."
            )
    return show.INCOMPLETE if open_ones else show.OK


def _take_places(golden: GoldenSet, found: Sequence[Anchored]) -> None:
    """Writes spans at their new places. What people reviewed since the set was read stays."""
    from ragassay.golden import GoldenSet, alone

    if not any(one.found in ("moved", "changed") for one in found):
        return
    places = {(one.item, one.number): one for one in found}

    def placed(item: GoldenItem, number: int, span: GoldSpan) -> GoldSpan:
        one = places.get((item.id, number))
        # A span that a person set meanwhile is not the one that was looked for.
        return span if one is None or one.new is None or one.old != span else one.new

    with alone(golden.folder):
        golden.items = GoldenSet.open(golden.folder).items
        for item in golden.items:
            item.gold = item.gold and [placed(item, n, one) for n, one in enumerate(item.gold)]
        golden.save()


def _taken_in(added: Sequence[str], readable: Sequence[str], *, dry_run: bool) -> Iterator[str]:
    """What 'anchor' says of documents that ``documents.json`` did not list."""
    for names, kind in ((added, "added"), (readable, "left out as unreadable and can be read now")):
        if not names:
            continue
        verb = either(len(names), "was", "were")
        become = "would be" if dry_run else either(len(names), "is", "are")
        taken = f"{either(len(names), 'It', 'They')} {become}"
        yield (
            f"{plural(len(names), 'document')} {verb} {kind}: {few(names)}. {taken} taken into "
            "documents.json. What stands there may answer what is unanswerable: "
            "'ragassay golden check' tries it."
        )


@golden.command
def diff(old: Path, new: Path, /, *, run: Path | None = None, json: Switch = False) -> None:
    """Say what changed from one golden set to another, and what that does to a run's scores.

    ```sh
    ragassay golden diff golden-2025 golden
    ragassay golden diff golden-2025 golden --run runs/new
    ```

    Args:
        old: The golden set before.
        new: The golden set now.
        run: A run folder: its answers are scored by both sets, as far as no judge is asked.
        json: Print as JSON.
    """
    from ragassay.golden import GoldenSet, difference, differing

    sets = GoldenSet.open(old), GoldenSet.open(new)
    changes = list(difference(sets[0].items, sets[1].items))
    effects = {} if run is None else _effects(run, old, new)
    if run is not None:
        show.warn(sentence for one in sets for sentence in _misplaced(one))
    if json:
        listed = [
            {"id": one.id, "kind": one.kind, "fields": one.fields}
            | ({"gold": one.texts} if one.texts else {})
            for one in changes
        ]
        means = {name: (before.mean, after.mean) for name, (before, after) in effects.items()}
        scored = {name: [one.n_scored for one in both] for name, both in effects.items()}
        show.json({"changes": listed, "means": means, "scored": scored})
        return
    counts = Counter(one.kind for one in changes)
    show.lines(", ".join(f"{n} {name}" for name, n in counts.most_common()) or "nothing changed")
    for one in changes:
        fields = f" ({', '.join(one.fields)})" if one.fields else ""
        told = "; ".join(" is ".join(differing(*texts)) for texts in one.texts)
        show.wrapped(f"{one.kind}: {one.id}{fields}" + (told and f": {told}"))
    for name, (before, after) in effects.items():
        show.lines(f"{name}: {_mean(before)} by {old}, {_mean(after)} by {new}")


def _misplaced(golden: GoldenSet) -> Iterator[str]:
    """What `run` would say of spans that do not stand where they say."""
    from ragassay.golden import DOCUMENTS, misplaced

    items = golden.with_status("accepted", "draft")
    is_there = (golden.documents_in or golden.folder / DOCUMENTS).is_dir()
    if is_there and any(item.gold for item in items):
        yield from misplaced(golden, items, golden.documents())


def _effects(run: Path, old: Path, new: Path) -> dict[str, tuple[MetricSummary, MetricSummary]]:
    """What a run's answers come to by both sets, by metric."""
    from ragassay import evaluate, open_run

    opened = open_run(run)
    metrics = [name for name, one in opened.summary.metrics.items() if not one.judge]
    if not metrics:
        raise UsageError(
            f"Each metric of {run} asks a judge. Score the answers anew with each set."
        )
    samples = list(opened.samples)
    before, after = (
        evaluate(samples, metrics=metrics, golden=one, golden_drafts=True).summary.metrics
        for one in (old, new)
    )
    return {name: (before[name], after[name]) for name in metrics}


def _mean(of: MetricSummary) -> str:
    mean = "not scored" if of.mean is None else f"{of.mean:.4f}"
    return f"{mean} ({plural(of.n_scored, 'sample')})"


@golden.command
def sample(
    folder: Path,
    n: int,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    by: str = "type",
    seed: int = 0,
) -> None:
    """Draw a part of a golden set in which each kind of query has its share.

    Rejected items are left out.

    ```sh
    ragassay golden sample golden 30 -o golden-30 --by type,complexity
    ```

    Args:
        folder: The golden set.
        n: How many items.
        output: Folder for the part.
        by: Fields that tell kinds apart, joined with commas.
        seed: Of the choice.
    """
    from ragassay.golden import GoldenSet, sampled

    opened = GoldenSet.open(folder)
    items = sampled(opened.with_status("accepted", "draft"), n, by.split(","), seed)
    _part(opened, items, output, f"{n} items of {folder.name}, by {by}, seed {seed}.")


@golden.command
def split(
    folder: Path, /, *, into: str = "dev=0.5,test=0.5", by: str = "type", seed: int = 0
) -> None:
    """Divide a golden set into disjoint parts, beside it, in which each kind has its share.

    Queries that would give each other away stay in one part: those whose gold spans share a
    sentence, those that ask nearly the same, and those of one conversation. So shares may differ a
    little from what was asked for; how far is told. Rejected items are left out.

    ```sh
    ragassay golden split golden --into dev=0.3,test=0.7
    ```

    Args:
        folder: The golden set.
        into: Name and share of each part, joined with commas; the folders are FOLDER-NAME.
        by: Fields that tell kinds apart, joined with commas.
        seed: Of the division.
    """
    from ragassay.engine.golden import groups
    from ragassay.golden import GoldenSet, furthest, split as divide

    opened = GoldenSet.open(folder)
    try:
        shares = {name: float(share) for name, share in (one.split("=") for one in into.split(","))}
    except ValueError as error:
        raise UsageError(f"--into {into!r}: write NAME=SHARE, as in dev=0.3,test=0.7.") from error
    kept, fields = opened.with_status("accepted", "draft"), by.split(",")
    if not kept:
        raise UsageError(
            f"{folder} has no items that are not rejected: there is nothing to divide."
        )
    together = groups(kept, opened.documents())
    parts = divide(kept, shares, fields, seed, together)
    sizes = Counter(together)
    for name, items in parts.items():
        if not items:
            raise UsageError(
                f"--into {into}: the part {name} would be empty, because the items fall into "
                f"{plural(len(sizes), 'group')} that stay together. Ask for fewer parts."
            )
    show.lines(
        f"{folder}: {plural(len(kept), 'item')} in {plural(len(sizes), 'group')} by shared "
        f"sentences, near-duplicates and conversations; the largest has {max(sizes.values())}"
    )
    for name, items in parts.items():
        place = folder.with_name(f"{folder.name}-{name}")
        told = f", {len(items) / len(kept):.1%} for {shares[name]:.1%}"
        _part(opened, items, place, f"the part {name} ({into}, by {by}, seed {seed}).", told)
    name, kind, n, wanted = furthest(parts, shares, fields)
    told = repr(kind) if kind else "not said"
    show.lines(
        f"by {by}, furthest from its share: {told} in {name}, {plural(n, 'item')} for {wanted:.1f}"
    )


@golden.command
def export(
    folder: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    format: str | None = None,  # noqa: A002
    pairs: Switch = False,
    drafts: Switch = False,
) -> None:
    """Write the accepted items as a file that 'ragassay run' and other tools read.

    ```sh
    ragassay golden export golden -o questions.jsonl
    ragassay golden export golden -o questions.csv
    ragassay golden export golden -o beir --format beir
    ragassay golden export golden -o qrels.txt --format qrels
    ragassay golden export golden -o pairs.jsonl --pairs
    ```

    Args:
        folder: The golden set.
        output: The file; its name ends as its format does (.jsonl, .csv). For beir a folder.
        format: jsonl, csv, tsv, parquet, xlsx (every field of an item); ragas, deepeval, mtrag,
            ultrarag, ragchecker, open_rag_eval, langsmith, langfuse, mlflow (the fields that they
            have); beir, qrels (documents of gold); pairs. Default: by the end of the file's name.
        pairs: The same as --format pairs: a line for each reference and each wrong answer of a
            query, to train an evaluator.
        drafts: Also the items that nobody accepted yet.
    """
    from ragassay.files import write_bytes
    from ragassay.golden import (
        EXPORTS,
        GoldenSet,
        check_output,
        export_format,
        exported,
        left_out,
        without_records,
    )

    check_output(output, folder)
    if pairs and format not in (None, "pairs"):
        raise UsageError(f"--pairs and --format {format} exclude each other.")
    kind = export_format(output, "pairs" if pairs else format)
    opened = GoldenSet.open(folder)
    items = opened.with_status(*(("accepted", "draft") if drafts else ("accepted",)))
    if not items:
        raise InputError(
            f"none of its {plural(len(opened.items), 'item')} is accepted",
            path=folder,
            hint="Accept some (ragassay golden review)"
            + ("." if drafts else ", or take drafts too: --drafts."),
        )
    try:
        made = exported(items, kind, opened.documents)
    except InputError as error:
        raise error.at(path=folder) from None
    if "" not in made.files and output.exists() and any(output.iterdir()):
        raise UsageError(f"{output} is no empty folder. Choose another one with -o.")
    for name, content in made.files.items():
        write_bytes(output / name, content)
    bare = without_records(items, kind)
    n_bare = sum(map(len, bare.values()))
    of = f"{len(items) - n_bare} of {plural(len(items), 'item')}" if n_bare else ""
    show.lines(
        f"{output}: {plural(made.rows, EXPORTS[kind].noun)} of {of or plural(len(items), 'item')}"
    )
    for why, names in bare.items():
        n = plural(len(names), "item")
        show.lines(f"No {EXPORTS[kind].noun} of {n} ({why}): {few(names)}")
    if lacking := left_out(items, kind):
        show.warn([f"The format {kind} has no place for {', '.join(lacking)}: left out."])


def _part(whole: Any, items: list[GoldenItem], place: Path, made: str, told: str = "") -> None:
    from ragassay.golden import GoldenSet, check_output

    if (place / "queries.jsonl").exists():
        raise UsageError(f"{place} is a golden set already. Delete it or choose another folder.")
    documents = whole.documents_in or whole.folder / "documents"
    check_output(place, whole.folder, documents)
    part = GoldenSet(place, items, documents, whole.left_out)
    part.save()
    part.save_manifest(part.documents(), whole.folder)
    part.save_card(made)
    show.lines(f"{place}: {plural(len(items), 'item')}{told}")


def _anchored(one: Anchored) -> dict[str, Any]:
    return {
        "id": one.item,
        "span": one.number,
        "found": one.found,
        "old": one.old.model_dump(),
        "new": None if one.new is None else one.new.model_dump(),
        "distance": one.distance,
        "places": one.places,
    }
