"""What goes wrong with a system is one sentence that names target, query and what to do; one that
refuses requests is named with its status, and is not asked a thousand times."""

import asyncio
import base64
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from ragassay.base.errors import InputError, RagassayError, UsageError
from ragassay.cli.command_line import call
from ragassay.formats import load
from ragassay.judges.ledger.ledger_store import DEFAULT, Ledger
from ragassay.judges.ledger.paid_answers import ANSWER
from ragassay.targets.ask_run import ask
from ragassay.targets.asking.ask_summary import Answers
from system_server import PLAIN, Reply, SystemServer, echo

pytestmark = pytest.mark.usefixtures("no_long_waits")

QUERIES = [{"id": f"q{n}", "query": f"What is {n}?"} for n in range(40)]


def asked(server: SystemServer, mapping: str = "", n: int = 40, **options: Any) -> Answers:
    Path("mine.yaml").write_text(mapping or server.mapping)
    return ask(QUERIES[:n], "mine.yaml", **options)


def test_a_target_that_hangs_is_a_timeout_and_the_others_are_answered() -> None:
    hold = threading.Event()

    def rule(number: int, sent: Any) -> Any:
        hangs = sent["question"] == "What is 1?"
        return Reply(hold=hold, drop=True) if hangs else echo(number, sent)

    with SystemServer(rule) as server:
        answers = asked(server, n=3, timeout=0.5)
        hold.set()
    assert answers.summaries["mine"].failed == {"timeout": 1}
    failure = answers.samples[1].failure or ""
    assert "did not answer within 0.5 seconds" in failure and "--timeout" in failure


def pages_and_nulls(number: int, sent: Any) -> Any:
    """Every third reply is a page, the others hold null; a page names its request."""
    page = Reply(f"<html>502 bad gateway, request {number}</html>".encode(), kind="text/html")
    return page if number % 3 == 2 else {"answer": None, "hits": []}


def test_a_system_that_fails_in_several_ways_is_stopped_with_each_of_them() -> None:
    with SystemServer(pages_and_nulls) as server:
        summary = asked(server, concurrency=1).summaries["mine"]
        assert len(server.asked) == 16
    said = summary.details["stopped"]
    assert "the first 16 queries failed, so no more are asked. 11 of them: http://" in said
    assert "returned null for the answer" in said and "; 5 of them: http://" in said
    assert "answered with HTML: '502 bad gateway, request 2'" in said


def test_no_other_origin_is_told() -> None:
    with SystemServer() as elsewhere:
        moved = Reply(status=307, headers={"Location": f"{elsewhere.url}/ask"})
        with SystemServer(lambda number, sent: moved) as server:
            answers = asked(server, n=1)
        assert not elsewhere.asked
    assert "redirects to another address" in (answers.samples[0].failure or "")


@pytest.mark.parametrize(("target", "said"), [
    ("nowhere:answer", "no module 'nowhere'"), ("nowhere.in:answer", "no module 'nowhere.in'"),
    ("mine:anser", "Did you mean 'answer'"),
    ("mine:number", "cannot be called"), ("mine:of_two", "it takes query, index"),
    ("mine:of_none", "it takes nothing"), ("broken:answer", "ZeroDivisionError"),
    ("script:answer", "its module cannot be imported (SystemExit: 4)"),
    ("needs:answer", "needs 'not_installed_here'"),
    ("command:no-such-program", "no program 'no-such-program'"),
    ("mcp:python server.py", "Which tool"), ("mcp:no-such#a", "no program 'no-such'.\n"),
    ("mcp:python 'server.py#answer", "cannot be read: No closing quotation."),
    ("mcp: #answer", "there is no program ''"),
    ("http://localhost:1/v1", "URL#MODEL"), ("comand:python rag.py", "Did you mean 'command'"),
    ("vectara:mine", "set VECTARA_API_KEY"),
    ("anthropic:model", "speaks the protocol anthropic"), ("missing.yaml", "missing.yaml"),
])  # fmt: skip
def test_a_target_that_cannot_be_asked_is_refused(desk, monkeypatch, capsys, target, said) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of-a-test")
    monkeypatch.delenv("VECTARA_API_KEY", raising=False)
    monkeypatch.syspath_prepend(str(desk))
    for name, body in {
        "mine": "number = 3\ndef answer(query): return query\n"
        "def of_two(query, index): return query\ndef of_none(): return 'yes'",
        "broken": "1 / 0",
        "script": "import sys\nsys.exit(4)",
        "needs": "import not_installed_here",
    }.items():
        Path(f"{name}.py").write_text(body)
    assert call(["ask", "queries.jsonl", "--target", target]) == 2
    assert said in capsys.readouterr().err
    assert not Path("answers.jsonl").exists()


