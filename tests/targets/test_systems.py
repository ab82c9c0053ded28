"""What a system is sent and may cost, what its reply is read as, and what its summary adds up."""

import asyncio
import json
import math
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from ragassay.base.errors import InputError, UsageError
from ragassay.base.sample import Answer, Passage, Sample, Statement, Turn
from ragassay.base.score import Reason
from ragassay.targets import target
from ragassay.targets.ask_run import read_queries
from ragassay.targets.asking.ask_summary import asked_report, failure_lines, summarise
from ragassay.targets.asking.system import SystemAccount, distinct_failures, failure_text
from ragassay.targets.reply_shapes import SystemReply, kind_of, number_of, reply_of, shown as begun
from ragassay.targets.target import CutReplyError, Request, question_among
from ragassay.transport.budget import Budget
from ragassay.transport.endpoints import EndpointError
from ragassay.transport.providers_and_prices import Price
from ragassay.transport.secrets import Secret
from terminal_text import shown


def reply(read: int = 0, written: int = 0, cost: float | None = None, **more: Any) -> SystemReply:
    tokens = {"input_tokens": read, "output_tokens": written}
    return SystemReply(None, **{"counted": bool(read and written), **tokens, "cost": cost, **more})


def test_a_request_takes_what_the_dearest_and_the_longest_answer_took() -> None:
    budget = Budget(dollars=10.0, tokens=10_000)
    account = SystemAccount(budget)
    assert account.likely(b"", 0, 0) == (10.0, 10_000), "one goes alone until that is known"
    first = budget.reserve(*account.likely(b"", 0, 0))
    assert first is not None and account.settle(first, None, free=False, sent=True) is None
    assert (budget.spent_dollars, budget.spent_tokens, budget.spent_calls) == (0, 0, 1)
    for cost, read, written, likely in (
        (0.2, 10, 5, (0.2, 15)), (0.1, 1, 1, (0.2, 15)), (0.3, 20, 1, (0.3, 21)),
    ):  # fmt: skip
        account.learn({"cost": cost, "input_tokens": read, "output_tokens": written})
        assert account.likely(b"x" * 999, 0, 0) == likely
    account.learn({"input_tokens": 500})
    assert account.likely(b"", 0, 0) == (0.3, 21), "half a count is none"
    for completion, spent in (
        (reply(4, 2, 0.1), (0.1, 6)),
        (reply(), (0.3, 21)),  # like the dearest and the longest so far
        (reply(30, 0), (0.3, 30)),  # of two counts one is more than those
        (reply(50, 2, 0.0), (0.0, 52)),
        (None, (0.3, 52)),
    ):
        before = budget.spent_dollars, budget.spent_tokens
        made = budget.reserve(*account.likely(b"", 0, 0))
        assert made is not None and account.settle(made, completion, free=False, sent=True) is None
        after = budget.spent_dollars, budget.spent_tokens
        assert [b - a for a, b in zip(before, after, strict=True)] == pytest.approx(spent)
    listed = SystemAccount(Budget(dollars=1.0), Price(1.0, 2.0))
    assert listed.likely(b"x" * 30, 0, 0) == (pytest.approx((10 + 2 * 1000) / 1e6), 1010)
    listed.learn({"cost": 0.5, "input_tokens": 9000, "output_tokens": 1})
    assert listed.likely(b"", 0, 0) == (0.5, 9001)


