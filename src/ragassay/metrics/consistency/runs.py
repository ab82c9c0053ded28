"""What the metrics of consistency share: several runs of a query by one system.

They score group samples: samples that hold the runs of one query by one system (`Sample.runs`), and
under ``given`` what the other metrics said of each run. ``ragassay run --suite consistency`` makes
them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import attrgetter
from typing import Any, ClassVar, Generic, Literal, TypeVar

from ragassay.base.counts import either, share
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.citation.citation_parser import text_for_models, without_citations
from ragassay.metrics.core.metric import Metric, not_applicable
from ragassay.metrics.core.metric_parameters import param
from ragassay.metrics.core.window import Window

SCORES, UNSCORED = "scores", "unscored"
"""Where ``given`` of a group holds the runs' values by metric, and why some have none."""

Citations = Literal["published", "any", "kept"]


class RunsMetric(Metric):
    """A metric over the runs of a query; it needs two runs at least."""

    family = "consistency"
    needs = ("runs",)

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where the query was run only once."""
        lacking = super().lacks(sample)
        if lacking is None and len(sample.runs) < 2:
            return not_applicable("the query was run once only, and consistency needs two runs")
        return lacking


@dataclass(frozen=True)
class AnswersMetric(RunsMetric):
    """A metric that compares the answers of a query's runs, in pairs.

    Formula: mean over all pairs of a query's answers
    Misleads where: consistent is not right; two answers "I do not know" agree perfectly
    """

    citations: Citations = param(
        "published",
        "citation marks, which are no words of the answer: published: taken out where Open RAG "
        "Eval sees them ([1], [1, 2]); any: in whatever form; kept",
    )

    version = 2


V = TypeVar("V")
W = TypeVar("W")


@dataclass(frozen=True)
class Pairs(Generic[V]):
    """What is known of each pair of a query's runs.

    Attributes:
        repeats: the ``repeat`` of both runs, the earlier one first.
        each: what is known, one a pair; of values ``None`` where the two cannot be compared.
        note: what a reader of the mean should know.
    """

    repeats: Sequence[tuple[int, int]]
    each: Sequence[V]
    note: str = ""

    def outcome(self, undefined: Unscored, part: str = "") -> Outcome:
        """The mean over the pairs that have a value, with all values as parts; ``undefined`` where
        none has one. ``part`` is the field that counts, where each pair has several."""
        number: Callable[[Any], float] = attrgetter(part) if part else lambda value: value
        values = [None if one is None else number(one) for one in self.each]
        known = [value for value in values if value is not None]
        if not known:
            return undefined
        left_out = len(values) - len(known)
        why = f"{left_out} of {len(values)} pairs cannot be compared: {undefined.detail}"
        parts = {"pairs": [list(pair) for pair in self.repeats], "values": values}
        note = "; ".join(filter(None, (self.note, why if left_out else "")))
        return Score(sum(known) / len(known), parts, note)


class PairsMetric(RunsMetric):
    """A metric that is the mean over all pairs of a query's runs.

    Class attributes:
        undefined: what comes out where no two runs can be compared.
    """

    undefined: ClassVar[Unscored]

    def score_window(self, window: Window) -> Sequence[Outcome]:
        part = getattr(self, "part", "")
        return [
            self.lacks(sample)
            or (group if isinstance(group, Unscored) else group.outcome(self.undefined, part))
            for sample, group in zip(window.samples, self.compared(window), strict=True)
        ]

    @abstractmethod
    def compared(self, window: Window) -> Sequence[Pairs[Any] | Unscored]:
        """The values of all pairs, for each group; `Unscored` where it has too few runs."""


def in_pairs(
    sample: Sample,
    has: Callable[[Sample], bool],
    what: str,
    items: Callable[[list[Sample]], tuple[Sequence[V], str] | Unscored],
) -> Pairs[tuple[V, V]] | Unscored:
    """The runs of a group in pairs; `Unscored` where fewer than two of them have what is compared.

    ``items`` turns the runs that have it, the earliest first, into one item each and a note.
    """
    runs = sorted(filter(has, sample.runs), key=lambda run: run.repeat)
    n, all_of = len(runs), len(sample.runs)
    if n < 2:
        failures = {run.failure for run in sample.runs if run.failure}
        why = f" (the system failed: {', '.join(sorted(failures))})" if failures else ""
        detail = f"{share(n, all_of, 'run')} {either(n, 'has', 'have')} {what}{why}"
        return Unscored(Reason.MISSING_INPUT, detail)
    found = items(runs)
    if isinstance(found, Unscored):
        return found
    left_out = "" if n == all_of else f"over the {n} of {all_of} runs that have {what}"
    repeats = list(combinations((run.repeat for run in runs), 2))
    notes = "; ".join(filter(None, (left_out, found[1])))
    return Pairs(repeats, list(combinations(found[0], 2)), notes)


def answers_in_pairs(
    samples: Sequence[Sample], citations: Citations, items: Callable[[list[str]], Sequence[V]]
) -> list[Pairs[tuple[V, V]] | Unscored]:
    """The answers of each group in pairs; ``items`` turns their texts into what is compared."""

    def of(runs: list[Sample]) -> tuple[Sequence[V], str]:
        return items([answer_text(run, citations) for run in runs]), ""

    return [in_pairs(one, lambda run: run.answer is not None, "an answer", of) for one in samples]


def compare(
    groups: Sequence[Pairs[tuple[V, V]] | Unscored], alike: Callable[[V, V], W]
) -> list[Pairs[W] | Unscored]:
    """How similar the earlier and the later run of each pair are."""
    return [
        group
        if isinstance(group, Unscored)
        else Pairs(group.repeats, [alike(*pair) for pair in group.each], group.note)
        for group in groups
    ]


def answer_text(run: Sample, citations: Citations = "published") -> str:
    """The text of a run's answer that is compared with other runs, without those citations that
    Open RAG Eval sees (``published``), without ``any``, or with all (``kept``); empty without an
    answer."""
    if run.answer is None:
        return ""
    if citations == "kept":
        return run.answer.text
    if citations == "published":
        return text_for_models(run.answer).strip()
    return without_citations(run.answer.text, run.passages or ()).strip()
