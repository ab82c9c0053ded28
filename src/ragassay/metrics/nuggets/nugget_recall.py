"""AutoNuggetizer: which of the facts that a good answer holds does this answer hold?

The best nuggets of a query are made from its graded passages, within the published limits. Passages
are read in windows; in each round, every window that brought something new in the round before is
asked what the list lacks, and in the first round no window may fill more than its share.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, Literal, get_args

from ragassay.base.printable import plural
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.formats.nugget_bank_file import Importance, Nugget, QueryNuggets
from ragassay.judges.asking import Ask
from ragassay.judges.questions import (
    AssignNuggets,
    ExtractNuggets,
    NuggetImportance,
    RelevanceGrade,
)
from ragassay.judges.questions.checklists import Assignment
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import (
    missing,
    param,
    part,
    passage_texts,
    register,
    textless_passage,
)
from ragassay.metrics.relevance.umbrela import SHOTS_DOC, Shots, grades
from ragassay.texts.word_cutting import words as words_of


@dataclass(frozen=True)
class NuggetOptions:
    """How nuggets are made: parameters of every nugget metric. The defaults are Open RAG Eval's."""

    iterations: int = param(5, "most rounds of extraction", minimum=1)
    most: int = param(30, "most nuggets before the best are chosen", minimum=1)
    best: int = param(20, "nuggets kept, vital ones first", minimum=1)
    words: int = param(12, "most words in a nugget; longer ones are left out", minimum=1)
    batch: int = param(10, "nuggets in one question about importance or support", minimum=1)
    min_grade: int = param(
        1, "smallest UMBRELA grade of a passage with nuggets", minimum=0, maximum=3
    )
    window: int = param(10, "passages read together", minimum=1)
    refined: bool = param(
        False, "each reply is the whole list and replaces the one before, as published"
    )
    shots: Shots = param("zero", SHOTS_DOC)


async def make_nuggets(
    ask: Ask,
    query: str,
    texts: tuple[str, ...],
    options: NuggetOptions,
    earlier: tuple[str, ...] = (),
    always: bool = False,
) -> tuple[Nugget, ...] | Unscored:
    """The nuggets of a query from its passages; for `Ask.once`. `Unscored` where there are none."""
    if not texts:
        return Unscored(Reason.NOTHING_RETRIEVED, "nothing was retrieved, so there are no nuggets")
    by_text = await ask.once(grades, query, texts, options.shots, earlier)
    # Best first; equal grades keep their order.
    best = sorted(by_text, key=lambda text: -by_text[text])
    chosen = [text for text in best if by_text[text] >= options.min_grade]
    chosen = chosen or (list(by_text) if always else [])
    if not chosen:
        return Unscored(
            Reason.NOTHING_RETRIEVED,
            f"no passage has a grade of {options.min_grade} or more, so there are no nuggets",
        )
    listed = await _extract(ask, query, chosen, options)
    if not listed.texts:
        why = f"; {listed.refused} were longer than {options.words} words" * bool(listed.refused)
        detail = f"the judge found no nuggets in the passages{why}"
        return Unscored(Reason.NOTHING_RETRIEVED, detail)
    return await _best(ask, query, listed.texts, options)


