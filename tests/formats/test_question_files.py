"""Files of questions with what is expected, beside what systems gave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay import InputError, Sample
from ragassay.cli.command_line import call
from ragassay.formats import Notes, load

EMMA, PERSUASION = "Who wrote Emma?", "When did Persuasion appear?"


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def run(name: str, question: str, **more: Any) -> dict[str, Any]:
    given = {"inputs": {"input": question}, "outputs": {"output": "Somebody."}}
    return {"id": name, "trace_id": name, "run_type": "chain", **given, **more}


def example(name: str, question: str, expected: str) -> dict[str, Any]:
    given = {"inputs": {"input": question}, "outputs": {"answer": expected}}
    return {"id": name, "dataset_id": "d", **given}


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    return write(
        tmp_path / "examples.jsonl",
        example("e1", EMMA, "Jane Austen"),
        example("e2", PERSUASION, "1817"),
    )


def expected(samples: list[Sample]) -> dict[str, tuple[str, ...]]:
    return {one.id: one.references for one in samples}


@pytest.mark.parametrize("first", [True, False])
def test_examples_of_langsmith_are_joined_to_its_runs(
    examples: Path, tmp_path: Path, first: bool
) -> None:
    """By the id of the example, else by the question."""
    runs = write(
        tmp_path / "runs.jsonl",
        run("r1", "rewritten", reference_example_id="e1"),
        run("r2", f" {PERSUASION.upper()}"),
        run("r3", "Who was that?"),
    )
    notes = Notes()
    found = load([examples, runs] if first else [runs, examples], notes=notes)
    assert expected(found) == {"e1": ("Jane Austen",), "r2": ("1817",), "r3": ()}
    assert next(iter(found)).query == "rewritten"
    told = " ".join(notes)
    assert f"joined by id with their questions in {examples}: 1" in told
    assert f"joined by query with their questions in {examples}: 1" in told
    assert f"samples without a question in {examples}: 1" in told


def test_the_joining_is_told_where_a_limit_ends_the_reading(examples: Path, tmp_path: Path) -> None:
    runs = write(tmp_path / "runs.jsonl", run("r1", EMMA), run("r2", PERSUASION))
    notes = Notes()
    (found,) = load([runs, examples], limit=1, notes=notes)
    assert found.references == ("Jane Austen",) and any("joined by query" in one for one in notes)


def test_a_question_that_stands_twice_is_joined_by_id_only(tmp_path: Path) -> None:
    questions = [{"id": f"q{n}", "query": EMMA, "references": [str(n)]} for n in (1, 2)]
    answers = [{"id": name, "query": EMMA, "answer": "A."} for name in ("q2", "other")]
    files = [write(tmp_path / "q.jsonl", *questions), write(tmp_path / "a.jsonl", *answers)]
    notes = Notes()
    assert expected(load(files, notes=notes)) == {"q2": ("2",), "other": ()}
    assert any("without a sample: 1. They are left out" in one for one in notes)


def test_gold_and_labels_are_joined_and_every_system_has_them(tmp_path: Path) -> None:
    question = {"id": "q", "query": EMMA, "gold": ["g"], "answerability": "answerable"}
    answers = [{"id": "q", "system": name, "query": EMMA, "answer": "A."} for name in "ab"]
    files = [write(tmp_path / "a.jsonl", *answers), write(tmp_path / "q.jsonl", question)]
    found = load(files, notes=Notes())
    assert [one.system for one in found] == ["a", "b"]
    assert all(one.gold and one.answerability is not None for one in found)


@pytest.mark.parametrize("first", [True, False])
def test_questions_are_joined_where_qrels_are_given_too(
    examples: Path, tmp_path: Path, first: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """The references come from the questions and the gold from the qrels, as with --references."""
    (tmp_path / "qrels").write_text("e1 0 d1 1\ne2 0 d2 1\n")
    runs = write(
        tmp_path / "runs.jsonl",
        run("r1", EMMA, reference_example_id="e1"),
        run("r2", PERSUASION, reference_example_id="e2"),
    )
    files = [examples, runs] if first else [runs, examples]
    notes = Notes()
    found = load(files, gold=tmp_path / "qrels", notes=notes)
    assert expected(found) == {"e1": ("Jane Austen",), "e2": ("1817",)}
    assert [[one.id for one in sample.gold or ()] for sample in found] == [["d1"], ["d2"]]
    (joined,) = notes
    assert f"joined by id with their questions in {examples}: 2" in joined
    summary = ragassay.evaluate(files, "token_f1.r", qrels=str(tmp_path / "qrels")).summary
    assert any("joined by id with their questions" in one for one in summary.warnings)
    assert (summary.n_samples, summary.metrics["token_f1.r"].n_scored) == (2, 2)
    words = [*map(str, files), "--qrels", str(tmp_path / "qrels"), "-m", "token_f1.r"]
    for command in (["run", "-o", str(tmp_path / "out")], ["validate"]):
        assert call([command[0], *words, *command[1:]]) == 0
        shown = capsys.readouterr()
        assert "joined by id with their questions" in " ".join((shown.out + shown.err).split())


def test_chosen_columns_of_the_runs_do_not_reach_into_the_questions(
    examples: Path, tmp_path: Path
) -> None:
    step = {**run("r1", EMMA), "outputs": {"final": {"txt": "Jane."}, "n": 1}}
    runs = write(tmp_path / "runs.jsonl", step)
    (found,) = load([runs, examples], columns={"answer": "outputs.final.txt"}, notes=Notes())
    assert (found.answer_text, found.references) == ("Jane.", ("Jane Austen",))


def test_questions_that_belong_to_no_sample_are_samples_of_their_own(
    examples: Path, tmp_path: Path
) -> None:
    answers = write(tmp_path / "a.jsonl", {"id": "x", "query": "Why?", "answer": "A."})
    assert [one.id for one in load([answers, examples], notes=Notes())] == ["x", "e1", "e2"]
    assert [one.id for one in load([examples], notes=Notes())] == ["e1", "e2"]


def test_a_file_with_an_answer_is_no_file_of_questions(examples: Path, tmp_path: Path) -> None:
    answers = write(
        tmp_path / "a.jsonl",
        {"id": "e1", "query": EMMA, "references": ["Jane"]},
        {"id": "e3", "query": EMMA, "answer": "A."},
    )
    with pytest.raises(InputError, match="was already given"):
        load([answers, answers], notes=Notes())
    assert len(load([answers], notes=Notes())) == 2


@pytest.mark.parametrize("name", ["examples.jsonl", "q.json", "q.csv"])
def test_references_come_from_a_file_of_any_format(
    examples: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "q.json").write_text(json.dumps([{"question": EMMA, "expected": "Jane Austen"}]))
    (tmp_path / "q.csv").write_text(f"question,ground_truth\n{EMMA},Jane Austen\n")
    runs = write(tmp_path / "r.jsonl", run("r1", EMMA), run("r2", "Why?"))
    result = ragassay.evaluate(runs, ["covers_answer"], references=str(tmp_path / name))
    assert "1 of the samples has no expected answer in it" in " ".join(result.summary.warnings)
    assert result.summary.metrics["covers_answer"].n_scored == 1


@pytest.mark.parametrize("of_references", ["cp1252", "utf-8"])
@pytest.mark.parametrize("head", ["question,reference", "query,expected_answer"])
@pytest.mark.parametrize("columns", [{}, {"answer": "Antwort"}])
def test_references_are_read_in_the_encoding_of_the_data_unless_they_are_utf8(
    tmp_path: Path, head: str, of_references: str, columns: dict[str, str]
) -> None:
    answers, references = tmp_path / "a.csv", tmp_path / "r.csv"
    name = columns.get("answer", "answer")
    answers.write_text(f"id,question,{name}\n1,Größe?,Fünf\n", encoding="cp1252")
    references.write_text(f"{head}\nGröße?,Fünf\n", encoding=of_references)
    given = {"references": str(references), "encoding": "cp1252", "columns": columns}
    result = ragassay.evaluate(str(answers), "em", **given)
    assert [row.value for row in result.scores] == [1.0]


def test_a_file_without_references_is_refused(tmp_path: Path) -> None:
    runs = write(tmp_path / "r.jsonl", run("r1", EMMA))
    with pytest.raises(InputError, match=r"no column 'expected_answer' .*references=answer"):
        ragassay.evaluate(runs, ["em"], references=str(runs))


def test_two_references_of_one_id_are_refused(tmp_path: Path) -> None:
    runs = write(tmp_path / "r.jsonl", run("r1", EMMA))
    twice = [
        {"id": "q", "system": name, "query": EMMA, "references": [name], "answer": "A."}
        for name in "ab"
    ]
    path = write(tmp_path / "q.jsonl", *twice)
    with pytest.raises(InputError, match="stands in it twice, with different references"):
        ragassay.evaluate(runs, ["em"], references=str(path))


def test_ids_that_belong_to_other_queries_are_an_error(tmp_path: Path) -> None:
    """Files that were numbered apart would get each other's references."""
    asked = [{"id": "1", "query": EMMA, "references": ["a"]}]
    asked.append({"id": "2", "query": PERSUASION, "references": ["b"]})
    questions = write(tmp_path / "q.jsonl", *asked)
    answers = write(tmp_path / "a.jsonl", {"id": "2", "query": EMMA, "answer": "Ann."})
    with pytest.raises(InputError, match="has the query of the question '1' there, and the id of"):
        load([questions, answers], notes=Notes())
    with pytest.raises(InputError, match="has the query of the question '1'"):
        ragassay.evaluate(str(answers), "em", references=str(questions))


