"""Queries and answers that a model writes, from passages that are drawn for each of them; who is
asked: a generator and a checker as one judge, and any system at the place of a model."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle, zip_longest
from typing import Any

import orjson

from ragassay.base.errors import UsageError
from ragassay.base.sample import Sample, Turn
from ragassay.golden.golden_item import GoldenItem, GoldSpan, NegativeReference, said_by
from ragassay.judges import Failure, Judge, JudgeOptions, Question, Verdict
from ragassay.judges.asking import Ask
from ragassay.judges.judge_factory import kinds
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.llm.llm_judge import LLMJudge
from ragassay.judges.panel import JudgeGroup
from ragassay.judges.questions.writing import WriteAnswer, WriteQuery
from ragassay.judges.reply import R_co
from ragassay.synthesis.draft import Draft, Nearly, Rejection
from ragassay.synthesis.filters import declined, ill_formed, no_answer
from ragassay.synthesis.mix import ASKED, WORDS, Kind
from ragassay.synthesis.sections import Corpus, Section, pairs_with_shared_names
from ragassay.targets.target import Request, Stopwatch, Target
from ragassay.targets.target_factory import AskOptions, make_targets
from ragassay.transport.budget import Budget
from ragassay.transport.endpoints import Completion, Endpoint, Prompt
from ragassay.transport.endpoints.endpoint import SAMPLING
from ragassay.transport.limits import Limiter
from ragassay.transport.prices import Price
from ragassay.transport.providers import aliases, providers

SHOTS = 3
"""Example queries in a prompt, at most."""


class LLMGenerator:
    """Draws passages and has queries and answers written.

    Args:
        examples: accepted items whose queries are shown, never those about the same passage.
        words: fewest and most words of a query; no answer is paid for to one of another length.
    """

    def __init__(
        self,
        corpus: Corpus,
        seed: int = 0,
        guide: str = "",
        examples: Sequence[GoldenItem] = (),
        *,
        answers: bool = True,
        words: tuple[int, int] = WORDS,
    ) -> None:
        self._corpus, self._seed, self._guide = corpus, seed, guide
        self._examples, self._answers, self._words = examples, answers, words

    def wanted(self, kinds: Sequence[Kind]) -> Iterator[Draft]:
        """For each kind a draft without a query, with the passages to write from: every document
        and part in turn."""
        draw = random.Random(self._seed)
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
        for one in samples:
            turns = tuple(map(said_by, one.history))
            sections = tuple(self._corpus.search(one.query_text))
            kind = (("answerability", "answerable" if sections else "unanswerable"),)
            name = one.id if one.query else ""
            yield Draft(one.query_text, kind, sections, history=turns, name=name)

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
            query = await ask.verdict(self.question(draft), draft.repeat)
            if isinstance(query, Failure):
                return Rejection.of(query, "not-written", "generator", draft)
            draft.query = " ".join(query.answer.query.split())
            if not draft.query:
                return Rejection("not-written", "the generator wrote an empty query", draft)
            if declined(draft.query):
                return Rejection("not-written", f"the generator declined: {draft.query}", draft)
            if detail := ill_formed(draft.query, self._words, draft.wanted.get("length")):
                return Rejection("form", detail, draft)
        return await self._answered(draft, ask)

    def question(self, draft: Draft) -> WriteQuery:
        """The question by which a query is written."""
        words = draft.wanted
        lines = [
            *(said.get(words.get(part, ""), "") for part, said in ASKED.items()),
            f"Style: {words['style']}." if "style" in words else "",
            f"Language: {words['language']}." if "language" in words else "",
            self._guide,
        ]
        history = "\n".join(f"{one.speaker}: {one.text}" for one in draft.history)
        passages = tuple(one.shown for one in draft.sections)
        return WriteQuery("\n".join(filter(None, lines)), passages, history, self._shots(draft))

    def _shots(self, draft: Draft) -> tuple[str, ...]:
        """Example queries of the same type first; none whose answer stands in the passages."""
        kind = draft.wanted.get("type")
        others = [
            one
            for one in self._examples
            if not any(
                span.document == section.document
                and span.start < section.end
                and section.start < span.end
                for span in one.gold or ()
                for section in draft.sections
            )
        ]
        source = random.Random(f"{self._seed} {draft.sections[0].start} {draft.repeat}")
        source.shuffle(others)
        others.sort(key=lambda one: one.type != kind)
        return tuple(one.query for one in others[:SHOTS])

    async def _answered(self, draft: Draft, ask: Ask) -> Draft | Rejection:
        if not draft.answerable or not self._answers:
            draft.evidence = ask.evidence
            spans = tuple(self._corpus.span(one, one.start, one.end) for one in draft.sections)
            if draft.answerable:
                draft.spans = spans
            elif not draft.name:
                draft.nearly = Nearly(spans)
            return draft
        passages = tuple(one.shown for one in draft.sections)
        verdict = await ask.verdict(WriteAnswer(draft.conversation, passages, self._guide))
        if isinstance(verdict, Failure):
            return Rejection.of(verdict, "not-written", "generator", draft)
        draft.evidence = ask.evidence
        written = verdict.answer
        answer = "" if no_answer(written.answer, draft.conversation) else written.answer.strip()
        if not answer and draft.name:
            draft.kind = (("answerability", "unanswerable"),)
            return draft
        draft.references = (answer,)
        if not answer:
            detail = "the passages hold no answer, says the generator"
            return Rejection("not-written", detail, draft)
        by = verdict.provenance.judge
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
            detail = f"the quote {quote!r} does not stand in the passages"
            return Rejection("not-grounded", detail, draft)
        draft.spans = tuple(dict.fromkeys(filter(None, spans_of_quotes)))
        return draft

    def _span(self, quote: str, sections: Sequence[Section]) -> GoldSpan | None:
        """Where a quote stands; runs of white space are alike."""
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


WRITES = (WriteQuery, WriteAnswer)
"""What the generator is asked; the checker is asked everything else."""


class TwoJudges(JudgeGroup):
    """Hands each question to the generator or to the checker.

    Args:
        generator: writes queries and answers; ``None``: rules do that, and no judge is asked.
    """

    def __init__(self, generator: Judge | None, checker: Judge) -> None:
        super().__init__(filter(None, (generator, checker)))
        self._generator, self._checker = generator or checker, checker

    def _for(self, question: Question[Any]) -> Judge:
        return self._generator if isinstance(question, WRITES) else self._checker

    @property
    def label(self) -> str:
        """Both labels."""
        return " + ".join(one.label for one in self.members)

    @property
    def width(self) -> int:
        """The smaller one."""
        return min(one.width for one in self.members)

    def requests(self, question: Question[Any], repeat: int = 0) -> tuple[tuple[Judge, int], ...]:
        """Those of the judge that is asked."""
        return self._for(question).requests(question, repeat)

    def known(self, question: Question[Any], repeat: int = 0) -> Verdict[Any] | Failure | None:
        """What the judge that is asked knows already."""
        return self._for(question).known(question, repeat)

    async def answer(self, question: Question[R_co], repeat: int = 0) -> Verdict[R_co] | Failure:
        """The verdict of the judge that is asked."""
        return await self._for(question).answer(question, repeat)


_KINDS = ("command", "mcp", "vectara")
_FILE = re.compile(r"(?:[\w.-]+=)?\S+\.ya?ml", re.IGNORECASE)
_FUNCTION = re.compile(r"(?:[\w.-]+=)?[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


def is_target(word: str) -> bool:
    """Whether a word names a target, and no judge."""
    kind = word.partition(":")[0].casefold()
    if kind in {*kinds(), *providers(), *aliases()}:
        return False
    return kind.rpartition("=")[2] in _KINDS or any(
        form.fullmatch(word) is not None for form in (_FILE, _FUNCTION)
    )


def judge_of_target(
    word: str, options: JudgeOptions, *, ledger: Ledger, budget: Budget | None = None
) -> LLMJudge:
    """The target that a word names, asked as a model is: by prompts, with limits and ledger."""
    (target,) = make_targets(word, AskOptions(timeout=options.timeout))
    price = Price.parse(options.price) if isinstance(options.price, str) else options.price
    return LLMJudge(
        TargetEndpoint(target, timeout=options.timeout),
        # Generator and checker are one where these agree, whatever they are called.
        f"{target.url}@{target.nameless_fingerprint}",
        ledger=ledger,
        limiter=Limiter(options.concurrency, rpm=options.rpm, tpm=options.tpm),
        budget=budget,
        price=price,
        parameters=options.parameters,
        label=target.name if target.name == target.url else f"{target.name} ({target.url})",
        timeout=options.timeout,
        reuse=options.reuse,
    )


class TargetEndpoint(Endpoint):
    """A target as an endpoint: the prompt goes out as its query, and its answer is the reply.

    The metadata of the request hold what the prompt was made of: ``question`` (the kind), ``data``
    (the fields of the question: passages, conversation), ``schema`` (of the reply) and ``seed``. A
    reply in plain text stands for the only field of a schema that has one text.
    """

    protocol = "target"
    never = frozenset({"json_schema", "json_object", *SAMPLING} - {"seed"})

    def __init__(self, target: Target, *, timeout: float) -> None:
        super().__init__(f"target:{target.nameless_fingerprint}", target.key, timeout=timeout)
        self._target = target
        self._end: asyncio.Event | None = None
        self._keeper: asyncio.Task[None] | None = None

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The prompt as a request to a system."""
        prefixes = {"assistant": "Your reply was:\n"}
        texts = [prefixes.get(one["role"], "") + one["content"] for one in prompt.messages]
        return {
            "query": "\n\n".join(texts),
            "metadata": {
                "question": prompt.name,
                "data": dict(prompt.data),
                "schema": dict(prompt.schema),
                **dict(prompt.parameters),
            },
        }

    async def open(self) -> None:
        """Opens the target, in a task of its own that closes it, too: some can only be closed by
        the task that opened them."""
        if self._keeper is not None:
            return
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._end = asyncio.Event()
        self._keeper = asyncio.create_task(self._kept(ready, self._end))
        try:
            await ready
        except BaseException:
            self._keeper = None
            raise

    async def _kept(self, ready: asyncio.Future[None], end: asyncio.Event) -> None:
        try:
            await self._target.open()
        except BaseException as error:
            ready.set_exception(error)
            return
        ready.set_result(None)
        try:
            await end.wait()
        finally:  # also where all tasks are cancelled
            await self._target.close()

    async def send(self, body: bytes) -> Completion:
        """Asks the target once."""
        await self.open()
        fields = orjson.loads(body)
        metadata = fields["metadata"]
        request = Request(metadata["question"], fields["query"], metadata=metadata)
        reply = await self._target.answer(request, Stopwatch())
        text = reply.answer.text if reply.text is None else reply.text
        return Completion(
            _whole(text, metadata["schema"]),
            model=reply.version,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            counted=reply.counted,
        )

    async def close(self) -> None:
        """Closes the target."""
        if self._keeper is not None and self._end is not None:
            self._end.set()
            await asyncio.gather(self._keeper, return_exceptions=True)
            self._keeper = None


def _whole(text: str, schema: dict[str, Any]) -> str:
    """The reply as JSON: a plain text as the only field."""
    fields = list(schema["properties"].items())
    is_plain = len(fields) == 1 and fields[0][1].get("type") == "string"
    if not is_plain or "{" in text:
        return text
    return orjson.dumps({fields[0][0]: text.strip()}).decode()
