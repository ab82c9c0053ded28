"""The LLM judge asks once, keeps what it paid for, and says how it asked."""

import asyncio
import json
import zlib
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest

from llm_judging import Bench, answered, ask, ask_one, failed, grades, patient
from llm_rule import Request, default_rule
from llm_server import LLMServer
from question_examples import EXAMPLES, name_of
from ragassay.base.score import Reason
from ragassay.judges.judge import Failure, JudgeAnswer
from ragassay.judges.questions.checklists import CitationSupport, ClaimSupport
from ragassay.judges.questions.grading import RelevanceGrade, ReportOnContext
from ragassay.transport.budget import Budget
from ragassay.transport.endpoints.endpoint import Completion
from ragassay.transport.endpoints.endpoint_errors import from_status
from ragassay.transport.endpoints.http_chats import OpenAIChat
from ragassay.transport.providers_and_prices import Price
from ragassay.transport.secrets import NO_KEY
from ragassay.transport.sending import Limiter
from valid_answers import largest

GRADE = RelevanceGrade("how tall is the tower?", "The tower is 81 metres tall.")
SUPPORT = CitationSupport("The tower is 81 metres tall.", "It is 81 metres tall.")


@pytest.mark.parametrize("mode", ["json_schema", "json_object", "text"])
def test_every_built_in_question_is_answered_in_every_mode(server, bench: Bench, mode: str) -> None:
    modes = ("json_schema", "json_object", "text")
    server.settings.rejects = modes[: modes.index(mode)]
    for question, asked in zip(EXAMPLES, ask(bench.judge(), EXAMPLES), strict=True):
        answer = answered(asked).answer
        assert question.check(answer) == answer
        assert asked.provenance.messages[-1]["content"].count("JSON") >= 1, name_of(question)
    assert server.stats()["answered"] == len(EXAMPLES)
    assert server.bodies[-1].get("response_format", {}).get("type", "text") == mode


def test_the_answer_says_where_it_comes_from(server: LLMServer, bench: Bench) -> None:
    judge = bench.judge(price=Price(1.0, 2.0))
    made = answered(ask_one(judge, GRADE)).provenance
    assert made.judge == judge.label == f"{server.url}#model-a"
    assert made.model == "model-a-2026-01-01"
    assert made.prompt_hash == GRADE.prompt_hash("model-a")
    assert json.loads(made.reply).keys() == {"intent", "match", "trust", "grade"}
    assert list(made.messages) == server.bodies[0]["messages"]
    assert made.attempts == 1 and made.latency > 0 and not made.cached
    assert made.cost == pytest.approx((made.input_tokens + 2 * made.output_tokens) / 1e6)
    assert made.input_tokens > made.output_tokens > 0
    assert len(made.request) == 64
    again = answered(ask_one(bench.judge(price=Price(1.0, 2.0)), GRADE)).provenance
    assert again.cached and replace(again, cached=False, messages=made.messages) == made
    assert list(again.messages) == list(made.messages) and server.stats()["requests"] == 1
    row = bench.ledger.get(made.request)
    assert row is not None and (row.source, row.name) == (server.url, "model-a")
    assert (row.subject, row.input_tokens, row.cost) == (GRADE.kind, made.input_tokens, made.cost)
    kept = json.loads(zlib.decompress(row.payload))
    assert kept["messages"] == server.bodies[0]["messages"] and kept["mode"] == "json_schema"
    assert kept["schema"] == GRADE.bounded_schema() and kept["parameters"]["top_p"] == 1.0


def test_one_who_gives_up_does_not_take_the_answer_from_the_others(server, bench: Bench) -> None:
    server.settings.latency = 0.05
    judge = bench.judge()

    async def both() -> JudgeAnswer[Any] | Failure:
        await judge.open()
        first = asyncio.ensure_future(judge.answer(GRADE))
        second = asyncio.ensure_future(judge.answer(GRADE))
        other = asyncio.ensure_future(judge.answer(GRADE, 1))
        await asyncio.sleep(0.01)
        first.cancel()
        found = await second
        assert answered(await other).repeat == 1
        await judge.close()
        return found

    assert answered(asyncio.run(both())).answer
    assert server.stats()["requests"] == 2, "each repeat is asked by itself"


def test_refresh_asks_each_question_once_more_and_keeps_the_new_answer(server, bench) -> None:
    ask(bench.judge(), grades(3))
    fresh = bench.judge(reuse="nothing")
    assert fresh.known(grades(1)[0]) is None
    first, second = ask(fresh, grades(3)), ask(fresh, grades(3))
    assert server.stats()["answered"] == 6
    assert not any(one.provenance.cached for one in first)
    assert all(one.provenance.cached for one in second)


