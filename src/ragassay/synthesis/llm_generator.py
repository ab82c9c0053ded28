"""Queries and answers that a model writes, from passages that are drawn for each of them."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle, zip_longest

from ragassay.base.errors import UsageError
from ragassay.base.sample import Sample, Turn
from ragassay.golden.golden_item import GoldenItem, GoldSpan, NegativeReference, said_by
from ragassay.judges import Failure
from ragassay.judges.asking import Ask
from ragassay.judges.questions.answering import WriteAnswer, WriteQuery
from ragassay.synthesis.draft import ASKED, Draft, Kind, Nearly, Rejection, Wish
from ragassay.synthesis.filters import declined, ill_formed, no_answer
from ragassay.synthesis.sections import Corpus, Section, pairs_with_shared_names

SHOTS = 3
"""Example queries in a prompt, at most."""


class LLMGenerator:
    """Draws passages and has queries and answers written; no answer is paid for to a query with
    fewer or more words. Examples are shown, never those about the same passage."""

    def __init__(self, corpus: Corpus, wish: Wish, examples: Sequence[GoldenItem]) -> None:
        self._corpus, self._wish, self._examples = corpus, wish, examples

    def wanted(self, kinds: Sequence[Kind]) -> Iterator[Draft]:
        """For each kind a draft without a query, with the passages to write from: every document
        and part in turn."""
        draw = random.Random(self._wish.seed)
        singles = list(self._corpus.sections)
        draw.shuffle(singles)
        single = cycle(_in_turn(singles))
        pair = cycle(pairs_with_shared_names(self._corpus.sections))
        seen: Counter[tuple[Kind, tuple[Section, ...]]] = Counter()
        for kind in kinds:
            is_across = dict(kind).get("shape") == "across"
            sections: tuple[Section, ...] | None
            sections = next(pair, None) if is_across else (next(single),)
            if sections is None:
                raise UsageError(
                    "No two documents share a name, so no query can go across them. "
                    "Leave across out of --mix shape=..."
                )
            yield Draft("", kind, sections, repeat=seen[kind, sections])
            seen[kind, sections] += 1

    def answering(self, samples: Iterable[Sample]) -> Iterator[Draft]:
        """Drafts of queries that only need answers, with the passages that match them best."""
        for sample in samples:
            turns = tuple(map(said_by, sample.history))
            sections = tuple(self._corpus.search(sample.query_text))
            kind = (("answerability", "answerable" if sections else "unanswerable"),)
            name = sample.id if sample.query else ""
            yield Draft(sample.query_text, kind, sections, history=turns, name=name)

    async def draft(self, wanted: Draft, ask: Ask) -> Draft | Rejection:
        """What the model writes."""
        draft = replace(wanted)
        if wanted.query:
            draft.source = "given"
        elif wanted.wanted.get("shape") == "follow-up":
            first = await self.draft(replace(wanted, kind=_first_turn(wanted.kind)), ask)
            if isinstance(first, Rejection):
                return first
            if not first.references:
                return Rejection("not-written", "its first turn has no answer", draft)
            draft.history = (Turn("user", first.query), Turn("agent", first.references[0]))
        if not wanted.query:
            query = await ask.judge_answer(self.question(draft), draft.repeat)
            if isinstance(query, Failure):
                return Rejection.of(query, "not-written", "generator", draft)
            draft.query = " ".join(query.answer.query.split())
            if not draft.query:
                return Rejection("not-written", "the generator wrote an empty query", draft)
            if declined(draft.query):
                return Rejection("not-written", f"the generator declined: {draft.query}", draft)
            if detail := ill_formed(draft.query, self._wish.words, draft.wanted.get("length")):
                return Rejection("form", detail, draft)
        return await self._answered(draft, ask)

    def question(self, draft: Draft) -> WriteQuery:
        """The question by which a query is written."""
        words = draft.wanted
        lines = [
            *(said.get(words.get(part, ""), "") for part, said in ASKED.items()),
            f"Style: {words['style']}." if "style" in words else "",
            f"Language: {words['language']}." if "language" in words else "",
            self._wish.guide,
        ]
        history = "\n".join(f"{turn.speaker}: {turn.text}" for turn in draft.history)
        passages = tuple(section.shown for section in draft.sections)
        return WriteQuery("\n".join(filter(None, lines)), passages, history, self._shots(draft))

    def _shots(self, draft: Draft) -> tuple[str, ...]:
        """Example queries of the same type first; none whose answer is in the passages."""
        kind = draft.wanted.get("type")
        others = [
            example
            for example in self._examples
            if not any(
                span.document == section.document
                and span.start < section.end
                and section.start < span.end
                for span in example.gold or ()
                for section in draft.sections
            )
        ]
        source = random.Random(f"{self._wish.seed} {draft.sections[0].start} {draft.repeat}")
        source.shuffle(others)
        others.sort(key=lambda item: item.type != kind)
        return tuple(other.query for other in others[:SHOTS])

    async def _answered(self, draft: Draft, ask: Ask) -> Draft | Rejection:
        if not draft.answerable or not self._wish.answers:
            draft.evidence = tuple(ask.evidence)
            spans = tuple(
                self._corpus.span(section, section.start, section.end) for section in draft.sections
            )
            if draft.answerable:
                draft.spans = spans
            elif not draft.name:
                draft.nearly = Nearly(spans)
            return draft
        passages = tuple(section.shown for section in draft.sections)
        judge_answer = await ask.judge_answer(
            WriteAnswer(draft.conversation, passages, self._wish.guide)
        )
        if isinstance(judge_answer, Failure):
            return Rejection.of(judge_answer, "not-written", "generator", draft)
        draft.evidence = tuple(ask.evidence)
        written = judge_answer.answer
        answer = "" if no_answer(written.answer, draft.conversation) else written.answer.strip()
        if not answer and draft.name:
            draft.kind = (("answerability", "unanswerable"),)
            return draft
        draft.references = (answer,)
        if not answer:
            detail = "the passages hold no answer, says the generator"
            return Rejection("not-written", detail, draft)
        by = judge_answer.provenance.judge
        draft.negatives = tuple(
            NegativeReference(text=text, kind=kind, by=by)
            for text, kind in (
                (written.inaccurate, "inaccurate"),
                (written.incomplete, "incomplete"),
            )
            if text.strip() and text.strip() != answer
        )
        quotes = list(filter(str.strip, written.quotes))
        spans_of_quotes = [self._span(quote, draft.sections) for quote in quotes]
        if None in spans_of_quotes:
            quote = quotes[spans_of_quotes.index(None)]
            detail = f"the quote {quote!r} is not in the passages"
            return Rejection("not-grounded", detail, draft)
        draft.spans = tuple(dict.fromkeys(filter(None, spans_of_quotes)))
        return draft

    def _span(self, quote: str, sections: Sequence[Section]) -> GoldSpan | None:
        """Where a quote is; runs of white space are alike."""
        pattern = re.compile(r"\s+".join(map(re.escape, quote.split())))
        for section in sections:
            if (match := pattern.search(section.text)) is not None:
                start, end = section.start + match.start(), section.start + match.end()
                return self._corpus.span(section, start, end)
        return None


def _in_turn(sections: Sequence[Section]) -> list[Section]:
    by_document: dict[str, list[Section]] = {}
    for section in sections:
        by_document.setdefault(section.document, []).append(section)
    rows = zip_longest(*by_document.values())
    return [section for row in rows for section in row if section is not None]


def _first_turn(kind: Kind) -> Kind:
    first = {"shape": "single", "answerability": "answerable"}
    return tuple((part, first.get(part, value)) for part, value in kind)
