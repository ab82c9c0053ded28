"""OpenAI's embeddings API: OpenAI itself, and every server that is compatible with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import orjson

from ragassay.transport.endpoints.endpoint import Completion, counted
from ragassay.transport.endpoints.http_chats import OpenAIChat
from ragassay.transport.endpoints.http_endpoint import Unsound, usage_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class VectorReply(Completion):
    """A reply that holds vectors of one length, one for each text, in the order in which the texts
    were sent. A component may be NaN or infinite: so it came."""

    vectors: tuple[NDArray[np.float32], ...] = ()


class OpenAIEmbeddings(OpenAIChat):
    """``POST {url}/embeddings``."""

    path: ClassVar[str] = "/embeddings"
    payload: ClassVar[str] = "data"
    expected: ClassVar[str] = "list of vectors"
    role: ClassVar[str] = "embedder"

    def texts(self, model: str, texts: Sequence[str], dimensions: int | None) -> dict[str, Any]:
        """The request's body for texts, none of them blank."""
        body: dict[str, Any] = {"model": model, "input": list(texts)}
        if dimensions is not None:
            body["dimensions"] = dimensions
        return body

    def read(self, reply: Any, sent: bytes) -> Completion:
        """The vectors, one for each text that was sent."""
        vectors = _in_order(reply["data"], len(orjson.loads(sent)["input"]))
        read = counted(usage_of(reply).get("prompt_tokens"))
        model = str(reply.get("model") or "")
        return VectorReply(
            None, model=model, input_tokens=read or 0, counted=bool(read), vectors=vectors
        )


def _in_order(data: Any, n: int) -> tuple[NDArray[np.float32], ...]:
    """The vectors by their index, which need not be the order in which they came."""
    if not isinstance(data, list) or len(data) != n:
        n_vectors = len(data) if isinstance(data, list) else "none"
        raise Unsound(f"there are {n_vectors}")
    has_index = any("index" in item for item in data)
    # Servers that write protocol buffers as JSON leave an index of 0 out.
    places = [item.get("index") or 0 if has_index else at for at, item in enumerate(data)]
    if sorted(places) != list(range(n)):
        raise Unsound("their indices are not those of the texts")
    placed = dict(zip(places, data, strict=True))
    vectors = tuple(_vector(placed[at]["embedding"]) for at in range(n))
    if len({len(vector) for vector in vectors}) != 1:
        raise Unsound("they differ in length")
    return vectors


def _vector(value: Any) -> NDArray[np.float32]:
    """A vector; what is no number in it becomes NaN."""
    vector = np.asarray(value, dtype=np.float64)
    if vector.ndim != 1 or not len(vector):
        raise Unsound("one is empty, or no list of numbers")
    with np.errstate(over="ignore"):
        return vector.astype(np.float32)
