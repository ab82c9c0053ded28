"""Whatever goes wrong between a judge and its endpoint ends as an answer or as a typed failure."""

import asyncio
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

import ragassay
from llm_judging import KEY, Bench, answered, ask, ask_one, failed, grades, patient
from llm_rule import Request, default_rule
from llm_server import LLMServer
from ragassay.base.errors import UsageError
from ragassay.base.score import Reason
from ragassay.judges.judge import Failure
from ragassay.judges.questions.grading import RelevanceGrade
from ragassay.transport.budget import Account, Budget
from ragassay.transport.endpoints import Prompt
from ragassay.transport.endpoints.endpoint import Completion, Endpoint, EndpointError, Stopped
from ragassay.transport.endpoints.endpoint_errors import (
    from_status,
    rejected,
    retry_after,
    unreached,
)
from ragassay.transport.endpoints.http_chats import MOST_TOKENS
from ragassay.transport.providers_and_prices import Price
from ragassay.transport.secrets import NO_KEY, Secret
from ragassay.transport.sending import ALIKE_IN_A_ROW, UNUSABLE_IN_A_ROW, Limiter, Sender, Tally
from virtual_time import VirtualLoop, in_virtual_time

GRADE = RelevanceGrade("how tall is the tower?", "The tower is 81 metres tall.")


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
    "refusal": Reason.REFUSED, "content_filter": Reason.REFUSED,
    "content_filter_400": Reason.REFUSED, "context_too_long": Reason.CONTEXT_TOO_LONG,
    "context_too_long_413": Reason.CONTEXT_TOO_LONG, "bad_messages": Reason.SERVER_ERROR,
    "auth": Reason.AUTH, "auth_echo": Reason.AUTH, "forbidden": Reason.AUTH,
    "model_not_found": Reason.AUTH, "quota": Reason.AUTH,
}  # fmt: skip
ALWAYS = {
    "rate_limit": Reason.RATE_LIMITED, "error_500": Reason.SERVER_ERROR,
    "error_503": Reason.SERVER_ERROR, "drop": Reason.CONNECTION, "drop_midway": Reason.CONNECTION,
    "html_200": Reason.SERVER_ERROR, "malformed": Reason.UNPARSABLE,
    "number_in_prose": Reason.UNPARSABLE, "wrong_enum": Reason.UNPARSABLE,
    "out_of_range": Reason.UNPARSABLE, "empty": Reason.UNPARSABLE, "truncated": Reason.UNPARSABLE,
    "refusal_text": Reason.REFUSED,
}  # fmt: skip


@pytest.mark.parametrize("fault", RETRIED)
def test_what_may_pass_is_sent_again(server: LLMServer, bench: Bench, fault: str) -> None:
    server.settings.faults = [fault, fault]
    made = answered(ask_one(bench.judge(), GRADE)).provenance
    assert made.attempts == 3
    assert [message["role"] for message in made.messages] == ["system", "user"]
    assert len({str(body) for body in server.bodies}) == 1, "the very same request"


@pytest.mark.parametrize("fault", REPAIRED)
def test_a_reply_that_holds_no_answer_is_repaired_once(server, bench: Bench, fault: str) -> None:
    server.settings.faults = [fault]
    made = answered(ask_one(bench.judge(), GRADE)).provenance
    assert made.attempts == 2
    assert len(made.messages) == 4


@pytest.mark.parametrize("fault", UNDERSTOOD)
def test_what_only_surrounds_an_answer_costs_no_second_request(server, bench, fault: str) -> None:
    server.settings.faults = [fault]
    asked = answered(ask_one(bench.judge(), GRADE))
    assert asked.provenance.attempts == 1
    assert asked.answer.model_dump() == default_rule(Request(server.bodies[0], b"", 0, 0, ""))


@pytest.mark.parametrize(("fault", "reason"), (FINAL | ALWAYS).items(), ids=FINAL | ALWAYS)
def test_what_never_gets_better_ends_as_its_own_reason(server, bench, fault, reason) -> None:
    server.settings.faults = lambda request: fault
    failure = failed(ask_one(bench.judge(), GRADE))
    assert failure.reason is reason
    n = 2 if reason in (Reason.UNPARSABLE, Reason.REFUSED) else 10
    n = 1 if fault in FINAL else n  # what would come out the same again is not sent again
    assert failure.provenance.attempts == server.stats()["requests"] == n
    assert len(failure.detail) > 20 and KEY not in failure.detail
    assert (bench.judge().known(GRADE) is None) == reason.passing


