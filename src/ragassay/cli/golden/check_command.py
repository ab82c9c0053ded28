"""``ragassay golden check``: is a golden set fit to judge a system by?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.base.printable import FEW, either, grouped, plural
from ragassay.cli import show
from ragassay.cli.command import Given, command
from ragassay.reports.model import Block, Cell, Column, Report, lines, part, table

if TYPE_CHECKING:
    from ragassay.golden.golden_checks import Checked

_SHOWN = 20
"""Findings of one check that are shown."""


@command("golden check")
def check(given: Given) -> int:
    """Check a golden set: spans, leaks, contradictions, duplicates, support, metrics, coverage.

    An error is certainly wrong; a person decides on a look. The exit code is 1 where there is an
    error (with --fail-on look, also a look). Each metric scores the wrong answers (negative
    references). A metric that gives them as much as a right answer does not see that kind of
    mistake.

    ```sh
    ragassay golden check golden
    ragassay golden check golden --max-age 365 --fail-on look --json
    ```
    """
    from ragassay.engine.run.evaluation import evaluate
    from ragassay.golden.golden_checks import check as carry_out
    from ragassay.golden.golden_folder import GoldenSet
    from ragassay.golden.item_checks import METRICS, CheckOptions

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
        show.warn(f"{name} was not checked throughout: {why}." for name, why in skipped)
    severities = {one.severity for one in checked.findings}
    failing = {"error": {"error"}, "look": {"error", "look"}, "never": set[str]()}[given.fail_on]
    return show.GATE_FAILED if severities & failing else show.OK


def _blocks(folder: Path, checked: Checked) -> Iterator[Block]:
    """The findings by check, wrong answers that score as right ones, and what has items."""
    counts = Counter(one.severity for one in checked.findings)
    items, errors = plural(checked.n_items, "item"), plural(counts["error"], "error")
    yield lines([f"{folder}: {items}, {errors}, {counts['look']} to look at"], "text")
    for name, ones in grouped((one.check, one) for one in checked.findings).items():
        found = [
            f"{one.severity}: {f'{one.item}: ' if one.item else ''}{one.sentence}"
            for one in ones[:_SHOWN]
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
        are = either(len(checked.uncovered), "is", "are")
        said = f"{plural(len(checked.uncovered), 'query')} of the log {are} like no item"
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
        if error.problem.startswith("no column is known"):
            error = error.but(hint="Call the column of the queries 'query'.")
        raise error from None
    return [sample.query_text for sample in samples]
