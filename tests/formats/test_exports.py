"""What tools for observation and evaluation export, each shape as its documentation has it."""

from __future__ import annotations

import contextlib
import copy
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import ragassay
from ragassay import InputError, Sample
from ragassay.base.errors import RagassayError, UsageError
from ragassay.base.sample import Turn
from ragassay.formats import Notes, detect, load, place

Q, A = "Who wrote Emma?", "Jane Austen."
DOCS = [("d1", "Emma is a novel by Jane Austen."), ("d2", "It appeared in 1815.")]
LANGCHAIN = [
    {"page_content": text, "metadata": {"source": "emma.txt"}, "id": key, "type": "Document"}
    for key, text in DOCS
]


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def read(path: Path, name: str, **options: Any) -> list[Sample]:
    assert detect(path).name == name
    return load(path, notes=Notes(), **options)


def error(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        load(path, notes=Notes())
    return str(caught.value)


def is_expected(one: Sample, *, ids: bool = True) -> None:
    assert (one.query, one.answer_text) == (Q, A)
    assert [p.text for p in one.passages or ()] == [text for _, text in DOCS]
    if ids:
        assert [p.id for p in one.passages or ()] == [key for key, _ in DOCS]


def run(name: str, kind: str, parent: str | None, at: int, **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "trace_id": "t1",
        "parent_run_id": parent,
        "run_type": kind,
        "name": name,
        "start_time": f"2026-01-01T00:00:0{at}Z",
        "session_name": "prod",
        "error": None,
        **more,
    }


RUNS = [
    run("root", "chain", None, 0, inputs={"question": Q}, outputs={"answer": A}),
    run("r", "retriever", "root", 1, inputs={"query": Q}, outputs={"documents": LANGCHAIN}),
    run("m", "llm", "root", 2, inputs={"messages": [[]]}, outputs={"generations": [[{"text": A}]]}),
]


def test_langsmith_runs_become_a_sample_a_trace(tmp_path: Path) -> None:
    # Spans of a trace may stand in any order, and apart.
    other = [{**one, "id": one["id"] + "2", "trace_id": "t2"} for one in RUNS]
    for one in other:
        one["parent_run_id"] = one["parent_run_id"] and "root2"
    mixed = [RUNS[1], other[2], RUNS[0], other[0], RUNS[2], other[1]]
    one, two = read(write(tmp_path / "runs.jsonl", *mixed), "langsmith")
    is_expected(one)
    is_expected(two)
    assert (one.id, two.id, one.system) == ("t1", "t2", "prod")
    assert one.timestamp == 1767225600.0 and (one.passages or ())[0].document == "emma.txt"


def test_langsmith_runs_within_runs_and_without_a_trace_id(tmp_path: Path) -> None:
    root = {key: value for key, value in RUNS[0].items() if key != "trace_id"}
    children = [{k: v for k, v in one.items() if k != "trace_id"} for one in RUNS[1:]]
    (one,) = read(write(tmp_path / "a.json", {**root, "child_runs": children}), "langsmith")
    is_expected(one)


def test_langsmith_bulk_exports_are_parquet_with_json_in_columns(tmp_path: Path) -> None:
    rows = [
        {**one, "inputs": json.dumps(one["inputs"]), "outputs": json.dumps(one["outputs"])}
        for one in RUNS
    ]
    pl.DataFrame(rows).write_parquet(tmp_path / "runs.parquet")
    (one,) = read(tmp_path / "runs.parquet", "langsmith")
    is_expected(one)


def test_a_langsmith_run_that_failed_is_a_failure(tmp_path: Path) -> None:
    failed = {**RUNS[0], "outputs": None, "error": "TimeoutError"}
    (one,) = read(write(tmp_path / "a.jsonl", failed), "langsmith")
    assert one.answer is None and one.failure == "TimeoutError" and one.query == Q


TRACE = 'Traceback (most recent call last):\n\n  File "a.py", line 3, in f\n    call()\n\n'


@pytest.mark.parametrize(
    ("told", "failure"),
    [
        (f"ValueError('no')\n\n{TRACE}ValueError: no luck\n  at all\n", "ValueError: no luck"),
        (f"{TRACE}KeyError: 1\n\nDuring handling of it:\n\n{TRACE}OSError: 2\n", "OSError: 2"),
        (f"RateLimitError('429')\n\n{TRACE[:60]}...", "RateLimitError('429')"),
        (f"{TRACE}", f"{' '.join(TRACE.split())}"),
        ("first\n second", "first second"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("of", ["run", "result"])
def test_of_a_traceback_the_exception_is_the_failure(
    tmp_path: Path, told: str, failure: str, of: str
) -> None:
    failed: dict[str, Any] = {**RUNS[0], "outputs": None, "error": told}
    if of == "result":
        failed = {"run": failed, "example": {"id": "e", "inputs": {"question": Q}, "outputs": {}}}
    (one,) = read(write(tmp_path / "a.jsonl", failed), "langsmith")
    assert one.answer is None and one.failure == failure
    assert one.metadata["failure_detail"] == told


def test_langsmith_examples_hold_what_is_expected(tmp_path: Path) -> None:
    example = {
        "id": "e1",
        "dataset_id": "s",
        "inputs": {"question": Q},
        "outputs": {"answer": A},
        "metadata": {"topic": "novels"},
    }
    (one,) = read(write(tmp_path / "a.jsonl", example), "langsmith")
    assert (one.id, one.query, one.references, one.answer) == ("e1", Q, (A,), None)
    assert one.metadata == {"topic": "novels"}


def test_langsmith_results_of_experiments(tmp_path: Path) -> None:
    row = {
        "inputs.question": Q,
        "outputs.answer": A,
        "outputs.documents": json.dumps(LANGCHAIN),
        "reference.answer": "Austen",
        "example_id": "e1",
        "error": None,
    }
    pl.DataFrame([row]).write_csv(tmp_path / "a.csv")
    (one,) = read(tmp_path / "a.csv", "langsmith")
    is_expected(one)
    assert (one.id, one.references) == ("e1", ("Austen",))
    pair = {
        "run": {"inputs": {"question": Q}, "outputs": {"answer": A, "documents": LANGCHAIN}},
        "example": {"id": "e1", "outputs": {"answer": "Austen"}},
    }
    assert read(write(tmp_path / "b.jsonl", pair), "langsmith") == [one]


def observation(kind: str, name: str, at: int, **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "traceId": "t1",
        "type": kind,
        "name": name,
        "level": "DEFAULT",
        "parentObservationId": None,
        "startTime": f"2026-01-01T00:00:0{at}.000Z",
        **more,
    }


OBSERVATIONS = [
    observation("SPAN", "rag", 0, input={"query": Q}, output=A),
    observation("RETRIEVER", "search", 1, parentObservationId="rag", input=Q, output=LANGCHAIN),
    observation("GENERATION", "llm", 2, parentObservationId="rag", input=[], output=A),
]


def test_langfuse_traces_with_observations(tmp_path: Path) -> None:
    trace = {
        "id": "t1",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "name": "rag",
        "sessionId": "s9",
        "input": {"question": Q},
        "output": {"answer": A},
        "observations": OBSERVATIONS[1:],
        "scores": [{"name": "helpful", "value": 1}],
    }
    (one,) = read(write(tmp_path / "a.json", trace), "langfuse")
    is_expected(one)
    assert one.metadata == {"name": "rag", "conversation_id": "s9", "score.helpful": 1}
    # The API's answers hold traces in a list called data.
    (again,) = read(write(tmp_path / "b.json", {"data": [trace], "meta": {}}), "langfuse")
    assert again == one


def test_langfuse_observations_alone(tmp_path: Path) -> None:
    (one,) = read(write(tmp_path / "a.jsonl", *OBSERVATIONS), "langfuse")
    is_expected(one)
    old = {**OBSERVATIONS[1], "type": "SPAN", "name": "VectorStoreRetriever"}
    (two,) = read(write(tmp_path / "b.jsonl", OBSERVATIONS[0], old), "langfuse")
    is_expected(two)


@pytest.mark.parametrize(
    "more",
    [
        {"input": Q, "output": A, "sessionId": "s"},
        {"question": Q, "answer": A, "traceId": "t", "type": "rag"},
        {"inputs": Q, "outputs": A, "dataset_id": "books"},
        {"inputs": Q, "outputs": A, "run_type": "nightly"},
        {"inputs": Q, "outputs": A, "expectations": "high"},
        {"question": Q, "answer": A, "request_id": "r", "spans": "0-3"},
        {"question": Q, "answer": A, "eval": {"f1": 1}, "status": "ok"},
        {"question": Q, "answer": A, "vars": 3, "provider": "acme"},
    ],
)
def test_records_of_ones_own_are_no_export_and_keep_all_their_fields(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    record = {"id": "1", **more, "contexts": [text for _, text in DOCS], "reference": "Austen"}
    (one,) = read(write(tmp_path / "a.jsonl", record), "jsonl")
    is_expected(one, ids=False)
    assert one.references == ("Austen",)


def test_langfuse_items_of_a_data_set(tmp_path: Path) -> None:
    item = {"id": "i1", "datasetId": "s", "input": {"question": Q}, "expectedOutput": {"answer": A}}
    (one,) = read(write(tmp_path / "a.jsonl", item), "langfuse")
    assert (one.id, one.query, one.references) == ("i1", Q, (A,))


def phoenix(name: str, kind: str, parent: str | None, **attributes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "span_kind": kind,
        "parent_id": parent,
        "status_code": "OK",
        "start_time": "2026-01-01T00:00:00+00:00",
        "status_message": "",
        "context.span_id": name,
        "context.trace_id": "t1",
        **{f"attributes.{key}": value for key, value in attributes.items()},
    }


FOUND = [
    {"document.id": key, "document.content": text, "document.score": 0.5} for key, text in DOCS
]
PHOENIX = [
    phoenix("rag", "CHAIN", None, **{"input.value": Q, "output.value": A, "session.id": "s"}),
    phoenix("search", "RETRIEVER", "rag", **{"input.value": Q, "retrieval.documents": FOUND}),
]


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_phoenix_spans_in_every_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"spans.{suffix}"
    if suffix == "jsonl":
        write(path, *PHOENIX)
    elif suffix == "parquet":
        pl.DataFrame(PHOENIX, infer_schema_length=None).write_parquet(path)
    else:
        rows = [
            {k: json.dumps(v) if isinstance(v, list) else v for k, v in one.items()}
            for one in PHOENIX
        ]
        pl.DataFrame(rows, infer_schema_length=None).write_csv(path)
    (one,) = read(path, "phoenix")
    is_expected(one)
    assert (one.passages or ())[0].score == 0.5 and one.metadata["conversation_id"] == "s"


def test_phoenix_spans_as_its_api_has_them(tmp_path: Path) -> None:
    spans = []
    for one in PHOENIX:
        flat = {key[11:]: value for key, value in one.items() if key.startswith("attributes.")}
        context = {"span_id": one["context.span_id"], "trace_id": "t1"}
        head = {k: v for k, v in one.items() if "." not in k}
        spans.append({**head, "context": context, "attributes": flat})
    (sample,) = read(write(tmp_path / "a.jsonl", *spans), "phoenix")
    is_expected(sample)


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": [*spans]}]}]}


def otlp_span(name: str, parent: str, at: int, **attributes: Any) -> dict[str, Any]:
    def value(one: Any) -> dict[str, Any]:
        if isinstance(one, float):
            return {"doubleValue": one}
        return {"intValue": str(one)} if isinstance(one, int) else {"stringValue": one}

    return {
        "traceId": "t1",
        "spanId": name,
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": str(1767225600_000000000 + at),
        "attributes": [{"key": key, "value": value(one)} for key, one in attributes.items()],
    }


def test_otlp_with_openinference_attributes(tmp_path: Path) -> None:
    flat = {
        f"retrieval.documents.{at}.document.{part}": value
        for at, (key, text) in enumerate(DOCS)
        for part, value in (("id", key), ("content", text), ("score", 0.5 - at / 10))
    }
    root = otlp_span(
        "rag", "", 0, **{"openinference.span.kind": "CHAIN", "input.value": Q, "output.value": A}
    )
    kind = {"openinference.span.kind": "RETRIEVER", "input.value": Q}
    search = otlp_span("search", "rag", 1, **kind, **flat)
    (one,) = read(write(tmp_path / "a.json", otlp(search, root)), "otlp")
    is_expected(one)
    assert one.timestamp == 1767225600.0 and one.id == "t1"
    # A line an export: the spans of one trace may come in several.
    (again,) = read(write(tmp_path / "a.jsonl", otlp(search), otlp(root)), "otlp")
    assert again == one


def test_otlp_with_the_genai_conventions(tmp_path: Path) -> None:
    def messages(role: str, text: str) -> str:
        return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])

    root = otlp_span(
        *("agent", "", 0),
        **{"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "c1"},
        **{"gen_ai.input.messages": messages("user", Q)},
        **{"gen_ai.output.messages": messages("assistant", A)},
    )
    found = json.dumps([{"id": key, "score": 0.5} for key, _ in DOCS])
    search = otlp_span(
        *("search", "agent", 1),
        **{"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": Q},
        **{"gen_ai.retrieval.documents": found},
    )
    (one,) = read(write(tmp_path / "a.json", otlp(root, search)), "otlp")
    assert (one.query, one.answer_text) == (Q, A)
    assert [p.id for p in one.passages or ()] == ["d1", "d2"]
    assert one.metadata["conversation_id"] == "c1"


def test_otlp_of_model_calls_alone_has_their_messages(tmp_path: Path) -> None:
    call = otlp_span(
        *("chat", "", 0),
        **{"gen_ai.operation.name": "chat", "gen_ai.prompt.0.role": "system"},
        **{"gen_ai.prompt.0.content": "Be brief.", "gen_ai.prompt.1.role": "user"},
        **{"gen_ai.prompt.1.content": Q, "gen_ai.completion.0.role": "assistant"},
        **{"gen_ai.completion.0.content": A},
    )
    (one,) = read(write(tmp_path / "a.json", otlp(call)), "otlp")
    assert (one.query, one.answer_text, one.passages) == (Q, A, None)
    assert one.metadata["system_prompt"] == "Be brief."


@pytest.mark.parametrize("given", [None, "", "{}"])
def test_a_retrieval_whose_documents_are_not_exported_says_nothing(
    tmp_path: Path, given: str | None
) -> None:
    root = otlp_span("rag", "", 0, **{"input.value": Q, "output.value": A})
    output = {} if given is None else {"output.value": given}
    hidden = {
        kind: otlp_span(kind, "rag", at, **{"openinference.span.kind": kind}, **output)
        for at, kind in enumerate(("RETRIEVER", "RERANKER"), 1)
    }
    told = [{"page_content": text} for _, text in DOCS]
    search = otlp_span(
        *("search", "rag", 1),
        **{"openinference.span.kind": "RETRIEVER", "output.value": json.dumps(told)},
    )
    # What a hidden reranking left of it is not known either.
    for steps in ([hidden["RETRIEVER"]], [search, hidden["RERANKER"]]):
        notes = Notes()
        (one,) = load(write(tmp_path / "a.json", otlp(root, *steps)), notes=notes)
        assert one.passages is None and one.query == Q
        assert any("retrieval steps without their documents" in line for line in notes)
    empty = otlp_span(
        "none", "rag", 1, **{"openinference.span.kind": "RETRIEVER", "output.value": "[]"}
    )
    (one,) = read(write(tmp_path / "a.json", otlp(root, empty)), "otlp")
    assert one.passages == ()


def test_what_one_retrieval_gives_twice_stays_and_what_two_give_counts_once(
    tmp_path: Path,
) -> None:
    root = otlp_span("rag", "", 0, **{"input.value": Q, "output.value": A})

    def search(name: str, at: int, *texts: str) -> dict[str, Any]:
        kind = {"openinference.span.kind": "RETRIEVER", "output.value": json.dumps(texts)}
        return otlp_span(name, "rag", at, **kind)

    one, two = search("one", 1, "a", "a", "b"), search("two", 2, "b", "c")
    (sample,) = read(write(tmp_path / "a.json", otlp(root, one, two)), "otlp")
    assert [p.text for p in sample.passages or ()] == ["a", "a", "b", "c"]


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


def as_otlp(*steps: Nested) -> list[Any]:
    made = [
        otlp_span(
            *(name, above, at),
            **{"openinference.span.kind": kind},
            **({} if given is None else {"output.value": json.dumps(given)}),
        )
        for kind, name, above, at, given in steps
    ]
    return [otlp(otlp_span("rag", "", 0, **{"input.value": Q, "output.value": A}), *made)]


def as_phoenix(*steps: Nested) -> list[Any]:
    made = [
        phoenix(name, kind, above, **{"retrieval.documents": given and [*map(found, given)]})
        for kind, name, above, _, given in steps
    ]
    return [PHOENIX[0], *made]


def found(text: str) -> dict[str, Any]:
    return {"document.content": text}


def as_mlflow(*steps: Nested) -> list[Any]:
    made = [mlflow(name, above, kind, Q, given) for kind, name, above, _, given in steps]
    return [{"info": {"trace_id": "x"}, "data": {"spans": [MLFLOW[0], *made]}}]


EXPORTS = [as_langsmith, as_langfuse, as_otlp, as_phoenix, as_mlflow]


@pytest.mark.parametrize("export", EXPORTS)
def test_the_outermost_of_nested_retrievals_counts(tmp_path: Path, export: Any) -> None:
    """That one's documents, in its order, were given to the model."""
    inner = ("RETRIEVER", "store", "cut", 2, ["c", "a", "b"])

    def texts(*steps: Nested, **options: Any) -> tuple[list[str | None], list[str]]:
        notes = Notes()
        (one,) = load(write(tmp_path / "a.jsonl", *export(*steps)), notes=notes, **options)
        return [each.text for each in one.passages or ()], list(notes)

    for outer in (["a", "b"], ["a", "b", "c"], []):
        assert texts(("RETRIEVER", "cut", "rag", 1, outer), inner) == (outer, [])
    same = texts(("RETRIEVER", "cut", "rag", 1, ["c", "a", "b"]), inner)
    assert same == (["c", "a", "b"], [])
    assert texts(("RETRIEVER", "cut", "rag", 1, None), inner) == same
    chosen = texts(("RETRIEVER", "cut", "rag", 1, ["a"]), inner, passages_from="span:store")
    assert chosen == same


def test_a_retrieval_around_other_steps_counts(tmp_path: Path) -> None:
    """Also where a step that retrieves nothing, or a reranking, stands between."""
    steps = as_otlp(
        ("RETRIEVER", "outer", "rag", 1, ["a"]),
        ("RERANKER", "rerank", "outer", 3, ["a", "b"]),
        ("CHAIN", "step", "outer", 2, ["of no interest"]),
        ("RETRIEVER", "one", "step", 4, ["a", "b"]),
        ("RETRIEVER", "two", "step", 5, ["b", "c"]),
        ("RETRIEVER", "beside", "rag", 6, ["d"]),
    )
    (sample,) = load(write(tmp_path / "a.json", *steps), notes=Notes())
    assert [each.text for each in sample.passages or ()] == ["a", "d"]


def test_tools_become_passages_where_that_is_wanted(tmp_path: Path) -> None:
    root = otlp_span("rag", "", 0, **{"input.value": Q, "output.value": A})
    results = json.dumps([text for _, text in DOCS])
    kind = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": results}
    path = write(tmp_path / "a.json", otlp(root, otlp_span("search", "rag", 1, **kind)))
    assert read(path, "otlp")[0].passages is None
    (one,) = read(path, "otlp", passages_from="tools")
    is_expected(one, ids=False)


def mlflow(name: str, parent: str | None, kind: str, inputs: Any, outputs: Any) -> dict[str, Any]:
    return {
        "trace_id": "x",
        "span_id": name,
        "parent_span_id": parent,
        "name": name,
        "start_time_unix_nano": 1 if parent is None else 2,
        "status": {"code": "OK"},
        "attributes": {
            "mlflow.spanType": json.dumps(kind),
            "mlflow.spanInputs": json.dumps(inputs),
            "mlflow.spanOutputs": json.dumps(outputs),
        },
    }


MLFLOW = [
    mlflow("rag", None, "CHAIN", {"question": Q}, A),
    mlflow(
        *("search", "rag", "RETRIEVER", {"query": Q}),
        [{"page_content": t, "metadata": {"doc_uri": "emma.txt"}, "id": k} for k, t in DOCS],
    ),
]
EXPECTATION = {"assessment_name": "expected_response", "expectation": {"value": "Austen"}}


def test_mlflow_traces(tmp_path: Path) -> None:
    info = {"trace_id": "tr-1", "state": "OK", "request_time": "2026-01-01T00:00:00Z"}
    trace = {"info": {**info, "assessments": [EXPECTATION]}, "data": {"spans": MLFLOW}}
    (one,) = read(write(tmp_path / "a.jsonl", trace), "mlflow")
    is_expected(one)
    assert (one.id, one.references, one.timestamp) == ("tr-1", ("Austen",), 1767225600.0)
    assert (one.passages or ())[0].document == "emma.txt"
    path = tmp_path / "a.json"
    path.write_text(json.dumps(trace, indent=1))
    assert read(path, "mlflow") == [one]


def test_mlflow_tables_of_traces(tmp_path: Path) -> None:
    row = {"trace_id": "tr-1", "state": "OK", "request": Q, "spans": MLFLOW}
    (one,) = read(write(tmp_path / "a.jsonl", row), "mlflow")
    is_expected(one)
    assert "a list of spans is expected" in error(
        write(tmp_path / "b.jsonl", {"trace_id": "tr-1", "spans": "none"})
    )


def test_mlflow_evaluation_data_and_tables(tmp_path: Path) -> None:
    row = {
        "inputs": {"question": Q},
        "outputs": {"response": A, "documents": LANGCHAIN},
        "expectations": {
            "expected_response": "Austen",
            "expected_retrieved_context": [{"doc_uri": "d1"}],
        },
    }
    (one,) = read(write(tmp_path / "a.jsonl", row), "mlflow")
    is_expected(one)
    assert one.references == ("Austen",) and [g.id for g in one.gold or ()] == ["d1"]
    table = {
        "columns": ["inputs", "ground_truth", "outputs", "token_count"],
        "data": [[Q, "Austen", A, 3]],
    }
    (two,) = read(write(tmp_path / "eval_results_table.json", table), "jsonl")
    assert (two.query, two.answer_text, two.references) == (Q, A, ("Austen",))


def test_gold_of_mlflow_is_compared_by_the_address_of_documents(tmp_path: Path) -> None:
    """Gold had the address as its id, passages had it as their document only: no ranking was
    scored."""

    def row(*documents: dict[str, Any], **more: Any) -> dict[str, Any]:
        expected = {"expected_retrieved_context": [{"doc_uri": "d1"}], **more}
        given = {"response": A, "retrieved_documents": list(documents)}
        return {"inputs": {"question": Q}, "outputs": given, "expectations": expected}

    def uri(name: str, **more: Any) -> dict[str, Any]:
        return {"page_content": "Emma is a novel.", "metadata": {"doc_uri": name}, **more}

    path = write(tmp_path / "a.jsonl", row(uri("d0"), uri("d1"), uri("d0")))
    (one,) = read(path, "mlflow")
    assert [(p.id, p.document) for p in one.passages or ()] == [
        (at, at) for at in ("d0", "d1", "d0")
    ]
    result = ragassay.evaluate([one], ["RR", "R@1"])
    assert [score.value for score in result.scores] == [0.5, 0.0]
    # A list of ids beside the passages counts.
    named = load(path, columns={"passage_ids": "passages[*].page_content"}, notes=Notes())
    assert [p.id for p in named[0].passages or ()] == ["Emma is a novel."] * 3
    # Ids of chunks give way to the address where gold is named by it, and stay elsewhere.
    notes = Notes()
    both = row(uri("d1", id="c1"))
    (two,) = load(write(tmp_path / "b.jsonl", both), notes=notes)
    assert [p.id for p in two.passages or ()] == ["d1"]
    assert any("an id beside the doc_uri" in note for note in notes)
    both["expectations"]["expected_retrieved_context"] = [{"content": "Emma"}]
    (three,) = load(write(tmp_path / "c.jsonl", both), notes=Notes())
    assert [p.id for p in three.passages or ()] == ["c1"]


def inspect_log(**more: Any) -> dict[str, Any]:
    sample = {
        "id": "s1",
        "epoch": 2,
        "input": Q,
        "target": ["Austen", "Jane Austen"],
        "output": {"model": "m", "choices": [{"message": {"role": "assistant", "content": A}}]},
        "metadata": {"documents": LANGCHAIN, "topic": "novels"},
        "scores": {"match": {"value": "C", "explanation": "yes"}},
        **more,
    }
    return {"version": 2, "status": "success", "eval": {"model": "openai/m"}, "samples": [sample]}


def test_inspect_logs(tmp_path: Path) -> None:
    (one,) = read(write(tmp_path / "log.json", inspect_log()), "inspect_log")
    is_expected(one)
    assert (one.id, one.system, one.repeat) == ("s1", "openai/m", 1)
    assert one.references == ("Austen", "Jane Austen")
    assert one.metadata == {"topic": "novels", "score.match": "C"}


def test_inspect_logs_of_conversations_and_failures(tmp_path: Path) -> None:
    talk = [
        *({"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}),
        {"role": "user", "content": [{"type": "text", "text": Q}]},
    ]
    failed = inspect_log(input=talk, output={}, error={"message": "boom", "traceback": "..."})
    (one,) = read(write(tmp_path / "log.json", failed), "inspect_log")
    assert (one.query, one.failure, one.answer) == (Q, "boom", None)
    assert one.history == (Turn("user", "Hi."), Turn("agent", "Hello."))


def test_tools_of_inspect_are_told_as_those_of_other_conversations(tmp_path: Path) -> None:
    turns = [
        {"role": "user", "content": Q},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "search"}]},
        {"role": "tool", "content": "Emma is a novel by Jane Austen.", "tool_call_id": "1"},
        {"role": "assistant", "content": A},
    ]
    path, notes = write(tmp_path / "a.json", inspect_log(messages=turns, metadata={})), Notes()
    load(path, notes=notes)
    assert any("--passages-from tools" in note for note in notes)
    notes = Notes()
    (one,) = load(path, notes=notes, passages_from="tools")
    assert len(one.passages or ()) == 1 and list(notes) == []


def test_metadata_of_inspect_that_only_sound_like_documents_are_kept(tmp_path: Path) -> None:
    log = inspect_log(metadata={"documents": ["Emma."], "context": "exam", "sources": ["a", "b"]})
    (one,) = load(write(tmp_path / "a.json", log), notes=Notes())
    assert [p.text for p in one.passages or ()] == ["Emma."]
    kept = {"context": "exam", "sources": ["a", "b"], "score.match": "C"}
    assert one.metadata == kept


def test_a_text_in_metadata_of_inspect_is_a_passage_where_it_is_no_label(tmp_path: Path) -> None:
    log = inspect_log(metadata={"sources": "exam", "context": "Emma is a novel.", "topic": "t"})
    (one,) = load(write(tmp_path / "a.json", log), notes=Notes())
    assert [p.text for p in one.passages or ()] == ["Emma is a novel."]
    assert one.metadata == {"sources": "exam", "topic": "t", "score.match": "C"}


def test_a_sample_of_inspect_that_a_limit_stopped_is_a_failure_where_it_has_no_answer(
    tmp_path: Path,
) -> None:
    limit = {"type": "token", "limit": 100.0}
    stopped = inspect_log(limit=limit, output={"completion": ""})
    (one,) = load(write(tmp_path / "a.json", stopped), notes=Notes())
    assert (one.answer, one.failure) == (None, "stopped at its limit of token: 100")
    (one,) = load(write(tmp_path / "a.json", inspect_log(limit=limit)), notes=Notes())
    assert (one.answer_text, one.failure) == (A, None)


def test_inspect_archives_are_refused_with_the_command_that_helps(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(b"PK\x03\x04" + bytes(50))
    assert "inspect log convert LOG --to json" in error(path)
    assert "the log has no samples" in error(
        write(tmp_path / "b.json", {"eval": {}, "status": "error", "samples": []})
    )


def promptfoo(index: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"r{index}",
        "promptIdx": 0,
        "testIdx": index,
        "success": False,
        "score": 0,
        "provider": {"id": "openai:m", "label": ""},
        "prompt": {"raw": "...", "label": "p"},
        "vars": {"query": Q, "context": [t for _, t in DOCS], "lang": "en"},
        "error": "Expected",
        "response": {"output": A, "tokenUsage": {}},
        "testCase": {"assert": [{"type": "factuality", "value": "Austen"}], "description": "d"},
        "namedScores": {"fact": 0.5},
        **more,
    }


def test_promptfoo_results(tmp_path: Path) -> None:
    results = [promptfoo(0), promptfoo(1, response={"error": "429"}, error="429"), promptfoo(0)]
    outer = {
        "evalId": "e",
        "results": {"version": 3, "results": results, "stats": {}},
        "config": {},
    }
    one, failed, again = read(write(tmp_path / "a.json", outer), "promptfoo")
    is_expected(one, ids=False)
    # A test that failed its assertion is an answer all the same.
    assert (one.system, one.references, one.failure) == ("openai:m", ("Austen",), None)
    assert one.metadata == {"lang": "en", "score.fact": 0.5, "description": "d", "prompt": "p"}
    assert (failed.id, failed.failure, failed.answer) == ("1", "429", None)
    assert (again.id, again.repeat) == ("0", 1)
    lines = read(write(tmp_path / "a.jsonl", *results), "promptfoo")
    assert lines == [one, failed, again]


@pytest.mark.parametrize("cited", [[1, 2], ["g.pdf"], []])
def test_what_an_answer_of_promptfoo_cites_does_not_replace_its_context(
    tmp_path: Path, cited: list[Any]
) -> None:
    response = {"output": {"answer": A, "sources": cited}}
    (one,) = read(write(tmp_path / "a.jsonl", promptfoo(0, response=response)), "promptfoo")
    is_expected(one, ids=False)
    response["output"]["sources"] = [text for _, text in DOCS]
    alone = promptfoo(0, response=response, vars={"query": Q})
    (one,) = read(write(tmp_path / "b.jsonl", alone), "promptfoo")
    is_expected(one, ids=False)


def test_answers_of_which_one_should_be_similar_are_references(tmp_path: Path) -> None:
    asserted = [{"type": "similar", "value": ["Jane Austen", "Austen"], "threshold": 0.8}]
    path = write(tmp_path / "a.jsonl", promptfoo(0, testCase={"assert": asserted}))
    (one,) = read(path, "promptfoo")
    assert one.references == ("Jane Austen", "Austen")


def test_variables_of_promptfoo_with_one_meaning_are_chosen_as_columns_are(tmp_path: Path) -> None:
    """Not by their order."""
    asked = {"question": Q, "prompt": "Be brief.", "contexts": ["Found."], "context": "Gold."}
    for one_order in (asked, dict(reversed(asked.items()))):
        (one,) = read(write(tmp_path / "a.jsonl", promptfoo(0, vars=one_order)), "promptfoo")
        assert (one.query, one.metadata["prompt"]) == (Q, "p")
        assert [p.text for p in one.passages or ()] == ["Found."]
        assert [p.text for p in one.gold or ()] == ["Gold."]
    twice = promptfoo(0, vars={"question": Q, "expected": "a", "target": "b"})
    path = write(tmp_path / "a.jsonl", twice)
    assert "--columns references=vars.expected" in error(path)
    (one,) = read(path, "promptfoo", columns={"references": "vars.target"})
    assert one.references == ("b",)


def test_with_columns_the_answer_of_promptfoo_is_no_reference(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", promptfoo(0, vars={"frage": Q, "lang": "en"}, testCase={}))
    (one,) = read(path, "promptfoo", columns={"query": "vars.frage"})
    assert (one.query, one.answer_text, one.references) == (Q, A, ())
    (one,) = read(path, "promptfoo", columns={"answer": "response.output", "query": "vars.frage"})
    assert (one.answer_text, one.references) == (A, ())


def test_promptfoo_files_without_results_are_errors(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", promptfoo(0), {"stats": {}})
    assert "line 2, field 'results': there is no list of results" in error(path)


def test_deepeval_test_runs(tmp_path: Path) -> None:
    case = {
        "name": "c1",
        "input": Q,
        "actualOutput": A,
        "expectedOutput": "Austen",
        "retrievalContext": [t for _, t in DOCS],
        "context": ["Gold."],
        "success": True,
        "metricsData": [{"name": "Faithfulness", "score": 1.0}],
    }
    data = {"testRunData": {"testFile": "t.py", "testCases": [case], "metricsScores": []}}
    (one,) = read(write(tmp_path / "run.json", data), "deepeval")
    is_expected(one, ids=False)
    assert one.references == ("Austen",) and [g.text for g in one.gold or ()] == ["Gold."]
    assert one.id == "c1" and one.metadata == {"score.Faithfulness": 1.0}


def deepeval(name: str | None, query: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "input": query, "actualOutput": A, "retrievalContext": ["Emma."], **more}


@pytest.mark.parametrize("key", ["additionalMetadata", "additional_metadata", "metadata"])
def test_scores_and_metadata_of_deepeval_are_the_samples(tmp_path: Path, key: str) -> None:
    scores = [{"name": "Faithfulness", "score": 0.9}, {"name": "Bias", "score": None}]
    case = deepeval("test_case_0", Q, metricsData=scores, tags=["a"], **{key: {"lang": "de"}})
    path, notes = write(tmp_path / "run.json", {"testCases": [case]}), Notes()
    (one,) = load(path, notes=notes)
    assert one.metadata == {
        "lang": "de",
        "score.Faithfulness": 0.9,
        "name": "test_case_0",
        "tags": ["a"],
    }
    assert not any("left out" in note for note in notes)
    assert "name" not in place(path).unplaced
    (named,) = load(path, notes=Notes(), columns={"metadata": key, "id": "name"})
    assert named.id == "test_case_0" and named.metadata["lang"] == "de"


@pytest.mark.parametrize(
    ("names", "are_ids"),
    [
        (("c1", "c2"), True),
        (("c1", "c1"), False),
        (("c1", None), False),
        # deepeval counts the cases of a run: in another run another case is the first.
        (("test_case_0", "test_case_1"), False),
    ],
)
def test_names_of_test_cases_of_deepeval_are_ids_where_people_gave_them(
    tmp_path: Path, names: tuple[str | None, str | None], are_ids: bool
) -> None:
    cases = [deepeval(name, query) for name, query in zip(names, (Q, "When?"), strict=True)]
    found = load(write(tmp_path / "run.json", {"testCases": cases}), notes=Notes())
    ids = [one.id for one in found]
    if are_ids:
        assert ids == [*names]
    else:
        assert all(one.startswith("q-") for one in ids)
    told = [one.metadata.get("name") for one in found]
    assert told == ([None, None] if are_ids else [*names])


def test_names_in_several_test_runs_of_deepeval_are_no_ids_twice(tmp_path: Path) -> None:
    runs = [{"testCases": [deepeval("c1", query)]} for query in (Q, "When?")]
    first, second = load(write(tmp_path / "runs.jsonl", *runs), notes=Notes())
    assert first.id == "c1" and second.id.startswith("q-")


def test_the_context_of_deepeval_is_gold_also_where_nothing_was_retrieved(tmp_path: Path) -> None:
    """deepeval leaves out what is null."""
    case = {"name": "c1", "input": Q, "actualOutput": A, "context": ["Gold."]}
    other = {**case, "name": "c2", "input": "When?", "retrievalContext": ["Found."]}
    header = "input,actual_output,context,retrieval_context,custom_column_key_values\n"
    (tmp_path / "a.csv").write_text(f"{header}{Q},{A},Gold.,,\nWhen?,{A},Gold.,Found.,\n")
    for path in (write(tmp_path / "run.json", {"testCases": [case, other]}), tmp_path / "a.csv"):
        one, two = read(path, "deepeval")
        assert one.passages is None and [p.text for p in two.passages or ()] == ["Found."]
        assert all([g.text for g in each.gold or ()] == ["Gold."] for each in (one, two))


def test_datasets_of_deepeval_in_csv_need_no_custom_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    names = "input,actual_output,expected_output,context,retrieval_context"
    path.write_text(
        f"{names},name,comments,source_file,tools_called,expected_tools\n"
        """Who?,I.,I.,g1|g2,r1|r2,,,,,\nWhen?,I.,I.,"['g1', 'g2']","[""r1"", ""r2""]",,,,,\n"""
    )
    for one in read(path, "deepeval"):
        assert [p.text for p in one.passages or ()] == ["r1", "r2"]
        assert [g.text for g in one.gold or ()] == ["g1", "g2"]
    path.write_text(f"{names}\nWho?,I.,I.,g1|g2,r1|r2\n")
    assert detect(path).name == "csv"


def test_deepeval_conversations(tmp_path: Path) -> None:
    turns = [
        *({"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}),
        {"role": "user", "content": Q},
        {"role": "assistant", "content": A, "retrieval_context": [t for _, t in DOCS]},
    ]
    case = {"scenario": "A reader asks.", "expected_outcome": "Told.", "turns": turns}
    (one,) = read(write(tmp_path / "cases.json", [case]), "deepeval")
    is_expected(one, ids=False)
    assert [turn.text for turn in one.history] == ["Hi.", "Hello."]


RAGAS = [
    {"question": Q, "contexts": [DOCS[0][1]], "answer": A, "ground_truths": ["Austen"]},
    {"question": Q, "contexts": [DOCS[0][1]], "answer": A, "ground_truth": "Austen"},
    {"user_input": Q, "retrieved_contexts": [DOCS[0][1]], "response": A, "reference": "Austen"},
    {
        "user_input": [
            {"content": "Hi.", "type": "human"},
            {"content": "Hello.", "type": "ai"},
            {"content": Q, "type": "human"},
            {"content": "", "type": "ai", "tool_calls": [{"name": "search", "args": {"q": Q}}]},
            {"content": DOCS[0][1], "type": "tool"},
            {"content": A, "type": "ai"},
        ],
        "reference": "Austen",
    },
]


@pytest.mark.parametrize("record", RAGAS)
def test_every_generation_of_ragas_records(tmp_path: Path, record: Any) -> None:
    path = write(tmp_path / "a.jsonl", record)
    (one,) = read(path, "jsonl", passages_from="tools")
    assert (one.query, one.answer_text, one.references) == (Q, A, ("Austen",))
    assert [p.text for p in one.passages or ()] == [DOCS[0][1]]


OPENAI = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": Q}]},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "s"}}]},
    {"role": "tool", "tool_call_id": "c", "content": json.dumps({"results": LANGCHAIN})},
    {"role": "assistant", "content": A},
]
ANTHROPIC = [
    {"role": "user", "content": Q},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "I search."}, {"type": "tool_use", "name": "s"}],
    },
    {"role": "user", "content": [{"type": "tool_result", "content": json.dumps(LANGCHAIN)}]},
    {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "?"}, {"type": "text", "text": A}],
    },
]


@pytest.mark.parametrize("messages", [OPENAI, ANTHROPIC])
def test_messages_with_tools_are_read(tmp_path: Path, messages: Any) -> None:
    path = write(tmp_path / "a.jsonl", {"id": "1", "messages": messages})
    notes = Notes()
    (one,) = load(path, notes=notes)
    assert (one.query, one.answer_text, one.passages, one.history) == (Q, A, None, ())
    assert any("--passages-from tools" in line for line in notes)
    (one,) = load(path, notes=Notes(), passages_from="tools")
    is_expected(one)


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"type": "image_url", "image_url": {"url": "data:..."}}, "a message holds an image"),
        ({"type": "input_image", "image_url": "data:..."}, "a message holds an image"),
        ({"type": "image", "source": {"data": ""}}, "a message holds an image"),
        ({"type": "input_audio", "input_audio": {}}, "a part of the type 'input_audio'"),
    ],
)
def test_images_are_refused_with_the_place(tmp_path: Path, part: Any, said: str) -> None:
    good = {"id": "1", "messages": [{"role": "user", "content": Q}]}
    bad = {
        "id": "2",
        "messages": [{"role": "user", "content": [{"type": "text", "text": Q}, part]}],
    }
    told = error(write(tmp_path / "a.jsonl", good, bad))
    assert "a.jsonl, line 2, field 'messages.content'" in told and said in told
    assert "Leave the record out" in told


