"""Replies over HTTP, and what functions return, in the forms that there are; one that is broken off
is a failure, never half an answer; tokens and cost that are no numbers are not measured."""

import datetime
import gzip
import json
import math
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragassay import Answers, evaluate
from ragassay.base.errors import UsageError
from ragassay.base.json_data import NOTHING, JsonPath, PathError, dumps
from ragassay.base.sample import Sample
from ragassay.targets.ask_run import ask
from ragassay.targets.asking.ask_summary import AskSummary, asked_report
from ragassay.targets.http_api.http_mapping import find_first
from system_server import PLAIN, Reply, SystemServer, ask_served, said

pytestmark = pytest.mark.usefixtures("no_long_waits")

QUERIES = [{"id": f"q{n}", "query": f"What is {n}?", "metadata": {"new": True}} for n in range(3)]


@pytest.mark.parametrize("reply", [
    Reply(gzip.compress(b'{"a": "yes"}'), headers={"Content-Encoding": "gzip"}),
    Reply(b'{"a": "yes", "rank": NaN}'), Reply(b'{"a": "yes"}', headers={"Connection": "close"}),
])  # fmt: skip
def test_replies_are_read_in_the_forms_that_servers_give_them(reply: Reply) -> None:
    assert said(ask_served(reply, n=3)) == ["yes"] * 3


def test_the_query_in_a_url_is_quoted_and_its_parameters_are_texts_or_json() -> None:
    with SystemServer(lambda *_: {"a": "yes"}) as server:
        Path("mine.yaml").write_text(
            f"url: {server.url}/ask/{{{{query}}}}/{{{{metadata.old}}}}?k=3\nmethod: GET\n"
            "answer: a\n"
            'params: {id: "{{id}}", new: "{{metadata.new}}", old: "{{metadata.old}}", n: 2}\n'
        )
        ask([{**QUERIES[0], "query": "a/b or c?"}], "mine.yaml")
        assert server.paths == ["/ask/a%2Fb%20or%20c%3F/?k=3&id=q0&new=true&old=&n=2"]


@pytest.mark.parametrize("status", [307, 301, 302, 303])
def test_a_redirect_on_the_same_server_is_followed_with_the_query_or_not_at_all(status) -> None:
    with SystemServer() as server:
        server.rule = lambda number, sent: (
            {"a": "yes"} if number else Reply(status=status, headers={"Location": "/new?token=1"})
        )
        Path("mine.yaml").write_text(PLAIN.replace("URL", f"{server.url}/old"))
        (answer,) = said(ask(QUERIES[:1], "mine.yaml"))
        if status == 307:
            assert answer == "yes" and server.asked == [{"q": "What is 0?"}] * 2
        else:
            assert server.paths == ["/old/"] and "/new, without the query" in str(answer)


@pytest.mark.parametrize("url", ["localhost:8000/ask", "ftp://host/ask", "http:///ask", "/ask"])
def test_what_is_no_address_is_refused_before_anything_is_asked(url: str) -> None:
    Path("mine.yaml").write_text(f"url: {url}\nbody: '{{{{query}}}}'\nanswer: a\n")
    with pytest.raises(UsageError, match=r"not an HTTP address .* Correct 'url' in mine.yaml"):
        ask(QUERIES, "mine.yaml")


@pytest.mark.parametrize(("reply", "more", "told"), [
    ({"a": "yes"}, 'headers: {X-Team: "a\\nb"}\n', "is not valid"),
    ({"a": [{"kind": "answer"}]}, "", "Correct 'answer' (a) in mine.yaml."),
    ({"a": "yes", "hits": [{"start": "high", "text": "x"}]}, "passages: hits\n",
     "Correct 'passages' or 'passage' in mine.yaml."),
    (Reply(b'{"a": "cut in \\ud83d half"}'), "", "it is not valid Unicode"),
    ({"a": "yes", "c": "d1"}, "citations: c\n", "no list at the path citations, but 'd1'. Correct"),
])  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(reply: Any, more: str, told: str) -> None:
    (failure,) = said(ask_served(reply, PLAIN + more))
    assert told in str(failure) and "Return a text" not in str(failure)


