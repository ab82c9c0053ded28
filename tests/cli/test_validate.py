"""``ragassay validate``: columns, suggestions, suites, and the mapping that it writes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import ragassay
from json_lines import jsonl
from ragassay.base.sample import GoldPassage, Passage, Sample
from ragassay.base.score import Unscored
from ragassay.cli.command_line import call
from ragassay.engine.config.config_paths import save_mapping
from ragassay.engine.config.run_config import make_config
from ragassay.formats import place
from ragassay.formats.sources.opening import STANDARD_INPUT
from ragassay.metrics.core.naming import parse

pytestmark = pytest.mark.usefixtures("here")

LONG = "Emma is a novel by Jane Austen that was published in 1815 by John Murray in London."
ODD = [
    {"nr": nr, "Frage": query, "bot_answer": answer, "my_contexts": [LONG] * nr}
    for nr, query, answer in (
        (1, "Who wrote Emma?", "Jane Austen wrote it."), (2, "When was that?", "In 1815 or so."),
    )
]  # fmt: skip


@pytest.mark.parametrize(("record", "suggested", "unplaced"), [
    ({"question": "Who?", "respones": "I.", "my_reference": "Me"},
     {"answer": "respones", "references": "my_reference"}, ("respones", "my_reference")),
    (
        {"question": "Who?", "expected": "Me", "gpt4_answer": "I", "llama_answer": "You"},
        {}, ("gpt4_answer", "llama_answer"),  # equally near: neither
    ),
    ({"id": "1", "query": "Who?", "answer": "Austen did.", "note": "x"}, {}, ("note",)),
    ({"query": "Who?", "answer": "I.", "__expected": "equals: I", "expected_outcome": "Told."},
     {}, ("__expected", "expected_outcome")),  # of promptfoo and deepeval: no references
    ({"id": "r", "trace_id": "r", "run_type": "chain", "outputs": {"answer": "Jane did."},
      "inputs": {"ask_me": "Who wrote Emma?", "k": 3}},
     {"query": "inputs.ask_me"}, ("inputs.ask_me",)),
])  # fmt: skip
def test_the_nearest_names_are_suggested_for_what_lacks_a_column(
    record: dict[str, Any], suggested: dict[str, str], unplaced: tuple[str, ...]
) -> None:
    found = place(jsonl("a.jsonl", record))
    assert (found.suggested, found.unplaced) == (suggested, unplaced)


@pytest.mark.parametrize(("query", "answer", "references"), [
    ("Question asked", "Answer given", "Correct answer"),
    ("question", "answer_bot", "answer_gold"), ("Frage", "Antwort", "Erwartete Antwort"),
    ("Frage", None, "Soll-Antwort"),
])  # fmt: skip
def test_what_is_expected_is_suggested_as_references_and_never_as_the_answer(
    query: str, answer: str | None, references: str
) -> None:
    record = {"nr": 1, references: "It is the thing.", query: "What is it?"}
    record |= {answer: "A thing."} if answer else {}
    found = place(jsonl("a.jsonl", record))
    named = {**found.placed, **found.suggested}
    wanted = {"query": query, "answer": answer, "references": references}
    assert named == {field: name for field, name in wanted.items() if name is not None}


def test_nested_texts_are_shown_as_paths_and_suggested_by_their_names(capsys) -> None:
    records = [
        {
            "rid": n, "req": {"body": {"q": one["Frage"]}},
            "resp": {"choices": [{"message": {"reply": one["bot_answer"]}}]},
            "ret": [{"passage": LONG}], "gt": "Austen",
        }
        for n, one in enumerate(ODD)
    ]  # fmt: skip
    path = jsonl("a.jsonl", *records)
    assert place(path).suggested == {
        "query": "req.body.q", "answer": "resp.choices[0].message.reply",
        "passages": "ret[*].passage", "references": "gt",
    }  # fmt: skip
    assert call(["validate", str(path), "--save-mapping", "m.yaml"]) == 2
    assert call(["validate", "m.yaml"]) == 0
    assert re.search(r"references +2 of 2", capsys.readouterr().out)


@pytest.mark.parametrize(("outputs", "path"), [
    ({"final": {"txt": "ANSWER"}}, "outputs.final.txt"),
    ({"final_text": "ANSWER", "n": 3}, "outputs.final_text"),
])  # fmt: skip
def test_an_answer_under_a_name_of_ones_own_in_a_trace_is_shown_with_its_path(
    outputs: dict[str, Any], path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = [
        {"id": f"r{n}", "trace_id": f"t{n}", "run_type": "chain", "inputs": {"me": one["Frage"]},
         "outputs": json.loads(json.dumps(outputs).replace("ANSWER", f"It is number {n}."))}
        for n, one in enumerate(ODD)
    ]  # fmt: skip
    assert place(jsonl("t.jsonl", *steps)).unplaced == (path,)
    assert place("t.jsonl", columns={"answer": path}).unplaced == ()
    call(["validate", "t.jsonl"])
    assert f"unless nested): {path}" in capsys.readouterr().out


def test_columns_without_a_field_are_shown_but_not_those_that_are_named(tmp_path, capsys) -> None:
    records = [
        {"question": "Who?", "response": "I.", "context_0": LONG, "context_1": LONG, "note_1": "x"},
        {"question": "W", "response": "I", "context_0": LONG, "context_1": None, "conversation": 1},
    ]
    jsonl("a.jsonl", *records)
    assert call(["validate", "a.jsonl", "--columns", "passages=context_*"]) == 0
    assert capsys.readouterr().out.endswith("unless nested): note_1\n")
    path = tmp_path / "pandas.csv"
    path.write_text(",question,answer,ground_truth,score\nx,Who?,I.,I,1\n")
    assert call(["validate", str(path)]) == 0
    assert "unless nested): '' (without a name), score\n" in capsys.readouterr().out
    path.write_text(",question,answer,my reference\n0,Who?,I.,I\n")  # the index of pandas
    assert call(["validate", str(path)]) == 0
    said = "unless nested): my reference\nperhaps: --columns 'references=my reference'\n"
    assert said in capsys.readouterr().out
    assert call(["validate", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"]["unplaced"] == ["my reference"]


def test_the_saved_mapping_is_what_run_reads(capsys: pytest.CaptureFixture[str]) -> None:
    Path("data").mkdir()
    jsonl("data/a.jsonl", *ODD)
    assert call(["validate", "data/a.jsonl", "--save-mapping", "map.yaml"]) == 2
    assert "Perhaps: --columns query=Frage --columns answer=" in capsys.readouterr().err
    assert yaml.safe_load(Path("map.yaml").read_text()) == {
        "data": "data/a.jsonl",
        "columns": {"query": "Frage", "answer": "bot_answer", "passages": "my_contexts"},
    }
    assert "# Columns that are not a field: nr.\n" in Path("map.yaml").read_text()
    keys = [line.split(":")[0] for line in Path("map.yaml").read_text().splitlines()]
    order = ["data", "columns", "  query"]
    assert [key for key in keys if key in order] == order
    assert call(["run", "-c", "map.yaml", "--metrics", "answer_words", "--json"]) == 0
    assert '"n_samples": 2' in capsys.readouterr().out
    assert call(["validate", "data/a.jsonl", "--save-mapping", "map.yaml"]) == 2
    assert "map.yaml already exists" in capsys.readouterr().err
    with pytest.raises(ragassay.UsageError, match="standard input has no name"):
        save_mapping(Path("a.yaml"), make_config(data=STANDARD_INPUT), place("data/a.jsonl"))
    assert "Found by their names" not in Path("map.yaml").read_text()
    jsonl("known.jsonl", {"id": "1", "query": "Who?", "answer": "I.", "references": ["I."]})
    assert call(["validate", "known.jsonl", "--save-mapping", "known.yaml"]) == 0
    head = Path("known.yaml").read_text().splitlines()[0]
    assert head.startswith("# Found by their names: ") and "answer in answer" in head


def test_suites_that_suit_are_counted_but_not_what_only_an_llm_can_judge(capsys, monkeypatch):
    jsonl("a.jsonl", {"id": "1", "query": "Who?", "answer": "I."}, {"id": "2", "query": "What?"})
    assert call(["validate", "a.jsonl", "--json"]) == 0
    suites = json.loads(capsys.readouterr().out)["suites"]
    assert suites["trecrag"]["n_samples"] == 1 and suites["trecrag"]["n_seen"] == 2
    assert suites["rag"]["n_samples"] == 1 and suites["ragreport"]["n_samples"] == 0
    assert suites["qa"]["n_samples"] == suites["serving"]["n_samples"] == 0
    monkeypatch.setattr("ragassay.engine.run.data_preview.LOOKED_AT", 1)
    assert call(["validate", "a.jsonl"]) == 0 and "of the first 1\n" in capsys.readouterr().out
    jsonl("a.jsonl", {"id": "1", "query": "Who?", "answer": "I."}, {"id": "2", "failure": "x"})
    for judge, n in (("offline", 0), ("http://127.0.0.1:9/v1#m", 1)):
        config = {"data": "a.jsonl", "metrics": "answer_relevance,answered", "judge": judge}
        Path("c.yaml").write_text(json.dumps(config))
        assert call(["validate", "c.yaml", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["applicable"]
        assert found == {"answer_relevance": n, "answered": 1}


def test_a_run_that_scores_nothing_points_to_the_suites_that_could(capsys) -> None:
    run = {"trace_id": "t", "inputs": {"question": "Who?"}, "outputs": {"answer": "I."}}
    found = {"inputs": {"query": "Who?"}, "outputs": {"documents": [{"page_content": "Me."}]}}
    root = {"id": "t", "run_type": "chain", **run}
    step = {"id": "u", "run_type": "retriever", "trace_id": "t", "parent_run_id": "t", **found}
    jsonl("runs.jsonl", root, step)
    assert call(["run", "runs.jsonl", "--suite", "qa"]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "Nothing was scored: the sample has no reference answer." in said
    assert "'ragassay validate' shows what the data holds" in said
    assert call(["validate", "runs.jsonl", "--json"]) == 0
    suites = json.loads(capsys.readouterr().out)["suites"]
    best = max(suites, key=lambda name: suites[name]["n_samples"])
    assert best != "qa" and call(["run", "runs.jsonl", "--suite", best]) == 0


def test_data_that_nothing_can_score_is_never_without_faults(capsys) -> None:
    jsonl("a.jsonl", {"id": "1", "query": "Who?"})
    assert call(["validate", "a.jsonl"]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "nothing can be scored" in said and "no errors" not in said
    jsonl("b.jsonl", {"id": "1", "query": "Who?", "answer": "I."})
    assert call(["validate", "b.jsonl", "--metrics", "em"]) == 3
    assert "nothing can be scored" in " ".join(capsys.readouterr().out.split())
    assert call(["validate", "b.jsonl", "--metrics", "answer_words"]) == 0
    assert "no errors" in capsys.readouterr().out


WITHOUT_IDS = [
    {
        "id": "a", "query": "Who wrote Emma?", "answer": "Austen.", "references": ["Jane Austen"],
        "passages": [{"text": LONG, "metadata": {"source": "emma.txt"}}], "gold_ids": ["emma.txt"],
    }
]  # fmt: skip


def test_what_validate_counts_is_what_run_scores(capsys: pytest.CaptureFixture[str]) -> None:
    """Rankings need ids: passages without them are counted by neither."""
    path = jsonl("a.jsonl", *WITHOUT_IDS)
    assert call(["validate", str(path), "--metrics", "nDCG@10,ChunkP@5,em"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "cannot be scored: nDCG@10 (retrieved passage 1 has no id; " in said
    assert "ChunkP@5 (1 of 1 gold passages share neither id nor text" in said
    assert call(["validate", str(path), "--json"]) == 0
    suites = json.loads(capsys.readouterr().out)["suites"]
    assert suites["retrieval"]["n_samples"] == 0 and suites["qa"]["n_samples"] == 1
    assert call(["run", str(path), "--metrics", "nDCG@10,P@5,em"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "nDCG@10, P@5: unscored, missing input, first in sample 'a': retrieved passage 1" in said
    (found,) = ragassay.evaluate(str(path)).steps
    assert "passages_without_ids" in {note.kind for note in found.summary.notes}
    data = [{"id": f"{n}-{k}", "passages": [{"id": "a"}] * n + [{"text": "b"}], "gold_ids": ["a"]}
            for n in range(4) for k in range(n + 1)]  # fmt: skip
    assert [*ragassay.plan(data, "RR").lacking["RR"].values()] == [4, 3, 2]  # the most frequent
    # The ids of passages may stand in their metadata, as the message about them says.
    named = ["--columns", "passage_ids=passages[*].metadata.source"]
    assert call(["validate", str(path), "--metrics", "RR", *named]) == 0
    capsys.readouterr()
    assert call(["run", str(path), "--metrics", "RR", "--json", *named]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["RR"]["mean"] == 1
    assert call(["validate", str(path), "--metrics", "RR"]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "--columns 'passage_ids=passages[*].metadata.KEY'" in said


@pytest.mark.parametrize("grade", [0, 1])
@pytest.mark.parametrize("part", ["id", "text", "document"])
def test_chunk_metrics_lack_what_leaves_them_unscored(part: str, grade: int) -> None:
    gold = {"id": GoldPassage(id="g", grade=grade), "text": GoldPassage(text=LONG, grade=grade)}
    gold["document"] = GoldPassage(document="d", start=0, end=9, grade=grade)
    passages = (Passage(id="p", text=LONG), Passage(id="q"))
    sample = Sample(id="s", passages=passages, gold=(gold[part],))
    for name in ("ChunkP@5", "SpanR@5", "CharF1", "precision_at_k_exact@5", "nDCG@5"):
        metric = parse(name)
        lacks = metric.lacks(sample)
        assert lacks == (found if isinstance(found := metric.score(sample), Unscored) else None)


@pytest.mark.parametrize(("text", "rc"), [
    ("cases:\n- name: a\n  inputs: Who wrote Emma?\n  expected_output: Austen\n", 3),  # of a tool
    ("cases: 3\n", 2), ("data: none.jsonl\n", 2),  # configurations
])  # fmt: skip
def test_yaml_of_a_tool_is_data_and_other_yaml_a_configuration(text: str, rc: int) -> None:
    Path("a.yaml").write_text(text)
    assert call(["validate", "a.yaml"]) == rc
