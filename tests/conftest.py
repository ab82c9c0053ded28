import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from llm_judging import Bench
from llm_server import LLMServer
from postgres_server import PostgresServer, binaries
from ragassay.metrics.core import metric, naming
from run_process import Commands

# Machines differ in speed, and a deadline is an assertion about time.
settings.register_profile("ragassay", deadline=None)
settings.load_profile("ragassay")

# Tests start hundreds of interpreters; each would compile the package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# A disk takes milliseconds for each file that must survive a power cut, and no test cuts the power.
os.fsync = lambda file: None

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with published data, which lies beside the checkout where there is one."""
    if not (SHARED / "data").is_dir():
        pytest.skip("published data (../shared/data) is not here")
    return SHARED


@pytest.fixture(scope="module")
def town() -> Iterator[str]:
    """The two small systems of the examples; gives their URL."""
    place = Path(__file__).resolve().parents[1] / "examples" / "systems" / "serve.py"
    spec = importlib.util.spec_from_file_location("serve", place)
    assert spec is not None and spec.loader is not None
    serve = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(serve)
    with serve.serving() as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own, in which it stands."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def server() -> Iterator[LLMServer]:
    """A server that speaks the OpenAI chat API."""
    with LLMServer() as made:
        yield made


@pytest.fixture
def bench(server: LLMServer, tmp_path: Path) -> Iterator[Bench]:
    """Judges of that server, with one ledger."""
    with Bench(server, tmp_path) as made:
        yield made


@pytest.fixture
def no_long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is sent again is sent soon, and nothing waits for the end of the first request, which
    takes a second where it fails: for tests that are not about when something is sent."""
    monkeypatch.setattr("ragassay.transport.sending.LONGEST_BACKOFF_S", 0.02)
    monkeypatch.setattr("ragassay.transport.sending.HEAD_START_S", 0.0)


@pytest.fixture
def no_metric_left() -> Iterator[None]:
    """Leaves no metric of a user's behind."""
    naming.metric_classes()
    before, mine = dict(metric._CLASSES), dict(naming._OWN)
    yield
    for table, kept in ((metric._CLASSES, before), (naming._OWN, mine)):
        table.clear()
        table.update(kept)
    metric.registered.cache_clear()


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Neural models on one thread: two suites at a time then do not fight for the cores."""
    torch = pytest.importorskip("torch", reason="needs the extra 'models'")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With ``-n`` and no ``--dist``: each worker takes a part of the tests as they lie, so that a
    module's fixtures are made once, and who has none left takes some of another's."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getvalue("dist") == "load" else None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--approve",
        action="store_true",
        help="take what is made for approved: values, verdicts and what commands print, the pages' "
        "pictures (tests/*/approved), the tables of the options and metrics and the schema of the "
        "options (docs)",
    )


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server."""
    pytest.importorskip("psycopg", reason="needs the extra 'postgres'")
    programs = binaries()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    with PostgresServer(programs) as server:
        yield server


@pytest.fixture(scope="session")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    """``ragassay`` commands in processes of their own, without the second of its imports."""
    if not hasattr(os, "fork"):
        pytest.skip("needs processes that fork")
    with Commands(tmp_path_factory.mktemp("processes")) as made:
        yield made


CHROMIUM = Path("/usr/bin/chromium")
WORDS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
    "--font-render-hinting=none",
)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser; each test opens pages of its own.

    It lives as long as a module's tests: while playwright's own event loop runs, nothing else in
    this thread can start one.
    """
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(WORDS))
        yield found
        found.close()
