"""Makes a file of large reports in a process of its own: it would hold the server's other requests
up, and its memory is given back when it ends.

``python -m ragassay.service.views.apart`` reads JSON: the store, a function of ragassay and its
arguments. It writes the name of the file in a line of JSON, then its content. Where it cannot, it
exits with 2 (3 where the store is away) and says why.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from ragassay.errors import RagassayError
from ragassay.service.store import Store, StoreUnavailable, WrittenFile, get_report

LARGE = 5_000
"""Records of reports from which a process is worth the second that it takes to start."""

_TURNS = threading.BoundedSemaphore(2)
"""So many processes at a time: each may take half a gigabyte."""


def made_apart(
    make: Callable[..., WrittenFile], store: Store, *reports: str, **arguments: Any
) -> WrittenFile:
    """What a function makes of reports; a process of its own runs it where they are large.

    Args:
        make: a function of a module, which takes the rest.
        store: where.
        reports: their ids.
        arguments: values that JSON has.

    Raises:
        NotThere: there is no such report.
        RagassayError: as the function raises it.
    """
    headlines = [get_report(store, key).headline or {} for key in reports]
    n = sum(max((one["n_total"] for one in found.values()), default=0) for found in headlines)
    if n < LARGE:
        return make(store, *reports, **arguments)
    asked = [store.address, make.__module__, make.__name__, reports, arguments]
    with _TURNS:
        done = subprocess.run(
            [sys.executable, "-m", "ragassay.service.views.apart"],
            input=json.dumps(asked).encode(),
            capture_output=True,
            check=False,
        )
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().splitlines()
        error = StoreUnavailable if done.returncode == 3 else RagassayError
        raise error(told[-1] if told else "The process that made it died (memory?).")
    name, _, content = done.stdout.partition(b"\n")
    return WrittenFile(json.loads(name), content)


def main() -> int:
    """Does what standard input asks; the exit code."""
    address, module, name, reports, arguments = json.load(sys.stdin)
    try:
        make: Callable[..., WrittenFile] = getattr(importlib.import_module(module), name)
        made = make(Store(address), *reports, **arguments)
    except RagassayError as error:
        sys.stderr.write(str(error))
        return 3 if isinstance(error, StoreUnavailable) else 2
    sys.stdout.buffer.write(json.dumps(made.name).encode() + b"\n" + made.content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
