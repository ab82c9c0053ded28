"""What asking would send, how long that takes at least, and what it costs, as far as is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from statistics import fmean
from typing import Any

from ragassay.base.sample import Sample
from ragassay.judges.ledger.store import Ledger
from ragassay.judges.ledger.system_answers import SystemAnswers
from ragassay.targets.asking.asked_queries import request_of
from ragassay.targets.asking.measurements import read
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
    ledger: Ledger,
) -> AskPlan:
    """What asking a system would do. Sends nothing.

    Args:
        queries: what would be asked.
        target: who.
        options: how.
        ledger: with earlier answers.
    """
    certain = [one for one in queries if options.history != "own" or not one.history]
    measured: list[Mapping[str, Any]] = []
    answers = SystemAnswers(ledger, target.name, target.fingerprint)
    for query, repeat in product(certain, range(options.repeat)):
        record = answers.find(request_of(query, query.history, repeat, options).body())
        if record is not None:
            measured.append(read(record).metadata)
    samples = len(queries) * options.repeat
    from_ledger = 0 if options.refresh else len(measured)
    to_send = samples - from_ledger + min(options.warm_up, len(queries))
    latencies = [one["latency"] for one in measured if "latency" in one]
    costs = [one["cost"] for one in measured if "cost" in one]
    bounds = [] if options.rpm is None else [max(0.0, to_send - 1) * 60.0 / options.rpm]
    bounds += [to_send * fmean(latencies) / options.concurrency] if latencies else []
    return AskPlan(
        system=target.name,
        samples=samples,
        from_ledger=from_ledger,
        to_send=to_send,
        at_most=len(certain) < len(queries) and not options.refresh,
        least_seconds=max(bounds, default=None) if to_send else 0.0,
        dollars=to_send * fmean(costs) if costs else None if to_send else 0.0,
        known=len(measured),
    )
