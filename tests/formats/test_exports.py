"""What tools for observation and evaluation export, each shape as its documentation has it."""

import json
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from json_lines import jsonl
from ragassay import InputError, Sample
from ragassay.base.errors import UsageError
from ragassay.formats import Notes, detect, load, place

Q, A = "Who wrote Emma?", "Jane Austen."
DOCS = [("d1", "Emma is a novel by Jane Austen."), ("d2", "It appeared in 1815.")]
LANGCHAIN = [
    {"page_content": text, "metadata": {"source": "emma.txt"}, "id": key, "type": "Document"}
    for key, text in DOCS
]


def read(path: Path, name: str, **options: Any) -> list[Sample]:
    assert detect(path).name == name
    return load(path, notes=Notes(), **options)


def error(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        load(path, notes=Notes())
    return str(caught.value)


def is_expected(one: Sample) -> None:
    assert (one.query, one.answer_text) == (Q, A)
    assert [(p.id, p.text) for p in one.passages or ()] == DOCS


def run(name: str, kind: str, parent: str | None, at: int, **more: Any) -> dict[str, Any]:
    return {
        "id": name, "trace_id": "t1", "parent_run_id": parent, "run_type": kind, "name": name,
        "start_time": f"2026-01-01T00:00:0{at}Z", "session_name": "prod", "error": None, **more,
    }  # fmt: skip


RUNS = [
    run("root", "chain", None, 0, inputs={"question": Q}, outputs={"answer": A}),
    run("r", "retriever", "root", 1, inputs={"query": Q}, outputs={"documents": LANGCHAIN}),
    run("m", "llm", "root", 2, inputs={"messages": [[]]}, outputs={"generations": [[{"text": A}]]}),
]


def observation(kind: str, name: str, at: int, **more: Any) -> dict[str, Any]:
    return {
        "id": name, "traceId": "t1", "type": kind, "name": name, "level": "DEFAULT",
        "parentObservationId": None, "startTime": f"2026-01-01T00:00:0{at}.000Z", **more,
    }  # fmt: skip


def phoenix(name: str, kind: str, parent: str | None, **attributes: Any) -> dict[str, Any]:
    return {
        "name": name, "span_kind": kind, "parent_id": parent, "status_code": "OK",
        "start_time": "2026-01-01T00:00:00+00:00", "status_message": "", "context.span_id": name,
        "context.trace_id": "t1",
        **{f"attributes.{key}": value for key, value in attributes.items()},
    }  # fmt: skip


FOUND = [
    {"document.id": key, "document.content": text, "document.score": 0.5} for key, text in DOCS
]
PHOENIX = [
    phoenix("rag", "CHAIN", None, **{"input.value": Q, "output.value": A, "session.id": "s"}),
    phoenix("search", "RETRIEVER", "rag",
            **{"input.value": Q, "retrieval.documents": FOUND, "user.id": "u"}),
]  # fmt: skip


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_phoenix_spans_in_every_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"spans.{suffix}"
    if suffix == "jsonl":
        jsonl(path, *PHOENIX)
    elif suffix == "parquet":
        pl.DataFrame(PHOENIX, infer_schema_length=None).write_parquet(path)
    else:
        rows = [PHOENIX[0], PHOENIX[1] | {"attributes.retrieval.documents": json.dumps(FOUND)}]
        pl.DataFrame(rows, infer_schema_length=None).write_csv(path)
    (one,) = read(path, "phoenix")
    is_expected(one)
    assert (one.passages or ())[0].score == 0.5 and one.metadata["conversation_id"] == "s"
    assert one.metadata["user_id"] == "u", "of whichever step has it"


KIND = "openinference.span.kind"


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": [*spans]}]}]}


def otlp_span(name: str, parent: str, at: int, **attributes: Any) -> dict[str, Any]:
    def value(one: Any) -> dict[str, Any]:
        if isinstance(one, float):
            return {"doubleValue": one}
        return {"intValue": str(one)} if isinstance(one, int) else {"stringValue": one}

    return {
        "traceId": "t1", "spanId": name, "parentSpanId": parent, "name": name,
        "startTimeUnixNano": str(1767225600_000000000 + at),
        "attributes": [{"key": key, "value": value(one)} for key, one in attributes.items()],
    }  # fmt: skip


@pytest.mark.parametrize("given", [None, "", "{}"])
def test_a_retrieval_whose_documents_are_not_exported_says_nothing(tmp_path, given) -> None:
    root = otlp_span("rag", "", 0, **{"input.value": Q, "output.value": A})
    output = {} if given is None else {"output.value": given}
    hidden = {
        kind: otlp_span(kind, "rag", at, **{KIND: kind}, **output)
        for at, kind in enumerate(("RETRIEVER", "RERANKER"), 1)
    }
    told = [{"page_content": text} for _, text in DOCS]
    search = otlp_span("search", "rag", 1, **{KIND: "RETRIEVER", "output.value": json.dumps(told)})
    # What a hidden reranking left of it is not known either.
    for steps in ([hidden["RETRIEVER"]], [search, hidden["RERANKER"]]):
        notes = Notes()
        (one,) = load(jsonl(tmp_path / "a.json", otlp(root, *steps)), notes=notes)
        assert one.passages is None and one.query == Q
        assert any("retrieval steps without their documents" in line for line in notes)
    empty = otlp_span("none", "rag", 1, **{KIND: "RETRIEVER", "output.value": "[]"})
    (one,) = read(jsonl(tmp_path / "a.json", otlp(root, empty)), "otlp")
    assert one.passages == ()
    first, last = (
        otlp_span(
            f"{at}", "rag", at, **{KIND: "RERANKER", "output.value": json.dumps(["b", "a"][:n])}
        )
        for at, n in ((2_000, 2), (3_000, 1))
    )
    (one,) = read(jsonl(tmp_path / "a.json", otlp(root, last, search, first)), "otlp")
    assert [each.text for each in one.passages or ()] == ["b"], "of the last reranking"


Nested = tuple[str, str, str, int, list[str] | None]
"""Kind, name, parent, time and documents of a step."""


def as_langsmith(*steps: Nested) -> list[Any]:
    made = [
        run(name, "retriever" if kind == "RERANKER" else kind.lower(), above, at, outputs=given)
        for kind, name, above, at, given in steps
    ]
    return [run("rag", "chain", None, 0, inputs={"question": Q}, outputs={"answer": A}), *made]


def as_langfuse(*steps: Nested) -> list[Any]:
    made = [
        observation("RETRIEVER", name, at, parentObservationId=above, output=given)
        for _, name, above, at, given in steps
    ]
    return [{"id": "t1", "projectId": "p", "input": Q, "output": A, "observations": made}]


@pytest.mark.parametrize("export", [as_langsmith, as_langfuse])
def test_the_outermost_of_nested_retrievals_counts(tmp_path: Path, export: Any) -> None:
    """That one's documents, in its order, were given to the model."""
    inner = ("RETRIEVER", "store", "cut", 2, ["c", "a", "b"])

    def texts(*steps: Nested, **options: Any) -> tuple[list[str | None], list[str]]:
        notes = Notes()
        (one,) = load(jsonl(tmp_path / "a.jsonl", *export(*steps)), notes=notes, **options)
        return [each.text for each in one.passages or ()], list(notes)

    for outer in (["a", "b"], ["a", "b", "c"], []):
        assert texts(("RETRIEVER", "cut", "rag", 1, outer), inner) == (outer, [])
    same = texts(("RETRIEVER", "cut", "rag", 1, ["c", "a", "b"]), inner)
    assert same == (["c", "a", "b"], [])
    assert texts(("RETRIEVER", "cut", "rag", 1, None), inner) == same
    chosen = texts(("RETRIEVER", "cut", "rag", 1, ["a"]), inner, passages_from="span:store")
    assert chosen == same
    both = ("RETRIEVER", "store", "rag", 1, ["a"]), ("TOOL", "web", "rag", 2, ["b"])
    assert texts(*both, passages_from="tools")[0] == ["a", "b"], "what tools gave is added"
    found, (note,) = texts(both[0], ("RETRIEVER", "web", "rag", 2, ["b"]))
    assert found == ["a", "b"] and note.startswith("traces with several retrievals: 1")


def inspect_log(**more: Any) -> dict[str, Any]:
    sample = {
        "id": "s1", "epoch": 2, "input": Q, "target": ["Austen", "Jane Austen"],
        "output": {"model": "m", "choices": [{"message": {"role": "assistant", "content": A}}]},
        "metadata": {"documents": LANGCHAIN, "topic": "novels"},
        "scores": {"match": {"value": "C", "explanation": "yes"}}, **more,
    }  # fmt: skip
    return {"version": 2, "status": "success", "eval": {"model": "openai/m"}, "samples": [sample]}


def test_tools_of_inspect_are_told_as_those_of_other_conversations(tmp_path: Path) -> None:
    turns = [
        {"role": "user", "content": Q},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "search"}]},
        {"role": "tool", "content": "Emma is a novel by Jane Austen.", "tool_call_id": "1"},
        {"role": "assistant", "content": A},
    ]
    path, notes = jsonl(tmp_path / "a.json", inspect_log(messages=turns, metadata={})), Notes()
    load(path, notes=notes)
    assert any("--passages-from tools" in note for note in notes)
    notes = Notes()
    (one,) = load(path, notes=notes, passages_from="tools")
    assert len(one.passages or ()) == 1 and list(notes) == []