def test_a_sample_whose_query_is_put_otherwise_is_told(tmp_path: Path) -> None:
    questions = write(tmp_path / "q.jsonl", {"id": "1", "query": EMMA, "references": ["a"]})
    answers = write(tmp_path / "a.jsonl", {"id": "1", "query": "Whose is Emma?", "answer": "Ann."})
    notes = Notes()
    assert expected(load([questions, answers], notes=notes)) == {"1": ("a",)}
    assert any("query differs from that of their question" in one for one in notes)


def test_a_system_without_a_single_answer_is_no_file_of_questions(tmp_path: Path) -> None:
    """Its samples would be left out."""
    record = {"id": "1", "query": EMMA, "references": ["a"]}
    failed = write(tmp_path / "b.jsonl", {**record, "system": "B", "answer": None})
    answered = write(tmp_path / "a.jsonl", {**record, "system": "A", "answer": "Ann."})
    found = load([failed, answered], notes=Notes())
    assert [one.system for one in found] == ["B", "A"]
    # A system that is named for all files is none of a file of questions.
    questions = write(tmp_path / "q.jsonl", record)
    answers = write(tmp_path / "c.jsonl", {"id": "1", "query": EMMA, "answer": "Ann."})
    assert [one.system for one in load([questions, answers], system="C", notes=Notes())] == ["C"]