def test_a_repair_that_fails_tells_both_problems_where_they_differ(server, bench: Bench) -> None:
    for second, reason, both in (
        ("malformed", Reason.UNPARSABLE, False), ("out_of_range", Reason.UNPARSABLE, True),
        ("context_too_long", Reason.UNPARSABLE, False), ("auth", Reason.AUTH, False),
    ):  # fmt: skip
        faults = ("malformed", second)
        server.settings.faults = lambda one, two=faults: two[len(one.messages) > 2]
        failure = failed(ask_one(bench.judge(f"model-{second}"), GRADE))
        assert (failure.reason, "at first" in failure.detail) == (reason, both)
        assert failure.provenance.attempts == 2


def test_a_hanging_request_ends_at_its_deadline(server: LLMServer, bench: Bench) -> None:
    server.settings.faults = lambda request: "hang"
    failure = failed(ask_one(bench.judge(timeout=0.3), GRADE))
    assert failure.reason is Reason.TIMEOUT and "within 0.3 seconds" in failure.detail
    assert server.stats()["requests"] == failure.provenance.attempts == 1
    assert bench.judge().known(GRADE) is None


class Slow(Endpoint):
    """An endpoint in virtual time, whose replies take so many seconds."""

    protocol = "openai"

    def __init__(self, *replies: tuple[float, str | Exception]) -> None:
        super().__init__("http://slow/v1", NO_KEY)
        self.replies = itertools.cycle(replies)
        self.sent = 0
        self.bodies: list[bytes] = []

    def body(self, prompt: Prompt) -> dict[str, Any]:
        return {"model": prompt.model, "messages": prompt.messages}

    async def send(self, body: bytes) -> Completion:
        self.sent += 1
        self.bodies.append(body)
        seconds, said = next(self.replies)
        await asyncio.sleep(seconds)
        if isinstance(said, Exception):
            raise replace(said) if isinstance(said, EndpointError) else said
        return Completion(said)

    async def close(self) -> None:
        pass


async def sent(sender: Sender, tally: Tally, current: Any = None, body: bytes = b"{}") -> Any:
    async def receive(completion: Completion) -> str | None:
        return completion.text

    return await sender.send(body, receive, tally, 60, 1, current)


BUSY = EndpointError(Reason.SERVER_ERROR, "busy", again=True)


@pytest.mark.parametrize(("share", "waits"), [(1.0, 91.5), (0.5, 45.75)])
@in_virtual_time
async def test_each_wait_is_twice_the_one_before_up_to_the_longest(
    loop: VirtualLoop, monkeypatch, share, waits
) -> None:
    def drawn(low: float, high: float) -> float:
        assert (low, high) == (0.5, 1.0)
        return share

    monkeypatch.setattr("ragassay.transport.sending.random.uniform", drawn)

    endpoint, tally = Slow((1.0, BUSY)), Tally()
    with pytest.raises(EndpointError, match="busy"):
        await sent(Sender(endpoint), tally)
    assert (endpoint.sent, tally.attempts, tally.seconds, tally.waited) == (10, 10, 10, waits)
    once, tally = Slow((1.0, BUSY)), Tally()
    with pytest.raises(EndpointError):  # a second wait of 4 to 8 would be too long
        await sent(Sender(once, backoff=4, timeout=4 * share + 2 + 8 * share), tally)
    assert once.sent == 2 and tally.waited == 4 * share
    few = Slow((1.0, BUSY))
    with pytest.raises(EndpointError):
        await sent(Sender(few, attempts=3), Tally())
    assert few.sent == 3


class Counted(Slow):
    async def send(self, body: bytes) -> Completion:
        said = await super().send(body)
        assert said.text is not None
        model = "" if said.text == "none" else said.text
        return Completion(said.text, "stop", None, model, 5, 2, said.text != "uncounted")


@in_virtual_time
async def test_what_one_answer_took_is_added_up(loop: VirtualLoop) -> None:
    unsent = EndpointError(Reason.CONNECTION, "no way there", again=True, sent=False)
    endpoint, tally = Counted((2.0, BUSY), (1.0, unsent), (3.0, "a"), (1.0, "none")), Tally()
    sender = Sender(endpoint, backoff=0)
    assert [await sent(sender, tally) for _ in range(2)] == ["a", "none"]
    assert tally == Tally(3, 7.0, 0.0, 10, 4, True, 2, "a")
    endpoint.replies = iter([(1.0, "uncounted"), (1.0, "b")])
    for _ in range(2):
        await sent(sender, tally)
    assert (tally.counted, tally.model, tally.replies) == (False, "b", 4)


