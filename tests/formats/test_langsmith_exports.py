"""Exports of LangSmith as its SDK, its pages and pandas write them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay import InputError, Sample
from ragassay.formats import Notes, detect, load, place

Q, A = "Who wrote Emma?", "Jane Austen."
TEXTS = ["Emma is a novel by Jane Austen.", "It appeared in 1815."]
DOCS = [{"page_content": text, "type": "Document"} for text in TEXTS]


def jsonl(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def table(path: Path, **cells: Any) -> Path:
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([[*cells], [*cells.values()]])
    return path


def one_sample(path: Path, notes: Notes | None = None, **options: Any) -> Sample:
    assert detect(path).name == "langsmith"
    (sample,) = load(path, notes=Notes() if notes is None else notes, **options)
    return sample


def texts(sample: Sample) -> list[str | None]:
    return [one.text for one in sample.passages or ()]


def run(name: str, kind: str, **more: Any) -> dict[str, Any]:
    above = None if name == "root" else "root"
    return {"id": name, "trace_id": "t", "parent_run_id": above, "run_type": kind, **more}


ROOT = run("root", "chain", inputs={"question": Q}, outputs={"output": A})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (DOCS, TEXTS),
        (TEXTS, TEXTS),
        ({"documents": DOCS}, TEXTS),
        ("\n\n".join(TEXTS), ["\n\n".join(TEXTS)]),
        ([], []),
    ],
)
@pytest.mark.parametrize("kind", ["retriever", "tool"])
def test_what_traceable_wraps_is_unwrapped(
    tmp_path: Path, given: Any, expected: list[str], kind: str
) -> None:
    step = run("r", kind, inputs={}, outputs={"output": given})
    path = jsonl(tmp_path / "a.jsonl", ROOT, step)
    sample = one_sample(path, passages_from="tools" if kind == "tool" else None)
    assert (sample.query, sample.answer_text, texts(sample)) == (Q, A, expected)


def test_the_ids_of_retrieved_documents_may_be_named(tmp_path: Path) -> None:
    """LangChain's ``source`` is no id by itself: chunks of one document share it."""
    docs = [{**one, "metadata": {"source": f"{at}.txt"}} for at, one in enumerate(DOCS)]
    step = run("r", "retriever", inputs={}, outputs={"documents": docs})
    path = jsonl(tmp_path / "a.jsonl", ROOT, step)
    assert [one.id for one in one_sample(path).passages or ()] == [None, None]
    named = one_sample(path, columns={"passage_ids": "passages[*].metadata.source"})
    assert [(one.id, one.text) for one in named.passages or ()] == [
        ("0.txt", TEXTS[0]),
        ("1.txt", TEXTS[1]),
    ]


def test_a_wrapped_null_says_nothing_about_passages(tmp_path: Path) -> None:
    step = run("r", "retriever", inputs={}, outputs={"output": None})
    assert one_sample(jsonl(tmp_path / "a.jsonl", ROOT, step)).passages is None


def test_names_of_files_are_ids_and_no_texts(tmp_path: Path) -> None:
    outputs = {"answer": A, "sources": ["emma.txt", "https://example.org/austen"]}
    sample = one_sample(jsonl(tmp_path / "a.jsonl", {**ROOT, "outputs": outputs}))
    named = [(one.id, one.text) for one in sample.passages or ()]
    assert named == [("emma.txt", None), ("https://example.org/austen", None)]
    outputs["sources"] = [TEXTS[0]]
    sample = one_sample(jsonl(tmp_path / "b.jsonl", {**ROOT, "outputs": outputs}))
    assert texts(sample) == TEXTS[:1]