def test_a_refresh_that_fails_leaves_the_paid_answer_for_other_runs(server, bench: Bench) -> None:
    before = answered(ask_one(bench.judge(), GRADE))
    server.settings.faults = lambda request: "refusal"
    fresh = bench.judge(reuse="nothing")
    first, second = failed(ask_one(fresh, GRADE)), failed(ask_one(fresh, GRADE))
    assert first.reason is second.reason is Reason.REFUSED and first.detail == second.detail
    assert not first.provenance.cached and second.provenance.cached
    assert server.stats()["requests"] == 2, "asked once more in this run, and not twice"
    after = answered(ask_one(bench.judge(), GRADE))
    assert after.provenance.cached and after.answer == before.answer
    server.settings.faults = {}
    assert not answered(ask_one(bench.judge(reuse="nothing"), GRADE)).provenance.cached


def test_failures_that_stay_are_kept_and_asked_again_on_demand(server, bench: Bench) -> None:
    server.settings.faults = ["refusal"]
    refused = failed(ask_one(bench.judge(), GRADE))
    assert refused.reason is Reason.REFUSED
    again = failed(ask_one(bench.judge(), GRADE))
    assert (again.reason, again.detail) == (refused.reason, refused.detail)
    assert again.provenance.cached and server.stats()["requests"] == 1
    server.settings.faults = lambda request: "refusal"
    twice = bench.judge(reuse="answers")
    assert [failed(ask_one(twice, GRADE)).provenance.cached for _ in range(2)] == [False, True]
    assert server.stats()["requests"] == 2, "what was asked again in this run counts in it"
    server.settings.faults = {}
    retried = bench.judge(reuse="answers")
    assert retried.known(GRADE) is None
    assert answered(ask_one(retried, GRADE))
    assert server.stats()["requests"] == 3
    assert answered(ask_one(bench.judge(), GRADE)).provenance.cached


def test_a_failure_takes_the_place_of_an_invalid_answer(server, bench: Bench, monkeypatch) -> None:
    ask_one(bench.judge(), GRADE)

    monkeypatch.setattr(RelevanceGrade, "check", Mock(side_effect=ValueError("not any more")))
    assert failed(ask_one(bench.judge(), GRADE)).reason is Reason.UNPARSABLE
    assert failed(ask_one(bench.judge(), GRADE)).provenance.cached, "and is not paid for each time"
    assert server.stats()["requests"] == 3


@pytest.mark.parametrize("dialect", ["openai", "vllm", "fastapi", "prose"])
def test_rejected_parameters_are_dropped_and_the_signature_says_so(server, bench, dialect) -> None:
    server.settings.dialect = dialect
    server.settings.rejects = ("temperature", "presence_penalty", "seed")
    judge = bench.judge()
    made = answered(ask_one(judge, GRADE)).provenance
    assert made.dropped == ("presence_penalty", "seed", "temperature")
    assert judge.signature == f"{judge.label}(without=seed,without=temperature)"
    assert judge.without(["top_p", "presence_penalty"]) == ("presence_penalty",)
    sent = server.bodies[-1]
    assert not {"temperature", "presence_penalty", "seed"} & sent.keys()
    assert sent["top_p"] == 1.0, "what was not rejected is still sent"
    assert made.attempts == 4


def test_what_was_dropped_is_remembered_so_a_resume_asks_the_same(server, bench: Bench) -> None:
    server.settings.rejects = ("temperature", "json_schema", "json_object")
    first = bench.judge()
    asked = answered(ask_one(first, GRADE))
    before = server.stats()["requests"]
    again = bench.judge()
    assert again.signature == first.signature
    assert "without=json_object,without=json_schema,without=temperature" in again.signature
    assert answered(ask_one(again, GRADE)).provenance.request == asked.provenance.request
    assert server.stats()["requests"] == before
    ask_one(again, SUPPORT)
    assert server.stats()["requests"] == before + 1
    assert bench.judge("model-b").signature.endswith("(seed=42,temperature=0)")


def test_a_signature_says_what_is_sent_and_earlier_forms_are_looked_back_at(bench: Bench) -> None:
    judge = bench.judge(parameters={"seed": None, "temperature": 0.25}, language="de")
    assert judge.signature == f"{judge.label}(temperature=0.25,language=de)"
    for name in "abcdef":
        judge.drop(judge.dropped | {name})
    assert [len(one) for one in judge.before] == [5, 4, 3, 0], "the latest, and the very first"
    judge.drop(judge.dropped)
    assert len(judge.before) == 4


def test_many_first_requests_settle_with_few_rejections(server, bench: Bench, monkeypatch) -> None:
    patient(monkeypatch)
    server.settings.rejects = (
        *("temperature", "top_p", "presence_penalty", "frequency_penalty", "seed"),
        *("json_schema", "json_object"),
    )
    server.settings.latency = 0.01
    assert all(answered(one) for one in ask(bench.judge(limiter=Limiter(64)), grades(300)))
    stats = server.stats()
    assert stats["answered"] == 300
    assert stats["statuses"]["400"] == 7, "the first one finds out for all"


