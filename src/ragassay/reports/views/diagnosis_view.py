"""What a diagnosis shows: the classes, examples of each, and what to try."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from math import inf
from typing import Any

from ragassay.base.note import joined
from ragassay.base.printable import FEW, either, few, grouped, share
from ragassay.engine.comparison.derived_runs import shown_queries
from ragassay.engine.diagnosis.decision_table import CLASSES, SIGNALS, UNEXPLAINED
from ragassay.engine.diagnosis.diagnosing import ClassFound, Diagnosis
from ragassay.engine.diagnosis.moved_classes import FINE, REFUSAL, Moved
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.score_columns import ScoreColumns
from ragassay.engine.results.summary import Slice, sample_clusters
from ragassay.engine.results.verdict import Difference
from ragassay.reports.model import Block, Cell, Column, Report, lines, part, table
from ragassay.reports.text import wording
from ragassay.reports.text.wording import sentence
from ragassay.stats.intervals import alpha_of, mean_interval

FAULTS = (*CLASSES, UNEXPLAINED)
"""The classes of failing samples."""

_MOVES = 12
"""Ways in which samples moved that are listed, the most frequent first."""

MANY = 0.1
"""Difference of the shares of refusals that nothing rates, from which on it is said first."""

LINE = 54
"""Characters of names in a line of a comparison."""

_TITLES = {fault.name: fault.title for fault in FAULTS}
"""What each class is called, by name."""


def _means(diagnosis: Diagnosis) -> str:
    """What failing means."""
    means = f"{diagnosis.headline} is below {diagnosis.below:g}"
    if diagnosis.headline_only:
        return means
    if diagnosis.match_passes:
        means += " and no reference matches"
    return f"{means}, or if another fault is found"


def verdict_of(diagnosis: Diagnosis) -> str:
    """The sentence to remember: the share that is right, and the most frequent fault, or how many
    refusals there are where nothing is rated; empty where there is no interval of the share."""
    low, high = diagnosis.low, diagnosis.high
    if (n := diagnosis.n_refusals_unknown) and not diagnosis.n_rated:
        return sentence("nothing_rated", share=share(n, diagnosis.n, "answer"), n=n)
    if diagnosis.share_right is None or low is None or high is None:
        return ""
    interval = f" {_span(low, high)}{f' ({_hint(diagnosis)})' * diagnosis.only_hint}"
    right = round(diagnosis.share_right, 2)
    rated = f"{diagnosis.n_rated:,} rated " * (diagnosis.n_rated < diagnosis.n)
    said = [sentence(f"{diagnosis.measures}_right", share=right, interval=interval, rated=rated)]
    for most in diagnosis.found[:1]:
        title = f"{most.fault.title[0].lower()}{most.fault.title[1:]}"
        hint = f", {wording.HINT}" * (most.only_hint and not diagnosis.only_hint)
        counts = {"n": most.n, "failing": diagnosis.n_failing, "of": diagnosis.n}
        said.append(sentence("most_failures", fault=title, hint=hint, **counts))
    return " ".join(said)


def unrated(diagnosis: Diagnosis | None) -> list[str]:
    """What is said of the refusals that nothing rates."""
    n = 0 if diagnosis is None else diagnosis.n_refusals_unknown
    return [sentence("refusals_unknown", n=n)] if n else []


def _span(low: float, high: float) -> str:
    return f"[{low * 100:.0f} to {high * 100:.0f} %]"


def shares_right(
    found: Diagnosis, columns: ScoreColumns, slices: Iterable[Slice], run: str = ""
) -> list[Cell]:
    """A row of a table of slices: the share that is right in each, of how many samples."""
    name, tail = sentence(f"share_{found.measures}"), f" ({run})" if run else ""
    cells = [Cell(name, tail, style="strong")]
    clusters = sample_clusters(columns)
    for piece in slices:
        labels = enumerate(columns.slices.get(piece.column, ()))
        members = [at for at, of_sample in labels if piece.value in of_sample]
        known = {at: value for at in members if (value := found.right[at]) is not None}
        codes = None if clusters is None else clusters[[*known]]
        values = [*known.values()]
        interval = mean_interval(values, span=(0.0, 1.0), level=found.level, clusters=codes)
        mean, low, high = interval.mean, interval.low, interval.high
        below = () if low is None or high is None else (_span(low, high),)
        said = wording.NOTHING if mean is None else f"{mean * 100:.0f} %"
        cells.append(Cell(said, f" of {len(known):,}", below=below))
    return cells


def _hint(diagnosis: Diagnosis) -> str:
    words = ": words are compared, not meaning" * diagnosis.compares_words
    return f"{wording.HINT}{words}"


def right_moved(change: Moved, too_few: bool, rows: Sequence[Difference] = ()) -> list[str]:
    """Whether more answers are right, and how many a change mended and broke (without a verdict
    where queries are ``too_few``; with why where no one of ``rows`` agrees), after how many
    refusals nothing rates, if that changed much; then the classes that moved most."""
    said, right = [], change.right
    if right is not None:
        new, old = (round(mean or 0.0, 2) for mean in (right.a_mean, right.b_mean))
        claim = "" if too_few or right.too_few else wording.claim(right)
        claim = claim.replace(wording.HINT, _hint(change.new))
        together = sum(d.p_adjusted is not None for d in rows)
        if claim in ("better", "worse") and together > 1:
            agree = any(claim in (d.verdict, d.hint) for d in rows)
            claim += "" if agree else " (" + sentence("tested_alone", n=together) + ")"
        claim = f": {claim}" if claim else ""
        kind = f"{change.new.measures}_{'moved' if right.n_differ else 'same'}"
        counts = {"new": new, "old": old, "mended": right.wins, "broken": right.losses}
        # A claim that is only a hint says so itself.
        hint = f" ({wording.HINT if right.n_differ else _hint(change.new)})"
        hint *= change.new.only_hint and wording.HINT not in claim
        rated = f"{change.n_decided:,} rated " * bool(change.n_unknown)
        said = [sentence(kind, claim=claim, hint=hint, rated=rated, **counts)]
    n, n_old = (run.n_refusals_unknown for run in (change.new, change.old))
    of, old_of = change.new.n, change.old.n
    more = n / of - n_old / old_of
    if (many := abs(more) >= MANY) or (more > 0.0 and said):
        counts = {"n": n, "of": of, "old": n_old, "old_of": old_of}
        said.insert(not many, sentence("more_unrated", **counts))
    shown = [
        row for row in change.classes
        if row.p_adjusted is not None and row.p_adjusted <= alpha_of(change.level)
    ]  # fmt: skip
    # The one that moved furthest, and the one that moved furthest the other way.
    other = [row for row in shown if (row.diff or 0.0) * (shown[0].diff or 0.0) < 0.0]
    for row in [*shown[:1], *(other or shown[1:])[:1]]:
        hint = f" ({wording.HINT})" * row.only_hint
        said.append(sentence("class_moved", fault=row.title, n=row.new, old=row.old, hint=hint))
    return said


def broken_line(comparison: Comparison, *, classes: bool) -> list[str]:
    """The first queries that became wrong: with their classes, or as many as fit into a line."""
    change = comparison.change
    if change is None or not (change.broken and (classes or change.right) and comparison.runs):
        return []
    broken, what = change.broken, change.words[0].capitalize()
    shown = shown_queries(comparison.runs[0], (query for query, _ in broken))
    names = [f"{shown[query]}{f' ({_TITLES[fault].lower()})' * classes}" for query, fault in broken]
    fit = sum(end <= LINE for end in accumulate(len(name) + 2 for name in names))
    return [sentence("broken", what=what, queries=few(names, FEW if classes else max(1, fit)))]


def causes(diagnosis: Diagnosis, *, linked: bool = False) -> list[Block]:
    """Why samples fail, for a page (``linked``: with a list of the samples) or a Markdown file."""
    if not diagnosis.n_failing:
        return []
    columns = [Column("fault", "name"), Column("samples"), Column("share"),
               Column("what to try", "words")]  # fmt: skip
    rows = (
        (
            found.fault.title,
            _filtered(found.n, 0, found.fault.name, linked),
            f"{found.share * 100:.0f} %",
            f"{found.fault.says} To try: {found.fault.advice}",
        )
        for found in diagnosis.found
    )
    match = " or a match with a reference" * diagnosis.match_passes
    means = [sentence("right_means", names=[diagnosis.headline], match=match)]
    means *= diagnosis.measures == "answers"
    failing = share(diagnosis.n_failing, diagnosis.n, "sample")
    fails = either(diagnosis.n_failing, "fails", "fail")
    first = Cell(f"{failing} {fails}", link="filter:fails" if linked else "")
    return [
        lines([first], "text"),
        table(columns, rows),
        lines([*means, *map(str, diagnosis.judge_notes)]),
    ]


def diagnosis_report(diagnosis: Diagnosis) -> Report:
    """A run's diagnosis: the classes with counts, what mending one gains, examples and advice."""
    unscored, names = diagnosis.n - diagnosis.n_scored, [diagnosis.headline]
    failing = share(diagnosis.n_failing, diagnosis.n, "sample")
    first = [sentence("failing", share=failing, n=diagnosis.n_failing, means=_means(diagnosis))]
    first += [sentence("headline_unscored", names=names, n=unscored)] if unscored else []
    first += unrated(diagnosis)
    # The judge of the headline (with all of whom the same is known) is named beside it.
    by_place = grouped((diagnosis.headline in n.names, str(n)) for n in diagnosis.judge_notes)
    first += by_place.get(True, [])
    blocks: list[Block] = [lines([" ".join(first)], "text")]
    if diagnosis.found:
        notes = [*by_place.get(False, []), "Share: of all samples."]
        mean = wording.number(diagnosis.mean)
        if diagnosis.fine_mean is None:
            notes.append(sentence("cost_unknown"))
        else:
            notes.append(sentence("cost", names=names, mean=mean, fine=diagnosis.fine_mean))
            if any(class_found.cost is None for class_found in diagnosis.found):
                notes.append(sentence("cost_of_unscored", mark=wording.NOTHING, names=names))
        interval = f"interval, {wording.percent(diagnosis.level)}"
        columns = [Column("fault", "name"), Column("n"), Column("share"),
                   Column(interval, drop=1, under="share"), Column("if fixed")]  # fmt: skip
        rows = (
            (
                class_found.fault.title,
                f"{class_found.n:,}",
                f"{class_found.share:.1%}",
                wording.bounds(class_found.low, class_found.high),
                wording.number(class_found.cost, sign=True),
            )
            for class_found in diagnosis.found
        )
        blocks += [table(columns, rows), lines(notes)]
    systems = {system for found in diagnosis.found for _, system, _ in found.samples}
    for found in diagnosis.found:
        title = f"{found.fault.title} ({found.n:,})"
        blocks.append(part(title, lines(_about(found, len(systems) > 1), "text")))
    not_seen = grouped((item.why, item.fault.title) for item in diagnosis.not_looked_at)
    missing = (
        sentence("not_looked_at", classes="; ".join(titles), why=why)
        for why, titles in not_seen.items()
    )
    names = [n for n in diagnosis.added if any(n in of for of in diagnosis.sources.values())]
    computed = [sentence("computed_here", names=names)] if names else []
    wanted = dict.fromkeys(name for item in diagnosis.not_looked_at for name in item.metrics)
    further = [sentence("to_look_at", metrics=", ".join(wanted))] if wanted else []
    said = (*missing, *computed, *further)
    blocks.append(lines(said, "text", "doubt"))
    return Report(diagnosis.name, tuple(blocks))


