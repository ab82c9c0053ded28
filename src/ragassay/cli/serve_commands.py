"""``ragassay serve``, ``worker`` and ``backup``: the service, workers beside it, a copy of its
store; and ``ragassay mcp``: tools for agents, over standard input and output."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import signal
import socket
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.base.errors import OptionError, UsageError
from ragassay.cli import show
from ragassay.cli.command import Given, command

if TYPE_CHECKING:
    from ragassay.mcp.mcp_server import McpOptions
    from ragassay.service.store.database import Store
    from ragassay.service.worker.worker import WorkerOptions

FOLDER = Path("ragassay-service")
_LAST_PORT = 65_535


@command("serve")
def serve(given: Given) -> None:
    """Serve web pages and the REST interface, with a worker that computes reports.

    FOLDER keeps everything (SQLite) and is made at the first start. --store names a PostgreSQL
    database for teams, shared by any number of 'ragassay worker' processes. Without tokens only
    this machine is served. After 'ragassay token create' every request needs a token.

    ```sh
    ragassay serve
    ragassay serve --sample
    ragassay serve data --port 9000
    ragassay serve --store postgresql://ragassay@db/ragassay --host 0.0.0.0 --name rag.example.org
    ragassay serve --judge fast=openai:gpt-4o-mini --judge local=http://localhost:8000/v1#model
    ragassay serve --mcp evaluations
    ```
    """
    keep = re.fullmatch(r"([1-9]\d{0,4})d", given.keep or "1d")
    if keep is None:
        raise OptionError("keep", f"{given.keep!r} is not a number of days; write 90d")
    opened, working = _opened(given)
    from ragassay.service.application import ServiceOptions, create_app
    from ragassay.service.operation.service_log import start_log
    from ragassay.service.sample_project import create_sample
    from ragassay.service.worker.worker import Worker

    of_tools = {"judge": given.mcp_judge and [given.mcp_judge], "budget": given.mcp_budget}
    settings = {key: value for key, value in of_tools.items() if value}
    if settings and not given.mcp:
        raise UsageError("--mcp-judge and --mcp-budget need --mcp FOLDER.")
    options = ServiceOptions(
        address=given.host,
        hosts=tuple(given.name or ()),
        worker=None if given.no_worker else working,
        views=working.folder.with_name("views"),
        mcp=_tools(given.mcp, settings) if given.mcp else None,
        open=given.open,
        behind_proxy=given.behind_proxy,
        keep_days=None if given.keep is None else int(keep[1]),
    )
    app = create_app(opened, options)
    start_log(given.log)
    with closing(opened), listening(given.host, given.port) as open_socket:
        if given.sample and create_sample(opened):
            with show.status("computing the reports of the sample"):
                Worker(opened, working).run(until_idle=True)
        shown_host = f"[{given.host}]" if ":" in given.host else given.host
        url = f"http://{shown_host}:{open_socket.getsockname()[1]}"
        show.lines(f"ragassay serves {url} from {opened.where}. Ctrl-C ends it.")
        if options.mcp is not None:
            show.lines(f"Agents use {url}/mcp.")
        run_server(app, open_socket, behind_proxy=given.behind_proxy)


@command("worker")
def worker(given: Given) -> None:
    """Compute waiting reports until stopped. Any number of workers share a store.

    'ragassay serve' makes the store first.

    ```sh
    ragassay worker --store postgresql://ragassay@db/ragassay
    ragassay worker data --until-idle
    ```
    """
    opened, options = _opened(given, must_exist=True)
    from ragassay.service.operation.service_log import start_log
    from ragassay.service.worker.worker import Worker

    start_log(given.log)
    job_worker = Worker(opened, options)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: job_worker.stop())
    show.lines(f"{job_worker.name} works for {opened.where}. Ctrl-C ends it.")
    with closing(opened):
        job_worker.run(until_idle=given.until_idle)


@command("backup")
def backup(given: Given) -> None:
    """Copy the store of a service into a new folder, also while the service works.

    'ragassay serve TARGET' serves the copy. To restore it, put it where the lost folder was
    (docs/operating.md). For a PostgreSQL database, use its own pg_dump.

    ```sh
    ragassay backup data
    ragassay backup data /backups/monday
    ```
    """
    needs_service()
    if "://" in given.store:
        raise UsageError(
            "A PostgreSQL database is backed up by its own tool, also while it is served: "
            "pg_dump --format=custom --file=FILE postgresql://USER@HOST/DATABASE"
        )
    from ragassay.service.operation.keeping import back_up

    show.lines(f"backup: {back_up(Path(given.store), given.target)}")


@command("mcp", "Judging", "Neural models", without=("data", "replay", "nuggets", "rubric"))
def mcp(given: Given) -> None:
    """Serve ragassay's tools to an agent, by MCP over standard input and output.

    The tools validate a file, run a suite, compare runs, explain a score and list metrics;
    UltraRAG's are evaluate, evaluate_trec, evaluate_trec_pvalue, get_data and build. They read and
    write below FOLDERS only. You choose the judge and the budget here; the agent cannot. 'ragassay
    serve --mcp FOLDER' offers the same over HTTP.

    ```sh
    ragassay mcp
    ragassay mcp data runs --judge openai:gpt-4o --budget 5.00
    ```
    """
    options = _tools(given.folders or [Path.cwd()], given.run_options)
    from ragassay.mcp.mcp_server import create_server

    create_server(options).run("stdio")


def _tools(folders: list[Path], settings: Mapping[str, Any]) -> McpOptions:
    """The tools that agents are offered, with the folders that they may use."""
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"There is no folder {folder}.")
    from ragassay.compat.ultrarag.mcp_servers import needs_mcp

    needs_mcp()
    from ragassay.mcp.mcp_server import McpOptions

    return McpOptions(tuple(folders), settings)


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens (port 0 is any); an `OptionError` names the port or host that cannot
    be."""
    if not 0 <= port <= _LAST_PORT:
        raise OptionError("port", f"there is no port {port}; choose one from 1 to {_LAST_PORT}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        key = "port" if error.errno in (errno.EADDRINUSE, errno.EACCES) else "host"
        why = str(error.strerror).partition(" (while")[0]  # create_server adds the address
        problem = f"the service cannot listen at {host}:{port} ({why}); choose another --{key}"
        raise OptionError(key, problem) from error


def run_server(app: Any, open_socket: socket.socket, *, behind_proxy: bool = False) -> None:
    """Serves an application of ASGI at a socket until Ctrl-C; behind a proxy it believes what
    headers say of the scheme and the client."""
    import uvicorn

    from ragassay.service.api.request_bodies import TimedProtocol

    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, http=TimedProtocol,
        timeout_graceful_shutdown=5,  # a stream of an agent may never end by itself
        proxy_headers=behind_proxy, forwarded_allow_ips="*",
    )  # fmt: skip
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run([open_socket])


