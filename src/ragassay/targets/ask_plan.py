"""What asking would send, how long that takes at least, and what it costs, as far as is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from ragassay.judges.ledger import Ledger, SystemAnswers
from ragassay.samples import Sample
from ragassay.targets.asking_systems import request_of
from ragassay.targets.measurements import read
from ragassay.targets.target import Target
from ragassay.targets.target_factory import AskOptions


@dataclass(frozen=True)
class AskPlan:
    """What asking one system would do.

    Attributes:
        system: its name.
        samples: queries times repeats.
        from_ledger: of them, those whose answer is in the ledger.
        to_send: requests, warm-up included; retries come on top.
        at_most: whether there may be fewer, because requests depend on the system's own answers.
        least_seconds: that they take at least, by ``rpm`` and by the latency of the answers in the
            ledger with all of ``concurrency`` for this system; ``None`` where neither is known.
        dollars: that they cost, by the mean cost of the answers in the ledger; ``None`` where there
            is none.
        known: answers in the ledger that the latter two rest on.
    """

    system: str
    samples: int
    from_ledger: int
    to_send: int
    at_most: bool
    least_seconds: float | None
    dollars: float | None
    known: int

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON."""
        return asdict(self)


def plan_of(
    queries: Sequence[Sample],
    target: Target,
    options: AskOptions,
    ledger: Ledger | None,
    known_as: str,
) -> AskPlan:
    """What asking a system would do. Sends nothing.

    Args:
        queries: what would be asked.
        target: who.
        options: how.
        ledger: what is known; ``None`` where there is none yet.
        known_as: what its answers are kept under there, see `ledger_names`.
    """
    answers = None if ledger is None else SystemAnswers(ledger, target.name, known_as)
    told: list[dict[str, Any]] = []
    unsure = 0
    for repeat in range(options.repeat):
        for query in queries:
            if options.history == "own" and query.history:
                unsure += 1
                continue
            if answers is None:
                continue
            record = answers.find(request_of(query, query.history, repeat, options).body())
            if record is not None:
                told.append(dict(read(record).metadata))
    samples = len(queries) * options.repeat
    kept = 0 if options.refresh else len(told)
    warm_up = min(options.warm_up, len(queries))
    to_send = samples - kept + warm_up
    latencies = [one["latency"] for one in told if "latency" in one]
    costs = [one["cost"] for one in told if "cost" in one]
    bounds = [] if options.rpm is None else [max(0.0, to_send - 1) * 60.0 / options.rpm]
    bounds += [to_send * fmean(latencies) / options.concurrency] if latencies else []
    return AskPlan(
        system=target.name,
        samples=samples,
        from_ledger=kept,
        to_send=to_send,
        at_most=unsure > 0 and not options.refresh,
        least_seconds=max(bounds) if bounds and to_send else 0.0 if not to_send else None,
        dollars=to_send * fmean(costs) if costs else 0.0 if not to_send else None,
        known=len(told),
    )
