from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def desk(here: Path) -> Path:
    """Each test works in a folder of its own."""
    return here
