"""What an HTML report holds, its packed data as JSON."""

import base64
import json
import re
import zlib
from bisect import bisect_right
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

    return {name: whole(value) for name, value in parts.items() if not name.startswith("t-")}


def unpacked(text: str) -> Any:
    """The value that `packed` made a text of."""
    return orjson.loads(zlib.decompress(base64.b64decode(text), -15))