def test_traces_take_columns_into_what_the_system_was_given_and_gave(tmp_path: Path) -> None:
    root = {**RUNS[0], "inputs": {"x": {"y": Q}}, "outputs": {"steps": [{"said": A}]}}
    path = write(tmp_path / "a.jsonl", root, RUNS[1])
    (one,) = read(
        path, "langsmith", columns={"query": "inputs.x.y", "answer": "outputs.steps[-1].said"}
    )
    is_expected(one)


def test_a_trace_without_content_is_left_out_and_told(tmp_path: Path) -> None:
    empty = {**RUNS[0], "id": "z", "trace_id": "t9", "inputs": {}, "outputs": {}}
    notes = Notes()
    (one,) = load(write(tmp_path / "a.jsonl", empty, *RUNS), notes=notes)
    is_expected(one)
    assert any("traces without a question, an answer and passages: 1" in line for line in notes)


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([{**RUNS[0], "id": None}], "line 1, field 'id': the record has no id"),
        ([RUNS[0], {**RUNS[1], "id": ""}], "line 2, field 'id': the record has no id"),
        (
            [{**PHOENIX[0], "context.trace_id": None}],
            "field 'context.trace_id': the record has no id",
        ),
        (
            [otlp(), {"resourceSpans": [{"scopeSpans": {}}]}],
            "line 2, field 'resourceSpans': a list of",
        ),
    ],
)
def test_a_faulty_export_is_an_error_that_says_where(
    tmp_path: Path, records: list[Any], said: str
) -> None:
    assert said in error(write(tmp_path / "a.jsonl", *records))