@pytest.mark.parametrize("streamed", ["", "stream: lines\n"])
@pytest.mark.parametrize(("pieces", "answer"), [
    ([{"t": "It is "}, {"t": "24."}], "It is 24."), ([{"t": "It is 24."}], "It is 24."), ([], ""),
])  # fmt: skip
def test_pieces_that_a_path_finds_are_joined_to_the_answer(pieces, answer, streamed: str) -> None:
    mapping = PLAIN.replace("answer: a", "answer: ['data[0].text', 'data[0].pieces[*].t']")
    (sample,) = ask_served({"data": [{"pieces": pieces}]}, mapping + streamed).samples
    assert sample.answer is not None and sample.answer.text == answer
    assert ("first_token" in sample.metadata["asked"]) is bool(streamed and answer)


def test_only_a_header_whose_name_says_so_holds_a_secret() -> None:
    mapping = f"{PLAIN}headers: {{X-Index: oakhaven, X-Token: '', X-Key: hidden}}\n"
    assert said(ask_served({"a": "a hidden oakhaven"}, mapping)) == ["a [key] oakhaven"]


@pytest.mark.parametrize(("error", "is_answer"), [
    ("", False), ("error: []\n", True), ("error: fault?\n", True), ("error: code\n", False),
])  # fmt: skip
def test_an_empty_list_of_paths_looks_for_no_error(error: str, is_answer: bool) -> None:
    (answer,) = said(ask_served({"a": "yes", "error": "boom", "code": 7}, PLAIN + error))
    assert (answer == "yes") is is_answer


@pytest.mark.parametrize(("path", "found"), [
    ("a.b[1]", 2), ("$.a.b[0]", 1), ("a.b[*]", [1, 2]), ("l[*].x", ["p", "q"]), (".", ...),
    ("a.c?", NOTHING), ("l[5].x?", NOTHING), ("a-b", 3), ("l[-1].x", "q"), ('["a-b"]', 3),
    ("$", ...), (" $? ", ...), ("['a-b']?", 3), ("l[-2].x", "p"), ("l[-3]?", NOTHING),
    ("l[2]?", NOTHING), ("a.c[*]?", NOTHING), ("l[*].y?", NOTHING), ("l.x?", NOTHING),
    ('["*"].z', 4), ("n?", None),
])  # fmt: skip
def test_paths_into_json(path: str, found: Any) -> None:
    value = {"a": {"b": [1, 2]}, "l": [{"x": "p"}, {"x": "q"}], "a-b": 3, "n": None}
    value["*"] = {"z": 4}
    parsed = JsonPath.parse(path)
    assert parsed.find(value) == parsed.reach(value) == (value if found is ... else found)
    assert parsed.optional == path.strip().endswith("?") and parsed.text == path
    if found is NOTHING:
        bare = JsonPath.parse(path.strip().removesuffix("?"))
        assert bare.reach(value) is NOTHING and bare.reach([]) is NOTHING
    unpacked = lambda one: json.loads(one) if isinstance(one, str) else one  # noqa: E731
    assert JsonPath.parse("t.b[1]").find({"t": '{"b": [1, 2]}'}, unpacked) == 2
    assert find_first([value], ["x", "y?"]) is find_first([value], ["x?", "y"]) is NOTHING


@pytest.mark.parametrize("text", ["", " ", "?", "a[", "a[x]", "a]", "a['']"])
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a path|a path is empty"):
        JsonPath.parse(text)


def test_json_is_what_every_reader_takes() -> None:
    value = {
        "a": math.nan,
        1: (datetime.date(2026, 1, 2), np.float64(0.5), Path("x"), "\ud800"),
        "b\ud800": ["\ud800"],
    }
    said = {"a": None, "1": ["2026-01-02", 0.5, "x", "?"], "b?": ["?"]}
    assert json.loads(dumps(value)) == said and b"\n" not in dumps(value)
    for some in (value, {"a": [1]}):
        assert dumps(some, indent=True).startswith(b'{\n  "a"')


