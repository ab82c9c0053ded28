"""Sentence vectors by an OpenAI-compatible endpoint, each paid for once: it is in the ledger before
it is used. A request that is rejected is split in two until the faulty text is alone."""

from __future__ import annotations

import asyncio
import hashlib
import shlex
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np
from typing_extensions import override

from ragassay.base import json_data
from ragassay.base.score import Reason, Unscored
from ragassay.judges.asking import Usage
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.ledger.paid_answers import EMBEDDING, VECTOR, Paid
from ragassay.judges.llm.messages import tokens_of
from ragassay.models.embedders.embedder import Embedded, Embedder, Vector
from ragassay.transport.budget import Account, Budget
from ragassay.transport.endpoints import Completion, EndpointError
from ragassay.transport.endpoints.endpoint import TIMEOUT_S, Stopped
from ragassay.transport.endpoints.http_chats import OpenAIEmbeddings, VectorReply
from ragassay.transport.providers_and_prices import FREE, Price
from ragassay.transport.sending import BACKOFF_S, INTERRUPTED, Limiter, Sender, Tally

TEXTS = 64  # most texts in a request, unless a batch size is given
TOKENS = 16_000  # most tokens in a request, estimated
_HOPELESS = 3  # after so many texts rejected one at a time, and none accepted, nothing more is sent


