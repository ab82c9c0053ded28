"""Do the passages that an answer cites support what it says? Five forms, because the published ones
disagree; each has ``.precision``, ``.recall`` and ``.f1``."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ragassay.base.errors import CountedFact, UsageError
from ragassay.base.printable import either, plural
from ragassay.base.sample import Passage, Sample, Statement
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.judges.asking import Ask
from ragassay.judges.questions import CitationSupport
from ragassay.metrics.citation import citation_parser
from ragassay.metrics.citation.citable import Citable, is_source, marks, number
from ragassay.metrics.citation.citation_parser import tidy
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import Window, harmonic, param, part, passage_keys, register


class CitationWorth(NamedTuple):
    """A citation: its passage, whether that was retrieved, and its worth (0 where it was not)."""

    passage: str
    retrieved: bool
    value: float


Cited = Sequence[Sequence[CitationWorth]]
"""The citations of each statement, in order."""


class CitationScores(NamedTuple):
    """Three scores from 0 to 1. ``precision`` is ``None`` where nothing is cited; all are ``None``
    where the answer has no statement."""

    precision: float | None
    recall: float | None
    f1: float | None


def _by_passage(statements: Cited) -> dict[str, list[float]]:
    """What each cited passage is worth wherever it is cited, in order of first mention."""
    worths: dict[str, list[float]] = defaultdict(list)
    for cited in statements:
        for pair in cited:
            worths[pair.passage].append(pair.value)
    return worths


def _scores(statements: Cited, worth: Callable[[Sequence[float]], float]) -> CitationScores:
    if not statements:
        return CitationScores(None, None, None)
    values = [[pair.value for pair in cited] for cited in statements]
    flat = [value for cited in values for value in cited]
    recall = sum(worth(cited) for cited in values if cited) / len(values)
    if not flat:
        return CitationScores(None, recall, 0.0)
    precision = _mean(flat)
    return CitationScores(precision, recall, harmonic(precision, recall))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


CitationPart = Literal["precision", "recall", "f1"]
Support = Literal["full", "partial", "none", "not_retrieved"]


class Link(NamedTuple):
    """A citation, the passage it refers to, and how far that supports the statement."""

    citation: str
    passage: str | None
    support: Support


async def links(
    ask: Ask, statements: tuple[Statement, ...], passages: tuple[Passage, ...]
) -> list[list[Link]] | Unscored:
    """The judge's answer on each citation of each statement; for `Ask.once`. A passage that was not
    retrieved is not asked about; the passage of a cited document that supports most counts."""
    citable, keys = Citable(passages), passage_keys(passages)
    citations = [_cited(item, citable) for item in statements]
    questions: dict[tuple[int, int], CitationSupport] = {}
    lost = [key for cited in citations for key, found in cited if not found]
    by_rank = all(passage.id is None for passage in passages)  # then no other key can be found
    unknown = [key for key in lost if is_source(key) or (by_rank and number(key) is None)]
    if unknown and not citable.names_sources:
        detail = (
            f"{plural(len(unknown), 'mark')} such as [{unknown[0]}] "
            f"{either(len(unknown), 'names', 'name')} no passage; give the passages' documents, "
            "titles or addresses as answers cite them"
        )
        return Unscored(Reason.MISSING_INPUT, detail)
    for at, (statement, cited) in enumerate(zip(statements, citations, strict=True)):
        for index in (index for _, found in cited for index in found):
            text = passages[index].text
            if text is None:
                detail = f"the cited passage {keys[index]} has no text"
                return Unscored(Reason.MISSING_INPUT, detail)
            questions[at, index] = CitationSupport(_asked(statement.text), text)
    distinct = list(dict.fromkeys(questions.values()))
    answers = await ask.each(distinct)
    replies = dict(zip(distinct, answers, strict=True))
    return [
        [
            min(
                (Link(key, keys[index], replies[questions[at, index]].support) for index in found),
                key=lambda link: _BEST.index(link.support),
                default=Link(key, None, "not_retrieved"),
            )
            for key, found in cited
        ]
        for at, cited in enumerate(citations)
    ]


_BEST = ("full", "partial", "none")

_UNNAMED = (
    "{n} {mark|marks} such as [{example}] {names|name} no passage; if passages come from there, "
    "give their documents, titles or addresses as answers cite them."
)
_LISTED = (
    "{n} {answer cites|answers cite} only in a list at the end, such as [{example}]. That does not "
    "say which sentence has which source, so {it counts|they count} as citing nothing."
)
_UNREAD = (
    "{n} {answer cites|answers cite} in forms such as [{example}] only, which Open RAG Eval does "
    "not read: citation_ore counts {it|them} as citing nothing."
)


def _unnamed(window: Window) -> CountedFact:
    """The citations that name no passage; for `Window.once`."""
    unnamed = [
        key
        for sample in window.samples
        if sample.passages is not None
        for citable in [Citable(sample.passages)]
        for key in _keys(sample)
        if not citable.find_all(key)
    ]
    return CountedFact(_UNNAMED, len(unnamed), next(iter(unnamed), ""))


def _listed(window: Window) -> CountedFact:
    """The answers that cite only in a list of sources at their end; for `Window.once`."""
    keys: list[str] = []
    for s in window.samples:
        if s.passages and s.answer and not (s.answer.statements or _keys(s)):
            listed = marks(s.answer.text, Citable(s.passages), len(s.passages))
            keys += listed[-1].keys[:1] if listed else ()
    return CountedFact(_LISTED, len(keys), next(iter(keys), ""))


def _keys(sample: Sample) -> list[str]:
    """The citations of an answer, in order."""
    passages = sample.passages or ()
    given = sample.answer.statements if sample.answer is not None else ()
    cited = given or citation_parser.parts(sample.answer_text, passages)
    return [key for statement in cited for key in statement.citations]


def _cited(statement: Statement, citable: Citable) -> list[tuple[str, tuple[int, ...]]]:
    """Each citation of a statement once, with the indices of its passages."""
    citations: dict[tuple[int, ...] | str, tuple[str, tuple[int, ...]]] = {}
    for key in statement.citations:
        found = citable.find_all(key)
        citations.setdefault(found or key, (key, found))
    return list(citations.values())


def _asked(text: str) -> str:
    """The statement as the judge reads it. Some forms keep the full stop and some do not; without
    it one question serves them all."""
    return tidy(text).rstrip(" .") or text


@dataclass(frozen=True)
class _Citation(JudgedMetric):
    """Formula: P = worth of the citations / what is cited; R = worth of the parts / parts; F1 = 2PR
        / (P + R); full support 1, partial 0.5
    Misleads where: one safe citation makes precision 1; check recall, too
    Source: Open RAG Eval, metrics page (citation metric)
    """

    part: CitationPart = part("f1", ("precision", "recall", "f1"), "which of them is the value")
    full: float = param(1.0, "worth of a citation that supports the statement in full", minimum=0)
    partial: float = param(0.5, "worth of one that supports some of it", minimum=0)
    none: float = param(0.0, "worth of one that supports nothing", minimum=0)

    family = "trecrag"
    needs = ("answer", "passages")
    asks = (CitationSupport,)

    version = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.none <= self.partial <= self.full <= 1:
            raise UsageError(f"{self.name}: the worths must rise from none to full, up to 1.")

    def suits(self, sample: Sample) -> bool:
        """Also whether the answer cites anything."""
        if not super().suits(sample) or sample.answer is None:
            return False
        cut = sample.answer.statements or self.cut(sample.answer.text, sample.passages or ())
        return any(statement.citations for statement in cut)

    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        """The value of one part; all three, and every statement with its citations, are in the
        parts."""
        assert sample.answer is not None and sample.passages is not None
        statements = self.considered(
            sample.answer.statements or self.cut(sample.answer.text, sample.passages)
        )
        links_of = await ask.once(links, statements, sample.passages)
        if isinstance(links_of, Unscored):
            return links_of
        scores = self.combine([[self._worth(link) for link in cited] for cited in links_of])
        value: float | None = getattr(scores, self.part)
        if value is None:
            reason, why = Reason.NOTHING_CITED, "cites nothing"
            if scores.recall is None:
                reason, why = Reason.EMPTY_ANSWER, "says nothing"
            return Unscored(reason, f"the answer {why}, so there is no {self.part}")
        return Score(value, self._parts(scores, statements, links_of))

    def remarks(self, window: Window) -> Iterable[CountedFact]:
        """How many citations name no passage, and how many answers end with a list of sources."""
        return [window.once(_unnamed), window.once(_listed)]

    def _worth(self, link: Link) -> CitationWorth:
        worth = {"full": self.full, "partial": self.partial, "none": self.none}
        name = link.citation if link.passage is None else link.passage
        return CitationWorth(name, link.passage is not None, worth.get(link.support, 0.0))

    def _parts(
        self,
        scores: CitationScores,
        statements: Sequence[Statement],
        links_of: Sequence[Sequence[Link]],
    ) -> Mapping[str, Any]:
        details = [
            {
                "text": statement.text,
                "citations": [
                    {**link._asdict(), "score": self._worth(link).value} for link in cited
                ],
            }
            for statement, cited in zip(statements, links_of, strict=True)
        ]
        return {**scores._asdict(), "statements": details}

    def considered(self, statements: Sequence[Statement]) -> tuple[Statement, ...]:
        """The statements with the citations that count: all of them."""
        return tuple(statements)

    def cut(self, text: str, passages: Sequence[Passage]) -> tuple[Statement, ...]:
        """The statements of an answer that came as plain text: it is split after each citation."""
        return citation_parser.parts(text, passages)

    @staticmethod
    @abstractmethod
    def combine(statements: Cited) -> CitationScores:
        """The three scores of statements with the worth of their citations."""


class _OfSentences(_Citation):
    version = 4

    @staticmethod
    def combine(statements: Cited) -> CitationScores:
        """Precision over all citations; recall by the best citation of each sentence."""
        return _scores(statements, max)

    def cut(self, text: str, passages: Sequence[Passage]) -> tuple[Statement, ...]:
        """Splits the text into sentences."""
        return citation_parser.sentences(text, passages)


@register
class Citation(_Citation):
    """Whether the cited passages support the answer.

    A part is the text up to the next citation; what follows the last one cites nothing. Precision:
    each cited passage's mean worth over the parts that cite it, over the cited passages; undefined
    where nothing is cited. Recall: each part's mean worth, 0 where it cites nothing, over the
    parts.

    Part precision: mean over the cited passages
    Part recall: mean over the answer's parts, uncited ones count 0
    Part f1: F1 of that precision and recall
    """

    name = "citation"
    version = 3

    @staticmethod
    def combine(statements: Cited) -> CitationScores:
        recall = _scores(statements, _mean).recall
        means = [_mean(values) for values in _by_passage(statements).values()]
        if not means or recall is None:
            return _scores(statements, _mean)
        precision = _mean(means)
        return CitationScores(precision, recall, harmonic(precision, recall))


@register
class CitationPairs(_Citation):
    """Support of citations, each counted once.

    A passage that many parts cite weighs more here than one that is cited once.

    Part precision: mean over all pairs of a part and a citation
    Part recall: mean over the answer's parts, uncited ones count 0
    Part f1: harmonic mean of precision over pairs and recall over parts
    Source: our own, after Open RAG Eval
    """

    name = "citation_pairs"

    @staticmethod
    def combine(statements: Cited) -> CitationScores:
        return _scores(statements, _mean)


@register
class CitationOre(_Citation):
    """Support of citations as Open RAG Eval computes it.

    As ``citation``, but over its loader's parts and citations (``[1] [2]`` loses the second); a
    citation of what was not retrieved is left out, so one good and one invented citation make 1;
    nothing cited is precision 0.

    Part precision: mean over distinct passages
    Part recall: mean over the answer's parts
    Part f1: harmonic mean of precision over distinct passages and recall over parts
    Source: Open RAG Eval 0.3.0, citation metric
    """

    name = "citation_ore"

    def cut(self, text: str, passages: Sequence[Passage]) -> tuple[Statement, ...]:
        """The parts of Open RAG Eval's loader; an empty answer has none."""
        return citation_parser.published_parts(text) if text.strip() else ()

    def remarks(self, window: Window) -> Iterable[CountedFact]:
        """Also how many answers cite in forms that the tool does not read."""
        unread = [
            keys[0]
            for sample in window.samples
            if sample.answer is not None and not sample.answer.statements
            if (keys := _keys(sample))
            and not any(statement.citations for statement in self.cut(sample.answer.text, ()))
        ]
        fact = CountedFact(_UNREAD, len(unread), next(iter(unread), ""))
        return [*super().remarks(window), fact]

    @staticmethod
    def combine(statements: Cited) -> CitationScores:
        if not statements:
            return CitationScores(None, None, None)
        retrieved = [[pair for pair in cited if pair.retrieved] for cited in statements]
        parts = [
            _mean([pair.value for pair in of_retrieved]) if of_retrieved else 0.0
            for cited, of_retrieved in zip(statements, retrieved, strict=True)
            if of_retrieved or not cited
        ]
        by_passage = _by_passage(retrieved)
        precision = _mean([_mean(values) for values in by_passage.values()]) if by_passage else 0.0
        recall = _mean(parts) if parts else 0.0
        return CitationScores(precision, recall, harmonic(precision, recall))


@register
class CitationTrec(_OfSentences):
    """Support of the first citation of each sentence (TREC RAG, weighted).

    Precision: worth over the sentences that cite. Recall: worth over all sentences.

    Part precision: mean over sentences that cite
    Part recall: mean over all sentences
    Part f1: harmonic mean of both
    Source: Thakur et al. 2025, TREC 2024 RAG support evaluation (arXiv 2504.15205)
    """

    name = "citation_trec"

    def considered(self, statements: Sequence[Statement]) -> tuple[Statement, ...]:
        """Keeps the first citation of each sentence; the others are not asked about."""
        return tuple(Statement(statement.text, statement.citations[:1]) for statement in statements)


@register
class CitationSentences(_OfSentences):
    """Support of all citations, sentence by sentence (corrected).

    Differs from ``citation`` where sentences without a citation precede one that has one (they
    count as uncited), and where a sentence has several citations: it is worth its best one.

    Part precision: mean over all citations
    Part recall: mean over all sentences, each worth its best citation
    Part f1: harmonic mean of both
    Source: our own, after Open RAG Eval and TREC
    """

    name = "citation_sentences"
