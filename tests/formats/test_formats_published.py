"""Files as published systems write them."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragassay.base.errors import InputError, RagassayWarning, UsageError
from ragassay.base.sample import Answer, Answerability, GoldPassage, Passage, Turn
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


def test_answers_that_are_not_scored_are_counted(tmp_path: Path) -> None:
    turn, said = {"speaker": "user", "text": "q"}, [{"text": text} for text in "ab"]
    turns = [{"role": role, "content": "a"} for role in ("user", "assistant") * 3]
    for record, fact in (
        ({"task_id": "1", "input": [turn], "predictions": said}, "several predictions: 1"),
        ({"scenario": "", "turns": turns}, "earlier answers of conversations: 2"),
    ):
        (sample,) = load(jsonl(tmp_path, record), notes=(notes := Notes()))
        assert sample.answer == Answer("a") and fact in next(iter(notes))


def test_inspectorraget_gives_one_sample_an_evaluation(shared: Path) -> None:
    path = shared / "data" / "mtrag" / "human_evaluations_half.json"
    assert detect(path).name == "inspectorraget"
    samples = load(path)
    systems = ("reference", "llama-3.1-405b-instruct", "gpt-4o")
    assert Counter(s.system for s in samples) == dict.fromkeys(systems, 93)
    assert Counter(s.answerability for s in samples) == {
        Answerability.ANSWERABLE: 78 * 3, Answerability.PARTIAL: 7 * 3,
        Answerability.UNANSWERABLE: 7 * 3, Answerability.CONVERSATIONAL: 3,
    }  # fmt: skip
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


@pytest.mark.parametrize(("tables", "problem"), [
    ({"tasks": []}, "line 1, field 'evaluations.task_id'"),
    ({"documents": []}, "line 1, field 'tasks.contexts'"),
    ({"tasks": [{"task_id": 1}, {"task_id": "1"}]},
     "line 2, field 'tasks.task_id': the task_id '1' is in two of the tasks"),
    ({"documents": [{"document_id": name, "text": "d"} for name in (1, 2, 1)]},
     "line 3, .*the document_id '1' is in two of the documents"),
    ({"documents": None}, "field 'documents': there is no list of objects"),
    ({"tasks": [{"task_id": 1}, {"input": "r"}]}, "field 'tasks.*entry 2 .*no task_id"),
    ({"evaluations": [{"task_id": 1, "annotations": {"nat": 3}}]},
     "field 'evaluations.*annotation 'nat'"),
])  # fmt: skip
def test_inspectorraget_tables_that_do_not_fit_are_an_error(tmp_path, tables, problem) -> None:
    assert load(analytics(tmp_path))[0].passages == (Passage("d", "1"),)
    with pytest.raises(InputError, match=problem):
        load(analytics(tmp_path, **tables), format="inspectorraget")


# --- Open RAG Eval


def test_open_rag_eval_reads_its_published_file(shared: Path) -> None:
    path = shared / "data" / "open_rag_eval" / "connector_results.csv"
    assert detect(path).name == "open_rag_eval"
    samples = load(path)
    each = [*((f"query_{n}", 0) for n in range(1, 7)), ("query_6", 1)]
    assert [(s.id, s.repeat) for s in samples] == each
    assert [len(s.passages or ()) for s in samples] == [3, 1, 2, 2, 5, 1, 2]
    assert samples[0].answer == Answer(
        "Black holes are dense [1] They are also big and round [2][3] My name is x[4]"
    )
    assert samples[3].answer is not None
    assert samples[3].answer.text.endswith("\n\nSources: [1], [2]")
    assert [p.id for p in samples[2].passages or ()] == ["[2]", "[3]"]


HEADER = "query_id,query,query_run,passage_id,passage,generated_answer\n"


def test_open_rag_eval_keeps_and_counts_failures_and_empty_answers(tmp_path: Path) -> None:
    content = HEADER + (
        "1,a,1,[1],p,fine\n"
        "2,b,1,NA,NA,NO_ANSWER\n"
        "3,c,1,ERROR,Runtime error: x,API_ERROR\n"
        "4,d,1,[1],p,NO_ANSWER\n"
        "4,d,1,[2],r,\n"
        "5,e,1,[1],p,API_ERROR\n"
    )
    notes = Notes()
    fine, empty, failed, refused, late = load(text(tmp_path, content), notes=notes)
    assert (fine.failure, fine.metadata) == (None, {})
    assert (empty.answer, empty.passages, empty.metadata) == (Answer(""), None, {"no_answer": True})
    assert (failed.answer, failed.failure, failed.passages) == (None, "API_ERROR", None)
    assert failed.metadata == {"failure_detail": "Runtime error: x"}
    assert (refused.answer, len(refused.passages or ())) == (Answer(""), 2)
    assert (late.passages, late.metadata) == ((Passage("p", "[1]"),), {})
    told = " ".join(notes)
    assert "NO_ANSWER: 2 (first: line 3)" in told
    assert "API_ERROR: 2 (first: line 4)" in told


@pytest.mark.parametrize(("rows", "problem"), [
    ("1,a,1,[1],p,x\n2,b,1,[1],p,x\n1,a,1,[2],p,y\n", "line 4.*different answers"),
    ("1,a,1,[1],p,x\n1,a,1,[2],p,y\n", "line 3.*different answers"),
    ("1,a,1,[1],p,x\n1,b,1,[2],p,\n", "line 3.*query differs from the one in line 2"),
    ("1,a,0,[1],p,x\n", "line 2, field 'query_run'"), ("1,,1,[1],p,x\n", "line 2, field 'query'"),
])  # fmt: skip
def test_open_rag_eval_rows_that_contradict_each_other_are_refused(tmp_path, rows, problem) -> None:
    with pytest.raises(InputError, match=problem):
        load(text(tmp_path, HEADER + rows))


def test_open_rag_eval_without_a_needed_column_is_an_error(tmp_path: Path) -> None:
    path = text(tmp_path, "query_id,query,passage\n1,a,b\n")
    told = r"no column 'passage_id'.*Found: query_id, query, passage"
    with pytest.raises(InputError, match=told):
        load(path, format="open_rag_eval")


# --- TREC RAG


@pytest.mark.parametrize(("citation", "n"), [(2, 2), (-1, 2), (0.5, 2), (True, 2), (0, 0)])
def test_a_citation_outside_the_references_is_an_error(tmp_path: Path, citation, n: int) -> None:
    record = {
        "topic_id": 1, "topic": "q", "references": ["d1", "d2"][:n],
        "answer": [{"text": "a", "citations": [citation]}],
    }  # fmt: skip
    with pytest.raises(InputError, match=r"line 1, field 'answer\.citations'"):
        load(jsonl(tmp_path, record))


def test_references_of_trec_rag_are_a_list(tmp_path: Path) -> None:
    record = {"topic_id": 1, "topic": "q", "references": {"d1": 1}, "answer": [{"text": "a"}]}
    with pytest.raises(InputError, match=r"'references'.*a list of passage ids"):
        load(jsonl(tmp_path, record), format="trec_rag")


def test_a_sentence_of_trec_rag_without_a_text_is_an_error(tmp_path: Path) -> None:
    rows = [
        {"topic_id": n, "references": ["d1"], "answer": [{name: "a", "citations": [0]}]}
        for n, name in enumerate(("text", "sentence"))
    ]
    with pytest.raises(InputError, match="line 2, field 'answer': a statement has no text"):
        load(jsonl(tmp_path, *rows))


# --- UltraRAG, ML cube, RAGChecker, ragas, deepeval


@pytest.mark.parametrize("column", ["answer", "response", "system"])
def test_ml_cube_rows_with_an_answer_or_system_twice_are_an_error(tmp_path, column: str) -> None:
    path = text(tmp_path, f"id,input_1,{column},bot@1\n1,q,a,b\n")
    with pytest.raises(InputError, match=f"line 2, field '{column}'.*'bot@1'"):
        load(path)


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
    with pytest.warns(RagassayWarning, match="2 turns come after a later one"):
        again = load(path, single_chunk=True)
    assert not any(one.history for one in again)
    assert {one.metadata.get("conversation_id") for one in again} == {"a", "b"}


@pytest.mark.parametrize("name", ["open_rag_eval", "trec_rag"])
def test_formats_with_fixed_names_refuse_columns(tmp_path: Path, name: str) -> None:
    path = text(tmp_path, HEADER)
    with pytest.raises(UsageError, match="fixes its names"):
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
    given = {"1": {"d1": 2, "d2": 0}, "2": {}}  # of which one was judged: nothing is relevant
    assert load(path, gold=given, notes=notes) == [first, replace(second, gold=())]


def test_judgements_none_of_which_is_of_a_query_of_the_data_are_an_error(tmp_path: Path) -> None:
    """A mean of zeros, one for each judged query, would measure nothing."""
    qrels = text(tmp_path, "t1 0 d1 1\nt2 0 d2 1\n", "qrels.txt")
    path = jsonl(tmp_path, {"id": "e1", "passages": [{"id": "d1"}]}, {"id": "e2", "passages": []})
    words = r"no judged .* the samples, by id \(the samples have 'e1', the qrels have 't1'"
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
    each = [("1", "a"), ("2", "b"), ("2", "a"), ("1", "b")]
    assert [(one.id, one.system, one.passages == ()) for one in samples] == [
        (*one, one != ("1", "a")) for one in each
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


@pytest.mark.parametrize("content", [
    "# made by x\n\n  # id, query\nq1 Q0 d1 1 2.0 tag\n",
    "q1\tQ0\td1\t99\t  2.138276\ttag\n", "q1 0 d1 1 2.0 tag # junk\n",
])  # fmt: skip
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
