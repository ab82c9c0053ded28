"""A key goes into a header, and nowhere else."""

import asyncio
import copy
import html
import io
import json
import logging
import pickle
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from llm_judging import KEY, Bench, ask, ask_one, failed, grades
from llm_server import LLMServer
from ragassay.base.errors import InputError, RagassayError
from ragassay.compat.open_rag_eval.judge_models import OpenAIModel, judge_keywords
from ragassay.judges.judge import to_record
from ragassay.judges.judge_factory import JudgeOptions, address_of, make_judge
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.llm.llm_judge import LLMJudge
from ragassay.transport import secrets
from ragassay.transport.endpoints.endpoint import EndpointError
from ragassay.transport.endpoints.http_chats import OpenAIChat
from ragassay.transport.secrets import HIDDEN, NO_KEY, Secret
from unpacked_pages import page_text


def test_a_secret_shows_its_source_and_not_itself() -> None:
    secret = Secret(KEY, "OPENAI_API_KEY")
    for text in (repr(secret), str(secret), f"{secret}", f"{secret!r}", repr([secret])):
        assert KEY not in text and "OPENAI_API_KEY" in text
    assert not hasattr(secret, "__dict__")
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled"):
            way(secret)
    with pytest.raises(TypeError):
        json.dumps(secret)


def test_a_secret_is_known_by_where_it_came_from_and_blanked_out(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"\ufeff {KEY}\n")
    found = Secret(f" {KEY}\n", "TEST_KEY"), secrets.from_file(tmp_path / "key")
    assert [one.reveal() for one in found] == [KEY, KEY] and all(found)
    assert found[0].advice == "Check TEST_KEY."
    ours = found[0].of("the shop")
    assert ours.reveal() == KEY and ours.source == "the key of the shop"
    none = Secret("", "TEST_KEY")
    assert not none and "set TEST_KEY" in none.advice and "no key" in repr(none)
    assert NO_KEY.advice == none.of("the shop").advice and "set" not in NO_KEY.advice
    said = [Secret(key, "x").hidden_in("abcdef abcde") for key in ("abcdef", "abcde", "")]
    assert said == [f"{HIDDEN} abcde", *["abcdef abcde"] * 2]
    first = secrets.from_environment("ABC", {"A": " ", "B": f" {KEY}", "C": "other"})
    assert first is not None and (first.source, first.reveal()) == ("B", KEY)
    assert secrets.from_environment("A", {"A": " ", "B": KEY}) is None
    for body in (b" \n", b"\xff\xfe\x00"):
        (tmp_path / "key").write_bytes(body)
        with pytest.raises(InputError, match=r"the key alone|not a text file"):
            secrets.from_file(tmp_path / "key")


@pytest.mark.parametrize(
    "fault", ["auth_echo", "error_500_echo", "auth", "drop", "hang", "html_200", "malformed"]
)
def test_no_failure_of_an_endpoint_gives_the_key_away(server, tmp_path, fault: str, caplog) -> None:
    server.settings.faults = lambda request: fault
    caplog.set_level(logging.DEBUG)
    with Bench(server, tmp_path) as bench:
        found = ask(bench.judge(timeout=0.3), grades(3))
        shown = [json.dumps(to_record(one)) + repr(one) + str(one) for one in found]
    assert server.state.keys == {KEY}, "the server did see the key"
    assert KEY not in "".join(shown)
    assert KEY not in caplog.text
    for path in tmp_path.rglob("*"):
        assert KEY.encode() not in path.read_bytes(), path.name
        assert path.suffix != ".html" or KEY not in page_text(path)


def test_a_reply_that_holds_the_key_is_kept_without_it(server: LLMServer, tmp_path: Path) -> None:
    server.settings.rule = lambda request: f"Your key is {request.key}."
    with Bench(server, tmp_path) as bench:
        failure = failed(ask_one(bench.judge(), grades(1)[0]))
        assert failure.provenance.reply == f"Your key is {HIDDEN}."
        entry = bench.ledger.get(failure.provenance.request)
        assert entry is not None and KEY not in repr(entry)
    assert KEY not in json.dumps(server.bodies), "nor is it sent back in the repair turn"