def test_a_question_that_expects_two_things_is_an_error(tmp_path: Path) -> None:
    asked = [
        {"id": "1", "query": EMMA, "system": name, "gold": [{"id": f"d{name}"}]} for name in "ab"
    ]
    questions = write(tmp_path / "q.jsonl", *asked)
    answers = write(tmp_path / "a.jsonl", {"id": "1", "query": EMMA, "answer": "Ann."})
    with pytest.raises(InputError, match="with different references, gold or labels"):
        ragassay.evaluate(str(answers), "em", references=str(questions))


@pytest.fixture
def german(tmp_path: Path) -> Path:
    """What is expected, under names of somebody's own."""
    path = tmp_path / "soll.csv"
    path.write_text(f"Nr,Frage,Soll-Antwort\n1,{EMMA},Jane Austen\n2,{PERSUASION},1817\n")
    return path


OWN = {"query": "Frage", "references": "Soll-Antwort"}


@pytest.mark.parametrize("data", ["runs", "records", "frame", "table", "lists"])
def test_chosen_columns_count_in_the_file_that_has_them(
    german: Path, tmp_path: Path, data: str
) -> None:
    """Those of the references in theirs, one of the answers in the data."""
    given: Any = [{"Frage": EMMA, "text": "Jane"}, {"Frage": "Why?", "text": "So."}]
    columns: Any = {**OWN, "answer": "text"}
    if data == "runs":
        given = write(tmp_path / "r.jsonl", run("r1", EMMA), run("r2", "Why?"))
        columns = OWN
    elif data == "frame":
        given = pytest.importorskip("polars").DataFrame(given)
    elif data == "table":
        given = pytest.importorskip("pyarrow").Table.from_pylist(given)
    elif data == "lists":
        given = {key: [one[key] for one in given] for key in given[0]}
    result = ragassay.evaluate(given, ["covers_answer"], references=str(german), columns=columns)
    assert result.summary.metrics["covers_answer"].n_scored == 1
    told = " ".join(result.summary.warnings)
    assert f"{german}: 1 sample joined with what it expects: 1 by query." in told