@pytest.mark.parametrize(("change", "said"), [
    ("answr: x", "line 6, field 'answr': is not a known key"), ("version: 'a..b'", "is not a path"),
    ("params: {q: '{{quest}}'}", "nothing to fill in for '{{quest}}'"),
    ("headers: {key: '${NOT_SET_HERE}'}", "NOT_SET_HERE, which is not set"),
    ("headers: {key: '${EMPTY_HERE}'}", "EMPTY_HERE, which is not set"),
    ("end_mark: done", "field 'end_mark': is for streams only"),
    ("passage: {idd: x}", "Did you mean 'id'"), ("end_mark: 'a..b'\nstream: sse", "is not a path"),
])  # fmt: skip
def test_a_mistake_in_a_mapping_has_its_line_and_field(monkeypatch, change, said: str) -> None:
    monkeypatch.setenv("EMPTY_HERE", "")
    with SystemServer() as server, pytest.raises(RagassayError) as caught:
        asked(server, f"{server.mapping}{change}\n")
    assert said in str(caught.value) and "mine.yaml, line 6" in str(caught.value)


@pytest.mark.parametrize(
    "request_part", ["", "params: {id: '{{id}}'}\nmethod: GET", "body: {turns: '{{history}}'}"]
)
def test_a_mapping_that_does_not_send_the_query_is_refused(request_part: str) -> None:
    with SystemServer() as server:
        with pytest.raises(InputError) as caught:
            asked(server, f"url: {server.url}/ask\nanswer: answer\n{request_part}\n")
        assert not server.asked
    assert "mine.yaml: does not send the query" in str(caught.value)
    assert 'as in `body: {question: "{{query}}"}`' in str(caught.value)


