"""Short answers against accepted ones: UltraRAG's five metrics, which keep their degenerate cases,
and five corrected ones, for which a reference without words matches nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, Literal

from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.answer.references import (
    ReferencedAnswer,
    ReferenceMetric,
    Tokens,
    coded,
    ultrarag_normal,
)
from ragassay.metrics.answer.rouge_metrics import PARTS, PRF, best_score, compare
from ragassay.metrics.core.metric import measure, param, part, register


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
