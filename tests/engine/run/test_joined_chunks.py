"""Contexts that are one text: cut, told, or refused where chunks are counted (ML cube)."""

from pathlib import Path

import pytest

import ragassay
from ragassay.base.errors import InputError
from ragassay.base.sample import Passage
from ragassay.cli.command_line import call
from ragassay.formats import Notes, from_records

HEAD = "id,time_id,input_1,retrieved_context_1,bot@1.0\n"
MARKS = ("<<sep>>", r"\n\n", "<|endofchunk|>".replace("endof", ""), " >> ")


def rows(folder: Path, *contexts: str) -> Path:
    path = folder / "rows.csv"
    lines = [
        f'{at},{1700000000 + at},Who wrote Emma?,"{context}",Jane Austen.\n'
        for at, context in enumerate(contexts)
    ]
    path.write_text(HEAD + "".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("mark", MARKS)
def test_a_separator_nobody_gave_is_refused_where_chunks_are_counted(mark, tmp_path, capsys):
    path = rows(tmp_path, "One.", f"Emma is by Austen.{mark}It appeared in 1815.")
    assert call(["run", str(path)]) == 2
    said = capsys.readouterr().err
    assert "line 3" in said and "'retrieved_context_1'" in said and "several chunks" in said
    assert f"--separator '{mark.strip()}'" in said and "--single-chunk" in said
    with pytest.raises(InputError, match="several chunks"):
        ragassay.evaluate(path, ["umbrela", "ragreport_attribution"])
    cut = ragassay.evaluate(path, separator=mark)
    assert [len(sample.passages or ()) for sample in cut.samples] == [1, 2]
    whole = ragassay.evaluate(path, single_chunk=True)
    assert [len(sample.passages or ()) for sample in whole.samples] == [1, 1]


@pytest.mark.parametrize("text", [
    "# Title\n### Part\nText.", "| a | b |\n|---|---|\n| 1 | 2 |", "if a === b || c { x << 2 }",
    "| a | b | |----|----| | 1 | 2 | | ---- | ---- |",
    "It fell. -- The Times. ** Note ** it rose. -- Ed.", "<<sep>> at the start only",
    "A [doc] of <end",
])  # fmt: skip
def test_what_hardly_joins_chunks_is_left_alone(text: str) -> None:
    record = {"query": "q", "context": text, "response": "r"}
    (sample,) = from_records([record], refuse_joined=True, notes=Notes())
    assert sample.passages == (Passage(text),)
