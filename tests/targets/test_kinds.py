"""Every kind of target: what it is sent, and what is read of what it says."""

import json
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragassay.base.errors import InputError, UsageError
from ragassay.base.sample import Sample, Turn
from ragassay.cli.command_line import call
from ragassay.formats import load
from ragassay.targets import target
from ragassay.targets.ask_run import ask
from ragassay.targets.asking.ask_summary import Answers
from ragassay.targets.http_api.http_mapping import with_environment
from ragassay.targets.http_api.http_target import HttpTarget
from ragassay.targets.reply_shapes import read_text
from ragassay.targets.target_factory import AskOptions, make_targets
from ragassay.transport.endpoints import EndpointError
from system_server import PLAIN, Reply, SystemServer, ask_served

ROOT = Path(__file__).resolve().parents[2]
JSON = "application/json"
QUERIES = [
    Sample(
        id="q1", query="And now?", history=(Turn("user", "First?"), Turn("agent", "Yes.")),
        metadata={"tenant": "t1"},
    )
]  # fmt: skip
GOLD = [{"id": "q", "query": "Why?", "gold_passages": [{"id": "p", "text": "So."}]}]
MESSAGES = [
    {"role": "user", "content": "First?"},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "And now?"},
]


def only(answers: Answers) -> Sample:
    (sample,) = answers.samples
    assert sample.failure is None, sample.failure
    return sample


def events(*bodies: Any) -> Reply:
    lines = [f"data: {json.dumps(body)}\n\n" for body in bodies]
    return Reply(
        "".join([": hello\n\n", *lines, "data: [DONE]\n\n"]).encode(), kind="text/event-stream"
    )


def test_a_mapping_fills_in_what_the_query_holds_and_reads_every_part() -> None:
    reply = {
        "out": [{"said": "It is 3 [a]."}],
        "found": [{"k": "a", "body": "text a", "where": {"span": [3, 9]}}, {"k": "b", "body": ""}],
        "cites": ["a"],
        "meta": {"v": "2026-01", "cents": 0.02, "n": [7, 8]},
    }
    with SystemServer(lambda number, sent: reply) as server:
        Path("mine.yaml").write_text(f"""\
name: shop
url: {server.url}/ask/{{{{id}}}}
method: PUT
params: {{tenant: "{{{{metadata.tenant}}}}"}}
body:
  text: "{{{{history}}}} Q: {{{{query}}}}"
  turns: "{{{{history}}}}"
  all: ["{{{{messages}}}}", "{{{{repeat}}}}", "{{{{metadata}}}}"]
answer: out[0].said
passages: found
passage: {{id: k, text: body, start: "where.span[0]?", end: "where.span[1]?"}}
citations: cites
usage: {{input_tokens: "meta.n[0]", output_tokens: "meta.n[1]", cost: meta.cents}}
version: [meta.version, meta.v]
""")
        sample = only(ask(QUERIES, "mine.yaml"))
        assert server.paths == ["/ask/q1?tenant=t1"]
        assert server.asked[0]["text"] == "user: First?\nassistant: Yes. Q: And now?"
        assert [server.headers[0][one] for one in ("Content-Type", "Accept")] == [JSON, JSON]
        assert server.asked[0]["turns"] == MESSAGES[:-1]
        assert server.asked[0]["all"] == [MESSAGES, 0, {"tenant": "t1"}]
    assert sample.system == "shop" and sample.passages is not None and sample.answer is not None
    assert [(p.id, p.text, p.start, p.end) for p in sample.passages] == [
        *(("a", "text a", 3, 9), ("b", "", None, None))
    ]
    assert sample.answer.statements[0].citations == ("a",)
    asked = sample.metadata["asked"]
    assert (asked["input_tokens"], asked["output_tokens"], asked["cost"]) == (7, 8, 0.02)
    assert asked["version"] == "2026-01" and sample.metadata["tenant"] == "t1"


