from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# Machines differ in speed, and a deadline is an assertion about time.
settings.register_profile("ragassay", deadline=None)
settings.load_profile("ragassay")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with published data, which lies beside the checkout where there is one."""
    if not (SHARED / "data").is_dir():
        pytest.skip("published data (../shared/data) is not here")
    return SHARED
