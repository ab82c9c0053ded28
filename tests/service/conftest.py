from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy", reason="needs the extra 'service'")

from ragassay.service.store import Store


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store, of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "store")
    server: Any = request.getfixturevalue("postgres")
    return str(server.new_database())


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    """An empty store, of each kind."""
    made = Store(address)
    yield made
    made.close()
