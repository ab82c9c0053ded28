"""A system that refuses requests is named with its status, and is not asked a thousand times."""

from __future__ import annotations

from typing import Any

import pytest

from ragassay.targets.ask_run import ask
from ragassay.targets.asking.ask_summary import Answers
from system_server import Reply, SystemServer, echo

QUERIES = [{"id": f"q{n}", "query": f"What is {n}?"} for n in range(40)]

pytestmark = pytest.mark.usefixtures("no_long_waits")


def asked(rule: Any, **options: Any) -> tuple[Answers, int, str]:
    with SystemServer(rule) as server:
        return ask(QUERIES, "mine.yaml", concurrency=1, **options), len(server.asked), server.url


@pytest.mark.parametrize(
    ("status", "requests", "advice"),
    [
        (401, 5, "Add 'headers' to mine.yaml."),
        (404, 5, "Check 'url' in mine.yaml."),
        (405, 5, "Check 'method' in mine.yaml."),
        (422, 16, "Check 'body' in mine.yaml."),
    ],
)
def test_a_refusal_is_told_with_status_url_and_words(
    status: int, requests: int, advice: str
) -> None:
    reply = Reply(b"<p>no such thing here</p>", status, kind="text/html")
    answers, sent, url = asked(lambda *_: reply)
    assert sent == requests  # each once: a retry would be refused again
    (summary,) = answers.summaries.values()
    assert summary.failed == {"refused": requests, "stopped": 40 - requests}
    said = f"{url}/ask answered with status {status}: no such thing here. {advice}"
    assert answers.samples[0].failure == f"refused: {said}"
    assert (
        f"the first {requests} queries failed, so no more are asked" in summary.details["stopped"]
    )


@pytest.mark.parametrize("statuses", [[200, *[400] * 39], [404, 400] * 20])
def test_refusals_between_answers_or_of_two_kinds_stop_nothing(statuses: list[int]) -> None:
    def rule(number: int, sent: Any) -> Any:
        return echo(number, sent) if statuses[number] == 200 else Reply(b"no", statuses[number])

    answers, sent, _ = asked(rule)
    assert sent == 40
    assert answers.summaries["mine"].failed == {"refused": 40 - statuses.count(200)}


@pytest.mark.parametrize(
    ("status", "kind", "advice"),
    [(429, "rate_limited", "Ask more slowly (--rpm, -j)"), (503, "server_error", "lower -j or")],
)
def test_what_may_pass_is_asked_again(status: int, kind: str, advice: str) -> None:
    reply = Reply(b"busy", status, headers={"Retry-After": "0"})
    with SystemServer(lambda *_: reply) as server:
        (sample,) = ask(QUERIES[:1], "mine.yaml", retries=1).samples
        assert len(server.asked) == 2
    assert advice in (sample.failure or "") and "--retries" in (sample.failure or "")
    assert (sample.failure or "").startswith(f"{kind}: ")


@pytest.mark.parametrize(("status", "requests"), [(401, 5), (403, 30)])
def test_a_key_that_expired_since_an_earlier_run_stops_the_asking(
    status: int, requests: int
) -> None:
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
