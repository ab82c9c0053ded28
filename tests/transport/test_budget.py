"""What a run may spend."""

import asyncio
import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ragassay.base.errors import UsageError
from ragassay.base.score import Reason
from ragassay.transport.budget import Account, Budget
from ragassay.transport.endpoints.endpoint import Completion, Stopped
from ragassay.transport.providers_and_prices import Price
from virtual_time import in_virtual_time


@pytest.mark.parametrize(("text", "limits"), [
    ("5.00", {"dollars": 5.0}), ("5", {"dollars": 5.0}), (".50", {"dollars": 0.5}),
    ("$5", {"dollars": 5.0}), ("$ 1,000", {"dollars": 1000.0}), ("0", {"dollars": 0.0}),
    ("12 dollars", {"dollars": 12.0}), ("0.1 USD", {"dollars": 0.1}), ("200 calls", {"calls": 200}),
    ("1 call", {"calls": 1}), ("200calls", {"calls": 200}), ("1,500 calls", {"calls": 1500}),
    ("1e6 tokens", {"tokens": 1_000_000}), ("2M tokens", {"tokens": 2_000_000}),
    ("1.5k tokens", {"tokens": 1500}), ("500_000 tokens", {"tokens": 500_000}),
    ("$5, 200 calls, 1M tokens", {"dollars": 5.0, "calls": 200, "tokens": 1_000_000}),
])  # fmt: skip
def test_a_budget_is_read_from_words(text: str, limits: dict[str, float]) -> None:
    said = {name: getattr(Budget.parse(text), name) for name in ("dollars", "calls", "tokens")}
    assert {name: one for name, one in said.items() if one is not None} == limits


@pytest.mark.parametrize(
    "text",
    ["", "five", "-5", "5 euros", "$5 calls", "1.5 calls", "5.00,200 calls", "3, 4", "1e999",
     "nan", "inf", "1 call, 2 calls", "5$"],
)  # fmt: skip
def test_what_is_no_budget_is_refused_with_the_forms_that_are(text: str) -> None:
    with pytest.raises(UsageError, match="200 calls"):
        Budget.parse(text)


def test_calls_are_counted_with_their_retries_and_a_reservation_is_settled_once() -> None:
    budget = Budget(calls=5)
    made = budget.reserve(None, 10)
    assert made is not None
    budget.settle(made, None, 10, calls=4)
    assert budget.reserve(None, 10) is not None
    assert budget.reserve(None, 10) is None
    with pytest.raises(ValueError, match="settled before"):
        budget.settle(made, None, 0)


MINI = Price(1000.0, 2000.0)


@pytest.mark.parametrize(("completion", "free", "sent", "costs"), [
    (Completion("x", input_tokens=30, output_tokens=10, counted=True), False, True,
     (0.05, 40, 1, False)),
    (Completion("x", input_tokens=30, output_tokens=10), False, True, (0.4, 300, 1, True)),
    (None, False, True, (0.4, 300, 1, True)),  # what nobody counted costs all of it
    (None, True, True, (0, 0, 1, False)), (None, True, False, (0, 0, 0, False)),
])  # fmt: skip
def test_an_attempt_costs_what_was_counted_or_was_reserved(completion, free, sent, costs) -> None:
    budget = Budget(dollars=1.0, tokens=1000)
    for at in (1, 2):
        made = budget.reserve(0.4, 300)
        assert made is not None
        assert Account(budget, MINI).settle(made, completion, free=free, sent=sent) is None
        spent = budget.spent_dollars, budget.spent_tokens, budget.spent_calls
        assert spent == tuple(at * n for n in costs[:3]) and budget.estimated is costs[3]


def test_an_account_pays_the_likely_price_of_its_model() -> None:
    budget = Budget(dollars=0.05)
    account = Account(budget, MINI)
    assert account.likely(b"", 30.6, 10.6) == (pytest.approx(0.0518), 41)
    account.check(b"", 30, 10)  # the last cent, whatever else is in flight
    assert budget.reserve(*account.likely(b"", 30, 10)) is not None
    account.check(b"", 30, 10)
    with pytest.raises(Stopped) as caught:
        account.check(b"", 31, 10)
    assert caught.value.reason is Reason.BUDGET and budget.describe() in str(caught.value)
    assert Account(budget).likely(b"", 30, 10) == (None, 40)
    with pytest.raises(UsageError, match="no price"):
        Account(budget).check(b"", 1, 1)
    tenths = Budget(dollars=0.3)
    assert all(tenths.reserve(0.1, 0) for _ in range(3)) and tenths.reserve(0.1, 0) is None


@pytest.mark.parametrize(("limits", "spent", "words"), [
    ({}, (None, 0, 1), "1 call"), ({}, (0.5, 1200, 2), "$0.50, 2 calls, 1,200 tokens"),
    ({"dollars": 5.0}, (1.2, 0, 312), "$1.20 of $5.00, 312 calls"),
    ({"dollars": 0.0}, (0.0, 0, 0), "$0.00 of $0.00, 0 calls"),
    ({"dollars": 0.005}, (0.0, 0, 0), "$0.00 of $0.005, 0 calls"),
    ({"calls": 1}, (None, 0, 1), "1 of 1 call"),
    ({"calls": 1500, "tokens": 2000}, (None, 0, 0), "0 of 1,500 calls, 0 of 2,000 tokens"),
])  # fmt: skip
def test_a_budget_says_what_was_spent_of_what(limits: Any, spent: Any, words: str) -> None:
    dollars, tokens, calls = spent
    budget = Budget(**limits)
    made = budget.reserve(0.0, 0)
    assert made is not None
    budget.settle(made, dollars, tokens, calls)
    assert budget.describe() == words
    budget.estimated = True
    assert budget.describe().count("about ") == sum(sign in words for sign in ("$", "tokens"))


@pytest.mark.parametrize("limit", [{"dollars": -0.1}, {"calls": -1}, {"tokens": math.inf}])
def test_no_budget_is_below_nothing_or_without_end(limit: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="not possible"):
        Budget(**limit)


@in_virtual_time
async def test_a_claim_waits_for_what_in_flight_may_leave_over_and_no_longer(loop) -> None:
    budget = Budget(tokens=100)
    account = Account(budget)
    first = await account.claim(b"", 80, 0)
    waiting = [asyncio.ensure_future(account.claim(b"", 40, 0)) for _ in range(3)]
    await asyncio.sleep(0)
    assert not any(one.done() for one in waiting)
    with pytest.raises(Stopped):  # it could never fit
        await account.claim(b"", 101, 0)
    budget.settle(first, None, 10)  # 90 left: two of the three
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert [one.done() for one in waiting] == [True, True, False]
    for one in waiting[:2]:
        budget.settle(one.result(), None, 40)
    with pytest.raises(Stopped):  # 10 left, and nothing in flight that could leave more
        await waiting[2]


@given(
    st.floats(0.001, 10),
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.booleans()), max_size=60),
)
def test_what_is_spent_never_exceeds_the_budget_where_estimates_hold(dollars, requests) -> None:
    budget = Budget(dollars=dollars)
    open_ = []
    for most, share, settle_first in requests:
        if settle_first and open_:
            made, really = open_.pop(0)
            budget.settle(made, really, 1)
        found = budget.reserve(most, 1)
        if found is not None:
            open_.append((found, most * share))
    for made, really in open_:
        budget.settle(made, really, 1)
    assert budget.spent_dollars <= dollars * (1 + 1e-6)
