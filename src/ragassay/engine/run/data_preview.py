"""Previews a run: reads the data without scoring it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import Any

from ragassay.base.note import Displayed
from ragassay.base.sample import Sample
from ragassay.base.score import Reason, Unscored
from ragassay.engine.config.metric_selection import LOOKED_AT, SuiteFit, needs_llm, suite_fits
from ragassay.engine.config.run_config import OWN, POOLED
from ragassay.engine.models.needed_models import model_options, weights_among
from ragassay.engine.run.cost_estimate import WINDOW, CallPlan, Planner, Throughput
from ragassay.engine.run.pooled_nuggets import bank_metric, pools_of
from ragassay.engine.run.prepared_run import PreparedRun, Progress, job_of
from ragassay.engine.run.scoring import batched, by_reference, record_warnings
from ragassay.engine.run.source import Data
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.metrics.core.judged import ModelMetric
from ragassay.metrics.core.metric import Metric, reached
from ragassay.metrics.serving.serving_metrics import lacks_beside_failures
from ragassay.models.embedders.embedder import DEFAULT
from ragassay.models.model_options import ModelOptions
from ragassay.models.weights.weight_files import Unavailable, needs_packages, place_of
from ragassay.transport.providers_and_prices import Price


def _lacking(metric: Metric, options: ModelOptions, embedder: str | None) -> str:
    """What model a metric, or one that it is made of, lacks on this machine, and how to get it;
    empty where it has all."""
    for weights in weights_among([metric], embedder):
        try:
            needs_packages()
            place_of(weights, options.folders)
        except Unavailable as error:
            if error.reason is Unavailable.reason:
                return str(error)
    return ""


_NEEDS_LLM = "an LLM judge is needed"
PARTS = (
    *("query", "history", "passages", "answer", "references", "gold"),
    *("answerability", "timestamp"),
)
"""The parts of a sample that a preview counts, where they are given."""
_NOT_GIVEN = {part: getattr(Sample(id="none"), part) for part in PARTS}
REASONS = 3
"""Most reasons that a preview has for each metric."""


@dataclass(frozen=True, repr=False)
class Preview(Displayed):
    """A look at the data: how many samples each system has, how many have each part, and by metric
    how many can be scored here (``applicable``).

    Of metrics with any, ``needs_extra`` has how many more could be if their model (or its package)
    were on this machine, ``extras`` what that is and how to get it, ``lacking`` how many samples
    lack something, by the most frequent reasons. ``failures`` counts samples whose system failed by
    its message, ``suites`` says how every suite suits the data, where that is asked for,
    ``repeated`` counts queries with two runs or more, where the run's consistency is asked for, and
    ``calls`` is the plan of the judge's calls, where a metric asks one."""

    title: str
    format: str
    n_samples: int
    n_queries: int
    systems: dict[str, int]
    parts: dict[str, int]
    applicable: dict[str, int]
    failures: dict[str, int]
    warnings: tuple[str, ...]
    calls: CallPlan | None = None
    repeated: int | None = None
    needs_extra: Mapping[str, int] = field(default_factory=dict)
    extras: Mapping[str, str] = field(default_factory=dict)
    lacking: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    suites: Mapping[str, SuiteFit] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        calls = None if self.calls is None else self.calls.to_json()
        return asdict(self) | {"calls": calls}


def plan(data: Data, suite: Any = None, **options: Any) -> Preview:
    """Reads the data and says what `ragassay.evaluate` would compute, ask and pay with the same
    arguments. Nothing is sent, and no key is needed.

    Examples:
        >>> import ragassay
        >>> data = [{"id": "1", "query": "Who wrote it?", "answer": "Ann.", "references": ["Ann"]}]
        >>> plan = ragassay.plan(data, ["em", "answer_match"], judge="openai:gpt-4o-mini")
        >>> plan.applicable, plan.calls.total.calls.low
        ({'em': 1, 'answer_match': 1}, 1)

    Args:
        data: see `ragassay.evaluate`.
        suite: suites and metrics, as there.
        options: ``metrics``, ``judge`` and the options of a run, as there.

    Returns:
        What is in the data, how many samples each metric can score, and (``calls``) what the judge
        would be asked. It prints as a table, and a notebook shows it.

    Raises:
        InputError: data that cannot be read.
        UsageError: an unknown suite, metric or option.
    """
    return preview(job_of(data, suite, True, **options))


