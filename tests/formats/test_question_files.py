"""Files of questions with what is expected, beside what systems gave."""

import json
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay import InputError, Sample
from ragassay.base.sample import Answerability, GoldPassage

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
    both = example("e1", EMMA, "Jane Austen"), example("e2", PERSUASION, "1817")
    return write(tmp_path / "examples.jsonl", *both)


def joined(data: Path, references: Path, **more: Any) -> tuple[Any, str]:
    """The result of a run over both, and its warnings in one text."""
    result = ragassay.evaluate(str(data), "covers_answer", references=str(references), **more)
    return result, " ".join(result.summary.warnings)


def expected(samples: Iterable[Sample]) -> dict[str, tuple[str, ...]]:
    return {one.id: one.references for one in samples}


def test_examples_of_langsmith_are_joined_to_its_runs(examples: Path, tmp_path: Path) -> None:
    """By the id of the example, else by the question."""
    runs = write(
        tmp_path / "runs.jsonl", run("r1", "rewritten", reference_example_id="e1"),
        run("r2", f" {PERSUASION.upper()}"), run("r3", "Who was that?"),
    )  # fmt: skip
    (tmp_path / "qrels").write_text("e1 0 d1 1\nr2 0 d2 1\n")
    result, told = joined(runs, examples, qrels=str(tmp_path / "qrels"))
    assert expected(result.samples) == {"e1": ("Jane Austen",), "r2": ("1817",), "r3": ()}
    gold = [[one.id for one in sample.gold or ()] for sample in result.samples]
    assert gold == [["d1"], ["d2"], []]
    assert "1 by id" in told and "1 by query" in told and "different query" in told


def test_gold_and_labels_are_joined_and_every_system_has_them(tmp_path: Path) -> None:
    question = {"id": "q", "query": EMMA, "gold": ["g"], "answerability": "answerable"}
    question |= {"references": ["x"], "negative_references": ["z"]}
    twice = [{"id": f"q{n}", "query": PERSUASION, "references": [str(n)]} for n in (1, 2)]
    answers: list[Any] = [{"id": "q", "system": "a", "query": EMMA, "answer": "A."}]
    answers += [{"id": "q", "system": "b", "answer": "A."}]
    # A question that stands twice is joined by id only.
    answers += [{"id": one, "query": PERSUASION, "answer": "A."} for one in ("q2", "other")]
    questions = write(tmp_path / "q.jsonl", question, *twice)
    result, _ = joined(write(tmp_path / "a.jsonl", *answers), questions)
    first, second, *others = result.samples
    assert [one.system for one in (first, second)] == ["a", "b"]
    for one in (first, second):
        assert (one.query, one.gold, one.references) == (EMMA, (GoldPassage(text="g"),), ("x",))
        assert (one.negative_references, one.answerability) == (("z",), Answerability.ANSWERABLE)
    assert expected(others) == {"q2": ("2",), "other": ()}


def talk(name: str, *earlier: str, **more: Any) -> dict[str, Any]:
    turns = [{"speaker": "user", "text": text} for text in earlier]
    return {"id": name, "history": turns, "query": "How much is that?", **more}


WHOLE = [talk("i", "A tent?", references=["12"]), talk("j", "boots? ", references=["79"])]


@pytest.mark.parametrize(("questions", "expects"), [
    ([{"id": n, "expectedOutput": n, "sourceTraceId": f"t{n}"} for n in "10"], ["0", "1"]),
    (WHOLE, ["12", "79"]), (WHOLE[1:], ["", "79"]),
    ([talk("i", references=["12"])], "no sample is joined: 2 ask a question that has several"),
    ([talk("i", references=["12"]), WHOLE[1], talk("k", "x", references=["y"])], ["", "79"]),
    ([{"id": "i", "query": EMMA, "references": ["x"]}], "no sample has the id of one of its"),
])  # fmt: skip
def test_a_question_of_two_conversations_is_joined_by_trace_or_history(
    tmp_path: Path, questions: list[Any], expects: Any
) -> None:
    answers = talk("t0", "A tent?", answer="12"), talk("t1", "Boots?", answer="79")
    files = write(tmp_path / "a.jsonl", *answers), write(tmp_path / "q.jsonl", *questions)
    with pytest.raises(InputError, match=expects) if isinstance(expects, str) else nullcontext():
        result, told = joined(*files)
        assert list(map("".join, expected(result.samples).values())) == expects
        assert ("1 sample asks a question that" in told) == (len(questions) > len(expects))