@pytest.mark.parametrize(("seconds", "begins"), [(0.3, 0.3), (10.0, 1.0)])
@in_virtual_time
async def test_the_first_request_is_alone_until_it_is_answered_or_for_a_second(
    loop: VirtualLoop, seconds, begins
) -> None:
    endpoint = Slow((seconds, "a"))
    sender, begin = Sender(endpoint), loop.time()
    asking = [asyncio.ensure_future(sent(sender, Tally())) for _ in range(5)]
    await asyncio.sleep(begins - 0.01)
    assert endpoint.sent == 1
    await asyncio.sleep(0.02)
    assert endpoint.sent == 5
    assert await asyncio.gather(*asking) == ["a"] * 5
    assert loop.time() - begin == pytest.approx(begins + seconds)


@pytest.mark.parametrize(("failure", "limit", "counted"), [
    (EndpointError(Reason.SERVER_ERROR, "x"), 7.75, 1), (EndpointError(Reason.AUTH, "x"), 8, 1),
    (EndpointError(Reason.SERVER_ERROR, "x", overloaded=True), 0.5, 1),
    (EndpointError(Reason.RATE_LIMITED, "x", overloaded=True, retry_after=600.0), 8, 1),
    (EndpointError(Reason.RATE_LIMITED, "x", overloaded=True, retry_after=601.0), 8, 0),
    (EndpointError(Reason.REFUSED, "x"), 8, 0), (EndpointError(Reason.CONTEXT_TOO_LONG, "x"), 8, 0),
    (EndpointError(Reason.SERVER_ERROR, "x", rejected=frozenset({"seed"})), 8, 0),
])  # fmt: skip
@in_virtual_time
async def test_an_error_slows_the_pace_and_counts_by_its_cause(
    loop: VirtualLoop, failure, limit, counted: int
) -> None:
    endpoint = Slow((0.0, failure))
    sender, stopped = Sender(endpoint, Limiter(8, clock=loop.time)), failure.retry_after == 601
    with pytest.raises(EndpointError) as caught:
        await sent(sender, Tally())
    assert sender.limiter.limit == max(1, limit)
    assert sender.breaker._failures == counted
    told = (Reason.RATE_LIMITED, caught.value.detail)
    wanted = told if stopped else sender.breaker.tripped
    assert sender.stopped == wanted and ("0.2 hours" in told[1]) == stopped


@in_virtual_time
async def test_what_is_not_current_any_more_is_not_sent_and_a_stop_ends_waits_and_new_requests(
    loop: VirtualLoop,
) -> None:
    sender = Sender(endpoint := Slow((1.0, BUSY)), backoff=20, timeout=1000)
    assert await sent(sender, Tally(), lambda: False) is None and endpoint.sent == 0
    waiting = asyncio.ensure_future(sent(sender, Tally(), lambda: True))
    await asyncio.sleep(2)
    begin = loop.time()
    for detail in ("over", "later"):  # the first counts
        sender.stop(Reason.CONNECTION, detail)
    with pytest.raises(EndpointError, match="busy"):
        await waiting
    with pytest.raises(Stopped, match="over"):
        await sent(sender, Tally())
    assert loop.time() == begin
    sender.resume()
    endpoint.replies = iter([(1.0, "a")])
    assert await sent(sender, Tally()) == "a"
    sender.breaker.tripped = (Reason.AUTH, "wrong key")
    sender.resume()
    with pytest.raises(Stopped, match="wrong key"):
        await sent(sender, Tally())


@pytest.mark.parametrize("seconds", [0.5, 2.0])  # in the head start; before a place is free
@in_virtual_time
async def test_a_stop_ends_the_wait_for_a_place(loop: VirtualLoop, seconds: float) -> None:
    sender = Sender(Slow((100.0, "a")), Limiter(1, clock=loop.time))
    first, *others = (asyncio.ensure_future(sent(sender, Tally())) for _ in range(3))
    await asyncio.sleep(seconds)
    sender.stop(Reason.CONNECTION, "over")
    found = await asyncio.gather(*others, return_exceptions=True)
    assert [type(one) for one in found] == [Stopped, Stopped] and not first.done()
    assert await first == "a"