def test_server_sent_events_become_one_answer_and_tell_the_first_token() -> None:
    pieces = {"d": ""}, {"d": "It is "}, {"d": "3."}, {"u": {"in": 5}}
    reply = events({"hits": [{"id": "a", "text": "t"}], "u": {"in": 1}}, *pieces)
    parts = "stream: sse\npassages: hits\nusage: {input_tokens: u.in}\n"
    sample = only(ask_served(reply, PLAIN.replace("answer: a", "answer: d") + parts))
    assert sample.answer_text == "It is 3."
    assert sample.passages is not None and sample.passages[0].id == "a"
    asked = sample.metadata["asked"]
    assert 0 < asked["first_token"] <= asked["latency"] and asked["input_tokens"] == 5


def test_a_stream_without_an_answer_is_a_failure_that_shows_what_came() -> None:
    (sample,) = ask_served(events({"token": "x"}), f"{PLAIN}stream: sse\n").samples
    assert "no event with the path answer (a)" in (sample.failure or "")
    assert "token" in (sample.failure or "")


@pytest.mark.parametrize(("stream", "model", "cost"), [
    (False, "my-model", None),  # nobody told it, and no list price is known
    (True, "gpt-4o-mini", (9 * 0.15 + 2 * 0.60) / 1e6),
])  # fmt: skip
def test_an_openai_compatible_chat(monkeypatch, stream: bool, model: str, cost: Any) -> None:
    monkeypatch.setenv("RAGASSAY_API_KEY", "key-of-a-test")
    Path("key").write_text("key-of-a-file\n")
    options: Any = {"stream": True, "key_file": "key"} if stream else {}
    context = {"citations": [{"content": "text a", "id": "a"}]}
    usage = {"prompt_tokens": 9, "completion_tokens": 2}
    whole = {
        "model": "m-1",
        "choices": [{"message": {"content": "It is 3.", "context": context}}],
        "usage": usage,
    }
    pieces = [
        {"model": "m-1", "choices": [{"delta": {"role": "assistant", "context": context}}]},
        {"model": "m-1", "choices": [{"delta": {"content": "It is "}}]},
        {"model": "m-1", "choices": [{"delta": {"content": "3."}}]},
        {"model": "m-1", "choices": [], "usage": usage},
    ]
    with SystemServer(lambda number, sent: events(*pieces) if stream else whole) as server:
        monkeypatch.setenv("RAGASSAY_BASE_URL", server.url)
        sample = only(ask(QUERIES, f"{server.url}/v1#{model}", **options))
        assert server.paths == ["/v1/chat/completions"]
        assert server.asked[0]["model"] == model and server.asked[0]["messages"] == MESSAGES
        key = "key-of-a-file" if stream else "key-of-a-test"
        assert server.headers[0]["Authorization"] == f"Bearer {key}"
    assert sample.system == model and sample.answer_text == "It is 3."
    assert sample.passages is not None and sample.passages[0].text == "text a"
    asked = sample.metadata["asked"]
    assert (asked["input_tokens"], asked["output_tokens"]) == (9, 2)
    assert asked.get("cost") == (cost and pytest.approx(cost))
    assert asked["version"] == "m-1" and ("first_token" in asked) is stream


@pytest.mark.parametrize(("written", "in_pieces"), [
    ("'x' * 200_000, flush=True); time.sleep(0.3); print('y'", True),  # more than a pipe holds
    ("json.dumps({'answer': 'x' * 200_000})", False),
])  # fmt: skip
def test_only_a_command_that_writes_a_text_in_pieces_has_a_first_token(written, in_pieces) -> None:
    Path("rag.py").write_text(f"import json, time\nprint({written})\n")
    asked = only(ask(QUERIES, "command:python rag.py")).metadata["asked"]
    assert ("first_token" in asked) is in_pieces
    assert not in_pieces or asked["first_token"] < asked["latency"] - 0.25


def test_vectaras_query_api(monkeypatch: pytest.MonkeyPatch) -> None:
    reply = {
        "summary": "It is 3 [1].",
        "response_language": "eng",
        "search_results": [
            {"text": "text a", "score": 0.9, "part_metadata": {}, "document_id": "doc-a",
             "document_metadata": {}, "request_corpora_index": 0},
        ],
        "factual_consistency_score": 0.8,
    }  # fmt: skip
    with SystemServer(lambda number, sent: reply) as server:
        monkeypatch.setenv("VECTARA_API_KEY", "zqt_of-a-test")
        monkeypatch.setenv("VECTARA_BASE_URL", server.url)
        sample = only(ask(QUERIES, "vectara:town"))
        assert server.paths == ["/v2/corpora/town/query"]
        assert server.headers[0]["x-api-key"] == "zqt_of-a-test"
        assert server.asked[0]["query"] == "And now?" and not server.asked[0]["stream_response"]
    assert sample.system == "town" and sample.answer_text == "It is 3 [1]."
    assert sample.passages is not None
    assert (sample.passages[0].document, sample.passages[0].score) == ("doc-a", 0.9)


