"""The plan of a judge's calls: requests, tokens, money, time. `planning` fills it in. A judge's
throughput comes from the latencies in its ledger, or else from an assumption."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from ragassay.engine.config.run_config import RunConfig
from ragassay.judges import Judge
from ragassay.judges.ledger.ledger_admin import latencies, models
from ragassay.transport.budget import Budget
from ragassay.transport.limits import MOST

if TYPE_CHECKING:
    from ragassay.judges.ledger.store import Ledger

SECONDS_A_CALL = 2.0
"""Assumed where no answer of the judge was timed yet."""


@dataclass(frozen=True, slots=True)
class Range:
    """From ``low`` to ``high``, both included; exact where they are equal."""

    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether both ends are equal."""
        return self.low == self.high

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)


@dataclass(frozen=True, slots=True)
class Amount:
    """The requests of some metrics.

    ``calls`` are to be sent (retries and repairs are not counted), ``held`` need not be, because
    the ledger holds the answer. Tokens are estimated: answers are as long as their questions expect
    them at most, without hidden reasoning. ``cost`` is in US dollars; ``None`` where no price is
    known for some of the requests.
    """

    calls: Range
    held: Range
    input_tokens: Range
    output_tokens: Range
    cost: Range | None

    @property
    def tokens(self) -> Range:
        """Input and output."""
        return self.input_tokens + self.output_tokens

    @property
    def held_share(self) -> Range:
        """The share of all requests that the ledger answers, from 0 to 1; 0 without requests."""
        pairs = ((self.held.low, self.calls.low), (self.held.high, self.calls.high))
        shares = [held / (held + calls) if held else 0.0 for held, calls in pairs]
        return Range(min(shares), max(shares))


@dataclass(frozen=True, slots=True)
class Throughput:
    """The throughput of a judge: seconds of a call (the median of earlier answers where
    ``measured``, else `SECONDS_A_CALL`), requests in flight, and at most how many requests and
    tokens a minute."""

    seconds: float = SECONDS_A_CALL
    measured: bool = False
    concurrency: int = 1
    rpm: float | None = None
    tpm: float | None = None

    def duration(self, calls: float, tokens: float) -> float:
        """Seconds that so many requests with so many tokens (input and output) take when none is
        rejected."""
        waves = math.ceil(calls / self.concurrency) * self.seconds
        by_limits = calls / (self.rpm or math.inf) * 60, tokens / (self.tpm or math.inf) * 60
        return max(waves, *by_limits)

    def span(self, amount: Amount) -> Range:
        """The same for both ends of an amount."""
        calls, tokens = amount.calls, amount.tokens
        return Range(self.duration(calls.low, tokens.low), self.duration(calls.high, tokens.high))


Fit = Literal["fits", "may not fit", "does not fit", "no price known"]


@dataclass(frozen=True, slots=True)
class BudgetFit:
    """A budget beside a plan: whether the largest, the smallest or no estimate fits into it."""

    budget: str
    verdict: Fit


@dataclass(frozen=True)
class CallPlan:
    """The calls of a run's judge.

    Attributes:
        judge: label of the judge.
        asks: whether asking it takes requests (the embedded judge takes none).
        metrics: the requests of each metric if it ran alone, by the names that it is shown under;
            metrics that ask the same share a line.
        total: the requests of the run: a question of several metrics is asked once.
        questions: requests to send by kind of question, most first.
        throughput: the assumptions behind ``seconds``.
        seconds: wall time of asking.
        n_samples, n_walked: how many samples the plan is for, and how many it was made from; the
            rest is extrapolated.
        budget: whether the plan fits into the budget, where there is one.
        listed_prices: whether the cost is by list prices (``prices.as_of``), and not by the user's.
        failed: how many samples a metric failed on while it was walked, by its message.
        notes: sentences on questions that the plan leaves out.
    """

    judge: str
    asks: bool
    metrics: Mapping[tuple[str, ...], Amount]
    total: Amount
    questions: Mapping[str, Range]
    throughput: Throughput
    seconds: Range
    n_samples: int
    n_walked: int
    budget: BudgetFit | None = None
    listed_prices: bool = False
    failed: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def shared(self) -> int:
        """The least number of requests that the run saves because metrics share questions."""
        alone = sum(amount.calls.low for amount in self.metrics.values())
        return max(0, int(alone - self.total.calls.low))

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values; an interval is ``{"low": ..., "high": ...}``."""
        body, throughput = _plain(self), self.throughput
        del body["throughput"]
        body["metrics"] = [
            {"metrics": list(names), **_plain(amount), "seconds": _plain(throughput.span(amount))}
            for names, amount in self.metrics.items()
        ]
        return body | {
            "seconds_a_call": throughput.seconds,
            "seconds_measured": throughput.measured,
            "concurrency": throughput.concurrency,
        }


def _plain(part: CallPlan | Amount | Range) -> dict[str, Any]:
    """A part of a plan as a mapping, its numbers rounded."""

    def rounded(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {key: round(one, 6) if isinstance(one, float) else one for key, one in pairs}

    return asdict(part, dict_factory=rounded)


def fit(total: Amount, budget: str) -> BudgetFit:
    """Whether what a run takes fits into a budget (as `Budget.parse` reads it). Of several limits
    the worst verdict counts."""
    limits = Budget.parse(budget)
    needs = ((limits.dollars, total.cost), (limits.calls, total.calls))
    verdicts: set[Fit] = set()
    for limit, needed in (*needs, (limits.tokens, total.tokens)):
        if limit is None:
            continue
        if needed is None:
            verdicts.add("no price known")
        elif needed.high <= limit:
            verdicts.add("fits")
        else:
            verdicts.add("may not fit" if needed.low <= limit else "does not fit")
    worst_first: tuple[Fit, ...] = ("no price known", "does not fit", "may not fit", "fits")
    return BudgetFit(budget, next(verdict for verdict in worst_first if verdict in verdicts))


_RECENT = 200
"""How many of a model's newest answers are looked at."""


def throughput_of(judge: Judge, config: RunConfig, ledger: Ledger | None) -> Throughput:
    """The throughput of a judge: the median latency of each model's last answers; the slowest model
    of a panel counts."""
    leaves = judge.leaves()
    asked = {leaf.model for leaf in leaves}
    timed = [[] if ledger is None else latencies(ledger, model, _RECENT) for model in asked]
    medians = [median(seconds) for seconds in timed if seconds]
    # ``URL`` of ``URL#model``, ``openai`` of ``openai:model``
    endpoints = {leaf.label.partition("#" if "://" in leaf.label else ":")[0] for leaf in leaves}
    return Throughput(
        seconds=max(medians, default=SECONDS_A_CALL),
        measured=bool(medians),
        concurrency=(config.concurrency or MOST) * max(1, len(endpoints)),
        rpm=config.rpm,
        tpm=config.tpm,
    )


def is_fresh(judge: Judge, ledger: Ledger | None) -> bool:
    """Whether a ledger holds nothing of the judge's models. ``False`` without a ledger: a judge of
    the user's own may remember answers in another way."""
    if ledger is None:
        return False
    return models(ledger).isdisjoint(leaf.model for leaf in judge.leaves())