@in_virtual_time
async def test_what_was_begun_is_sent_again_before_what_is_new(loop: VirtualLoop) -> None:
    endpoint = Slow((2.0, BUSY), (1.0, "a"), (1.0, "a"), (1.0, "a"))
    sender = Sender(endpoint, Limiter(1, clock=loop.time), backoff=0)
    await asyncio.gather(*(sent(sender, Tally(), None, body) for body in (b"1", b"2", b"3")))
    assert endpoint.bodies == [b"1", b"2", b"1", b"3"]  # 2 had the place while 1 failed


@in_virtual_time
async def test_each_attempt_is_paid_for_by_what_it_took(loop: VirtualLoop) -> None:
    spent = Budget(tokens=1000)
    free = replace(BUSY, free=True)
    endpoint = Counted((1.0, free), (1.0, BUSY), (1.0, replace(free, sent=False)), (1.0, "a"))
    await sent(Sender(endpoint, account=Account(spent), backoff=0), Tally())
    assert (spent.spent_calls, spent.spent_tokens) == (3, 61 + 7) and not spent._open
    # Who waits for money when the run is stopped sends nothing and costs nothing.
    spent = Budget(tokens=100)
    sender = Sender(Counted((10.0, "a")), account=Account(spent))
    asking = [asyncio.ensure_future(sent(sender, Tally())) for _ in range(2)]
    await asyncio.sleep(2)
    sender.stop(Reason.CONNECTION, "over")
    first, second = await asyncio.gather(*asking, return_exceptions=True)
    assert first == "a" and isinstance(second, Stopped) and second.detail == "over"
    assert (spent.spent_calls, spent.spent_tokens) == (1, 7) and not spent._open
    # What cannot be paid for waits for no place.
    sender = Sender(Counted((10.0, "a")), Limiter(1, clock=loop.time), account=Account(spent))
    asking = [asyncio.ensure_future(sent(sender, Tally())) for _ in range(3)]
    spent.tokens = 7 + 61
    await asyncio.sleep(1.5)
    spent.tokens = 60
    begin = loop.time()
    with pytest.raises(Stopped) as caught:
        await sent(sender, Tally())
    assert caught.value.reason is Reason.BUDGET and loop.time() == begin
    await asyncio.gather(*asking, return_exceptions=True)


@in_virtual_time
async def test_after_the_deadline_nothing_is_sent(loop: VirtualLoop) -> None:
    endpoint, tally = Slow((0.0005, "a")), Tally(1, 119.0, 1.0)
    with pytest.raises(EndpointError, match="within 120 seconds") as caught:
        await sent(Sender(endpoint), tally)
    assert caught.value.reason is Reason.TIMEOUT and endpoint.sent == 0
    tally.waited = 0.999
    assert await sent(Sender(endpoint), tally) == "a"


@pytest.mark.parametrize(
    ("error", "told"), [(UsageError("The disk is full."), "The disk is full."),
                        (OverflowError("too large"), "the ledger: OverflowError('too large')")]
)  # fmt: skip
@in_virtual_time
async def test_nothing_more_is_sent_once_what_was_paid_cannot_be_kept(loop, error, told) -> None:
    async def writing() -> None:
        raise error

    sender = Sender(Slow((1.0, "a")))
    with pytest.raises(type(error)):
        await sender.kept(writing())
    assert sender.stopped == (Reason.CONNECTION, told)


@in_virtual_time
async def test_a_defect_of_an_endpoints_code_is_a_failure_that_hides_the_key(loop) -> None:
    endpoint = Slow((0.0, KeyError(f"header {KEY}")))
    endpoint.key = Secret(KEY, "TEST_KEY")
    with pytest.raises(EndpointError) as caught:
        await sent(Sender(endpoint), Tally())
    told = caught.value
    assert told.reason is Reason.SERVER_ERROR and isinstance(told.__cause__, KeyError)
    assert "http://slow/v1: KeyError" in told.detail and KEY not in told.detail


@pytest.mark.parametrize("fault", ["hang", "drop", "drop_midway", "html_200"])
def test_what_may_have_been_paid_counts_against_the_budget(server, bench, fault: str) -> None:
    server.settings.faults = lambda request: fault
    spent = Budget(tokens=10**9)
    failed(ask_one(bench.judge(budget=spent, timeout=0.5), GRADE))
    assert spent.spent_tokens > 300 * server.stats()["requests"] > 0