def test_a_command_reads_json_and_writes_a_text_or_an_object(desk, monkeypatch) -> None:
    for name in ("python", "python3"):
        Path(name).write_text("#!/bin/sh\necho another environment\n")  # not what runs us
        Path(name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{desk}:{os.environ['PATH']}")
    Path("rag.py").write_text(
        "import json, sys\nasked = json.load(sys.stdin)\n"
        "print(json.dumps({'answer': asked['query'], 'passages': ['t'], 'usage': {'input_tokens':"
        " len(asked['history']), 'output_tokens': 1}}))\n"
    )
    sample = only(ask(QUERIES, "mine=command:python rag.py"))
    assert (sample.system, sample.answer_text) == ("mine", "And now?")
    assert sample.passages is not None and sample.metadata["asked"]["input_tokens"] == 2
    long = [replace(QUERIES[0], query="x" * 200_000)]  # which it need not read
    assert only(ask(long, "command:echo plain words")).answer_text == "plain words"
    for script in ("exit('so:\\nno index here')\n", "print('no index here')\nexit(1)\n"):
        Path("bad.py").write_text(script)
        why = str(ask(QUERIES, "command:python3 bad.py").samples[0].failure)
        assert why.startswith("failed: python3 bad.py ended with code 1: no index here. Correct")


@pytest.mark.parametrize(("command", "name"), [
    ("python rag.py --k 5", "rag"), (f"{sys.executable} -u tools/rag.v2.py keyword", "rag.v2"),
    ("python -m tools.rag --config rag.py", "tools.rag"), ("python -c pass", "python"),
    ("env K=5 python rag.py", "rag"), ("./start.sh --k 5", "start"),
])  # fmt: skip
def test_a_command_is_called_after_its_script_or_program(command: str, name: str) -> None:
    Path("tools").mkdir()
    for script in ("rag.py", "tools/rag.v2.py", "start.sh"):
        Path(script).write_text("#!/bin/sh\n")
        Path(script).chmod(0o755)
    (made,) = make_targets(f"command:{command}", AskOptions())
    assert made.name == name
    (named,) = make_targets({"mine": f"other=command:{command}"}, AskOptions())
    assert named.name == "mine" and named.identity == made.identity
    with pytest.raises(UsageError, match="Two targets are called"):
        make_targets([f"command:{command}", f"{name}=command:echo"], AskOptions())


def test_a_python_object_is_called_as_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("own_engines.py").write_text(
        "class QE:\n    def query(self, text):\n        return text\n\n\nqe = QE()\n"
        "class all:\n    best = qe\n"
    )
    monkeypatch.delitem(sys.modules, "own_engines", raising=False)
    one, other = make_targets(["own_engines:qe", "own_engines:all.best"], AskOptions())
    assert (one.name, other.name) == ("qe", "all.best")
    (bare,) = make_targets(sys.modules["own_engines"].qe, AskOptions())
    assert bare.name == "QE"


def test_a_function_whose_imports_changed_is_another_system() -> None:
    Path("inner_words.py").write_text("WORDS = 'the first'\n")
    Path("imports_rag.py").write_text("import inner_words\ndef answer(query):\n    return 'x'\n")
    (before,), (same,) = (make_targets("imports_rag:answer", AskOptions()) for _ in range(2))
    assert before.fingerprint == same.fingerprint
    Path("inner_words.py").write_text("WORDS = 'the second'\n")
    (after,) = make_targets("imports_rag:answer", AskOptions())
    assert after.fingerprint != before.fingerprint


def test_a_mapping_is_known_by_all_that_it_says_but_its_name() -> None:
    def known(more: str) -> str:
        Path("mine.yaml").write_text(f"{PLAIN}{more}\n")
        (made,) = make_targets("same=mine.yaml", AskOptions())
        return made.fingerprint

    changes = ["", "method: PUT", "headers: {X-Index: b}", "params: {k: 3}", "passages: hits"]
    changes += ["passage: {id: k}", "citations: c", "usage: {cost: c}", "version: v", "error: e"]
    changes += ["stream: sse", "stream: lines", "stream: lines\nend_mark: e"]
    assert len(set(map(known, changes))) == len(changes)
    assert known("name: other") == known("")
    assert known("params: {a: 1, b: 2}") == known("params: {b: 2, a: 1}")


def test_a_mapping_takes_passages_where_it_has_a_place_for_them() -> None:
    for slot, takes in (("passages", True), ("messages", True), ("history", False)):
        body = f'body: {{q: "{{{{query}}}}", more: "{{{{{slot}}}}}"}}'
        Path("mine.yaml").write_text(f"url: http://h\n{body}\nanswer: a\n")
        assert make_targets("mine.yaml", AskOptions())[0].takes_passages is takes


def test_a_command_that_hangs_is_killed_with_what_it_started() -> None:
    Path("hang.py").write_text(
        "import os, pathlib, subprocess as s, time\n"
        "child = s.Popen(['sleep', '20'], stdout=s.DEVNULL, stderr=s.DEVNULL)\n"
        "pathlib.Path('pids').write_text(f'{os.getpid()} {child.pid}')\n"
        "while True: time.sleep(1)\n"
    )
    (failed,) = ask(QUERIES, "command:python hang.py", timeout=1.5).samples
    assert (failed.failure or "").startswith("timeout: python hang.py did not answer")

    def lives(pid: str) -> bool:
        state = Path(f"/proc/{pid}/stat")
        return state.exists() and ") Z " not in state.read_text()

    end = time.monotonic() + 5
    while (left := [*filter(lives, Path("pids").read_text().split())]) and time.monotonic() < end:
        time.sleep(0.01)
    assert not left


def test_a_tool_of_an_mcp_server() -> None:
    pytest.importorskip("mcp", reason="needs the extra 'mcp'")
    Path("server.py").write_text("""\
from mcp.server.mcpserver import MCPServer

app = MCPServer("mine")


@app.tool()
def answer(question: str, history: list[dict[str, str]] | None = None) -> dict[str, object]:
    return {"answer": f"about {question}", "passages": [f"turns: {len(history or [])}"]}


@app.tool()
def plain(asked: str, depth: int = 3) -> str:
    if asked == "And now?":
        return "in words"
    raise ValueError("never")


@app.tool()
def several(query: str) -> list[str]:
    return ["one", "two"]


app.run()
""")
    sample = only(ask(QUERIES, "mcp:python server.py#answer"))
    assert sample.answer_text == "about And now?"
    assert sample.passages is not None and sample.passages[0].text == "turns: 2"
    assert only(ask(QUERIES, "mcp:python server.py#plain")).answer_text == "in words"
    assert only(ask(QUERIES, "mcp:python server.py#several")).answer_text == "one\ntwo"
    tools = ["mcp:python server.py#answer", "mcp:python server.py#plain"]
    made = [make_targets(f"mine={word}", AskOptions())[0] for word in tools]
    assert len({one.fingerprint for one in made}) == 2, "another tool is another system"
    with pytest.raises(UsageError, match="takes no passages"):
        ask(GOLD, tools[1], gold_passages=True)


@dataclass
class Document:
    """As LangChain's."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass
class Message:
    """As LangChain's messages and their pieces."""

    content: str
    usage_metadata: dict[str, int] | None = None

    def __add__(self, other: "Message") -> "Message":
        return Message(self.content + other.content, other.usage_metadata or self.usage_metadata)


def test_langchain_runnables_by_their_methods() -> None:
    given: list[Any] = []

    class Chain:
        input_keys = ("input", "chat_history")

        async def ainvoke(self, asked: Any) -> Any:
            given.append(asked)
            found = Document("text a", {"source": "a.md", "score": 0.4}, "a")
            return {"input": asked["input"], "context": [found], "answer": "It is 3."}

    class Model:
        def get_input_jsonschema(self) -> Any:
            raise NotImplementedError  # it says nothing

        async def astream(self, asked: Any):
            given.append(asked)
            yield Message("It is ")
            yield Message("3.", {"input_tokens": 4, "output_tokens": 2})

    class Retrieval:
        input_keys = ("topic", "text")  # of which none is known to be the query

        def invoke(self, asked: Any) -> Any:
            return {"result": asked.upper(), "source_documents": [(Document("b"), 0.25)]}

    answers = ask(QUERIES, {"chain": Chain(), "model": Model(), "sync": Retrieval()})
    chain, model, sync = answers.samples
    history = [("human", "First?"), ("ai", "Yes.")]
    assert given == [{"input": "And now?", "chat_history": history}, "And now?"]
    assert chain.answer_text == model.answer_text == "It is 3." and sync.answer_text == "AND NOW?"
    assert chain.passages is not None and sync.passages is not None
    first = chain.passages[0]
    assert (first.id, first.text, first.document, first.score) == ("a", "text a", "a.md", 0.4)
    assert sync.passages[0].score == 0.25
    asked = model.metadata["asked"]
    assert asked["output_tokens"] == 2 and asked["first_token"] <= asked["latency"]


def test_llamaindex_query_engines_by_their_methods() -> None:
    @dataclass
    class Node:
        node_id: str
        text: str
        metadata: dict[str, Any] = field(default_factory=dict)

        def get_content(self) -> str:
            return self.text

    @dataclass
    class WithScore:
        node: Node
        score: float | None

    @dataclass
    class Response:
        response: str | None
        source_nodes: list[WithScore]
        response_gen: Any = None

    nodes = [WithScore(Node("a", "text a", {"file_name": "a.md"}), 0.0)]

    class Engine:
        async def aquery(self, query: str) -> Response:
            return Response(f"about {query}", nodes, iter(["read before"]))

    class Streaming:
        def query(self, query: str) -> Response:
            return Response(None, nodes, iter(["in ", "pieces"]))

    async def pieces() -> AsyncIterator[str]:
        yield "in "
        yield "pieces"

    def later(query: str) -> Any:
        return SimpleNamespace(response=None, source_nodes=nodes, async_response_gen=pieces)

    systems = {"whole": Engine(), "streamed": Streaming(), "later": later}
    whole, streamed, late = ask(QUERIES, systems).samples
    assert whole.answer_text == "about And now?"
    assert streamed.answer_text == late.answer_text == "in pieces"
    for sample in (whole, streamed, late):
        assert sample.passages is not None
        first = sample.passages[0]
        assert (first.id, first.text, first.score, first.document) == ("a", "text a", 0.0, "a.md")
    assert "first_token" in streamed.metadata["asked"]


def test_the_example_systems_are_asked_and_compared(town: str, monkeypatch) -> None:
    monkeypatch.setenv("TOWN_URL", town)
    names = ("keyword", "hybrid", "stream")
    words = [f"--target={ROOT}/examples/systems/{name}.yaml" for name in names]
    suite = ["--suite", "retrieval,serving", "--save", "runs"]
    queries = str(ROOT / "src/ragassay/examples/town/queries.jsonl")
    assert call(["ask", queries, *words, "--limit", "12", *suite]) == 0
    streamed, hybrid = load("answers-stream.jsonl"), load("answers-hybrid.jsonl")
    assert [s.answer for s in streamed] == [s.answer for s in hybrid]
    assert [s.passages for s in streamed] == [s.passages for s in hybrid]
    assert call(["compare", "runs/answers-hybrid", "runs/answers-keyword"]) == 0


@pytest.mark.parametrize(("written", "failure"), [
    ('{"answer": "Frank Her', "a JSON object that is not valid"),
    ('loaded\n{\n  "answer": "No."\n}\n', "the answer: 'loaded'"),
    ('{"answer": "No."}\ndone in 3 s', "the answer: 'done in 3 s'"),
    ('{"level": "info"}\n  {"text": "No.", "contexts": ["p"]}', '\'{"level": "info"}\''),
    ("{x} words", ""), ('Send:\n{"text": "hello"}', ""), ('So {"answer": 42}.', ""), ("[1]", ""),
])  # fmt: skip
def test_a_system_writes_a_text_or_a_whole_object_and_nothing_beside_it(written, failure) -> None:
    if not failure:
        assert read_text(written) == read_text(f" {written}\n") == written
        return
    with pytest.raises(EndpointError) as caught:
        read_text(written)
    assert failure in caught.value.detail


def _endless(query: str) -> Iterator[str]:
    while True:
        yield "on and on "


async def _endless_async(query: str) -> AsyncIterator[dict[str, str]]:
    while True:
        yield {"answer": ""}


def test_a_reply_without_an_end_is_a_failure_before_it_fills_the_memory(desk, monkeypatch) -> None:
    monkeypatch.setattr(target, "MOST_BYTES", 3 * 1024**2)
    Path("endless.py").write_text("while True: print('on and on ' * 1000)")
    words = b"data: " + b"on and on " * 400_000
    targets = [_endless, _endless_async, "command:python endless.py", "whole.yaml", "lines.yaml"]
    with SystemServer(lambda number, sent: Reply(words)) as server:
        for name, more in (("whole", ""), ("lines", "stream: sse\n")):
            Path(f"{name}.yaml").write_text(PLAIN.replace("URL", server.url) + more)
        answers = ask([{"id": "q", "query": "Who?"}], targets, timeout=60)
    for sample in answers.samples:
        assert "gave more than 3 MB and did not stop" in str(sample.failure), sample.system
    threads = [one for one in threading.enumerate() if one.name == "ragassay-user-code"]
    assert not threads


def test_a_mapping_file_to_start_from_is_shown_and_written(here, monkeypatch, capsys) -> None:
    (here / "q.jsonl").write_text('{"id": "1", "query": "When?"}')
    reply = Reply(b'{"answer": "At nine."}')
    with SystemServer(lambda number, sent: reply) as server:
        words = ["ask", "q.jsonl", "--target", f"{server.url}/ask"]
        assert call(words) == 2
        shown = capsys.readouterr().err
        with monkeypatch.context() as absent:  # the missing package is named early
            absent.setattr("ragassay.targets.http_api.http_target.find_spec", lambda name: None)
            assert call(words) == 2 and "needs aiohttp" in capsys.readouterr().err
        assert call(["ask", *words[2:], *words[2:], "--init"]) == 2, "a file is for one system"
        assert call(["ask", *words[2:], "--init"]) == 0
        assert Path("mapping.yaml").read_text() in shown
        assert call([*words, "--init"]) == 2  # the file is there
        assert call(["ask", "q.jsonl", "--target", "mapping.yaml"]) == 3
        assert "passages" in capsys.readouterr().out, "passages under another name are not lost"
        reply.body = b'{"answer": "At nine.", "passages": [{"id": "p", "text": "At nine."}]}'
        assert call(["ask", "q.jsonl", "--target", "mapping.yaml"]) == 0
    (answer,) = load("answers.jsonl")
    assert answer.answer_text == "At nine." and answer.passages


def test_an_address_is_shown_without_values_of_variables(monkeypatch) -> None:
    file = Path("k=3.YML")
    file.write_text('url: ${PLACE:-http://here}/ask\nbody: {q: "{{query}}"}\nanswer: a\n')
    monkeypatch.delenv("PLACE", raising=False)
    for _ in range(2):
        (made,) = make_targets(str(file), AskOptions())
        assert isinstance(made, HttpTarget) and (made.url, made.name) == ("http://here/ask", "k=3")
        assert with_environment(made.mapping.url) == made.url
        monkeypatch.setenv("PLACE", "")  # as if it were not set
    monkeypatch.setenv("PLACE", "http://secret")
    assert make_targets(str(file), AskOptions())[0].url == "${PLACE}/ask"
    monkeypatch.delenv("PLACE")
    file.write_text('url: ${PLACE}/ask\nbody: {q: "{{query}}"}\nanswer: a\n')
    with pytest.raises(InputError, match="names the variable PLACE, which is not set"):
        make_targets(str(file), AskOptions())
    monkeypatch.setenv("OPENAI_API_KEY", "of-a-test")
    assert make_targets("OpenAI:gpt-4o", AskOptions())[0].name == "gpt-4o"
