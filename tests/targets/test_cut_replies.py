"""A reply that is broken off before its end is a failure, never half an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from system_server import PLAIN, Reply, ask_served, said

PIECES = b"".join(b'data: {"a": "%s"}\n\n' % word for word in (b"It is ", b"not", b" 3."))
DONE = b"data: [DONE]\n\n"
SSE = "stream: sse\n"
SHUT = "it closed the connection"


def asked(rule: Any, more: str, n: int = 1, **options: Any) -> list[Any]:
    return said(ask_served(rule, PLAIN + more, n, retries=0, **options))


@pytest.mark.parametrize("framing", ["length", "chunked"])
@pytest.mark.parametrize(
    ("body", "more"),
    [(PIECES, SSE), (b'{"a": "It is not 3."}', ""), (b'{"a": "x"}\n', "stream: lines")],
)
def test_a_connection_that_ends_before_the_body_is_a_failure(
    framing: Any, body: bytes, more: str
) -> None:
    (failure,) = asked(Reply(body, framing=framing, cut=True), more)
    assert failure.startswith("connection: ") and SHUT in failure and "before the end" in failure
    assert "Start the system" not in failure and "the same command asks what is missing" in failure


@pytest.mark.parametrize("framing", ["chunked", "close"])
def test_a_stream_without_the_mark_of_its_end_is_a_failure(framing: Any) -> None:
    (failure,) = asked(Reply(PIECES, framing=framing), f'{SSE}end_mark: "[DONE]"\n')
    assert failure.startswith("connection: ")
    assert "the mark of its end ([DONE], end_mark in mine.yaml) did not come" in failure


@pytest.mark.parametrize(
    ("mark", "last"),
    [
        ("[DONE]", DONE),
        ("[DONE]", b"data: [DONE]"),
        ("'event: end'", b"event: end\n\n"),
        ("'event: end'", b"event: end\ndata: bye\n\n"),
        ("done", b'data: {"done": true}\n\n'),
        ("['event: end', done.why]", b'data: {"done": {"why": "stop"}}\n\n'),
    ],
)
def test_a_stream_with_the_mark_of_its_end_is_an_answer(mark: str, last: bytes) -> None:
    mark = '"[DONE]"' if mark == "[DONE]" else mark
    reply = Reply(PIECES + last, framing="close")
    assert asked(reply, f"{SSE}end_mark: {mark}\n") == ["It is not 3."]
    cut = Reply(PIECES + b'data: {"done": false}\n\n', framing="close")
    (failure,) = asked(cut, f"{SSE}end_mark: {mark}\n")
    assert failure.startswith("connection: ")


def test_a_stream_without_any_mark_ends_with_the_connection() -> None:
    assert asked(Reply(PIECES, framing="close"), SSE) == ["It is not 3."]
    lines = Reply(b'{"a": "It is"}\n{"a": " 3."}', framing="close")
    assert asked(lines, "stream: lines\n") == ["It is 3."]


@pytest.mark.parametrize(
    ("body", "more"),
    [(b'data: {"a": "It is n', SSE), (b'{"a": "x"}\n{"a": "It i', "stream: lines")],
)
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


@pytest.mark.parametrize(
    ("body", "more"),
    [
        (PIECES + FAILED + DONE, SSE),
        (PIECES + b"event: error\ndata: out of memory\n\n", SSE),
        (b'{"a": "It is "}\n{"error": "out of memory"}\n', "stream: lines\n"),
        (b'{"a": "", "error": "out of memory"}', ""),
    ],
)
def test_an_error_that_a_reply_tells_is_no_answer(body: bytes, more: str) -> None:
    (failure,) = asked(Reply(body), more)
    assert failure.startswith("failed: ") and "out of memory" in failure
    # Where a system means another thing by it, its mapping says what only a failure holds.
    if "event: error" not in body.decode():
        assert not str(asked(Reply(body), f"{more}error: trouble\n")[0]).startswith("failed: http")


def test_an_error_that_is_empty_or_a_number_is_none() -> None:
    for value in (b"null", b'""', b"{}", b"false", b"0.02"):
        assert asked(Reply(b'{"a": "yes", "error": %s}' % value), "") == ["yes"]
