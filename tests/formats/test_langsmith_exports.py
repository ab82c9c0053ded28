"""Exports of LangSmith as its SDK, its pages and pandas write them."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from json_lines import jsonl
from ragassay import Sample
from ragassay.formats import Notes, detect, load, place

Q, A = "Who wrote Emma?", "Jane Austen."
TEXTS = ["Emma is a novel by Jane Austen.", "It appeared in 1815."]
DOCS = [{"page_content": text, "type": "Document"} for text in TEXTS]


def table(path: Path, **cells: Any) -> Path:
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([[*cells], [*cells.values()]])
    return path


def one_sample(path: Path, notes: Notes | None = None, **options: Any) -> Sample:
    assert detect(path).name == "langsmith"
    (sample,) = load(path, notes=Notes() if notes is None else notes, **options)
    return sample


def run(name: str, kind: str, **more: Any) -> dict[str, Any]:
    above = None if name == "root" else "root"
    return {"id": name, "trace_id": "t", "parent_run_id": above, "run_type": kind, **more}


ROOT = run("root", "chain", inputs={"question": Q}, outputs={"output": A})


def test_a_table_with_names_of_its_own_is_not_langsmiths(tmp_path: Path) -> None:
    inputs = json.dumps({"question": Q})
    path = table(tmp_path / "a.csv", qid="7", inputs=inputs, outputs="{}")
    assert detect(path).name == "csv"
    path = table(tmp_path / "b.csv", input=Q, output=A)
    assert detect(path).name == "csv"


def test_the_outputs_of_a_data_set_are_references_and_this_is_told(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", {"inputs": {"question": Q}, "outputs": {"answer": "Austen"}})
    notes = Notes()
    sample = one_sample(path, notes)
    assert (sample.query, sample.answer, sample.references) == (Q, None, ("Austen",))
    assert any(line.startswith("examples of a data set: 1.") for line in notes)
    chosen = one_sample(path, columns={"answer": "outputs.answer"})
    assert (chosen.answer_text, chosen.references) == ("Austen", ())


def test_outputs_with_documents_are_answers_unless_they_are_named_as_expected(tmp_path) -> None:
    outputs = {"answer": "Ann", "documents": [{"page_content": "Ann wrote it."}]}
    path = tmp_path / "flat.jsonl"
    path.write_text(json.dumps({"inputs": {"question": "Who?"}, "outputs": outputs}))
    notes = Notes()
    [answered] = load(path, notes=notes)
    assert (answered.answer_text, answered.references) == ("Ann", ())
    assert any("outputs that hold documents: 1" in one for one in notes)
    [expected] = load(path, columns={"references": "outputs.answer"}, notes=Notes())
    assert (expected.answer, expected.references) == (None, ("Ann",))


@pytest.mark.parametrize("more", [{}, {"run_type": "chain"}])
def test_references_of_another_name_are_told_and_can_be_named(tmp_path, more) -> None:
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
        path, id="e1", Inputs=json.dumps({"question": Q}),
        **{"Reference Outputs": json.dumps({"answer": "Austen"})},
        Outputs=json.dumps({"answer": A, "documents": DOCS}), **more,
    )  # fmt: skip


def test_documents_that_were_read_hold_fields(tmp_path: Path) -> None:
    """Their texts were listed as columns without a field, by two spellings of the column."""
    assert place(page(tmp_path / "a.csv")).unplaced == ()
    found = [{**one, "metadata": {"source": f"{at}.txt"}} for at, one in enumerate(DOCS)]
    root = run("root", "chain", inputs={"question": Q}, outputs={"answer": A, "documents": found})
    step = run("r", "retriever", inputs={}, outputs={"documents": found})
    assert place(jsonl(tmp_path / "a.jsonl", root, step)).unplaced == ()
    # What was not read is listed, and nothing beside it.
    root["outputs"]["documents"] = [one | {"why": f"It says {n}."} for n, one in enumerate(found)]
    assert place(jsonl(tmp_path / "b.jsonl", root, step)).unplaced == ("outputs.documents[*].why",)
