"""Options of every command: --quiet, --no-progress; help on one page; one style of
errors; completions of the shell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ragassay.cli.command import COMMANDS, COMMON
from ragassay.cli.command_line import GROUPS, call, read
from ragassay.engine.config.run_config import RunConfig


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    lines = [{"query": f"query {n}?", "answer": "red fox", "references": ["fox"]} for n in range(4)]
    Path("data.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    return "data.jsonl"


def test_quiet_prints_only_gates_that_did_not_pass_errors_and_data(data: str, capsys) -> None:
    gates = ["--fail-under", "f1>=0.1", "--fail-under", "em>=0.5"]
    assert call(["run", data, "-m", "f1,em", "--quiet", *gates, "-o", "out"]) == 1
    found = capsys.readouterr()
    assert found.out == "gate em>=0.5: FAILED, mean 0.0000\n"
    assert found.err == ""  # there are notes: the records have no id
    assert call(["run", data, "-m", "f1", "--quiet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_samples"] == 4
    assert call(["run", "nothing.jsonl", "--quiet"]) == 2
    assert capsys.readouterr().err == "ragassay: nothing.jsonl: there is no such file.\n"
    assert call(["run", data, "-m", "f1"]) == 0
    assert "f1" in capsys.readouterr().out


def test_quiet_says_why_a_run_is_incomplete(data: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bare.jsonl").write_text('{"id": "a", "query": "Q?", "answer": "A."}\n')
    assert call(["run", "bare.jsonl", "-m", "f1", "--quiet"]) == 3
    found = capsys.readouterr()
    assert found.out == "" and found.err.startswith(
        "ragassay: Nothing was scored: the sample has no"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["frobnicate"], "ragassay: Unknown command"),
        (["run", "x", "--frob"], "ragassay: Unknown option"),
        (["compare"], "ragassay: Command"),
        (["compare", "x", "--slice-by=a"], "ragassay: Unknown option: --slice-by. Compare the"),
        (["run", "x", "--limit", "two"], "ragassay: Invalid value"),
        (["run", "x", "--suite", "qaa"], "ragassay: "),
    ],
)
def test_every_error_is_one_sentence_of_one_style(words: list[str], said: str, capsys) -> None:
    assert call(words) == 2
    err = capsys.readouterr().err
    assert err.startswith(said) and err.count("\n") == 1


def test_the_help_of_run_fits_a_page_and_all_of_it_is_a_word_away() -> None:
    def printed(word: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "ragassay", "run", word], env={**os.environ, "COLUMNS": "80"},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    assert set(COMMON) <= RunConfig.model_fields.keys()
    short, full = printed("--help"), printed("--help-all")
    assert len(short.splitlines()) <= 70 < 150 < len(full.splitlines())
    assert "--help-all shows every option" in short and "--trust-offline" not in short
    assert "--trust-offline" in full and "--help-all shows" not in full
    assert max(map(len, short.splitlines())) <= 80


def test_the_completions_of_the_shell_know_every_option(tmp_path: Path, capsys) -> None:
    place = tmp_path / "completions"
    assert call(["--install-completion", "--shell", "bash", "-o", str(place)]) == 0
    text = place.read_text()
    assert "--fail-under" in text and "--trust-offline" in text
    assert subprocess.run(["bash", "-n", str(place)], check=False).returncode == 0
    assert str(place) in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "quiet", "left"),
    [
        ("run a.jsonl -q", True, "run a.jsonl"), ("-q ask", True, "ask"),
        ("trec -q qrels run", False, "trec -q qrels run"),
        ("trec --quiet qrels", True, "trec qrels"), ("run -- -q", False, "run -- -q"),
    ],
)  # fmt: skip
def test_q_is_short_for_quiet_but_where_a_command_has_it(words: str, quiet, left: str) -> None:
    options, rest = read(words.split())
    assert (options.quiet, rest) == (quiet, left.split())


@pytest.mark.parametrize("name", sorted({*COMMANDS, *GROUPS}))
def test_each_help_ends_with_an_example_of_its_command(name: str, capsys) -> None:
    assert call([*name.split(), "--help"]) == 0
    after = capsys.readouterr().out.rpartition("traceback).")[2]
    assert f"ragassay {name}" in after