JUNK = st.sampled_from([None, 3, 0.5, True, "x", "", [], {}, [1], ["x"], {"a": 1}, [None], [[]]])
SHAPES = [
    [*RUNS],
    [{"run": RUNS[0], "example": {"id": "e", "inputs": {}, "outputs": {"answer": A}}}],
    [{"id": "t", "sessionId": "s", "input": Q, "output": A, "observations": OBSERVATIONS}],
    [*OBSERVATIONS],
    [{"id": "i1", "datasetId": "s", "input": {"question": Q}, "expectedOutput": {"answer": A}}],
    [*PHOENIX],
    [otlp(otlp_span("rag", "", 0, **{"input.value": Q, "retrieval.documents.0.document.id": "d"}))],
    [{"info": {"trace_id": "t", "assessments": [EXPECTATION]}, "data": {"spans": MLFLOW}}],
    [{"inputs": {"question": Q}, "outputs": {"response": A}, "expectations": {"x": [{"y": 1}]}}],
    [inspect_log()],
    [promptfoo(0), promptfoo(1)],
    [{"testCases": [{"input": Q, "actualOutput": A, "turns": [{"role": "user", "content": Q}]}]}],
    [{"messages": OPENAI}],
    [{"messages": ANTHROPIC}],
]


def places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if not isinstance(value, dict | list):
        return [above]
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    return [above, *(place for key, one in inner for place in places(one, (*above, key)))]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_an_export_of_another_shape_is_read_or_refused(tmp_path: Path, data: Any) -> None:
    records = copy.deepcopy(data.draw(st.sampled_from(SHAPES)))
    for _ in range(data.draw(st.integers(1, 2))):
        *above, last = data.draw(st.sampled_from([one for one in places(records) if one]))
        inner = records
        for key in above:
            inner = inner[key]
        inner[last] = copy.deepcopy(data.draw(JUNK))
    path = write(tmp_path / "a.jsonl", *records)
    with contextlib.suppress(RagassayError):
        load(path, notes=Notes(), passages_from=data.draw(st.sampled_from(["retrieval", "tools"])))


