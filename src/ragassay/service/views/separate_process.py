"""Makes files and views of large reports, and reads uploaded runs, in a process of its own, whose
memory is given back when it ends.

``python -m ragassay.service.views.separate_process`` reads JSON: a function of ragassay and its
arguments. It writes the bytes that the function returns, or its value as JSON. Where it cannot, it
exits with 2 (3 where the store is away) and says why."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ragassay.base.errors import RagassayError
from ragassay.service.store.run_archives import repack_run
from ragassay.service.store.store_errors import StoreUnavailable

if TYPE_CHECKING:
    from ragassay.service.store.database import Store

LARGE = 5_000
"""Records of reports from which a process is worth the second that it takes to start."""

_SLOTS = threading.BoundedSemaphore(2)
"""So many processes at a time: each may take half a gigabyte."""


def make_file(make: Callable[..., bytes], store: Store, *reports: str, **arguments: Any) -> bytes:
    """The file that a function makes of reports, in a process of its own where these are large."""
    from ragassay.service.store.reports import get_report

    headlines = [get_report(store, key).headline or {} for key in reports]
    n = sum(max((metric["n_total"] for metric in each.values()), default=0) for each in headlines)
    if n < LARGE:
        return make(store, *reports, **arguments)
    call = (store.address, make.__module__, make.__name__, reports, arguments)
    return run_in_process(_made, *call, died="The process that made it died (memory?).")


def _made(address: str, module: str, name: str, reports: Any, arguments: Any) -> Any:
    from ragassay.service.store.database import Store

    return getattr(importlib.import_module(module), name)(Store(address), *reports, **arguments)


def repack_apart(sent: str, kept: str) -> dict[str, Any]:
    """`repack_run` in a process of its own: an archive may hold a thousand times its size."""
    died = "This run folder cannot be read (too large?)."
    headline: dict[str, Any] = json.loads(run_in_process(repack_run, sent, kept, died=died))
    return headline


def run_in_process(function: Callable[..., Any], *arguments: Any, died: str) -> bytes:
    """What a function returns in a process of its own; ``died`` is said where it says nothing."""
    call = [function.__module__, function.__name__, arguments]
    with _SLOTS:
        words = [sys.executable, "-m", "ragassay.service.views.separate_process"]
        sent = json.dumps(call).encode()
        process = subprocess.run(words, input=sent, capture_output=True, check=False)
    if process.returncode:
        lines = process.stderr.decode("utf-8", "replace").strip().splitlines()
        error = StoreUnavailable if process.returncode == 3 else RagassayError
        raise error(lines[-1] if lines else died)
    return process.stdout


def main() -> int:
    """Calls the function that standard input names; the exit code."""
    module, name, arguments = json.load(sys.stdin)
    try:
        output = getattr(importlib.import_module(module), name)(*arguments)
    except RagassayError as error:
        sys.stderr.write(str(error))
        return 3 if isinstance(error, StoreUnavailable) else 2
    sys.stdout.buffer.write(output if isinstance(output, bytes) else json.dumps(output).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