@pytest.mark.parametrize("fault", ["rate_limit", "error_500", "error_503", "bad_request", "auth"])
def test_what_was_answered_with_an_error_costs_its_call_only(server, bench, fault: str) -> None:
    server.settings.faults = lambda request: fault
    spent = Budget(dollars=1.0)
    failed(ask_one(bench.judge(budget=spent, price=Price(1.0, 1.0)), GRADE))
    assert spent.spent_dollars == spent.spent_tokens == 0
    assert spent.spent_calls == server.stats()["requests"] > 0


@pytest.mark.parametrize("usage", [
    {"prompt_tokens": -(10**6), "completion_tokens": -5},
    {"prompt_tokens": 2**63, "completion_tokens": 2**200},
    {"prompt_tokens": 0, "completion_tokens": 0},
    {"prompt_tokens": None, "completion_tokens": "many"},
    {"prompt_tokens": "9" * 5000, "completion_tokens": 1},
    {"prompt_tokens": [7], "completion_tokens": {}}, {"prompt_tokens": 100}, {},
    {"prompt_tokens": True, "completion_tokens": True},
], ids=lambda usage: str(usage)[:50])  # fmt: skip
def test_no_count_of_a_server_enlarges_a_budget_or_breaks_the_ledger(server, bench, usage) -> None:
    server.settings.usage = usage
    spent = Budget(tokens=10**9)
    judge = bench.judge(budget=spent, price=Price(1.0, 2.0))
    made = answered(ask_one(judge, GRADE)).provenance
    assert (made.cost is None) == (made.input_tokens < MOST_TOKENS), "not counted, not known"
    assert 0 <= made.input_tokens <= MOST_TOKENS and 0 <= made.output_tokens <= MOST_TOKENS
    assert spent.spent_tokens > 300 and server.stats()["requests"] == 1
    assert answered(ask_one(bench.judge(), GRADE)).provenance.cached


@pytest.mark.parametrize("fault", ["wrong key", "wrong model"])
def test_a_wrong_key_or_model_fails_everything_at_once(server, bench, monkeypatch, fault) -> None:
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


def test_a_redirect_to_another_server_is_not_followed(server: LLMServer, bench: Bench) -> None:
    with LLMServer() as other:
        server.settings.faults = lambda request: f"redirect:{other.url}/chat/completions"
        found = ask(bench.judge(), grades(20))
        assert other.stats()["requests"] == 0, "neither a prompt nor the key goes there"
        assert {failed(one).reason for one in found} == {Reason.AUTH}
        assert f"redirects to another address, {other.url}, " in str(found[0])
    assert server.stats()["requests"] == 1


@pytest.mark.parametrize("reply", ["{}", "I would say three."])
def test_a_model_that_never_gives_a_usable_reply_is_given_up(server, bench, reply: str) -> None:
    server.settings.rule = lambda request: reply
    judge = bench.judge(limiter=Limiter(4))
    found = [failed(one) for one in ask(judge, grades(120))]
    assert {one.reason for one in found} == {Reason.UNPARSABLE}
    assert server.stats()["requests"] <= 4 * UNUSABLE_IN_A_ROW, "of 240"
    assert f"no usable reply to {UNUSABLE_IN_A_ROW} questions" in found[-1].detail
    kept = sum(judge.known(one) is not None for one in grades(120))
    assert kept <= UNUSABLE_IN_A_ROW + 4, "what was never asked is not kept as a failure"
    server.settings.rule = default_rule
    ask(once := bench.judge("model-b", limiter=Limiter(4)), grades(1))
    server.settings.rule = lambda request: reply
    told = {failed(one).detail for one in ask(once, grades(30)[1:])}
    assert not any("no usable reply" in one for one in told), "it can answer, and is asked on"


def test_a_vague_rejection_of_everything_costs_a_few_only(server, bench, monkeypatch) -> None:
    patient(monkeypatch)
    ask(judge := bench.judge(), grades(1))
    server.settings.faults = lambda request: "bad_request"
    found = [failed(one) for one in ask(judge, grades(150)[1:])]
    assert {one.reason for one in found} == {Reason.SERVER_ERROR}
    assert "without" not in judge.signature and server.stats()["requests"] < 200, "of 299"
    assert f"{ALIKE_IN_A_ROW} requests in a row failed in the same way" in found[-1].detail


