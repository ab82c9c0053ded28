"""Checks that a judge makes: whether gold spans support references, whether references leave facts
out, and whether a paragraph answers an unanswerable query."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ragassay.base.counts import plural
from ragassay.base.errors import CountedFact
from ragassay.base.sample import Answerability
from ragassay.golden.checks.golden_findings import CheckOptions, Finding
from ragassay.golden.checks.golden_groups import evidence
from ragassay.golden.checks.item_checks import numbers
from ragassay.golden.documents import Document
from ragassay.golden.golden_item import GoldenItem
from ragassay.judges.offline.questions import contradicted
from ragassay.judges.offline.words import content, spaced, tokens
from ragassay.texts.languages import code_of, language_of, without_yes_or_no

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
    "support": "{n} {reference|references} whether the gold spans support {it|them}",
    "complete": "{n} {item|items} whether the references leave facts out",
    "answered": "{n} {paragraph|paragraphs} whether {it answers|they answer} an unanswerable query",
}
"""What is not known, by the check that a judge makes."""


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
        samples = [
            {
                "id": f"{number}/{at}",
                "query": item.query,
                "answer": without_yes_or_no(reference) or reference,
                "passages": [{"text": span.text} for span in evidence(item)],
            }
            for number, item in enumerate(self._items)
            if evidence(item)
            for at, reference in enumerate(item.references)
        ]
        scores: defaultdict[int, dict[str, tuple[float, str]]] = defaultdict(dict)
        for name, value, explanation in self._scores(samples, "rl_f", "support"):
            number, at = map(int, name.split("/"))
            why = explanation.replace("the passages", "its gold spans")
            scores[number][self._items[number].references[at]] = value, why
        for number, by_reference in sorted(scores.items()):
            item = self._items[number]
            supported = [one for one, (value, _) in by_reference.items() if value >= 1]
            lacking = [one for one in by_reference if one not in supported]
            if not supported:
                lacking = [min(by_reference.items(), key=lambda entry: entry[1][0])[0]]
            elif self._options.judge is None:
                # It compares words: of another wording of an answer that is supported, only another
                # number or a contradiction says that it is wrong.
                held = [*(span.text for span in evidence(item)), *supported]
                lacking = [one for one in lacking if _says_otherwise(one, held)]
            for reference in lacking:
                why = by_reference[reference][1]
                yield Finding(f"{reference!r}: {why}, says {self._who}", item.id)

    def complete(self) -> Iterator[Finding]:
        """Facts of the gold spans that no reference says; only an LLM can tell."""
        samples = [
            {
                "id": str(number),
                "query": item.query,
                "answer": " ".join(item.references),
                "references": [" ".join(span.text for span in evidence(item))],
            }
            for number, item in enumerate(self._items if self._options.judge else ())
            if evidence(item) and item.references
        ]
        metric = "factual_correctness.recall"
        for name, value, explanation in self._scores(samples, metric, "complete"):
            if value < 1:
                sentence = f"the references leave out facts of the gold spans: {explanation}"
                yield Finding(sentence, self._items[int(name)].id)

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
        samples = []
        for number, item in enumerate(self._asked):
            words = set(tokens(item.query))
            worth = [sum(1 / n_holding[word] for word in words & bag) for bag in bags]
            best = sorted(range(len(bags)), key=lambda at, worth=worth: -worth[at])[:_PARAGRAPHS]  # type: ignore[misc]
            samples += [
                {"id": f"{number}/{at}", "query": item.query, "passages": [{"text": blocks[at][1]}]}
                for at in best
                if worth[at]
            ]
        for name, value, _ in self._scores(samples, "umbrela", "answered"):
            if value >= _ANSWERS:
                number, at = map(int, name.split("/"))
                place, block = blocks[at]
                sentence = f"it is unanswerable, and {place} may answer it: {_beginning(block)}"
                yield Finding(sentence, self._asked[number].id)

    def values(self, samples: Sequence[Mapping[str, Any]], metric: str) -> dict[str, float]:
        """The value of each sample that a metric scores, by its id."""
        return {name: value for name, value, _ in self._scores(samples, metric, "")}

    def unscored(self) -> dict[str, str]:
        """What the judge could not say, by check."""
        return {
            check: f"{self._who} could not say of {CountedFact(sentence, self._unscored[check])}"
            for check, sentence in _OPEN.items()
            if self._unscored[check]
        }

    def without_llm(self) -> dict[str, str]:
        """What is not checked, or not fully, because no judge is named; by check."""
        if self._options.judge is not None:
            return {}
        limits = []
        if self._unanswerable and self._documents:
            limits.append(
                f"{self._who} compares words, and misses short answers (--judge names an LLM)"
            )
        if left_out := len(self._unanswerable) - len(self._asked):
            n = plural(left_out, "query")
            limits.append(f"{self._who} knows what is asked in English only: {n} left out")
        skipped = {"complete": "what references leave out is told by an LLM only (--judge)"}
        return skipped | ({"answered": "; ".join(limits)} if limits else {})

    def _scores(
        self, samples: Sequence[Mapping[str, Any]], metric: str, check: str
    ) -> Iterator[tuple[str, float, str]]:
        """Id, value and explanation of each sample that a metric scores. Counts those without a
        score for the check."""
        if not samples:
            return
        judge, budget = self._options.judge, self._options.budget
        result = self._evaluate(samples, metrics=[metric], judge=judge, budget=budget)
        for row in result.scores:
            if isinstance(row.value, int | float):
                yield row.sample, float(row.value), row.explanation
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
