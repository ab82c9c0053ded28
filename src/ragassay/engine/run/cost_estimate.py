"""The plan of a judge's calls: requests, tokens, money, time. A judge's throughput comes from the
latencies in its ledger, or else from an assumption."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragassay.base.printable import grouped
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Unscored
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.run.scoring import batched, judged_among
from ragassay.judges import Judge
from ragassay.judges.asking import Ask, Asker
from ragassay.judges.planning_judge import NOT_ASKED, PlanningJudge
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import Metric
from ragassay.transport.budget import Budget
from ragassay.transport.providers_and_prices import Price
from ragassay.transport.sending import MOST

if TYPE_CHECKING:
    from ragassay.judges.ledger.ledger_store import Ledger

SECONDS_A_CALL = 2.0
"""Assumed where no answer of the judge was timed yet."""

WINDOW = 256
"""Samples that are walked together."""


@dataclass(frozen=True, slots=True)
class Range:
    """From ``low`` to ``high``, both included; exact where they are equal."""

    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether both ends are equal."""
        return self.low == self.high


@dataclass(frozen=True, slots=True)
class Amount:
    """The requests of some metrics.

    ``calls`` are to be sent (retries and repairs are not counted), ``held`` need not be, because
    the ledger holds the answer. Tokens are estimated: answers are as long as their questions expect
    them at most, without hidden reasoning. ``cost`` is in US dollars; ``None`` where no price is
    known for some of the requests."""

    calls: Range
    held: Range
    input_tokens: Range
    output_tokens: Range
    cost: Range | None

    @property
    def tokens(self) -> Range:
        """Input and output."""
        sent, received = self.input_tokens, self.output_tokens
        return Range(sent.low + received.low, sent.high + received.high)


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

    @classmethod
    def of(cls, judge: Judge, config: RunConfig, ledger: Ledger | None) -> Throughput:
        """A judge's: the median latency of each model's last answers; the slowest model of a panel
        counts."""
        from ragassay.judges.ledger.ledger_admin import latencies

        leaves = judge.leaves()
        asked = {leaf.model for leaf in leaves}
        timed = [] if ledger is None else [latencies(ledger, model, 200) for model in asked]
        medians = [median(seconds) for seconds in timed if seconds]
        # ``URL`` of ``URL#model``, ``openai`` of ``openai:model``
        labels = (leaf.label for leaf in leaves)
        endpoints = {label.partition("#" if "://" in label else ":")[0] for label in labels}
        return cls(
            seconds=max(medians, default=SECONDS_A_CALL),
            measured=bool(medians),
            concurrency=(config.concurrency or MOST) * max(1, len(endpoints)),
            rpm=config.rpm,
            tpm=config.tpm,
        )

    def span(self, calls: Range, tokens: Range) -> Range:
        """Seconds that so many requests with so many tokens take when none is rejected."""
        ends = (
            max(
                math.ceil(n / self.concurrency) * self.seconds,
                n / (self.rpm or math.inf) * 60,
                size / (self.tpm or math.inf) * 60,
            )
            for n, size in ((calls.low, tokens.low), (calls.high, tokens.high))
        )
        return Range(*ends)


Fit = Literal["fits", "may not fit", "does not fit", "no price known"]


