"""How alike the runs of a query are, over all pairs: the wording of the answers (ROUGE), their
meaning (BERTScore), the retrieved passages and their order."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import attrgetter
from typing import Any, ClassVar, Generic, Literal, TypeVar

from ragassay.base.printable import either, share
from ragassay.base.sample import Passage, Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.answer.likeness import MODEL, RESCALE, BertScoring, EncoderMetric, bertscores
from ragassay.metrics.answer.references import encode
from ragassay.metrics.answer.word_overlap import PARTS, PRF, Measure, compare as rouge
from ragassay.metrics.citation.citation_parser import text_for_models
from ragassay.metrics.consistency.runs_spread import RunsMetric
from ragassay.metrics.core.metric import Window, param, part, register
from ragassay.models.encoders.token_matching import TokenMatch
from ragassay.stats.repeats import jaccard, rank_biased_overlap
from ragassay.texts.word_cutting import words

V = TypeVar("V")
W = TypeVar("W")


@dataclass(frozen=True)
class Pairs(Generic[V]):
    """What is known of each pair of a query's runs (``None`` where the two cannot be compared),
    with the ``repeat`` of both, the earlier one first, and a note for a reader of the mean."""

    repeats: Sequence[tuple[int, int]]
    each: Sequence[V]
    note: str = ""

    def outcome(self, undefined: Unscored, part: str = "") -> Outcome:
        """The mean over the pairs that have a value, with all values as parts; ``undefined`` where
        none has one. ``part`` is the field that counts, where each pair has several."""
        number: Callable[[Any], float] = attrgetter(part) if part else lambda value: value
        values = [None if pair is None else number(pair) for pair in self.each]
        known = [value for value in values if value is not None]
        if not known:
            return undefined
        left_out = len(values) - len(known)
        why = f"{left_out} of {len(values)} pairs cannot be compared: {undefined.detail}"
        parts = {"pairs": [list(pair) for pair in self.repeats], "values": values}
        note = "; ".join(filter(None, (self.note, why if left_out else "")))
        return Score(sum(known) / len(known), parts, note)


def in_pairs(
    sample: Sample, what: str, item: Callable[[Sample], V | None]
) -> Pairs[Any] | Unscored:
    """The items of a group's runs (``None`` where a run has none) in pairs; `Unscored` where fewer
    than two runs have one. ``what`` they are, for notes."""
    items = {run.repeat: item(run) for run in sorted(sample.runs, key=lambda run: run.repeat)}
    found = [(repeat, of_run) for repeat, of_run in items.items() if of_run is not None]
    n, all_of = len(found), len(sample.runs)
    if n < 2:
        failures = {run.failure for run in sample.runs if run.failure}
        why = f" (the system failed: {', '.join(sorted(failures))})" if failures else ""
        detail = f"{share(n, all_of, 'run')} {either(n, 'has', 'have')} {what}{why}"
        return Unscored(Reason.MISSING_INPUT, detail)
    left_out = "" if n == all_of else f"over the {n} of {all_of} runs that have {what}"
    repeats, values = zip(*found, strict=True)
    return Pairs(list(combinations(repeats, 2)), list(combinations(values, 2)), left_out)


def answers_in_pairs(
    samples: Sequence[Sample], item: Callable[[str], V]
) -> list[Pairs[tuple[V, V]] | Unscored]:
    """The answers of each group in pairs; ``item`` turns a text into what is compared."""

    def of(run: Sample) -> V | None:
        return None if run.answer is None else item(text_for_models(run.answer).strip())

    return [in_pairs(sample, "an answer", of) for sample in samples]


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


class AnswersMetric(RunsMetric):
    """A metric that compares the answers of a query's runs, in pairs. Citation marks that Open RAG
    Eval sees (``[1]``, ``[1, 2]``) do not count as words of an answer.

    Formula: mean over all pairs of a query's answers
    Misleads where: consistent is not right; two answers "I do not know" agree perfectly
    """

    version = 2


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


_OF_PAIR = "of each pair: precision or recall of the later answer against the earlier, or F"


def _words(window: Window) -> list[Pairs[tuple[list[str], list[str]]] | Unscored]:
    """The words of the answers of each group in pairs."""
    return answers_in_pairs(window.samples, words)


def _rouges(window: Window, measure: Measure) -> list[Pairs[PRF | None] | Unscored]:
    """There is no value where both answers are too short: without a word, or for ROUGE-2 a pair."""
    least = 2 if measure == "rouge2" else 1

    def alike(earlier: list[str], later: list[str]) -> PRF | None:
        if max(len(earlier), len(later)) < least:
            return None
        return rouge(measure, *encode([later, earlier]))

    return compare(window.once(_words), alike)


@dataclass(frozen=True)
class _RunsRouge(AnswersMetric, PairsMetric):
    """Part p: precision of the later answer against the earlier
    Part r: recall of the earlier answer by the later
    Part f: F
    Source: Open RAG Eval, metrics page (consistency); Lin 2004
    """

    part: Literal["p", "r", "f"] = part("f", PARTS, _OF_PAIR)

    undefined = Unscored(Reason.EMPTY_ANSWER, "neither answer holds a word")
    measure: ClassVar[Measure]

    @property
    def signature(self) -> str:
        """Says which rules cut words of any script."""
        return f"{super().signature}|words=2"

    def compared(self, window: Window) -> Sequence[Pairs[PRF | None] | Unscored]:
        return window.once(_rouges, self.measure)


@register
class RunsRouge1(_RunsRouge):
    """Words that the answers of repeated runs share, over all pairs (ROUGE-1).

    F is the same in both directions; P is the share of the later answer's words that are in the
    earlier one, R the share of the earlier one's.
    """

    name = "runs_rouge1"
    measure = "rouge1"


@register
class RunsRouge2(_RunsRouge):
    """Word pairs that the answers of repeated runs share, over all pairs (ROUGE-2).

    P and R as in ``runs_rouge1``.
    """

    name = "runs_rouge2"
    measure = "rouge2"
    undefined = Unscored(Reason.UNDEFINED, "neither answer holds two words")


@register
class RunsRougeL(_RunsRouge):
    """Longest common subsequence of the answers of repeated runs, over all pairs (ROUGE-L).

    P and R as in ``runs_rouge1``.
    """

    name = "runs_rougeL"
    measure = "rougeL"


# ROUGE-L as Open RAG Eval computes it, by the package rouge 1.0.1, whose values differ from ROUGE-L
# as published: texts are split at full stops and at spaces, case and punctuation stay, and a word
# counts once however often it occurs in an answer.

_TINY = 1e-8
"""What keeps the package's F from a division by 0; it makes F of equal texts a little below 1."""