@pytest.mark.parametrize(("path", "said"), [
    ("a.c", "an object with the keys b has no key 'c'"),
    ("a.b[7]", "a list of 2 items has no item [7]"), ("a[*]", "expects a list"),
    ("a.b[0].x", "the value '1' has no key 'x'"), ("a.b[-3]", "has no item [-3]"),
    ("a[0]", "an object with the keys b has no item [0]"), ("n.x", "null has no key"),
    ("e.x", "an empty object has no key"), ("l[1]", "a list of 1 item has no item [1]"),
    ("m.x", "the keys 0, 1, 2, 3, 4, 5, 6, 7 has no key"),
    ("t.x", f"the value '{'x' * 40}' has no key"),
])  # fmt: skip
def test_a_path_that_leads_to_nothing_says_how_far_it_leads(path: str, said: str) -> None:
    with pytest.raises(PathError) as caught:
        more = {"n": None, "e": {}, "l": [0], "m": dict.fromkeys("0123456789"), "t": "x" * 50}
        JsonPath.parse(path).find({"a": {"b": [1, 2]}, **more})
    assert said in str(caught.value)


PIECES = b"".join(b'data: {"a": "%s"}\n\n' % word for word in (b"It is ", b"not", b" 3."))
DONE = b"data: [DONE]\n\n"
SSE = "stream: sse\n"
SHUT = "it closed the connection"


def asked(rule: Any, more: str, n: int = 1, **options: Any) -> list[Any]:
    return said(ask_served(rule, PLAIN + more, n, retries=0, **options))


@pytest.mark.parametrize("framing", ["length", "chunked"])
@pytest.mark.parametrize(("body", "more"), [
    (PIECES, SSE), (b'{"a": "It is not 3."}', ""), (b'{"a": "x"}\n', "stream: lines"),
])  # fmt: skip
def test_a_connection_that_ends_before_the_body_is_a_failure(framing, body, more: str) -> None:
    (failure,) = asked(Reply(body, framing=framing, cut=True), more)
    assert failure.startswith("connection: ") and SHUT in failure and "too early" in failure
    assert "Start the system" not in failure and "repeat the same 'ragassay ask'" in failure


@pytest.mark.parametrize("framing", ["chunked", "close"])
def test_a_stream_without_the_mark_of_its_end_is_a_failure(framing: Any) -> None:
    (failure,) = asked(Reply(PIECES, framing=framing), f'{SSE}end_mark: "[DONE]"\n')
    assert failure.startswith("connection: ")
    assert "the mark of its end ([DONE], end_mark in mine.yaml) did not come" in failure


@pytest.mark.parametrize(("mark", "last"), [
    ("[DONE]", DONE), ("[DONE]", b"data: [DONE]"), ("'event: end'", b"event: end\n\n"),
    ("'event: end'", b"event: end\ndata: bye\n\n"), ("done", b'data: {"done": true}\n\n'),
    ("['event: end', done.why]", b'data: {"done": {"why": "stop"}}\n\n'),
])  # fmt: skip
def test_a_stream_with_the_mark_of_its_end_is_an_answer(mark: str, last: bytes) -> None:
    mark = '"[DONE]"' if mark == "[DONE]" else mark
    reply = Reply(PIECES + last, framing="close")
    assert asked(reply, f"{SSE}end_mark: {mark}\n") == ["It is not 3."]
    cut = Reply(PIECES + b'data: {"done": false}\n\n', framing="close")
    (failure,) = asked(cut, f"{SSE}end_mark: {mark}\n")
    assert failure.startswith("connection: ")


def test_a_stream_without_any_mark_ends_with_the_connection() -> None:
    assert asked(Reply(PIECES, framing="close"), SSE) == ["It is not 3."]
    lines = Reply(b'{"a": "It is"}\r\n\n{"a": " 3."}', framing="close")
    assert asked(lines, "stream: lines\n") == ["It is 3."]
    # An event may have several lines of data, a name, comments, and no blank before its words.
    event = b': ping\r\nid: 7\r\nevent: delta\r\ndata: {"a":\r\ndata:"It is 3."}\r\n\r\n'
    assert asked(Reply(event + b"event: bye\n\n", framing="close"), SSE) == ["It is 3."]


@pytest.mark.parametrize(("body", "more"), [
    (b'data: {"a": "It is n', SSE), (b'{"a": "x"}\n{"a": "It i', "stream: lines"),
])  # fmt: skip
def test_an_event_that_is_not_whole_is_a_failure(body: bytes, more: str) -> None:
    (failure,) = asked(Reply(body, framing="close"), more)
    assert failure.startswith("connection: ") and "its last event is not whole" in failure


