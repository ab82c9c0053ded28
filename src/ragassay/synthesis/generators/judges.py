"""Who is asked: a generator and a checker as one judge, and any system at the place of a model."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import orjson

from ragassay.judges import Failure, Judge, JudgeOptions, Question, Verdict
from ragassay.judges.judge_factory import kinds
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.llm.llm_judge import LLMJudge
from ragassay.judges.panel import JudgeGroup
from ragassay.judges.questions.writing import WriteAnswer, WriteQuery
from ragassay.judges.reply import R_co
from ragassay.targets.target import Request, Stopwatch, Target
from ragassay.targets.target_factory import AskOptions, make_targets
from ragassay.transport.budget import Budget
from ragassay.transport.endpoints import Completion, Endpoint, Prompt
from ragassay.transport.endpoints.endpoint import SAMPLING
from ragassay.transport.limits import Limiter
from ragassay.transport.prices import Price
from ragassay.transport.providers import aliases, providers

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