def test_after_a_vague_rejection_all_others_are_asked(server, bench: Bench, monkeypatch) -> None:
    patient(monkeypatch)

    def odd(request: Request) -> str | None:
        return "bad_request" if any(f"number {at}." in request.text for at in range(3)) else None

    server.settings.faults = odd
    questions = [RelevanceGrade(f"what is {at}?", f"passage number {at}.") for at in range(60)]
    judge = bench.judge()
    found = ask(judge, questions)
    assert [isinstance(one, Failure) for one in found] == [True] * 3 + [False] * 57
    assert server.stats()["requests"] == 2 * 3 + 57
    assert "without" not in judge.signature


@pytest.mark.parametrize(("status", "body", "reason"), [
    (400, '{"error":{"message":"prompt is too long: 9 tokens > 8"}}', "context_too_long"),
    (400, '{"error":{"message":"Input token count (9) exceeds the maximum number of tokens"}}',
     "context_too_long"),
    (400, '{"message":"This model\'s maximum context length is 8 tokens. max_tokens"}',
     "context_too_long"),
    (400, '{"error":{"message":"API key not valid. Please pass a valid API key."}}', "auth"),
    (402, '{"error":{"message":"Insufficient Balance"}}', "auth"),
    (404, "<html>nginx</html>", "auth"),
    (422, '{"detail":[{"loc":["body","messages"],"msg":"bad"}]}', "server_error"),
    (429, '{"error":{"message":"Too many requests. See your billing page."}}', "rate_limited"),
    (429, '{"error":{"status":"RESOURCE_EXHAUSTED","message":"exceeded your current quota"}}',
     "rate_limited"),
    (429, '{"error":{"message":"Request too large: limit 8000, requested 9000"}}', "rate_limited"),
    *((status, "", "server_error") for status in (409, 425, 500)), (408, "", "timeout"),
    (529, '{"error":{"type":"overloaded_error","message":"Overloaded"}}', "server_error"),
    (400, '"a text"', "server_error"),
])  # fmt: skip
def test_errors_of_many_servers_are_understood(status: int, body: str, reason: str) -> None:
    error = from_status(
        status, body.encode("latin-1"), headers={}, url="http://x/v1", model="m",
        key=Secret("sk-of-somebody", "KEY"),
        sent=("temperature", "seed", "max_tokens", "json_schema"),
    )  # fmt: skip
    assert error.reason == reason, error.detail
    assert error.again == (status in (408, 409, 425, 429, 500, 529) and "too large" not in body)
    assert error.overloaded == (error.again and status in (429, 529))
    assert error.detail


@pytest.mark.parametrize(("message", "param", "named"), [
    ("Unsupported value: 'temperature' does not support 0", "temperature", {"temperature"}),
    ("Unsupported parameter: 'seed'", "", {"seed"}),
    ("seed, top_p and temperature are not supported", "", {"seed", "top_p", "temperature"}),
    ("`temperature` and `top_p` cannot both be specified for this model", "", {"top_p"}),
    ("response_format.type json_schema is unavailable", "response_format", {"json_schema"}),
    ("Structured outputs are not supported by this model", "", {"json_schema"}),
    ("Invalid schema for response_format 'x'", "response_format", {"json_schema"}),
    ("Something is wrong", "", {"json_schema", "json_object"}),
    ("messages: field required", "messages", set()),
])  # fmt: skip
def test_what_a_server_rejects_is_read_from_what_it_says(message, param, named: set[str]) -> None:
    sent = ("temperature", "seed", "top_p", "json_schema")
    assert rejected(message, param, b"{}", sent) == named


@pytest.mark.parametrize(("error", "reason", "free"), [
    (TimeoutError(), "timeout", False), (httpx2.ConnectTimeout("x"), "timeout", True),
    (OSError(104, "reset"), "connection", False), (ConnectionRefusedError(), "connection", True),
])  # fmt: skip
def test_a_request_without_a_reply_is_free_only_where_it_never_left(error, reason, free) -> None:
    told = unreached(error, "http://x/v1", NO_KEY)
    assert (told.reason, told.free, told.sent, told.again) == (reason, free, not free, True)


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


def test_a_reply_that_is_cut_off_twice_names_the_option(tmp_path: Path) -> None:
    data = [{"id": "1", "query": "q", "passages": ["p"]}]
    with LLMServer(faults=["truncated", "truncated"]) as server:
        judge, ledger = f"{server.url}#m", str(tmp_path / "l.sqlite")
        result = ragassay.evaluate(data, ["umbrela"], judge=judge, ledger=ledger, max_tokens=7)
    (row,) = result.scores
    assert row.value is None and "Raise --max-tokens" in row.explanation
    assert "(now 7)." in row.explanation