def test_the_page_of_an_experiment_holds_json_in_cells(tmp_path: Path) -> None:
    path = table(
        tmp_path / "a.csv",
        id="e1",
        inputs=json.dumps({"question": Q}),
        reference_outputs=json.dumps({"answer": "Austen"}),
        outputs=json.dumps({"answer": A, "contexts": TEXTS}),
        run_id="r1",
        latency="1.5",
        total_cost="0.01",
        correctness="1",
    )
    sample = one_sample(path)
    assert (sample.id, sample.query, sample.answer_text) == ("e1", Q, A)
    assert sample.references == ("Austen",) and texts(sample) == TEXTS
    asked = {"latency": 1.5, "cost": 0.01}
    assert sample.metadata == {"score.correctness": 1.0, "asked": asked}
    # What others were told to name gives the same.
    assert one_sample(path, columns={"references": "reference_outputs"}) == sample


def test_the_page_of_runs_holds_json_in_cells(tmp_path: Path) -> None:
    path = table(
        tmp_path / "a.csv",
        Name="rag",
        Input=json.dumps({"question": Q}),
        Output=json.dumps({"answer": A, "documents": DOCS}),
        Latency="1.5",
        Tokens="110",
        **{"Run ID": "r1"},
    )
    sample = one_sample(path)
    assert (sample.id, sample.query, sample.answer_text) == ("r1", Q, A)
    assert texts(sample) == TEXTS
    assert sample.metadata == {"asked": {"latency": 1.5, "total_tokens": 110}}


def test_a_table_with_names_of_its_own_is_not_langsmiths(tmp_path: Path) -> None:
    inputs = json.dumps({"question": Q})
    path = table(tmp_path / "a.csv", qid="7", inputs=inputs, outputs="{}")
    assert detect(path).name == "csv"
    path = table(tmp_path / "b.csv", input=Q, output=A)
    assert detect(path).name == "csv"


def test_pandas_writes_what_python_prints(tmp_path: Path) -> None:
    root = table(
        tmp_path / "a.csv",
        **{**ROOT, "inputs": {"question": Q}, "outputs": {"answer": A, "documents": DOCS}},
        extra={"metadata": {"thread_id": "c1"}},
        feedback_stats={"correct": {"n": 2, "avg": 0.5}, "other": {"n": 0, "avg": float("nan")}},
        events="[{'time': datetime.datetime(2026, 1, 1)}]",
    )
    sample = one_sample(root)
    assert (sample.query, sample.answer_text, texts(sample)) == (Q, A, TEXTS)
    assert sample.metadata == {"conversation_id": "c1", "score.correct": 0.5}
    experiment = {"inputs.question": Q, "outputs.documents": DOCS, "reference.answer": "Austen"}
    assert texts(one_sample(table(tmp_path / "b.csv", **experiment))) == TEXTS


@pytest.mark.parametrize(
    "given", ["{'at': Timestamp('2026-01-01 00:00:00')}", "{'at': datetime.date(2026, 1, 1)}"]
)
def test_an_object_of_python_in_a_cell_is_named(tmp_path: Path, given: str) -> None:
    path = table(tmp_path / "a.csv", **{**ROOT, "inputs": given})
    with pytest.raises(InputError) as caught:
        load(path)
    assert f"{path}, line 2, field 'inputs': the cell begins like a list" in str(caught.value)