def _filtered(n: int, run: int, name: str, linked: bool) -> Cell:
    """How many samples of a run (0: new, 1: old) are of a class; on a page a link to them."""
    link = f"filter:fault-{run}-{name}" if linked and n else ""
    return Cell(f"{n:,}", link=link)


def _about(found: ClassFound, several: bool) -> Iterator[Cell]:
    yield Cell(found.fault.says)
    deciding = {name for group in found.fault.needs or [[*SIGNALS]] for name in group}
    for example in found.examples:
        name, system, repeat = example.identity
        tags = [name, system if several else "", f"repeat {repeat}" if repeat else ""]
        yield Cell(" ".join(filter(None, tags)), f"  {example.query}", style="info")
        yield Cell(f"  – {wording.one_line(example.answer) or '(no answer)'}", style="dim")
        signals = []  # rank 4, supported 25 %
        for signal in filter(deciding.__contains__, example.signals):
            value = example.signals[signal]
            if signal == "rank":
                signals.append("nothing relevant retrieved" if value == inf else f"rank {value:g}")
            elif signal != "refused" or (value and example.answer):
                said = f"{signal} {100 * value:.0f} %"
                signals.append("refused" if signal == "refused" else said)
        if signals:
            yield Cell(f"  – {', '.join(signals)}", style="dim")
    yield Cell(f"To try: {found.fault.advice}", style="good")


