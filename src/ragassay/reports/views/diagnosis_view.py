"""What a diagnosis shows: the classes, examples of each, and what to try."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf

from ragassay.base.counts import grouped, share
from ragassay.base.sample import Identity
from ragassay.engine.diagnosis.decision_table import CLASSES, UNEXPLAINED
from ragassay.engine.diagnosis.diagnosing import ClassFound, Diagnosis
from ragassay.engine.diagnosis.moved_classes import FINE, Moved
from ragassay.reports.model import Block, Cell, Column, Report, Table, lines, part, table
from ragassay.reports.text import wording
from ragassay.reports.text.wording import sentence

FAULTS = (*CLASSES, UNEXPLAINED)
"""The classes of failing samples."""

FAULT_NUMBERS = {one.name: at for at, one in enumerate(FAULTS)}
"""Their numbers in a page."""

_TITLES = {one.name: one.title for one in FAULTS} | {FINE: "does not fail"}
"""What each class is called, by name."""


def failing_line(diagnosis: Diagnosis) -> str:
    """How many samples fail, and what that means, in one or two sentences."""
    failing = share(diagnosis.n_failing, diagnosis.n, "sample")
    unscored = diagnosis.n - diagnosis.n_scored
    texts = (
        sentence("failing", share=failing, means=_means(diagnosis)),
        sentence("headline_unscored", names=[diagnosis.headline], n=unscored) if unscored else "",
        diagnosis.judged,
    )
    return " ".join(filter(None, texts))


def _means(diagnosis: Diagnosis) -> str:
    """What failing means."""
    means = f"{diagnosis.headline} below {diagnosis.below:g}"
    return means if diagnosis.headline_only else f"{means}, or a fault that counts by itself"


def _cost_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """What the column of costs means, with the numbers that it rests on."""
    if diagnosis.fine_mean is None:
        yield sentence("cost_unknown")
        return
    names, mean = [diagnosis.headline], wording.number(diagnosis.mean)
    yield sentence("cost", names=names, mean=mean, fine=diagnosis.fine_mean)
    if any(one.cost is None for one in diagnosis.found):
        yield sentence("cost_of_unscored", mark=wording.NOTHING, names=names)


def idle_lines(diagnosis: Diagnosis) -> list[str]:
    """The judges' metrics that were left out."""
    return [
        sentence(
            "fault_in_right",
            fault=_TITLES[one.fault],
            names=[one.metric],
            same=share(one.n, one.of, "right answer"),
        )
        for one in diagnosis.not_telling
    ]


def _missing_lines(diagnosis: Diagnosis) -> list[str]:
    """The classes that were not looked at, a line for each reason."""
    reasons = grouped((one.why, one.fault.title) for one in diagnosis.not_looked_at)
    return [
        sentence("not_looked_at", classes="; ".join(titles), why=why)
        for why, titles in reasons.items()
    ]


def command_lines(diagnosis: Diagnosis) -> list[str]:
    """What to compute for the classes that were not looked at."""
    metrics = dict.fromkeys(name for one in diagnosis.not_looked_at for name in one.metrics)
    return [sentence("to_look_at", metrics=", ".join(metrics))] if diagnosis.command else []


def signal_words(signals: Mapping[str, float]) -> str:
    """The signals of a sample in words: ``rank 4, supported 0.25``."""
    pieces = []
    for name, value in signals.items():
        if name == "refused":
            pieces.append("refused" if value else "")
        elif name == "rank":
            pieces.append("nothing relevant retrieved" if value == inf else f"rank {value:g}")
        else:
            pieces.append(f"{name} {value:.2f}")
    return ", ".join(filter(None, pieces))


def diagnosis_report(
    diagnosis: Diagnosis, *, listed: Callable[[Identity], str] | None = None
) -> Report:
    """A run's diagnosis: the classes with counts and costs, examples and advice."""
    blocks: list[Block] = [lines([failing_line(diagnosis)], "text")]
    if diagnosis.found:
        notes = ["Share: of all samples.", *_cost_lines(diagnosis)]
        blocks += [_classes(diagnosis, listed is not None), lines(notes)]
    several = len({system for one in diagnosis.found for _, system, _ in one.samples}) > 1
    blocks += [
        part(f"{one.fault.title} ({one.n:,})", lines(_about(one, several, listed), "text"))
        for one in diagnosis.found
    ]
    missing = [*idle_lines(diagnosis), *_missing_lines(diagnosis)]
    blocks.append(lines(missing, "text", "doubt"))
    return Report(diagnosis.name, tuple(blocks))


