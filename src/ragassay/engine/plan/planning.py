"""Finds out what a run would ask its judge, without asking it.

Every judged metric scores the samples with the smallest and with the largest answer to each
question. Where both ask the same, the numbers are exact; else they are an interval that holds for
any answers of the judge. Answers in the ledger are counted separately, because they cost nothing.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from ragassay.engine.plan.cost_estimate import Amount, CallPlan, Throughput, fit
from ragassay.engine.plan.request_counter import TOTAL, RequestCounter, ends
from ragassay.engine.run import Judged, judged_among
from ragassay.judges import (
    Asker,
    End,
    Estimator,
    Judge,
    PlanningAsker,
    PlanningJudge,
    Question,
    Scope,
)
from ragassay.metrics.core import JudgedMetric, Metric
from ragassay.samples import Sample
from ragassay.scores import Outcome, Reason, Unscored
from ragassay.transport import Price

Names = tuple[str, ...]
"""Ids of verdicts."""

WINDOW = 256
"""Samples that are walked together."""

_WALKS: tuple[End, ...] = ("smallest", "largest", "slowest")


class Planner:
    """Takes in samples, gives a `CallPlan`. Remembers about a hundred bytes a distinct question.

    Args:
        metrics: by the names that they are shown under.
        judge: who would be asked.
        pace: how fast.
        price: of each of its models, instead of what they say themselves (`Judge.price`).
        fresh: whether the ledger is known to hold nothing of the judge's models.
    """

    def __init__(
        self,
        metrics: Mapping[str, Metric],
        judge: Judge,
        *,
        pace: Throughput | None = None,
        price: Price | None = None,
        fresh: bool = False,
    ) -> None:
        self.n_walked = 0
        self._judge = judge
        self._pace = pace or Throughput()
        self._judged = judged_among(metrics.values())
        self._listing = [metric for metric in self._judged if _fills_a_list(metric)]
        self._asks = bool(judge.leaves())
        self._listed_prices = price is None
        self._estimator = Estimator(judge, price, fresh=fresh)
        self._ends = [PlanningJudge(self._estimator, end) for end in _WALKS]
        self._askers = [PlanningAsker(end) for end in self._ends]
        self._failed: Counter[str] = Counter()
        self._counter = RequestCounter()
        self._groups = _grouped(metrics)
        self._lines = {names: self._counter.line() for names in self._groups.values()}
        self._masks = {
            metric: sum(self._lines[names] for key, names in self._groups.items() if metric in key)
            for metric in self._judged
        }

    def __enter__(self) -> Planner:
        return self

    def __exit__(self, *exception: object) -> None:
        with ExitStack() as stack:
            for asker in self._askers:
                stack.callback(asker.close)

    def prepare(self, name: str, build: Callable[[Asker], object]) -> None:
        """Counts what is asked before the samples (a pooled nugget bank), under a line of its own.

        Args:
            name: of that line.
            build: asks through the asker that it is given, and puts what it found into its context.
        """
        if not self._asks:
            return
        walks = []
        for end, asker in zip(self._ends, self._askers, strict=True):
            end.asked.clear()
            build(asker)
            walks.append(tuple(end.asked))
        if any(walks):
            line = self._lines[(name,)] = self._counter.line()
            self._enter(line | TOTAL, *walks)
        self._forget()

    def add(self, samples: Sequence[Sample]) -> None:
        """Counts the questions about samples. Does nothing where the judge sends no requests."""
        self.n_walked += len(samples)
        if not samples or not self._judged or not self._asks:
            return
        chosen = (self._judged, self._judged, self._listing)
        walks = [
            self._walk(asker, samples, judged)
            for asker, judged in zip(self._askers, chosen, strict=True)
        ]
        for metric in self._judged:
            mask = self._masks[metric] | TOTAL
            for outcomes in zip(*(walk[metric] for walk in walks if metric in walk), strict=True):
                self._enter(mask, *(outcome.evidence for outcome in outcomes))
                self._look_for_failure(metric, outcomes)
        self._forget()

    def _walk(self, asker: Asker, samples: Sequence[Sample], judged: list[JudgedMetric]) -> Judged:
        if not judged:
            return {}
        with warnings.catch_warnings():
            # Warnings of metrics about made-up answers say nothing.
            warnings.simplefilter("ignore")
            return asker.submit(_outcomes(samples, judged, asker.scope())).result()

    def _forget(self) -> None:
        self._estimator.clear()
        for end in self._ends:
            end.asked.clear()

    def plan(self, n_samples: int | None = None, budget: str | None = None) -> CallPlan:
        """The plan so far.

        Args:
            n_samples: extrapolates to so many samples.
            budget: see `Budget.parse`.

        Raises:
            UsageError: the budget cannot be read.
        """
        n = self.n_walked if n_samples is None else n_samples
        factor = n / self.n_walked if self.n_walked and n != self.n_walked else 1.0
        total = self._counter.amount(TOTAL).times(factor)
        pace = self._pace
        plan = CallPlan(
            judge=self._judge.label,
            asks=self._asks,
            metrics=_alike(
                {
                    names: self._counter.amount(line).times(factor)
                    for names, line in self._lines.items()
                }
            ),
            total=total,
            questions={kind: calls.times(factor) for kind, calls in self._counter.kinds().items()},
            pace=pace,
            seconds=pace.span(total),
            n_samples=n,
            n_walked=self.n_walked,
            listed_prices=self._listed_prices,
            failed=dict(self._failed),
        )
        return plan if budget is None else replace(plan, budget=fit(plan.total, budget))

    def _enter(self, mask: int, least: Names, most: Names, slow: Names | None = None) -> None:
        """Counts what one metric asks about one sample, by the walks with each end."""
        find, enter = self._estimator, self._counter.enter
        if slow is not None and slow != most:
            most = self._of_each_kind_most(most, slow)
        if least == most:
            for name in most:
                enter(name, find[name], mask)
            return
        if self._size(least) > self._size(most):
            # A metric may well ask more after small answers; the interval holds both.
            least, most = most, least
        below, above = ends(mask)
        for name in least:
            enter(name, find[name], below)
        for name in most:
            enter(name, find[name], above)

    def _of_each_kind_most(self, *walks: Names) -> Names:
        """For each kind of question, those of the walk that asks it most often. No answers can make
        a metric ask more.
        """
        largest: dict[str, list[str]] = {}
        for names in walks:
            kinds: dict[str, list[str]] = {}
            for name in names:
                kinds.setdefault(self._estimator[name].kind, []).append(name)
            for kind, asked in kinds.items():
                if len(asked) > len(largest.get(kind, ())):
                    largest[kind] = asked
        return tuple(name for asked in largest.values() for name in asked)

    def _size(self, names: Names) -> tuple[int, int]:
        demands = [self._estimator[name] for name in names]
        return sum(one.calls + one.held for one in demands), sum(
            one.input_tokens for one in demands
        )

    def _look_for_failure(self, metric: Metric, outcomes: Iterable[Outcome]) -> None:
        for one in outcomes:
            if isinstance(one, Unscored) and one.reason is Reason.FAILED:
                self._failed[one.detail or str(metric)] += 1
                return


async def _outcomes(
    samples: Sequence[Sample], judged: Iterable[JudgedMetric], scope: Scope
) -> Judged:
    """The outcomes as `judge_all` gives them, one metric after the other, because nothing is waited
    for.
    """
    outcomes: dict[JudgedMetric, Sequence[Outcome]] = {}
    for metric in judged:
        if type(metric).judge_window is JudgedMetric.judge_window:
            outcomes[metric] = [await metric.outcome(sample, scope) for sample in samples]
        else:
            outcomes[metric] = await metric.judge_window(samples, scope)
    return outcomes


def _fills_a_list(metric: JudgedMetric) -> bool:
    return any(kind.slowest is not Question.slowest for kind in metric.asks)


def _grouped(
    metrics: Mapping[str, Metric],
) -> dict[tuple[JudgedMetric, ...], tuple[str, ...]]:
    """The shown names of the metrics that ask; those that ask by the same judged metrics are
    together.
    """
    groups: dict[tuple[JudgedMetric, ...], tuple[str, ...]] = {}
    for name, metric in metrics.items():
        judged = tuple(judged_among([metric]))
        if judged:
            groups[judged] = (*groups.get(judged, ()), name)
    return groups


def _alike(lines: Mapping[tuple[str, ...], Amount]) -> dict[tuple[str, ...], Amount]:
    """The lines, with equal ones merged."""
    merged: dict[Amount, tuple[str, ...]] = {}
    for names, amount in lines.items():
        merged[amount] = (*merged.get(amount, ()), *names)
    return {names: amount for amount, names in merged.items()}
