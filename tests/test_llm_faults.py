"""Whatever goes wrong between a judge and its endpoint ends as an answer or as a typed failure."""

from __future__ import annotations

import asyncio
import random
import socket
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_judging import KEY, Bench, answered, ask, ask_one, failed, grades, patient
from llm_rule import Request, default_rule
from llm_server import LLMServer
from ragassay.judges.asking import Asker
from ragassay.judges.endpoints.errors import from_status, rejected, retry_after
from ragassay.judges.endpoints.openai_chat import OpenAIChat
from ragassay.judges.limits import Limiter
from ragassay.judges.questions.relevance import RelevanceGrade
from ragassay.judges.secrets import Secret
from ragassay.judges.verdict import Failure, Verdict
from ragassay.scores import Reason

GRADE = RelevanceGrade("how tall is the tower?", "The tower is 81 metres tall.")


@pytest.fixture
def server() -> Iterator[LLMServer]:
    with LLMServer() as made:
        yield made


@pytest.fixture
def bench(server: LLMServer, tmp_path: Path) -> Iterator[Bench]:
    with Bench(server, tmp_path) as made:
        yield made


RETRIED = [
    *("rate_limit", "rate_limit:0", "rate_limit_ms:5", "error_500", "error_503", "drop"),
    *("drop_midway", "html_200", "no_choices", "error_500_echo"),
]
REPAIRED = [
    *("malformed", "two_objects", "number_in_prose", "wrong_enum", "out_of_range"),
    *("empty", "null", "truncated", "refusal_text"),
]
UNDERSTOOD = ["delay:0.02", "prose", "code_block", "thinking", "thinking_headless"]
FINAL = {
    "refusal": Reason.REFUSED,
    "content_filter": Reason.REFUSED,
    "content_filter_400": Reason.REFUSED,
    "context_too_long": Reason.CONTEXT_TOO_LONG,
    "context_too_long_413": Reason.CONTEXT_TOO_LONG,
    "bad_request": Reason.SERVER_ERROR,
    "auth": Reason.AUTH,
    "auth_echo": Reason.AUTH,
    "forbidden": Reason.AUTH,
    "model_not_found": Reason.AUTH,
    "quota": Reason.AUTH,
}
ALWAYS = {
    "rate_limit": Reason.RATE_LIMITED,
    "error_500": Reason.SERVER_ERROR,
    "error_503": Reason.SERVER_ERROR,
    "drop": Reason.CONNECTION,
    "drop_midway": Reason.CONNECTION,
    "html_200": Reason.SERVER_ERROR,
    "malformed": Reason.UNPARSABLE,
    "number_in_prose": Reason.UNPARSABLE,
    "wrong_enum": Reason.UNPARSABLE,
    "out_of_range": Reason.UNPARSABLE,
    "empty": Reason.UNPARSABLE,
    "truncated": Reason.UNPARSABLE,
    "refusal_text": Reason.REFUSED,
}


@pytest.mark.parametrize("fault", RETRIED)
def test_what_may_pass_is_sent_again(server: LLMServer, bench: Bench, fault: str) -> None:
    server.settings.faults = [fault, fault]
    made = answered(ask_one(bench.judge(), GRADE)).provenance
    assert made.attempts == 3
    assert [message["role"] for message in made.messages] == ["system", "user"]
    assert len({str(body) for body in server.bodies}) == 1, "the very same request"


@pytest.mark.parametrize("fault", REPAIRED)
def test_a_reply_that_holds_no_answer_is_repaired_once(
    server: LLMServer, bench: Bench, fault: str
) -> None:
    server.settings.faults = [fault]
    made = answered(ask_one(bench.judge(), GRADE)).provenance
    assert made.attempts == 2
    assert len(made.messages) == 4


@pytest.mark.parametrize("fault", UNDERSTOOD)
def test_what_only_surrounds_an_answer_costs_no_second_request(
    server: LLMServer, bench: Bench, fault: str
) -> None:
    server.settings.faults = [fault]
    asked = answered(ask_one(bench.judge(), GRADE))
    assert asked.provenance.attempts == 1
    said = default_rule(Request(server.bodies[0], b"", 0, 0, ""))
    assert asked.answer.model_dump() == said


