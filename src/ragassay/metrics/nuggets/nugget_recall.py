"""AutoNuggetizer: which of the facts that a good answer holds does this answer hold?

Six scores from one set of questions: ``nuggets.all``, ``vital``, ``weighted`` and their strict
forms.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, get_args

from ragassay.base.counts import plural
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.formats.nugget_bank_file import Importance, Nugget, QueryNuggets
from ragassay.judges import Question
from ragassay.judges.asking import Ask
from ragassay.judges.questions import (
    AssignNuggets,
    ExtractNuggets,
    NuggetImportance,
    RelevanceGrade,
)
from ragassay.judges.questions.checklists import Assignment
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import missing, passage_texts, register, textless_passage
from ragassay.metrics.core.metric_parameters import part
from ragassay.metrics.nuggets.nugget_making import (
    NuggetOptions,
    batched,
    make_nuggets,
    most_asked,
    placeholders,
)
from ragassay.metrics.relevance.umbrela import earlier_queries

NuggetScore = Literal["all", "all_strict", "vital", "vital_strict", "weighted", "weighted_strict"]

LENIENT = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
STRICT = {"support": 1.0, "partial_support": 0.0, "not_support": 0.0}
_OKAY_WEIGHT = {"all": 1.0, "vital": 0.0, "weighted": 0.5}
"""Weight of a nugget that is not vital."""


def _worths(
    which: NuggetScore, importance: Sequence[Importance], assignments: Sequence[Assignment]
) -> tuple[list[float], list[float], float]:
    """What the vital nuggets and the others are worth, and the weight of the others."""
    values = STRICT if which.endswith("_strict") else LENIENT
    pairs = [(label, values[held]) for label, held in zip(importance, assignments, strict=True)]
    vital = [value for label, value in pairs if label == "vital"]
    others = [value for label, value in pairs if label != "vital"]
    return vital, others, _OKAY_WEIGHT[which.removesuffix("_strict")]


def nugget_score(
    which: NuggetScore, importance: Sequence[Importance], assignments: Sequence[Assignment]
) -> float | None:
    """One of the six scores, 0 to 1; ``None`` where no nugget counts.

    ``all`` is the mean over all nuggets, ``vital`` over the vital ones; in ``weighted`` vital ones
    weigh 1, others a half. In the ``strict`` forms partial support counts 0.
    """
    vital, others, weight = _worths(which, importance, assignments)
    total = len(vital) + weight * len(others)
    return (sum(vital) + weight * sum(others)) / total if total else None


def published_nugget_score(
    which: NuggetScore, importance: Sequence[Importance], assignments: Sequence[Assignment]
) -> float:
    """One of the six scores with the denominators of Open RAG Eval's tool.

    They are never below 1 for each kind: five vital nuggets held, and none okay, make a weighted
    score of .909. The mean of no values is 0.
    """
    vital, others, weight = _worths(which, importance, assignments)
    total = max(len(vital), 1) + weight * max(len(others), 1)
    if weight == 1:
        total = max(len(vital) + len(others), 1)
    return (sum(vital) + weight * sum(others)) / total


CONTEXT = "nuggets"
"""Where an asker's context holds a nugget bank: entries by query id."""


async def assign(
    ask: Ask, query: str, answer: str, nuggets: tuple[Nugget, ...], batch: int
) -> tuple[Assignment, ...]:
    """How far the answer holds each nugget; for `Ask.once`. An empty answer holds none, and
    the judge is not asked."""
    if not answer.strip():
        return tuple[Assignment, ...](["not_support"] * len(nuggets))
    batches = batched([one.text for one in nuggets], batch)
    replies = await ask.each([AssignNuggets(query, answer, texts) for texts in batches])
    labels: list[Assignment] = [label for reply in replies for label in reply.labels]
    return tuple(labels)