def test_choosing_a_column_of_a_trace_leaves_the_other_fields_as_they_are(tmp_path: Path) -> None:
    run = {
        "id": "a", "trace_id": "a", "run_type": "chain", "name": "rag",
        "inputs": {"input": {"question": "Who?"}},
        "outputs": {"result": {"answer": "I.", "hits": ["A passage."]}},
    }  # fmt: skip
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(run), encoding="utf-8")
    (plain,) = load(path)
    assert plain.answer is not None and (plain.references, plain.passages) == ((), None)
    (mapped,) = load(path, columns={"passages": "outputs.result.hits"})
    assert (mapped.query, mapped.answer, mapped.references) == (plain.query, plain.answer, ())
    assert [one.text for one in mapped.passages or ()] == ["A passage."]
    (asked,) = load(path, columns={"query": "inputs.input.question"})
    assert (asked.query, asked.answer, asked.references) == ("Who?", plain.answer, ())


def test_what_langfuse_observes_is_a_call_of_a_function(tmp_path: Path) -> None:
    for number, call in enumerate(({"args": [Q], "kwargs": {}}, {"args": [], "kwargs": {"q": Q}})):
        trace = {"id": "t1", "projectId": "p", "input": call, "output": A, "observations": []}
        (one,) = read(write(tmp_path / f"{number}.json", trace), "langfuse")
        assert (one.query, one.answer_text) == (Q, A)


