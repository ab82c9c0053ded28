from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own, in which it stands."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
