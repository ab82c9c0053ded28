"""Files that were damaged or made to do harm are one sentence and exit code 2."""

import gzip
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from json_lines import jsonl
from llm_server import LLMServer
from ragassay.base import yaml_files
from ragassay.cli.command_line import call

SAMPLE = {
    "query": "How tall is the tower?", "answer": "It is 81 metres tall.",
    "references": ["81 metres"], "passages": [{"id": "p", "text": "The tower is 81 metres tall."}],
}  # fmt: skip


def write(folder: Path) -> Path:
    return jsonl(folder / "data.jsonl", *({"id": f"q{n}", **SAMPLE} for n in range(3)))


def run_of(factory: pytest.TempPathFactory, *words: str) -> Path:
    folder = factory.mktemp("finished")
    assert call(["run", str(write(folder)), *words, "-o", str(folder / "run")]) == 0
    return folder / "run"


@pytest.fixture
def complaint(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def said(*words: object) -> str:
        capsys.readouterr()
        assert call([str(word) for word in words]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "defect" not in error, error
        return error

    return said


@pytest.mark.parametrize(("changed", "in_stats"), [
    ("created = 1e300", True), ("facts = x'ff00'", False), ("facts = 'text'", False),
    ("facts = x'7b7d'", False),  # {}
    ("payload = substr(payload, 1, length(payload) - 9)", False),
    ("facts = CAST(replace(CAST(facts AS TEXT), '\"key\":', '\"Key\":') AS BLOB)", False),
])  # fmt: skip
def test_a_damaged_ledger_is_one_sentence_for_every_command(tmp_path, complaint, changed, in_stats):
    data, ledger = write(tmp_path), tmp_path / "ledger.sqlite"
    with LLMServer() as server:
        judged = ("-s", "trecrag", "--judge", f"{server.url}#m", "--ledger", ledger)
        assert call([str(word) for word in ("run", data, *judged)]) == 0
        with sqlite3.connect(ledger) as connection:
            connection.execute(f"UPDATE paid_answers SET {changed}")
        connection.close()
        assert "is damaged" in complaint("run", data, *judged)
        assert "is damaged" in complaint("run", data, *judged, "--dry-run")
    assert "is damaged" in complaint("ledger", "export", "--messages", "--ledger", ledger)
    if in_stats:
        assert "is damaged" in complaint("ledger", "stats", "--ledger", ledger)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(tmp_path_factory, "-s", "qa")


@pytest.mark.parametrize(("file", "change"), [
    ("scores.jsonl", lambda record: []),
    *(
        ("scores.jsonl", lambda record, other=other: {**record, **other}) for other in (
            {"sample": "q1"}, {"system": "x"}, {"repeat": 1}, {"metric": "f1"}, {"sample": None},
            {"value": None, "reason": "x"}, {"value": None}, {"value": ["x"]}, {"parts": 3},
            {"evidence": [1]},
        )
    ),
    ("summary.json", lambda body: {**body, "suite": {}}),
    ("summary.json", lambda body: {**body, "n_samples": "many"}),
    ("summary.json", lambda body: {**body, "metrics": {"f1": {"bounds": [0, 1]}}}),
    ("summary.json", lambda body: {**body, "judging": []}), ("summary.json", lambda body: []),
    *(
        ("run.yaml", lambda body, key=key, value=value: {**body, key: value})
        for key in ("suite", "metrics", "fail_under") for value in (7, [1], {"a": "b"})
    ),
])  # fmt: skip
def test_a_damaged_run_folder_is_one_sentence(finished, tmp_path, complaint, file, change) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    text = (folder / file).read_text()
    head, *rest = text.splitlines() if file.endswith(".jsonl") else [text]
    body = json.loads(head) if "json" in file else yaml_files.value_of(head, folder / file)
    (folder / file).write_text("\n".join([json.dumps(change(body)), *rest]))
    for words in (("report", folder), ("compare", folder, finished), ("explain", folder, "q1")):
        assert file in complaint(*words)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(tmp_path_factory, "-m", "umbrela")


def _first(change: Callable[[Any], Any]) -> Callable[[bytes], bytes]:
    def changed(body: bytes) -> bytes:
        head, rest = body.split(b"\n", 1)
        return json.dumps(change(json.loads(head))).encode() + b"\n" + rest

    return changed


@pytest.mark.parametrize("change", [
    *(None, lambda body: b"", lambda body: b"\x8f\x00\xff\n\x12" * 99, lambda body: body[:-9]),
    lambda body: body.split(b"\n", 1)[1],
    *(_first(lambda record: []), _first(lambda record: {**record, "id": ["x"]})),
    *(_first(lambda record: {**record, "judge": None}), _first(lambda record: {"id": "x"})),
    _first(lambda record: {**record, "messages": ["x"]}),
    _first(lambda record: {**record, "votes": [3]}),
])  # fmt: skip
def test_damaged_answers_are_one_sentence_for_every_command(judged, tmp_path, complaint, change):
    folder = tmp_path / "run"
    shutil.copytree(judged, folder)
    file = folder / "judge_answers.jsonl"
    file.unlink() if change is None else file.write_bytes(change(file.read_bytes()))
    words = (("report", folder), ("compare", folder, judged), ("explain", folder, "q1"))
    for given in (*words, ("rescore", folder)):
        said = complaint(*given)
        assert "judge_answers.jsonl" in said and "The folder is damaged" in said


def test_a_line_that_fills_the_memory_is_refused(tmp_path, complaint: Callable[..., str]) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    member = gzip.compress(b"a" * (1 << 25), 6)  # gzip files may be joined
    path.write_bytes(gzip.compress(b'{"id": "q", "answer": "') + member * 300)
    said = complaint("run", path, "-s", "qa")
    assert "unpacks to more than 100 times its size" in said
    assert said == complaint("validate", path)
    blank = tmp_path / "blank.jsonl.gz"
    blank.write_bytes(gzip.compress(b" " * (1 << 25), 6) * 300)
    assert "unpacks to more than 100 times" in complaint("validate", blank)
