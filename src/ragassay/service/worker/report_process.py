"""Computes one report in a process of its own, which can be interrupted, and which imports no
database.

It reads the options of a run, a line of JSON, and writes lines of JSON: how far it is, and at the
end the headline, or the error (``log`` is for the operator only). It ends when its standard input
does: a worker that was killed leaves no process behind."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ragassay.base.errors import LedgerError, RagassayError, system_problem
from ragassay.base.printable import either, plural
from ragassay.base.score import Reason
from ragassay.engine.config.run_config import make_config
from ragassay.engine.results import Result
from ragassay.engine.results.summary import is_incomplete
from ragassay.engine.run.prepared_run import PreparedRun, prepare
from ragassay.engine.run.scoring import as_note, record_warnings
from ragassay.service.store.run_archives import headline_of
from ragassay.transport.endpoints.endpoint_errors import hide_replies

SECONDS = 1.0
"""Between two lines about how far it is."""

DISK = (
    "The worker cannot write to its disk: {}. Make room (or allow it to write), and retry the job."
)

_UNABLE = {
    Reason.UNSUPPORTED: "the judge has no answer",
    Reason.NEEDS_EXTRA: "a package or a model is not installed",
}
"""Why a metric has no score that another judge or installation would give."""


def main() -> int:
    """Runs what standard input says; the exit code is 0 where the report is there."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options: dict[str, Any] = json.loads(sys.stdin.readline())
    named = options.pop("named", None)
    data = options.pop("data")  # no configuration of a client's names a place of the server's
    warnings.simplefilter("ignore")  # nobody reads those of packages
    threading.Thread(target=_end_with_the_worker, daemon=True).start()
    hide_replies()
    try:
        with record_warnings() as recorded:
            job = prepare(make_config(**options), data, named=named)
        job = replace(job, notes=(*job.notes, *map(as_note, recorded())))
        result = job.run(_progress_writer(job), keep=False)
    except KeyboardInterrupt:
        return 130
    except (RagassayError, OSError) as error:
        _write(**_facts_of(error))
        return 2
    so_far = _so_far(job, result.summary.n_samples)
    _write(headline=headline_of(result), lacking=_lacking(result), **so_far)
    return 0


def _facts_of(error: RagassayError | OSError) -> dict[str, str]:
    """What clients and the log (the operator) read of an error."""
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(error, LedgerError):
        # Where it is away only, the job begins again when it is back; what was answered is kept.
        problem = "the project's ledger cannot store answers"
        facts = {"error": DISK.format(problem), "log": str(error)}
        return {"unavailable": str(error)} if error.passing else facts
    if isinstance(cause, OSError):
        return {"error": DISK.format(system_problem(cause)), "log": str(error)}
    return {"error": str(error)}


def _lacking(result: Result) -> str | None:
    """What a result lacks, and why, in sentences; ``None`` where it is complete."""
    summaries = [result.summary, *([result.consistency.summary] if result.consistency else [])]
    n = sum(summary.n_missing for summary in summaries)
    lacking = [f"{plural(n, 'score')} {either(n, 'is', 'are')} missing."] if n else []
    metrics = [metric for summary in summaries for metric in summary.metrics.values()]
    for reason, why in _UNABLE.items():
        empty = [
            metric.name for metric in metrics if not metric.n_scored and reason in metric.unscored
        ]
        lacking += [f"No score for {', '.join(empty)}: {why}."] if empty else []
    if is_incomplete(*summaries):
        lacking += result.summary.warnings[:2] or ["Nothing could be scored."]
    return " ".join(lacking) or None


def _progress_writer(job: PreparedRun) -> Callable[[int], None]:
    """Writes how far a run is, now and then."""
    last = 0.0

    def write(done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= SECONDS:
            last = time.monotonic()
            _write(**_so_far(job, done))

    return write


def _so_far(job: PreparedRun, done: int) -> dict[str, Any]:
    """The records that are done, and what was spent; where no price is known, no dollars are."""
    if job.session is None or job.session.asker is None:
        return {"done": done, "calls": 0, "cost": None}
    usage = job.session.asker.usage
    cost = usage.cost if usage.cost or not usage.unpriced else None
    return {"done": done, "calls": usage.calls, "cost": cost}


def _write(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def _end_with_the_worker() -> None:
    while sys.stdin.read(1):
        pass
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    sys.exit(main())
