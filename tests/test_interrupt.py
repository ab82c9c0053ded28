"""Ctrl-C is never lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ragassay.cli import interrupt


class Finalised:
    """Presses Ctrl-C where Python can raise nothing."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_that_python_drops_is_raised_at_the_next_look(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with interrupt.heard():
        interrupt.check()
        thing = Finalised()
        del thing
        with pytest.raises(KeyboardInterrupt):
            interrupt.check()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert capfd.readouterr().err == ""


def test_a_handler_of_somebody_else_stays() -> None:
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        with interrupt.heard():
            os.kill(os.getpid(), signal.SIGINT)
        assert heard == [1]
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_asks_a_process_to_end_is_ctrl_c(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with interrupt.heard(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)
        interrupt.check()
    assert signal.getsignal(number) is before


def test_a_closed_terminal_does_not_end_what_runs_under_nohup() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interrupt.heard():
            os.kill(os.getpid(), signal.SIGHUP)
            interrupt.check()
    finally:
        signal.signal(signal.SIGHUP, before)


def test_an_interrupt_inside_code_made_from_text_ends_with_its_exit_code_too(
    tmp_path: Path,
) -> None:
    (tmp_path / "work.py").write_text(
        "import sys\n"
        "from ragassay.cli import interrupt\n"
        "try:\n"
        "    exec('raise KeyboardInterrupt')\n"
        "except KeyboardInterrupt:\n"
        "    interrupt.settle()\n"
        "sys.exit(130)\n"
    )
    ended = subprocess.run([sys.executable, "-m", "work"], cwd=tmp_path, check=False)
    assert ended.returncode == 130