class EndpointEmbedder(Embedder):
    """A model at ``POST {url}/embeddings``. ``submit`` runs a coroutine on the event loop of the
    run's requests; ``identity`` begins the embedder's identity in place of the label; ``batch`` is
    the most texts in a request; ``renew`` asks again for what the ledger holds. The others are as
    of `Sender` and `Embedder`. A `UsageError` for a budget in dollars without a price."""

    usage: Usage

    def __init__(
        self,
        endpoint: OpenAIEmbeddings,
        model: str,
        *,
        ledger: Ledger,
        submit: Callable[[Coroutine[Any, Any, Any]], Future[Any]],
        label: str = "",
        identity: str = "",
        dimensions: int | None = None,
        prefix: str = "",
        limiter: Limiter | None = None,
        budget: Budget | None = None,
        price: Price | None = None,
        timeout: float = TIMEOUT_S,
        backoff: float = BACKOFF_S,
        batch: int = TEXTS,
        renew: bool = False,
        cache_mib: int = 1024,
    ) -> None:
        super().__init__(cache_mib)
        if budget is not None:
            budget.check_price(price, f"the embedder {label or model}")
        self.endpoint, self.usage = endpoint, Usage()
        self._model, self._dimensions, self.prefix = model, dimensions, prefix
        self.label = label or f"{endpoint.url}#{model}"
        size = f"[{dimensions}]" if dimensions else ""
        self.identity = f"{identity or self.label}{size}{f'+{prefix!r}' if prefix else ''}"
        self._ledger, self._submit, self._price, self._renew = ledger, submit, price, renew
        # A vector in the ledger is known by what it was asked of, and the hash of its text.
        self._asked = f"{endpoint.url}\n{model}\n{dimensions or 0}\n"
        self._facts = {"dimensions": dimensions or 0}
        address = (VECTOR, endpoint.url, model)
        kept = ledger.rows("kind = ? AND source = ? AND name = ?", *address, page=20)
        widths = (len(row.payload) // 4 for row in kept if row.facts == self._facts)
        self._width = dimensions or next(widths, None)
        account = None if budget is None else Account(budget, price)
        self._sender = Sender(endpoint, limiter, None, account, timeout=timeout, backoff=backoff)
        self._most = batch
        self._failed: dict[str, Unscored] = {}
        self._renewed: set[str] = set()
        self._working: list[asyncio.Task[dict[str, Embedded]]] = []
        self._began, self._answered, self._n_rejected = False, False, 0

    def _embed(self, texts: Sequence[str]) -> Sequence[Embedded]:
        sent = [self.prefix + text for text in texts]
        wanted = [text for text in sent if text not in self._failed]
        stored = [text for text in wanted if not self._renew or text in self._renewed]
        by_key = {self._key(text): text for text in stored}
        vectors: dict[str, Embedded] = {
            by_key[row.key]: np.frombuffer(row.payload, dtype="<f4").astype(np.float32)
            for row in self._ledger.find(by_key)
        }
        self.usage.cached += len(vectors)
        missing = [text for text in wanted if text not in vectors]
        self.usage.questions += len(wanted)
        if missing:
            vectors.update(self._submit(self._request_vectors(missing)).result())
        return [vectors[text] if text in vectors else self._failed[text] for text in sent]

    @override
    def close(self) -> None:
        async def shut_down() -> None:
            self._sender.stop(Reason.CONNECTION, INTERRUPTED)
            await asyncio.gather(*self._working, return_exceptions=True)
            await self.endpoint.close()

        if self._began:
            self._submit(shut_down()).result()

    def _key(self, text: str) -> str:
        body = self._asked + text
        return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()

    async def _request_vectors(self, texts: Sequence[str]) -> Mapping[str, Embedded]:
        """Requests vectors, with as many requests at a time as the endpoint's limits allow."""
        self._began = True
        await self.endpoint.open()
        tasks = [asyncio.ensure_future(self._batch(batch)) for batch in self._batches(texts)]
        self._working = tasks
        vectors: dict[str, Embedded] = {}
        for found in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(found, BaseException):
                raise found
            vectors |= found
        for text, embedded in vectors.items():
            if isinstance(embedded, Unscored):
                self._failed[text], reason = embedded, str(embedded.reason)
                self.usage.failures[reason] += 1
                self.usage.details.setdefault(reason, embedded.detail)
        if self._renew:
            self._renewed.update(text for text in vectors if text not in self._failed)
        return vectors

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """The texts of each request."""
        batch: list[str] = []
        size = 0.0
        for text in texts:
            size += (tokens := tokens_of(text))
            if batch and (len(batch) == self._most or size > TOKENS):
                yield batch
                batch, size = [], tokens
            batch.append(text)
        yield batch

    async def _batch(self, texts: Sequence[str]) -> dict[str, Embedded]:
        """The vectors of a request's texts; where it is rejected, those of its halves."""
        try:
            return await self._exchange(texts)
        except EndpointError as error:
            failure = error
        if len(texts) > 1 and _may_be_one_text(failure):
            half = len(texts) // 2
            both = await self._batch(texts[:half]) | await self._batch(texts[half:])
            if not any(isinstance(found, Unscored) for found in both.values()):
                self._most = min(self._most, half)  # it rejected the number of texts
            return both
        if failure.reason is Reason.SERVER_ERROR and _may_be_one_text(failure):
            self._n_rejected += 1
            if self._n_rejected >= _HOPELESS and not self._answered:
                self._sender.stop(failure.reason, failure.detail)
        return dict.fromkeys(texts, Unscored(failure.reason, failure.detail))

    async def _exchange(self, texts: Sequence[str]) -> dict[str, Embedded]:
        body = self.endpoint.texts(self._model, texts, self._dimensions)
        size = sum(map(tokens_of, texts))
        tally = Tally()

        async def received(completion: Completion) -> dict[str, Embedded]:
            assert isinstance(completion, VectorReply)
            return await self._received(texts, completion)

        try:
            vectors = await self._sender.send(json_data.dumps(body), received, tally, size)
        finally:
            self._count(tally)
        assert vectors is not None
        return vectors

    async def _received(self, texts: Sequence[str], reply: VectorReply) -> dict[str, Embedded]:
        """The vectors of a reply; they are stored before this returns."""
        self._answered = True
        self._width = self._width or len(reply.vectors[0])
        vectors: dict[str, Embedded] = {
            text: self._validated(vector) for text, vector in zip(texts, reply.vectors, strict=True)
        }
        shares = _shares(texts, reply.input_tokens)
        address = (VECTOR, self.endpoint.url, self._model, EMBEDDING, self._facts)
        rows = [
            Paid(
                self._key(text), *address, vector.astype("<f4").tobytes(),
                input_tokens=share, cost=self._cost(share, counted=reply.counted),
            )
            for (text, vector), share in zip(vectors.items(), shares, strict=True)
            if not isinstance(vector, Unscored)
        ]  # fmt: skip
        try:
            await self._sender.kept(self._ledger.keep(lambda: rows))
        except Exception as error:
            raise Stopped(*(self._sender.stopped or (Reason.CONNECTION, str(error)))) from error
        return vectors

    def _validated(self, vector: Vector) -> Embedded:
        if len(vector) != self._width:
            forget = f"ragassay ledger prune --kind {EMBEDDING} --model {shlex.quote(self._model)}"
            problem = (
                f"{self.label} gave a vector of {len(vector)} numbers where {self._width} are "
                f"expected. Where the model has changed, '{forget}' forgets its old vectors."
            )
            return Unscored(Reason.UNPARSABLE, problem)
        if not np.isfinite(vector).all():
            problem = f"{self.label} gave a vector with a number that is not finite"
            return Unscored(Reason.UNPARSABLE, problem)
        return vector

    def _cost(self, n: float, *, counted: bool) -> float | None:
        """The dollars for so many tokens, where a price is known and the endpoint counts them."""
        price = self._price if counted or self._price == FREE else None
        return None if price is None else price.cost(n, 0)

    def _count(self, tally: Tally) -> None:
        usage = self.usage
        usage.calls += tally.attempts
        usage.input_tokens += tally.input_tokens
        cost = self._cost(tally.input_tokens, counted=tally.counted)
        usage.cost += cost or 0.0
        usage.unpriced += tally.replies * (cost is None)


def _may_be_one_text(failure: EndpointError) -> bool:
    """Whether the endpoint may accept fewer texts, or other ones."""
    if failure.reason in (Reason.REFUSED, Reason.CONTEXT_TOO_LONG):
        return True
    return failure.reason is Reason.SERVER_ERROR and not failure.again


def _shares(texts: Sequence[str], total: int) -> list[int]:
    """A request's tokens, divided among its texts by their length; the sum is exact."""
    sizes = np.array([tokens_of(text) for text in texts])
    edges = np.rint(np.cumsum(sizes) / max(sizes.sum(), 1e-9) * total).astype(int)
    return [int(share) for share in np.diff(edges, prepend=0)]
