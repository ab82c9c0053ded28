"""Records of MT-RAG's files, and what judges answer about them."""

import json
from pathlib import Path
from typing import Any

from ragassay import suites

FIELDS = tuple(suites.get("mtrag").steps)
SAID = {
    "says_idk": {"says_idk": "no"}, "extract_claims": {"claims": ["a", "b", "c"]},
    "claim_support": {"supported": [True, False, False]},
    "reference_rating": {"explanation": "", "rating": 7}, "says_underspecified": {"asks": "yes"},
}  # fmt: skip


def task(n: int = 1, label: str = "ANSWERABLE", **more: Any) -> dict[str, Any]:
    return {
        "task_id": f"conv<::>{n}", "conversation_id": "conv", "turn": n,
        "contexts": [{"document_id": "d1", "text": "Snow falls in the mountains.", "score": 0.5}],
        "input": [{"speaker": "user", "text": f"where does it snow? {n}", "metadata": {"a": [1]}}],
        "targets": [{"speaker": "agent", "text": "In the mountains of the west."}],
        "Answerability": [label],
        "unknown": {"nested": [1, {"deep": None}], "digits": 0.1234567890123456}, **more,
    }  # fmt: skip


def record(n: int = 1, label: str = "ANSWERABLE", **more: Any) -> dict[str, Any]:
    return task(n, label, **{"predictions": [{"text": "It snows in the mountains."}], **more})


def written(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
