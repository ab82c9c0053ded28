"""``/v1/embeddings`` of the test server: vectors from the words of a text, so that like texts have
like vectors, with everything that can go wrong with them."""

import hashlib
import json
import math
import re
import struct
from typing import Any

from llm_faults import Answer, error_reply, faulty
from llm_rule import Request

DIMENSIONS = 64


def vector_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """The sum of a fixed direction for each word, of length 1."""
    total = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()):
        digest = hashlib.shake_128(word.encode("utf-8", "surrogatepass")).digest(dimensions)
        for at, byte in enumerate(digest):
            total[at] += byte / 127.5 - 1
    length = math.sqrt(sum(number * number for number in total)) or 1.0
    return [struct.unpack("<f", struct.pack("<f", number / length))[0] for number in total]


def embeddings_answer(request: Request, fault: str | None) -> Answer:
    """The reply to a request; a fault of `llm_faults` or one of these: ``shuffled`` (right indices
    in another order), ``wrong_indices``, ``too_few``, ``wrong_dimension``, ``mixed_dimensions``,
    ``nan``, ``null_number``, ``no_index`` (as protocol buffers leave out 0)."""
    body = request.body
    texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
    if any(not text.strip() for text in texts):
        return error_reply(400, "'$.input' is invalid: empty string.", param="input")
    size = int(body.get("dimensions") or DIMENSIONS)
    vectors = [vector_of(text, size) for text in texts]
    if fault == "wrong_dimension":
        vectors = [vector[:-1] for vector in vectors]
    if fault == "mixed_dimensions":
        vectors[-1] = vectors[-1][:-1]
    if fault == "nan":
        vectors[-1][3] = math.nan
    data: list[dict[str, Any]] = [
        {"object": "embedding", "index": at, "embedding": vector}
        for at, vector in enumerate(vectors)
    ]
    if fault == "null_number":
        data[-1]["embedding"] = [None, *vectors[-1][1:]]
    if fault == "shuffled":
        data.reverse()
    if fault == "wrong_indices":
        data[-1]["index"] = 0 if len(data) > 1 else 7
    if fault == "too_few":
        data = data[:-1]
    if fault == "no_index":
        del data[0]["index"]
        data.reverse()
    read = sum(len(text) // 4 + 1 for text in texts)
    found = {
        "object": "list", "data": data, "model": f"{body.get('model')}-2026-01-01",
        "usage": {"prompt_tokens": read, "total_tokens": read},
    }  # fmt: skip
    content = json.dumps(found)
    if fault == "truncated":
        return Answer(body=content[: len(content) // 2].encode())
    if fault == "drop_midway":
        return Answer(body=content.encode(), cut=True)
    if fault is not None and fault not in OURS:
        made = faulty(fault, request, lambda: content)
        return Answer(body=content.encode(), delay=made.delay) if made.content else made
    return Answer(body=content.encode())


OURS = frozenset(
    {
        *("shuffled", "wrong_indices", "too_few", "wrong_dimension", "mixed_dimensions", "nan"),
        *("null_number", "no_index"),
    }
)