Sentences = Sequence[Sequence[str]]


def sentences(text: str) -> Sentences:
    """The words of each sentence. A piece of nothing but white space is a sentence of one empty
    word, as in the package."""
    return [" ".join(piece.split()).split(" ") for piece in text.split(".") if piece]


def union_lcs(hypothesis: Sentences, reference: Sentences) -> PRF:
    """Precision, recall and F of a text against a reference: the words of the longest common
    subsequence of each reference sentence with each sentence of the hypothesis, over the distinct
    words of each."""
    here, there = ({word for group in side for word in group} for side in (hypothesis, reference))
    common = {
        word for group in reference for other in hypothesis for word in _common_words(group, other)
    }
    p, r = len(common) / len(here), len(common) / len(there)
    return PRF(p, r, 2.0 * ((p * r) / (p + r + _TINY)))


def _common_words(reference: Sequence[str], hypothesis: Sequence[str]) -> set[str]:
    """The words of one longest common subsequence: the one that the package chooses, which reads
    from the end."""
    known = set(reference)
    # Words that the reference lacks are always skipped.
    left, top = reference, [word for word in hypothesis if word in known]
    if not top:
        return set()
    table = [[0] * (len(top) + 1)]
    for word in left:
        above, row = table[-1], [0]
        for at, other in enumerate(top):
            row.append(above[at] + 1 if word == other else max(above[at + 1], row[at]))
        table.append(row)
    words, i, j = set(), len(left), len(top)
    while i and j:
        if left[i - 1] == top[j - 1]:
            i, j = i - 1, j - 1
            words.add(left[i])
        elif table[i - 1][j] > table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return words


def _ore_rouges(window: Window) -> list[Pairs[PRF | None] | Unscored]:
    cut = answers_in_pairs(window.samples, sentences)
    return compare(cut, _both_ways)


def _both_ways(earlier: Sentences, later: Sentences) -> PRF | None:
    """The mean of both directions; none where an answer has no sentence."""
    if not earlier or not later:
        return None
    ways = [union_lcs(earlier, later), union_lcs(later, earlier)]
    return PRF(*(sum(values) / 2 for values in zip(*ways, strict=True)))


@register
class RunsRougeOre(AnswersMetric, PairsMetric):
    """Words in the same order in the answers of repeated runs, as Open RAG Eval computes it.

    Each pair's value is the mean of its two directions. F of two equal answers is 1 - 5e-9.

    Part p: precision, mean of both directions
    Part r: recall, mean of both directions
    Part f: F, mean of both directions
    Source: Open RAG Eval 0.3.0, consistency (ROUGE-L of the package rouge 1.0.1)
    """

    part: Literal["p", "r", "f"] = part("f", PARTS, "of each pair: precision, recall or F")

    name = "runs_rouge_ore"
    version = 1
    undefined = Unscored(Reason.EMPTY_ANSWER, "an answer has no words")

    def compared(self, window: Window) -> Sequence[Pairs[PRF | None] | Unscored]:
        return window.once(_ore_rouges)


_EMPTY = Unscored(Reason.EMPTY_ANSWER, "both answers are empty")