def spans_named(path: Path, name: str, output: Any, notes: Notes, **options: Any) -> Any:
    step = observation("SPAN", name, 1, output=output)
    trace = {"id": "t1", "projectId": "p", "input": Q, "output": A, "observations": [step]}
    (one,) = load(write(path, trace), notes=notes, **options)
    return one.passages and [passage.text for passage in one.passages]


TEXTS = [text for _, text in DOCS]


@pytest.mark.parametrize("name", ["vector-search", "get_context", "lookupFaq", "Knowledge base"])
def test_a_step_whose_name_says_that_it_retrieves_does(tmp_path: Path, name: str) -> None:
    for output in (TEXTS, {"documents": LANGCHAIN}, [{"content": text} for text in TEXTS]):
        assert spans_named(tmp_path / "a.json", name, output, Notes()) == TEXTS
    # What has not the shape of documents is none.
    for output in ("Emma", {"count": 2}, [0.5, 0.25], [{"role": "user", "content": Q}]):
        assert spans_named(tmp_path / "a.json", name, output, Notes()) is None


@pytest.mark.parametrize("name", ["research", "rewrite_search", "search_queries", "steps"])
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
    path = write(tmp_path / "a.json", trace)
    (one,) = read(path, "langfuse", passages_from="span:cut")
    assert [passage.text for passage in one.passages or ()] == ["few"]
    notes = Notes()
    (one,) = load(path, notes=notes, passages_from="span:none")
    assert one.passages is None and any("traces without a step 'none': 1" in x for x in notes)
    with pytest.raises(UsageError, match="'spam' is none of retrieval, tools and span:NAME"):
        load(path, passages_from="spam")


