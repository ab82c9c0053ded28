"""An answer and its references compared by their words.

Short answers: UltraRAG's five metrics, which keep their degenerate cases, and five corrected ones,
for which a reference without words matches nothing. ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004):
rouge-score's values to the last bit, words of any script, and UltraRAG's. BLEU through sacrebleu.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import islice, pairwise
from operator import attrgetter
from typing import Any, ClassVar, Literal, NamedTuple

from ragassay.base.errors import UsageError
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.answer.references import (
    ReferencedAnswer,
    ReferenceMetric,
    Tokens,
    coded,
    encode,
    rouge_tokens,
    ultrarag_normal,
)
from ragassay.metrics.core.metric import Window, define, measure, param, part, register

Measure = Literal["rouge1", "rouge2", "rougeL"]
MEASURES: tuple[Measure, ...] = ("rouge1", "rouge2", "rougeL")
PARTS = ("p", "r", "f")


class PRF(NamedTuple):
    """Precision, recall and their harmonic mean, each from 0 to 1."""

    p: float
    r: float
    f: float


def rouge(
    hypothesis: str,
    reference: str | Sequence[str],
    *,
    measures: Sequence[Measure] = MEASURES,
    stem: bool = True,
) -> dict[str, PRF]:
    """ROUGE of a text against one reference, or against the best (by F) of several."""
    unknown = [name for name in measures if name not in MEASURES]
    if unknown:
        raise UsageError(f"{unknown[0]!r} is no ROUGE measure; there are {', '.join(MEASURES)}.")
    texts = [hypothesis, *([reference] if isinstance(reference, str) else reference)]
    answer, *references = encode(rouge_tokens(text, stem) for text in texts)
    if not references:
        return dict.fromkeys(measures, PRF(0.0, 0.0, 0.0))
    return {
        measure: max((compare(measure, answer, code) for code in references), key=_f_of)
        for measure in measures
    }


def compare(measure: Measure, answer: Sequence[Any], reference: Sequence[Any]) -> PRF:
    """One ROUGE measure of two codes (see `ragassay.metrics.answer.references.encode`) or lists of
    words; repeats count as often as both have them."""
    if measure == "rougeL":
        from rapidfuzz.distance import LCSseq

        common = LCSseq.similarity(answer, reference)
    else:
        if measure == "rouge2":
            answer, reference = list(pairwise(answer)), list(pairwise(reference))
        common = (Counter(answer) & Counter(reference)).total()
    if not common:
        return PRF(0.0, 0.0, 0.0)
    p, r = common / len(answer), common / len(reference)
    return PRF(p, r, 2 * p * r / (p + r))


_f_of = attrgetter("f")


def best_score(values: Sequence[PRF], part: str, note: str) -> Score:
    """The score of an answer by its best reference: the first one with the highest F."""
    best = max(values, key=_f_of)
    parts: dict[str, Any] = best._asdict()
    if len(values) > 1:
        parts["reference"] = values.index(best)
    return Score(getattr(best, part), parts, note)


class _Published(ReferenceMetric):
    """Source: UltraRAG, servers/evaluation"""

    form = staticmethod(ultrarag_normal)

    def outcome(self, view: ReferencedAnswer) -> Outcome:
        """The published value, with a warning where a reference is empty."""
        value = self.measured(view.answer, view.references)
        if value and "" in view.references:
            at = view.references.index("") + 1
            return Score(value, {}, f"reference {at} normalises to nothing, which matches too much")
        return Score(value)


@measure("em", base=_Published, says="flag")
def ultra_em(answer: str, references: tuple[str, ...]) -> float:
    """UltraRAG's EM as published (exact_match: words of any script, no empty matches).

    Formula: 1 if the normal forms of the answer and of a reference are equal, else 0
    Misleads where: one more word gives 0; generated sentences hardly ever score
    """
    return float(answer in references)


@measure("acc", base=_Published, says="flag")
def ultra_acc(answer: str, references: tuple[str, ...]) -> float:
    """UltraRAG's Acc as published: substring (contains_answer: whole words only).

    0 for an empty answer.

    Formula: 1 if some reference is a substring of the answer, else 0 (normal forms)
    Misleads where: short references occur in longer words ("art" in "party"); long answers that
        list everything score 1
    """
    return float(bool(answer) and any(reference in answer for reference in references))


@measure("stringem", base=_Published)
def ultra_string_em(answer: str, references: tuple[str, ...]) -> float:
    """UltraRAG's StringEM as published: share of equal references (alias_groups: groups).

    Formula: references equal to the answer / references
    Misleads where: three spellings of one answer make 1/3 at best
    """
    return references.count(answer) / len(references)


@measure("coverem", base=_Published, scripts="spaced", wide="covers_answer")
def ultra_cover_em(answer: str, references: tuple[str, ...]) -> float:
    """UltraRAG's CoverEM as published (covers_answer: counts matter, no empty matches).

    Formula: 1 if all tokens of some reference occur in the answer, else 0
    Misleads where: the words may occur anywhere, in any order; an empty reference matches
    """
    words = set(answer.split())
    return float(any(words.issuperset(reference.split()) for reference in references))


@measure("f1", base=_Published, scripts="spaced", wide="token_f1")
def ultra_f1(answer: str, references: tuple[str, ...]) -> float:
    """UltraRAG's token F1 as published (token_f1: words of any script).

    0 where either is empty.

    Formula: 2PR / (P + R) of the words shared with the best reference (normal forms)
    Misleads where: a long right answer loses precision; "not open" shares most words with "open"
    """
    words = answer.split()
    return max(compare("rouge1", words, reference.split()).f for reference in references)


@dataclass(frozen=True)
class _Corrected(ReferenceMetric):
    """Source: our own, after UltraRAG"""

    articles: Literal["drop", "keep"] = param("drop", "whether English a, an, the count as words")

    version = 5
    prepared = staticmethod(coded)
    prepared_by = ("tokens", "stem", "articles")
    tokens: ClassVar[Tokens] = "unicode"
    stem: ClassVar[bool] = False

    def outcome(self, view: ReferencedAnswer) -> Outcome:
        """The value over the references that have words, with the index of the best (of flags: the
        first that matches); unscored where none has."""
        empty = [str(at) for at, reference in enumerate(view.references) if not reference]
        which = f"reference {', '.join(empty)}"
        if len(empty) == len(view.references):
            dropped = " and articles (articles=keep would count them)"
            detail = f"{which}: nothing left without punctuation"
            return Unscored(Reason.UNDEFINED, detail + dropped * (self.articles == "drop"))
        note = f"left out, as without words: {which}" if empty else ""
        values = [self.measured(view.answer, code) for code in view.references]
        if isinstance(values[0], PRF):
            return best_score(values, getattr(self, "part", "f"), note)
        matching = {"reference": values.index(True)} if True in values else {}
        return Score(float(bool(matching)), matching, note)


@dataclass(frozen=True)
class _Shared(_Corrected):
    part: Literal["p", "r", "f"] = part("f", PARTS, "precision, recall or F of the best reference")


@measure("exact_match", base=_Corrected, says="flag")
def exact_match(answer: str, reference: str) -> bool:
    """Answer equals a reference word for word, in any script; an empty one matches nothing.

    Formula: 1 if the words of the answer are those of a reference, in order, else 0
    Misleads where: one more word gives 0; generated sentences hardly ever score
    """
    return bool(reference) and reference == answer


@measure("contains_answer", base=_Corrected, says="flag", version=7)
def contains_answer(answer: str, reference: str) -> bool:
    """The answer contains a reference as whole words (Chinese, Thai ...: characters).

    Formula: 1 if the answer contains a reference as a run of whole words, else 0
    Misleads where: a right answer in other words is 0; a long answer that lists everything is 1,
        and so is one that denies it (不可以 holds 可以) or a longer word of a script without spaces
        (東京都 holds 京都)
    """
    return bool(reference) and reference in answer


@measure("covers_answer", base=_Corrected, version=7)
def covers_answer(answer: str, reference: str) -> bool:
    """All words of a reference occur in the answer, in any order and as often.

    Formula: 1 if all words of some reference occur in the answer, as often, else 0
    Misleads where: the words may occur far apart and mean something else
    """
    return bool(reference) and Counter(reference) <= Counter(answer)


@measure("token_f1", base=_Shared)
def token_f1(answer: str, reference: str) -> PRF:
    """Words shared with the best reference (f1 for any script).

    Formula: P = shared words / words of the answer, R = shared words / words of the reference, F =
        2PR / (P + R); best reference
    Misleads where: a long right answer loses precision; "not open" shares most words with "open"
    """
    return compare("rouge1", answer, reference)


@register
class AliasGroups(_Corrected):
    """Share of required items named under some alias (stringem as its page describes it).

    A nested list of references is a list of items, each with its spellings; a flat list is one
    item. An item is named where the answer contains a spelling as a run of whole words.

    Formula: items of which the answer contains a spelling / items
    Misleads where: an item counts when it is named, even to deny it
    Source: our own, after UltraRAG
    """

    name = "alias_groups"
    version = 7

    def outcome(self, view: ReferencedAnswer) -> Outcome:
        """Named items over all items; unscored where an item has no spelling with words."""
        codes = iter(view.references)
        groups = [list(islice(codes, n)) for n in view.groups or (len(view.references),)]
        if empty := [str(at) for at, group in enumerate(groups) if not any(group)]:
            return Unscored(
                Reason.UNDEFINED, f"reference group {', '.join(empty)}: no alias holds a word"
            )
        named = [any(code and code in view.answer for code in group) for group in groups]
        return Score(sum(named) / len(named), {"found": named})


class Compared(NamedTuple):
    """An answer against each of its references, and how many tokens each of those has."""

    values: tuple[PRF, ...]
    sizes: tuple[int, ...]


def compared(window: Window, measure: Measure, tokens: Tokens, stem: bool) -> list[Compared | None]:
    """Each sample's values against each of its references; for `Window.once`."""
    return [
        None
        if pair is None
        else Compared(
            tuple(compare(measure, pair.answer, code) for code in pair.references),
            tuple(map(len, pair.references)),
        )
        for pair in window.once(coded, tokens, stem)
    ]


