"""All that can go wrong between a judge and its endpoint, by name."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm_rule import Request, value_for

Faults = Mapping[str, float] | Sequence[str | None] | Callable[[Request], str | None]
"""See `llm_server`."""


@dataclass
class Answer:
    """What is sent. ``status`` 0: the connection is closed; ``hang``: nothing ever comes."""

    content: str | None = None
    finish: str = "stop"
    refusal: str | None = None
    status: int = 200
    headers: tuple[str, ...] = ()
    error: Any = None
    body: bytes | None = None
    delay: float = 0.0
    hang: bool = False
    cut: bool = False


def error_reply(status: int, message: str, code: str | None = None, **more: Any) -> Answer:
    kind = "invalid_request_error" if status < 500 else "server_error"
    headers = more.pop("headers", ())
    error = {"message": message, "type": kind, "param": more.pop("param", None), "code": code}
    return Answer(status=status, error={"error": error}, headers=headers)


def _wrong(value: Any, schema: Mapping[str, Any], how: str) -> Any:
    """The answer with one value that the schema does not allow."""
    wrong = dict(value)
    for name, part in schema.get("properties", {}).items():
        inner = part.get("items", part)
        put: Any = None
        if how == "wrong_enum" and "enum" in inner:
            put = "perhaps"
        elif how == "out_of_range" and inner.get("type") == "integer":
            put = 9_999_999
        elif how == "wrong_enum" and inner.get("type") == "boolean":
            put = "perhaps"
        if put is not None:
            wrong[name] = [put] if part.get("type") == "array" else put
            return wrong
    return {"unexpected": True}


def faulty(name: str, request: Request, answer: Callable[[], str]) -> Answer:
    """The faulty answer. A name may carry a number: ``delay:0.2``, ``rate_limit:1.5``."""
    name, _, number = name.partition(":")
    if name == "redirect":  # to the place after the colon
        return Answer(status=307, body=b"moved", headers=(f"Location: {number}",))
    amount = float(number) if number else 0.0
    match name:
        case "delay":
            return Answer(answer(), delay=amount)
        case "rate_limit":
            headers = (f"Retry-After: {number}",) if number else ()
            return error_reply(429, "Rate limit reached.", "rate_limit_exceeded", headers=headers)
        case "rate_limit_ms":
            headers = (f"retry-after-ms: {number}",)
            return error_reply(429, "Rate limit reached.", "rate_limit_exceeded", headers=headers)
        case "quota":
            return error_reply(429, "You exceeded your current quota.", "insufficient_quota")
        case "hang":
            return Answer(hang=True)
        case "drop":
            return Answer(status=0)
        case "drop_midway":
            return Answer(answer(), cut=True)
        case "error_500":
            return error_reply(500, "The server had an error while processing your request.")
        case "error_503":
            return Answer(status=503, body=b"<html><h1>503 Service Unavailable</h1></html>")
        case "html_200":
            return Answer(body=b"<html><h1>Welcome to the proxy</h1></html>")
        case "no_choices":
            return Answer(body=b'{"id":"x","object":"chat.completion","choices":[]}')
        case "malformed":
            return Answer(answer()[:-1] + ',"')
        case "prose":
            return Answer(f"Certainly! Here is my judgment: {answer()} Let me know.")
        case "code_block":
            return Answer(f"My judgment:\n```json\n{answer()}\n```\n")
        case "two_objects":
            return Answer(f"{answer()} or perhaps {another_answer(request, answer())}")
        case "number_in_prose":
            return Answer("I considered 4 aspects, and out of 3 points I would give it a 2.")
        case "wrong_enum" | "out_of_range":
            return Answer(json.dumps(_wrong(json.loads(answer()), request.schema, name)))
        case "empty":
            return Answer("")
        case "null":
            return Answer(None)
        case "refusal":
            return Answer(None, refusal="I cannot help with judging this.")
        case "refusal_text":
            return Answer("I'm sorry, but I can't assist with that request.")
        case "truncated":
            text = answer()
            return Answer(text[: len(text) // 2], finish="length")
        case "content_filter":
            return Answer("", finish="content_filter")
        case "content_filter_400":
            return error_reply(400, "The prompt triggered the content policy.", "content_filter")
        case "thinking":
            said = 'Maybe {"grade": 0}? No, 7 of 10.'
            return Answer(f"<think>\n{said}\n</think>\n\n{answer()}")
        case "thinking_headless":  # the chat template of some models eats the opening tag
            return Answer(f'Maybe {{"grade": 0}}.\n</think>\n{answer()}')
        case "context_too_long":
            said = "This model's maximum context length is 8192 tokens; you asked for 9000."
            return error_reply(400, said, "context_length_exceeded", param="messages")
        case "context_too_long_413":
            return error_reply(413, "Request too large.")
        case "auth":
            return error_reply(401, "Incorrect API key provided.", "invalid_api_key")
        case "auth_echo":
            return error_reply(
                401, f"Incorrect API key provided: {request.key}.", "invalid_api_key"
            )
        case "error_500_echo":
            return error_reply(
                500, f"Upstream call with Authorization: Bearer {request.key} failed."
            )
        case "forbidden":
            return error_reply(403, "Your account may not use this model.", "permission_denied")
        case "model_not_found":
            said = f"The model `{request.body.get('model')}` does not exist."
            return error_reply(404, said, "model_not_found")
        case "bad_messages":
            return error_reply(400, "The conversation is too odd.", param="messages")
        case "bad_request":
            return error_reply(400, "Something about this request is wrong.")
    raise ValueError(f"no fault is called {name}")


def another_answer(request: Request, text: str) -> str:
    """Another valid answer than ``text``."""
    for salt in range(64):
        draw = random.Random(request.digest + bytes([salt]))
        other = json.dumps(value_for(request.schema, "", request, draw, request.schema))
        if json.loads(other) != json.loads(text):
            return other
    return text


def rejection(name: str, dialect: str) -> Answer:
    if dialect == "vllm":
        said = f"[{{'type': 'extra_forbidden', 'loc': ('body', '{name}'), 'msg': 'not permitted'}}]"
        error = {"object": "error", "message": said, "type": "BadRequestError", "code": 400}
        return Answer(status=400, error=error)
    if dialect == "fastapi":
        detail = [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs"}]
        return Answer(status=422, error={"detail": detail})
    if dialect == "prose":
        said = f"the request's {name} is not something that this model supports"
        return Answer(status=400, error={"error": said})
    if name == "temperature":
        said = "Unsupported value: 'temperature' does not support 0 with this model."
        return error_reply(400, said, "unsupported_value", param="temperature")
    if name == "max_tokens":
        said = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead."
        )
        return error_reply(400, said, "unsupported_parameter", param="max_tokens")
    if name == "json_schema":
        said = (
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with "
            "this model."
        )
        return error_reply(400, said, param="response_format")
    if name == "json_object":
        said = "'response_format' of type 'json_object' is not supported with this model."
        return error_reply(400, said, param="response_format")
    said = f"Unsupported parameter: '{name}' is not supported with this model."
    return error_reply(400, said, "unsupported_parameter", param=name)
