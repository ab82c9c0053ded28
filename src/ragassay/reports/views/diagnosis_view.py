"""What a diagnosis shows: the classes, examples of each, and what to try."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from ragassay.base.printable import grouped, share
from ragassay.engine.diagnosis.decision_table import CLASSES, UNEXPLAINED
from ragassay.engine.diagnosis.diagnosing import ClassFound, Diagnosis
from ragassay.engine.diagnosis.moved_classes import FINE, Moved
from ragassay.reports.model import Block, Cell, Column, Report, lines, part, table
from ragassay.reports.text import wording
from ragassay.reports.text.wording import sentence

FAULTS = (*CLASSES, UNEXPLAINED)
"""The classes of failing samples."""

FAULT_NUMBERS = {one.name: at for at, one in enumerate(FAULTS)}
"""Their numbers in a page."""

_MOVES = 12
"""Ways in which samples moved that are listed, the most frequent first."""

_TITLES = {one.name: one.title for one in FAULTS} | {FINE: "does not fail"}
"""What each class is called, by name."""


def _means(diagnosis: Diagnosis) -> str:
    """What failing means."""
    means = f"{diagnosis.headline} below {diagnosis.below:g}"
    return means if diagnosis.headline_only else f"{means}, or another fault"


def _idle_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """The judges' metrics that were left out."""
    for one in diagnosis.not_telling:
        same, fault = share(one.n, one.of, "right answer"), _TITLES[one.fault]
        yield sentence("fault_in_right", fault=fault, names=[one.metric], same=same)


def verdict_of(diagnosis: Diagnosis) -> str:
    """The sentence to remember: the share that is right, and the most frequent fault; empty where
    there is no interval of the share."""
    low, high = diagnosis.low, diagnosis.high
    if diagnosis.share_right is None or low is None or high is None:
        return ""
    interval = f" [{low * 100:.0f} to {high * 100:.0f} %]"
    interval += f" ({wording.HINT})" * diagnosis.only_hint
    right = round(diagnosis.share_right, 2)
    said = [sentence(f"{diagnosis.measures}_right", share=right, interval=interval)]
    for most in diagnosis.found[:1]:
        title = f"{most.fault.title[0].lower()}{most.fault.title[1:]}"
        said.append(sentence("most_failures", fault=title, n=most.n, of=diagnosis.n))
    return " ".join(said)


def causes(diagnosis: Diagnosis, *, linked: bool = False) -> list[Block]:
    """Why samples fail, for a page (``linked``: with a list of the samples) or a Markdown file."""
    if not diagnosis.n_failing:
        return []
    columns = [Column("why", "name"), Column("samples"), Column("share"),
               Column("what to try", "words")]  # fmt: skip
    rows = (
        (
            one.fault.title,
            _filtered(one.n, 0, one.fault.name, linked),
            wording.percent(round(one.share, 2)),
            f"{one.fault.says} To try: {one.fault.advice}",
        )
        for one in diagnosis.found
    )
    means = [sentence("right_means", names=[diagnosis.headline])]
    means = means if diagnosis.measures == "answers" else []
    failing = share(diagnosis.n_failing, diagnosis.n, "sample")
    first = Cell(f"{failing} fail", link="filter:fails" if linked else "")
    return [
        lines([first], "text"),
        table(columns, rows),
        lines([*means, *filter(None, [diagnosis.judged])]),
    ]


def diagnosis_report(diagnosis: Diagnosis) -> Report:
    """A run's diagnosis: the classes with counts and costs, examples and advice."""
    unscored, names = diagnosis.n - diagnosis.n_scored, [diagnosis.headline]
    failing = share(diagnosis.n_failing, diagnosis.n, "sample")
    first = [sentence("failing", share=failing, means=_means(diagnosis))]
    first += [sentence("headline_unscored", names=names, n=unscored)] if unscored else []
    first += [diagnosis.judged] if diagnosis.judged else []
    blocks: list[Block] = [lines([" ".join(first)], "text")]
    if diagnosis.found:
        notes, mean = ["Share: of all samples."], wording.number(diagnosis.mean)
        if diagnosis.fine_mean is None:
            notes.append(sentence("cost_unknown"))
        else:
            notes.append(sentence("cost", names=names, mean=mean, fine=diagnosis.fine_mean))
            if any(one.cost is None for one in diagnosis.found):
                notes.append(sentence("cost_of_unscored", mark=wording.NOTHING, names=names))
        interval = f"interval, {wording.percent(diagnosis.level)}"
        columns = [Column("class", "name"), Column("n"), Column("share"),
                   Column(interval, drop=1, under="share"), Column("cost")]  # fmt: skip
        rows = (
            (
                one.fault.title,
                f"{one.n:,}",
                f"{one.share:.1%}",
                wording.bounds(one.low, one.high),
                wording.number(one.cost),
            )
            for one in diagnosis.found
        )
        blocks += [table(columns, rows), lines(notes)]
    several = len({system for one in diagnosis.found for _, system, _ in one.samples}) > 1
    for one in diagnosis.found:
        title = f"{one.fault.title} ({one.n:,})"
        blocks.append(part(title, lines(_about(one, several), "text")))
    not_seen = grouped((one.why, one.fault.title) for one in diagnosis.not_looked_at)
    missing = (
        sentence("not_looked_at", classes="; ".join(titles), why=why)
        for why, titles in not_seen.items()
    )
    computed = [sentence("computed_here", names=diagnosis.added)] if diagnosis.added else []
    wanted = dict.fromkeys(name for one in diagnosis.not_looked_at for name in one.metrics)
    further = [sentence("to_look_at", metrics=", ".join(wanted))] if wanted else []
    said = (*_idle_lines(diagnosis), *missing, *computed, *further)
    blocks.append(lines(said, "text", "doubt"))
    return Report(diagnosis.name, tuple(blocks))