class _Overlap(ReferenceMetric):
    """The overlap of an answer with each of its references."""

    prepared = staticmethod(compared)
    prepared_by = ("measure", "tokens", "stem")
    measure: ClassVar[Measure]
    tokens: Tokens = "ultrarag"
    stem: bool = True


@dataclass(frozen=True)
class _Rouge(_Overlap):
    """Formula: P = shared / the answer's, R = shared / the reference's, F = 2PR / (P + R); words,
        word pairs, or the longest common subsequence; best reference
    Misleads where: counts words, not meaning; long answers lose precision; only a-z and 0-9 count
        unless tokens=unicode
    Source: Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries; rouge-score 0.1.2
    """

    stem: bool = param(True, "compare Porter stems instead of words")
    tokens: Literal["rouge", "unicode"] = param(
        "rouge", "rouge: rouge-score's a-z0-9; unicode: words of any script"
    )
    part: Literal["p", "r", "f"] = part("f", PARTS, "precision, recall or F of the best reference")

    for_all_scripts: ClassVar = {"tokens": ("unicode",)}

    @property
    def signature(self) -> str:
        """Says which rules cut words of any script."""
        return super().signature + ("|words=2" if self.tokens == "unicode" else "")

    def outcome(self, view: Compared) -> Outcome:
        """The values of the reference with the highest F, as rouge-score's ``score_multi`` has
        them."""
        note = ""
        if not any(view.sizes):
            if self.tokens == "unicode":
                return Unscored(Reason.UNDEFINED, "no reference holds a word of any script")
            note = "no reference holds a letter a-z or a digit; tokens=unicode reads other scripts"
        return best_score(view.values, self.part, note)