def test_a_request_is_the_same_bytes_and_has_the_names_that_a_system_takes() -> None:
    turns = (Turn("user", "First?"), Turn("agent", "Yes."))
    full = Request("q", "Now?", turns, 2, {"b": 1, "a": [2]}, ("one", "two"))
    bare = Request("q", "Now?")
    for request in (full, bare):
        assert Request.of_body(request.body()) == request
    assert full.body() == Request("q", "Now?", turns, 2, {"a": [2], "b": 1}, full.passages).body()
    assert b"passages" not in bare.body()
    assert [one["role"] for one in full.messages] == ["user", "assistant", "user"]
    assert full.messages[-1]["content"] == "one\n\ntwo\n\nNow?"
    assert bare.messages == [{"role": "user", "content": "Now?"}]
    names = ["input", "history", "chat_history", "context", "documents", "other"]
    assert full.arguments(names, "input", "H") == {
        "input": "Now?", "chat_history": "H", **{key: ["one", "two"] for key in names[3:5]},
    }  # fmt: skip
    assert bare.arguments(["messages", "context"], "messages", "H") == {"messages": "Now?"}
    assert question_among(["text", "q", "question"], []) == "question"
    assert question_among(["x"], ["x"]) == "x" and question_among(["x", "y"], ["x", "y"]) is None
    assert question_among(["x", "text"], ["x"]) == "text"


NODE = SimpleNamespace(node_id="n", text="t", metadata={"source": "s.md", "score": 0.5})
READ: list[tuple[Any, dict[str, Any]]] = [
    ("a text", {"text": "a text"}),
    ({"answer": [{"text": "a", "citations": ["y"]}], "citations": ["x"], "sources": "one"},
     {"text": "a", "passages": (Passage(id="one"),), "cites": ("y",)}),
    ({"answer": "a", "passages": [SimpleNamespace(
        page_content="p", metadata={"document": "d", "file_name": "f", "source": "s"}),
        SimpleNamespace(page_content="p"), SimpleNamespace(node_id="n", text="t", metadata=None)]},
     {"text": "a", "passages": (Passage("p", document="d"), Passage("p"), Passage("t", "n"))}),
    ({"answer": "a", "passages": [SimpleNamespace(page_content="p", id=own, metadata=more)
        for own, more in (("o", {"id": "i", "score": 0.5}), (None, {"chunk_id": "c", "id": "i"}),
                          (None, {"chunk_id": "c", "file_name": "f", "source": "s"}))]},
     {"text": "a", "passages": (Passage("p", "o", 0.5), Passage("p", "i"),
                                Passage("p", "c", document="f"))}),
    (Answer("so"), {"text": "so"}),
    (Sample(id="q", answer="so", passages=()), {"text": "so", "passages": ()}),  # type: ignore[arg-type]
    ({"content": "b", "result": SimpleNamespace(content="a")}, {"text": "a"}),
    ({"answer": "a", "contexts": "one"}, {"text": "a", "passages": (Passage("one"),)}),
    ({"answer": "a", "contexts": None, "documents": []}, {"text": "a", "passages": ()}),
    ({"answer": "a", "model": "m", "version": ""}, {"text": "a", "version": "m"}),
    ({"answer": "a", "model": "m", "version": "v", "output_tokens": 2, "completion_tokens": 3,
      "usage": {"input_tokens": 1, "output_tokens": None}, "input_tokens": 9},
     {"text": "a", "version": "v", "tokens": (1, 2), "counted": True}),
    ({"answer": "a", "usage": {"prompt_tokens": 3, "completion_tokens": 2, "cost": 0.5}},
     {"text": "a", "tokens": (3, 2), "counted": True, "cost": 0.5}),
    ({"answer": "a", "input_tokens": 4, "cost": True}, {"text": "a", "tokens": (4, 0)}),
    ({"answer": "a", "input_tokens": 0, "output_tokens": 0}, {"text": "a", "counted": True}),
    ({"answer": "a [1]", "citations": ["x"]}, {"text": "a [1]", "cites": ("x",)}),
    ({"answer": Answer("a", (Statement("a", ("y",)),))}, {"text": "a", "cites": ("y",)}),
    ({"answer": "a", "source_nodes": [NODE, (NODE, 2), Passage("p", names=("T",))]},
     {"text": "a", "passages": (Passage("t", "n", 0.5, "s.md"), Passage("t", "n", 2.0, "s.md"),
                                Passage("p", names=("T",)))}),
    (SimpleNamespace(content=["a ", {"text": "b"}, {"type": "x"}], usage_metadata=None,
                     response_metadata={"model": "m"}), {"text": "a b", "version": "m"}),
    (SimpleNamespace(text="a", additional_kwargs={"prompt_tokens": 1, "completion_tokens": 1}),
     {"text": "a", "tokens": (1, 1), "counted": True}),
    (SimpleNamespace(source_nodes=None, response="a"), {"text": "a", "passages": ()}),
    (SimpleNamespace(source_nodes=()), {"text": "namespace(source_nodes=())", "passages": ()}),
]  # fmt: skip


