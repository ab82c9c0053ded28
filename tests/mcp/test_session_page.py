"""The session that docs/mcp.md records is what the tools answer. ``--approve`` records it anew."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs the extra 'mcp'")

import mcp

from ragassay.mcp.mcp_server import McpOptions, create_server

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "mcp.md"
BEGIN, END = "<!-- session -->\n", "<!-- end -->"
METRICS = ["contains_answer", "token_f1.f"]
SESSION: list[tuple[str, dict[str, Any]]] = [
    ("list_metrics", {"suite": "qa", "search": "contains"}),
    ("validate_file", {"data": "hybrid.jsonl", "metrics": METRICS}),
    ("run_suite", {"data": "hybrid.jsonl", "metrics": METRICS}),
    ("run_suite", {"data": "keyword.jsonl", "metrics": METRICS}),
    ("compare_runs", {"new": "runs/hybrid", "old": "runs/keyword"}),
    (
        "explain_score",
        {"run": "runs/hybrid", "sample": "library-items-at-once", "metric": "token_f1.f"},
    ),
]
MOST_ITEMS, MOST_TEXT = 2, 90


def short(value: Any) -> Any:
    """The value with long lists and texts cut."""
    if isinstance(value, dict):
        return {key: short(one) for key, one in value.items()}
    if isinstance(value, list):
        more = [f"... {len(value) - MOST_ITEMS} more"] if len(value) > MOST_ITEMS else []
        return [*map(short, value[:MOST_ITEMS]), *more]
    if isinstance(value, str) and len(value) > MOST_TEXT:
        return f"{value[:MOST_TEXT]}..."
    return round(value, 4) if isinstance(value, float) else value


def lines(body: dict[str, Any]) -> str:
    """JSON with a line a key, and a line an item of a list."""
    made = []
    for key, value in body.items():
        text = json.dumps(value, ensure_ascii=False)
        if isinstance(value, list) and value:
            items = ",\n".join(f"  {json.dumps(one, ensure_ascii=False)}" for one in value)
            text = f"[\n{items}\n ]"
        made.append(f' "{key}": {text}')
    return "{\n" + ",\n".join(made) + "\n}"


def recorded(folder: Path) -> str:
    server = create_server(McpOptions((folder,)))

    async def main() -> list[str]:
        async with mcp.Client(server) as client:
            said = []
            for name, arguments in SESSION:
                result = await client.call_tool(name, arguments)
                assert not result.is_error, result.content
                plain = json.dumps(result.structured_content).replace(str(folder), "evaluations")
                answer = lines(short(json.loads(plain)))
                said.append(f"`{name}` {json.dumps(arguments)}\n\n```json\n{answer}\n```\n")
            return said

    return "\n".join(asyncio.run(main()))


def test_the_page_records_a_session(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    for name in ("hybrid.jsonl", "keyword.jsonl"):
        shutil.copy(ROOT / "src" / "ragassay" / "examples" / "town" / name, tmp_path / name)
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    after = rest[rest.index(END) :]
    made = f"{before}{BEGIN}\n{recorded(tmp_path.resolve())}\n{after}"
    if request.config.getoption("--approve"):
        PAGE.write_text(made, encoding="utf-8")
        return
    assert made == page, "run pytest tests/mcp/test_session_page.py --approve"