@dataclass(frozen=True)
class _Nuggets(JudgedMetric, NuggetOptions):
    """Formula: Σ worth of the nuggets / nuggets (supported 1, partly 0.5), all or vital ones
    Part all: all of them, partial support counts a half
    Part all_strict: all of them, full support only
    Part vital: vital ones, partial support counts a half
    Part vital_strict: vital ones, full support only
    Part weighted: others weigh half as much as vital ones, partial support counts a half
    Part weighted_strict: others weigh half as much as vital ones, full support only
    Misleads where: made from a system's own passages, two systems have different nuggets; compare
        by one bank
    """

    part: NuggetScore = part(
        "all", get_args(NuggetScore), "which nuggets count, and whether partial support does"
    )

    family = "trecrag"
    needs = ("query", "answer")
    uses = ("passages", "history")
    asks = (RelevanceGrade, ExtractNuggets, NuggetImportance, AssignNuggets)

    always: ClassVar[bool] = False
    """Whether nuggets are made where nothing relevant was retrieved."""

    @property
    def options(self) -> NuggetOptions:
        """How nuggets are made."""
        return NuggetOptions(**{one.name: getattr(self, one.name) for one in fields(NuggetOptions)})

    def most_asked(self, sample: Sample, context: Mapping[str, Any]) -> Iterator[Question[Any]]:
        """As many rounds and nuggets as the limits allow."""
        texts, earlier = passage_texts(sample), earlier_queries(sample)
        made_from: tuple[Hashable, ...] = texts, earlier, self.options
        if CONTEXT in context:
            made_from = (sample.id,)
        else:
            yield from most_asked(sample.query_text, texts, self.options, earlier)
        nuggets = placeholders(min(self.best, self.most), *made_from)
        for batch in batched(nuggets if sample.answer_text.strip() else (), self.batch):
            yield AssignNuggets(sample.query_text, sample.answer_text, batch)

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        nuggets = await self._nuggets(sample, ask)
        if isinstance(nuggets, Unscored):
            return nuggets
        held = await ask.once(assign, sample.query_text, sample.answer_text, nuggets, self.batch)
        labels = [one.importance for one in nuggets]
        value = self.nugget_score(self.part, labels, held)
        if value is None:
            return Unscored(Reason.UNDEFINED, f"none of {plural(len(nuggets), 'nugget')} is vital")
        return Score(
            value,
            {
                "nuggets": [one.text for one in nuggets],
                "labels": labels,
                "assignments": list(held),
            },
        )

    async def _nuggets(self, sample: Sample, ask: Ask) -> tuple[Nugget, ...] | Unscored:
        """The query's nuggets: those of the bank, or those made from its own passages."""
        bank = ask.context.get(CONTEXT)
        if bank is not None:
            return _from_bank(sample, bank)
        lacking = missing(sample, ("passages",)) or textless_passage(sample)
        if lacking is not None:
            return lacking
        texts, earlier = passage_texts(sample), earlier_queries(sample)
        return await ask.once(
            make_nuggets, sample.query_text, texts, self.options, earlier, self.always
        )

    @staticmethod
    @abstractmethod
    def nugget_score(
        which: NuggetScore, importance: Sequence[Importance], assignments: Sequence[Assignment]
    ) -> float | None:
        """The score; ``None`` where no nugget counts. See `nugget_score`."""


@register
class Nuggets(_Nuggets):
    """Share of the query's nuggets that the answer holds (AutoNuggetizer).

    ``all`` is the mean over all nuggets, ``vital`` over those that a good answer must hold,
    ``weighted`` lets the others weigh a half; the ``strict`` forms count full support only.

    As published, nuggets are made from the run's own passages, so two systems are measured against
    different facts. A nugget bank (``--nuggets pooled`` or a file) takes their place where there is
    one: its nuggets belong to the query, all of them count, and its hash stands in the signature.

    No nuggets (nothing relevant was retrieved) is no score, and no vital nugget no vital score. An
    empty answer holds nothing.

    Source: Pradeep et al. 2024, AutoNuggetizer (arXiv 2411.09607); Open RAG Eval, metrics page
    """

    name = "nuggets"
    aliases: ClassVar = {"AutoNuggetizer": "nuggets.all"}

    nugget_score = staticmethod(nugget_score)


@register
class NuggetsOre(_Nuggets):
    """Share of the query's nuggets that the answer holds, as Open RAG Eval computes it.

    As ``nuggets``, but: where no passage has the grade, nuggets are made from all of them, so that
    an answer to a failed retrieval has a score; no vital nugget is a vital score of 0; the weighted
    scores divide as if each kind had a nugget at least.

    Source: Open RAG Eval 0.3.0, AutoNuggetizer
    """

    name = "nuggets_ore"
    always = True

    nugget_score = staticmethod(published_nugget_score)


def _from_bank(sample: Sample, bank: Mapping[str, QueryNuggets]) -> tuple[Nugget, ...] | Unscored:
    entry = bank.get(sample.id)
    if entry is None:
        return Unscored(
            Reason.MISSING_INPUT, f"the nugget bank holds nothing for the query {sample.id!r}"
        )
    if entry.failure is not None:
        return entry.failure
    return entry.nuggets or Unscored(
        Reason.UNDEFINED, "the nugget bank has no nuggets for this query"
    )
