"""Asynchronous work of all calls runs on one loop, so that clients with pools live on."""

import asyncio
import json
import multiprocessing
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

import ragassay
from local_server import LocalServer, Reply
from ragassay.user_code import background_loop
from ragassay.user_code.background_loop import Background, run

pytestmark = pytest.mark.usefixtures("here")

SAID = json.dumps({"reasoning": "the same", "is_matching": True})


class Says(LocalServer):
    def reply(self, request: Any, body: bytes) -> Reply:
        return Reply(json.dumps({"answer": SAID}).encode())


@pytest.fixture
def url() -> Iterator[str]:
    with Says() as server:
        yield server.url


def records(call: int) -> list[dict[str, Any]]:
    return [
        {"id": str(n), "query": f"Who? {call}-{n}", "answer": f"Ann {call}", "references": ["Ann"]}
        for n in range(12)
    ]


def as_judge(client: Any, url: str, call: int) -> int:
    async def ask(prompt: str) -> str:
        reply = await client.post(url, json={"p": prompt})
        return str(reply.json()["answer"])

    metrics = ragassay.evaluate(records(call), ["answer_match"], judge=ask, judge_name=f"n{call}")
    return metrics.summary.metrics["answer_match"].n_scored


def as_target(client: Any, url: str, call: int) -> int:
    async def system(query: str) -> str:
        return str((await client.post(url, json={"q": query})).json()["answer"])

    questions = [{"id": one["id"], "query": one["query"]} for one in records(call)]
    answers = ragassay.ask(questions, {f"s{call}": system})
    return sum(one.answer is not None for one in answers.samples)


def as_metric(client: Any, url: str, call: int) -> int:
    @ragassay.metric(name=f"remote_{call}")
    async def remote(answer: str) -> float:
        return float((await client.post(url, json={"a": answer})).status_code == 200)

    metrics = ragassay.evaluate(records(call), [f"remote_{call}"]).summary.metrics
    return metrics[f"remote_{call}"].n_scored


@pytest.mark.parametrize("use", [as_judge, as_target, as_metric])
@pytest.mark.parametrize("inside", [False, True], ids=["script", "running loop"])
def test_an_asynchronous_client_serves_in_one_call_after_the_other(url, use, inside: bool) -> None:
    client = httpx2.AsyncClient()
    calls = iter(range(9))

    async def cell() -> int:  # as in a notebook, where a loop runs
        return int(use(client, url, next(calls)))

    for _ in range(3):
        assert (asyncio.run(cell()) if inside else use(client, url, next(calls))) == 12
    loops = [one for one in threading.enumerate() if one.name == "ragassay-loop"]
    assert len(loops) <= 2


def test_a_call_inside_an_asynchronous_judge_does_not_wait_for_itself() -> None:
    async def judge(prompt: str) -> str:
        inner = ragassay.evaluate(records(1), ["answer_match"], judge="offline")
        assert inner.summary.metrics["answer_match"].n_scored == 12
        return SAID

    result = ragassay.evaluate(records(0)[:1], ["answer_match"], judge=judge, judge_name="nested")
    assert result.summary.metrics["answer_match"].n_scored == 1


def test_what_a_piece_of_work_began_ends_with_it_and_other_work_goes_on() -> None:
    ended: list[str] = []

    async def lasting(name: str) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)  # closing waits for it
            ended.append(name)

    async def begin(name: str) -> asyncio.Task[None]:
        task = asyncio.ensure_future(lasting(name))
        await asyncio.sleep(0.01)
        return task

    other = Background()
    other.submit(begin("other")).result(10)
    run(begin("mine")).result(10)
    assert ended == ["mine"]

    async def begin_and_fail() -> None:
        await begin("failed")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run(begin_and_fail()).result(10)
    assert ended == ["mine", "failed"]
    other.close(10)
    assert ended == ["mine", "failed", "other"]


def test_work_that_holds_the_loop_holds_nobody_else() -> None:
    held = threading.Event()

    async def hold() -> None:
        while not held.is_set():
            time.sleep(0.01)

    background = Background()
    background.submit(hold())
    with pytest.raises(TimeoutError):
        background.close(0.1)

    async def answer() -> int:
        return 42

    assert run(answer()).result(10) == 42
    held.set()


def _in_child(results: Any) -> None:
    async def answer() -> int:
        return 42

    results.put(run(answer()).result(10))


def test_a_forked_process_has_a_loop_of_its_own() -> None:
    async def nothing() -> None:
        pass

    run(nothing()).result(10)
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=_in_child, args=(results,))
    child.start()
    assert results.get(timeout=20) == 42
    child.join(20)
    assert background_loop._loops