def test_the_outputs_of_a_data_set_are_references_and_this_is_told(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", {"inputs": {"question": Q}, "outputs": {"answer": "Austen"}})
    notes = Notes()
    sample = one_sample(path, notes)
    assert (sample.query, sample.answer, sample.references) == (Q, None, ("Austen",))
    assert any(line.startswith("examples of a data set: 1.") for line in notes)
    chosen = one_sample(path, columns={"answer": "outputs.answer"})
    assert (chosen.answer_text, chosen.references) == ("Austen", ())


@pytest.mark.parametrize("name", ["documents", "contexts", "context"])
@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_flat_results_hold_answers_passages_and_references(
    tmp_path: Path, name: str, ending: str
) -> None:
    """As a target and its evaluators see them: objects of inputs, outputs, reference outputs."""
    held = DOCS if name == "documents" else TEXTS
    flat = {"inputs": {"question": Q}, "outputs": {"answer": A, name: held}}
    expected = {"reference_outputs": {"answer": "Austen"}}
    path = tmp_path / f"a{ending}"
    path.write_text(json.dumps([flat | expected] if ending == ".json" else flat | expected))
    notes = Notes()
    sample = one_sample(path, notes)
    assert (sample.query, sample.answer_text, sample.references) == (Q, A, ("Austen",))
    assert texts(sample) == TEXTS and not any("--columns" in one for one in notes)
    # Documents tell that a system gave the outputs, in the records after the first one, too.
    other = {"inputs": {"question": "When?"}, "outputs": {"answer": "1815"}}
    path.write_text("".join(json.dumps(one) + "\n" for one in (flat, other)))
    first, second = load(path, notes=Notes())
    assert (first.answer_text, first.references, texts(first)) == (A, (), TEXTS)
    assert (second.answer_text, second.references, second.passages) == ("1815", (), None)


def test_flat_results_without_documents_or_outputs_are_results(tmp_path: Path) -> None:
    flat = {"inputs": {"question": Q}, "reference_outputs": {"answer": "Austen"}}
    for outputs, answer in (({"answer": A}, A), (None, "")):
        path = jsonl(tmp_path / "a.jsonl", {**flat, "outputs": outputs})
        sample = one_sample(path)
        assert (sample.query, sample.answer_text, sample.references) == (Q, answer, ("Austen",))


def test_feedback_times_tokens_and_costs_are_kept(tmp_path: Path) -> None:
    times = {"start_time": "2026-01-01T00:00:00", "end_time": "2026-01-01T00:00:02.5"}
    root = {
        **ROOT,
        **times,
        "feedback_stats": {"correct": {"n": 1, "avg": 1.0}},
        "total_cost": 0.25,
    }
    calls = [
        run(name, "llm", inputs={}, outputs={}, prompt_tokens=10, completion_tokens=2)
        for name in ("m1", "m2")
    ]
    path = jsonl(tmp_path / "a.jsonl", root, *calls)
    asked = {"latency": 2.5, "cost": 0.25, "input_tokens": 20, "output_tokens": 4}
    assert one_sample(path).metadata == {"score.correct": 1.0, "asked": asked}
    result = ragassay.evaluate(load(path, notes=Notes()), ["latency", "tokens", "cost"])
    assert [row.value for row in result.scores] == [2.5, 24, 0.25]


def test_an_example_without_outputs_may_stand_first(tmp_path: Path) -> None:
    """The outputs of the others are what is expected, wherever it stands."""
    records = [
        {"inputs": {"question": "Why?"}, "outputs": None},
        {"inputs": {"question": "Who?"}, "outputs": {"answer": "Ann."}},
    ]
    for ordered in (records, records[::-1]):
        path = tmp_path / "examples.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in ordered))
        found = {one.query: one for one in load(path, notes=Notes())}
        assert found["Who?"].references == ("Ann.",) and found["Who?"].answer is None


def test_numbers_are_answers(tmp_path: Path) -> None:
    """Also where they are expected; a text comes first."""
    path = tmp_path / "runs.jsonl"
    run = {"id": "a", "trace_id": "a", "run_type": "chain", "inputs": {"question": "How many?"}}
    for given, answer in (({"answer": 5}, "5"), ({"result": 0.5, "text": "Half."}, "Half.")):
        path.write_text(json.dumps({**run, "outputs": given}))
        assert [one.answer_text for one in load(path, notes=Notes())] == [answer]
    path.write_text(json.dumps({"inputs": {"question": "How many?"}, "outputs": {"answer": 42.0}}))
    assert [one.references for one in load(path, notes=Notes())] == [("42",)]


def test_outputs_with_documents_are_answers_unless_they_are_named_as_expected(
    tmp_path: Path,
) -> None:
    outputs = {"answer": "Ann", "documents": [{"page_content": "Ann wrote it."}]}
    path = tmp_path / "flat.jsonl"
    path.write_text(json.dumps({"inputs": {"question": "Who?"}, "outputs": outputs}))
    notes = Notes()
    [answered] = load(path, notes=notes)
    assert (answered.answer_text, answered.references) == ("Ann", ())
    assert any("outputs that hold documents: 1" in one for one in notes)
    [expected] = load(path, columns={"references": "outputs.answer"}, notes=Notes())
    assert (expected.answer, expected.references) == (None, ("Ann",))


def test_reference_outputs_of_runs_are_references(tmp_path: Path) -> None:
    """They were lost without a word, and no column could name them."""
    path = jsonl(tmp_path / "a.jsonl", {**ROOT, "reference_outputs": {"answer": "Austen"}})
    assert one_sample(path).references == ("Austen",)
    named = one_sample(path, columns={"references": "reference_outputs.answer"})
    assert (named.references, named.answer_text) == (("Austen",), A)


@pytest.mark.parametrize("more", [{}, {"run_type": "chain"}])
def test_references_of_another_name_are_told_and_can_be_named(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    held = {"who": "Austen", "how": "plain"}
    record = {"id": "a", "inputs": {"question": Q}, "outputs": {"answer": A}, **more}
    path, notes = jsonl(tmp_path / "a.jsonl", {**record, "reference_outputs": held}), Notes()
    assert one_sample(path, notes).references == ()
    assert any("--columns references=reference_outputs.KEY" in note for note in notes)
    notes = Notes()
    named = one_sample(path, notes, columns={"references": "reference_outputs.who"})
    assert (named.references, list(notes)) == (("Austen",), [])


def page(path: Path, **more: str) -> Path:
    """A row of the page of an experiment."""
    return table(
        path,
        id="e1",
        Inputs=json.dumps({"question": Q}),
        **{"Reference Outputs": json.dumps({"answer": "Austen"})},
        Outputs=json.dumps({"answer": A, "documents": DOCS}),
        **more,
    )


@pytest.mark.parametrize(
    ("columns", "asked"),
    [
        ({"Latency (s)": "2.5", "Tokens": "300"}, {"latency": 2.5, "total_tokens": 300}),
        ({"Latency": "2.50s", "Total Tokens": "300"}, {"latency": 2.5, "total_tokens": 300}),
        ({"Latency (ms)": "2500", "Cost ($)": "0.5"}, {"latency": 2.5, "cost": 0.5}),
        (
            {"Tokens": "300", "Prompt Tokens": "250", "Completion Tokens": "50"},
            {"input_tokens": 250, "output_tokens": 50},
        ),
    ],
)
def test_what_a_run_took_is_no_score(
    tmp_path: Path, columns: dict[str, str], asked: dict[str, float]
) -> None:
    """`Latency (s)` was a score, `Tokens` was lost."""
    sample = one_sample(page(tmp_path / "a.csv", **columns, correctness="1"))
    assert sample.metadata == {"score.correctness": 1.0, "asked": asked}


def test_tokens_of_both_kinds_together_are_scored(tmp_path: Path) -> None:
    sample = one_sample(page(tmp_path / "a.csv", **{"Latency (s)": "2.5", "Tokens": "300"}))
    result = ragassay.evaluate([sample], ["latency", "tokens", "tokens.input"])
    assert [row.value for row in result.scores] == [2.5, 300, None]


def test_documents_that_were_read_hold_fields(tmp_path: Path) -> None:
    """Their texts were listed as columns without a field, by two spellings of the column."""
    assert place(page(tmp_path / "a.csv")).unplaced == ()
    found = [{**one, "metadata": {"source": f"{at}.txt"}} for at, one in enumerate(DOCS)]
    root = run("root", "chain", inputs={"question": Q}, outputs={"answer": A, "documents": found})
    step = run("r", "retriever", inputs={}, outputs={"documents": found})
    assert place(jsonl(tmp_path / "a.jsonl", root, step)).unplaced == ()
    # What was not read is listed, and nothing beside it.
    root["outputs"]["documents"] = [
        {**one, "why": f"It says {at}."} for at, one in enumerate(found)
    ]
    assert place(jsonl(tmp_path / "b.jsonl", root, step)).unplaced == ("outputs.documents[*].why",)