def test_chosen_columns_count_in_a_second_file_of_questions(german: Path, tmp_path: Path) -> None:
    runs = write(tmp_path / "r.jsonl", run("r1", EMMA), run("r2", "Why?"))
    found = load([runs, german], columns=OWN, notes=Notes())
    assert expected(found) == {"r1": ("Jane Austen",), "r2": ()}
    assert found[0].query == EMMA
    with pytest.raises(InputError, match=r"no column 'Frage' \(wanted as query\)"):
        load([runs, german], columns={"query": "Frage"}, notes=Notes())
    with pytest.raises(InputError, match=r"soll.csv.*no column is known.*--columns query="):
        load([runs, german], notes=Notes())


def test_a_column_that_no_file_has_is_an_error(german: Path, tmp_path: Path) -> None:
    runs = write(tmp_path / "r.jsonl", run("r1", EMMA))
    wrong = {**OWN, "references": "Soll-Antwrt"}
    with pytest.raises(InputError, match=r"soll\.csv.*Found: Frage, Nr, Soll-Antwort"):
        ragassay.evaluate(runs, ["em"], references=str(german), columns=wrong)


def test_references_under_unknown_names_are_told_with_suggestions(
    german: Path, tmp_path: Path
) -> None:
    runs = write(tmp_path / "r.jsonl", run("r1", EMMA))
    with pytest.raises(InputError) as caught:
        ragassay.evaluate(runs, ["em"], references=str(german))
    said = str(caught.value)
    assert "Found: Nr, Frage, Soll-Antwort." in said
    assert "--columns query=Frage" in said and "--columns references=Soll-Antwort" in said
    german.write_text("nr,Truth,reference\n1,yes,no\n")
    with pytest.raises(InputError, match="no column 'id' or 'query'"):
        ragassay.evaluate(runs, ["em"], references=str(german))


def test_expected_answers_are_found_beside_any_name_of_the_query(tmp_path: Path) -> None:
    """Open RAG Eval's table has ``query_id`` or ``query``; others are read by our names."""
    runs = write(tmp_path / "r.jsonl", run("r1", EMMA), run("r2", PERSUASION))
    table = tmp_path / "q.csv"
    for header in ("question,expected_answer", "query,expected_answer"):
        table.write_text(f"{header}\n{EMMA},Jane Austen\n{PERSUASION},1817\n")
        result = ragassay.evaluate(runs, ["covers_answer"], references=str(table))
        assert result.summary.metrics["covers_answer"].n_scored == 2
        assert "2 samples joined with what it expects" in " ".join(result.summary.warnings)