def test_flat_references_replace_those_in_groups(tmp_path: Path) -> None:
    answer = {"id": "q", "query": EMMA, "answer": "A.", "references": [["old"], ["x"]]}
    question = {"id": "q", "query": EMMA, "references": ["new"]}
    result, _ = joined(write(tmp_path / "a.jsonl", answer), write(tmp_path / "q.jsonl", question))
    (sample,) = result.samples
    assert (sample.references, sample.reference_groups) == (("new",), ())


@pytest.mark.parametrize("name", ["examples.jsonl", "q.json", "q.csv"])
def test_references_come_from_a_file_of_any_format(examples: Path, tmp_path, name: str) -> None:
    (tmp_path / "q.json").write_text(json.dumps([{"question": EMMA, "expected": "Jane Austen"}]))
    (tmp_path / "q.csv").write_text(f"question,ground_truth\n{EMMA},Jane Austen\n")
    runs = write(tmp_path / "r.jsonl", run("r1", EMMA), run("r2", "Why?"))
    result = ragassay.evaluate(runs, ["covers_answer"], references=str(tmp_path / name))
    said = " ".join(result.summary.warnings)
    assert "has nothing for 1 sample" in said
    assert ("has 1 question without a sample" in said) == (name == "examples.jsonl")
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


def test_no_references_two_of_one_id_and_ids_as_texts_of_gold_are_refused(tmp_path: Path) -> None:
    runs = write(tmp_path / "r.jsonl", run("r1", EMMA))
    asked = {"id": "q", "query": EMMA, "answer": "A."}
    twice = write(tmp_path / "q.jsonl", *(asked | {"system": r, "references": [r]} for r in "ab"))
    found = write(tmp_path / "a.jsonl", {**asked, "passages": {"p": "text"}})
    gold = write(tmp_path / "g.jsonl", {"id": "q", "query": EMMA, "gold": ["p"]})
    for data, references, says in (
        (runs, runs, r"no column 'expected_answer' .*references=answer"),
        (runs, twice, "twice, with different references"),
        (found, gold, "lists ids of passages.*gold_ids in the queries"),
    ):
        with pytest.raises(InputError, match=says):
            ragassay.evaluate(data, ["em"], references=str(references))


def test_ids_that_belong_to_other_queries_are_an_error(tmp_path: Path) -> None:
    """Files that were numbered apart would get each other's references."""
    asked = [{"id": "1", "query": EMMA, "references": ["a"]}]
    asked.append({"id": "2", "query": PERSUASION, "references": ["b"]})
    questions = write(tmp_path / "q.jsonl", *asked)
    answers = write(tmp_path / "a.jsonl", {"id": "2", "query": EMMA, "answer": "Ann."})
    with pytest.raises(InputError, match="has the query of the question '1'"):
        ragassay.evaluate(str(answers), "em", references=str(questions))


@pytest.fixture
def german(tmp_path: Path) -> Path:
    """What is expected, under names of somebody's own."""
    path = tmp_path / "soll.csv"
    path.write_text(f"Nr,Frage,Soll-Antwort\n1,{EMMA},Jane Austen\n2,{PERSUASION},1817\n")
    return path


OWN = {"query": "Frage", "references": "Soll-Antwort"}


@pytest.mark.parametrize("data", ["runs", "records", "frame", "table", "lists"])
def test_chosen_columns_count_in_the_file_that_has_them(german: Path, tmp_path, data: str) -> None:
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
    assert f"{german} has nothing for 1 sample (joined: 1 by query)." in told


def test_a_column_that_no_file_has_is_an_error(german: Path, tmp_path: Path) -> None:
    runs = write(tmp_path / "r.jsonl", run("r1", EMMA))
    wrong = {**OWN, "references": "Soll-Antwrt"}
    with pytest.raises(InputError, match=r"soll\.csv.*Found: Frage, Nr, Soll-Antwort"):
        ragassay.evaluate(runs, ["em"], references=str(german), columns=wrong)


def test_references_under_unknown_names_are_told_with_suggestions(german: Path, tmp_path) -> None:
    runs = write(tmp_path / "r.jsonl", run("r1", EMMA))
    with pytest.raises(InputError) as caught:
        ragassay.evaluate(runs, ["em"], references=str(german))
    said = str(caught.value)
    assert "Found: Nr, Frage, Soll-Antwort." in said
    assert "--columns references=Soll-Antwort" in said
    german.write_text("nr,Truth,reference\n1,yes,no\n")
    with pytest.raises(InputError, match="no column 'id' or 'query'"):
        ragassay.evaluate(runs, ["em"], references=str(german))
