"""What a run may spend."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, strategies as st

from ragassay.base.errors import UsageError
from ragassay.transport.budget import Account, Budget
from ragassay.transport.endpoints.endpoint import Stopped


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("5.00", {"dollars": 5.0}), ("5", {"dollars": 5.0}), (".50", {"dollars": 0.5}),
        ("$5", {"dollars": 5.0}), ("$ 1,000", {"dollars": 1000.0}), ("0", {"dollars": 0.0}),
        ("12 dollars", {"dollars": 12.0}), ("0.1 USD", {"dollars": 0.1}),
        ("200 calls", {"calls": 200}), ("1 call", {"calls": 1}), ("200calls", {"calls": 200}),
        ("1,500 calls", {"calls": 1500}), ("1e6 tokens", {"tokens": 1_000_000}),
        ("2M tokens", {"tokens": 2_000_000}), ("1.5k tokens", {"tokens": 1500}),
        ("500_000 tokens", {"tokens": 500_000}),
        ("$5, 200 calls, 1M tokens", {"dollars": 5.0, "calls": 200, "tokens": 1_000_000}),
    ],
)  # fmt: skip
def test_a_budget_is_read_from_words(text: str, limits: dict[str, float]) -> None:
    found = Budget.parse(text)
    said = {name: getattr(found, name) for name in ("dollars", "calls", "tokens")}
    assert {name: one for name, one in said.items() if one is not None} == limits


@pytest.mark.parametrize(
    "text",
    ["", "five", "-5", "5 euros", "$5 calls", "1.5 calls", "5.00,200 calls", "3, 4", "1e999",
     "nan", "inf", "1 call, 2 calls", "5$"],
)  # fmt: skip
def test_what_is_no_budget_is_refused_with_the_forms_that_are(text: str) -> None:
    with pytest.raises(UsageError, match="200 calls"):
        Budget.parse(text)


def test_what_is_in_flight_counts_against_the_budget() -> None:
    budget = Budget(dollars=1.0)
    first = budget.reserve(0.6, 100)
    assert first is not None
    assert budget.reserve(0.6, 100) is None
    budget.settle(first, 0.1, 50)
    assert budget.reserve(0.6, 100) is not None
    assert budget.spent_dollars == 0.1


def test_calls_are_counted_with_their_retries_and_a_reservation_is_settled_once() -> None:
    budget = Budget(calls=5)
    made = budget.reserve(None, 10)
    assert made is not None
    budget.settle(made, None, 10, calls=4)
    assert budget.reserve(None, 10) is not None
    assert budget.reserve(None, 10) is None
    with pytest.raises(ValueError, match="settled before"):
        budget.settle(made, None, 0)


def test_what_nobody_counted_costs_all_that_was_reserved_for_it() -> None:
    budget = Budget(dollars=1.0, tokens=1000)
    made = budget.reserve(0.4, 300)
    assert made is not None
    Account(budget).settle(made, None, free=False, sent=True)
    assert (budget.spent_dollars, budget.spent_tokens, budget.spent_calls) == (0.4, 300, 1)
    assert budget.describe() == "about $0.40 of $1.00, 1 call, about 300 of 1,000 tokens"
    assert budget.reserve(0.7, 10) is None


def test_a_claim_waits_for_what_in_flight_may_leave_over_and_no_longer() -> None:
    async def work() -> None:
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

    asyncio.run(work())


@given(
    st.floats(0.001, 10),
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.booleans()), max_size=60),
)
def test_what_is_spent_never_exceeds_the_budget_where_estimates_hold(
    dollars: float, requests: list[tuple[float, float, bool]]
) -> None:
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
