"""Contexts that are one text: cut, told, or refused where chunks are counted (ML cube)."""

from __future__ import annotations

from pathlib import Path

import pytest

import ragassay
from ragassay.base.errors import InputError, UsageError
from ragassay.base.sample import Passage
from ragassay.cli.command_line import call
from ragassay.formats import Notes, from_records, load

HEAD = "id,time_id,input_1,retrieved_context_1,bot@1.0\n"
MARKS = (
    "<<sep>>",
    "|||",
    r"\n\n",
    "<SEP>",
    "[SEP]",
    "<|endofchunk|>".replace("endof", ""),
    " ### ",
    " || ",
    " >> ",
    " ---- ",
    " **** ",
)


def rows(folder: Path, *contexts: str) -> Path:
    path = folder / "rows.csv"
    lines = [
        f'{at},{1700000000 + at},Who wrote Emma?,"{context}",Jane Austen.\n'
        for at, context in enumerate(contexts)
    ]
    path.write_text(HEAD + "".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("mark", MARKS)
def test_a_separator_nobody_gave_is_refused_where_chunks_are_counted(
    mark: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = rows(tmp_path, "One.", f"Emma is by Austen.{mark}It appeared in 1815.")
    assert call(["run", str(path)]) == 2
    said = capsys.readouterr().err
    assert "line 3" in said and "'retrieved_context_1'" in said and "several chunks" in said
    assert f"--separator '{mark.strip()}'" in said and "--single-chunk" in said
    for suite in ("ragreport", "umbrela,ragreport_attribution"):
        with pytest.raises(InputError, match="several chunks"):
            ragassay.evaluate(path, suite.split(","))


@pytest.mark.parametrize("mark", [*MARKS, "\n\n", "\n---\n"])
def test_with_a_separator_or_for_single_chunks_it_is_counted_as_said(
    mark: str, tmp_path: Path
) -> None:
    path = rows(tmp_path, "Nothing.", f"Emma is long.{mark}Emma is by Jane Austen.")
    with pytest.raises(InputError, match="several chunks"):
        ragassay.evaluate(path)
    cut = ragassay.evaluate(path, separator=mark)
    assert [len(sample.passages or ()) for sample in cut.samples] == [1, 2]
    whole = ragassay.evaluate(path, single_chunk=True)
    assert [len(sample.passages or ()) for sample in whole.samples] == [1, 1]


def test_another_separator_than_the_one_given_is_refused(tmp_path: Path) -> None:
    path = rows(tmp_path, "a<<sep>>b", "a|||b")
    with pytest.raises(InputError, match=r"joined by '\|\|\|', not by the separator '<<sep>>'"):
        ragassay.evaluate(path, separator="<<sep>>")


def test_a_file_that_mixes_separators_is_told_to_give_lists(tmp_path: Path) -> None:
    path = rows(tmp_path, "a<<sep>>b", "a|||b")
    with pytest.raises(InputError, match="several separators, also '<<sep>>': give each as a list"):
        ragassay.evaluate(path, separator="<<sep>>")
    with pytest.raises(InputError, match="where contexts have different separators, give each as"):
        ragassay.evaluate(path, separator="|||")
    lists = rows(tmp_path, '[""a"", ""b""]', '[""a|b"", ""c""]')
    result = ragassay.evaluate(lists)
    assert [len(sample.passages or ()) for sample in result.samples] == [2, 2]


def test_one_chunk_with_paragraphs_is_one_where_the_separator_is_known(tmp_path: Path) -> None:
    path = rows(tmp_path, "One\n\nchunk.", "a<<sep>>b")
    result = ragassay.evaluate(path, separator="<<sep>>")
    assert [len(sample.passages or ()) for sample in result.samples] == [1, 2]
    assert not any("separator" in warning for warning in result.summary.warnings)


def test_other_suites_are_told(tmp_path: Path) -> None:
    path = rows(tmp_path, "a|||b", "plain text", "c|||d")
    (told,) = [
        warning
        for warning in ragassay.evaluate(path, "umbrela").summary.warnings
        if "several chunks" in warning
    ]
    assert "joined by '|||': 2 (first: line 2)" in told


def test_a_separator_that_no_context_has_is_told(tmp_path: Path) -> None:
    notes = Notes()
    load(rows(tmp_path, "a b", "c d"), separator="%%", notes=notes)
    assert any("contexts without the separator '%%': 2." in note for note in notes)


@pytest.mark.parametrize("written", [r"\n\n", "\n\n"])
def test_line_ends_may_be_written_as_a_shell_hands_them_on(written: str, tmp_path: Path) -> None:
    samples = load(rows(tmp_path, "a\n\nb"), separator=written)
    assert samples[0].passages == (Passage("a"), Passage("b"))
    if written != "\n\n":
        assert load(rows(tmp_path, r"a\n\nb"), separator=written)[0].passages == (
            Passage("a"),
            Passage("b"),
        )


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n### Part\nText.",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "if a === b || c { x << 2 }",
        "# Title ### Part of it",
        "Text.\n## Title ### Part ###",
        "| a | b | |----|----| | 1 | 2 | | ---- | ---- |",
        "It fell. -- The Times. ** Note ** it rose. -- Ed.",
        "Who said ____ in 1815?",
        "<<sep>> at the start only",
        "A [doc] of <end",
        "```\ncode\n```",
    ],
)
def test_what_hardly_joins_chunks_is_left_alone(text: str) -> None:
    record = {"query": "q", "context": text, "response": "r"}
    (sample,) = from_records([record], refuse_joined=True, notes=Notes())
    assert sample.passages == (Passage(text),)


def test_empty_chunks_keep_their_numbers(tmp_path: Path) -> None:
    (sample,) = load(rows(tmp_path, "<<sep>>b<<sep>>"), separator="<<sep>>")
    assert [passage.text for passage in sample.passages or ()] == ["", "b", ""]


def test_a_separator_and_single_chunks_contradict_each_other(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Leave one of them out"):
        ragassay.evaluate(rows(tmp_path, "a"), separator="|", single_chunk=True)