def test_inspect_archives_are_read_as_their_logs(tmp_path: Path) -> None:
    """Also those of a run that was cut off, which have no header."""
    log = inspect_log()
    listed = log.pop("samples")
    expected = read(jsonl(tmp_path / "a.json", {**log, "samples": listed}), "inspect_log")
    for head in ("header.json", "_journal/start.json"):
        path = tmp_path / f"{head[:1]}.eval"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(head, json.dumps(log))
            other = "summaries.json" if head[0] == "_" else "_journal/start.json"
            archive.writestr(other, "{}")  # what the header says counts before what it began with
            archive.writestr("samples/s1_epoch_2.json", json.dumps(listed[0]))
        assert detect(path).name == "inspect_log"
        assert read(path, "inspect_log") == expected


def test_damaged_archives_of_inspect_are_refused_with_the_command_that_helps(tmp_path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/s1_epoch_1.json", bytes(1 << 27))
    assert "unpacks to more than 100 times its size" in error(path)
    path.write_bytes(b"PK\x03\x04" + bytes(50))
    assert "inspect log convert LOG --to json" in error(path)
    whole = Path(__file__).parent / "exports" / "inspect-0.3.285-log.eval"
    zstandard = bytearray(whole.read_bytes())
    zstandard[1000] ^= 1
    path.write_bytes(zstandard)
    assert "inspect log convert LOG --to json" in error(path)
    log = {"eval": {}, "status": "error", "samples": []}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(log))
    for empty in (path, jsonl(tmp_path / "b.json", log)):
        assert "the log has no samples" in error(empty)


