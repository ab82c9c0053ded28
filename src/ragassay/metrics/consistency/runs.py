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
from typing import Any, ClassVar, Generic, Literal, TypeVar

from ragassay.counts import either, share
from ragassay.metrics.answer import PARTS, PRF
from ragassay.metrics.citation import text_for_models, without_citations
from ragassay.metrics.core import Metric, Window, not_applicable, param, part
from ragassay.samples import Sample
from ragassay.scores import Outcome, Reason, Score, Unscored

SCORES, UNSCORED = "scores", "unscored"
"""Where ``given`` of a group holds the runs' values by metric, and why some have none."""


PARTS_TITLES = {
    "p": "precision of the later answer against the earlier",
    "r": "recall of the earlier answer by the later",
    "f": "F",
}
"""What the parts of a comparison of two answers are."""

OF_PAIR = "of each pair: precision or recall of the later answer against the earlier, or F"
"""Help of the parameter that chooses one of them."""


Citations = Literal["published", "any", "kept"]
CITATIONS = (
    "citation marks, which are no words of the answer: published: taken out where Open RAG Eval "
    "sees them ([1], [1, 2]); any: in whatever form; kept"
)


@dataclass(frozen=True)
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
    """A metric that compares the answers of a query's runs, in pairs."""

    citations: Citations = param("published", CITATIONS)

    version = 2


V = TypeVar("V")


@dataclass(frozen=True)
class Pairwise(Generic[V]):
    """How similar the runs of a query are, in pairs.

    Attributes:
        pairs: the ``repeat`` of both runs, the earlier one first.
        values: one a pair; ``None`` where the two cannot be compared.
        note: what a reader of the mean should know.
    """

    pairs: Sequence[tuple[int, int]]
    values: Sequence[V | None]
    note: str = ""

    def part(self, name: str) -> Pairwise[float]:
        """One of several values of each pair, by its field's name."""
        values = [None if one is None else float(getattr(one, name)) for one in self.values]
        return Pairwise(self.pairs, values, self.note)

    def outcome(self: Pairwise[float], undefined: str) -> Outcome:
        """The mean over the pairs that can be compared, with the values of all pairs as parts.

        Args:
            undefined: says why there is no mean, where no pair can be compared.
        """
        known = [value for value in self.values if value is not None]
        if not known:
            return Unscored(Reason.UNDEFINED, undefined)
        parts: dict[str, Any] = {"pairs": [list(pair) for pair in self.pairs]}
        parts["values"] = list(self.values)
        left_out = len(self.values) - len(known)
        notes = [self.note] if self.note else []
        if left_out:
            notes.append(f"{left_out} of {len(self.values)} pairs cannot be compared: {undefined}")
        return Score(sum(known) / len(known), parts, "; ".join(notes))


@dataclass(frozen=True)
class PairsRouge(AnswersMetric):
    """A ROUGE over all pairs of a query's answers.

    Class attributes:
        undefined: says why two answers cannot be compared.
    """

    part: Literal["p", "r", "f"] = part("f", PARTS, OF_PAIR)

    undefined: ClassVar[str]

    def score_window(self, window: Window) -> Sequence[Outcome]:
        """The mean over all pairs of answers, the values of each pair as parts."""
        return [
            self.lacks(sample) or self._outcome(group)
            for sample, group in zip(window.samples, self.compared(window), strict=True)
        ]

    def _outcome(self, group: Pairwise[PRF] | Unscored) -> Outcome:
        if isinstance(group, Unscored):
            return group
        return group.part(self.part).outcome(self.undefined)

    @abstractmethod
    def compared(self, window: Window) -> Sequence[Pairwise[PRF] | Unscored]:
        """The values of all pairs, for each group; `Unscored` where a group has too few answers."""


def pairs_of(runs: Sequence[Sample]) -> list[tuple[Sample, Sample]]:
    """All unordered pairs of runs, the earlier run first."""
    return list(combinations(sorted(runs, key=lambda run: run.repeat), 2))


def answer_text(run: Sample, citations: Citations = "published") -> str:
    """The text of a run's answer that is compared with other runs; empty without an answer.

    Args:
        run: one run of a query.
        citations: which citation marks are removed: those that Open RAG Eval sees (``published``),
            those of any form (``any``), or none (``kept``).
    """
    if run.answer is None:
        return ""
    if citations == "kept":
        return run.answer.text
    if citations == "published":
        return text_for_models(run.answer).strip()
    return without_citations(run.answer.text, run.passages or ()).strip()


def runs_with(
    sample: Sample, has: Callable[[Sample], bool], what: str
) -> tuple[list[Sample], str] | Unscored:
    """The runs that have something, and a note where not all have it.

    Args:
        sample: a group of two runs or more.
        has: whether a run has it.
        what: what it is, for a person.

    Returns:
        The runs and the note; `Unscored` where fewer than two runs have it.
    """
    kept = [run for run in sample.runs if has(run)]
    n, all_of = len(kept), len(sample.runs)
    if n < 2:
        failures = {run.failure for run in sample.runs if run.failure}
        why = f" (the system failed: {', '.join(sorted(failures))})" if failures else ""
        return Unscored(
            Reason.MISSING_INPUT,
            f"{share(n, all_of, 'run')} {either(n, 'has', 'have')} {what}{why}",
        )
    return kept, "" if n == all_of else f"over the {n} of {all_of} runs that have {what}"
