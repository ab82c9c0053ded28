from __future__ import annotations

import sys
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def desk(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test works in a folder of its own, whose ``mine.py`` is not that of an earlier test."""
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    return here