def promptfoo(index: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"r{index}", "promptIdx": 0, "testIdx": index, "success": False, "score": 0,
        "provider": {"id": "openai:m", "label": ""}, "prompt": {"raw": "...", "label": "p"},
        "vars": {"query": Q, "context": [t for _, t in DOCS], "lang": "en"}, "error": "Expected",
        "response": {"output": A, "tokenUsage": {}},
        "testCase": {"assert": [{"type": "factuality", "value": "Austen"}], "description": "d"},
        "namedScores": {"fact": 0.5}, **more,
    }  # fmt: skip


def test_variables_of_promptfoo_with_one_meaning_are_chosen_as_columns_are(tmp_path: Path) -> None:
    """Not by their order."""
    asked = {"question": Q, "prompt": "Be brief.", "contexts": ["Found."], "context": "Gold."}
    for one_order in (asked, dict(reversed(asked.items()))):
        (one,) = read(jsonl(tmp_path / "a.jsonl", promptfoo(0, vars=one_order)), "promptfoo")
        assert (one.query, one.metadata["prompt"]) == (Q, "p")
        assert [p.text for p in one.passages or ()] == ["Found."]
        assert [p.text for p in one.gold or ()] == ["Gold."]
    for label, name in (("p" * 40, "p" * 40), ("p" * 41, "1"), ("a\nb", "1"), ("...", "1")):
        two = [promptfoo(0, promptIdx=at, prompt={"raw": "...", "label": said})
               for at, said in enumerate((label, "q"))]  # fmt: skip
        whole = {"results": {"version": 3, "results": two}}
        first, second = read(jsonl(tmp_path / "a.jsonl", whole), "promptfoo")
        assert first.system == f"openai:m#{name}"
        assert second.system == ("openai:m#2" if name == "1" else "openai:m#q")
    twice = promptfoo(0, vars={"question": Q, "expected": "a", "target": "b"})
    path = jsonl(tmp_path / "a.jsonl", twice)
    assert "--columns references=vars.expected" in error(path)
    (one,) = read(path, "promptfoo", columns={"references": "vars.target"})
    assert one.references == ("b",)


