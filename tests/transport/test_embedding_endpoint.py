"""Vectors from an endpoint: each paid for once, checked, kept before use, typed where they fail."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from llm_embeddings import vector_of
from llm_server import LLMServer
from ragassay.base.errors import UsageError
from ragassay.base.score import Reason, Unscored
from ragassay.judges.asking import Asker
from ragassay.judges.ledger import ledger_admin
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.models.embedders.embedding_endpoint import EndpointEmbedder
from ragassay.transport.budget import Budget
from ragassay.transport.endpoints.http_chats import OpenAIEmbeddings
from ragassay.transport.providers_and_prices import FREE, Price
from ragassay.transport.secrets import NO_KEY, Secret

pytestmark = pytest.mark.usefixtures("no_long_waits")

KEY = "sk-test-0123456789abcdef"
TEXTS = [f"passage number {at} about rivers and bridges" for at in range(10)]


class Desk:
    """Embedders of one server, with one ledger and one event loop."""

    def __init__(self, server: LLMServer, ledger: Path, asker: Asker) -> None:
        self.server, self.asker = server, asker
        self.path = ledger
        self.ledger = Ledger(ledger)
        self._made: list[EndpointEmbedder] = []

    def embedder(self, model: str = "m", key: Secret = NO_KEY, **options: Any) -> EndpointEmbedder:
        options = {"ledger": self.ledger, "backoff": 0.002, **options}
        endpoint = OpenAIEmbeddings(self.server.url, key)
        made = EndpointEmbedder(endpoint, model, submit=self.asker.submit, **options)
        self._made.append(made)
        return made

    def close(self) -> None:
        for one in self._made:
            one.close()
        self.ledger.close()


@pytest.fixture
def desk(server: LLMServer, tmp_path: Path) -> Iterator[Desk]:
    with Asker(OfflineJudge()) as asker:
        made = Desk(server, tmp_path / "ledger.sqlite", asker)
        yield made
        made.close()


def vectors(found: Mapping[str, Any], texts: Sequence[str] = TEXTS) -> np.ndarray[Any, Any]:
    assert all(isinstance(found[text], np.ndarray) for text in texts), found
    assert {found[text].dtype for text in texts} == {np.dtype(np.float32)}
    return np.stack([found[text] for text in texts])


def failure(found: Mapping[str, Any], text: str = TEXTS[0]) -> Unscored:
    assert isinstance(found[text], Unscored), found
    return found[text]


def expected(texts: Sequence[str] = TEXTS, dimensions: int = 64) -> np.ndarray[Any, Any]:
    return np.array([vector_of(text, dimensions) for text in texts], np.float32)


def test_many_texts_travel_in_one_request(desk: Desk, monkeypatch) -> None:
    embedder = desk.embedder()
    embedder.embed([*TEXTS, " \n", *TEXTS])
    assert desk.server.stats()["requests"] == 1
    assert desk.server.bodies[0]["input"] == TEXTS
    assert embedder.usage.questions == len(TEXTS) and embedder.usage.calls == 1
    monkeypatch.setattr("ragassay.models.embedders.embedding_endpoint.TOKENS", 25)
    desk.embedder("of 11 tokens each").embed(TEXTS)
    assert [len(body["input"]) for body in desk.server.bodies[1:]] == [2] * 5
    assert desk.embedder("m", identity="house#1", dimensions=8).identity == "house#1[8]"


@pytest.mark.parametrize("fault", ["shuffled", "no_index"])
def test_vectors_are_placed_by_their_index_and_not_by_their_order(desk: Desk, fault: str) -> None:
    desk.server.settings.faults = [fault]
    assert (vectors(desk.embedder().embed(TEXTS)) == expected()).all()


def test_dimensions_and_prefix_are_sent_and_belong_to_the_identity(desk: Desk) -> None:
    short = desk.embedder(dimensions=8, prefix="query: ")
    found = vectors(short.embed(TEXTS))
    assert found.shape == (10, 8)
    assert (found == expected([f"query: {text}" for text in TEXTS], 8)).all()
    assert desk.server.bodies[0]["dimensions"] == 8
    assert short.identity.endswith("#m[8]+'query: '")
    assert len({short.identity, desk.embedder().identity, desk.embedder(prefix="q").identity}) == 3
    assert vectors(desk.embedder().embed(TEXTS)).shape == (10, 64), "another space, paid for anew"
    longer = desk.embedder(dimensions=16, prefix="query: ")
    assert vectors(longer.embed(TEXTS)).shape == (10, 16), "nor are other dimensions the same"


def test_what_was_paid_for_is_never_sent_again(desk: Desk) -> None:
    first = vectors(desk.embedder().embed(TEXTS))
    key = hashlib.sha256(f"{desk.server.url}\nm\n0\n{TEXTS[0]}".encode()).hexdigest()
    assert desk.ledger.get(key), "under this key from release to release"
    again = desk.embedder()
    again.embed(TEXTS[:4])
    assert (vectors(again.embed([*TEXTS, "one more"])) == first).all()
    assert desk.server.bodies[1]["input"] == ["one more"]
    assert (again.usage.questions, again.usage.cached, again.usage.calls) == (11, 10, 1)
    elsewhere = Ledger(desk.path)
    try:
        assert len(desk.embedder(ledger=elsewhere).embed(TEXTS)) == 10
    finally:
        elsewhere.close()
    assert desk.server.stats()["requests"] == 2
    fresh = desk.embedder(renew=True, cache_mib=0)
    for _ in range(2):
        assert (vectors(fresh.embed(TEXTS)) == first).all()
    assert desk.server.stats()["requests"] == 3, "all are asked again, and once"


def test_tokens_and_money_of_a_request_are_shared_out_exactly(desk: Desk) -> None:
    embedder = desk.embedder(price=Price(2.0, 0.0))
    embedder.embed([*TEXTS, "x " * 400])
    (row,) = ledger_admin.stats(desk.ledger).rows
    assert row.input_tokens == embedder.usage.input_tokens > 0
    assert row.cost == pytest.approx(embedder.usage.cost) and row.cost > 0
    assert row.entries == 11 and row.kind == "embedding"


@pytest.mark.parametrize(("price", "unpriced"), [(Price(2.0, 0.0), 1), (FREE, 0), (None, 1)])
def test_dollars_of_tokens_that_nobody_counted_are_not_known(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, price: Price | None, unpriced: int
) -> None:
    read = OpenAIEmbeddings.read
    silent = lambda self, reply, sent: read(self, {**reply, "usage": None}, sent)  # noqa: E731
    monkeypatch.setattr(OpenAIEmbeddings, "read", silent)
    desk.server.settings.faults = ["error_500"]  # a request without a reply costs nothing
    (embedder := desk.embedder(price=price)).embed(TEXTS)
    (row,) = ledger_admin.stats(desk.ledger).rows
    assert (row.cost, row.unpriced, row.entries) == (0.0, 10 * unpriced, 10)
    assert (embedder.usage.cost, embedder.usage.unpriced) == (0.0, unpriced)


def test_a_budget_ends_the_sending_and_what_was_paid_for_stays(desk: Desk) -> None:
    found = desk.embedder(batch=2, budget=Budget(calls=2)).embed(TEXTS)
    reasons = [one.reason for one in found.values() if isinstance(one, Unscored)]
    assert reasons == [Reason.BUDGET] * 6
    assert desk.server.stats()["texts"] == 4
    assert len(vectors(desk.embedder().embed(TEXTS))) == 10
    assert desk.server.stats()["texts"] == 10
    with pytest.raises(UsageError, match="no price"):
        desk.embedder(budget=Budget(dollars=1.0))


@pytest.mark.parametrize("fault", [
    *("rate_limit:0.01", "rate_limit_ms:5", "error_500", "error_503", "drop", "drop_midway"),
    *("truncated", "html_200", "wrong_indices", "too_few", "mixed_dimensions"),
])  # fmt: skip
def test_what_passes_is_tried_again_and_every_vector_is_right(desk: Desk, fault: str) -> None:
    desk.server.settings.faults = [fault, None, fault, fault]
    embedder = desk.embedder(batch=3)
    texts = TEXTS[:9]
    assert (vectors(embedder.embed(texts), texts) == expected(texts)).all()
    assert embedder.usage.calls == desk.server.stats()["requests"] == 6


@pytest.mark.parametrize("fault", ["nan", "null_number"])
def test_a_number_that_is_not_finite_costs_its_own_text_only(desk: Desk, fault: str) -> None:
    desk.server.settings.faults = lambda request: fault
    found = desk.embedder().embed(TEXTS)
    assert failure(found, TEXTS[-1]).reason is Reason.UNPARSABLE
    assert (vectors(found, TEXTS[:-1]) == expected(TEXTS[:-1])).all()
    desk.server.settings.faults = {}
    assert vectors(desk.embedder().embed(TEXTS)).shape == (10, 64), "nothing false was kept"


def test_vectors_of_another_length_are_refused(desk: Desk) -> None:
    desk.server.settings.faults = lambda request: "wrong_dimension"
    lost = failure(desk.embedder(dimensions=8).embed(TEXTS))
    assert lost.reason is Reason.UNPARSABLE and "7 numbers where 8" in lost.detail
    desk.server.settings.faults = {}
    desk.embedder().embed(TEXTS[:1])
    desk.server.settings.faults = lambda request: "wrong_dimension"
    lost = failure(desk.embedder().embed(TEXTS), TEXTS[1])
    assert "63 numbers where 64" in lost.detail and "ledger prune" in lost.detail


@pytest.mark.parametrize(("fault", "reason"), [
    ("hang", Reason.TIMEOUT), ("auth", Reason.AUTH), ("model_not_found", Reason.AUTH),
    ("error_500", Reason.SERVER_ERROR), ("drop", Reason.CONNECTION),
    ("rate_limit", Reason.RATE_LIMITED), ("content_filter_400", Reason.REFUSED),
    ("context_too_long", Reason.CONTEXT_TOO_LONG), ("bad_request", Reason.SERVER_ERROR),
])  # fmt: skip
def test_failures_have_the_judges_reasons_and_are_never_kept(desk, fault, reason: Reason) -> None:
    desk.server.settings.faults = lambda request: fault
    embedder = desk.embedder(timeout=0.3 if fault == "hang" else 120.0)
    found = embedder.embed(TEXTS)
    assert {one.reason for one in found.values() if isinstance(one, Unscored)} == {reason}
    assert len(found) == 10 and embedder.usage.failures[str(reason)] == 10
    assert len(embedder.usage.details[str(reason)]) > 20
    requests = desk.server.stats()["requests"]
    one = {"hang": 1, "bad_request": 7, "error_500": 10}  # 10, 5, 2, 1, 1, 3, 1
    assert requests == one.get(fault, requests)
    embedder.embed(TEXTS)
    assert desk.server.stats()["requests"] == requests, "a run asks once"
    desk.server.settings.faults = {}
    assert len(vectors(desk.embedder().embed(TEXTS))) == 10


def test_one_text_that_is_turned_down_costs_no_other_its_vector(desk: Desk) -> None:
    def fault(request: Any) -> str | None:
        return "content_filter_400" if TEXTS[0] in request.inputs else None

    desk.server.settings.faults = fault
    found = desk.embedder().embed(TEXTS)
    assert failure(found).reason is Reason.REFUSED
    assert (vectors(found, TEXTS[1:]) == expected(TEXTS[1:])).all()
    desk.server.settings.faults = lambda request: "bad_request" if fault(request) else None
    other = (embedder := desk.embedder("other")).embed(TEXTS)
    assert failure(other).reason is Reason.SERVER_ERROR
    assert (vectors(other, TEXTS[1:]) == expected(TEXTS[1:])).all()
    before = desk.server.stats()["requests"]
    embedder.embed(more := [f"more {at}" for at in range(20)])
    assert desk.server.stats()["requests"] == before + 1, "the number of texts was not at fault"
    # Where some were accepted, any number of texts may be turned down.
    bad = more[:4]
    desk.server.settings.faults = lambda request: (
        "bad_request" if set(bad) & set(request.inputs) else None
    )
    embedder = desk.embedder("third")
    embedder.embed(TEXTS)
    assert not isinstance(embedder.embed(more[:5])[more[4]], Unscored)


def test_a_server_that_takes_fewer_texts_at_a_time_gets_fewer(desk: Desk) -> None:
    desk.server.settings.batch = 4
    texts = [f"text {at}" for at in range(200)]
    embedder = desk.embedder(limiter=None, batch=64)
    assert (vectors(embedder.embed(texts), texts) == expected(texts)).all()
    assert desk.server.stats()["texts"] == 200, "each was answered once"
    before = desk.server.stats()["requests"]
    more = [f"more {at}" for at in range(40)]
    embedder.embed(more)
    assert desk.server.stats()["requests"] - before == 10, "the size was learned"


def test_the_key_is_sent_and_never_shown(desk: Desk, capsys: pytest.CaptureFixture) -> None:
    key = Secret(KEY, "TEST_KEY")
    desk.embedder(key=key).embed(TEXTS[:1])
    assert desk.server.state.keys == {KEY}
    for fault in ("auth_echo", "error_500_echo"):
        desk.server.settings.faults = lambda request, fault=fault: fault
        embedder = desk.embedder("other", key=key, timeout=0.2)
        lost = failure(embedder.embed(TEXTS))
        assert KEY not in f"{lost} {embedder.identity} {embedder.label} {embedder.endpoint!r}"
        assert KEY not in repr(embedder.usage)
    desk.ledger.close()
    for file in desk.path.parent.iterdir():
        assert KEY.encode() not in file.read_bytes()
    desk.ledger = Ledger(desk.path)


def test_what_cannot_be_kept_is_not_used_and_nothing_more_is_sent(desk: Desk, monkeypatch) -> None:
    embedder = desk.embedder(batch=2)

    async def full(rows: Any) -> None:
        raise UsageError("the disk is full")

    monkeypatch.setattr(desk.ledger, "keep", full)
    lost = failure(embedder.embed(TEXTS))
    assert lost.reason is Reason.CONNECTION and "disk is full" in lost.detail
    sent = desk.server.stats()["requests"]
    assert isinstance(embedder.embed(["more"])["more"], Unscored)
    assert desk.server.stats()["requests"] == sent
