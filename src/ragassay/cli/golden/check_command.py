"""``ragassay golden check``: is a golden set fit to judge a system by?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ragassay.cli.flags import Metrics, Switch
from ragassay.cli.output import show
from ragassay.counts import either, few, plural

if TYPE_CHECKING:
    from rich.table import Table

    from ragassay.engine.golden import Checked

_SHOWN = 20
"""Findings of one check that are shown."""
_FEW = 5
"""Queries of a log that are shown."""


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
    from ragassay.engine.golden import CheckOptions, check as carry_out
    from ragassay.golden import GoldenSet

    opened = GoldenSet.open(folder)
    options = CheckOptions(judge, budget, max_age=max_age, log=_queries(log))
    if metrics is not None:
        options = replace(options, metrics=metrics.split(","))
    with show.status("checking"):
        found = carry_out(opened, options)
    if json:
        show.json(found.to_json())
    else:
        _show(folder, found)
    severities = {one.severity for one in found.findings}
    failing = {"error": {"error"}, "look": {"error", "look"}, "never": set[str]()}[fail_on]
    return show.GATE_FAILED if severities & failing else show.OK


def _show(folder: Path, found: Checked) -> None:
    counts = Counter(one.severity for one in found.findings)
    show.lines(
        f"{folder}: {plural(found.n_items, 'item')}, {plural(counts['error'], 'error')}, "
        f"{counts['look']} to look at"
    )
    for name in dict.fromkeys(one.check for one in found.findings):
        ones = [one for one in found.findings if one.check == name]
        show.lines("", f"{name} ({len(ones)})")
        for one in ones[:_SHOWN]:
            about = f"{one.item}: " if one.item else ""
            show.wrapped(f"  {one.severity}: {about}{one.sentence}", "    ")
        if len(ones) > _SHOWN:
            show.lines(f"  and {len(ones) - _SHOWN} more (--json has all)")
    out = show.console()
    if found.blindness:
        out.print(_blindness(found))
        if found.by_gold:
            have = either(found.by_gold, "has", "have")
            show.wrapped(
                f"{plural(found.by_gold, 'item')} {have} no second wording of the reference: the "
                "right answer is the text of the gold spans there, which metrics of short answers "
                f"give little ({few(found.by_gold_items)})."
            )
        for ids, keys in _by_items(found).items():
            names = few([f"{metric} ({kind})" for metric, kind in keys])
            show.wrapped(f"Blind by {names}: {few(list(ids))}.")
    out.print(_coverage(found))
    if found.uncovered is not None:
        are = either(len(found.uncovered), "is", "are")
        show.lines(f"{plural(len(found.uncovered), 'query')} of the log {are} like no item:")
        show.lines(*(f"  {query}" for query in found.uncovered[:_FEW]))
    show.warn(f"{name} was not checked throughout: {why}." for name, why in found.skipped.items())


def _blindness(found: Checked) -> Table:
    rows = show.table(
        "wrong answers that score as high as the best right one",
        words=("metric", "kind"),
        numbers=("blind", "of"),
    )
    for (metric, kind), (blind, of) in found.blindness.items():
        rows.add_row(metric, kind, str(blind), str(of), style="yellow" if blind else "")
    return rows


def _by_items(found: Checked) -> dict[tuple[str, ...], list[tuple[str, str]]]:
    """The metrics and kinds of mistakes by the items that they are blind in."""
    grouped: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for key, ids in found.blind_items.items():
        if ids:
            grouped.setdefault(tuple(ids), []).append(key)
    return grouped


def _coverage(found: Checked) -> Table:
    rows = show.table("coverage", words=("by", "items"))
    for name, counts in found.coverage.items():
        told = ", ".join(f"{value} {n}" for value, n in counts.items())
        rows.add_row(name, _without(counts) if name == "section" else told)
    return rows


def _without(counts: Mapping[str, int]) -> str:
    """How many have an item, and the first ones that have none."""
    lacking = [name for name, n in counts.items() if not n]
    told = f"{len(counts) - len(lacking)} of {len(counts)} have items"
    if lacking:
        more = f" and {len(lacking) - _FEW} more" if len(lacking) > _FEW else ""
        told += f"; none: {', '.join(lacking[:_FEW])}{more}"
    return told


def _queries(log: Path | None) -> list[str]:
    if log is None:
        return []
    from ragassay import formats
    from ragassay.errors import InputError

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
