"""OpenAI's embeddings API: OpenAI itself, and every server that is compatible with it."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import orjson

from ragassay.scores import Reason
from ragassay.transport.endpoints.endpoint import Completion, EndpointError, counted
from ragassay.transport.endpoints.openai_chat import OpenAIChat

if TYPE_CHECKING:
    import httpx2
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class VectorReply(Completion):
    """A reply that holds vectors.

    Attributes:
        vectors: one for each text, in the order in which the texts were sent; all of one length.
            A component may be NaN or infinite: so it came.
    """

    vectors: tuple[NDArray[np.float32], ...] = ()


class OpenAIEmbeddings(OpenAIChat):
    """``POST {url}/embeddings``."""

    path: ClassVar[str] = "/embeddings"
    role: ClassVar[str] = "embedder"

    def texts(
        self, model: str, texts: Sequence[str], dimensions: int | None, encoding: str | None
    ) -> dict[str, Any]:
        """The request's body.

        Args:
            model: the model's name.
            texts: at least one, none of them blank.
            dimensions: components of each vector, where the model lets one choose.
            encoding: ``base64`` (a third of the bytes, and exact), ``float``, or ``None`` for
                servers that do not know the parameter.
        """
        body: dict[str, Any] = {"model": model, "input": list(texts)}
        if dimensions is not None:
            body["dimensions"] = dimensions
        if encoding is not None:
            body["encoding_format"] = encoding
        return body

    def _completion(self, response: httpx2.Response, sent: bytes) -> Completion:
        content = self.key.hidden_in_bytes(response.content)
        n = len(orjson.loads(sent)["input"])
        try:
            body = _parsed(content)
            if "data" not in body and body.get("error"):
                # Some proxies pass a provider's error on with status 200.
                code = body["error"].get("code")
                status = code if isinstance(code, int) and 400 <= code < 600 else 502
                raise self._status(status, response, sent)
            vectors = _in_order(body["data"], n)
            usage = body.get("usage")
            usage = usage if isinstance(usage, dict) else {}
            read = counted(usage.get("prompt_tokens"))
            model = str(body.get("model") or "")
            return VectorReply(
                None, model=model, input_tokens=read or 0, counted=bool(read), vectors=vectors
            )
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            shown = content[:120].decode("utf-8", "replace")
            why = str(error) if isinstance(error, _Unsound) else f"it begins with {shown!r}"
            detail = f"{self.url} answered with something that is no list of {n} vectors: {why}"
            raise EndpointError(Reason.SERVER_ERROR, detail, again=True) from None


class _Unsound(ValueError):  # noqa: N818 - it says what is the case
    """The reply is JSON, and not what was agreed on; the message says how."""


def _parsed(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return json.loads(content)  # some servers write NaN, which is no JSON


def _in_order(data: Any, n: int) -> tuple[NDArray[np.float32], ...]:
    """The vectors by their index, which need not be the order in which they came."""
    if not isinstance(data, list) or len(data) != n:
        there = len(data) if isinstance(data, list) else "none"
        raise _Unsound(f"there are {there}")
    named = any("index" in item for item in data)
    # Servers that write protocol buffers as JSON leave an index of 0 out.
    places = [item.get("index") or 0 if named else at for at, item in enumerate(data)]
    if sorted(places) != list(range(n)):
        raise _Unsound("their indices are not those of the texts")
    placed = dict(zip(places, data, strict=True))
    vectors = tuple(_vector(placed[at]["embedding"]) for at in range(n))
    if len({len(vector) for vector in vectors}) != 1:
        raise _Unsound("they differ in length")
    return vectors


def _vector(value: Any) -> NDArray[np.float32]:
    """A vector in either encoding; what is no number in it becomes NaN."""
    if isinstance(value, str):
        try:
            vector = np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4")
        except (binascii.Error, ValueError):
            raise _Unsound("one is neither a list of numbers nor base64 of them") from None
    else:
        vector = np.asarray(value, dtype=np.float64)
    if vector.ndim != 1 or not len(vector):
        raise _Unsound("one is empty, or no list of numbers")
    with np.errstate(over="ignore"):
        return vector.astype(np.float32)
