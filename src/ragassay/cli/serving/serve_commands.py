"""``ragassay serve``, ``worker`` and ``backup``: the service, workers beside it, a copy of its
store; and ``ragassay mcp``: tools for agents, over standard input and output."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import signal
import socket
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ragassay.base.errors import OptionError, UsageError
from ragassay.cli.flags import Repeated, Switch, takes_options
from ragassay.cli.output import show

if TYPE_CHECKING:
    from ragassay.mcp.mcp_server import McpOptions
    from ragassay.service.store.database import Store
    from ragassay.service.worker.worker import WorkerOptions

FOLDER = Path("ragassay-service")
_LAST_PORT = 65_535


def serve(
    folder: Path | None = None,
    /,
    *,
    store: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8765,
    name: Repeated | None = None,
    judge: Repeated | None = None,
    embedder: Repeated | None = None,
    mcp: Annotated[list[Path] | None, Parameter(negative=(), consume_multiple=False)] = None,
    mcp_judge: str | None = None,
    mcp_budget: str | None = None,
    no_worker: Switch = False,
    open: Switch = False,  # noqa: A002
    behind_proxy: Switch = False,
    sample: Switch = False,
    keep: str | None = None,
    log: Literal["text", "json"] | None = None,
) -> None:
    """Serve web pages and the REST interface, with a worker that computes reports.

    Everything is kept in FOLDER (SQLite), made on first start; --store names a PostgreSQL database
    for teams, which any number of 'ragassay worker' processes share. Without tokens only this
    machine is served; 'ragassay token create' makes one, and from then on every request needs one.

    ```sh
    ragassay serve
    ragassay serve --sample
    ragassay serve data --port 9000
    ragassay serve --store postgresql://ragassay@db/ragassay --host 0.0.0.0 --name rag.example.org
    ragassay serve --judge fast=openai:gpt-4o-mini --judge local=http://localhost:8000/v1#model
    ragassay serve --mcp evaluations
    ```

    Args:
        folder: Where everything is kept (default: ragassay-service).
        store: A database in place of the folder: postgresql://USER@HOST/DATABASE.
        host: Address to listen at.
        port: Port to listen at.
        name: A name that the service is called by, as in https://NAME. Repeatable.
        judge: A judge that clients may name: NAME=JUDGE, as of 'ragassay run --judge'. The first
            one judges where they name none (default: the offline judge). Repeatable.
        embedder: An embedder that clients may name: NAME=EMBEDDER. Repeatable.
        mcp: A folder whose files agents may read and write: the tools of 'ragassay mcp' are served
            at /mcp. Repeatable.
        mcp_judge: Who judges for these tools (default: the embedded judge, offline).
        mcp_budget: What one of their runs may cost, such as 5.00.
        no_worker: Compute no reports here: 'ragassay worker' does, elsewhere.
        open: Serve this machine without a token although there were tokens.
        behind_proxy: Only a reverse proxy reaches the service: believe its X-Forwarded-Proto and
            X-Forwarded-For, so that cookies of https are for https only. Needs tokens.
        sample: Begin with a project of bundled data and two finished reports (once).
        keep: Days after which records (by their time), reports and paid answers are deleted, such
            as 90d (default: never). A task may say less (keep_days).
        log: Write a line for each request and job to standard error, as text or JSON (default: only
            warnings and errors, as text).
    """
    keep_days = None if keep is None else _days(keep)
    opened, working = _opened(folder, store, judge, embedder)
    from ragassay.service.application import ServiceOptions, create_app
    from ragassay.service.operation.service_log import start_log
    from ragassay.service.sample_project import create_sample
    from ragassay.service.worker.worker import Worker

    options = ServiceOptions(
        address=host,
        hosts=tuple(name or ()),
        worker=None if no_worker else working,
        views=working.views,
        mcp=_tools(mcp or [], mcp_judge, mcp_budget),
        open=open,
        behind_proxy=behind_proxy,
        keep_days=keep_days,
    )
    app = create_app(opened, options)
    start_log(log)
    with closing(opened), listening(host, port) as open_socket:
        if sample and create_sample(opened):
            with show.status("computing the reports of the sample"):
                Worker(opened, working).run(until_idle=True)
        shown_host = f"[{host}]" if ":" in host else host
        url = f"http://{shown_host}:{open_socket.getsockname()[1]}"
        show.lines(f"ragassay serves {url} from {opened.where}. Ctrl-C ends it.")
        if options.mcp is not None:
            show.lines(f"Agents use {url}/mcp.")
        run_server(app, open_socket, behind_proxy=behind_proxy)


def worker(
    folder: Path | None = None,
    /,
    *,
    store: str | None = None,
    judge: Repeated | None = None,
    embedder: Repeated | None = None,
    until_idle: Switch = False,
    log: Literal["text", "json"] | None = None,
) -> None:
    """Compute the reports that wait, until it is stopped. Any number of workers share a store.

    The store is there already: 'ragassay serve' makes it.

    ```sh
    ragassay worker --store postgresql://ragassay@db/ragassay
    ragassay worker data --until-idle
    ```

    Args:
        folder: The folder of 'ragassay serve' (default: ragassay-service).
        store: The database of 'ragassay serve --store'.
        judge: As of 'ragassay serve --judge': the same list. Repeatable.
        embedder: As of 'ragassay serve --embedder'. Repeatable.
        until_idle: End where there is nothing to do.
        log: As of 'ragassay serve --log'.
    """
    opened, options = _opened(folder, store, judge, embedder, must_exist=True)
    from ragassay.service.operation.service_log import start_log
    from ragassay.service.worker.worker import Worker

    start_log(log)
    job_worker = Worker(opened, options)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: job_worker.stop())
    show.lines(f"{job_worker.name} works for {opened.where}. Ctrl-C ends it.")
    with closing(opened):
        job_worker.run(until_idle=until_idle)


def backup(store: str, target: Path | None = None, /) -> None:
    """Copy the store of a service into a new folder, while it is served.

    The copy is a store itself: 'ragassay serve TARGET' serves it, and to restore it is to put it in
    the place of the folder that was lost (docs/operating.md). A PostgreSQL database is backed up by
    its own pg_dump.

    ```sh
    ragassay backup data
    ragassay backup data /backups/monday
    ```

    Args:
        store: The folder of 'ragassay serve'.
        target: A new folder (default: one beside the store, named by the time).
    """
    needs_service()
    if "://" in store:
        raise UsageError(
            "A PostgreSQL database is backed up by its own tool, also while it is served: "
            "pg_dump --format=custom --file=FILE postgresql://USER@HOST/DATABASE"
        )
    from ragassay.service.operation.backup import back_up

    show.lines(f"backup: {back_up(Path(store), target)}")


@takes_options("Judging", "Neural models", without=("data", "replay", "nuggets", "rubric"))
def mcp(folders: list[Path] | None = None, /, **run_options: Any) -> None:
    """Serve ragassay's tools to an agent, by MCP over standard input and output.

    The tools validate a file, run a suite, compare runs, explain a score and list metrics;
    UltraRAG's evaluate, evaluate_trec, evaluate_trec_pvalue, get_data and build are among them.
    They read and write below FOLDERS only. Who judges and what it may cost is said here, not by the
    agent. 'ragassay serve --mcp FOLDER' offers the same over HTTP.

    ```sh
    ragassay mcp
    ragassay mcp data runs --judge openai:gpt-4o --budget 5.00
    ```

    Args:
        folders: What the tools may read and write (default: the working directory).
    """
    from ragassay.compat.ultrarag.mcp_servers import needs_mcp

    needs_mcp()
    for folder in folders or ():
        if not folder.is_dir():
            raise UsageError(f"There is no folder {folder}.")
    from ragassay.mcp.mcp_server import McpOptions, create_server

    create_server(McpOptions(tuple(folders or [Path.cwd()]), run_options)).run("stdio")


def _days(text: str) -> int:
    """The number of days in ``90d``, or an `OptionError`."""
    match = re.fullmatch(r"([1-9]\d{0,4})d", text.strip())
    if match is None:
        raise OptionError("keep", f"{text!r} is no number of days; write 90d")
    return int(match[1])


def _tools(folders: list[Path], judge: str | None, budget: str | None) -> McpOptions | None:
    """The tools that agents are offered; none without a folder."""
    if not folders:
        if judge is not None or budget is not None:
            raise UsageError("--mcp-judge and --mcp-budget go with --mcp FOLDER.")
        return None
    for folder in folders:
        if not folder.is_dir():
            raise OptionError("mcp", f"there is no folder {folder}")
    from ragassay.compat.ultrarag.mcp_servers import needs_mcp
    from ragassay.mcp.mcp_server import McpOptions

    needs_mcp()
    options = {"judge": None if judge is None else [judge], "budget": budget}
    return McpOptions(tuple(folders), {key: one for key, one in options.items() if one is not None})


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is any.

    Raises:
        OptionError: the port is none, or is in use, or the address is not this machine's.
    """
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

    from ragassay.service.http_protocol import TimedProtocol

    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, http=TimedProtocol,
        timeout_graceful_shutdown=5,  # streams of events may never end by themselves
        proxy_headers=behind_proxy, forwarded_allow_ips="*",
    )  # fmt: skip
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run([open_socket])


def _opened(
    folder: Path | None,
    store: str | None,
    judges: Repeated | None,
    embedders: Repeated | None,
    *,
    must_exist: bool = False,
) -> tuple[Store, WorkerOptions]:
    """The store with the models that clients may name, and the folders of its workers."""
    if folder is not None and store is not None:
        raise UsageError("A folder and --store both name a store. Keep one of them.")
    opened = open_store(store or folder, must_exist=must_exist)
    from ragassay.service.named_models import NamedModels
    from ragassay.service.worker.worker import WorkerOptions

    opened.models = NamedModels.parse(judges or (), embedders or ())

    # Beside a database, each store has a folder of its user's own: what it holds is nobody else's.
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ragassay"
    name = hashlib.sha256(opened.where.encode()).hexdigest()[:16]
    base = opened.folder or cache / f"service-{name}"
    return opened, WorkerOptions(base / "work", base / "views")


def open_store(address: str | Path | None, *, must_exist: bool = False) -> Store:
    """The store of a service: a folder, made where it need not exist, or the URL of a database.

    Raises:
        UsageError: there is no store in the folder; the packages of the service are not installed.
    """
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
