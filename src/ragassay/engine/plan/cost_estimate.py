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

    Attributes:
        calls: requests to send. Retries and repairs are not counted.
        held: requests that need not be sent, because the ledger holds the answer.
        input_tokens, output_tokens: of the requests to send, estimated; answers as long as their
            questions expect them at most, without hidden reasoning.
        cost: US dollars; ``None`` where no price is known for some of the requests.
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
    """The throughput of a judge.

    Attributes:
        seconds: of a call.
        measured: whether this is the median of earlier answers; else it is `SECONDS_A_CALL`.
        concurrency: requests in flight.
        rpm, tpm: requests and tokens a minute at most, where there is such a limit.
    """

    seconds: float = SECONDS_A_CALL
    measured: bool = False
    concurrency: int = 1
    rpm: float | None = None
    tpm: float | None = None

    def duration(self, calls: float, tokens: float) -> float:
        """Seconds that the requests take when none is rejected.

        Args:
            calls: number of requests.
            tokens: of all requests, input and output.
        """
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
    """Whether a plan fits into a budget. Of several limits the worst verdict counts.

    Args:
        total: requests, tokens and money that the run takes.
        budget: as `Budget.parse` reads it.

    Raises:
        UsageError: the budget cannot be read.
    """
    limits = Budget.parse(budget)
    pairs = (
        (limits.dollars, total.cost),
        (limits.calls, total.calls),
        (limits.tokens, total.tokens),
    )
    verdicts = {_fit(limit, needed) for limit, needed in pairs if limit is not None}
    worst_first: tuple[Fit, ...] = ("no price known", "does not fit", "may not fit", "fits")
    return BudgetFit(budget, next(verdict for verdict in worst_first if verdict in verdicts))


def _fit(limit: float, needed: Range | None) -> Fit:
    if needed is None:
        return "no price known"
    if needed.high <= limit:
        return "fits"
    return "may not fit" if needed.low <= limit else "does not fit"


_RECENT = 200
"""How many of a model's newest answers are looked at."""


def throughput_of(judge: Judge, config: RunConfig, ledger: Ledger | None) -> Throughput:
    """The throughput of a judge: the median latency of each model's last answers; the slowest model
    of a panel counts.

    Args:
        judge: of the run.
        config: has the limits.
        ledger: with the judge's earlier answers.
    """
    leaves = judge.leaves()
    asked = {leaf.model for leaf in leaves}
    timed = [] if ledger is None else [_median(ledger, model) for model in sorted(asked)]
    medians = [seconds for seconds in timed if seconds is not None]
    endpoints = {_endpoint(leaf.label) for leaf in leaves}
    return Throughput(
        seconds=max(medians, default=SECONDS_A_CALL),
        measured=bool(medians),
        concurrency=(config.concurrency or MOST) * max(1, len(endpoints)),
        rpm=config.rpm,
        tpm=config.tpm,
    )


def is_fresh(judge: Judge, ledger: Ledger | None) -> bool:
    """Whether a ledger holds nothing of the judge's models. ``False`` without a ledger: a judge of
    the user's own may remember answers in another way.

    Args:
        judge: of the run.
        ledger: of the run.
    """
    if ledger is None:
        return False
    return models(ledger).isdisjoint(leaf.model for leaf in judge.leaves())


def _median(ledger: Ledger, model: str) -> float | None:
    took = latencies(ledger, model, _RECENT)
    return median(took) if took else None


def _endpoint(label: str) -> str:
    """``URL`` of ``URL#model``, ``openai`` of ``openai:model``."""
    return label.partition("#")[0] if "://" in label else label.partition(":")[0]