def preview(
    job: PreparedRun,
    progress: Progress | None = None,
    *,
    walk: int | None = None,
    of: int | None = None,
    every_suite: bool = False,
) -> Preview:
    """Reads all samples of a job, counts what is there, and finds out what its judge would be
    asked. Nothing is sent. The job cannot be run afterwards.

    ``walk``: the plan is made from the first so many samples and extrapolated, where there are
    more; ``of``: it is for so many samples, where the job has only the first of them.
    ``every_suite``: find out which suites the data suits."""
    metrics = job.selection.metrics
    parts = Counter(dict.fromkeys(PARTS, 0))
    applicable = Counter(dict.fromkeys(metrics, 0))
    lacking: dict[str, Counter[str]] = {}
    beside_failures: dict[str, Counter[str]] = {}
    systems: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    runs: Counter[tuple[str, str]] = Counter()
    n, calls = 0, None
    first: list[Sample] = []
    with ExitStack() as stack:
        recorded = stack.enter_context(record_warnings())
        planner = _planner(job, stack)
        offline = job.session is None or isinstance(job.session.judge, OfflineJudge)
        unasked = {name for name, item in metrics.items() if offline and needs_llm(item)}
        options = model_options(job.config)
        embedder = None if job.embedding is not None else job.config.embedder or DEFAULT
        lacks = {name: _lacking(metric, options, embedder) for name, metric in metrics.items()}
        without_model: Counter[str] = Counter()
        for window in batched(job.source.samples, WINDOW):
            first += window[: LOOKED_AT - len(first)] if every_suite else ()
            if [suite.name for suite in job.selection.suites] == ["rag"]:
                window = tuple(map(by_reference, window))
            for sample in window:
                runs[sample.id, sample.system] += 1
                systems[sample.system or "(none)"] += 1
                failures.update([" ".join(sample.failure.split())] if sample.failure else ())
                parts.update(p for p, none in _NOT_GIVEN.items() if getattr(sample, p) != none)
                for name, metric in metrics.items():
                    lack = metric.lacks(sample)
                    if lack is None and name in unasked:
                        lack = Unscored(Reason.UNSUPPORTED, _NEEDS_LLM)
                    if lack is None:
                        applicable[name] += 1
                        needs_model = lacks[name] and any(
                            (item.weights or item.embeds)
                            # The record may bring the value.
                            and not (isinstance(item, ModelMetric) and item.read(sample))
                            for item in reached([metric])
                        )
                        without_model.update([name] if needs_model else ())
                    else:
                        lacking.setdefault(name, Counter())[lack.detail] += 1
                        if name not in unasked and lacks_beside_failures(metric, sample) is None:
                            beside_failures.setdefault(name, Counter())[lack.detail] += 1
            if planner is not None:
                planner.add(window if walk is None else window[: max(0, walk - n)])
            n += len(window)
            if progress is not None:
                progress(n)
        if failures:
            for name, counts in beside_failures.items():
                applicable[name] += counts.total()
                lacking[name] -= counts
        applicable.subtract(without_model)
        if planner is not None:
            calls = planner.plan(n if of is None else of, job.config.budget)
            for name in calls.unsupported.keys() & metrics.keys() - unasked:
                count = calls.unsupported[name]
                applicable[name] -= count
                lacking.setdefault(name, Counter())[_NEEDS_LLM] += count
    return Preview(
        title=job.source.title,
        format=job.source.format,
        n_samples=n,
        n_queries=len({query for query, _ in runs}),
        systems=dict(systems),
        parts=dict(parts),
        applicable=dict(applicable),
        failures=dict(failures),
        suites=suite_fits(first, offline=offline) if every_suite else {},
        warnings=(*map(str, job.notes), *recorded()),
        calls=calls,
        repeated=None if job.selection.consistency is None else sum(n > 1 for n in runs.values()),
        needs_extra=dict(without_model),
        extras={name: lacks[name] for name in without_model},
        lacking={n: dict(counts.most_common(REASONS)) for n, counts in lacking.items() if counts},
    )


def _planner(job: PreparedRun, stack: ExitStack) -> Planner | None:
    """A planner for the job's judge, ``None`` without one; the stack closes the judge's ledger."""
    if job.session is None:
        return None
    stack.callback(job.session.close)
    judge, ledger = job.session.judge, job.session.ledger
    price = None if job.config.price is None else Price.parse(job.config.price)
    throughput = Throughput.of(judge, job.config, ledger)
    planner = Planner(job.selection.metrics, judge, throughput=throughput, price=price)
    stack.enter_context(planner)
    pooled = job.config.nuggets == POOLED
    if pooled and not planner.asks:  # offline, making the bank would read all of the data
        return planner
    if pooled:
        pools = pools_of(job.rereads())
        planner.prepare("nugget bank", bank_metric(job.selection.metrics.values()), pools)
    if job.config.nuggets != OWN:
        for asker in planner.askers:
            job.bank(asker)
    return planner