def test_what_was_paid_before_a_parameter_was_rejected_is_not_paid_again(server, bench) -> None:
    """A server may change behind its address, or take a temperature of 0 for some prompts only."""
    judge = bench.judge()
    early = ask(judge, grades(5))
    server.settings.rejects = ("seed",)
    middle = ask(judge, grades(10)[5:])
    server.settings.rejects = ("seed", "temperature", "top_p", "json_schema")
    late = ask(judge, grades(15)[10:])
    assert server.stats()["answered"] == 15
    for run in (judge, bench.judge()):  # in the same process, and from the ledger alone
        found = [answered(one) for one in ask(run, grades(15))]
        assert all(one.provenance.cached for one in found)
        answers = [answered(one).answer for one in (*early, *middle, *late)]
        assert [one.answer for one in found] == answers
        rejected = ((), ("seed",), ("json_schema", "seed", "temperature", "top_p"))
        assert [one.provenance.dropped for one in found] == [x for x in rejected for _ in range(5)]
    assert server.stats()["answered"] == 15
    assert isinstance(bench.judge().known(grades(1)[0]), JudgeAnswer), "plans know it too"


def test_max_tokens_goes_by_its_newer_name_where_the_old_one_is_rejected(server, bench) -> None:
    server.settings.rejects = ("max_tokens",)
    judge = bench.judge(parameters={"max_tokens": 50})
    made = answered(ask_one(judge, GRADE)).provenance
    assert server.bodies[-1]["max_completion_tokens"] == 50
    assert made.dropped == ()
    assert "max_tokens=50" in judge.signature
    server.settings.rejects = ("max_tokens", "max_completion_tokens")
    judge = bench.judge("model-b", parameters={"max_tokens": 50})
    assert answered(ask_one(judge, GRADE)).provenance.dropped == ("max_tokens",)


@pytest.mark.parametrize("message", [
    "Unsupported value: 'messages[0].role' does not support 'system'.", "System role not supported",
])  # fmt: skip
def test_a_model_without_system_messages_is_given_the_text_in_the_users(bench, message) -> None:
    asked: list[Any] = []

    class Gemma(OpenAIChat):
        async def send(self, body: bytes) -> Completion:
            asked.append(json.loads(body))
            if asked[-1]["messages"][0]["role"] != "system":
                return Completion('{"match": 3, "trust": 3, "grade": 3}')
            error = json.dumps({"error": {"message": message}}).encode()
            sent = set(self.rejectable(asked[-1]))
            at = {"url": self.url, "model": "m", "key": self.key, "headers": {}}
            raise from_status(400, error, sent=sent, **at)

    judge = bench.judge(endpoint=Gemma("http://localhost:1/v1", NO_KEY))
    assert [answered(one).answer.grade for one in ask(judge, grades(3))] == [3, 3, 3]
    assert "without=system" in judge.signature
    assert [len(body["messages"]) for body in asked] == [2, 1, 1, 1]
    ask(judge, grades(3))
    assert len(asked) == 4, "the second time the ledger answers"