@pytest.mark.parametrize(("name", "death"), [
    ("exits", "os._exit(7)"), ("crashes", "signal.raise_signal(signal.SIGSEGV)"),
])  # fmt: skip
def test_what_was_kept_outlives_a_function_that_ends_the_process(name: str, death: str) -> None:
    """No file tells half of the truth, and the next start asks what is missing."""
    Path(f"{name}.py").write_text(
        "import os, pathlib, signal, sys\n"
        "def answer(query):\n"
        "    with open('asked.txt', 'a') as log:\n"
        "        log.write(query + '\\n')\n"
        "    if query == 'What is 3?' and not pathlib.Path('healed').exists():\n"
        f"        {death}\n"
        "    return 'about ' + query\n"
    )
    words = ["ask", "queries.jsonl", "--target", f"{name}:answer", "-j", "1"]
    command = [sys.executable, "-m", "ragassay", *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == (7 if name == "exits" else -signal.SIGSEGV)
    assert ("crashes.py" in ended.stderr) == (name == "crashes")
    assert not Path("answers.jsonl").exists()
    first = Path("asked.txt").read_text().splitlines()
    with Ledger(DEFAULT) as ledger:
        kept = sum(1 for _ in ledger.rows("kind = ? AND reason IS NULL", ANSWER))
    assert first == [f"What is {n}?" for n in range(4)] and kept >= 2
    Path("healed").touch()
    assert call(words) == 0
    again = Path("asked.txt").read_text().splitlines()[4:]
    samples = load("answers.jsonl")
    assert again == [sample.query for sample in samples][kept:]
    assert all(sample.answer_text == f"about {sample.query}" for sample in samples)


def test_a_command_that_dies_costs_its_query_only() -> None:
    Path("mortal.py").write_text(
        "import json, os, sys\nquery = json.load(sys.stdin)['query']\n"
        "if query == 'What is 3?': os.kill(os.getpid(), 9)\nprint('about', query)\n"
    )
    answers = ask("queries.jsonl", f"command:{sys.executable} mortal.py")
    (summary,) = answers.summaries.values()
    assert summary.failed == {"failed": 1} and summary.answered == len(answers.samples) - 1
    assert "ended by the signal SIGKILL" in summary.details["failed"]


@pytest.mark.parametrize("request_part", [
    "url: {url}/ask\nheaders: {{Authorization: Bearer very-secret-key-123}}\n",
    "url: {url}/ask\nheaders: {{Authorization: 'Bearer ${{MINE_KEY}}'}}\n",
    "url: {url}/ask\nheaders: {{Authorization: 'Bearer ${{MINE_KEY}}'}}\nstream: sse\n",
    "url: {url}/${{MINE_KEY}}/${{MINE_INDEX}}/ask\n", "url: {url}/ask?key=${{MINE_KEY}}\n",
    "url: {url_of_ann}/ask\n",
])  # fmt: skip
def test_no_secret_of_a_mapping_is_shown_or_kept(desk, monkeypatch, capsys, request_part) -> None:
    monkeypatch.setenv("MINE_KEY", "very-secret-key-123")
    monkeypatch.setenv("MINE_INDEX", "my index")

    def rule(number: int, sent: Any) -> Any:
        told = server.headers[-1].get("Authorization", "")
        if "sse" in request_part:
            return Reply(f'data: {{"said": "{told}"}}\n\n'.encode())
        path = server.paths[-1]
        told = f"{path} {told} {base64.b64decode(told[6:]) if 'Basic' in told else ''}"
        return Reply(f"no access for {told}".encode(), 403 + number % 2)

    with SystemServer(rule) as server:
        url_of_ann = server.url.replace("://", "://ann:very%2Dsecret-key-123@")
        Path("mine.yaml").write_text(
            request_part.format(url=server.url, url_of_ann=url_of_ann)
            + 'body: {question: "{{query}}"}\nanswer: answer\n'
        )
        assert call(["ask", "queries.jsonl", "--target", "mine.yaml"]) == 3
        assert server.asked
    said = capsys.readouterr()
    files = [path for path in desk.rglob("*") if path.is_file() and path.suffix != ".yaml"]
    held = b"".join([*(path.read_bytes() for path in files), said.out.encode(), said.err.encode()])
    assert b"no access for" in held or "sse" in request_part
    if "Bearer ${" in request_part:
        assert server.headers[0]["Authorization"] == "Bearer very-secret-key-123"
        assert "sse" in request_part or "Check MINE_KEY" in " ".join(said.out.split())
    assert b"very-secret-key-123" not in held
    assert base64.b64encode(b"ann:very-secret-key-123") not in held


def test_an_address_that_is_none_is_told_without_its_secrets() -> None:
    Path("mine.yaml").write_text(
        PLAIN.replace("URL/", "ftp://ann:very-secret@host/ask?key=very-secret")
    )
    with pytest.raises(UsageError) as told:
        ask([{"id": "q", "query": "Who?"}], "mine.yaml")
    assert "ftp://host/ask is not an HTTP address" in str(told.value)
    assert "very-secret" not in str(told.value)
    tool = "mcp:http://ann:very-secret@127.0.0.1:1/mcp?key=very-secret#answer"
    with pytest.raises(UsageError) as told:
        ask([{"id": "q", "query": "Who?"}], tool)
    assert "mcp:http://127.0.0.1:1/mcp#answer does not start" in str(told.value)


@pytest.mark.parametrize("error", [
    SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), ValueError("a \ud83d half"),
])  # fmt: skip
def test_what_the_code_of_a_system_raises_costs_its_query_only(error: BaseException) -> None:
    async def cancelled() -> str:
        raise error

    def mine(query: str) -> Any:
        if query.endswith("1?"):
            return "fine"
        if isinstance(error, asyncio.CancelledError):
            return cancelled()
        raise error

    queries = [{"id": f"q{n}", "query": f"What is {n}?"} for n in range(3)]
    answers = ask(queries, mine, output="answers.jsonl")
    first, second, _ = answers.samples
    assert str(first.failure).startswith(f"failed: mine raised {type(error).__name__}")
    assert "(test_failures.py:" in str(first.failure) and second.answer_text == "fine"
    assert answers.summaries["mine"].failed == {"failed": 2}
    assert len(Path("answers.jsonl").read_text().splitlines()) == 3