@pytest.mark.parametrize(("fault", "reason"), FINAL.items(), ids=FINAL)
def test_what_would_come_out_the_same_again_is_not_sent_again(
    server: LLMServer, bench: Bench, fault: str, reason: Reason
) -> None:
    server.settings.faults = [fault]
    failure = failed(ask_one(bench.judge(), GRADE))
    assert failure.reason is reason
    assert failure.provenance.attempts == server.stats()["requests"] == 1
    assert len(failure.detail) > 20 and KEY not in failure.detail
    kept = bench.judge().known(GRADE)
    assert (kept is not None) == (not reason.passing)


@pytest.mark.parametrize(("fault", "reason"), ALWAYS.items(), ids=ALWAYS)
def test_what_never_gets_better_ends_as_its_own_reason(
    server: LLMServer, bench: Bench, fault: str, reason: Reason
) -> None:
    server.settings.faults = lambda request: fault
    failure = failed(ask_one(bench.judge(), GRADE))
    assert failure.reason is reason
    assert failure.provenance.attempts == server.stats()["requests"]
    assert server.stats()["requests"] == (
        2 if reason in (Reason.UNPARSABLE, Reason.REFUSED) else 10
    )
    kept = bench.judge().known(GRADE)
    assert (kept is None) == reason.passing


def test_a_hanging_request_ends_at_its_deadline(server: LLMServer, bench: Bench) -> None:
    server.settings.faults = lambda request: "hang" if request.index == 0 else None
    hanging, *others = ask(bench.judge(timeout=0.6), grades(4))
    failure = failed(hanging)
    assert failure.reason is Reason.TIMEOUT and "within 0.6 seconds" in failure.detail
    assert all(answered(one) for one in others), "nobody waits for the one that hangs"
    assert bench.judge().known(grades(1)[0]) is None


def test_the_deadline_covers_retries_and_their_waits(server: LLMServer, bench: Bench) -> None:
    server.settings.faults = lambda request: "error_500"
    begin = time.monotonic()
    failure = failed(ask_one(bench.judge(timeout=0.3, backoff=0.1), GRADE))
    assert failure.reason is Reason.SERVER_ERROR
    assert server.stats()["requests"] < 5
    assert time.monotonic() - begin < 5


def test_waiting_for_a_place_is_not_part_of_the_deadline(server: LLMServer, bench: Bench) -> None:
    server.settings.latency = 0.1
    found = ask(bench.judge(timeout=0.5, limiter=Limiter(1)), grades(10))
    assert all(answered(one) for one in found), "ten times 0.1 s, one after the other"


def test_retry_after_pauses_the_whole_endpoint(server: LLMServer, bench: Bench) -> None:
    seen: list[tuple[float, int]] = []

    def faults(request: Request) -> str | None:
        seen.append((time.monotonic(), request.index))
        return "rate_limit:0.5" if request.index == 4 else None

    server.settings.faults = faults
    server.settings.latency = 0.02
    found = ask(bench.judge(limiter=Limiter(4)), grades(30))
    assert all(answered(one) for one in found)
    turned_away = next(moment for moment, index in seen if index == 4)
    early = [index for moment, index in seen if turned_away + 0.2 < moment < turned_away + 0.45]
    assert early == []
    assert server.stats()["requests"] == 31


def test_an_endpoint_that_wants_hours_of_peace_ends_the_run(
    server: LLMServer, bench: Bench
) -> None:
    server.settings.faults = lambda request: "rate_limit:40000"
    found = [failed(one) for one in ask(bench.judge(), grades(100))]
    assert {one.reason for one in found} == {Reason.RATE_LIMITED}
    assert {"left alone for 11 hours" in one.detail for one in found} == {True}
    assert server.stats()["requests"] < 10


def test_a_request_that_can_never_fit_the_rate_is_not_tried_again(
    server: LLMServer, bench: Bench
) -> None:
    said = b'{"error": {"message": "Request too large for model-a on tokens per min."}}'
    error = from_status(429, said, headers={}, url="u", model="m", key="k", sent=())
    assert error.reason is Reason.RATE_LIMITED and not error.again


# --- what fails everything ---


