"""``ragassay golden check``, ``anchor``, ``diff`` and ``isolate``: is a golden set fit to judge a
system by, what changed, and what fails?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.base.note import Note
from ragassay.base.printable import FEW, either, few, grouped, plural
from ragassay.cli import show
from ragassay.cli.command import Given, command
from ragassay.reports.model import Block, Cell, Column, Report, lines, part, table

if TYPE_CHECKING:
    from ragassay.golden.judged_checks import Checked

_SHOWN = 20
"""Findings of one check that are shown."""


@command("golden check")
def check(given: Given) -> int:
    """Check a golden set: spans, leaks, contradictions, duplicates, support, metrics, coverage.

    An error is certainly wrong; a look needs a person's decision. The exit code is 1 if there is an
    error (with --fail-on look, also a look). Each metric scores the wrong answers (negative
    references), to find kinds of mistakes that it does not see.

    ```sh
    ragassay golden check golden
    ragassay golden check golden --max-age 365 --fail-on look --json
    ```
    """
    from ragassay.engine.run.prepared_run import evaluate
    from ragassay.golden.golden_folder import GoldenSet
    from ragassay.golden.judged_checks import check as carry_out
    from ragassay.golden.rule_checks import METRICS, CheckOptions

    opened = GoldenSet.open(given.folder)
    names = METRICS if given.metrics is None else given.metrics.split(",")
    options = CheckOptions(given.judge, given.budget, names, given.max_age, _queries(given.log))
    with show.status("checking"):
        checked = carry_out(opened, options, evaluate=evaluate)
    if given.json:
        show.json(checked.to_json())
    else:
        show.report(Report("", tuple(_blocks(given.folder, checked))))
        skipped = checked.skipped.items()
        show.warn(f"{name} was not fully checked: {why}." for name, why in skipped)
    severities = {finding.severity for finding in checked.findings}
    failing = {"error": {"error"}, "look": {"error", "look"}, "never": set[str]()}[given.fail_on]
    return show.GATE_FAILED if severities & failing else show.OK


def _blocks(folder: Path, checked: Checked) -> Iterator[Block]:
    """The findings by check, wrong answers that score as right ones, and what has items."""
    counts = Counter(finding.severity for finding in checked.findings)
    items, errors = plural(checked.n_items, "item"), plural(counts["error"], "error")
    yield lines([f"{folder}: {items}, {errors}, {counts['look']} to look at"], "text")
    for name, ones in grouped((finding.check, finding) for finding in checked.findings).items():
        found = [
            f"{pair.severity}: {f'{pair.item}: ' if pair.item else ''}{pair.sentence}"
            for pair in ones[:_SHOWN]
        ]
        if len(ones) > _SHOWN:
            found.append(f"and {len(ones) - _SHOWN} more (--json has all)")
        yield part(f"{name} ({len(ones)})", lines(found, "text"))
    if checked.blindness:
        rows = (
            (Cell(metric, style="doubt" if blind else ""), kind, str(blind), str(of))
            for (metric, kind), (blind, of) in checked.blindness.items()
        )
        columns = [Column("metric", "name"), Column("kind", "label"), Column("blind"), Column("of")]
        yield part("wrong answers that score as high as the best right one", table(columns, rows))
    by_field = (
        (name, ", ".join(f"{value} {n}" for value, n in by_value.items()))
        for name, by_value in checked.coverage.items()
    )
    yield part("coverage", table([Column("by", "name"), Column("items", "words")], by_field))
    if checked.uncovered is not None:
        said = f"no item is like {plural(len(checked.uncovered), 'query')} of the log"
        yield part(said, lines(checked.uncovered[:FEW], "text"))


def _queries(log: Path | None) -> list[str]:
    if log is None:
        return []
    from ragassay import formats
    from ragassay.base.errors import InputError

    try:
        reader = formats.detect(log)
    except InputError as error:
        if not error.problem.startswith("no known format fits"):
            raise
        queries = [line.strip() for line in formats.opening.text_lines(log) if line.strip()]
        show.warn([f"{log}: each line is read as a query: {plural(len(queries), 'query')}."])
        return queries
    try:
        samples = formats.load(log, format=reader.name)
    except InputError as error:
        if "none is recognised" in error.problem:
            error = error.but(hint="Call the column of the queries 'query'.")
        raise error from None
    return [sample.query_text for sample in samples]


@command("golden anchor")
def anchor(given: Given) -> int:
    """Find the gold spans again after the documents were edited.

    A span is found by its text and the text around it. A span with several possible places, an
    unsure place, or none is listed and not changed (exit code 3): mark it on the page of 'ragassay
    golden review', or reject the item. New documents are named and added to documents.json.

    ```sh
    ragassay golden anchor golden --dry-run
    ragassay golden anchor golden
    ```
    """
    from ragassay.golden import anchor as find
    from ragassay.golden.anchoring import save_places
    from ragassay.golden.golden_folder import GoldenSet
    from ragassay.golden.golden_item import differing, excerpt

    golden = GoldenSet.open(given.folder)
    documents = golden.documents()
    listed = golden.known_documents()
    added = [name for name in documents if listed and name not in listed]
    spans = list(find(golden.items, documents))
    if not given.dry_run:
        save_places(golden, spans)
        golden.save_manifest(documents)
    if added:
        become = "would be" if given.dry_run else either(len(added), "is", "are")
        show.warn([str(Note("documents_taken_in", {"become": become}, tuple(added)))])
    unplaced = [anchored for anchored in spans if anchored.new is None]
    if given.json:
        show.json([anchored.to_json() for anchored in spans if anchored.found != "unchanged"])
    else:
        counts = Counter(anchored.found for anchored in spans)
        show.lines(
            f"{given.folder}: {plural(len(spans), 'gold span')}: "
            + ", ".join(f"{n} {name}" for name, n in counts.most_common())
        )
        for span in spans:
            if span.found == "changed" and span.new is not None:
                before, now = differing(span.old.text, span.new.text)
                look = " (other numbers: check its references)" if span.has_other_numbers else ""
                show.wrapped(
                    f"changed: {span.item}, distance {span.distance:.2f}: {before} is {now}{look}"
                )
            elif span.new is not None and span.new.document != span.old.document:
                show.wrapped(f"moved: {span.item}: from {span.old.document} to {span.new.document}")
        for span in unplaced:
            where = few([f"{name}:{at}" for name, at in span.places])
            if span.found == "unsure":
                where = f"one place, {where}, but the text around it is different"
            old = excerpt(span.old.text)
            show.wrapped(f"{span.found}: {span.item}: {old}" + (where and f" ({where})"))
        if unplaced:
            show.lines(
                f"Mark the right places on the page of 'ragassay golden review {given.folder}', or "
                "reject the items."
            )
    return show.INCOMPLETE if unplaced else show.OK


@command("golden diff")
def diff(given: Given) -> None:
    """Say what changed from one golden set to another.

    ```sh
    ragassay golden diff golden-2025 golden
    ```
    """
    from ragassay.golden.golden_folder import GoldenSet
    from ragassay.golden.golden_item import difference, differing

    old, new = (GoldenSet.open(value).items for value in (given.old, given.new))
    changes = list(difference(old, new))
    if given.json:
        listed = [
            {"id": item.id, "kind": item.kind, "fields": item.fields}
            | ({"gold": item.texts} if item.texts else {})
            for item in changes
        ]
        show.json({"changes": listed})
        return
    counts = Counter(item.kind for item in changes)
    show.lines(", ".join(f"{n} {name}" for name, n in counts.most_common()) or "nothing changed")
    for change in changes:
        fields = f" ({', '.join(change.fields)})" if change.fields else ""
        texts = "; ".join(" is ".join(differing(*pair)) for pair in change.texts)
        show.wrapped(f"{change.kind}: {change.id}{fields}" + (texts and f": {texts}"))


@command("golden isolate")
def isolate(given: Given) -> None:
    """Separate failures of retrieval from failures of generation: the full run, then the isolated
    run.

    In the isolated run the generator had the gold passages ('ragassay ask --gold-passages'). An
    answer that is right only with them fails by retrieval. An answer that is wrong with them
    fails by generation. The difference of the two runs, with its test, is the cost of retrieval.

    ```sh
    ragassay golden isolate runs/full runs/isolated -m contains_answer
    ```
    """
    from ragassay.engine.diagnosis.isolated_run import CLASSES, isolated
    from ragassay.engine.results import open_run
    from ragassay.reports.views.comparison_view import comparison_report

    result = isolated(open_run(given.full), open_run(given.alone), given.metric, given.threshold)
    if given.json:
        body = {key: getattr(result, key) for key in ("queries", "unscored", "unknown")}
        show.json({**body, "comparison": result.comparison.to_json()})
        return
    n = sum(map(len, result.queries.values()))
    for kind, sentence in CLASSES.items():
        names = result.queries[kind]
        head = f"{len(names):>5} of {n}  "
        listed = f"  ({few(names)})" if names else ""
        show.wrapped(f"{head}{sentence}{listed}", " " * len(head))
    if result.unscored:
        show.lines(f"{result.unscored:>5}       unscored in either run")
    if result.unknown:
        head = f"{len(result.unknown):>5}       "
        left_out = f"left out: the gold passages are not known  ({few(result.unknown)})"
        show.wrapped(f"{head}{left_out}", " " * len(head))
    show.report(comparison_report(result.comparison))
