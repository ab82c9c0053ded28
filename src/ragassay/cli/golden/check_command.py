"""``ragassay golden check``: is a golden set fit to judge a system by?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ragassay.base.counts import FEW, either, few, grouped, plural
from ragassay.base.note import Note
from ragassay.cli.flags import Metrics, Switch
from ragassay.cli.output import show

if TYPE_CHECKING:
    from ragassay.golden.checks.golden_checks import Checked
    from ragassay.golden.checks.judged_checks import Blindness

_SHOWN = 20
"""Findings of one check that are shown."""


def check(
    folder: Path,
    /,
    *,
    judge: str | None = None,
    budget: str | None = None,
    metrics: Metrics | None = None,
    max_age: int | None = None,
    log: Path | None = None,
    fail_on: Literal["error", "look", "never"] = "error",
    json: Switch = False,
) -> int:
    """Check a golden set: spans, leaks, contradictions, duplicates, support, metrics, coverage.

    An error is wrong whoever looks; a look is for a person to decide. Exit code 1 where there is an
    error (--fail-on look: or a look). Each metric scores the wrong answers (negative references):
    one that gives them as much as a right answer does not see that kind of mistake.

    ```sh
    ragassay golden check golden
    ragassay golden check golden --max-age 365 --fail-on look --json
    ```

    Args:
        folder: The golden set.
        judge: Who says whether gold spans support references (default: the embedded judge).
        budget: What the judge may cost in each of its three checks, such as 5.00.
        metrics: Metrics that will be used, joined with commas (default: four of short answers).
        max_age: Days after which an item must be verified again.
        log: File of users' queries (any format, or a query a line), to see what the set lacks.
        fail_on: Which findings make the exit code 1.
        json: Print everything as JSON.
    """
    from ragassay.engine.run.evaluation import evaluate
    from ragassay.golden.checks.golden_checks import check as carry_out
    from ragassay.golden.checks.item_checks import METRICS, CheckOptions
    from ragassay.golden.golden_folder import GoldenSet

    opened = GoldenSet.open(folder)
    names = METRICS if metrics is None else metrics.split(",")
    options = CheckOptions(judge, budget, names, max_age, _queries(log))
    with show.status("checking"):
        checked = carry_out(opened, options, evaluate=evaluate)
    if json:
        show.json(checked.to_json())
    else:
        _show(folder, checked)
    severities = {one.severity for one in checked.findings}
    failing = {"error": {"error"}, "look": {"error", "look"}, "never": set[str]()}[fail_on]
    return show.GATE_FAILED if severities & failing else show.OK


def _show(folder: Path, checked: Checked) -> None:
    counts = Counter(one.severity for one in checked.findings)
    show.lines(
        f"{folder}: {plural(checked.n_items, 'item')}, {plural(counts['error'], 'error')}, "
        f"{counts['look']} to look at"
    )
    for name, ones in grouped((one.check, one) for one in checked.findings).items():
        show.lines("", f"{name} ({len(ones)})")
        for one in ones[:_SHOWN]:
            about = f"{one.item}: " if one.item else ""
            show.wrapped(f"  {one.severity}: {about}{one.sentence}", "    ")
        if len(ones) > _SHOWN:
            show.lines(f"  and {len(ones) - _SHOWN} more (--json has all)")
    _show_blindness(checked.blindness)
    rows = show.table("coverage", words=("by", "items"))
    for name, by_value in checked.coverage.items():
        numbers = ", ".join(f"{value} {n}" for value, n in by_value.items())
        rows.add_row(name, _sections(by_value) if name == "section" else numbers)
    show.console().print(rows)
    if checked.uncovered is not None:
        are = either(len(checked.uncovered), "is", "are")
        show.lines(f"{plural(len(checked.uncovered), 'query')} of the log {are} like no item:")
        show.lines(*(f"  {query}" for query in checked.uncovered[:FEW]))
    show.warn(f"{name} was not checked throughout: {why}." for name, why in checked.skipped.items())


def _show_blindness(blindness: Blindness) -> None:
    if not blindness.counts:
        return
    rows = show.table(
        "wrong answers that score as high as the best right one",
        words=("metric", "kind"),
        numbers=("blind", "of"),
    )
    for (metric, kind), (blind, of) in blindness.counts.items():
        rows.add_row(metric, kind, str(blind), str(of), style="yellow" if blind else "")
    show.console().print(rows)
    if blindness.by_gold:
        show.wrapped(str(Note("no_second_wording", names=tuple(blindness.by_gold))))
    by_items = grouped((tuple(ids), key) for key, ids in blindness.blind.items() if ids)
    for ids, keys in by_items.items():
        names = few([f"{metric} ({kind})" for metric, kind in keys])
        show.wrapped(f"Blind by {names}: {few(ids)}.")


def _sections(counts: Mapping[str, int]) -> str:
    """How many sections have an item, and the first ones that have none."""
    lacking = [name for name, n in counts.items() if not n]
    having = f"{len(counts) - len(lacking)} of {len(counts)} have items"
    return f"{having}; none: {few(lacking)}" if lacking else having


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