@pytest.mark.parametrize(("part", "said"), [
    ({"type": "image_url", "image_url": {"url": "data:..."}}, "a message holds an image"),
    ({"type": "input_audio", "input_audio": {}}, "a part of the type 'input_audio'"),
])  # fmt: skip
def test_images_are_refused_with_the_place(tmp_path: Path, part: Any, said: str) -> None:
    good = {"id": "1", "messages": [{"role": "user", "content": Q}]}
    message = {"role": "user", "content": [{"type": "text", "text": Q}, part]}
    bad = {"id": "2", "messages": [message]}
    told = error(jsonl(tmp_path / "a.jsonl", good, bad))
    assert "a.jsonl, line 2, field 'messages.content'" in told and said in told
    assert "Leave the record out" in told


def test_a_trace_without_content_is_left_out_and_told(tmp_path: Path) -> None:
    empty = {**RUNS[0], "id": "z", "trace_id": "t9", "inputs": {}, "outputs": {}}
    notes = Notes()
    (one,) = load(jsonl(tmp_path / "a.jsonl", empty, *RUNS), notes=notes)
    is_expected(one)
    assert any("traces without a question, an answer and passages: 1" in line for line in notes)


@pytest.mark.parametrize(("records", "said"), [
    ([{**RUNS[0], "id": None}], "line 1, field 'id': the record has no id"),
    ([RUNS[0], {**RUNS[0], "outputs": {}}], "line 2, field 'id': the step 'root' of a trace was"),
    ([RUNS[0], {**RUNS[1], "id": ""}], "line 2, field 'id': the record has no id"),
    ([{**PHOENIX[0], "context.trace_id": None}], "'context.trace_id': the record has no id"),
    ([otlp(), {"resourceSpans": [{"scopeSpans": {}}]}], "field 'resourceSpans': a list of"),
    ([{"trace_id": "tr-1", "spans": "none"}], "field 'spans': a list of spans is expected"),
    ([promptfoo(0), {"stats": {}}], "line 2, field 'results': there is no list of results"),
    ([{"results": {"version": 3, "results": [promptfoo(0), 3]}}], "the result is not an object"),
    ([{"eval": {}, "status": "success", "samples": [4]}], "'samples': the sample is not an object"),
    ([{"testCases": [4]}], "field 'testCases': the test case is not an object"),
])  # fmt: skip
def test_a_faulty_export_is_an_error_that_says_where(tmp_path, records: list[Any], said) -> None:
    assert said in error(jsonl(tmp_path / "a.jsonl", *records))


def spans_named(path: Path, name: str, output: Any, notes: Notes, **options: Any) -> Any:
    step = observation("SPAN", name, 1, output=output)
    trace = {"id": "t1", "projectId": "p", "input": Q, "output": A, "observations": [step]}
    (one,) = load(jsonl(path, trace), notes=notes, **options)
    return one.passages and [passage.text for passage in one.passages]


TEXTS = [text for _, text in DOCS]


