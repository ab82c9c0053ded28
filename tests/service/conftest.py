import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

for package in ("sqlalchemy", "fastapi", "uvicorn"):
    pytest.importorskip(package, reason="needs the extra 'service'")

from forked_modules import ForkingPopen, Forks
from ragassay.service.store.database import Store


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks | None]:
    """A process that has imported the service, and forks; ``None`` where processes do not."""
    if not hasattr(os, "fork"):
        yield None
        return
    with Forks() as made:
        yield made


@pytest.fixture
def forked(forks: Forks | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """``python -m ragassay...`` is forked from a process that has imported what it needs: for tests
    that are not about how such a process starts."""
    _fork(forks, monkeypatch)


@pytest.fixture(scope="module")
def forked_module(forks: Forks | None) -> Iterator[None]:
    """As ``forked``, for all tests of a module and for its fixtures."""
    with pytest.MonkeyPatch.context() as patch:
        _fork(forks, patch)
        yield


def _fork(forks: Forks | None, patch: pytest.MonkeyPatch) -> None:
    if forks is not None:
        patch.setattr(ForkingPopen, "place", forks.wait())
        patch.setattr(subprocess, "Popen", ForkingPopen)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests of what a store does (``both_stores``) run with each of both, all others with one."""
    if "address" in metafunc.fixturenames and metafunc.definition.get_closest_marker("both_stores"):
        metafunc.parametrize("address", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return str(tmp_path / "store")
    server: Any = request.getfixturevalue("postgres")
    return str(server.emptied_database())


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    """An empty store."""
    made = Store(address)
    yield made
    made.close()
