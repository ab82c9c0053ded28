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
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

from ragassay.base.counts import either, share
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.citation.citation_parser import text_for_models, without_citations
from ragassay.metrics.core.metric import Metric, not_applicable
from ragassay.metrics.core.metric_parameters import param
from ragassay.metrics.core.window import Window

SCORES, UNSCORED = "scores", "unscored"
"""Where ``given`` of a group holds the runs' values by metric, and why some have none."""


OF_PAIR = "of each pair: precision or recall of the later answer against the earlier, or F"
"""Help of the parameter that chooses one of them."""


Citations = Literal["published", "any", "kept"]
CITATIONS = (
    "citation marks, which are no words of the answer: published: taken out where Open RAG Eval "
    "sees them ([1], [1, 2]); any: in whatever form; kept"
)


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

    citations: Citations = param("published", CITATIONS)

    version = 2


V = TypeVar("V")
W = TypeVar("W")


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

    def outcome(self, undefined: Unscored, part: str = "") -> Outcome:
        """The mean over the pairs that can be compared, with the values of all pairs as parts.

        Args:
            undefined: what comes out where no pair can be compared.
            part: the field that counts, where each pair has several values.
        """
        number: Callable[[Any], float] = attrgetter(part) if part else lambda value: value
        values = [None if one is None else number(one) for one in self.values]
        known = [value for value in values if value is not None]
        if not known:
            return undefined
        parts: dict[str, Any] = {"pairs": [list(pair) for pair in self.pairs]}
        parts["values"] = values
        left_out = len(values) - len(known)
        notes = [self.note] if self.note else []
        if left_out:
            notes.append(
                f"{left_out} of {len(values)} pairs cannot be compared: {undefined.detail}"
            )
        return Score(sum(known) / len(known), parts, "; ".join(notes))


class PairsMetric(RunsMetric):
    """A metric that is the mean over all pairs of a query's runs.

    Class attributes:
        undefined: what comes out where no two runs can be compared.
    """

    undefined: ClassVar[Unscored]

    def score_window(self, window: Window) -> Sequence[Outcome]:
        """The mean over all pairs of runs, the values of each pair as parts. Where they are several
        of each pair, the metric's parameter ``part`` names the one that counts."""
        part = getattr(self, "part", "")
        return [
            self.lacks(sample)
            or (group if isinstance(group, Unscored) else group.outcome(self.undefined, part))
            for sample, group in zip(window.samples, self.compared(window), strict=True)
        ]

    @abstractmethod
    def compared(self, window: Window) -> Sequence[Pairwise[Any] | Unscored]:
        """The values of all pairs, for each group; `Unscored` where it has too few runs."""


class Comparable(NamedTuple, Generic[V]):
    """What is compared of the runs of a group, the earliest run first.

    Attributes:
        repeats: the ``repeat`` of each run.
        items: what is compared, one a run.
        note: what a reader of the outcome should know.
    """

    repeats: list[int]
    items: Sequence[V]
    note: str

    @property
    def pairs(self) -> list[tuple[V, V]]:
        """The items of all unordered pairs of runs, the earlier run's first."""
        return list(combinations(self.items, 2))

    def paired(self, values: Sequence[W | None], note: str = "") -> Pairwise[W]:
        """The runs in pairs, with the values of `pairs` and one more note."""
        notes = "; ".join(filter(None, (self.note, note)))
        return Pairwise(list(combinations(self.repeats, 2)), values, notes)


def comparable(
    samples: Sequence[Sample],
    has: Callable[[Sample], bool],
    what: str,
    items: Callable[[list[Sample]], tuple[Sequence[V], str] | Unscored],
) -> list[Comparable[V] | Unscored]:
    """What is compared of the runs of each group.

    Args:
        samples: groups of runs.
        has: whether a run has what is compared.
        what: what it is, for a person.
        items: from the runs that have it to one item each, and a note; or why there are none.

    Returns:
        One entry a group; `Unscored` where fewer than two runs have what is compared.
    """

    def of(sample: Sample) -> Comparable[V] | Unscored:
        runs = sorted(filter(has, sample.runs), key=lambda run: run.repeat)
        n, all_of = len(runs), len(sample.runs)
        if n < 2:
            failures = {run.failure for run in sample.runs if run.failure}
            why = f" (the system failed: {', '.join(sorted(failures))})" if failures else ""
            return Unscored(
                Reason.MISSING_INPUT,
                f"{share(n, all_of, 'run')} {either(n, 'has', 'have')} {what}{why}",
            )
        compared = items(runs)
        if isinstance(compared, Unscored):
            return compared
        left_out = "" if n == all_of else f"over the {n} of {all_of} runs that have {what}"
        note = "; ".join(filter(None, (left_out, compared[1])))
        return Comparable([run.repeat for run in runs], compared[0], note)

    return [of(sample) for sample in samples]


def answers(
    samples: Sequence[Sample], citations: Citations, items: Callable[[list[str]], Sequence[V]]
) -> list[Comparable[V] | Unscored]:
    """What is compared of the answers of each group.

    Args:
        samples: groups of runs.
        citations: which citation marks are removed from the answers.
        items: from the answers of a group to what is compared of each.

    Returns:
        One entry a group; `Unscored` where it has fewer than two answers.
    """
    return comparable(
        samples,
        lambda run: run.answer is not None,
        "an answer",
        lambda runs: (items([answer_text(run, citations) for run in runs]), ""),
    )


def in_pairs(
    groups: Sequence[Comparable[V] | Unscored], alike: Callable[[V, V], W | None]
) -> list[Pairwise[W] | Unscored]:
    """Compares the runs of each group in pairs.

    Args:
        groups: what is compared.
        alike: how similar the earlier and the later run are; ``None`` where they cannot be
            compared.
    """
    return [
        group
        if isinstance(group, Unscored)
        else group.paired([alike(earlier, later) for earlier, later in group.pairs])
        for group in groups
    ]


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