def test_traces_in_which_no_name_is_known_are_named_with_their_paths(tmp_path: Path) -> None:
    own = run("root", "chain", None, 0, inputs={"ask_me": Q, "k": 4}, outputs={"said": [A]})
    path = write(tmp_path / "a.jsonl", own)
    assert "no column is known as a query, an answer or passages: inputs.ask_me, outputs.said" in (
        error(path)
    )
    placed = place(path)
    assert placed.unplaced == ("inputs.ask_me", "outputs.said")
    assert placed.suggested["query"] == "inputs.ask_me"
    columns = {"query": "inputs.ask_me", "answer": "outputs.said[0]"}
    (one,) = read(path, "langsmith", columns=columns)
    assert (one.query, one.answer_text) == (Q, A)
    # Where others can be read, the note says which were left out and why.
    known = [{**one, "id": f"{one['id']}2", "trace_id": "t2"} for one in RUNS[:1]]
    notes = Notes()
    assert len(load(write(path, *known, own), notes=notes)) == 1
    (told,) = [line for line in notes if line.startswith("traces without a question")]
    assert "1 (first: line 2)" in told and "inputs.ask_me" in told


def test_a_column_from_which_the_query_came_holds_a_field(tmp_path: Path) -> None:
    own = {"id": "1", "inputs": {"question": Q, "language": "en"}, "answer": A}
    placed = place(write(tmp_path / "a.jsonl", own))
    assert placed.placed["query"] == "inputs.question"
    assert placed.unplaced == ("inputs.language",)


