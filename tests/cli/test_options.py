"""Flags, keys of a file and documentation come from one schema; help fits a page."""

import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from option_tables import json_schema, option_table
from ragassay.cli import command_line
from ragassay.cli.command import COMMANDS, COMMON, pairs
from ragassay.cli.command_line import call, read
from ragassay.cli.runs.run import run
from ragassay.cli.show import GlobalOptions
from ragassay.engine.config.run_config import GROUPS, RunConfig

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, SCHEMA = DOCS / "configuration.md", DOCS / "configuration.schema.json"


def with_tables(text: str) -> str:
    for group in GROUPS:
        before, rest = text.split(f"<!-- options: {group} -->\n")
        _, after = rest.split("<!-- end -->", 1)
        text = f"{before}<!-- options: {group} -->\n{option_table(group)}\n<!-- end -->{after}"
    return text


def test_the_documentation_holds_the_options_as_they_are(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text(encoding="utf-8")
    schema = json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
    if request.config.getoption("--approve"):
        PAGE.write_text(with_tables(page), encoding="utf-8")
        SCHEMA.write_text(schema, encoding="utf-8")
        return
    again = "run pytest tests/cli/test_options.py --approve"
    assert with_tables(page) == page, again
    assert SCHEMA.read_text(encoding="utf-8") == schema, again
    assert set(re.findall(r"^- `(\w+)`", page, re.M)) == set(RunConfig.model_fields)
    blocks = re.findall(r"^```yaml[^\n]*\n(.*?)^```", page, re.M | re.S)
    assert blocks, "the schema takes the examples of its page"
    for text in blocks:
        jsonschema.validate(yaml.safe_load(text), json_schema())


def test_each_option_is_a_flag_of_run() -> None:
    assert pairs("--columns", ["p=a", "p=b", "p=c"], several=True) == {"p": ["a", "b", "c"]}
    assert pairs("--option", ["a=", "b=2"], scalars=True) == {"a": None, "b": 2}
    run.declare()
    assert RunConfig.model_fields.keys() - {"data"} <= run.__signature__.parameters.keys()


@pytest.mark.parametrize(("text", "good"), [
    ("data: a.jsonl\nsuite: qa\nfail_under: f1>=0.5\nbudget: 5.0", True),
    ("from_timestamp: '2026-01-02'\nks: [1, 5]\nmodel_kwargs: {top_p: 0.9}", True),
    ("key_map: {answer: pred}\noptions: {min_grade: 2}", True),
    ("slice_by: turn\ncolumns:\noptions:\nseed: '100'\nlevel: ${LEVEL}", True),
    ("sute: qa", False), ("level: 2", False), ("ks: [[1]]", False), ("interval: exact", False),
    ("model_kwargs: {heat: 1}", False),
])  # fmt: skip
def test_the_schema_takes_what_a_file_may_say(text: str, good: bool) -> None:
    checker = jsonschema.Draft202012Validator(json_schema())
    assert checker.is_valid(yaml.safe_load(text)) == good


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_reads_options_that_the_table_gives_it(name: str) -> None:
    COMMANDS[name].declare()
    declared = {*COMMANDS[name].__signature__.parameters, "run_options", "of"}
    source = inspect.getsource(inspect.unwrap(COMMANDS[name]))
    assert set(re.findall(r"\bgiven\.(\w+)", source)) <= declared


@pytest.fixture
def data(here: Path) -> str:
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
    Path("bare.jsonl").write_text('{"id": "a", "query": "Q?", "answer": "A."}\n')
    assert call(["run", "bare.jsonl", "-m", "f1", "--quiet"]) == 3
    found = capsys.readouterr()
    assert found.out == "" and found.err.startswith("ragassay: Nothing was scored: the sample h")
    assert call(["run", "bare.jsonl", "-m", "f1", "--json"]) == 3
    assert "note: Nothing was scored" in capsys.readouterr().err


BAD_FILES = {
    "empty": b"", "garbage": b'{"answer": "x"}\n{"answer": \n', "latin1": b'{"answer": "\xe9"}\n',
    "twice": b'{"id": "a", "answer": "x"}\n{"id": "a", "answer": "y"}\n',
    "nan": b'{"id": "a", "passages": [{"text": "t", "score": NaN}]}\n',
}  # fmt: skip


@pytest.mark.parametrize(("words", "said"), [
    ("frobnicate", "Unknown command"), ("compare", "Command"), ("run x --frob", "Unknown option"),
    ("run data.jsonl --limit two", "Invalid value"),
    ("compare x --slice-by=a", "Unknown option: --slice-by. Compare the"),
    ("run data.jsonl --suite qaa", "Did you mean 'qa'"),
    ("run data.jsonl --budget abc", "--budget: 'abc' is not a budget"),
    ("run data.jsonl --budget=-5", "--budget: '-5' is not a budget"),
    ("run data.jsonl --budget '5 apples'", "--budget: '5 apples' is not a budget"),
    ("run data.jsonl --price cheap", "--price: a price is two numbers"),
    ("run data.jsonl -j 0", "--concurrency (-j): "), ("run data.jsonl --limit 0", "--limit (-n): "),
    ("run data.jsonl --columns answer", "--columns 'answer': write FIELD=COLUMN"),
    ("run data.jsonl --option a=1 --option a=2", "--option: two values are named for a"),
    ("run data.jsonl --option a", "--option 'a': write NAME=VALUE, as in min_grade=2"),
    ("run data.jsonl --ks 1,x", "--ks '1,x': write whole numbers"),
    ("run data.jsonl --level 2", "--level: must be less than 1"),
    ("run data.jsonl --from yesterday", "--from: 'yesterday' is not a time"),
    ("run data.jsonl --temperature -1", "--temperature: "), ("token create x --days 0", "> 0"),
    ("run data.jsonl --separator -", "requires an argument"),
    *((f"run data.jsonl {flag} '{name}'", "a name is empty (an unset variable?)")
      for flag in ("--suite", "--judge")
      for name in ("", " ", "openai:gpt-4o,", "replay:a.jsonl,,offline")),
    ("run absent -s qa -o out", "absent"),
    *((f"run {name}.jsonl -s qa -o out", f"{name}.jsonl") for name in BAD_FILES),
    *((f"run {name}.jsonl -s qa", "line 2") for name in ("garbage", "twice")),
    ("run data.jsonl -m em -o nan.jsonl", "is a file, not a folder"),
    ("run data.jsonl -m em -o nan.jsonl/below", "cannot be written"),
])  # fmt: skip
@pytest.mark.usefixtures("data")
def test_every_error_is_one_sentence_of_one_style_whoever_judges(words, said: str, capsys) -> None:
    for name, content in BAD_FILES.items():
        Path(f"{name}.jsonl").write_bytes(content)
    for judge in ([], ["--judge", "offline"]) if "--judge" not in words else ([],):
        assert call([*shlex.split(words), *judge * words.startswith("run")]) == 2
        err = capsys.readouterr().err
        assert err.startswith("ragassay: ") and err.count("\n") == 1 and said in err
        assert "Traceback" not in err and "defect" not in err
    assert not Path("out").exists() or not list(Path("out").iterdir())


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


def test_the_completions_of_the_shell_know_every_option(tmp_path, monkeypatch, capsys) -> None:
    place = tmp_path / "completions"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/zsh")
    assert call(["--install-completion", "--shell", "bash", "-o", str(place)]) == 0
    text = place.read_text()
    assert "--fail-under" in text and "--trust-offline" in text
    assert subprocess.run(["bash", "-n", str(place)], check=False).returncode == 0
    assert str(place) in capsys.readouterr().out and [*tmp_path.iterdir()] == [place]
    assert call(["--install-completion", "--shell", "fish", "-o", str(place)]) == 0
    assert "complete -c ragassay" in place.read_text()


@pytest.mark.parametrize(("words", "options", "left"), [
    ("run a.jsonl -q", {"quiet": True}, "run a.jsonl"), ("-q ask", {"quiet": True}, "ask"),
    ("trec -q qrels run", {}, "trec -q qrels run"), ("run -- -q", {}, "run -- -q"),
    ("trec --quiet qrels", {"quiet": True}, "trec qrels"),
    ("--debug run --no-progress a", {"progress": False, "debug": True}, "run a"),
])  # fmt: skip
def test_q_is_short_for_quiet_but_where_a_command_has_it(words: str, options, left: str) -> None:
    assert read(words.split()) == (GlobalOptions(**options), left.split())


@pytest.mark.parametrize("name", sorted({*COMMANDS, *command_line.GROUPS}))
def test_each_help_ends_with_an_example_of_its_command(name: str, capsys) -> None:
    assert call([*name.split(), "--help"]) == 0
    after = capsys.readouterr().out.rpartition("traceback).")[2]
    assert f"ragassay {name}" in after