def test_a_stream_that_lacks_the_mark_of_the_others_is_a_failure() -> None:
    whole, cut = Reply(PIECES + DONE, framing="close"), Reply(PIECES, framing="close")
    first, second = asked(lambda number, _: cut if number else whole, SSE, n=2)
    assert first == "It is not 3." and second.startswith("connection: ")
    assert "[DONE] did not come, with which its other streams ended" in second


@pytest.mark.parametrize("end", ["", DONE.decode(), "finish_reason"])
def test_a_chat_that_is_cut_is_a_failure(end: str) -> None:
    reason = {"finish_reason": "stop"} if end == "finish_reason" else {}
    chunk = {"choices": [{"delta": {"content": "Yes."}, **reason}]}
    body = f"data: {json.dumps(chunk)}\n\n{end if not reason else ''}".encode()
    (found,) = asked(Reply(body, framing="close"), "", target="URL/v1#m", stream=True)
    assert found == "Yes." if end else found.startswith("connection: ")


FAILED = b'data: {"error": {"message": "out of memory"}}\n\n'


@pytest.mark.parametrize(("body", "more"), [
    (PIECES + FAILED + DONE, SSE), (PIECES + b"event: error\ndata: out of memory\n\n", SSE),
    (b'{"a": "It is "}\n{"error": "out of memory"}\n', "stream: lines\n"),
    (b'{"a": "", "error": "out of memory"}', ""),
])  # fmt: skip
def test_an_error_that_a_reply_tells_is_no_answer(body: bytes, more: str) -> None:
    (failure,) = asked(Reply(body), more)
    assert failure.startswith("failed: ") and "out of memory" in failure
    # Where a system means another thing by it, its mapping says what only a failure holds.
    if "event: error" not in body.decode():
        assert not str(asked(Reply(body), f"{more}error: trouble\n")[0]).startswith("failed: http")


def test_an_error_that_is_empty_or_a_number_is_none() -> None:
    for value in (b"null", b'""', b"{}", b"false", b"0.02"):
        assert asked(Reply(b'{"a": "yes", "error": %s}' % value), "") == ["yes"]


WRONG = ['"cheap"', "-1", "NaN", "Infinity", "[1]", "true", '{"a": 1}', '"12"']
MAPPING = PLAIN + "usage: {input_tokens: u.in, output_tokens: u.out, cost: [price, u.cost]}\n"


def measured(rule: Any) -> Answers:
    return ask_served(rule, MAPPING, n=3)


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_number_is_not_measured_and_told_where_it_never_is(wrong: str) -> None:
    def rule(number: int, _: Any) -> Reply:
        cost = wrong if number else "0.25"
        return Reply(f'{{"a": "yes", "u": {{"in": {wrong}, "out": 2, "cost": {cost}}}}}'.encode())

    answers = measured(rule)
    for at, told in enumerate(one.metadata["asked"] for one in answers.samples):
        assert told.get("cost") == (None if at else 0.25) and "input_tokens" not in told
        assert told["output_tokens"] == 2
    (summary,) = answers.summaries.values()
    assert summary.cost == 0.25 and summary.answered == 3
    assert [one.counts["path"] for one in summary.notes] == ["usage.input_tokens (u.in)"]


def test_what_is_null_or_missing_is_not_told() -> None:
    answers = measured(lambda number, _: {"a": "yes", "u": {"in": None} if number else {}})
    notes = answers.summaries["mine"].notes  # about paths that never fit, and no other
    assert [one.counts["path"] for one in notes] == [
        "usage.output_tokens (u.out)", "usage.cost (price, u.cost)",
    ]  # fmt: skip


def test_a_path_to_a_measurement_that_never_fits_is_told_once() -> None:
    mapping = (
        f"{PLAIN}version: meta.biuld\n"
        'usage: {input_tokens: tok.input, output_tokens: u.out, cost: "price?"}\n'
    )
    rule = lambda number, _: {"a": "yes", "u": {"out": 3} if number else {}}  # noqa: E731
    (summary,) = ask_served(rule, mapping, n=3).summaries.values()
    assert {one.kind for one in summary.notes} == {"ask_path_never_fits"}
    assert [one.counts for one in summary.notes] == [
        {"n": 3, "path": "usage.input_tokens (tok.input)", "file": "mine.yaml"},
        {"n": 3, "path": "version (meta.biuld)", "file": "mine.yaml"},
    ]
    # Tokens written are no sum of those read and written.
    (table, _) = asked_report([summary]).blocks
    heads = [column.head for column in table.columns]
    assert summary.output_tokens == 6 and table.rows[0].cells[heads.index("tokens")].text == "-"