def test_phoenix_frames_in_json_are_named_by_their_index(tmp_path: Path) -> None:
    frame = {
        name: {span["context.span_id"]: span.get(name) for span in PHOENIX}
        for name in dict.fromkeys(name for span in PHOENIX for name in span)
        if name != "context.span_id"
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps(frame))
    (one,) = read(path, "phoenix")
    is_expected(one)


def test_times_of_phoenix_frames_in_json_count_milliseconds(tmp_path: Path) -> None:
    times = {"start_time": 1772445600000, "end_time": 1772445603500}  # as DataFrame.to_json does
    path = write(tmp_path / "a.jsonl", *({**span, **times} for span in PHOENIX))
    (one,) = read(path, "phoenix")
    assert one.timestamp == 1772445600.0 and one.metadata["asked"] == {"latency": 3.5}
    told = error(write(path, {**PHOENIX[0], "start_time": "soon"}))
    assert "line 1, field 'start_time': this is no point in time" in told


def test_phoenix_frames_in_csv_hold_what_python_prints(tmp_path: Path) -> None:
    rows = [{k: v if isinstance(v, str | None) else str(v) for k, v in x.items()} for x in PHOENIX]
    pl.DataFrame(rows).write_csv(tmp_path / "a.csv")
    (one,) = read(tmp_path / "a.csv", "phoenix")
    is_expected(one)