class _UltraRouge(_Overlap):
    """F of the best reference, of stems: articles never count, and only ``a-z0-9`` is seen.

    Formula: F of the n-grams (n = 1, 2) or of the longest common subsequence (L) shared with a
        reference
    Misleads where: counts words, not meaning; long answers lose precision; only a-z and 0-9 count,
        so texts in other scripts share nothing but numbers (rouge1(tokens=unicode) and its sisters
        count words of any script)
    Source: UltraRAG, servers/evaluation
    """

    def outcome(self, view: Compared) -> Outcome:
        """F of the best reference."""
        return Score(max(map(_f_of, view.values)))


for _n, _title in (
    ("1", "Overlap of words with the best reference (ROUGE-1)."),
    ("2", "Overlap of word pairs with the best reference (ROUGE-2)."),
    (
        "L",
        "Longest common subsequence with the best reference (ROUGE-L).\n\nSentences are not split.",
    ),
):
    _name, _theirs = f"rouge{_n}", f"rouge-{_n.lower()}"
    _differs = f"{_name} keeps articles; tokens=unicode all scripts"
    _published = f"UltraRAG's ROUGE-{_n} F as published ({_differs})."
    _facts = {"measure": _name, "wide": f"{_name}(tokens=unicode)"}
    define(_name, _Rouge, _title, **_facts)
    define(_theirs, _UltraRouge, _published, aliases={f"Rouge_{_n}": _theirs}, **_facts)


Tokenize = Literal["13a", "intl", "zh", "char", "none"]
Smooth = Literal["exp", "floor", "add-k", "none"]


