"""Google's Gemini API."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import quote

import orjson

from ragassay.transport.endpoints.endpoint import (
    MOST_TOKENS,
    ApiProtocol,
    Completion,
    Finish,
    Prompt,
    completed,
    counted,
)
from ragassay.transport.endpoints.http_endpoint import HttpEndpoint, needs_client, usage_of
from ragassay.transport.providers import speakers

_NAMES = {"max_tokens": "max_output_tokens"}


class GoogleGenAI(HttpEndpoint):
    """``POST {url}/v1beta/models/{model}:generateContent``."""

    protocol: ClassVar[str] = "google"
    payload: ClassVar[str] = "candidates"
    expected: ClassVar[str] = "list of candidates"

    def headers(self) -> Mapping[str, str]:
        """The key."""
        return {"x-goog-api-key": self.key.reveal() or "none"}

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The request in the names of Google's Python client, which identify it in ledgers."""
        system = [one["content"] for one in prompt.messages if one["role"] == "system"]
        config = {_NAMES.get(name, name): value for name, value in prompt.parameters.items()}
        if system:
            config["system_instruction"] = "\n\n".join(system)
        if prompt.mode != "text":
            config["response_mime_type"] = "application/json"
        if prompt.mode == "json_schema":
            config["response_json_schema"] = prompt.schema
        return {
            "model": prompt.model,
            "contents": [
                {"role": _ROLES[one["role"]], "parts": [{"text": one["content"]}]}
                for one in prompt.messages
                if one["role"] != "system"
            ],
            "config": config,
        }

    def wire(self, body: bytes) -> tuple[str, bytes]:
        """The same in the names of the API."""
        asked = orjson.loads(body)
        system = asked["config"].pop("system_instruction", None)
        content = {"contents": asked["contents"]}
        if system is not None:
            content["systemInstruction"] = {"parts": [{"text": system}]}
        content["generationConfig"] = {
            re.sub("_(.)", lambda letter: letter[1].upper(), name): value
            for name, value in asked["config"].items()
        }
        model = asked["model"]
        place = model if model.startswith(("models/", "tunedModels/")) else f"models/{model}"
        return f"/v1beta/{quote(place)}:generateContent", orjson.dumps(content)

    def rejectable(self, body: Mapping[str, Any]) -> Iterator[str]:
        """The sampling parameters, and the mode."""
        config = body["config"]
        yield from (name for name in config if not name.startswith(("system", "response")))
        if "response_json_schema" in config:
            yield "json_schema"
        elif "response_mime_type" in config:
            yield "json_object"

    def read(self, reply: Any, sent: bytes) -> Completion:
        """The first candidate, without the model's thoughts."""
        usage = usage_of(reply, "usageMetadata")
        read = counted(usage.get("promptTokenCount")) or 0
        outputs = (usage.get("candidatesTokenCount"), usage.get("thoughtsTokenCount"))
        written = min(sum(counted(output) or 0 for output in outputs), MOST_TOKENS)
        text: str | None = None
        finish: Finish = "stop"
        if (reply.get("promptFeedback") or {}).get("blockReason"):
            finish = "filtered"
        elif reply.get("candidates"):
            candidate = reply["candidates"][0]
            parts = (candidate.get("content") or {}).get("parts") or []
            text = "".join(part.get("text") or "" for part in parts if not part.get("thought"))
            finish = _FINISH.get(candidate.get("finishReason"), "stop")
        return completed(text, finish, reply.get("modelVersion"), read, written)


_ROLES = {"user": "user", "assistant": "model"}
_WITHHELD = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII")
_FINISH: Mapping[Any, Finish] = {"MAX_TOKENS": "length", **dict.fromkeys(_WITHHELD, "filtered")}


PROTOCOL = ApiProtocol(
    "google", GoogleGenAI, needs_client, embeddings="/v1beta/openai", **speakers("google")
)
