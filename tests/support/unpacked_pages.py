"""What an HTML report holds, its packed data as JSON."""

from __future__ import annotations

import base64
import json
import re
import zlib
from bisect import bisect_right
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from ragassay.reports.html.query_browser import MARK

_PACKED = re.compile(r'<script type="text/plain" id="([^"]+)">([^<{]*)</script>')


def page_text(path: Path) -> str:
    """The page, each packed part as JSON with its long texts in place."""
    page = path.read_text(encoding="utf-8")
    shown = [
        json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in held(page).values()
    ]
    return "\n".join([_PACKED.sub("", page), *shown])


def held(page: str) -> dict[str, Any]:
    """What a page holds, by id, with its long texts in place."""
    parts = {name: unpacked(body) for name, body in _PACKED.findall(page)}

    def whole(value: Any) -> Any:
        if isinstance(value, str) and value.startswith(MARK):
            starts, number = parts["rows"]["pooled"], int(value[1:])
            batch = bisect_right(starts, number) - 1
            return parts[f"t-{batch}"][number - starts[batch]]
        if isinstance(value, list):
            return [whole(one) for one in value]
        if isinstance(value, dict):
            return {name: whole(one) for name, one in value.items()}
        return value

    return {
        name: by_sample(whole(value)) if re.match(r"d\d-", name) else whole(value)
        for name, value in parts.items()
        if not name.startswith("t-")
    }


def unpacked(text: str) -> Any:
    """The value that `packed` made a text of."""
    return orjson.loads(zlib.decompress(base64.b64decode(text), -15))


def by_sample(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The samples that `in_columns` took apart."""
    scores = _rows(columns["scores"])
    rest = _rows({name: column for name, column in columns.items() if name != "scores"})
    return [
        one | ({"scores": scores[at]} if at < len(scores) else {}) for at, one in enumerate(rest)
    ]


def _rows(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    n = max(map(len, columns.values()), default=0)
    return [
        {name: column[at] for name, column in columns.items() if column[at] is not None}
        for at in range(n)
    ]
