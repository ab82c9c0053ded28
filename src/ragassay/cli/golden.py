"""``ragassay golden``: golden sets, from a file of questions to a set that people trust."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from ragassay.cli import show
from ragassay.cli.flags import Switch
from ragassay.counts import plural
from ragassay.errors import UsageError

if TYPE_CHECKING:
    from ragassay.golden import Anchored, GoldenItem

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
    documents: Path,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    accept: Switch = False,
) -> None:
    """Make a golden set of the queries, references and gold spans of a file.

    ```sh
    ragassay golden import questions.jsonl --documents docs -o golden
    ```

    Args:
        data: File of any format that 'ragassay run' reads.
        documents: Folder with the documents: text, Markdown, HTML, PDF, DOCX. It stays where it is.
        output: Folder of the golden set, made here.
        accept: The items count as accepted; else a person reviews them first.
    """
    import ragassay
    from ragassay.golden import GoldenItem, GoldenSet, load_documents, with_contexts

    if (output / "queries.jsonl").exists():
        raise UsageError(f"{output} is a golden set already. Choose another folder with -o.")
    loaded = load_documents(documents)
    items = list({one.id: GoldenItem.of_sample(one) for one in ragassay.load(data)}.values())
    for item in items:
        item.status = "accepted" if accept else "draft"
    with_contexts(items, loaded)
    made = GoldenSet(output, items, documents)
    made.save()
    made.save_manifest(loaded)
    made.save_card(f"imported from {data.name}.")
    spans = sum(len(item.gold or ()) for item in items)
    show.lines(
        f"{output}: {plural(len(items), 'item')}, {plural(spans, 'gold span')} in "
        f"{plural(len(loaded), 'document')}"
    )


@golden.command
def anchor(folder: Path, /, *, dry_run: Switch = False, json: Switch = False) -> int:
    """Find the gold spans again after the documents were edited.

    A span is found by its text and what stands around it; edited texts by their distance. What
    could be at several places, or stands nowhere, is listed and stays as it is: exit code 3.

    ```sh
    ragassay golden anchor golden --dry-run
    ragassay golden anchor golden
    ```

    Args:
        folder: The golden set.
        dry_run: Change nothing.
        json: Print what was found as JSON.
    """
    from ragassay.golden import GoldenSet, anchor as find

    opened = GoldenSet.open(folder)
    documents = opened.documents()
    found = list(find(opened.items, documents))
    if not dry_run:
        places = {(one.item, one.number): one.new for one in found if one.new is not None}
        for item in opened.items:
            item.gold = item.gold and [
                places.get((item.id, number), span) for number, span in enumerate(item.gold)
            ]
        if any(one.found in ("moved", "changed") for one in found):
            opened.save()
        opened.save_manifest(documents)
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
                show.lines(
                    f"changed: {one.item}, distance {one.distance:.2f}: {one.old.text!r} is "
                    f"{one.new.text!r}"
                )
        for one in open_ones:
            where = ", ".join(f"{name}:{at}" for name, at in one.places)
            show.lines(f"{one.found}: {one.item}: {one.old.text!r}" + (where and f" ({where})"))
    return show.INCOMPLETE if open_ones else show.OK


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
    from ragassay.golden import GoldenSet, difference

    changes = list(difference(GoldenSet.open(old).items, GoldenSet.open(new).items))
    effects = {} if run is None else _effects(run, old, new)
    if json:
        listed = [{"id": one.id, "kind": one.kind, "fields": one.fields} for one in changes]
        show.json({"changes": listed, "means": effects})
        return
    counts = Counter(one.kind for one in changes)
    show.lines(", ".join(f"{n} {name}" for name, n in counts.most_common()) or "nothing changed")
    for one in changes:
        fields = f" ({', '.join(one.fields)})" if one.fields else ""
        show.lines(f"{one.kind}: {one.id}{fields}")
    for name, (before, after) in effects.items():
        show.lines(f"{name}: {_mean(before)} by {old}, {_mean(after)} by {new}")


def _effects(run: Path, old: Path, new: Path) -> dict[str, tuple[float | None, float | None]]:
    """The means of a run's answers by both sets."""
    from ragassay import evaluate, open_run

    opened = open_run(run)
    metrics = [name for name, one in opened.summary.metrics.items() if not one.judge]
    if not metrics:
        raise UsageError(
            f"Each metric of {run} asks a judge. Score the answers anew with each set."
        )
    samples = list(opened.samples)
    summaries = [
        evaluate(samples, metrics=metrics, golden=str(one), golden_drafts=True).summary
        for one in (old, new)
    ]
    return {
        name: (summaries[0].metrics[name].mean, summaries[1].metrics[name].mean) for name in metrics
    }


