"""Anthropic's and Google's own protocols carry the same questions to the same answers.

What they send is answered by the test server in their own form.
"""

import asyncio
from collections.abc import Callable

import httpx2
import pytest

from llm_judging import KEY, Bench, answered, ask, ask_one, failed, grades, patient
from llm_server import LLMServer
from question_examples import EXAMPLES
from ragassay.base.score import Reason
from ragassay.judges.questions.grading import RelevanceGrade
from ragassay.transport.endpoints.endpoint import Completion, Endpoint, EndpointError, Prompt
from ragassay.transport.endpoints.http_chats import AnthropicMessages, GoogleGenAI, OpenAIChat
from ragassay.transport.secrets import Secret
from ragassay.transport.sending import Limiter

GRADE = RelevanceGrade("how tall is the tower?", "The tower is 81 metres tall.")
SECRET = Secret(KEY, "TEST_KEY")


CLASSES: dict[str, type[Endpoint]] = {"anthropic": AnthropicMessages, "google": GoogleGenAI}


@pytest.fixture(params=CLASSES)
def endpoint(request: pytest.FixtureRequest, server: LLMServer) -> Callable[[], Endpoint]:
    url = server.url.removesuffix("/v1")
    return lambda: CLASSES[request.param](url, SECRET, timeout=5)


def test_anthropics_body_is_as_documented() -> None:
    schema = {
        "type": "object", "properties": {
            "grade": {"type": "integer", "minimum": 0, "maximum": 3},
            "minimum": {"type": "string"}},
        "required": ["grade"], "additionalProperties": False,
    }  # fmt: skip
    messages = [{"role": role, "content": role[0]} for role in ("system", "system", "user")]
    prompt = Prompt("m", messages, {"temperature": 0.0}, "json_schema", "x", schema)
    body = AnthropicMessages("http://h", SECRET).body(prompt)
    assert body["system"] == "s\n\ns" and body["messages"] == messages[2:]
    assert body["max_tokens"] > 1000 and body["temperature"] == 0.0
    form = body["output_config"]["format"]
    assert form["schema"]["properties"] == {
        "grade": {"type": "integer"}, "minimum": {"type": "string"},
    }  # fmt: skip
    assert form["schema"]["required"] == ["grade"]
    assert "output_config" not in AnthropicMessages("http://h", SECRET).body(
        Prompt("m", messages, {"max_tokens": 5}, "text", "x", schema)
    )


def test_every_token_that_is_paid_for_is_counted() -> None:
    usage = {"input_tokens": 5, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 200}
    reply = {"content": [{"type": "text", "text": "x"}], "usage": usage | {"output_tokens": 7}}
    said = AnthropicMessages("http://h", SECRET).read(reply, b"")
    assert said == Completion("x", input_tokens=235, output_tokens=7, counted=True)
    parts = [{"text": "Let me think.", "thought": True}, {"text": "x"}]
    counts = {"promptTokenCount": 9, "candidatesTokenCount": 4, "thoughtsTokenCount": 60}
    thought = {"candidates": [{"content": {"parts": parts}}], "usageMetadata": counts}
    said = GoogleGenAI("http://h", SECRET).read(thought, b"")
    assert said == Completion("x", input_tokens=9, output_tokens=64, counted=True)
    said = GoogleGenAI("http://h", SECRET).read({"usageMetadata": {"promptTokenCount": 9}}, b"")
    assert said == Completion(None, input_tokens=9, counted=True), "what it leaves out is 0"


def test_googles_models_are_in_the_path_and_its_parameters_and_mode_may_be_rejected() -> None:
    google = GoogleGenAI("http://h", SECRET)
    for model, place in (("m", "models/m"), ("tunedModels/a b", "tunedModels/a%20b")):
        body = f'{{"model": "{model}", "contents": [], "config": {{}}}}'
        assert google.wire(body.encode())[0] == f"/v1beta/{place}:generateContent"
    config = {"temperature": 0, "system_instruction": "s", "response_mime_type": "x"}
    assert {*google.rejectable({"config": config})} == {"temperature", "json_object"}


@pytest.mark.parametrize(("status", "free"), [(408, False), (429, True), (500, True), (504, False)])
def test_a_request_on_which_a_gateway_gave_up_may_have_cost_its_price(status, free: bool) -> None:
    reply, sent = httpx2.Response(status), b'{"model": "m"}'
    error = OpenAIChat("http://h", SECRET)._status(status, reply, sent)
    assert (error.free, error.sent, error.again) == (free, True, True)


def test_an_error_that_a_proxy_passes_on_with_status_200_is_that_error() -> None:
    async def sent(code: object) -> None:
        reply = {"error": {"code": code, "message": "Not so fast."}}
        endpoint = OpenAIChat("http://h", SECRET)
        wire = httpx2.MockTransport(lambda request: httpx2.Response(200, json=reply))
        endpoint._client = httpx2.AsyncClient(transport=wire)
        await endpoint.send(b'{"model": "m", "messages": []}')

    codes = {429: "rate_limited", 401: "auth", "odd": "server_error", 7: "server_error"}
    for code, reason in codes.items():
        with pytest.raises(EndpointError) as caught:
            asyncio.run(sent(code))
        assert caught.value.reason == reason and "Not so fast." in caught.value.detail
        assert caught.value.again is (code != 401)


def test_every_built_in_question_is_answered(server: LLMServer, bench: Bench, endpoint) -> None:
    for question, asked in zip(
        EXAMPLES, ask(bench.judge(endpoint=endpoint()), EXAMPLES), strict=True
    ):
        answer = answered(asked).answer
        assert question.check(answer) == answer
    assert server.state.keys == {KEY}
    assert {body["response_format"]["type"] for body in server.bodies} == {"json_schema"}
    again = ask(bench.judge(endpoint=endpoint()), EXAMPLES)
    assert all(answered(one).provenance.cached for one in again)
    assert server.stats()["requests"] == len(EXAMPLES)


@pytest.mark.parametrize(
    ("fault", "reason"),
    {
        "refusal": Reason.REFUSED, "context_too_long": Reason.CONTEXT_TOO_LONG,
        "auth_echo": Reason.AUTH, "model_not_found": Reason.AUTH, "error_500": Reason.SERVER_ERROR,
        "rate_limit": Reason.RATE_LIMITED, "drop": Reason.CONNECTION, "empty": Reason.UNPARSABLE,
        "hang": Reason.TIMEOUT,
    }.items(),
)  # fmt: skip
def test_each_fault_has_its_reason(server, bench, endpoint, fault: str, reason: Reason) -> None:
    server.settings.faults = lambda request: fault
    patience = 0.7 if fault == "hang" else 60.0  # on a busy machine all else may take long, too
    failure = failed(ask_one(bench.judge(endpoint=endpoint(), timeout=patience), GRADE))
    assert failure.reason is reason, failure.detail
    assert KEY not in failure.detail
    server.settings.faults = [None] * server.stats()["requests"]


def test_rejected_parameters_are_dropped(server, bench: Bench, endpoint, monkeypatch) -> None:
    patient(monkeypatch)
    server.settings.rejects = ("temperature", "json_schema")
    judge = bench.judge(endpoint=endpoint(), limiter=Limiter(8))
    found = [answered(one).provenance for one in ask(judge, grades(30))]
    assert {"temperature", "json_schema"} <= set(found[0].dropped)
    assert "without=temperature" in judge.signature
    assert server.stats()["statuses"]["400"] == 2
