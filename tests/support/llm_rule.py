"""A request to the test server, and the rule by which it is answered."""

import hashlib
import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

FENCE = re.compile(r"^<data ([0-9a-f]{12}) ([^\n]+)>\n(.*?)\n</data \1>$", re.MULTILINE | re.DOTALL)


@dataclass
class Request:
    """One request to ``/chat/completions``.

    Attributes:
        body: as it came.
        index: how many came before it.
        seen: how often the same body came before.
        key: the bearer token (or ``api-key``).
    """

    body: dict[str, Any]
    raw: bytes
    index: int
    seen: int
    key: str

    @property
    def embeds(self) -> bool:
        """Whether vectors are wanted, and no answer."""
        return "input" in self.body and "messages" not in self.body

    @property
    def inputs(self) -> list[str]:
        """The texts that are to become vectors."""
        given = self.body.get("input", []) if self.embeds else []
        return [given] if isinstance(given, str) else list(given)

    @property
    def longest(self) -> int:
        """Characters of the longest text that must fit into the context."""
        return max(map(len, self.inputs)) if self.embeds else len(self.text)

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])

    @cached_property
    def text(self) -> str:
        """All messages, one below the other."""
        return "\n".join(str(message["content"]) for message in self.body["messages"])

    @cached_property
    def prompt(self) -> str:
        """The messages up to the first of the assistant: without a repair turn."""
        parts = []
        for message in self.body["messages"]:
            if message["role"] == "assistant":
                break
            parts.append(str(message["content"]))
        return "\n".join(parts)

    @cached_property
    def fences(self) -> list[tuple[str, str]]:
        """The fenced data, as pairs of name and text, in order."""
        return [(name, text) for _, name, text in FENCE.findall(self.prompt)]

    @cached_property
    def plain(self) -> str:
        """The prompt without the fenced data."""
        return FENCE.sub("", self.prompt)

    @property
    def mode(self) -> str:
        """``json_schema``, ``json_object`` or ``text``."""
        return str((self.body.get("response_format") or {}).get("type", "text"))

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The schema of the answer: the one asked for, or the last in the prompt."""
        if self.mode == "json_schema":
            return dict(self.body["response_format"]["json_schema"]["schema"])
        for line in reversed(self.plain.splitlines()):
            if line.startswith("{") and '"properties"' in line:
                return dict(json.loads(line))
        return {"type": "object", "properties": {}}

    @cached_property
    def digest(self) -> bytes:
        return hashlib.sha256(self.prompt.encode("utf-8", "surrogatepass")).digest()


Rule = Callable[[Request], Any]
"""From a request to a text, or to something that becomes JSON."""


def default_rule(request: Request) -> Any:
    """A valid answer that follows from the prompt and nothing else."""
    return value_for(request.schema, "", request, random.Random(request.digest), request.schema)


def value_for(
    schema: Mapping[str, Any], name: str, request: Request, draw: random.Random, root: Any
) -> Any:
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return draw.choice(schema["enum"])
    if "anyOf" in schema:
        return value_for(schema["anyOf"][0], name, request, draw, root)
    kind = schema.get("type")
    if kind == "object":
        return {
            key: value_for(part, key, request, draw, root)
            for key, part in schema.get("properties", {}).items()
        }
    if kind == "array":
        return _items(schema["items"], name, request, draw, root)
    if kind == "integer":
        low, high = schema.get("minimum"), schema.get("maximum")
        if low is None or high is None:
            said = r"from (-?\d+)[^.\n]{0,40}? to (-?\d+)"
            mine = re.search(rf"^{name}:.*?{said}", request.plain, re.MULTILINE)
            found = [mine.groups()] if mine else re.findall(said, request.plain)
            low, high = (int(found[-1][0]), int(found[-1][1])) if found else (1, 5)
        return draw.randint(low, high)
    if kind == "number":
        return round(draw.random(), 3)
    if kind == "boolean":
        return draw.random() < 0.6
    return f"Because of {draw.randrange(10_000)}."


def _items(
    items: Mapping[str, Any], name: str, request: Request, draw: random.Random, root: Any
) -> list[Any]:
    counted = _count(name, request)
    if items.get("type") == "integer":
        return sorted(draw.sample(range(1, counted + 1), draw.randint(0, counted)))
    if items.get("type") == "string" and "enum" not in items:
        n = draw.randint(0, 4)
        return [f"fact {draw.randrange(1000)} of {draw.randrange(1000)}" for _ in range(n)]
    found = [value_for(items, name, request, draw, root) for _ in range(counted)]
    if "number" in items.get("properties", {}):
        return [{**entry, "number": at} for at, entry in enumerate(found, start=1)]
    return found


def _count(name: str, request: Request) -> int:
    """How many things the prompt lists: numbered fences, or numbered lines in one of them."""
    told = re.search(r"\bexactly (\d+) (?:labels|entries)", request.plain)
    if told:
        return int(told[1])
    stems = {"labels": "nugget", "supported": "claim", "attribution": "chunk"}
    stem = stems.get(name, name.rstrip("s"))
    numbered = sum(bool(re.match(rf"{stem}\D*\d+$", title)) for title, _ in request.fences)
    if numbered:
        return numbered
    for title, text in request.fences:
        if title.startswith(stem):
            return len(re.findall(r"^\s*(?:\d+[.):]|\[\d+\]|-) ", text, re.MULTILINE)) or 1
    return 1
