"""Plans the calls of a run's judge without asking it.

Every judged metric is walked with a judge that has only the answers which exist already. Its
questions up to the first missing answer are certain. Those that may follow are given by the metric
(`JudgedMetric.most_asked`): they make the upper ends of the plan. Answers in the ledger are counted
separately, because they cost nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import add, attrgetter

from ragassay.base.counts import grouped
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Unscored
from ragassay.engine.plan.cost_estimate import Amount, CallPlan, Range, Throughput, fit
from ragassay.engine.run.scoring import batched, judged_among
from ragassay.judges import Judge
from ragassay.judges.asking import Asker
from ragassay.judges.planning_judge import NOT_ASKED, Demand, PlanningJudge
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import Metric
from ragassay.transport.prices import Price

WINDOW = 256
"""Samples that are walked together."""


class Planner:
    """Takes in samples, gives a `CallPlan`. Remembers about a hundred bytes a distinct question.

    Where asking the judge takes no requests (``asks``), only the first `WINDOW` samples are walked.
    ``price`` takes the place of the models' own; ``fresh`` is whether the ledger holds nothing of
    them.
    """

    def __init__(
        self,
        metrics: Mapping[str, Metric],
        judge: Judge,
        *,
        throughput: Throughput | None = None,
        price: Price | None = None,
        fresh: bool = False,
    ) -> None:
        self._judge = judge
        self.asks = bool(judge.leaves())
        self._throughput = throughput or Throughput()
        self._listed_prices = price is None
        self._known = PlanningJudge(judge, price, fresh=fresh)
        self.asker = Asker(self._known)
        self._counter = RequestCounter()
        self._total = self._counter.line("total")
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
        """The plan so far.

        Args:
            n_samples: extrapolates to so many samples.
            budget: see `Budget.parse`.
        """
        n = self._n_walked if n_samples is None else n_samples
        factor = n / self._n_walked if self._n_walked else 1.0
        (total,) = self._counter.amounts("total", factor).values()
        by_metric = self._counter.amounts("metric", factor)
        alike = grouped((amount, name) for name, amount in by_metric.items())
        kinds = self._counter.amounts("kind", factor)
        calls = {kind: amount.calls for kind, amount in kinds.items()}
        return CallPlan(
            judge=self._judge.label,
            asks=self.asks,
            metrics={tuple(names): amount for amount, names in alike.items()},
            total=total,
            questions=dict(sorted(calls.items(), key=lambda item: (-item[1].high, item[0]))),
            throughput=self._throughput,
            seconds=self._throughput.span(total),
            n_samples=n,
            n_walked=self._n_walked,
            budget=None if budget is None else fit(total, budget),
            listed_prices=self._listed_prices,
            failed=dict(self._failed),
            notes=(*self._gaps, *self._unanswered()),
        )

    def _lines(self, metrics: Mapping[str, Metric]) -> dict[JudgedMetric, int]:
        """The metrics that ask, each with the lines of the metrics that use it."""
        lines: dict[JudgedMetric, int] = {}
        for name, metric in metrics.items():
            for judged in judged_among([metric]):
                own = self._counter.line("metric", name)
                lines[judged] = lines.get(judged, self._total) | own
        return lines

    def _count(self, samples: Sequence[Sample], metrics: Mapping[JudgedMetric, int]) -> None:
        if not self.asks:  # each answer is made here, which takes time: the first samples suffice
            samples = samples[: max(0, WINDOW - self._n_walked + len(samples))]
        if samples and metrics:
            self.asker.submit(self._walk(samples, metrics)).result()
        self._known.demands.clear()

    async def _walk(self, samples: Sequence[Sample], metrics: Mapping[JudgedMetric, int]) -> None:
        scope = self.asker.scope()
        for metric, lines in metrics.items():  # one after the other: nothing is waited for
            for sample in samples:
                self._take(metric, sample, await metric.outcome(sample, scope), lines)

    def _take(self, metric: JudgedMetric, sample: Sample, outcome: Outcome, lines: int) -> None:
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
            for question in most:
                if certain[question.kind] > 0:
                    certain[question.kind] -= 1
                    continue
                self._known.demand(question)
                self._enter(question.key, lines, certain=False)
            self._look_for_gaps(metric, {*certain, *(question.kind for question in most)})

    def _unanswered(self) -> Iterator[str]:
        """A note on metrics that the judge leaves without a value, where it does."""
        if self._unsupported:
            n = self._n_walked if self.asks else min(self._n_walked, WINDOW)
            counts = ", ".join(f"{name} {count:,}" for name, count in self._unsupported.items())
            yield (
                f"{self._judge.label} cannot answer what these metrics ask about some of {n:,} "
                f"samples (unsupported): {counts}. Another judge may."
            )

    def _enter(self, name: str, lines: int, *, certain: bool) -> None:
        demand = self._known.demands[name]
        lines |= self._counter.line("kind", demand.kind)
        self._counter.enter(name, demand, lines, certain=certain)

    def _look_for_gaps(self, metric: JudgedMetric, kinds: Collection[str]) -> None:
        """Notes kinds of question that a metric may ask without saying how often."""
        gaps = sorted({kind.kind for kind in metric.asks}.difference(kinds))
        if gaps and type(metric).most_asked is JudgedMetric.most_asked:
            note = (
                f"{metric} may ask {' and '.join(gaps)} as well, and does not say how often "
                "(most_asked): the upper ends leave that out."
            )
            self._gaps[note] = None


_AMOUNTS = attrgetter("calls", "held", "input_tokens", "output_tokens", "cost", "unpriced")
"""The quantities of a request that are added up."""


class RequestCounter:
    """Adds up the demands of distinct questions, line by line.

    A line is two bits of a number: questions that are certain, and questions that are possible. A
    set of lines is the sum of their lower bits.
    """

    def __init__(self) -> None:
        self._tallies: list[list[float]] = []
        self._lines: dict[tuple[str, str], int] = {}
        self._seen: dict[int, int] = {}
        self._masks: dict[int, int] = {}  # equal masks are one object

    def line(self, group: str, name: str = "") -> int:
        """The lower bit of a line, which is made where it is new."""
        if (group, name) not in self._lines:
            self._lines[group, name] = 1 << len(self._tallies)
            self._tallies += [[0.0] * 6, [0.0] * 6]
        return self._lines[group, name]

    def enter(self, name: str, demand: Demand, lines: int, *, certain: bool) -> None:
        """Counts a question in each line that does not have it yet: as certain, or as possible."""
        key = hash(name)  # the text's own 64 bits; the text itself would take twice the memory
        seen, mask = self._seen.get(key, 0), lines * (3 if certain else 2)
        new = mask & ~seen
        if new:
            self._seen[key] = self._masks.setdefault(seen | mask, seen | mask)
        while new:
            tally = self._tallies[(new & -new).bit_length() - 1]
            tally[:] = map(add, tally, _AMOUNTS(demand))
            new &= new - 1

    def amounts(self, group: str, factor: float) -> dict[str, Amount]:
        """The sums of the lines of a group, by their names, times a factor (for more data than was
        walked); counts are rounded outwards."""
        return {
            name: self._amount(line.bit_length() - 1, factor)
            for (of, name), line in self._lines.items()
            if of == group
        }

    def _amount(self, at: int, factor: float) -> Amount:
        ends = list(zip(*self._tallies[at : at + 2], strict=True))
        calls, held, sent, received = (
            Range(math.floor(low * factor), math.ceil(up * factor)) for low, up in ends[:4]
        )
        dollars = Range(*(round(end * factor, 9) for end in ends[4]))
        return Amount(calls, held, sent, received, None if any(ends[5]) else dollars)
