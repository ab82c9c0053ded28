"""The state of a service as the text that Prometheus reads."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from ragassay.service.operation.requests_seen import RequestCounts
from ragassay.service.store.jobs import StoreCounts

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def metrics_text(requests: RequestCounts, counts: StoreCounts) -> str:
    """The metrics, in Prometheus's text format 0.0.4.

    Args:
        requests: that this process answered.
        counts: of the store, which other processes may share.
    """
    lines = [
        *_metric(
            *("ragassay_requests_total", "counter", "Requests that this process answered."),
            [
                ({"method": method, "route": route, "status": str(status)}, n)
                for method, route, status, n in requests.rows()
            ],
        ),
        *_metric(
            *("ragassay_jobs", "gauge", "Jobs in the store."),
            [({"status": status}, n) for status, n in counts.jobs.items()],
        ),
        *_metric(
            *("ragassay_queue_age_seconds", "gauge", "How long the oldest idle job has waited."),
            [({}, counts.queue_age)],
        ),
        *_metric(
            *("ragassay_records", "gauge", "Records in the store, versions included."),
            [({}, counts.records)],
        ),
        *_metric(
            "ragassay_judge_requests",
            *("gauge", "Requests to judges that the jobs in the store have paid."),
            [({}, counts.judge_requests)],
        ),
        *_metric(
            "ragassay_judge_dollars",
            *("gauge", "What these cost, as far as prices are known."),
            [({}, counts.judge_dollars)],
        ),
    ]
    memory = _resident_bytes()
    if memory is not None:
        name = "process_resident_memory_bytes"
        lines += _metric(name, "gauge", "Memory of this process.", [({}, memory)])
    return "".join(f"{line}\n" for line in lines)


def _metric(
    name: str, kind: str, help_text: str, samples: Iterable[tuple[Mapping[str, str], float]]
) -> list[str]:
    """The lines of a metric."""
    lines = [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"]
    for labels, value in samples:
        words = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
        lines.append(f"{name}{{{words}}} {value}" if words else f"{name} {value}")
    return lines


def _escaped(text: str) -> str:
    return re.sub(r'["\\]', r"\\\g<0>", text).replace("\n", "\\n")


def _resident_bytes() -> int | None:
    """The memory of this process; ``None`` where the system does not say it (not Linux)."""
    with suppress(OSError, IndexError, ValueError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return None