@dataclass(frozen=True)
class CallPlan:
    """The calls of a run's judge.

    ``metrics`` has the requests of each metric if it ran alone (metrics that ask the same share a
    line), ``total`` those of the run, ``questions`` those by kind, most first. ``asks`` is whether
    asking takes requests. The plan was made from ``n_walked`` samples and is for ``n_samples``.
    ``fit``: whether the largest, the smallest or no estimate fits into the budget.
    ``listed_prices``: the cost is by list prices, not by the user's. ``unsupported`` counts the
    samples about which a metric asks what the judge cannot answer, ``failed`` those on which one
    broke down, by its message."""

    judge: str
    asks: bool
    metrics: Mapping[tuple[str, ...], Amount]
    total: Amount
    questions: Mapping[str, Range]
    throughput: Throughput
    seconds: Range
    n_samples: int
    n_walked: int
    budget: str | None = None
    fit: Fit | None = None
    listed_prices: bool = False
    failed: Mapping[str, int] = field(default_factory=dict)
    unsupported: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values; an interval is ``{"low": ..., "high": ...}``."""
        body = asdict(self)
        lines = self.metrics.items()
        body["metrics"] = [{"metrics": list(names), **asdict(amount)} for names, amount in lines]
        return body


def fit(total: Amount, budget: str) -> Fit:
    """Whether what a run takes fits into a budget (as `Budget.parse` reads it). Of several limits
    the worst verdict counts."""
    limits = Budget.parse(budget)
    if limits.dollars is not None and total.cost is None:
        return "no price known"
    pairs = (limits.dollars, total.cost), (limits.calls, total.calls), (limits.tokens, total.tokens)
    limited = [(limit, amount) for limit, amount in pairs if limit is not None and amount]
    if any(amount.low > limit for limit, amount in limited):
        return "does not fit"
    return "may not fit" if any(amount.high > limit for limit, amount in limited) else "fits"


_AMOUNTS = attrgetter("calls", "held", "input_tokens", "output_tokens", "cost", "unpriced")
"""The quantities of a request that are added up."""

Line = tuple[str, str]
"""A sum of a plan: its group (``total``, ``metric``, ``kind``) and its name in the group."""

TOTAL: Line = ("total", "")


class Planner:
    """Takes in samples, gives a `CallPlan`. Where asking the judge takes no requests (``asks``),
    only the first `WINDOW` samples are walked. ``price`` takes the place of the models' own."""

    def __init__(
        self,
        metrics: Mapping[str, Metric],
        judge: Judge,
        *,
        throughput: Throughput | None = None,
        price: Price | None = None,
    ) -> None:
        self.asks = bool(judge.leaves())
        self._judge, self._metrics, self._price = judge, metrics, price
        self._throughput = throughput or Throughput()
        nobody = PlanningJudge(judge, price)
        self._demands = nobody.demands
        # Without answers, what is asked is certain; with the smallest or largest it is possible.
        judges = nobody, nobody.at(largest=False), nobody.at(largest=True)
        self.askers = [*map(Asker, judges)]
        # The least and the most of each line.
        self._sums: defaultdict[Line, NDArray[np.float64]]
        self._sums = defaultdict(lambda: np.zeros((2, 6)), {TOTAL: np.zeros((2, 6))})
        # The lines that have a question for certain, and those that may.
        self._seen: defaultdict[int, tuple[set[Line], set[Line]]]
        self._seen = defaultdict(lambda: (set(), set()))
        self._failed: Counter[str] = Counter()
        self._unsupported: Counter[str] = Counter()
        self._n_walked = self._n_counted = 0

    def __enter__(self) -> Planner:
        return self

    def __exit__(self, *exception: object) -> None:
        for asker in self.askers:
            asker.close()

    def prepare(self, name: str, metric: Metric, samples: Sequence[Sample]) -> None:
        """Counts the questions that a metric asks before the samples (about a pooled nugget bank),
        under a line of its own."""
        for window in batched(samples, WINDOW):
            self._count(window, {name: metric})

    def add(self, samples: Sequence[Sample]) -> None:
        """Counts the questions about samples."""
        # An offline judge makes each answer here, which takes time: the first samples suffice.
        counted = samples if self.asks else samples[: max(0, WINDOW - self._n_walked)]
        self._n_walked += len(samples)
        self._n_counted += len(counted)
        self._count(counted, self._metrics)

    def plan(self, n_samples: int | None = None, budget: str | None = None) -> CallPlan:
        """The plan so far, for ``n_samples`` where these are more."""
        n = self._n_walked if n_samples is None else n_samples
        factor = n / self._n_walked if self._n_walked else 1.0
        amounts = {line: _amount(sums * factor) for line, sums in self._sums.items()}
        alike = grouped((amount, name) for (of, name), amount in amounts.items() if of == "metric")
        calls = {name: amount.calls for (of, name), amount in amounts.items() if of == "kind"}
        total = amounts[TOTAL]
        return CallPlan(
            judge=self._judge.label,
            asks=self.asks,
            metrics={tuple(names): amount for amount, names in alike.items()},
            total=total,
            questions=dict(sorted(calls.items(), key=lambda item: (-item[1].high, item[0]))),
            throughput=self._throughput,
            seconds=self._throughput.span(total.calls, total.tokens),
            n_samples=n,
            n_walked=self._n_walked,
            budget=budget,
            fit=None if budget is None else fit(total, budget),
            listed_prices=self._price is None,
            failed=dict(self._failed),
            unsupported={
                name: round(count * self._n_walked / self._n_counted)
                for name, count in self._unsupported.items()
            },
        )

    def _count(self, samples: Sequence[Sample], metrics: Mapping[str, Metric]) -> None:
        """Counts the questions of metrics about samples, in a line for each and in the total."""
        lines: dict[JudgedMetric, dict[Line, Metric]] = {}
        for name, metric in metrics.items():
            for judged in judged_among([metric]):
                lines.setdefault(judged, {})["metric", name] = metric
                self._sums["metric", name]  # a line of its own, even if nothing is asked
        if samples and lines:
            self.askers[0].submit(self._walk(samples, lines)).result()
        self._demands.clear()

    async def _walk(
        self, samples: Sequence[Sample], metrics: Mapping[JudgedMetric, Mapping[Line, Metric]]
    ) -> None:
        """Counts the questions of each metric about each sample: where an answer is missing, those
        that may follow, too."""
        certain, *possible = map(Ask, self.askers)
        for metric, users in metrics.items():  # one after the other: nothing is waited for
            for sample in samples:
                lines = {TOTAL, *(at for at, user in users.items() if user.lacks(sample) is None)}
                outcome = await metric.outcome(sample, certain, [*users.values()])
                self._enter(outcome, lines, certain=True)
                reason = outcome.reason if isinstance(outcome, Unscored) else None
                if isinstance(outcome, Unscored) and reason is Reason.FAILED:
                    self._failed[outcome.detail or str(metric)] += 1
                elif reason is Reason.UNSUPPORTED:
                    shown = (name for name, item in self._metrics.items() if item == metric)
                    self._unsupported[next(shown, str(metric))] += 1
                elif reason is NOT_ASKED:
                    for scope in possible:
                        self._enter(await metric.outcome(sample, scope), lines, certain=False)

    def _enter(self, outcome: Outcome, lines: set[Line], *, certain: bool) -> None:
        """Counts the questions behind an outcome in each line that does not have them yet: as
        certain, or as possible."""
        for name in outcome.evidence:
            demand = self._demands[name]
            wanted = lines | {("kind", demand.kind)}
            seen = self._seen[hash(name)]
            for end in (0, 1) if certain else (1,):
                for line in wanted - seen[end]:
                    self._sums[line][end] += _AMOUNTS(demand)
                seen[end].update(wanted)


def _amount(sums: NDArray[np.float64]) -> Amount:
    """Both ends of a line as ranges, counts rounded outwards."""
    low, high = sums.tolist()
    calls, held, sent, received = (
        Range(math.floor(least), math.ceil(most))
        for least, most in zip(low[:4], high[:4], strict=True)
    )
    dollars = None if low[5] or high[5] else Range(round(low[4], 9), round(high[4], 9))
    return Amount(calls, held, sent, received, dollars)