def _matches(
    window: Window, scale: BertScoring, rows: tuple[int, ...]
) -> list[Pairs[TokenMatch | None] | Unscored]:
    """All pairs of the window go through the model together: each answer is encoded once."""
    groups = answers_in_pairs([window.samples[at] for at in rows], str)
    pairs = [pair for group in groups if isinstance(group, Pairs) for pair in group.each]
    matches = iter(bertscores(window, scale, [(later, earlier) for earlier, later in pairs]))
    return [
        group if isinstance(group, Unscored) else _matched(group, matches, scale)
        for group in groups
    ]


def _matched(
    group: Pairs[tuple[str, str]], matches: Iterator[TokenMatch | None], scale: BertScoring
) -> Pairs[TokenMatch | None]:
    """A group's pairs with the next of the matches."""
    known = [
        match if earlier.strip() or later.strip() else None
        for (earlier, later), match in zip(group.each, matches, strict=False)
    ]
    notes = [group.note]
    if any(match is not None and any(match.cut) for match in known):
        notes.append("answers longer than the model takes were cut")
    one_empty = [match for match in known if match is not None and match.empty]
    if one_empty:
        notes.append(
            f"in {len(one_empty)} of {len(known)} pairs one answer is empty: a raw BERTScore of 0, "
            "as bert-score has it"
            + (f", {one_empty[0].f:.2f} on this scale" if scale.rescale else "")
        )
    return Pairs(group.repeats, known, "; ".join(filter(None, notes)))


@register
class RunsBertScore(AnswersMetric, EncoderMetric):
    """Likeness in meaning of the answers of repeated runs, over all pairs (BERTScore).

    F is the same in both directions; P is how well the later answer is matched in the earlier one,
    R the reverse. Rescaled by the baseline of ``lang``, as Open RAG Eval does by default: random
    sentences then score about 0. The layer is the one that bert-score recommends (17 of
    xlm-roberta-large); the published tool takes the last.

    Part p: precision of the later answer against the earlier
    Part r: recall of the earlier answer by the later
    Part f: F
    Source: Open RAG Eval, metrics page (consistency); Zhang et al. 2020, BERTScore
    """

    model: str = param("xlm-roberta-large", MODEL)
    rescale: bool = param(True, RESCALE)
    part: Literal["p", "r", "f"] = part("f", ("p", "r", "f"), _OF_PAIR)

    name = "runs_bertscore"
    low = None

    def measure(self, window: Window, rows: Sequence[int]) -> Sequence[Outcome]:
        groups = window.once(_matches, self.scale, tuple(rows))
        return [
            group if isinstance(group, Unscored) else group.outcome(_EMPTY, self.part)
            for group in groups
        ]


def _names(run: Sample) -> list[str] | None:
    """Names of a run's passages, equal where they are the same; ``None`` without a retrieval."""
    return None if run.passages is None else list(map(_name, run.passages))


def _name(passage: Passage) -> str:
    """By the text: ids may be places in a list (``[1]``). Without one by the id, else the place."""
    if passage.text is not None:
        return f"text {' '.join(passage.text.split())}"
    if passage.id is not None:
        return f"id {passage.id}"
    return f"place {passage.document} {passage.start} {passage.end}"


class _RunsRetrieval(PairsMetric):
    version = 3
    undefined = Unscored(Reason.NOTHING_RETRIEVED, "neither run retrieved a passage")

    def compared(self, window: Window) -> Sequence[Pairs[float | None] | Unscored]:
        lists = [in_pairs(sample, "retrieved passages", _names) for sample in window.samples]
        return compare(lists, self.alike)

    @abstractmethod
    def alike(self, group: Sequence[str], other: Sequence[str]) -> float | None:
        """How similar two lists of passages are, 0 to 1; ``None`` where both are empty."""


@register
class RunsOverlap(_RunsRetrieval):
    """Share of retrieved passages that come back in a repeated run, over all pairs (Jaccard).

    Passages are the same if they have the same text or, without texts, the same id.

    Formula: passages in both runs / passages in either, mean over pairs
    Misleads where: says nothing about order; see runs_rbo
    Source: our own; Jaccard 1912
    """

    name = "runs_overlap"

    alike = staticmethod(jaccard)


@register
class RunsRbo(_RunsRetrieval):
    """Agreement of the rankings of repeated runs, over all pairs (rank-biased overlap).

    Like ``runs_overlap``, but the first ranks count most.

    Formula: extrapolated Σ p^(d-1) × overlap at depth d, mean over pairs
    Misleads where: the choice of p decides how deep it looks
    Source: Webber, Moffat and Zobel 2010, A similarity measure for indefinite rankings
    """

    p: float = param(
        0.9,
        "how likely a reader goes on to the next rank, above 0 and below 1",
        minimum=0,
        maximum=1,
        exclusive=True,
    )

    name = "runs_rbo"

    def alike(self, group: Sequence[str], other: Sequence[str]) -> float | None:
        return rank_biased_overlap(group, other, self.p)
