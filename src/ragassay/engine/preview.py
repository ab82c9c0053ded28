"""What a run would do, found by reading the data without scoring it."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from ragassay.engine.evaluation import Job, Progress
from ragassay.errors import RagassayWarning
from ragassay.samples import Sample


@dataclass(frozen=True)
class Preview:
    """A look at the data.

    Attributes:
        title, format: the data and the format it was read as.
        n_samples, n_queries: how many there are.
        systems: samples a system.
        parts: how many samples have each part (``answer``, ``references`` ...).
        applicable: for each metric, how many samples have what it needs.
        failures: samples whose system failed, by what it said.
        warnings: what the reader noticed.
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

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        return asdict(self)


def preview(job: Job, progress: Progress | None = None) -> Preview:
    """Reads all samples of a job and counts what is there.

    Raises:
        InputError: the data has a fault; the message says where.
    """
    parts: Counter[str] = Counter(dict.fromkeys(PARTS, 0))
    applicable = Counter(dict.fromkeys(job.plan.metrics, 0))
    systems: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    queries: set[str] = set()
    n = 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RagassayWarning)
        for sample in job.source.samples:
            n += 1
            queries.add(sample.id)
            systems[sample.system or "(none)"] += 1
            parts.update(part for part, has in PARTS.items() if has(sample))
            applicable.update(
                name for name, m in job.plan.metrics.items() if m.lacks(sample) is None
            )
            if sample.failure:
                failures[sample.failure] += 1
            if progress is not None and n % 1000 == 0:
                progress(n)
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
    )


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
