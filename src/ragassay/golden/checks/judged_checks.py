"""Checks that a judge makes: whether gold spans support references, whether references leave facts
out, and whether a paragraph answers an unanswerable query."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ragassay.base.counts import grouped
from ragassay.base.note import Note
from ragassay.base.sample import Answerability
from ragassay.golden.checks.golden_findings import CheckOptions, Finding, clause, finding
from ragassay.golden.checks.item_checks import numbers
from ragassay.golden.documents import Document
from ragassay.golden.golden_item import GoldenItem
from ragassay.judges.offline.questions import contradicted
from ragassay.judges.offline.words import content, spaced, tokens
from ragassay.texts.languages import code_of, language_of, without_yes_or_no

K = TypeVar("K", bound=Hashable)
_ANSWERS = 3.0
"""UMBRELA's grade of a passage that holds the answer."""
_PARAGRAPHS = 3
"""Paragraphs that are looked at for an answer to an unanswerable query."""
_PARAGRAPH = re.compile(r"\S.*?(?=\s*(?:\n\s*\n|\Z))", re.DOTALL)
_QUOTED = 120
"""Characters of a paragraph that are quoted."""
_BEGINNING = 1000
"""Characters of each document that tell its language."""
_DENIED = ("negation", "opposite")
_OPEN = {
    "support": "support_unknown",
    "complete": "completeness_unknown",
    "answered": "answer_unknown",
}
"""The note about what is not known, by the check that a judge makes."""


