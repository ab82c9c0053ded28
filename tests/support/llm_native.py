"""Anthropic's and Google's protocols on the test server: in and out of the OpenAI form.

Faults, rules and counters are those of the OpenAI form; errors are said in each one's own words.
"""

from typing import Any

import orjson

from llm_faults import Answer
from llm_rule import Request


def protocol_of(path: str) -> str:
    """Which protocol is spoken at a path; empty for none."""
    if path.endswith("/chat/completions"):
        return "openai"
    if path.endswith("/v1/messages"):
        return "anthropic"
    return "google" if path.endswith(":generateContent") else ""


def from_native(protocol: str, path: str, raw: bytes) -> bytes:
    """The request in the OpenAI form."""
    if protocol == "openai":
        return raw
    body = orjson.loads(raw)
    return orjson.dumps(_from_anthropic(body) if protocol == "anthropic" else _google(body, path))


def _from_anthropic(body: dict[str, Any]) -> dict[str, Any]:
    system = [{"role": "system", "content": body["system"]}] if "system" in body else []
    made = {"model": body["model"], "messages": system + body["messages"]}
    made["max_tokens"] = body["max_tokens"]  # without it the request is no good
    made |= {name: body[name] for name in ("temperature", "top_p") if name in body}
    if "output_config" in body:
        schema = body["output_config"]["format"]["schema"]
        made["response_format"] = {"type": "json_schema", "json_schema": {"schema": schema}}
    return made


def _google(body: dict[str, Any], path: str) -> dict[str, Any]:
    def text(part: dict[str, Any]) -> str:
        return "".join(piece["text"] for piece in part["parts"])

    messages = [
        {"role": "assistant" if turn["role"] == "model" else "user", "content": text(turn)}
        for turn in body["contents"]
    ]
    if "systemInstruction" in body:
        messages.insert(0, {"role": "system", "content": text(body["systemInstruction"])})
    config = body.get("generationConfig", {})
    made: dict[str, Any] = {"model": path.rsplit("/", 1)[-1].removesuffix(":generateContent")}
    made["messages"] = messages
    names = {"temperature": "temperature", "seed": "seed", "topP": "top_p"}
    made |= {ours: config[theirs] for theirs, ours in names.items() if theirs in config}
    if "responseJsonSchema" in config:
        schema = {"schema": config["responseJsonSchema"]}
        made["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif "responseMimeType" in config:
        made["response_format"] = {"type": "json_object"}
    return made


def native_completion(protocol: str, made: Answer, request: Request, usage: bool) -> Any:
    """A reply in the protocol's own form."""
    read, written = len(request.raw) // 4, len(made.content or "") // 4 + 1
    model = f"{request.body['model']}-2026-01-01"
    if protocol == "anthropic":
        stop = {"length": "max_tokens", "content_filter": "refusal"}.get(made.finish, "end_turn")
        said = made.refusal or made.content or ""
        return {
            "id": f"msg_{request.index}", "type": "message", "role": "assistant", "model": model,
            "content": [{"type": "text", "text": said}] if said else [],
            "stop_reason": "refusal" if made.refusal else stop,
            "usage": {"input_tokens": read, "output_tokens": written} if usage else {},
        }  # fmt: skip
    stop = {"length": "MAX_TOKENS", "content_filter": "SAFETY"}.get(made.finish, "STOP")
    parts = [{"text": made.content}] if made.content else []
    body: dict[str, Any] = {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": stop}],
        "modelVersion": model,
    }
    if made.refusal:
        body = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": model}
    if usage:
        body["usageMetadata"] = {"promptTokenCount": read, "candidatesTokenCount": written}
    return body


def native_error(protocol: str, made: Answer) -> Any:
    """An error in the protocol's own form."""
    error = made.error.get("error", made.error)
    said = error.get("message", str(error)) if isinstance(error, dict) else str(error)
    if protocol == "anthropic":
        kinds = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
        kind = kinds.get(made.status, "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": said}}
    if made.status == 401:
        said = "API key not valid. Please pass a valid API key."
    return {"error": {"code": made.status, "message": said, "status": "INVALID_ARGUMENT"}}