def _moved_notes(change: Moved, judges: bool) -> Iterator[str]:
    """How the numbers of a change were computed, and by which judges."""
    yield from map(str, change.matched)
    yield from (f"{text} What moved may be due to that." for text in change.not_alike)
    yield sentence("diff_untested" if change.not_alike else "diff_tested", n=change.n_decided)
    if change.unlike:
        yield sentence("classes_unlike", metrics=", ".join(change.unlike))
    right = [change.right.why] if change.right is not None and change.right.why else []
    notes = (*right, *change.new.judge_notes, *change.old.judge_notes) if judges else ()
    yield from map(str, joined(notes))


def moved_report(change: Moved, *, linked: bool = False) -> Report:
    """Which classes a change moved: counts, the difference, its test, and the transitions."""
    heads = ("new", "old", "only new", "only old", "difference")
    bounds = Column("interval", drop=1, under="difference")
    columns = [Column("samples", "name"), *map(Column, heads), bounds, Column("p")]

    def row(title: str, new: Cell, old: Cell, came: int, went: int, test: Any) -> list[Cell | str]:
        ends = wording.bounds(test.low, test.high, sign=True)
        p, diff = wording.p_value(test.p_adjusted), wording.number(test.diff, sign=True)
        return [title, new, old, f"{came:,}", f"{went:,}", diff, ends, p]

    rows = []
    if (right := change.right) is not None:
        new, old = (Cell(f"{(mean or 0) * right.n:,.0f}") for mean in (right.a_mean, right.b_mean))
        title = sentence(f"fine_{change.new.measures}")
        rows.append(row(title, new, old, right.wins, right.losses, right))
    for fault in change.classes:
        counts = enumerate((fault.new, fault.old))
        new, old = (_filtered(n, run, fault.name, linked) for run, n in counts)
        rows.append(row(fault.title, new, old, fault.entered, fault.left, fault))
    after = change.new
    facts = {run: sum(getattr(fault, run) for fault in change.classes) for run in ("new", "old")}
    facts["n"] = change.n_decided
    first = [sentence("moved", means=_means(after), **facts)]
    if change.n_unknown:
        first.append(sentence("moved_unknown", n=change.n_unknown, names=[after.headline]))
    blocks: list[Block] = [
        lines([" ".join(first)], "text"),
        table(columns, rows),
        # Notes of a comparison's page say what its judges are worth.
        lines(_moved_notes(change, judges=not linked)),
    ]
    changed = [(pair, n) for pair, n in change.transitions.items() if pair[0] != pair[1]]
    if changed:
        fine = "right" if after.measures == "answers" else "no fault"
        titles = {**_TITLES, FINE: fine, REFUSAL: "refusal, not rated"}
        moves = [f"{n:,}  {titles[was]} → {titles[now]}" for (was, now), n in changed[:_MOVES]]
        if more := sum(n for _, n in changed[_MOVES:]):
            moves.append(f"{more:,}  in other ways")
        blocks.append(part("Changed samples: old run → new run", lines(moves, "text")))
    return Report(f"{change.new.name} against {change.old.name}", tuple(blocks))
