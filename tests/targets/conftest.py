import json
import sys
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def desk(here: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """Each test works in a folder of its own, with the queries of its module; its ``mine.py`` is
    not that of an earlier test."""
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    lines = [json.dumps(one, default=str) for one in getattr(request.module, "QUERIES", [])]
    Path("queries.jsonl").write_text("\n".join(lines))
    return here
