"""The plan of a judge's calls: requests, tokens, money, time. `planning` fills it in. A judge's
throughput comes from the latencies in its ledger, or else from an assumption."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from operator import add, attrgetter
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from ragassay.base.counts import grouped
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Unscored
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.run.scoring import batched, judged_among
from ragassay.judges import Judge
from ragassay.judges.asking import Asker
from ragassay.judges.ledger.ledger_admin import latencies
from ragassay.judges.planning_judge import NOT_ASKED, PlanningJudge
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import Metric
from ragassay.transport.budget import Budget
from ragassay.transport.limits import MOST
from ragassay.transport.prices import Price

if TYPE_CHECKING:
    from ragassay.judges.ledger.ledger_store import Ledger

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
    known for some of the requests."""

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

    ``metrics`` has the requests of each metric if it ran alone (metrics that ask the same share a
    line), ``total`` those of the run, ``questions`` those by kind, most first. ``asks`` is whether
    asking takes requests. The plan was made from ``n_walked`` samples and is for ``n_samples``.
    ``listed_prices``: the cost is by list prices, not by the user's. ``failed`` counts samples on
    which a metric broke down, by its message; ``notes`` say what the plan leaves out."""

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


WINDOW = 256
"""Samples that are walked together."""


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
        self._judge = judge
        self.asks = bool(judge.leaves())
        self._throughput = throughput or Throughput()
        self._listed_prices = price is None
        self._known = PlanningJudge(judge, price)
        self.asker = Asker(self._known)
        # The least and the most of each line.
        self._sums: dict[Line, tuple[list[float], list[float]]] = {TOTAL: ([0.0] * 6, [0.0] * 6)}
        # The lines that have a question for certain, and those that may.
        self._seen: dict[int, tuple[set[Line], set[Line]]] = {}
        self._failed: Counter[str] = Counter()
        self._gaps: dict[str, None] = {}
        self._unsupported: Counter[str] = Counter()
        self._shown = {m: name for name, m in metrics.items() if isinstance(m, JudgedMetric)}
        self._n_walked = 0
        self._metrics = self._lines(metrics)

    def __enter__(self) -> Planner:
        return self

    def __exit__(self, *exception: object) -> None:
        self.asker.close()

    def prepare(self, name: str, metric: Metric, samples: Sequence[Sample]) -> None:
        """Counts the questions that a metric asks before the samples (about a pooled nugget bank),
        under a line of its own."""
        lines = self._lines({name: metric})
        for window in batched(samples, WINDOW):
            self._count(window, lines)

    def add(self, samples: Sequence[Sample]) -> None:
        """Counts the questions about samples."""
        self._n_walked += len(samples)
        self._count(samples, self._metrics)

    def plan(self, n_samples: int | None = None, budget: str | None = None) -> CallPlan:
        """The plan so far."""
        n = self._n_walked if n_samples is None else n_samples
        factor = n / self._n_walked if self._n_walked else 1.0
        amounts = {line: _amount(*ends, factor) for line, ends in self._sums.items()}
        alike = grouped((one, name) for (of, name), one in amounts.items() if of == "metric")
        calls = {name: one.calls for (of, name), one in amounts.items() if of == "kind"}
        notes = [*self._gaps]
        if self._unsupported:
            looked_at = self._n_walked if self.asks else min(self._n_walked, WINDOW)
            counts = ", ".join(f"{name} {count:,}" for name, count in self._unsupported.items())
            notes.append(
                f"{self._judge.label} cannot answer what these metrics ask about some of "
                f"{looked_at:,} samples (unsupported): {counts}. Another judge may."
            )
        return CallPlan(
            judge=self._judge.label,
            asks=self.asks,
            metrics={tuple(names): amount for amount, names in alike.items()},
            total=amounts[TOTAL],
            questions=dict(sorted(calls.items(), key=lambda item: (-item[1].high, item[0]))),
            throughput=self._throughput,
            seconds=self._throughput.span(amounts[TOTAL]),
            n_samples=n,
            n_walked=self._n_walked,
            budget=None if budget is None else fit(amounts[TOTAL], budget),
            listed_prices=self._listed_prices,
            failed=dict(self._failed),
            notes=tuple(notes),
        )

    def _lines(self, metrics: Mapping[str, Metric]) -> dict[JudgedMetric, set[Line]]:
        """The metrics that ask, each with the lines of the metrics that use it."""
        lines: dict[JudgedMetric, set[Line]] = {}
        for name, metric in metrics.items():
            for judged in judged_among([metric]):
                self._sums.setdefault(("metric", name), ([0.0] * 6, [0.0] * 6))
                lines.setdefault(judged, {TOTAL}).add(("metric", name))
        return lines

    def _count(self, samples: Sequence[Sample], metrics: Mapping[JudgedMetric, set[Line]]) -> None:
        if not self.asks:  # each answer is made here, which takes time: the first samples suffice
            samples = samples[: max(0, WINDOW - self._n_walked + len(samples))]
        if samples and metrics:
            self.asker.submit(self._walk(samples, metrics)).result()
        self._known.demands.clear()

    async def _walk(
        self, samples: Sequence[Sample], metrics: Mapping[JudgedMetric, set[Line]]
    ) -> None:
        scope = self.asker.scope()
        for metric, lines in metrics.items():  # one after the other: nothing is waited for
            for sample in samples:
                self._take(metric, sample, await metric.outcome(sample, scope), lines)

    def _take(
        self, metric: JudgedMetric, sample: Sample, outcome: Outcome, lines: set[Line]
    ) -> None:
        """Counts the questions of one metric about one sample, and those that may follow where an
        answer is missing: of each kind as many as are not certain anyway."""
        certain: Counter[str] = Counter()
        for name in outcome.evidence:
            certain[self._known.demands[name].kind] += 1
            self._enter(name, lines, certain=True)
        if not isinstance(outcome, Unscored):
            return
        if outcome.reason is Reason.FAILED:
            self._failed[outcome.detail or str(metric)] += 1
        elif outcome.reason is Reason.UNSUPPORTED:
            self._unsupported[self._shown.get(metric, str(metric))] += 1
        elif outcome.reason is NOT_ASKED:
            most = dict.fromkeys(metric.most_asked(sample, self.asker.context))
            told = {*certain, *(question.kind for question in most)}
            for question in most:
                if certain[question.kind] > 0:
                    certain[question.kind] -= 1
                    continue
                self._known.demand(question)
                self._enter(question.key, lines, certain=False)
            gaps = sorted({kind.kind for kind in metric.asks} - told)
            if gaps and type(metric).most_asked is JudgedMetric.most_asked:
                note = (
                    f"{metric} may ask {' and '.join(gaps)} as well, and does not say how often "
                    "(most_asked): the upper ends leave that out."
                )
                self._gaps[note] = None

    def _enter(self, name: str, lines: set[Line], *, certain: bool) -> None:
        """Counts a question in each line that does not have it yet: as certain, or as possible."""
        demand = self._known.demands[name]
        wanted = lines | {("kind", demand.kind)}
        seen = self._seen.setdefault(hash(name), (set(), set()))
        for end in (0, 1) if certain else (1,):
            for line in wanted - seen[end]:
                sums = self._sums.setdefault(line, ([0.0] * 6, [0.0] * 6))[end]
                sums[:] = map(add, sums, _AMOUNTS(demand))
            seen[end].update(wanted)


def _amount(least: Sequence[float], most: Sequence[float], factor: float) -> Amount:
    """Both ends of a line times a factor (for more data than was walked), counts rounded
    outwards."""
    ends = list(zip(least, most, strict=True))
    calls, held, sent, received = (
        Range(math.floor(low * factor), math.ceil(up * factor)) for low, up in ends[:4]
    )
    dollars = Range(*(round(end * factor, 9) for end in ends[4]))
    return Amount(calls, held, sent, received, None if any(ends[5]) else dollars)