def _opened(given: Given, *, must_exist: bool = False) -> tuple[Store, WorkerOptions]:
    """The store with the models that clients may name, and the folders of its workers."""
    if given.folder is not None and given.store is not None:
        raise UsageError("A folder and --store both name a store. Keep one of them.")
    opened = open_store(given.store or given.folder, must_exist=must_exist)
    from ragassay.service.named_models import NamedModels
    from ragassay.service.worker.worker import WorkerOptions

    opened.models = NamedModels.parse(given.judge or (), given.embedder or ())
    # Beside a database, each store has a folder of its user's own: what it holds is nobody else's.
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ragassay"
    name = hashlib.sha256(opened.where.encode()).hexdigest()[:16]
    base = opened.folder or cache / f"service-{name}"
    return opened, WorkerOptions(base / "work")


def open_store(address: str | Path | None, *, must_exist: bool = False) -> Store:
    """The store of a service: a folder, made where it need not exist, or the URL of a database."""
    needs_service()
    from ragassay.service.store.database import Store, has_store

    place = address or FOLDER
    if must_exist and not has_store(place):
        raise UsageError(f"There is no service in {place}. Start it once: ragassay serve {place}.")
    return Store(place)


def needs_service() -> None:
    """Says at once, with a `UsageError`, that the packages of the service are not installed."""
    from importlib.util import find_spec

    if any(find_spec(name) is None for name in ("fastapi", "sqlalchemy", "uvicorn")):
        raise UsageError("The service needs its packages: pip install 'ragassay[service]'.")
