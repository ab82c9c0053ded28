"""Words: the sentences of notes, and texts for numbers and reasons, the same in every report."""

from __future__ import annotations

import math
import re
import shlex
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragassay.base import packages
from ragassay.base.note import Note
from ragassay.base.printable import (
    dollars,
    either,
    few,
    grouped,
    one_line as one_line,
    plural as plural,
)
from ragassay.base.score import Reason, Value, label_of
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.summary import MetricSummary, Spending, Summary
from ragassay.engine.results.verdict import HINT as HINT, Difference
from ragassay.formats.format_words import BY_FLAGS

NOTHING = "–"
"""Stands where there is no number."""

ARROWS: Mapping[bool | None, str] = {None: "", True: "↑", False: "↓"}
"""The sign for the direction in which a metric is better, by ``higher_is_better``."""

_SHORT = (
    (r"panel\([^)]*\)", "panel"),
    (r"replay:\S+ of (.*)", r"\1 (replayed)"),
    (r"offline[\w-]*/\w+", "offline"),
    (r"[^\s(]*[#:](?=[^\s#:])", ""),
)
"""What is left out of the name of a judge in a table, one after the other."""


def said(note: Note) -> str:
    """The sentence of a note."""
    # Runs of older versions hold notes without advice.
    counts = {"advice": "", "judge": "openai:gpt-4o-mini", **note.counts, "names": note.names}
    return _Words().vformat(words()[note.kind], ("",), counts)


def sentence(kind: str, **counts: Any) -> str:
    """The sentence of a kind of note with these counts; see `said`."""
    return _Words().vformat(words()[kind], ("",), counts)


def all_said(notes: Iterable[Note], *severities: str) -> list[str]:
    """The sentences of notes."""
    return [said(note) for note in notes if not severities or note.severity in severities]


def words() -> dict[str, str]:
    """The sentence of each kind of note."""
    read: dict[str, str] = packages.table(__package__, "note_words.yaml")
    return {kind: text.strip() for kind, text in read.items()}


class _Words(string.Formatter):
    """Fills in numbers with their nouns, and lists of names."""

    def format_field(self, value: Any, format_spec: str) -> str:
        is_list = isinstance(value, Sequence) and not isinstance(value, str)
        n = len(value) if is_list else value
        if "/" in format_spec:
            return either(n, *format_spec.split("/"))
        if format_spec == "said":
            return sentence(value) if value else ""
        if format_spec.startswith("--"):
            flag, _, text = format_spec.partition(" ")
            text = text or str(value)
            if BY_FLAGS.get():
                return flag if text == "True" else f"{flag} {shlex.quote(text)}"
            many = flag == "--columns" and "=" in text
            pairs = dict(pair.split("=") for pair in text.split(",")) if many else text
            return f"{flag[2:].replace('-', '_')}={text == 'True' or pairs!r}"
        if format_spec == "%":
            return percent(value)
        if format_spec == "$":
            return dollars(float(value))
        if format_spec:
            return plural(n, format_spec)
        if is_list:
            return few(value)
        if isinstance(value, int):
            return f"{value:,}"
        return value if isinstance(value, str) else number(value)


def by_flag(flag: str, python: str) -> str:
    """A flag of the command line, or what says the same in Python."""
    return flag if BY_FLAGS.get() else python


def compared_on(comparison: Comparison) -> str:
    """What a comparison is over: ``72 queries in common, by topic``, or ``9 new and 8 old``."""
    if comparison.unpaired:
        return f"{comparison.only_a:,} new and {comparison.only_b:,} old queries"
    by = comparison.n_clusters and f", by {comparison.clustered_by or 'cluster'}"
    return f"{plural(comparison.n_common, 'query')} in common{by or ''}"


def sentences(form: str, pairs: Iterable[tuple[object, str]]) -> list[str]:
    """A sentence for each key, with its values; the form has places for both."""
    return [form.format(key, ", ".join(values)) for key, values in grouped(pairs).items()]


