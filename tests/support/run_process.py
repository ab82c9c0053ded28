"""Runs ``ragassay`` commands in processes of their own that can be killed, one after the other.

A process with everything imported forks for each command (`forked_modules`), so that killing twenty
of them takes no twenty times of importing.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forked_modules import ForkingPopen, Forks


class Commands:
    """A context manager: ``start``, then ``kill`` or ``wait``; one command at a time.

    Attributes:
        folder: where the next command is started.
        logs: files with what all of them print, and with what they write to standard error.
    """

    def __init__(self, folder: Path, *path: Path) -> None:
        """``path`` is searched for modules, beside what ``PYTHONPATH`` names."""
        self.folder = folder
        self.logs = (folder / "output.txt", folder / "errors.txt")
        self._forks = Forks(*path)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Commands":
        self._forks.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()
        self._forks.__exit__(*error)

    def start(self, *words: str, **variables: str) -> int:
        """Starts ``ragassay`` with these words and variables of the environment; returns the number
        of its process."""
        out, err = (log.open("ab") for log in self.logs)
        with out, err:
            options = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}
            self._process = self.beside(*words, cwd=self.folder, env=variables, **options)
        self.pid = int(self._process.pid)
        return self.pid

    def beside(self, *words: str, env: Mapping[str, str] = {}, **options: Any) -> Any:
        """A process of its own beside others, as `subprocess.Popen` starts one with options."""
        known = {"OPENAI_API_KEY": "any", "OPENBLAS_NUM_THREADS": "1"}
        started = type("Started", (ForkingPopen,), {"place": self._forks.wait()})
        environment = {**os.environ, **known, **env}
        return started([sys.executable, "-m", "ragassay", *words], env=environment, **options)

    def kill(self) -> int:
        """Kills it as nothing can be caught; returns what `wait` returns."""
        assert self._process is not None
        self._process.kill()
        return self.wait()

    def wait(self) -> int:
        """The exit code, or minus the number of the signal that ended it."""
        assert self._process is not None
        return int(self._process.wait())

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
