"""Starts ``python -m ragassay...`` by forking a process that has imported what it needs.

Each report is computed in a process of its own, and importing takes most of such a process's time.
Here the process is as much of its own: its number, its signals, its pipes, its environment and its
exit code are those that `subprocess.Popen` gives it. What is not tried is that the modules can be
imported: tests/service/worker/test_serve.py starts real ones.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

WARM = (
    *("fastapi", "psycopg", "python_multipart", "sqlalchemy.dialects.postgresql.psycopg"),
    *("sqlalchemy.dialects.sqlite.pysqlite", "uvicorn", "uvicorn.lifespan.on"),
    *("uvicorn.loops.auto", "uvicorn.protocols.http.auto", "ragassay.engine.comparison"),
    *("ragassay.engine.config", "ragassay.engine.run.prepared_run"),
    "ragassay.judges.judge_factory",
    *("ragassay.reports.run_reports", "ragassay.service.application"),
    *("ragassay.service.store.report_files", "ragassay.service.views.report_view"),
    *("ragassay.service.web.page_parts", "ragassay.service.worker.worker"),
)
"""Imported before the fork, where they are installed; none of these starts a thread."""

LENGTH = 8
"""Bytes that say how long a request is."""

_Real = subprocess.Popen


class ForkingPopen(_Real):  # type: ignore[type-arg]
    """``subprocess.Popen`` that asks a `Forks` for ``python -m ragassay...``, and starts all else
    itself.

    Attributes:
        place: the socket of the `Forks`; empty where there is none.
    """

    place = ""
    _answers: socket.socket | None = None

    def _execute_child(self, args: Any, *words: Any) -> None:
        mine = list(args[:2]) == [sys.executable, "-m"] and args[2].split(".")[0] == "ragassay"
        if not self.place or not mine:
            super()._execute_child(args, *words)  # type: ignore[misc]
            return
        _, _, _, _, cwd, env, _, _, _, *pipes = words[:15]
        ends = [pipes[at] if pipes[at] != -1 else number for number, at in enumerate((0, 3, 5))]
        asked = json.dumps(
            [str(Path(cwd or ".").resolve()), dict(os.environ if env is None else env), args[2:]]
        )
        self._answers = socket.socket(socket.AF_UNIX)
        self._answers.connect(self.place)
        socket.send_fds(self._answers, [len(asked.encode()).to_bytes(LENGTH)], ends)
        self._answers.sendall(asked.encode())
        self.pid = int(_line(self._answers))
        self._child_created = True
        # A file that was given is its owner's: only the ends of pipes are closed.
        ends = [pipes[child] for child, own in ((0, 1), (3, 2), (5, 4)) if pipes[own] != -1]
        for end in {*ends} - {-1, getattr(self, "_devnull", -1)}:
            os.close(end)
        self._closed_child_pipe_fds = True
        if getattr(self, "_devnull", None) is not None:
            os.close(self._devnull)

    def _internal_poll(self, *words: Any, **named: Any) -> int | None:
        if self._answers is None:
            return super()._internal_poll(*words, **named)  # type: ignore[misc, no-any-return]
        return self._ended(0)

    def _wait(self, timeout: float | None) -> int:
        if self._answers is None:
            return super()._wait(timeout)  # type: ignore[misc, no-any-return]
        code = self._ended(timeout)
        if code is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return code

    def _ended(self, timeout: float | None) -> int | None:
        """The exit code, as soon as it is known within so many seconds."""
        assert self._answers is not None
        if self.returncode is None and select.select([self._answers], [], [], timeout)[0]:
            self.returncode = int(_line(self._answers))
            self._answers.close()
        return self.returncode


class Forks:
    """A context manager: while it lasts, `ForkingPopen` starts modules by forking.

    Attributes:
        place: where the process that forks listens.
    """

    def __init__(self, *path: Path) -> None:
        """``path`` is searched for modules, beside what ``PYTHONPATH`` names."""
        self._path = path

    def __enter__(self) -> "Forks":
        path = os.pathsep.join(filter(None, (*map(str, self._path), os.environ.get("PYTHONPATH"))))
        self._folder = tempfile.TemporaryDirectory(prefix="ragassay-forks-")
        self.place = str(Path(self._folder.name) / "socket")
        self._parent = _Real(
            [sys.executable, str(Path(__file__).resolve()), self.place],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": path},
        )  # fmt: skip
        return self

    def wait(self) -> str:
        """Waits until it listens; its place."""
        assert self._parent.stdout is not None
        if not self._parent.stdout.closed:
            assert self._parent.stdout.readline() == "ready\n"
            self._parent.stdout.close()
        return self.place

    def __exit__(self, *error: object) -> None:
        self._parent.kill()
        self._parent.wait()
        self._folder.cleanup()


def _line(answers: socket.socket) -> str:
    found = b""
    while not found.endswith(b"\n"):
        read = answers.recv(1)
        assert read, "the process that forks has died"
        found += read
    return found.decode()


def _next_child(listener: socket.socket) -> list[Any]:
    """Forks for each request a process that forks the child, and says how that ended. Returns in
    the children only: the folder, environment and words of a child."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those processes
    while True:
        if 0 in select.select([listener, 0], [], [])[0]:  # who started it has ended
            os._exit(0)
        asker, _ = listener.accept()
        length, ends, _, _ = socket.recv_fds(asker, LENGTH, 3)
        if os.fork():
            for end in ends:
                os.close(end)
            asker.close()
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        listener.close()
        asked = asker.makefile("rb").read(int.from_bytes(length))
        if len(asked) < int.from_bytes(length) or not asked:  # the one that asks was killed
            os._exit(0)
        child = os.fork()
        if not child:
            asker.close()
            for number, end in enumerate(ends):
                os.dup2(end, number)
            for end in ends:
                os.close(end)
            return list(json.loads(asked))
        for end in ends:
            os.close(end)
        with suppress(OSError):  # it was killed meanwhile
            asker.sendall(f"{child}\n".encode())
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            asker.sendall(f"{code}\n".encode())
        os._exit(0)


def main() -> None:
    """Imports, forks, and runs in each child what was asked for as ``python -m`` does."""
    place = sys.argv[1]
    del sys.path[0]  # this file's folder
    for module in WARM:
        with suppress(ModuleNotFoundError):
            importlib.import_module(module)
    from ragassay import formats, suites
    from ragassay.metrics.core import naming

    for load in (formats.all_formats, suites.all_suites, naming.metric_classes):
        load()
    os.fsync = lambda file: None  # as in tests/conftest.py
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    listener.listen(100)
    print("ready", flush=True)  # noqa: T201
    folder, variables, words = _next_child(listener)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # some shells ignore it
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.path.insert(0, folder)  # as of ``python -m``
    sys.argv[1:] = words[1:]
    # What this process starts is forked, too.
    ForkingPopen.place = place
    subprocess.Popen = ForkingPopen  # type: ignore[misc]
    warnings.filterwarnings("ignore", ".* found in sys.modules", RuntimeWarning)
    try:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        code: Any = 0
    except SystemExit as ended:
        code = 0 if ended.code is None else ended.code
    if not isinstance(code, int):
        sys.exit(code)
    # What an interpreter does at its end, but for taking all those modules apart.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    main()
