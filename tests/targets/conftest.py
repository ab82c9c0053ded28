from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test works in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