def filtered(n: int, run: int, name: str, linked: bool) -> Cell:
    """How many samples of a run (0 for the new one, 1 for the old one) are of a class; on a page a
    link to them."""
    link = f"filter:fault-{run}-{FAULT_NUMBERS[name]}" if linked and n else ""
    return Cell(f"{n:,}", link=link)


def _classes(diagnosis: Diagnosis, linked: bool) -> Table:
    columns = [
        Column("class", "name"),
        Column("n"),
        Column("share"),
        Column(f"interval, {wording.percent(diagnosis.level)}", drop=1, under="share"),
        Column("cost"),
    ]
    rows = (
        (
            one.fault.title,
            filtered(one.n, 0, one.fault.name, linked),
            f"{one.share:.1%}",
            wording.bounds(one.low, one.high),
            wording.number(one.cost),
        )
        for one in diagnosis.found
    )
    return table(columns, rows)


def _about(
    one: ClassFound, several: bool, listed: Callable[[Identity], str] | None
) -> Iterator[Cell]:
    yield Cell(one.fault.says)
    if words := " ".join(one.judged.values()):
        yield Cell(words)
    for example in one.examples:
        name, system, repeat = example.identity
        tags = [name, system if several else "", f"repeat {repeat}" if repeat else ""]
        link = "" if listed is None else f"sample:{listed(example.identity)}"
        yield Cell(" ".join(filter(None, tags)), f"  {example.query}", style="info", link=link)
        yield Cell(f"  – {wording.one_line(example.answer) or '(no answer)'}", style="dim")
        if words := signal_words(example.signals):
            yield Cell(f"  – {words}", style="dim")
    yield Cell(f"To try: {one.fault.advice}", style="good")


def moved_line(change: Moved) -> str:
    """How many samples fail in either run."""
    new, old = change.new, change.old
    n, old_n, of = f"{new.n_failing:,}", f"{old.n_failing:,}", f"{old.n:,}"
    failing = sentence("moved", means=_means(new), new=n, n=new.n, old=old_n, of=of, both=change.n)
    out = ""
    if change.n_unknown:
        out = sentence("moved_unknown", n=change.n_unknown, names=[new.headline])
    return " ".join(filter(None, (failing, out, new.judged)))


def moved_notes(change: Moved) -> list[str]:
    """How the numbers of a change were computed."""
    notes = [f"{one} What moved may be due to that." for one in change.not_alike]
    notes.append(sentence("diff_untested") if change.not_alike else sentence("diff_tested"))
    if change.unlike:
        notes.append(sentence("classes_unlike", metrics=", ".join(change.unlike)))
    for run, diagnosis in (("new", change.new), ("old", change.old)):
        notes += [f"In the {run} run: {line}" for line in idle_lines(diagnosis)]
    both = (*change.old.found, *change.new.found)
    return [*notes, *dict.fromkeys(words for one in both for words in one.judged.values())]


def _transition_lines(change: Moved, most: int = 12) -> list[str]:
    """The samples that changed their class, most frequent change first."""
    changed = [(pair, n) for pair, n in change.transitions.items() if pair[0] != pair[1]]
    shown = [f"{n:,}  {_TITLES[old]} → {_TITLES[new]}" for (old, new), n in changed[:most]]
    rest = sum(n for _, n in changed[most:])
    return [*shown, f"{rest:,}  in {len(changed) - most:,} other ways"] if rest else shown


def moved_report(change: Moved, *, linked: bool = False) -> Report:
    """Which classes a change moved: counts, the difference, its test, and the transitions."""
    columns = [Column("class", "name"), *map(Column, ("new", "old", "entered", "left", "diff")),
               Column("interval", drop=1, under="diff"), Column("p")]  # fmt: skip
    rows = (
        (
            one.title,
            filtered(one.new, 0, one.name, linked),
            filtered(one.old, 1, one.name, linked),
            f"{one.entered:,}",
            f"{one.left:,}",
            wording.number(one.diff, sign=True),
            wording.bounds(one.low, one.high, sign=True),
            wording.p_value(one.p_adjusted),
        )
        for one in change.classes
    )
    blocks: list[Block] = [
        lines([moved_line(change)], "text"),
        table(columns, rows),
        lines(moved_notes(change)),
    ]
    if transitions := _transition_lines(change):
        blocks.append(part("Samples that moved, old → new", lines(transitions, "text")))
    return Report(f"{change.new.name} against {change.old.name}", tuple(blocks))