def test_a_bad_reply_is_repaired_once_and_both_turns_are_paid_and_shown(server, bench) -> None:
    server.settings.faults = ["out_of_range"]
    made = answered(ask_one(bench.judge(price=Price(1, 1)), GRADE)).provenance
    assert made.attempts == 2
    turns = [message["role"] for message in made.messages]
    assert turns == ["system", "user", "assistant", "user"]
    assert "less than or equal to 3" in made.messages[-1]["content"]
    assert "9999999" in made.messages[-2]["content"]
    assert made.cost == pytest.approx((made.input_tokens + made.output_tokens) / 1e6)
    one, two = (len(json.dumps(body)) // 4 for body in server.bodies)
    assert made.input_tokens > 1.5 * one and made.input_tokens <= one + two
    assert answered(ask_one(bench.judge(), GRADE)).provenance.messages == list(made.messages)
    assert server.stats()["requests"] == 2


def test_what_a_turn_cost_that_nobody_counted_is_not_known(server: LLMServer, bench: Bench) -> None:
    def rule(request: Request) -> Any:
        server.settings.usage = request.index > 0
        return default_rule(request) if request.index else "{}"

    server.settings.rule = rule
    made = answered(ask_one(bench.judge(price=Price(1, 1)), GRADE)).provenance
    assert (made.attempts, made.cost) == (2, None) and made.input_tokens > 0


def test_the_form_that_is_told_is_the_one_that_is_read(server: LLMServer, bench: Bench) -> None:
    question = ClaimSupport(("Dune is a novel.",), ("Dune is a novel by Frank Herbert.",))
    server.settings.rule = lambda request: '{"supported": [true]}'
    failure = failed(ask_one(bench.judge(), question))
    told = failure.detail.partition(" Wanted: a JSON object with verdicts, such as ")[2]
    assert told == '{"verdicts":[{"number":1,"reason":"...","supported":true}]}'
    server.settings.rule = lambda request: told
    assert answered(ask_one(bench.judge(reuse="answers"), question)).answer.supported == (True,)


def test_what_is_left_of_a_report_is_kept_and_asked_again_where_failures_are(server, bench) -> None:
    question = ReportOnContext("q", ("a", "b"))
    whole = json.loads(largest(question).model_dump_json())

    def rule(request: Request) -> Any:
        return {**whole, "attribution": [2, 5]} if not good else whole

    good: list[int] = []
    server.settings.rule = lambda one: rule(one) if len(one.messages) == 2 else "no idea"
    assert answered(ask_one(bench.judge("b"), question)).answer.relevance == 5
    server.settings.rule = rule
    server.state.reset()
    found = answered(ask_one(bench.judge(), question))
    assert (found.answer.relevance, found.answer.attribution) == (5, None)
    lost = found.answer.lost["attribution"]
    assert (lost.reason, lost.detail) == (Reason.UNPARSABLE, "there is no chunk 5, there are 2")
    assert found.provenance.attempts == 2 and server.stats()["requests"] == 2
    schema = server.bodies[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["attribution"]["items"]["maximum"] == 2
    again = answered(ask_one(bench.judge(), question))
    assert again.answer == found.answer and again.provenance.cached
    good.append(1)
    healed = answered(ask_one(bench.judge(reuse="answers"), question))
    assert healed.answer == largest(question)
    assert answered(ask_one(bench.judge(reuse="answers"), question)).answer == largest(question)
    assert server.stats()["requests"] == 3  # what is whole is not asked again


def test_an_interrupt_keeps_what_is_in_flight_and_sends_nothing_new(server, bench: Bench) -> None:
    server.settings.hold = True
    judge = bench.judge(limiter=Limiter(8))

    async def interrupted() -> list[JudgeAnswer[Any] | Failure]:
        await judge.open()
        asked = [asyncio.ensure_future(judge.answer(one)) for one in grades(100)]
        while server.stats()["in_flight"] < 8:
            await asyncio.sleep(0.005)
        draining = asyncio.ensure_future(judge.drain())
        await asyncio.sleep(0)
        server.settings.hold = False
        await draining
        found = [await one for one in asked]
        await judge.close()
        return found

    found = asyncio.run(interrupted())
    kept = [one for one in found if isinstance(one, JudgeAnswer)]
    assert len(kept) == server.stats()["answered"] == server.stats()["requests"] == 8
    lost = [failed(one) for one in found if not isinstance(one, JudgeAnswer)]
    assert all("interrupted" in one.detail and one.reason.passing for one in lost)
    assert all(one.provenance.attempts == 0 for one in lost)
    assert all(answered(one) for one in ask(judge, grades(100)))
    assert server.stats()["answered"] == 100


def test_a_reply_counts_as_in_flight_until_it_is_in_the_ledger(server, bench, monkeypatch) -> None:
    """So that a crash loses no more replies than may be in flight, however slow the disk is."""
    judge = bench.judge(limiter=Limiter(4))
    keep = bench.ledger.keep

    async def some() -> int:
        disk = asyncio.Event()

        async def slow(rows: Any, **options: Any) -> None:
            await disk.wait()
            await keep(rows, **options)

        monkeypatch.setattr(bench.ledger, "keep", slow)
        await judge.open()
        asked = [asyncio.ensure_future(judge.answer(one)) for one in grades(20)]
        while server.stats()["answered"] < 4:
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.1)
        before = server.stats()["requests"]
        disk.set()
        assert all(answered(one) for one in await asyncio.gather(*asked))
        await judge.close()
        return int(before)

    assert asyncio.run(some()) == 4
    assert server.stats()["requests"] == 20


def test_a_budget_of_calls_is_kept_to_the_call(server: LLMServer, bench: Bench) -> None:
    budget = Budget(calls=10)
    found = ask(bench.judge(budget=budget), grades(40))
    assert sum(isinstance(one, JudgeAnswer) for one in found) == 10
    assert {failed(one).reason for one in found if isinstance(one, Failure)} == {Reason.BUDGET}
    assert server.stats()["requests"] == 10
    again = ask(bench.judge(budget=Budget(calls=0)), grades(40))
    assert sum(isinstance(one, JudgeAnswer) for one in again) == 10, "what is known needs no budget"
