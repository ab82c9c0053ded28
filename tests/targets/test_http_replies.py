"""Replies over HTTP in the forms that servers give them, and addresses that are none."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from ragassay.base.errors import UsageError
from ragassay.base.json_data import NOTHING, JsonPath, PathError
from ragassay.targets.ask_run import ask
from system_server import PLAIN, Reply, SystemServer, ask_served, said

QUERIES = [{"id": f"q{n}", "query": f"What is {n}?", "metadata": {"new": True}} for n in range(3)]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(gzip.compress(b'{"a": "yes"}'), headers={"Content-Encoding": "gzip"}),
        Reply(b'{"a": "yes", "rank": NaN}'),
        Reply(b'{"a": "yes"}', headers={"Connection": "close"}),
    ],
)
def test_replies_are_read_in_the_forms_that_servers_give_them(reply: Reply) -> None:
    assert said(ask_served(reply, n=3)) == ["yes"] * 3


def test_parameters_of_the_url_are_texts_or_json() -> None:
    with SystemServer(lambda *_: {"a": "yes"}) as server:
        Path("mine.yaml").write_text(
            f"url: {server.url}/ask?k=3\nmethod: GET\nanswer: a\n"
            'params: {q: "{{query}}", new: "{{metadata.new}}", old: "{{metadata.old}}", n: 2}\n'
        )
        ask(QUERIES[:1], "mine.yaml")
        assert server.paths == ["/ask?k=3&q=What+is+0?&new=true&old=&n=2"]


@pytest.mark.parametrize("status", [307, 301, 302, 303])
def test_a_redirect_on_the_same_server_is_followed_with_the_query_or_not_at_all(
    status: int,
) -> None:
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
    with pytest.raises(UsageError, match=r"no address of HTTP .* Correct 'url' in mine.yaml"):
        ask(QUERIES, "mine.yaml")


@pytest.mark.parametrize(
    ("reply", "more", "told"),
    [
        ({"a": "yes"}, 'headers: {X-Team: "a\\nb"}\n', "no header may hold"),
        ({"a": [{"kind": "answer"}]}, "", "Correct 'answer' (a) in mine.yaml."),
        ({"a": "yes", "hits": [{"start": "high", "text": "x"}]}, "passages: hits\n",
         "Correct 'passages' or 'passage' in mine.yaml."),
        (Reply(b'{"a": "cut in \\ud83d half"}'), "", "a text in it is no Unicode"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(reply: Any, more: str, told: str) -> None:
    (failure,) = said(ask_served(reply, PLAIN + more))
    assert told in str(failure) and "Return a text" not in str(failure)


@pytest.mark.parametrize("streamed", ["", "stream: lines\n"])
@pytest.mark.parametrize(
    ("pieces", "answer"),
    [([{"t": "It is "}, {"t": "24."}], "It is 24."), ([{"t": "It is 24."}], "It is 24."), ([], "")],
)
def test_pieces_that_a_path_finds_are_joined_to_the_answer(
    pieces: Any, answer: str, streamed: str
) -> None:
    mapping = PLAIN.replace("answer: a", "answer: ['data[0].text', 'data[0].pieces[*].t']")
    (sample,) = ask_served({"data": [{"pieces": pieces}]}, mapping + streamed).samples
    assert sample.answer is not None and sample.answer.text == answer


@pytest.mark.parametrize(
    ("error", "is_answer"), [("", False), ("error: []\n", True), ("error: fault?\n", True)]
)
def test_an_empty_list_of_paths_looks_for_no_error(error: str, is_answer: bool) -> None:
    (answer,) = said(ask_served({"a": "yes", "error": "boom"}, PLAIN + error))
    assert (answer == "yes") is is_answer


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a.b[1]", 2), ("$.a.b[0]", 1), ("a.b[*]", [1, 2]), ("l[*].x", ["p", "q"]), (".", ...),
        ("a.c?", NOTHING), ("l[5].x?", NOTHING), ("a-b", 3), ("l[-1].x", "q"), ('["a-b"]', 3),
    ],
)  # fmt: skip
def test_paths_into_json(path: str, found: Any) -> None:
    value = {"a": {"b": [1, 2]}, "l": [{"x": "p"}, {"x": "q"}], "a-b": 3}
    assert JsonPath.parse(path).find(value) == (value if found is ... else found)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("a.c", "an object with the keys b has no key 'c'"),
        ("a.b[7]", "a list of 2 items has no item [7]"),
        ("a[*]", "expects a list"),
        ("a.b[0].x", "the value '1' has no key 'x'"),
    ],
)
def test_a_path_that_leads_to_nothing_says_how_far_it_leads(path: str, said: str) -> None:
    with pytest.raises(PathError) as caught:
        JsonPath.parse(path).find({"a": {"b": [1, 2]}})
    assert said in str(caught.value)