def _mean(value: float | None) -> str:
    return "not scored" if value is None else f"{value:.4f}"


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
    items = sampled(opened.items, n, by.split(","), seed)
    _part(opened, items, output, f"{n} items of {folder.name}, by {by}, seed {seed}.")


@golden.command
def split(
    folder: Path, /, *, into: str = "dev=0.5,test=0.5", by: str = "type", seed: int = 0
) -> None:
    """Divide a golden set into disjoint parts, beside it, in which each kind has its share.

    ```sh
    ragassay golden split golden --into dev=0.3,test=0.7
    ```

    Args:
        folder: The golden set.
        into: Name and share of each part, joined with commas; the folders are FOLDER-NAME.
        by: Fields that tell kinds apart, joined with commas.
        seed: Of the division.
    """
    from ragassay.golden import GoldenSet, split as divide

    opened = GoldenSet.open(folder)
    try:
        shares = {name: float(share) for name, share in (one.split("=") for one in into.split(","))}
    except ValueError as error:
        raise UsageError(f"--into {into!r}: write NAME=SHARE, as in dev=0.3,test=0.7.") from error
    for name, items in divide(opened.items, shares, by.split(","), seed).items():
        place = folder.with_name(f"{folder.name}-{name}")
        _part(opened, items, place, f"the part {name} ({into}, by {by}, seed {seed}).")


@golden.command
def export(
    folder: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    pairs: Switch = False,
    drafts: Switch = False,
) -> None:
    """Write the accepted items as a file that 'ragassay run' and other tools read.

    ```sh
    ragassay golden export golden -o questions.jsonl
    ragassay golden export golden -o pairs.jsonl --pairs
    ```

    Args:
        folder: The golden set.
        output: JSONL file.
        pairs: A line for each reference and each wrong answer of a query, to train an evaluator.
        drafts: Also the items that nobody accepted yet.
    """
    import orjson

    from ragassay.files import atomic
    from ragassay.formats import to_record
    from ragassay.golden import GoldenSet

    opened = GoldenSet.open(folder)
    items = opened.with_status(*(("accepted", "draft") if drafts else ("accepted",)))
    records: list[Any] = [to_record(item.to_sample()) for item in items]
    if pairs:
        records = [
            {"id": item.id, "query": item.query, "chosen": right, "rejected": wrong.text}
            | ({"kind": wrong.kind} if wrong.kind else {})
            for item in items
            for right in item.references
            for wrong in item.negative_references
        ]
    with atomic(output) as stream:
        for record in records:
            stream.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
    show.lines(f"{output}: {plural(len(records), 'line')} of {plural(len(items), 'item')}")


def _part(whole: Any, items: list[GoldenItem], place: Path, made: str) -> None:
    from ragassay.golden import GoldenSet

    if (place / "queries.jsonl").exists():
        raise UsageError(f"{place} is a golden set already. Delete it or choose another folder.")
    part = GoldenSet(place, items, whole.documents_in or whole.folder / "documents")
    part.save()
    part.save_manifest(part.documents())
    part.save_card(made)
    show.lines(f"{place}: {plural(len(items), 'item')}")


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
