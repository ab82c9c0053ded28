"""What a run would do, found by reading the data without scoring it."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, fields
from typing import Any

from ragassay.engine.config import OWN
from ragassay.engine.models import AbsentModels, EmbeddingPlan, EmbeddingPlanner
from ragassay.engine.plan.cost_estimate import CallPlan
from ragassay.engine.plan.planning import WINDOW, Planner
from ragassay.engine.plan.throughput import is_fresh, throughput_of
from ragassay.engine.run import Job, Progress
from ragassay.errors import RagassayWarning
from ragassay.metrics.core import AllSamples
from ragassay.samples import Sample
from ragassay.transport import Price


@dataclass(frozen=True)
class Preview:
    """A look at the data.

    Attributes:
        title, format: the data and the format it was read as.
        n_samples, n_queries: how many there are.
        systems: samples a system.
        parts: how many samples have each part (``answer``, ``references`` ...).
        applicable: for each metric, how many samples can be scored here.
        needs_extra: for each metric, how many more could be if its model (or the package that the
            model needs) were on this machine; only metrics with any.
        extras: what is not here for each of these metrics, and how to get it.
        failures: samples whose system failed, by what it said.
        warnings: what the reader noticed.
        repeated: queries (of a system) with two runs or more, where the run's consistency is asked
            for; else ``None``.
        calls: what the judge would be asked; ``None`` where no metric asks one.
        embedding: what an embedder's endpoint would be sent; ``None`` where there is none.
    """

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
    embedding: EmbeddingPlan | None = None
    needs_extra: Mapping[str, int] = field(default_factory=dict)
    extras: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        body = {spec.name: getattr(self, spec.name) for spec in fields(self)}
        body["warnings"] = list(self.warnings)
        for plan in ("calls", "embedding"):
            body[plan] = None if body[plan] is None else body[plan].to_json()
        return body


def preview(job: Job, progress: Progress | None = None, *, walk: int | None = None) -> Preview:
    """Reads all samples of a job, counts what is there, and finds out what its judge would be
    asked. Nothing is sent. The job cannot be run afterwards.

    Args:
        job: see `ragassay.engine.run.evaluation.prepare`.
        progress: called now and then with the number of samples read.
        walk: makes the plan from the first so many samples and extrapolates, where there are more.

    Raises:
        InputError: the data has a fault; the message says where.
        UsageError: the budget or the price cannot be read.
    """
    parts: Counter[str] = Counter(dict.fromkeys(PARTS, 0))
    applicable = Counter(dict.fromkeys(job.plan.metrics, 0))
    systems: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    queries: set[str] = set()
    runs: Counter[tuple[str, str]] = Counter()
    n = 0
    with ExitStack() as stack:
        caught = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always", RagassayWarning)
        planner = _planner(job, stack)
        embedding = None
        if job.embedding is not None:
            embedding = EmbeddingPlanner(job.config, job.embedding, job.plan.metrics.values())
        absent = AbsentModels(
            job.config,
            job.plan.metrics,
            remote=job.embedding is not None,
            all_samples=AllSamples(job.rereads),
        )
        window: list[Sample] = []
        unmeasured: list[Sample] = []
        for sample in job.source.samples:
            n += 1
            queries.add(sample.id)
            systems[sample.system or "(none)"] += 1
            if job.plan.consistency is not None:
                runs[sample.id, sample.system] += 1
            parts.update(part for part, has in PARTS.items() if has(sample))
            applicable.update(
                name for name, m in job.plan.metrics.items() if m.lacks(sample) is None
            )
            if embedding is not None:
                embedding.add(sample)
            if sample.failure:
                failures[sample.failure] += 1
            if absent:
                unmeasured.append(sample)
                if len(unmeasured) == WINDOW:
                    absent.add(unmeasured)
                    unmeasured = []
            if planner is not None and (walk is None or n <= walk):
                window.append(sample)
                if len(window) == WINDOW:
                    planner.add(window)
                    window = []
            if progress is not None and n % 1000 == 0:
                progress(n)
        absent.add(unmeasured)
        applicable.subtract(absent.counts)
        calls = None
        if planner is not None:
            planner.add(window)
            calls = planner.plan(n, job.config.budget)
    return Preview(
        title=job.source.title,
        format=job.source.format,
        n_samples=n,
        n_queries=len(queries),
        systems=dict(systems),
        parts=dict(parts),
        applicable=dict(applicable),
        failures=dict(failures),
        warnings=tuple(dict.fromkeys(str(w.message) for w in caught)),
        calls=calls,
        embedding=None if embedding is None else embedding.plan(),
        repeated=sum(n > 1 for n in runs.values()) if runs else None,
        needs_extra=dict(absent.counts),
        extras=absent.why,
    )


def _planner(job: Job, stack: ExitStack) -> Planner | None:
    """Plans for the job's judge; the judge's ledger is closed with the stack."""
    if job.session is None:
        return None
    stack.callback(job.session.close)
    judge, ledger = job.session.judge, job.session.ledger
    price = None if job.config.price is None else Price.parse(job.config.price)
    pace, fresh = throughput_of(judge, job.config, ledger), is_fresh(judge, ledger)
    planner = Planner(job.plan.metrics, judge, pace=pace, price=price, fresh=fresh)
    stack.enter_context(planner)
    if job.config.nuggets != OWN:
        planner.prepare("nugget bank", job.bank)
    return planner


PARTS: dict[str, Callable[[Sample], bool]] = {
    "query": lambda s: s.query is not None,
    "history": lambda s: bool(s.history),
    "passages": lambda s: s.passages is not None,
    "answer": lambda s: s.answer is not None,
    "references": lambda s: bool(s.references),
    "gold": lambda s: s.gold is not None,
    "answerability": lambda s: s.answerability is not None,
    "timestamp": lambda s: s.timestamp is not None,
}
"""The parts of a sample that a preview counts, each with its test."""