def asked_by(rule: Any, **options: Any) -> tuple[Answers, int, str]:
    with SystemServer(rule) as server:
        return ask(QUERIES, "mine.yaml", concurrency=1, **options), len(server.asked), server.url


@pytest.mark.parametrize(("status", "requests", "advice"), [
    (401, 5, "Add 'headers' to mine.yaml."), (404, 5, "Check 'url' in mine.yaml."),
    (403, 5, "Add 'headers' to mine.yaml."), (410, 16, "Check 'url' in mine.yaml."),
    (405, 5, "Check 'method' in mine.yaml."), (422, 16, "Check 'body' in mine.yaml."),
])  # fmt: skip
def test_a_refusal_is_told_with_status_url_and_words(status, requests: int, advice: str) -> None:
    reply = Reply(b"<p>no such thing here</p>", status, kind="text/html")
    answers, sent, url = asked_by(lambda *_: reply)
    assert sent == requests  # each once: a retry would be refused again
    (summary,) = answers.summaries.values()
    assert summary.failed == {"refused": requests, "stopped": 40 - requests}
    said = f"{url}/ask answered with status {status}: no such thing here. {advice}"
    assert answers.samples[0].failure == f"refused: {said}"
    stopped = summary.details["stopped"]
    assert f"the first {requests} queries failed, so no more are asked" in stopped


@pytest.mark.parametrize("statuses", [[200, *[400] * 39], [404, 400] * 20])
def test_refusals_between_answers_or_of_two_kinds_stop_nothing(statuses: list[int]) -> None:
    def rule(number: int, sent: Any) -> Any:
        return echo(number, sent) if statuses[number] == 200 else Reply(b"no", statuses[number])

    answers, sent, _ = asked_by(rule)
    assert sent == 40
    assert answers.summaries["mine"].failed == {"refused": 40 - statuses.count(200)}


@pytest.mark.parametrize(("reply", "said"), [
    (Reply(drop=True), "it closed the connection. Check the system's log"),
    (Reply(b"Traceback (most recent call last):\n f\nKeyError: 'k'\n", 500), "500: KeyError: 'k'."),
    (Reply(b"<h1>Internal Server Error</h1>", 500), "500: Internal Server Error. Check the"),
])  # fmt: skip
def test_a_handler_that_crashes_is_not_called_out_of_reach(reply: Reply, said: str) -> None:
    answers, _, _ = asked_by(lambda *_: reply, retries=0)
    assert said in (answers.samples[0].failure or "")
    assert "reached" not in (answers.samples[0].failure or "")


@pytest.mark.parametrize(("reply", "kind", "advice"), [
    (Reply(b"busy", 429, headers={"Retry-After": "0"}), "rate_limited",
     "Ask more slowly (--rpm, -j), or try more often (--retries)"),
    (Reply(b"busy", 503), "server_error", "lower -j or --rpm, or raise --retries"),
    (Reply(b"{", cut=True), "connection", "the same 'ragassay ask'"),
])  # fmt: skip
def test_what_may_pass_is_asked_again(reply: Reply, kind: str, advice: str) -> None:
    with SystemServer(lambda *_: reply) as server:
        (sample,) = ask(QUERIES[:1], "mine.yaml", retries=1).samples
        assert len(server.asked) == 2
    assert advice in (sample.failure or "") and (sample.failure or "").startswith(f"{kind}: ")


@pytest.mark.parametrize(("status", "requests"), [(401, 5), (403, 30)])
def test_a_key_that_expired_since_an_earlier_run_stops_the_asking(status, requests: int) -> None:
    """Of another refusal the queries may be the cause, which are left because they failed."""

    def rule(number: int, sent: Any) -> Any:
        return echo(number, sent) if number < 10 else Reply(b"no", status)

    with SystemServer(rule) as server:
        assert ask(QUERIES[:10], "mine.yaml", concurrency=1, ledger="kept.sqlite").complete
        again = ask(QUERIES, "mine.yaml", concurrency=1, ledger="kept.sqlite")
        assert len(server.asked) == 10 + requests
    (summary,) = again.summaries.values()
    assert summary.answered == 10 and summary.failed["refused"] == requests
    assert summary.failed.get("stopped", 0) == 30 - requests