def test_systems_of_promptfoo_are_told_apart_by_prompts_where_there_are_several(
    tmp_path: Path,
) -> None:
    def systems(*asked: tuple[str, int, str]) -> list[str]:
        results = [
            promptfoo(0, provider={"id": name}, promptIdx=at, prompt={"raw": "R", "label": label})
            for name, at, label in asked
        ]
        path = write(tmp_path / "a.json", {"results": {"results": results}})
        return [one.system for one in load(path, notes=Notes())]

    # promptfoo counts prompts over all providers.
    assert systems(("a", 0, "short"), ("b", 1, "short")) == ["a", "b"]
    several = (("a", 0, "short"), ("a", 1, "long"), ("b", 2, "short"))
    assert systems(*several) == ["a#short", "a#long", "b"]
    assert systems(("a", 0, "R"), ("a", 1, "R")) == ["a#1", "a#2"]


def test_columns_of_ones_own_beside_the_evaluation_data_of_mlflow_are_read(tmp_path: Path) -> None:
    row = {"inputs": {"question": Q}, "expectations": {"expected_response": "Austen"}}
    path = write(tmp_path / "a.jsonl", {**row, "query_id": 7, "contexts": ["Found."]})
    (one,) = read(path, "mlflow")
    assert (one.id, one.references) == ("7", ("Austen",))
    assert [p.text for p in one.passages or ()] == ["Found."]