def _filtered(n: int, run: int, name: str, linked: bool) -> Cell:
    """How many samples of a run (0: new, 1: old) are of a class; on a page a link to them."""
    link = f"filter:fault-{run}-{FAULT_NUMBERS[name]}" if linked and n else ""
    return Cell(f"{n:,}", link=link)


def _about(one: ClassFound, several: bool) -> Iterator[Cell]:
    yield Cell(one.fault.says)
    if words := " ".join(one.judged.values()):
        yield Cell(words)
    for example in one.examples:
        name, system, repeat = example.identity
        tags = [name, system if several else "", f"repeat {repeat}" if repeat else ""]
        yield Cell(" ".join(filter(None, tags)), f"  {example.query}", style="info")
        yield Cell(f"  – {wording.one_line(example.answer) or '(no answer)'}", style="dim")
        signals = []  # rank 4, supported 0.25
        for signal, value in example.signals.items():
            if signal == "rank":
                signals.append("nothing relevant retrieved" if value == inf else f"rank {value:g}")
            elif signal != "refused" or value:
                signals.append("refused" if signal == "refused" else f"{signal} {value:.2f}")
        if signals:
            yield Cell(f"  – {', '.join(signals)}", style="dim")
    yield Cell(f"To try: {one.fault.advice}", style="good")


def _moved_notes(change: Moved) -> Iterator[str]:
    """How the numbers of a change were computed."""
    yield from (f"{one} What moved may be due to that." for one in change.not_alike)
    yield sentence("diff_untested") if change.not_alike else sentence("diff_tested")
    if change.unlike:
        yield sentence("classes_unlike", metrics=", ".join(change.unlike))
    for run, diagnosis in (("new", change.new), ("old", change.old)):
        yield from (f"In the {run} run: {line}" for line in _idle_lines(diagnosis))
    both = (*change.old.found, *change.new.found)
    yield from dict.fromkeys(words for one in both for words in one.judged.values())


def moved_report(change: Moved, *, linked: bool = False) -> Report:
    """Which classes a change moved: counts, the difference, its test, and the transitions."""
    columns = [Column("class", "name"), *map(Column, ("new", "old", "came", "went", "difference")),
               Column("interval", drop=1, under="difference"), Column("p")]  # fmt: skip
    rows = (
        (
            one.title,
            _filtered(one.new, 0, one.name, linked),
            _filtered(one.old, 1, one.name, linked),
            f"{one.entered:,}",
            f"{one.left:,}",
            wording.number(one.diff, sign=True),
            wording.bounds(one.low, one.high, sign=True),
            wording.p_value(one.p_adjusted),
        )
        for one in change.classes
    )
    new, old = change.new, change.old
    n, old_n, of = f"{new.n_failing:,}", f"{old.n_failing:,}", f"{old.n:,}"
    first = [sentence("moved", means=_means(new), new=n, n=new.n, old=old_n, of=of, both=change.n)]
    if change.n_unknown:
        first.append(sentence("moved_unknown", n=change.n_unknown, names=[new.headline]))
    first += [new.judged] if new.judged else []
    blocks: list[Block] = [
        lines([" ".join(first)], "text"),
        table(columns, rows),
        lines(_moved_notes(change)),
    ]
    changed = [(pair, n) for pair, n in change.transitions.items() if pair[0] != pair[1]]
    if changed:
        moves = [f"{n:,}  {_TITLES[was]} → {_TITLES[now]}" for (was, now), n in changed[:_MOVES]]
        if more := sum(n for _, n in changed[_MOVES:]):
            moves.append(f"{more:,}  in {len(changed) - _MOVES:,} other ways")
        blocks.append(part("Samples that moved, old → new", lines(moves, "text")))
    return Report(f"{change.new.name} against {change.old.name}", tuple(blocks))
