"""All that can go wrong between a judge and its endpoint, by name."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm_rule import Request

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


_REFUSALS: dict[str, tuple[int, str, str | None]] = {
    "quota": (429, "You exceeded your current quota.", "insufficient_quota"),
    "error_500": (500, "The server had an error while processing your request.", None),
    "error_500_echo": (500, "Upstream call with Authorization: Bearer {key} failed.", None),
    "content_filter_400": (400, "The prompt triggered the content policy.", "content_filter"),
    "context_too_long_413": (413, "Request too large.", None),
    "auth": (401, "Incorrect API key provided.", "invalid_api_key"),
    "auth_echo": (401, "Incorrect API key provided: {key}.", "invalid_api_key"),
    "forbidden": (403, "Your account may not use this model.", "permission_denied"),
    "model_not_found": (404, "The model `{model}` does not exist.", "model_not_found"),
    "bad_request": (400, "Something about this request is wrong.", None),
}
"""Status, message and code of an error."""

_ANSWERS: dict[str, Answer] = {
    "hang": Answer(hang=True),
    "drop": Answer(status=0),
    "error_503": Answer(status=503, body=b"<html><h1>503 Service Unavailable</h1></html>"),
    "html_200": Answer(body=b"<html><h1>Welcome to the proxy</h1></html>"),
    "no_choices": Answer(body=b'{"id":"x","object":"chat.completion","choices":[]}'),
    "number_in_prose": Answer("I considered 4 aspects, and of 3 points I would give it a 2."),
    "empty": Answer(""),
    "null": Answer(None),
    "refusal": Answer(None, refusal="I cannot help with judging this."),
    "refusal_text": Answer("I'm sorry, but I can't assist with that request."),
    "content_filter": Answer("", finish="content_filter"),
    "bad_messages": error_reply(400, "The conversation is too odd.", param="messages"),
    "context_too_long": error_reply(
        400, "This model's maximum context length is 8192 tokens; you asked for 9000.",
        "context_length_exceeded", param="messages",
    ),
}  # fmt: skip

_WORDS = {
    "prose": "Certainly! Here is my judgment: {} Let me know.",
    "code_block": "My judgment:\n```json\n{}\n```\n",
    "thinking": '<think>\nMaybe {{"grade": 0}}? No, 7 of 10.\n</think>\n\n{}',
    # The chat template of some models eats the opening tag.
    "thinking_headless": 'Maybe {{"grade": 0}}.\n</think>\n{}',
}
"""Words around the answer."""


def faulty(name: str, request: Request, answer: Callable[[], str]) -> Answer:
    """The faulty answer. A name may carry a number: ``delay:0.2``, ``rate_limit:1.5``."""
    name, _, number = name.partition(":")
    if name in _REFUSALS:
        status, message, code = _REFUSALS[name]
        words = message.format(key=request.key, model=request.body.get("model"))
        return error_reply(status, words, code)
    if name in _ANSWERS:
        return _ANSWERS[name]
    if name in _WORDS:
        return Answer(_WORDS[name].format(answer()))
    match name:
        case "redirect":  # to the place after the colon
            return Answer(status=307, body=b"moved", headers=(f"Location: {number}",))
        case "delay":
            return Answer(answer(), delay=float(number))
        case "rate_limit" | "rate_limit_ms":
            after = "Retry-After" if name == "rate_limit" else "retry-after-ms"
            headers = (f"{after}: {number}",) if number else ()
            return error_reply(429, "Rate limit reached.", "rate_limit_exceeded", headers=headers)
        case "drop_midway":
            return Answer(answer(), cut=True)
        case "malformed":
            return Answer(answer()[:-1] + ',"')
        case "two_objects":
            return Answer(f"{answer()} or perhaps {answer()}")
        case "wrong_enum" | "out_of_range":
            return Answer(json.dumps(_wrong(json.loads(answer()), request.schema, name)))
        case "truncated":
            text = answer()
            return Answer(text[: len(text) // 2], finish="length")
    raise ValueError(f"no fault is called {name}")


_UNSUPPORTED = {
    "temperature": ("Unsupported value: '{}' does not support 0 with this model.", True),
    "json_schema": ("Invalid parameter: 'response_format' of type '{}' is not supported.", False),
    "json_object": ("'response_format' of type '{}' is not supported with this model.", False),
    "max_tokens": (
        "Unsupported parameter: '{}' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        True,
    ),
}
"""OpenAI's words for a parameter, and whether it names the parameter and gives a code."""


def rejection(name: str, dialect: str) -> Answer:
    """The answer to a parameter that a model does not take, in the words of a kind of server."""
    if dialect == "vllm":
        said = f"[{{'type': 'extra_forbidden', 'loc': ('body', '{name}'), 'msg': 'only top_p is'}}]"
        error = {"object": "error", "message": said, "type": "BadRequestError", "code": 400}
        return Answer(status=400, error=error)
    if dialect == "fastapi":
        detail = [{"type": "extra_forbidden", "loc": ["body", name], "msg": "only top_p is"}]
        return Answer(status=422, error={"detail": detail})
    if dialect == "prose":
        said = f"the request's {name} is not something that this model supports"
        return Answer(status=400, error={"error": said})
    words = "Unsupported parameter: '{}' is not supported with this model."
    said, is_named = _UNSUPPORTED.get(name, (words, True))
    code = "unsupported_value" if name == "temperature" else "unsupported_parameter"
    param = name if is_named else "response_format"
    return error_reply(400, said.format(name), code if is_named else None, param=param)