class JudgedChecks:
    """The checks of a golden set that a judge makes."""

    def __init__(
        self,
        items: Sequence[GoldenItem],
        documents: Mapping[str, Document],
        options: CheckOptions,
        evaluate: Callable[..., Any],
    ) -> None:
        self._items, self._documents, self._options = items, documents, options
        self._evaluate = evaluate
        self._who = options.judge or "the offline judge"
        self._unscored: Counter[str] = Counter()
        self._unanswerable = [
            item for item in items if item.answerability is Answerability.UNANSWERABLE
        ]
        self._asked = (
            self._unanswerable if options.judge else _in_english(self._unanswerable, documents)
        )

    def support(self) -> Iterator[Finding]:
        """Claims of references that the gold spans alone do not support."""
        asked = {
            (at, reference): {
                "query": item.query,
                "answer": without_yes_or_no(reference) or reference,
                "passages": [{"text": span.text} for span in item.evidence],
            }
            for at, item in enumerate(self._items)
            if item.evidence
            for reference in item.references
        }
        scores = self._scores(asked, "rl_f", "support")
        by_item = grouped((at, (value, one, why)) for (at, one), value, why in scores)
        for at, of_item in sorted(by_item.items()):
            item = self._items[at]
            lacking = [one for one in of_item if one[0] < 1]
            if len(lacking) == len(of_item):
                lacking = [min(lacking, key=lambda one: one[0])]
            elif self._options.judge is None:
                # It compares words: of another wording of an answer that is supported, only another
                # number or a contradiction says that it is wrong.
                held = [span.text for span in item.evidence]
                held += [reference for value, reference, _ in of_item if value >= 1]
                lacking = [one for one in lacking if _says_otherwise(one[1], held)]
            for _, reference, explanation in lacking:
                why = explanation.replace("the passages", "its gold spans")
                yield finding("unsupported", item.id, reference=reference, why=why, judge=self._who)

    def complete(self) -> Iterator[Finding]:
        """Facts of the gold spans that no reference says; only an LLM can tell."""
        asked = {
            item.id: {
                "query": item.query,
                "answer": " ".join(item.references),
                "references": [item.evidence_text],
            }
            for item in (self._items if self._options.judge else ())
            if item.evidence and item.references
        }
        for name, value, why in self._scores(asked, "factual_correctness.recall", "complete"):
            if value < 1:
                yield finding("incomplete", name, why=why)

    def answered(self) -> Iterator[Finding]:
        """Unanswerable queries that some paragraph answers."""
        if not self._asked:
            return
        blocks = [
            (f"{document.id}:{start + match.start()}", match[0])
            for document in self._documents.values()
            for _, start, end in document.parts()
            for match in _PARAGRAPH.finditer(document.text[start:end])
        ]
        bags = [set(tokens(block)) for _, block in blocks]
        n_holding = Counter(word for bag in bags for word in bag)
        asked = {}
        for item in self._asked:
            words = set(tokens(item.query))
            worth = [sum(1 / n_holding[word] for word in words & bag) for bag in bags]
            for at in sorted(range(len(bags)), key=worth.__getitem__, reverse=True)[:_PARAGRAPHS]:
                if worth[at]:
                    passage = {"text": blocks[at][1]}
                    asked[item.id, at] = {"query": item.query, "passages": [passage]}
        for (name, at), value, _ in self._scores(asked, "umbrela", "answered"):
            if value >= _ANSWERS:
                place, block = blocks[at]
                yield finding("answered_after_all", name, place=place, text=_beginning(block))

    def values(self, asked: Mapping[K, Mapping[str, Any]], metric: str) -> dict[K, float]:
        """The value of each sample that a metric scores."""
        return {key: value for key, value, _ in self._scores(asked, metric, "")}

    def unscored(self) -> dict[str, str]:
        """What the judge could not say, by check."""
        return {
            check: clause(Note(kind, {"judge": self._who, "n": self._unscored[check]}))
            for check, kind in _OPEN.items()
            if self._unscored[check]
        }

    def without_llm(self) -> dict[str, str]:
        """What is not checked, or not fully, because no judge is named; by check."""
        if self._options.judge is not None:
            return {}
        limits = []
        if self._unanswerable and self._documents:
            limits.append(Note("misses_short_answers", {"judge": self._who}))
        if n := len(self._unanswerable) - len(self._asked):
            limits.append(Note("english_only", {"judge": self._who, "n": n}))
        skipped = {"complete": clause(Note("needs_llm"))}
        return skipped | ({"answered": clause(*limits)} if limits else {})

    def _scores(
        self, asked: Mapping[K, Mapping[str, Any]], metric: str, check: str
    ) -> Iterator[tuple[K, float, str]]:
        """Key, value and explanation of each sample that a metric scores. Counts those without a
        score for the check."""
        if not asked:
            return
        keys = list(asked)
        samples = [{"id": str(n), **one} for n, one in enumerate(asked.values())]
        judge, budget = self._options.judge, self._options.budget
        result = self._evaluate(samples, metrics=[metric], judge=judge, budget=budget)
        for row in result.scores:
            if isinstance(row.value, int | float):
                yield keys[int(row.sample)], float(row.value), row.explanation
            else:
                self._unscored[check] += 1


def _says_otherwise(reference: str, held: Sequence[str]) -> bool:
    """Whether a reference has a number in digits that none of some texts holds, in digits or in
    words, or denies what one of them says."""
    words = {word for text in held for word in content(spaced(text))}
    return not numbers(reference) <= words or contradicted(reference, held) in _DENIED


def _beginning(text: str) -> str:
    """The beginning of a text in quotes, cut between two words."""
    line = " ".join(text.split())
    if len(line) <= _QUOTED:
        return repr(line)
    # What has no spaces, as Chinese has none, is cut anywhere.
    head, _, _ = line[: _QUOTED + 1].rpartition(" ")
    return repr(f"{head if len(head) > _QUOTED // 2 else line[:_QUOTED]} …")


def _in_english(items: Sequence[GoldenItem], documents: Mapping[str, Document]) -> list[GoldenItem]:
    """Items whose query is in English, or may be. Where its words do not tell, the documents do."""
    around = language_of("\n".join(one.text[:_BEGINNING] for one in documents.values()))
    codes = (
        code_of(one.language) if one.language else language_of(one.query) or around for one in items
    )
    return [one for one, code in zip(items, codes, strict=True) if code in ("en", "")]