@pytest.mark.parametrize("fault", ["wrong key", "wrong model"])
def test_a_wrong_key_or_model_fails_everything_with_few_requests_and_one_clear_sentence(
    server: LLMServer, bench: Bench, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    patient(monkeypatch)
    if fault == "wrong key":
        server.settings.key = "another"
    else:
        server.settings.models = ("another",)
    found = [failed(one) for one in ask(bench.judge(), grades(500))]
    assert server.stats()["requests"] == 1
    assert {one.reason for one in found} == {Reason.AUTH}
    (sentence,) = {one.detail for one in found}
    assert server.url in sentence and KEY not in sentence
    assert ("TEST_KEY" in sentence) == (fault == "wrong key")
    assert ("'model-a'" in sentence) == (fault == "wrong model")
    assert sum(one.provenance.attempts for one in found) == 1


def test_a_key_that_is_rejected_late_still_ends_the_run_soon(
    server: LLMServer, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragassay.judges.sending.HEAD_START_S", 0.0)
    server.settings.key = "another"
    found = ask(bench.judge(limiter=Limiter(64)), grades(500))
    assert {failed(one).reason for one in found} == {Reason.AUTH}
    assert server.stats()["requests"] <= 64


def test_a_rate_limit_of_requests_does_not_hold_up_the_bad_news(
    server: LLMServer, bench: Bench
) -> None:
    server.settings.key = "another"
    found = ask(bench.judge(limiter=Limiter(8, rpm=60)), grades(500))
    assert {failed(one).reason for one in found} == {Reason.AUTH}


def test_known_answers_are_given_even_where_the_key_is_wrong(
    server: LLMServer, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient(monkeypatch)
    ask(bench.judge(), grades(20))
    server.settings.key = "another"
    found = ask(bench.judge(), grades(60))
    assert sum(isinstance(one, Verdict) for one in found) == 20
    assert server.stats()["requests"] == 21


def test_an_endpoint_that_is_not_there_is_named(bench: Bench) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    judge = bench.judge(endpoint=OpenAIChat(url, Secret(KEY, "TEST_KEY")))
    failure = failed(ask_one(judge, GRADE))
    assert failure.reason is Reason.CONNECTION
    assert url in failure.detail and "cannot be reached" in failure.detail


# --- all of it at once ---


def test_with_a_third_of_all_replies_faulty_everything_is_answered_or_failed_and_adds_up(
    server: LLMServer, bench: Bench
) -> None:
    names = [
        *("rate_limit", "rate_limit:0.01", "error_500", "error_503", "drop", "drop_midway"),
        *("html_200", "no_choices", "malformed", "prose", "code_block", "two_objects"),
        *("number_in_prose", "wrong_enum", "out_of_range", "empty", "null", "refusal"),
        *("refusal_text", "truncated", "content_filter", "content_filter_400", "thinking"),
        *("thinking_headless", "context_too_long", "hang", "delay:0.05", "bad_request"),
    ]
    server.settings.faults = {name: 0.3 / len(names) for name in names}
    server.settings.seed = 7
    questions = grades(500)
    judge = bench.judge(timeout=1.0, limiter=Limiter(64))
    kept: list[Verdict[Any] | Failure] = []
    with Asker(judge, keep=kept.append) as asker:
        scope = asker.scope()

        async def all_asked() -> list[Verdict[Any] | Failure]:
            return list(await asyncio.gather(*(scope.verdict(one, 0) for one in questions)))

        found = asker.submit(all_asked()).result(120)
        usage = asker.usage
    reasons = Counter(one.reason for one in found if isinstance(one, Failure))
    verdicts = [one for one in found if isinstance(one, Verdict)]
    assert len(found) == len(kept) == usage.questions == 500
    assert len(verdicts) + reasons.total() == 500
    assert usage.failures == {str(reason): n for reason, n in reasons.items()}
    assert len(verdicts) > 400
    assert set(reasons) <= {
        *(Reason.REFUSED, Reason.UNPARSABLE, Reason.CONTEXT_TOO_LONG),
        *(Reason.TIMEOUT, Reason.SERVER_ERROR),
    }
    assert {Reason.REFUSED, Reason.CONTEXT_TOO_LONG, Reason.TIMEOUT} <= set(reasons)
    assert (
        usage.calls == server.stats()["requests"] == sum(one.provenance.attempts for one in found)
    )
    for one in verdicts:
        assert one.question.check(one.answer) == one.answer

    # Asked again: what is known costs nothing, what was passing gets its chance.
    passing = sum(n for reason, n in reasons.items() if reason.passing)
    server.settings.faults = {}
    server.state.reset()
    again = ask(bench.judge(), questions)
    assert server.stats()["requests"] == passing
    assert sum(isinstance(one, Failure) for one in again) == reasons.total() - passing
    for before, after in zip(found, again, strict=True):
        if isinstance(before, Verdict):
            assert answered(after).answer == before.answer


def test_the_same_faults_give_the_same_answers_in_whatever_order(
    server: LLMServer, bench: Bench, tmp_path: Path
) -> None:
    server.settings.faults = {"out_of_range": 0.1, "error_500": 0.1, "refusal": 0.1}

    def outcomes(questions: list[RelevanceGrade], folder: Path) -> dict[str, Any]:
        folder.mkdir()
        with Bench(server, folder) as fresh:
            found = ask(fresh.judge(), questions)
        return {
            one.question.key: one.answer if isinstance(one, Verdict) else one.reason
            for one in found
        }

    questions = grades(100)
    first = outcomes(questions, tmp_path / "one")
    random.Random(1).shuffle(questions)
    server.state.reset()
    assert outcomes(questions, tmp_path / "two") == first


# --- reading errors ---


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (400, '{"error":{"message":"prompt is too long: 9 tokens > 8"}}', "context_too_long"),
        (400, '{"error":{"message":"Input token count (9) exceeds the maximum number of tokens"}}',
         "context_too_long"),
        (400, '{"message":"This model\'s maximum context length is 8 tokens. max_tokens"}',
         "context_too_long"),
        (400, '{"error":{"message":"API key not valid. Please pass a valid API key."}}', "auth"),
        (400, '{"error":{"message":"The model `x` does not exist"}}', "auth"),
        (402, '{"error":{"message":"Insufficient Balance"}}', "auth"),
        (403, '{"error":{"message":"Your input was flagged by moderation"}}', "refused"),
        (404, "<html>nginx</html>", "auth"),
        (408, "", "timeout"),
        (409, "{}", "server_error"),
        (422, '{"detail":[{"loc":["body","messages"],"msg":"bad"}]}', "server_error"),
        (429, '{"error":{"message":"Too many requests. See your billing page."}}', "rate_limited"),
        (429, '{"error":{"status":"RESOURCE_EXHAUSTED","message":"exceeded your current quota"}}',
         "rate_limited"),
        (500, "", "server_error"),
        (529, '{"error":{"type":"overloaded_error","message":"Overloaded"}}', "server_error"),
        (418, "[]", "server_error"),
        (400, '"a text"', "server_error"),
        (400, "\xff\xfe", "server_error"),
    ],
)  # fmt: skip
def test_errors_of_many_servers_are_understood(status: int, body: str, reason: str) -> None:
    error = from_status(
        status,
        body.encode("latin-1"),
        headers={},
        url="http://x/v1",
        model="m",
        key="KEY",
        sent=("temperature", "seed", "max_tokens", "json_schema"),
    )
    assert error.reason == reason, error.detail
    assert error.again == (status in (408, 409, 429, 500, 529))
    assert error.detail


@pytest.mark.parametrize(
    ("message", "param", "named"),
    [
        ("Unsupported value: 'temperature' does not support 0", "temperature", {"temperature"}),
        ("Unsupported parameter: 'seed'", "", {"seed"}),
        ("seed, top_p and temperature are not supported", "", {"seed", "top_p", "temperature"}),
        ("`temperature` and `top_p` cannot both be specified for this model", "", {"top_p"}),
        ("response_format.type json_schema is unavailable", "response_format", {"json_schema"}),
        ("Structured outputs are not supported by this model", "", {"json_schema"}),
        ("Invalid schema for response_format 'x'", "response_format", {"json_schema"}),
        ("Something is wrong", "", set()),
        ("messages: field required", "messages", set()),
    ],
)
def test_what_a_server_rejects_is_read_from_what_it_says(
    message: str, param: str, named: set[str]
) -> None:
    sent = ("temperature", "seed", "top_p", "json_schema")
    assert rejected(message, param, b"{}", sent) == named


def test_retry_after_is_read_in_every_form() -> None:
    assert retry_after({"Retry-After": "2"}) == 2.0
    assert retry_after({"retry-after": "1.5"}) == 1.5
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0
    assert (retry_after({"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"}) or 0) > 1e8
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({"retry-after": "-3"}) == 0.0
    assert retry_after({}) is None
    assert retry_after({}, b'{"details": [{"retryDelay": "34s"}]}') == 34.0