def test_no_tokens_written_are_a_number() -> None:
    answers = measured(lambda number, _: {"a": "yes" * number, "u": {"in": 10, "out": 4 * number}})
    assert [one.metadata["asked"]["output_tokens"] for one in answers.samples] == [0, 4, 8]
    result = evaluate(answers.samples, metrics=["tokens.total"])
    assert result.summary.metrics["tokens.total"].mean == 14


ENDS = {
    "an answer": {"answer": "It is 24 [1].", "passages": ["a"]},
    "another name": {"response": "It is 24 [1].", "contexts": ["a"]},
    "no answer": {"passages": ["a"], "usage": {"input_tokens": 3, "output_tokens": 2}},
}


def returned(system: Callable[..., Any]) -> tuple[Sample, AskSummary]:
    answers = ask(QUERIES[:2], system)
    (summary,) = answers.summaries.values()
    return answers.samples[0], summary


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_a_mapping_may_end_a_stream_of_texts(end: dict[str, Any]) -> None:
    def pieces(query: str) -> Iterator[Any]:
        yield "It is "
        yield "24."
        yield end

    async def coming(query: str) -> AsyncIterator[Any]:
        for piece in pieces(query):
            yield piece

    for system in (pieces, coming):
        sample, _ = returned(system)
        assert sample.answer_text == ("It is 24." if "usage" in end else "It is 24 [1].")
        assert [one.text for one in sample.passages or ()] == ["a"]
        assert sample.metadata["asked"]["first_token"] <= sample.metadata["asked"]["latency"]


@pytest.mark.parametrize(("pieces", "told"), [
    (["It ", {"passages": ["a"]}, "is 24."], "a text, a mapping"),
    (["It ", {"passages": ["a"]}, {"answer": "x"}], "a text, a mapping"),
    (["It ", 24], "a text, an int"), ([{"passages": ["a"]}, "It is 24."], "a mapping, a text"),
])  # fmt: skip
def test_a_stream_of_another_order_is_a_failure_in_words(pieces: list[Any], told: str) -> None:
    sample, summary = returned(lambda query: iter(pieces))
    assert summary.failed == {"unparsable": 2} and sample.answer is None
    assert f"pieces of several kinds ({told})" in (sample.failure or "")
    assert "one mapping as the last piece" in (sample.failure or "")


def test_mappings_alone_are_still_merged() -> None:
    pieces = [{"input": "How long?"}, {"context": ["a"]}, {"answer": "It ", "model": "m"}]
    sample, summary = returned(lambda query: iter([*pieces, {"answer": "is 24.", "model": "m"}]))
    assert sample.answer_text == "It is 24." and len(sample.passages or ()) == 1
    assert sample.metadata["asked"]["version"] == "m" and not summary.notes
    assert returned(lambda query: iter(()))[1].failed == {"unparsable": 2}, "nothing is no answer"
    wordless, _ = returned(lambda query: iter([*pieces[:2], {"answer": ""}]))
    assert wordless.answer_text == "" and "first_token" not in wordless.metadata["asked"]


@pytest.mark.parametrize(("under", "listed", "are_names"), [
    ("sources", ["x"], True),
    ("sources", ["battery-manual", "Oakhaven Fire Safety Plan", "https://a.example/b"], True),
    ("sources", ["x", "The pool opens at nine."], False), ("sources", ["水池九点开放"], False),
    ("documents", ["a.txt", "b.pdf"], True), ("documents", ["a", "b"], False),
    ("contexts", ["a.txt"], False),
])  # fmt: skip
def test_names_of_sources_are_no_texts_of_passages(under, listed, are_names: bool) -> None:
    sample, _ = returned(lambda query: {"text": "No.", under: listed})
    found = sample.passages or ()
    assert [one.id if are_names else one.text for one in found] == listed
    assert not are_names or not any(one.text for one in found)
