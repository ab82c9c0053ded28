"""Ctrl-C is never lost; and what a command imports: its time is mostly that of its imports."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ragassay.cli import show
from ragassay.cli.command_line import call


class Finalised:
    """Presses Ctrl-C where Python can raise nothing."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_that_python_drops_is_raised_at_the_next_look(capfd) -> None:
    # A shell that runs the tests in the background ignores the signal for them.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with show.remembered():
            show.check()
            thing = Finalised()
            del thing
            with pytest.raises(KeyboardInterrupt):
                show.check()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert capfd.readouterr().err == ""


def test_what_another_program_handles_or_ignores_as_under_nohup_is_left_to_it() -> None:
    heard = []
    handlers = {signal.SIGINT: lambda *_: heard.append(1), signal.SIGHUP: signal.SIG_IGN}
    for number, handler in handlers.items():
        before = signal.signal(number, handler)
        try:
            with show.remembered():
                os.kill(os.getpid(), number)
                show.check()
        finally:
            signal.signal(number, before)
    assert heard == [1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_asks_a_process_to_end_is_ctrl_c(number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_DFL)  # a suite under nohup is started with "ignored"
    try:
        with show.remembered(), pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
            show.check()
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "ragassay", *words]


@pytest.mark.parametrize("words", [["metrics"], ["metrics", "--json"]])
def test_a_reader_that_goes_away_is_no_failure(words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(command(*words), stdout=writing, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writing)
    assert ended.returncode == 141 and ended.stderr == b""


@pytest.mark.parametrize("words", [["metrics", "--json"], ["run", "--help"]])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_output_that_cannot_be_written_is_one_sentence(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command(*words), stdout=full, stderr=subprocess.PIPE, check=False)
    assert ended.returncode == 2
    said = ended.stderr.decode()
    assert said.startswith("ragassay: The output cannot be written: ") and said.count("\n") == 1
    closed = " ".join(command("metrics")) + " >&-"
    ended = subprocess.run(["sh", "-c", closed], stderr=subprocess.PIPE, check=False)
    assert ended.returncode == 2
    assert ended.stderr == b"ragassay: Standard output is closed: nothing could be shown.\n"


@pytest.mark.parametrize("words", [["run", "{}.jsonl"], ["validate", "{}"], ["compare", "{}", "{}"],
                                   ["explain", "{}", "q"], ["report", "{}"],
                                   ["ledger", "stats", "--ledger", "{}"]])  # fmt: skip
def test_a_name_longer_than_names_may_be_is_one_sentence(words: list[str], capsys) -> None:
    assert call([word.format("x" * 300) for word in words]) == 2
    error = capsys.readouterr().err
    assert "xxx…: " in error and "defect" not in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("module", "raised"), [("cyclopts", ""), ("numpy", "raise ImportError('half imported')")]
)
def test_an_interrupt_during_imports_is_one_sentence(tmp_path, module: str, raised: str) -> None:
    """Of what every command imports, and of what a run does; also where a package turns the
    interrupt into an error of its own."""
    (tmp_path / f"{module}.py").write_text(
        "import os, signal, time\n"
        "try:\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(5)\n"
        f"except KeyboardInterrupt:\n    {raised or 'raise'}\n"
    )
    data = tmp_path / "data.jsonl"
    data.write_text('{"id": "1", "query": "Who?", "answer": "I."}\n')
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from ragassay.cli.start import main; main(['run', 'data.jsonl', '-m', 'answer_words'])"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 130
    assert ended.stderr.startswith("ragassay: Interrupted.") and ended.stderr.count("\n") == 1


MODULES = """
import json, sys
from ragassay.cli.start import main
try:
    main(sys.argv[1:])
except SystemExit:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
SAMPLE = {"id": "1", "query": "Who?", "answer": "Ann.", "references": ["Ann"]}


def imported(*words: str) -> set[str]:
    command = [sys.executable, "-c", MODULES, *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(json.loads(ended.stderr.splitlines()[-1]))


@pytest.mark.parametrize(("words", "most", "unneeded"), [
    (["--version"], 90, {"numpy", "pydantic", "yaml"}),
    (["--help"], 90, {"numpy", "pydantic", "yaml"}),
    (["run", "DATA"], 250, {"matplotlib", "ragassay.reports.run_reports"}),
    (["run", "DATA", "-m", "token_f1"], 210, {"ragassay.metrics.chunks.spans"}),
    (["run", "DATA", "--suite", "trecrag"], 225, {"ragassay.metrics.chunks.spans"}),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")  # fmt: skip
def test_a_command_imports_what_it_needs(words, most: int, unneeded, tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps(SAMPLE), encoding="utf-8")
    modules = imported(*(str(data) if word == "DATA" else word for word in words))
    assert not modules & {*unneeded, "nltk", "scipy", "torch", "polars"}
    assert sum(name.startswith("ragassay") for name in modules) <= most