@pytest.mark.parametrize(("value", "wanted"), READ, ids=range(len(READ)))
def test_what_a_system_returns_is_read_as_a_reply(value: Any, wanted: dict[str, Any]) -> None:
    found = reply_of(value)
    read = {
        "text": found.answer.text, "passages": found.passages, "version": found.version,
        "tokens": (found.input_tokens, found.output_tokens), "counted": found.counted,
        "cost": found.cost, "cites": tuple(c for s in found.answer.statements for c in s.citations),
    }  # fmt: skip
    nothing = {"passages": None, "version": "", "tokens": (0, 0), "counted": False, "cites": ()}
    assert read == {**nothing, "cost": None, **wanted}


@pytest.mark.parametrize(("value", "reason", "words"), [
    (Sample(id="q", failure="no index"), Reason.FAILED, "no index"),
    (Sample(id="q"), Reason.FAILED, "no answer"),
    (Sample(id="q", answer="so", failure="no index"), Reason.FAILED, "no index"),  # type: ignore[arg-type]
    ({"answer": "a", "error": {"why": "x"}}, Reason.FAILED, "why"),
    ({"answer": "a", "failure": "no index"}, Reason.FAILED, "no index"),
    ({"a": 1}, Reason.UNPARSABLE, "it has a"), ({}, Reason.UNPARSABLE, "no keys"),
    (5, Reason.UNPARSABLE, "an int"), (b"", Reason.UNPARSABLE, "a bytes"),
])  # fmt: skip
def test_what_is_no_reply_is_a_failure_with_its_reason(value: Any, reason: Reason, words) -> None:
    with pytest.raises(EndpointError, match=words) as caught:
        reply_of(value)
    assert caught.value.reason is reason


def test_numbers_kinds_and_beginnings_are_read_as_what_they_are() -> None:
    good = [0, 3, 2.5, Decimal("1.5"), np.float32(1)]
    assert [number_of(value) for value in good] == [0.0, 3.0, 2.5, 1.5, 1.0]
    bad = [True, "3", -1, math.nan, math.inf, None, [1], -0.1]
    assert [number_of(value) for value in bad] == [None] * len(bad)
    assert [begun(text) for text in ("x" * 200, "x" * 201, " a\n b")] == [
        "x" * 200, f"{'x' * 199}…", "a b",
    ]  # fmt: skip
    assert [kind_of(value) for value in (None, "", {}, 1.5, ())] == [
        "nothing", "a text", "a mapping", "a float", "a tuple",
    ]  # fmt: skip


def test_failures_of_one_way_are_one_and_the_most_frequent_comes_first() -> None:
    details = ["no 'a' 1", "status 404", "it ended", "no 'b' 22", "status 500", "it ended"]
    ways = distinct_failures([*details, 'no "c" x-3'])
    assert ways == [("no 'a' 1", 3), ("it ended", 2), ("status 404", 1), ("status 500", 1)]
    assert failure_text(EndpointError(Reason.TIMEOUT, "late.")).startswith("late. Raise --timeout")
    assert "Start the system" not in failure_text(CutReplyError("cut"))
    assert failure_text(EndpointError(Reason.FAILED, "half \ud800")).startswith("half ?.")


