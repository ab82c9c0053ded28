"""Runs ``ragassay`` commands in processes of their own that can be killed, one after the other.

A process with everything imported forks for each command, so that killing twenty of them takes no
twenty times of importing.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType

WARM = (
    "httpx2",
    "ragassay.engine.run.evaluation",
    "ragassay.engine.plan.data_preview",
    "ragassay.judges.judge_factory",
    "ragassay.transport.endpoints.http_endpoint",
    "ragassay.reports.run_reports",
    "ragassay.reports.drawn.terminal",
)
"""Imported before the fork; none of these starts a thread."""


class Commands:
    """A context manager: ``start``, then ``kill`` or ``wait``; one command at a time.

    Attributes:
        folder: where the next command is started.
        logs: files with what all of them print, and with what they write to standard error.
        path: searched for modules, beside what ``PYTHONPATH`` names.
    """

    def __init__(self, folder: Path, *path: Path) -> None:
        self.folder = folder
        self.logs = (folder / "output.txt", folder / "errors.txt")
        self.path = path

    def __enter__(self) -> Commands:
        path = os.pathsep.join(filter(None, (*map(str, self.path), os.environ.get("PYTHONPATH"))))
        known = {"OPENAI_API_KEY": "any", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": path}
        self._parent = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), *map(str, self.logs)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **known},
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._parent.kill()
        self._parent.communicate()

    def start(self, *words: str, **variables: str) -> int:
        """Starts ``ragassay`` with these words and variables of the environment; returns the number
        of its process."""
        assert self._parent.stdin is not None and self._parent.stdout is not None
        self._parent.stdin.write(json.dumps([str(self.folder), variables, words]) + "\n")
        self._parent.stdin.flush()
        self.pid = int(self._parent.stdout.readline())
        return self.pid

    def kill(self) -> int:
        """Kills it as nothing can be caught; returns what `wait` returns."""
        with suppress(ProcessLookupError):  # it was faster
            os.kill(self.pid, signal.SIGKILL)
        return self.wait()

    def wait(self) -> int:
        """The exit code, or minus the number of the signal that ended it."""
        assert self._parent.stdout is not None
        return int(self._parent.stdout.readline())

    def run(self, *words: str) -> int:
        """Starts and waits."""
        self.start(*words)
        return self.wait()

    def completed(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Starts and waits; what `subprocess.run` returns."""
        before = [len(said) for said in self._said()]
        self.start(*words, **variables)
        code = self.wait()
        out, err = (said[at:] for said, at in zip(self._said(), before, strict=True))
        return subprocess.CompletedProcess(words, code, out, err)

    def output(self) -> str:
        """What all commands printed so far."""
        return "".join(self._said())

    def _said(self) -> list[str]:
        return [log.read_text("utf-8") if log.exists() else "" for log in self.logs]


def main() -> None:
    for module in WARM:
        importlib.import_module(module)
    from ragassay import formats, suites
    from ragassay.cli.command_line import call
    from ragassay.metrics.core import naming

    for load in (formats.all_formats, suites.all_suites, naming.metric_classes):
        load()
    logs = [os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND) for name in sys.argv[1:]]
    for line in sys.stdin:
        child = os.fork()
        if not child:
            os.dup2(logs[0], 1)
            os.dup2(logs[1], 2)
            code = 70
            signal.signal(signal.SIGINT, signal.default_int_handler)  # some shells ignore it
            try:
                folder, variables, words = json.loads(line)
                os.chdir(folder)
                os.environ.update(variables)
                sys.path[0] = folder  # as of ``python -m``
                code = call(words)
                sys.stdout.flush()
            finally:
                os._exit(code)
        print(child, flush=True)  # noqa: T201
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