def number(value: float | None, *, sign: bool = False, beside: float = 0) -> str:
    """A number to about five digits; one that is small, as is the one beside it (costs), to three;
    a count without decimals; a dash for nothing."""
    if value is None:
        return NOTHING
    size = abs(value)
    digits = 4 if size < 10 else 3 if size < 100 else 2 if size < 10_000 else 1
    if 1e-9 < size < 5e-4 and abs(beside) < 5e-4:  # still smaller ones are the rounding of a zero
        digits = 2 - math.floor(math.log10(size))
    text = f"{value:,.{0 if size >= 10 and float(value).is_integer() else digits}f}"
    if float(text.replace(",", "")) == 0:
        return text.lstrip("-")
    return f"+{text}" if sign and value > 0 else text


def value(score: Value) -> str:
    """A score's value: a number in few digits, or its label."""
    if isinstance(score, str | list):
        return label_of(score)
    return number(float(score))


def bounds(low: float | None, high: float | None, *, sign: bool = False) -> str:
    """An interval, as in ``[0.1234, 0.5678]``; a dash when there is none."""
    if low is None or high is None:
        return NOTHING
    return f"[{number(low, sign=sign, beside=high)}, {number(high, sign=sign, beside=low)}]"


def p_value(value: float | None) -> str:
    """A p-value to four decimals."""
    if value is None:
        return NOTHING
    return "<0.0001" if value < 0.00005 else f"{value:.4f}"


def percent(share: float) -> str:
    """``0.95`` as ``95 %``."""
    return f"{share * 100:g} %"


def reason(code: str) -> str:
    """``not_applicable`` as ``not applicable``. No passage may be usable though some came back."""
    return "no usable passage" if code == Reason.NOTHING_RETRIEVED else code.replace("_", " ")


def against(comparison: Comparison) -> str:
    """``hybrid (new) against bm25 (old)``; neither word is repeated."""
    new, old = comparison.a.removesuffix(" (new)"), comparison.b.removesuffix(" (old)")
    return f"{new}{' (new)' * (new != 'new')} against {old}{' (old)' * (old != 'old')}"


def reasons(numbers: Mapping[str, int]) -> str:
    """``{"not_applicable": 3}`` as ``3 not applicable``."""
    return ", ".join(f"{n:,} {reason(code)}" for code, n in numbers.items())


coverage = "{0.n_scored}/{0.n_total}".format
"""Of a `MetricSummary`; shown beside every mean."""


def direction(higher_is_better: bool | None) -> str:
    """The direction in words."""
    if higher_is_better is None:
        return "neither direction is better"
    return "higher is better" if higher_is_better else "lower is better"


def aggregate_note(metric: MetricSummary) -> str:
    """What the headline number is when it is not the mean."""
    if metric.name.endswith(f"_{metric.aggregate}"):
        return ""  # the name says which percentile it is
    return {"mean": "", "geometric": "geometric mean"}.get(metric.aggregate, metric.aggregate)


def size(summary: Summary) -> str:
    """How much was evaluated."""
    text = plural(summary.n_samples, "sample")
    if summary.n_queries != summary.n_samples:
        text += f" of {plural(summary.n_queries, 'query')}"
    return text


def cost(spent: Spending) -> str:
    """What was spent, in dollars; says where prices are not known."""
    if spent.unpriced:
        priced = f"{dollars(spent.cost)} and " if spent.cost else ""
        known = spent.input_tokens or spent.output_tokens
        why = "give --price IN,OUT" if known else "the replies had no token counts"
        return f"{priced}{plural(spent.unpriced, 'call')} of unknown cost ({why})"
    return dollars(spent.cost)


def judge_of(metric: MetricSummary) -> str:
    """The judge in a word: ``offline``, a model, ``panel``; empty where there is none."""
    judged = metric.judges or metric.n_scored > metric.n_assumed + metric.n_given
    label = metric.judge if judged else ""
    for pattern, short in _SHORT:
        label = re.sub(pattern, short, label)
    return label


def verdict(d: Difference) -> str:
    """The verdict on a metric; where it is only a hint, the direction that it hints at."""
    if d.verdict == "indicative":
        return f"{HINT}: {d.hint}" if d.hint else "no difference shown"
    return d.verdict


def claim(d: Difference) -> str:
    """The verdict as the words of a sentence: ``better (only a hint)``."""
    first, _, direction = verdict(d).partition(": ")
    return f"{direction} ({first})" if direction else first