@pytest.mark.parametrize("name", ["vector-search", "get_context", "lookupFaq", "Knowledge base"])
def test_a_step_whose_name_says_that_it_retrieves_does(tmp_path: Path, name: str) -> None:
    for output in (TEXTS, {"documents": LANGCHAIN}, [{"content": text} for text in TEXTS]):
        assert spans_named(tmp_path / "a.json", name, output, Notes()) == TEXTS
    # What has not the shape of documents is none.
    for output in ("Emma", {"count": 2}, [0.5, 0.25], [{"role": "user", "content": Q}]):
        assert spans_named(tmp_path / "a.json", name, output, Notes()) is None


@pytest.mark.parametrize("name", ["research", "rewrite_search", "vector_query", "search_queries"])
def test_other_steps_with_documents_are_told_and_named_by_hand(tmp_path: Path, name: str) -> None:
    notes = Notes()
    assert spans_named(tmp_path / "a.json", name, TEXTS, notes) is None
    (told,) = [line for line in notes if "what may be documents" in line]
    assert repr(name) in told and f"--passages-from span:{name}" in told
    chosen = spans_named(tmp_path / "a.json", name, TEXTS, Notes(), passages_from=f"span:{name}")
    assert chosen == TEXTS


def test_a_step_that_is_named_replaces_those_that_retrieve(tmp_path: Path) -> None:
    steps = [
        observation("RETRIEVER", "search", 1, output=["many", "few"]),
        observation("SPAN", "cut", 2, output=["few"]),
    ]
    trace = {"id": "t1", "projectId": "p", "input": Q, "output": A, "observations": steps}
    path = jsonl(tmp_path / "a.json", trace)
    (one,) = read(path, "langfuse", passages_from="span:cut")
    assert [passage.text for passage in one.passages or ()] == ["few"]
    with pytest.raises(InputError, match=r"'cuts'. Did you mean 'cut'\? .* called search, cut\."):
        load(path, notes=Notes(), passages_from="span:cuts")
    notes, other = Notes(), {**trace, "id": "t2", "observations": []}
    _, one = load(jsonl(path, trace, other), notes=notes, passages_from="span:cut")
    assert one.passages is None and any("traces without a step 'cut': 1" in x for x in notes)
    load(jsonl(path, *[{**trace, "output": "few "}] * 2), notes=notes, passages_from="span:cut")
    assert any("traces whose passages are the answer itself: 1" in line for line in notes)
    with pytest.raises(UsageError, match="its format is jsonl"):
        load(jsonl(path, {"query": Q, "answer": A}), passages_from="span:cut")
    with pytest.raises(UsageError, match="'spam' is none of retrieval, tools and span:NAME"):
        load(path, passages_from="spam")


def test_traces_in_which_no_name_is_known_are_named_with_their_paths(tmp_path: Path) -> None:
    own = run("root", "chain", None, 0, inputs={"ask_me": Q, "k": 4}, outputs={"said": [A]})
    path = jsonl(tmp_path / "a.jsonl", own)
    assert "the columns are inputs.ask_me, outputs.said; none is recognised" in error(path)
    placed = place(path)
    assert placed.unplaced == ("inputs.ask_me", "outputs.said")
    assert placed.suggested["query"] == "inputs.ask_me"
    columns = {"query": "inputs.ask_me", "answer": "outputs.said[0]"}
    (one,) = read(path, "langsmith", columns=columns)
    assert (one.query, one.answer_text) == (Q, A)
    # Where others can be read, the note says which were left out and why.
    known = [{**one, "id": f"{one['id']}2", "trace_id": "t2"} for one in RUNS[:1]]
    notes = Notes()
    assert len(load(jsonl(path, *known, own), notes=notes)) == 1
    (told,) = [line for line in notes if line.startswith("traces without a question")]
    assert "1 (first: line 2)" in told and "inputs.ask_me" in told


def test_a_column_from_which_the_query_came_holds_a_field(tmp_path: Path) -> None:
    own = {"id": "1", "inputs": {"question": Q, "language": "en"}, "answer": A}
    later = {"id": "2", "prompt": Q, "answer": A}  # the first column of a field counts
    placed = place(jsonl(tmp_path / "a.jsonl", own, later))
    assert placed.placed["query"] == "inputs.question"
    assert placed.unplaced == ("inputs.language", "prompt")