async def _extract(ask: Ask, query: str, texts: Sequence[str], options: NuggetOptions) -> Distinct:
    open_windows = batched(texts, options.window)
    listed = Distinct(words=options.words)
    for turn in range(options.iterations):
        fruitful = []
        for index, passages in enumerate(open_windows):
            room = options.most - len(listed.texts)
            share = -(-room // (len(open_windows) - index)) if turn == 0 else room
            if share <= 0:
                return listed
            known = tuple(listed.texts)
            most = options.most if options.refined else len(known) + share
            question = ExtractNuggets(query, passages, known, most, options.words, options.refined)
            # Most is asked where the list fills evenly, and where its last place stays free.
            left = (options.iterations - turn) * len(open_windows) - index
            reply = await ask(question.expecting(-(-room // left) if room >= left else room > 1))
            if options.refined:
                listed = Distinct(reply.nuggets[: options.most], words=options.words)
                if tuple(listed.texts) != known:
                    fruitful.append(passages)
                continue
            for text in reply.nuggets:
                if len(listed.texts) < len(known) + share:
                    listed.add(text)
            if len(listed.texts) > len(known):
                fruitful.append(passages)
        open_windows = fruitful
    return listed


async def _best(
    ask: Ask, query: str, texts: Sequence[str], options: NuggetOptions
) -> tuple[Nugget, ...]:
    batches = batched(texts, options.batch)
    replies = await ask.each([NuggetImportance(query, batch) for batch in batches])
    labels = [label for reply in replies for label in reply.labels]
    made = [Nugget(text, label) for text, label in zip(texts, labels, strict=True)]
    return tuple(sorted(made, key=lambda value: value.importance != "vital")[: options.best])


def batched(items: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """Consecutive batches of at most ``size`` items."""
    return [tuple(items[at : at + size]) for at in range(0, len(items), size)]


_EMPTY_WORDS = frozenset({
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "being", "am",
})  # fmt: skip


class Distinct:
    """A growing list of nuggets of which no two are the same, word by word, apart from case,
    punctuation, articles, forms of *be* and endings. ``refused`` counts those without a word, or
    with more than ``words``."""

    def __init__(self, texts: Iterable[str] = (), *, words: int) -> None:
        self.texts: list[str] = []
        self.refused = 0
        self._words = words
        self._forms: set[tuple[str, ...]] = set()
        for text in texts:
            self.add(text)

    def add(self, text: str) -> bool:
        """Adds a nugget that is new and holds 1 to ``words`` words; says whether it did."""
        nugget = " ".join(text.split())
        form = _form(nugget)
        if not form or len(nugget.split()) > self._words:
            self.refused += 1
            return False
        if form in self._forms:
            return False
        self.texts.append(nugget)
        self._forms.add(form)
        return True


def _form(text: str) -> tuple[str, ...]:
    """The words that distinguish facts."""
    found = words_of(text.replace("n't", " not").replace("n’t", " not"), stem=True)
    return tuple(word for word in found if word not in _EMPTY_WORDS) or tuple(found)


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
    """One of the six scores, 0 to 1; ``None`` where no nugget counts. In ``weighted`` nuggets that
    are not vital weigh a half; in the ``strict`` forms partial support counts 0."""
    vital, others, weight = _worths(which, importance, assignments)
    total = len(vital) + weight * len(others)
    return (sum(vital) + weight * sum(others)) / total if total else None


def published_nugget_score(
    which: NuggetScore, importance: Sequence[Importance], assignments: Sequence[Assignment]
) -> float:
    """One of the six scores with the denominators of Open RAG Eval's tool, never below 1 for each
    kind: five vital nuggets held, and none okay, make a weighted score of .909."""
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
    batches = batched([nugget.text for nugget in nuggets], batch)
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
    Misleads where: nuggets from each system's own passages differ between systems; compare
        by one bank
    """

    part: NuggetScore = part(
        "all", get_args(NuggetScore), "which nuggets count, and whether partial support does"
    )

    family = "trecrag"
    needs = ("query", "answer")
    uses = ("passages", "history")
    asks = (RelevanceGrade, ExtractNuggets, NuggetImportance, AssignNuggets)
    version = 2

    always: ClassVar[bool] = False
    """Whether nuggets are made where nothing relevant was retrieved."""

    @property
    def options(self) -> NuggetOptions:
        """How nuggets are made."""
        return NuggetOptions(
            **{field.name: getattr(self, field.name) for field in fields(NuggetOptions)}
        )

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        nuggets = await self._nuggets(sample, ask)
        if isinstance(nuggets, Unscored):
            return nuggets
        held = await ask.once(assign, sample.query_text, sample.answer_text, nuggets, self.batch)
        labels = [nugget.importance for nugget in nuggets]
        value = self.nugget_score(self.part, labels, held)
        if value is None:
            return Unscored(Reason.UNDEFINED, f"none of {plural(len(nuggets), 'nugget')} is vital")
        return Score(
            value,
            {
                "nuggets": [nugget.text for nugget in nuggets],
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
        texts, earlier = passage_texts(sample), sample.earlier_queries
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
    one. Without nuggets (nothing relevant was retrieved) there is no score, without a vital one no
    vital score. An empty answer holds nothing.

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
