"""Files that were damaged or made to do harm are one sentence and exit code 2."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_server import LLMServer
from ragassay import formats
from ragassay.base import yaml_files
from ragassay.cli.command_line import call
from ragassay.formats.sources import opening

SAMPLE = {
    "query": "How tall is the tower?",
    "answer": "It is 81 metres tall.",
    "references": ["81 metres"],
    "passages": [{"id": "p", "text": "The tower is 81 metres tall."}],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(json.dumps({"id": f"q{n}", **SAMPLE}) for n in range(3)))
    return path


@pytest.fixture
def complaint(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def said(*words: object) -> str:
        capsys.readouterr()
        assert call([str(word) for word in words]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "defect" not in error, error
        return error

    return said


@pytest.mark.parametrize(
    ("changed", "in_stats"),
    [
        ("created = 1e300", True),
        ("facts = x'ff00'", False),
        ("facts = 'text'", False),
        ("facts = x'7b7d'", False),  # {}
        ("payload = substr(payload, 1, length(payload) - 9)", False),
        ("facts = CAST(replace(CAST(facts AS TEXT), '\"key\":', '\"Key\":') AS BLOB)", False),
    ],
)
def test_a_damaged_ledger_is_one_sentence_for_every_command(
    data: Path, tmp_path: Path, complaint: Callable[..., str], changed: str, in_stats: bool
) -> None:
    ledger = tmp_path / "ledger.sqlite"
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


def test_a_ledger_is_its_owners_alone(tmp_path: Path) -> None:
    from ragassay.judges.ledger.ledger_store import Ledger

    path = tmp_path / "new" / "ledger.sqlite"
    with Ledger(path) as ledger:
        assert ledger.select("SELECT 1") == [(1,)]
        modes = {file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert modes == {0o600}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    path = folder / "data.jsonl"
    path.write_text("\n".join(json.dumps({"id": f"q{n}", **SAMPLE}) for n in range(3)))
    assert call(["run", str(path), "-s", "qa", "-o", str(folder / "run")]) == 0
    return folder / "run"


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("scores.jsonl", lambda record: []),
        ("scores.jsonl", lambda record: {**record, "value": ["x"]}),
        ("scores.jsonl", lambda record: {**record, "sample": None}),
        ("scores.jsonl", lambda record: {**record, "evidence": [1]}),
        ("scores.jsonl", lambda record: {**record, "parts": 3}),
        ("summary.json", lambda body: {**body, "suite": {}}),
        ("summary.json", lambda body: {**body, "n_samples": "many"}),
        ("summary.json", lambda body: {**body, "metrics": {"f1": {"bounds": [0, 1]}}}),
        ("summary.json", lambda body: {**body, "judging": []}),
        ("summary.json", lambda body: []),
    ],
)
def test_a_damaged_run_folder_is_one_sentence_for_every_command(
    finished: Path,
    tmp_path: Path,
    complaint: Callable[..., str],
    file: str,
    change: Callable[[Any], Any],
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    head, *rest = (
        [(folder / file).read_text()]
        if file.endswith(".json")
        else (folder / file).read_text().splitlines()
    )
    (folder / file).write_text("\n".join([json.dumps(change(json.loads(head))), *rest]))
    for words in (("report", folder), ("compare", folder, finished), ("explain", folder, "q1")):
        assert file in complaint(*words)


@pytest.mark.parametrize("key", ["suite", "metrics", "fail_under"])
@pytest.mark.parametrize("value", [7, [1], {"a": "b"}])
def test_a_run_yaml_changed_by_hand_is_one_sentence(
    finished: Path, tmp_path: Path, complaint: Callable[..., str], key: str, value: Any
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    path = folder / "run.yaml"
    body = yaml_files.value_of(path.read_text(), path)
    path.write_text(json.dumps({**body, key: value}))
    for words in (("report", folder), ("compare", folder, finished), ("explain", folder, "q1")):
        assert "run.yaml: is not a configuration" in (said := complaint(*words)) and key in said


@pytest.mark.parametrize("kept", [0, 1])
def test_the_line_at_which_a_score_is_missing_is_named(
    finished: Path, tmp_path: Path, complaint: Callable[..., str], kept: int
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    lines = (folder / "scores.jsonl").read_text().splitlines(keepends=True)
    (folder / "scores.jsonl").write_text("".join(lines[:kept]))
    error = complaint("report", folder)
    assert f"scores.jsonl, line {kept + 1}: " in error and "should stand here" in error


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judged")
    path = folder / "data.jsonl"
    path.write_text("\n".join(json.dumps({"id": f"q{n}", **SAMPLE}) for n in range(3)))
    assert call(["run", str(path), "-m", "umbrela", "-o", str(folder / "run")]) == 0
    return folder / "run"


def _first(change: Callable[[Any], Any]) -> Callable[[bytes], bytes]:
    def changed(body: bytes) -> bytes:
        head, rest = body.split(b"\n", 1)
        return json.dumps(change(json.loads(head))).encode() + b"\n" + rest

    return changed


@pytest.mark.parametrize(
    "change",
    [
        *(None, lambda body: b"", lambda body: b"\x8f\x00\xff\n\x12" * 99, lambda body: body[:-9]),
        lambda body: body.split(b"\n", 1)[1],
        *(_first(lambda record: []), _first(lambda record: {**record, "id": ["x"]})),
        *(_first(lambda record: {**record, "judge": None}), _first(lambda record: {"id": "x"})),
        _first(lambda record: {**record, "messages": ["x"]}),
        _first(lambda record: {**record, "votes": [3]}),
    ],
)
def test_damaged_verdicts_are_one_sentence_for_every_command(
    judged: Path,
    tmp_path: Path,
    complaint: Callable[..., str],
    change: Callable[[bytes], bytes] | None,
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(judged, folder)
    file = folder / "verdicts.jsonl"
    file.unlink() if change is None else file.write_bytes(change(file.read_bytes()))
    words = (("report", folder), ("compare", folder, judged), ("explain", folder, "q1"))
    for given in (*words, ("rescore", folder)):
        said = complaint(*given)
        assert "verdicts.jsonl" in said and "The folder is damaged" in said


def test_a_panic_of_the_parquet_reader_is_one_sentence(
    data: Path, tmp_path: Path, complaint: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import polars as pl

    path = tmp_path / "data.parquet"
    pl.DataFrame({"query": ["q"], "answer": ["a"]}).write_parquet(path)
    assert not issubclass(pl.exceptions.PanicException, Exception)

    def panics(*_: Any, **__: Any) -> None:
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr(pl.LazyFrame, "collect", panics)
    assert "no readable Parquet file (index out of bounds)" in complaint("validate", path)


def test_a_line_that_fills_the_memory_is_refused(
    tmp_path: Path, complaint: Callable[..., str]
) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    member = gzip.compress(b"a" * (1 << 25), 6)  # gzip files may be joined
    path.write_bytes(gzip.compress(b'{"id": "q", "answer": "') + member * 300)
    said = complaint("run", path, "-s", "qa")
    assert "unpacks to more than 100 times its size" in said
    assert said == complaint("validate", path)
    blank = tmp_path / "blank.jsonl.gz"
    blank.write_bytes(gzip.compress(b" " * (1 << 25), 6) * 300)
    assert "unpacks to more than 100 times" in complaint("validate", blank)


def test_a_line_that_fills_the_memory_is_refused_as_qrels_before_it_is_unpacked(
    data: Path, tmp_path: Path, complaint: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    unpacked = 0
    readline = gzip.GzipFile.readline

    def counted(self: gzip.GzipFile, size: int | None = -1) -> bytes:
        nonlocal unpacked
        line = readline(self, size)
        unpacked += len(line)
        return line

    monkeypatch.setattr(gzip.GzipFile, "readline", counted)
    monkeypatch.setattr(gzip.GzipFile, "__next__", lambda self: counted(self))
    path = tmp_path / "qrels.gz"
    path.write_bytes(gzip.compress(b"a" * (1 << 25), 6) * 20)
    for words in (("run", data, "-s", "retrieval", "--qrels", path), ("trec", path, path)):
        assert "unpacks to more than 100 times its size" in complaint(*words)
    assert unpacked < 10 << 25


def test_a_long_line_and_a_file_that_packs_well_are_read(tmp_path: Path) -> None:
    words = " ".join(str(n * 7919 % 99_991) for n in range(6_000_000))
    assert len(words) > 1 << 25
    (tmp_path / "long.jsonl").write_text(json.dumps({**SAMPLE, "answer": words}))
    (sample,) = formats.read(tmp_path / "long.jsonl")
    assert sample.answer is not None and sample.answer.text == words
    line = json.dumps({"id": "q", **SAMPLE, "answer": "a " * 500}).encode() + b"\n"
    (tmp_path / "alike.jsonl.gz").write_bytes(gzip.compress(line * 40_000))
    assert sum(1 for _ in opening.lines(tmp_path / "alike.jsonl.gz")) == 40_000


LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"suite: qa\n{LAUGHS}metrics: *a29\n", "anchors stand for more than 100,000 values"),
        ("suite: qa\ncolumns: &a {id: *a}\n", "an anchor holds itself"),
    ],
)
def test_a_chain_of_anchors_is_refused(
    data: Path, tmp_path: Path, complaint: Callable[..., str], text: str, said: str
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    assert said in complaint("run", data, "--config", path)
    rubric = tmp_path / "rubric.yaml"
    rubric.write_text(text)
    assert said in complaint("run", data, "--rubric", rubric)


def test_metadata_that_is_too_deep_is_refused_with_its_line(
    tmp_path: Path, complaint: Callable[..., str]
) -> None:
    def nested(levels: int) -> Any:
        found: Any = 1
        for at in range(levels):
            found = [found] if at % 2 else {"a": found}
        return found

    path = tmp_path / "deep.jsonl"
    fine = {"id": "q1", **SAMPLE, "metadata": {"x": nested(90)}}
    path.write_text(json.dumps(fine))
    assert call(["run", str(path), "-s", "qa", "-o", str(tmp_path / "run")]) == 0
    path.write_text("\n".join(json.dumps(one) for one in (fine, {**fine, "metadata": nested(900)})))
    for words in (("run", path, "-s", "qa"), ("validate", path)):
        said = complaint(*words)
        assert "line 2, field 'metadata': the metadata is nested more than 100 levels deep" in said


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://[-1]/x", "field 'url': is not a URL"),
        ("http://127.0.0.1:9/\\ud800", "field 'url': holds half a character"),
    ],
)
def test_a_mapping_file_with_an_impossible_url_is_one_sentence(
    data: Path, tmp_path: Path, complaint: Callable[..., str], url: str, told: str
) -> None:
    mapping = tmp_path / "mine.yaml"
    mapping.write_text(f'body: {{q: "{{{{query}}}}"}}\nurl: "{url}"\nanswer: text\n')
    said = complaint("ask", data, "-t", mapping, "-o", tmp_path / "answers.jsonl")
    assert f"line 2, {told}" in said


def test_both_halves_of_a_character_in_yaml_are_the_character(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text('face: "\\ud83d\\ude00"\n')
    assert yaml_files.value_of(yaml_files.text_of(path), path) == {"face": "\U0001f600"}


def test_a_loop_of_links_is_one_sentence_wherever_it_is_named(
    data: Path, tmp_path: Path, complaint: Callable[..., str]
) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for place in (loop, loop / "below"):
        assert "cannot be written" in complaint("run", data, "-m", "em", "-o", place)
    assert "cannot be opened" in complaint("run", loop, "-m", "em")


def test_closed_standard_input_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, complaint: Callable[..., str]
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert "standard input: is closed" in complaint("run", "-", "-m", "em")
