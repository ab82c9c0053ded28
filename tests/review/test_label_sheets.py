"""Questions about answers in sheets: written, filled in, read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import filled_sheets
from filled_sheets import KINDS
from labelled_answers import answered, disagreeing, labelled
from ragassay.base.errors import InputError, UsageError
from ragassay.cli.command_line import call
from ragassay.review.answer_labels import AnswerLabels
from ragassay.review.review_sheets import LabelSheet


def read(path: Path) -> list[dict[str, str]]:
    head, *rows = filled_sheets.read(path)
    return [dict(zip(head, row, strict=True)) for row in rows]


def write(path: Path, rows: list[dict[str, str]]) -> None:
    filled_sheets.write(path, [list(rows[0]), *(list(one.values()) for one in rows)])


def said(labels: AnswerLabels, who: str) -> list[Any]:
    given = labels.current().of.values()
    return [said[who].record.get("answer") for said in given if who in said]


@pytest.mark.parametrize("kind", KINDS)
def test_questions_are_written_filled_in_and_taken_once(tmp_path: Path, kind: str) -> None:
    labels, path = labelled(tmp_path, metrics=("umbrela", "answer_match")), tmp_path / f"s{kind}"
    assert LabelSheet(labels).write(path) == 6
    rows = read(path)
    assert rows[0]["question"] == "How relevant is the passage to the query?"
    assert "3: is about the query and holds the exact answer" in rows[0]["values"]
    assert rows[0]["texts"] == "Query: When does it open? 0"
    assert rows[0]["beside"] == "Passage: The library opens at nine."
    answers = ["3", 0 if kind == ".xlsx" else "0", "yes", "Cannot tell", "", "no"]
    for row, answer in zip(rows, answers, strict=True):
        row["answer"] = answer  # type: ignore[assignment]
    rows[2]["why"] = "It says nine."
    write(path, rows)
    with pytest.raises(UsageError, match="is there"):
        LabelSheet(labels).write(path)
    assert LabelSheet(labels).read(path, "ann") == (5, [])
    assert said(labels, "ann") == [
        {"grade": 3},
        {"grade": 0},
        {"is_matching": True, "reasoning": "It says nine."},
        None,
        {"is_matching": False},
    ]
    assert LabelSheet(labels).read(path, "ann") == (0, [])
    assert labels.progress("ann")["seconds"] is None, "nobody measured how long it took"
    assert LabelSheet(labels).write(path, overwrite=True) == 1


def test_wrong_rows_are_named_and_the_others_taken(tmp_path: Path, capsys: Any) -> None:
    labels, path = labelled(tmp_path), tmp_path / "s.csv"
    words = ["golden", "review", str(labels.folder), "--answers", str(answered(tmp_path))]
    words += ["-m", "umbrela"]
    assert call([*words, "--csv", str(path)]) == 0
    assert "s.csv: 4 questions to answer" in capsys.readouterr().out
    rows = read(path)
    rows[0]["answer"], rows[1]["answer"], rows[2]["why"], rows[3]["answer"] = "7", "2", "so", "1"
    rows[3]["key"] = "gone"
    write(path, rows)
    assert call([*words, "--read", str(path), "--reviewer", "ann"]) == 3
    told = capsys.readouterr().out.splitlines()
    assert told[0].endswith("s.csv: 1 label taken, 3 not")
    assert told[1] == "row 2, column answer: '7' is no answer. Write one of: 0, 1, 2, 3."
    assert told[2] == "row 4, column answer: the row says why, and has no answer."
    assert told[3].startswith("row 5: This question is no longer asked")
    assert said(labels, "ann") == [{"grade": 2}]
    (tmp_path / "a.csv").write_text("id,answer\n1,x\n")
    with pytest.raises(InputError, match="has no column key"):
        LabelSheet(labels).read(tmp_path / "a.csv", "ann")


def test_a_row_that_shows_what_others_said_settles_its_question(tmp_path: Path) -> None:
    labels, key = disagreeing(tmp_path)
    path = tmp_path / "s.csv"
    assert LabelSheet(labels).write(path, "eve") == 1
    (row,) = read(path)
    assert (row["key"], row["labels"]) == (key, "ann: 3\nbob: 1")
    write(path, [{**row, "answer": "3"}])
    assert LabelSheet(labels).read(path, "eve") == (1, [])
    assert labels.current().settled(key).who == "eve"  # type: ignore[union-attr]
    assert LabelSheet(labels).read(path, "eve") == (0, [])


def test_a_sheet_of_one_person_holds_what_waits_for_that_person(tmp_path: Path) -> None:
    labels, path = labelled(tmp_path), tmp_path / "s.csv"
    labels.change_settings(overlap=1.0)
    key = labels.entries("ann")[0]["key"]
    labels.label(key, "ann", 3)
    assert LabelSheet(labels).write(path, "ann") == 3
    assert LabelSheet(labels).write(path, "bob", overwrite=True) == 4
    assert read(path)[0]["labels"] == "", "bob does not see what ann said"