@dataclass(frozen=True, slots=True)
class BleuScore:
    """A BLEU value from 0 to 1 and its sacrebleu signature."""

    value: float
    signature: str


def corpus_bleu(
    hypotheses: Sequence[str],
    references: Sequence[str | Sequence[str]],
    *,
    tokenize: Tokenize = "13a",
    smooth: Smooth = "exp",
    lowercase: bool = False,
) -> BleuScore:
    """BLEU of a whole corpus: counts are summed before they are divided. Each hypothesis has one
    accepted text, or several (their number may vary). ``tokenize`` is sacrebleu's tokeniser
    (``zh`` for Chinese), ``smooth`` its smoothing of zero counts, ``lowercase`` ignores case. A
    `UsageError` for no items, lists of unequal length, or an item without references."""
    if not hypotheses or len(hypotheses) != len(references):
        raise UsageError(
            f"corpus_bleu needs as many references as hypotheses, and at least one: got "
            f"{len(hypotheses)} hypotheses and {len(references)} references."
        )
    golds = [[item] if isinstance(item, str) else list(item) for item in references]
    bare = next((index for index, gold in enumerate(golds) if not gold), None)
    if bare is not None:
        raise UsageError(f"corpus_bleu: item {bare} has no reference.")
    streams = [
        [gold[i] if i < len(gold) else None for gold in golds] for i in range(max(map(len, golds)))
    ]
    scorer = _scorer(tokenize, smooth, lowercase, effective=False)
    bleu = scorer.corpus_score(list(hypotheses), streams)
    return BleuScore(min(bleu.score / 100, 1.0), scorer.get_signature().format())


def sentence_bleu(
    hypothesis: str,
    references: str | Sequence[str],
    *,
    tokenize: Tokenize = "13a",
    smooth: Smooth = "exp",
    lowercase: bool = False,
) -> BleuScore:
    """BLEU of one text, with the effective order for short texts (sacrebleu's default)."""
    golds = [references] if isinstance(references, str) else list(references)
    if not golds:
        raise UsageError("sentence_bleu needs at least one reference.")
    scorer = _scorer(tokenize, smooth, lowercase, effective=True)
    bleu = scorer.sentence_score(hypothesis, golds)
    return BleuScore(min(bleu.score / 100, 1.0), scorer.get_signature().format())


@register
class BLEU(ReferenceMetric):
    """N-gram precision against all references (sentence BLEU).

    Formula: brevity penalty × geometric mean of the n-gram precisions, n = 1 to 4, as far as the
        answer has n-grams
    Misleads where: made for whole corpora; for one short answer it is mostly smoothing
    Source: Post 2018, A Call for Clarity in Reporting BLEU Scores; sacrebleu
    """

    tokenize: Tokenize = param("13a", "sacrebleu's tokeniser; zh for Chinese")
    smooth: Smooth = param("exp", "sacrebleu's smoothing of n-grams that never match")
    lowercase: bool = param(False, "ignore case")

    name = "BLEU"
    aliases: ClassVar = {"bleu_score": "BLEU"}
    scripts = "spaced"
    # The other tokenisers take a clause without spaces for a word.
    for_all_scripts: ClassVar = {"tokenize": ("zh", "char")}
    wide = "BLEU(tokenize=zh), or BLEU(tokenize=char) for languages other than Chinese"

    def outcome(self, view: ReferencedAnswer) -> Outcome:
        """The value from 0 to 1, with sacrebleu's signature."""
        if not any(reference.strip() for reference in view.references):
            return Unscored(Reason.UNDEFINED, "all references are empty")
        options = {name: getattr(self, name) for name in ("tokenize", "smooth", "lowercase")}
        bleu = sentence_bleu(view.answer, view.references, **options)
        return Score(bleu.value, {"signature": bleu.signature})

    @property
    def signature(self) -> str:
        """sacrebleu's signature (references vary from sample to sample) and our version."""
        case = "lc" if self.lowercase else "mixed"
        return (
            f"{self}|nrefs:var|case:{case}|eff:yes|tok:{self.tokenize}|smooth:{self.smooth}"
            f"|version:{version('sacrebleu')}|v{self.version}"
        )


@cache
def _scorer(tokenize: Tokenize, smooth: Smooth, lowercase: bool, effective: bool) -> Any:
    from sacrebleu.metrics.bleu import BLEU as Scorer  # noqa: N811  # ours has the same name

    return Scorer(
        lowercase=lowercase,
        tokenize=tokenize,
        smooth_method=smooth,
        effective_order=effective,
        force=True,
    )