def test_the_first_queries_are_read_and_no_fewer_than_one() -> None:
    queries = [{"id": f"q{n}", "query": "Who?"} for n in range(3)]
    Path("queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    for data in (queries, "queries.jsonl", "."):
        assert [one.id for one in read_queries(data, 2)] == ["q0", "q1"]
        assert len(read_queries(data)) == 3
    Path("queries.jsonl").unlink()
    with pytest.raises(InputError, match=r"without queries\.jsonl. Name the file"):
        read_queries(".")
    with pytest.raises(UsageError, match="at least 1, not 0"):
        read_queries(queries, 0)


def sample(n: int, failure: str = "", answer: str | None = None, **asked: Any) -> Sample:
    kind = dict(zip(("failure", "detail"), failure.split(": "), strict=False)) if failure else {}
    metadata = {"asked": {**kind, **asked}, **({"no_answer": True} if answer == "" else {})}
    return Sample(id=f"q{n}", answer=answer, failure=failure or None, metadata=metadata)  # type: ignore[arg-type]


class Own(target.Target):
    identity: ClassVar[dict[str, str]] = {"kind": "own"}
    said: Any = "so"

    async def call(self, request: Request, watch: Any) -> Any:
        watch.words_came()
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


def test_a_target_is_known_by_name_and_identity_and_says_whose_failure_it_is() -> None:
    one, same, other = Own("a", "here"), Own("a", "there"), Own("b", "here")
    assert one.fingerprint == same.fingerprint != other.fingerprint and len(one.fingerprint) == 16
    body = Request("q", "Who?").body()
    found = asyncio.run(one.send(body))
    assert isinstance(found, SystemReply) and found.answer.text == "so"
    assert found.first_token is not None and 0 < found.first_token <= found.latency < 60
    one.secrets = [Secret("secret-key-1", "x")]
    for detail, words in {
        "late: secret-key-1": "here: late: [key]", "here is late": "here is late",
        "here: late": "here: late", "hereby late": "here: hereby late",
    }.items():  # fmt: skip
        one.said = EndpointError(Reason.TIMEOUT, detail)
        with pytest.raises(EndpointError) as caught:
            asyncio.run(one.send(body))
        assert caught.value.detail == words
    assert target.without_secrets("http://ann:pw@host/x?key=1") == "http://host/x"
    target.refuse_endless(target.MOST_BYTES)
    with pytest.raises(EndpointError, match="it gave more than 64 MB"):
        target.refuse_endless(target.MOST_BYTES + 1)


def test_a_summary_adds_up_what_was_measured() -> None:
    samples = [
        sample(0, answer="a", attempts=3, latency=1.0, cost=0.5, version="v2", input_tokens=3),
        sample(1, answer="", attempts=1, latency=3.0, cost=0.25, version="v1", first_token=0.5),
        sample(2, "stopped: enough"), sample(3, "stopped: enough"), sample(4, "stopped: enough"),
        *(sample(n, f"failed: way {'abcdefg'[n - 5]}", attempts=2) for n in range(5, 12)),
        sample(12, "timeout: late", version="v2", attempts=1),
    ]  # fmt: skip
    found = summarise(Own("mine", "mine"), samples, 4)
    assert (found.system, found.asked, found.answered, found.no_answer) == ("mine", 13, 2, 1)
    assert list(found.failed.items()) == [("failed", 7), ("timeout", 1), ("stopped", 3)]
    assert (found.retries, found.from_ledger) == (2 + 7, 4)
    assert found.latency == {"p50": 2.0, "p90": 2.8, "p95": pytest.approx(2.9), "p99": 2.98}
    assert found.first_token == dict.fromkeys(("p50", "p90", "p95", "p99"), 0.5)
    assert (found.input_tokens, found.output_tokens, found.cost) == (3, None, 0.75)
    assert found.versions == ("v2", "v1")
    assert found.details["failed"] == "query 'q5': way a" and found.details["timeout"]
    lines = list(failure_lines([found]))
    assert lines[0] == "mine: 1 of 7 failed: query 'q5': way a" and len(lines) == 5 + 1 + 1 + 1
    assert lines[5] == "mine: 2 of 7 failed: in 2 further ways."
    assert lines[-1] == "mine: 3 stopped: query 'q2': enough"
    row = shown(asked_report([found]), 200)
    assert "2.00 s" in row and "$0.75" in row and "4 of 2 answers are from the ledger" in row
