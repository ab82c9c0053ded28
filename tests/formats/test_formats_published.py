"""Files as published systems write them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ragassay.base.errors import InputError, RagassayWarning, UsageError
from ragassay.base.sample import (
    Answer,
    Answerability,
    GoldPassage,
    Passage,
    Sample,
    Statement,
    Turn,
)
from ragassay.formats import Notes, all_formats, detect, load


def jsonl(tmp_path: Path, *records: dict[str, Any]) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def text(tmp_path: Path, content: str, name: str = "a.csv") -> Path:
    path = tmp_path / name
    path.write_text(content)
    return path


# --- MT-RAG


def test_mtrag_records_are_read_with_their_published_values(shared: Path) -> None:
    path = shared / "data" / "mtrag" / "judged_42.jsonl"
    assert detect(path).name == "mtrag"
    samples = load(path)
    raw = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(samples) == len(raw) == 42
    for sample, record in zip(samples, raw, strict=True):
        assert sample.id == record["task_id"]
        assert sample.query == record["input"][-1]["text"]
        assert [t.text for t in sample.history] == [t["text"] for t in record["input"][:-1]]
        assert sample.answer == Answer(record["predictions"][0]["text"])
        assert sample.references == (record["targets"][0]["text"],)
        assert sample.given == record["metrics"]
        assert sample.answerability is not None
        assert sample.answerability.name == record["Answerability"][0]
        assert sample.metadata["Collection"] == record["Collection"]
        assert [p.id for p in sample.passages or ()] == [
            c["document_id"] for c in record["contexts"]
        ]


def test_mtrag_files_with_nan_are_read(shared: Path) -> None:
    samples = load(shared / "data" / "mtrag" / "llama405b_algorithmic_6.jsonl")
    assert len(samples) == 6
    assert samples[0].metadata["Validity"] is None
    assert samples[0].given["RougeL_stemFalse"] == [1.0]


def test_several_predictions_are_told(tmp_path: Path) -> None:
    turn = {"speaker": "user", "text": "q"}
    path = jsonl(
        tmp_path, {"task_id": "1", "input": [turn], "predictions": [{"text": "a"}, {"text": "b"}]}
    )
    notes = Notes()
    assert load(path, notes=notes)[0].answer == Answer("a")
    assert "several predictions" in next(iter(notes))


def test_inspectorraget_gives_one_sample_an_evaluation(shared: Path) -> None:
    path = shared / "data" / "mtrag" / "human_evaluations_half.json"
    assert detect(path).name == "inspectorraget"
    samples = load(path)
    assert Counter(s.system for s in samples) == {
        "reference": 93,
        "llama-3.1-405b-instruct": 93,
        "gpt-4o": 93,
    }
    assert Counter(s.answerability for s in samples) == {
        Answerability.ANSWERABLE: 78 * 3,
        Answerability.PARTIAL: 7 * 3,
        Answerability.UNANSWERABLE: 7 * 3,
        Answerability.CONVERSATIONAL: 3,
    }
    raw = json.loads(path.read_text())
    texts = {row["document_id"]: row["text"] for row in raw["documents"]}
    tasks = {row["task_id"]: row for row in raw["tasks"]}
    for sample, evaluation in zip(samples, raw["evaluations"], strict=True):
        task = tasks[evaluation["task_id"]]
        assert sample.id == evaluation["task_id"]
        assert sample.answer == Answer(evaluation["model_response"])
        ids = [context["document_id"] for context in task["contexts"]]
        found = [(one.text, one.id) for one in sample.passages or ()]
        assert found == [(texts[key], key) for key in ids]
        given = evaluation["annotations"]
        assert sample.given["RougeL"] == given["RougeL"]["system"]["value"]
        for raw_name in ("rb_agg", "rb_llm", "rl_f"):
            assert sample.given[f"{raw_name}_idk"] == given[raw_name]["composite"]["value"]
            assert raw_name not in sample.given
        assert "naturalness" not in sample.given
        assert sample.metadata["annotations"]["naturalness"] == {
            who: entry["value"] for who, entry in given["naturalness"].items()
        }
        assert sample.metadata["Turn"] == task["Turn"]


def analytics(tmp_path: Path, **tables: Any) -> Path:
    content = {
        "models": [{"model_id": "A"}, {"model_id": "B"}],
        "documents": [{"document_id": 1, "text": "d"}],
        "tasks": [{"task_id": 1, "input": "q", "contexts": [{"document_id": 1}]}],
        "evaluations": [{"task_id": 1, "model_id": "A", "model_response": "a"}],
        **tables,
    }
    return text(tmp_path, json.dumps(content), "a.json")


@pytest.mark.parametrize(
    ("tables", "problem"),
    [
        ({"tasks": []}, "line 1, field 'evaluations.task_id'"),
        ({"documents": []}, "line 1, field 'tasks.contexts'"),
        (
            {"tasks": [{"task_id": 1}, {"task_id": "1"}]},
            "line 2, field 'tasks.task_id': the task_id '1' stands in two of the tasks, 1 and 2",
        ),
        (
            {"documents": [{"document_id": name, "text": "d"} for name in (1, 2, 1)]},
            "line 3, .*the document_id '1' stands in two of the documents, 1 and 3",
        ),
        ({"documents": None}, "field 'documents': there is no list of objects"),
        ({"tasks": [{"task_id": 1}, {"input": "r"}]}, "field 'tasks.*entry 2 .*no task_id"),
        (
            {"evaluations": [{"task_id": 1, "annotations": {"nat": 3}}]},
            "field 'evaluations.*annotation 'nat'",
        ),
    ],
)
def test_inspectorraget_tables_that_do_not_fit_are_an_error(
    tmp_path: Path, tables: dict[str, Any], problem: str
) -> None:
    assert load(analytics(tmp_path))[0].passages == (Passage("d", "1"),)
    with pytest.raises(InputError, match=problem):
        load(analytics(tmp_path, **tables), format="inspectorraget")


def test_inspectorraget_annotations_stay_with_their_evaluation(tmp_path: Path) -> None:
    task = {"task_id": 1, "input": "q", "metadata": {"m": 1}, "annotations": {"nat": {"x": 0}}}
    evaluations = [
        {
            "task_id": 1,
            "model_id": m,
            "model_response": "a",
            "annotations": {"nat": {m: {"value": 1}}},
        }
        for m in "AB"
    ]
    samples = load(analytics(tmp_path, tasks=[task], evaluations=evaluations))
    assert [sample.metadata for sample in samples] == [
        {"m": 1, "annotations": {"nat": {"x": 0, m: 1}}} for m in "AB"
    ]


# --- Open RAG Eval


def test_open_rag_eval_reads_its_published_file(shared: Path) -> None:
    path = shared / "data" / "open_rag_eval" / "connector_results.csv"
    assert detect(path).name == "open_rag_eval"
    samples = load(path)
    assert [(s.id, s.repeat) for s in samples] == [
        *((f"query_{n}", 0) for n in range(1, 7)),
        ("query_6", 1),
    ]
    assert [len(s.passages or ()) for s in samples] == [3, 1, 2, 2, 5, 1, 2]
    assert samples[0].answer == Answer(
        "Black holes are dense [1] They are also big and round [2][3] My name is x[4]"
    )
    assert samples[3].answer is not None
    assert samples[3].answer.text.endswith("\n\nSources: [1], [2]")
    assert [p.id for p in samples[2].passages or ()] == ["[2]", "[3]"]


HEADER = "query_id,query,query_run,passage_id,passage,generated_answer\n"


def test_open_rag_eval_rows_of_one_run_may_stand_apart(tmp_path: Path) -> None:
    content = HEADER + (
        "1,a,1,[1],p,x\n2,b,1,[1],q,y\n1,a,2,[1],r,z\n1,a,1,[2],s,\n2,b,1,[2],t,\n3,c,1,[1],u,w\n"
    )
    samples = load(text(tmp_path, content))
    found = [(s.id, s.repeat, [p.text for p in s.passages or ()]) for s in samples]
    assert found == [
        ("1", 1, ["r"]),
        ("1", 0, ["p", "s"]),
        ("2", 0, ["q", "t"]),
        ("3", 0, ["u"]),
    ]


def test_open_rag_eval_rows_without_ids_stay_together(tmp_path: Path) -> None:
    content = (
        "query,query_run,passage_id,passage,generated_answer\n"
        "first,1,[1],a,said\nfirst,1,[2],b,\nfirst,2,[1],a,again\nsecond,1,[1],c,other\n"
    )
    notes = Notes()
    samples = load(text(tmp_path, content), notes=notes)
    assert [(s.query, s.repeat, len(s.passages or ())) for s in samples] == [
        ("first", 0, 2),
        ("first", 1, 1),
        ("second", 0, 1),
    ]
    assert samples[0].id == samples[1].id != samples[2].id
    assert "records without an id: 3" in next(iter(notes))


def test_open_rag_eval_keeps_and_counts_failures_and_empty_answers(tmp_path: Path) -> None:
    content = HEADER + (
        "1,a,1,[1],p,fine\n"
        "2,b,1,NA,NA,NO_ANSWER\n"
        "3,c,1,ERROR,Runtime error: x,API_ERROR\n"
        "4,d,1,[1],p,NO_ANSWER\n"
        "4,d,1,[2],r,\n"
    )
    notes = Notes()
    fine, empty, failed, refused = load(text(tmp_path, content), notes=notes)
    assert (fine.failure, fine.metadata) == (None, {})
    assert (empty.answer, empty.passages, empty.metadata) == (
        Answer(""),
        None,
        {"no_answer": True},
    )
    assert (failed.answer, failed.failure, failed.passages) == (None, "API_ERROR", None)
    assert failed.metadata == {"failure_detail": "Runtime error: x"}
    assert (refused.answer, len(refused.passages or ())) == (Answer(""), 2)
    told = " ".join(notes)
    assert "NO_ANSWER: 2 (first: line 3)" in told
    assert "API_ERROR: 1 (first: line 4)" in told


def test_open_rag_eval_keeps_duplicate_and_empty_passages_and_tells(tmp_path: Path) -> None:
    content = HEADER + "1,a,1,[1],p,x\n1,a,1,[1],r,\n1,a,1,[3],,\n"
    notes = Notes()
    (sample,) = load(text(tmp_path, content), notes=notes)
    assert sample.passages == (Passage("p", "[1]"), Passage("r", "[1]"), Passage(None, "[3]"))
    told = " ".join(notes)
    assert "occur twice for one query: 1 (first: line 3)" in told
    assert "without a text: 1 (first: line 4)" in told


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("1,a,1,[1],p,x\n2,b,1,[1],p,x\n1,a,1,[2],p,y\n", "line 4.*different answers"),
        ("1,a,1,[1],p,x\n1,a,1,[2],p,y\n", "line 3.*different answers"),
        ("1,a,1,[1],p,x\n1,b,1,[2],p,\n", "line 3.*query differs from the one in line 2"),
        ("1,a,0,[1],p,x\n", "line 2, field 'query_run'"),
        ("1,,1,[1],p,x\n", "line 2, field 'query'"),
    ],
)
def test_open_rag_eval_rows_that_contradict_each_other_are_an_error(
    tmp_path: Path, rows: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        load(text(tmp_path, HEADER + rows))


def test_open_rag_eval_without_a_needed_column_is_an_error(tmp_path: Path) -> None:
    path = text(tmp_path, "query_id,query,passage\n1,a,b\n")
    with pytest.raises(
        InputError, match=r"no column 'passage_id'.*Found: query_id, query, passage"
    ):
        load(path, format="open_rag_eval")


# --- TREC RAG

ANSWER = [
    {"text": "First.", "citations": [1, 0, 1]},
    {"text": "Second.", "citations": []},
    {"text": "Third."},
]
EXPECTED = Answer(
    "First. Second. Third.",
    (Statement("First.", ("d2", "d1")), Statement("Second."), Statement("Third.")),
)


def test_trec_rag_2024_and_2025_are_read_alike(tmp_path: Path) -> None:
    of_2024 = {
        "run_id": "r",
        "topic_id": "2024-1",
        "topic": "q",
        "references": ["d1", "d2"],
        "response_length": 3,
        "answer": ANSWER,
    }
    of_2025 = {
        "metadata": {
            "team_id": "t",
            "run_id": "r",
            "type": "automatic",
            "narrative_id": 14,
            "narrative": "q",
        },
        "references": ["d1", "d2"],
        "answer": ANSWER,
    }
    path = jsonl(tmp_path, of_2024, of_2025)
    assert detect(path).name == "trec_rag"
    first, second = load(path)
    assert (first.id, second.id) == ("2024-1", "14")
    for sample in (first, second):
        assert (sample.query, sample.system, sample.answer) == ("q", "r", EXPECTED)
        assert sample.passages == (Passage(id="d1"), Passage(id="d2"))
        assert sample.references == ()
    assert first.metadata == {"response_length": 3}
    assert second.metadata == {"team_id": "t", "type": "automatic"}


@pytest.mark.parametrize("citation", [2, -1, 0.5, True])
def test_a_citation_outside_the_references_is_an_error(tmp_path: Path, citation: object) -> None:
    record = {
        "topic_id": 1,
        "topic": "q",
        "references": ["d1", "d2"],
        "answer": [{"text": "a", "citations": [citation]}],
    }
    with pytest.raises(InputError, match=r"line 1, field 'answer\.citations'"):
        load(jsonl(tmp_path, record))


def test_citations_given_as_ids_are_taken_as_they_are(tmp_path: Path) -> None:
    record = {
        "topic_id": 1,
        "references": ["d1"],
        "answer": [{"text": "a", "citations": ["d1", "d9"]}],
    }
    (sample,) = load(jsonl(tmp_path, record))
    assert sample.answer == Answer("a", (Statement("a", ("d1", "d9")),))


def test_a_sentence_of_trec_rag_without_a_text_is_an_error(tmp_path: Path) -> None:
    rows = [
        {"topic_id": n, "references": ["d1"], "answer": [{name: "a", "citations": [0]}]}
        for n, name in enumerate(("text", "sentence"))
    ]
    with pytest.raises(InputError, match="line 2, field 'answer': a sentence has no 'text'"):
        load(jsonl(tmp_path, *rows))


# --- UltraRAG, ML cube, RAGChecker, ragas, deepeval


def test_ultrarag_results_are_read_as_the_spec_prints_them(tmp_path: Path) -> None:
    record = {
        "id": 0,
        "question": "when was the last time anyone was on the moon",
        "golden_answers": ["14 December 1972 UTC", "December 1972"],
        "pred_answer": "December 14, 1973",
    }
    path = jsonl(tmp_path, record)
    assert detect(path).name == "ultrarag"
    expected = Sample(
        id="0",
        query=record["question"],
        answer=Answer("December 14, 1973"),
        references=("14 December 1972 UTC", "December 1972"),
    )
    assert load(path) == [expected]
    key_map = {"gt_ls": "golden_answers", "q_ls": "question", "pred_ls": "pred_answer"}
    assert load(path, columns=key_map) == [expected]


def test_ultrarag_records_that_lack_a_prediction_do_not_shift_the_others(tmp_path: Path) -> None:
    rows = [
        {"id": n, "question": "q", "golden_answers": ["g"], "pred_answer": f"a{n}"}
        for n in range(3)
    ]
    del rows[1]["pred_answer"]
    found = load(jsonl(tmp_path, *rows))
    assert [(s.id, s.answer.text if s.answer else None) for s in found] == [
        ("0", "a0"),
        ("1", None),
        ("2", "a2"),
    ]


MLCUBE = "id,time_id,input_1,retrieved_context_1,bot@1.0\n7,1700000000.5,q,a<<sep>>b,said\n"


def test_ml_cube_rows_are_cut_at_the_tasks_separator(tmp_path: Path) -> None:
    path = text(tmp_path, MLCUBE)
    assert detect(path).name == "mlcube"
    assert load(path, separator="<<sep>>") == [
        Sample(
            id="7",
            query="q",
            system="bot@1.0",
            passages=(Passage("a"), Passage("b")),
            answer=Answer("said"),
            timestamp=1700000000.5,
        )
    ]


def test_ml_cube_rows_of_two_models_are_two_samples(tmp_path: Path) -> None:
    record = {
        "id": 7,
        "input_1": "q",
        "retrieved_context_1": ["a", "b"],
        "bot@1": "x",
        "bot@2": None,
        "session_id": "s",
    }
    first, second = load(jsonl(tmp_path, record))
    assert (first.system, first.answer) == ("bot@1", Answer("x"))
    assert (second.system, second.answer) == ("bot@2", None)
    assert first.passages == (Passage("a"), Passage("b"))
    assert first.metadata == {"session_id": "s", "conversation_id": "s"}


@pytest.mark.parametrize("column", ["answer", "response", "system"])
def test_ml_cube_rows_with_an_answer_or_system_twice_are_an_error(
    tmp_path: Path, column: str
) -> None:
    path = text(tmp_path, f"id,input_1,{column},bot@1\n1,q,a,b\n")
    with pytest.raises(InputError, match=f"line 2, field '{column}'.*'bot@1'"):
        load(path)


def test_ml_cubes_words_for_its_columns_are_understood(tmp_path: Path) -> None:
    path = text(
        tmp_path, "Id,Timestamp,User Input,Retrieved Context,Response\n1,2023-11-14,q,a|b,r\n"
    )
    (sample,) = load(path, separator="|")
    assert (sample.query, sample.answer) == ("q", Answer("r"))
    assert sample.passages == (Passage("a"), Passage("b"))


def test_ml_cubes_rows_of_one_session_are_turns(tmp_path: Path) -> None:
    head = "id,time_id,session_id,input_1,retrieved_context_1,bot@1,old@1\n"
    rows = ["1,1,a,Where?,c,In Leeds.,No.", "2,2,b,Hello,c,Hi.,Hi.", "3,3,a,Who?,c,Ann.,No."]
    path = text(tmp_path, head + "\n".join(rows))
    found = {(one.id, one.system): one for one in load(path, single_chunk=True)}
    assert found["3", "bot@1"].history == (Turn("user", "Where?"), Turn("agent", "In Leeds."))
    assert found["3", "old@1"].history[1] == Turn("agent", "No.")
    assert found["3", "bot@1"].metadata["conversation_id"] == "a"
    assert not found["1", "bot@1"].history and not found["2", "bot@1"].history
    path = text(tmp_path, head + "\n".join(reversed(rows)))
    with pytest.warns(RagassayWarning, match="2 turns stand behind a later one"):
        again = load(path, single_chunk=True)
    assert not any(one.history for one in again)
    assert {one.metadata.get("conversation_id") for one in again} == {"a", "b"}


@pytest.mark.parametrize("name", ["input_data", "results"])
def test_ragchecker_files_are_read(tmp_path: Path, name: str) -> None:
    record = {
        "query_id": "0",
        "query": "q",
        "gt_answer": "g",
        "response": "r",
        "retrieved_context": [{"doc_id": "000", "text": "t"}],
    }
    path = text(tmp_path, json.dumps({name: [record]}, indent=2), "a.json")
    assert detect(path).name == "ragchecker"
    assert load(path) == [
        Sample(
            id="0",
            query="q",
            passages=(Passage("t", "000"),),
            answer=Answer("r"),
            references=("g",),
        )
    ]


@pytest.mark.parametrize("name", ["open_rag_eval", "trec_rag"])
def test_formats_with_fixed_names_refuse_columns(tmp_path: Path, name: str) -> None:
    path = text(tmp_path, HEADER)
    with pytest.raises(UsageError, match="has names of its own"):
        load(path, format=name, columns={"query": "query"})


def test_judgements_of_a_qrels_file_become_gold(tmp_path: Path) -> None:
    qrels = text(tmp_path, "1 0 d1 2\n1 0 d2 0\n9 0 d1 1\n", "qrels.txt")
    path = jsonl(tmp_path, {"id": 1, "query": "a"}, {"id": 2, "query": "b"})
    notes = Notes()
    first, second, absent = load(path, gold=qrels, notes=notes)
    assert (absent.id, absent.passages, absent.gold) == ("9", (), (GoldPassage("d1"),))
    assert len(load(path, gold=qrels, limit=2, notes=Notes())) == 2
    assert first.gold == (GoldPassage("d1", grade=2), GoldPassage("d2", grade=0))
    assert second.gold is None
    assert "judged queries that the data lacks: 1" in next(iter(notes))
    assert load(path, gold={"1": {"d1": 2, "d2": 0}}, notes=notes)[0] == first


def test_judgements_none_of_which_is_of_a_query_of_the_data_are_an_error(
    tmp_path: Path,
) -> None:
    """A mean of zeros, one for each judged query, would measure nothing."""
    qrels = text(tmp_path, "t1 0 d1 1\nt2 0 d2 1\n", "qrels.txt")
    path = jsonl(tmp_path, {"id": "e1", "passages": [{"id": "d1"}]}, {"id": "e2", "passages": []})
    words = (
        r"no judged query is among the samples, by id \(the samples have 'e1', the qrels have 't1'"
    )
    with pytest.raises(InputError, match=words) as caught:
        load(path, gold=qrels)
    assert caught.value.path == qrels
    with pytest.raises(InputError, match=words + r".*columns=\{'id': '<your column>'\}"):
        load(path, gold={"t1": {"d1": 1}})
    assert all(one.gold is None for one in load(path, gold={}))


def test_each_system_needs_a_judged_query(tmp_path: Path) -> None:
    """As each TREC run does."""
    judged = {"id": 1, "system": "a", "passages": [{"id": "d1"}]}
    gold = {"1": {"d1": 1}, "2": {"d1": 1}}
    failed = {"id": 2, "system": "b", "passages": []}
    samples = load(jsonl(tmp_path, judged, failed), gold=gold, notes=Notes())
    assert [(one.id, one.system) for one in samples] == [
        *(("1", "a"), ("2", "b")),
        *(("2", "a"), ("1", "b")),
    ]
    with pytest.raises(InputError, match=r"the samples of system 'b', by id .*have 'x', .*'1'"):
        load(jsonl(tmp_path, judged, {**failed, "id": "x"}), gold=gold)
    with pytest.raises(InputError, match="among the samples that name no system, by id"):
        load(jsonl(tmp_path, judged, {"id": "x", "passages": []}), gold=gold)


def test_a_run_is_read_with_its_judgements(tmp_path: Path) -> None:
    qrels = text(tmp_path, "1 0 d1 2\n2 0 d1 1\n", "qrels.txt")
    run = text(tmp_path, "# a run\n1 Q0 d2 1 0.5 tag\n1 Q0 d1 2 0.7 tag\n", "a.run")
    first, second = load(run, gold=qrels)
    assert [p.id for p in first.passages or ()] == ["d1", "d2"]
    assert (second.id, second.passages) == ("2", ())


@pytest.mark.parametrize(
    "content",
    [
        "# made by x\n\n  # id, query\nq1 Q0 d1 1 2.0 tag\n",
        "q1\tQ0\td1\t99\t  2.138276\ttag\n",
        "q1 0 d1 1 2.0 tag # junk\n",
    ],
)
def test_a_run_is_recognised_with_comments(tmp_path: Path, content: str) -> None:
    path = text(tmp_path, content, "results")
    assert detect(path).name == "trec_run"
    (sample,) = load(path, gold=text(tmp_path, "q1 0 d1 1\n", "qrels"))
    assert (sample.system, [p.id for p in sample.passages or ()]) == ("tag", ["d1"])


def test_trec_evals_run_with_junk_is_recognised(shared: Path) -> None:
    assert detect(shared / "data" / "trec_eval" / "results.trunc").name == "trec_run"


def test_every_format_has_a_name_a_title_and_a_reader() -> None:
    for name, one in all_formats().items():
        assert one.name == name and one.title
        assert all(suffix.startswith(".") for suffix in one.suffixes)