@pytest.mark.parametrize(
    "fault", ["auth_echo", "error_500_echo", "drop", "html_200", "bad_request"]
)
def test_a_whole_traceback_with_its_causes_holds_no_key(server: LLMServer, fault: str) -> None:
    server.settings.faults = lambda request: fault

    async def sent() -> None:
        endpoint = OpenAIChat(server.url, Secret(KEY, "TEST_KEY"))
        try:
            await endpoint.send(b'{"model": "m", "messages": []}')
        finally:
            await endpoint.close()

    with pytest.raises(EndpointError) as caught:
        asyncio.run(sent())
    shown = io.StringIO()
    traceback.TracebackException.from_exception(caught.value, capture_locals=True).print(file=shown)
    assert KEY not in shown.getvalue()
    assert KEY not in repr(caught.value) + str(caught.value) + str(vars(caught.value))


def test_nothing_of_the_environment_goes_to_another_server(server, tmp_path, monkeypatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, f"private-{name}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Private: private-header\nAuthorization: private")
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        judge = make_judge([f"{server.url}#m"], default_model="x", ledger=ledger)
        assert isinstance(judge, LLMJudge)
        ask_one(judge, grades(1)[0])
    assert server.state.keys == {"none"}
    assert not [line for line in server.state.headers if "private" in line.casefold()]


def test_a_key_file_is_read_and_named_but_never_shown(server: LLMServer, tmp_path: Path) -> None:
    path = tmp_path / "judge.key"
    path.write_text(f"  {KEY}\n")
    server.settings.key = "another"
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        options = JudgeOptions(key_file=path)
        judge = make_judge([f"{server.url}#m"], default_model="x", ledger=ledger, options=options)
        assert isinstance(judge, LLMJudge)
        failure = failed(ask_one(judge, grades(1)[0]))
    assert server.state.keys == {KEY}
    assert "the key file" in failure.detail and str(path) in failure.detail
    assert KEY not in failure.detail + repr(options)


@pytest.mark.parametrize(
    "value", [f"{KEY}\n{KEY}", f"{KEY}\r\nX-More: 1", f"{KEY}\x00", f"{KEY}\x7f", f"{KEY} x",
              f"{KEY}\u2026", f"\u201c{KEY}\u201d", f"{KEY}\u200b"]
)  # fmt: skip
def test_a_key_that_no_header_can_hold_is_refused_by_its_source_alone(tmp_path, value: str) -> None:
    """The client would quote the whole header in its error, and the judge would try ten times."""
    path = tmp_path / "judge.key"
    path.write_bytes(value.encode())
    names = {"OPENAI_API_KEY": value, "RAGASSAY_API_KEY": value}
    ways: dict[str, Callable[[], object]] = {
        "OPENAI_API_KEY": lambda: secrets.from_environment(["OPENAI_API_KEY"], names),
        "RAGASSAY_API_KEY": lambda: address_of("http://localhost:1/v1#m", "", names),
        str(path): lambda: secrets.from_file(path),
        "the option": lambda: Secret(value, "the option"),
        "api_key": lambda: judge_keywords(OpenAIModel("gpt-4o", api_key=value)),
    }
    for source, way in ways.items():
        with pytest.raises(RagassayError, match=re.escape(source)) as caught:
            way()
        shown = "".join(traceback.format_exception(caught.value, chain=True))
        assert KEY not in str(caught.value) and repr(value)[1:-1] not in shown


@pytest.mark.parametrize("key", ['sk-a"b\\c/d&e+f=', "sk-<'quoted'>-100%"])
def test_a_key_is_blanked_out_in_escaped_forms_too(key: str) -> None:
    secret = Secret(key, "x")
    forms = [json.dumps({"said": key}), json.dumps(key).replace("/", "\\/"), repr(key.encode())]
    forms += [html.escape(key), quote(key), quote(key, safe=""), f"Bearer {key}"]
    for form in forms:
        shown = secret.hidden_in(f"wrong: {form}!")
        assert HIDDEN in shown and "sk-" not in shown
        assert secret.hidden_in_bytes(f"wrong: {form}!".encode()) == shown.encode()


def test_what_no_header_can_hold_is_not_tried_again(server, tmp_path, monkeypatch) -> None:
    broken = f"{KEY}\n{KEY}"
    secret = Secret(KEY, "TEST_KEY")
    monkeypatch.setattr(Secret, "reveal", lambda self: broken)
    with Bench(server, tmp_path) as bench:
        judge = bench.judge(endpoint=OpenAIChat(server.url, secret))
        failure = failed(ask_one(judge, grades(1)[0]))
    assert failure.provenance.attempts == 0 and server.stats()["requests"] == 0
    assert "is not valid" in failure.detail and "sk-" not in failure.detail
