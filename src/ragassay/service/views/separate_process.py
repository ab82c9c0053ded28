"""Makes files and views of large reports, and reads uploaded runs, in a process of its own: the
server's other requests do not wait for it, and its memory is given back when it ends.

``python -m ragassay.service.views.separate_process`` reads JSON: a function of ragassay and its
arguments. It writes the bytes that the function returns. Where it cannot, it exits with 2 (3 where
the store is away) and says why.
"""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ragassay.base.errors import RagassayError
from ragassay.service.store.store_errors import StoreUnavailable

if TYPE_CHECKING:
    from ragassay.service.store.database import Store
    from ragassay.service.store.report_files import WrittenFile

LARGE = 5_000
"""Records of reports from which a process is worth the second that it takes to start."""

_SLOTS = threading.BoundedSemaphore(2)
"""So many processes at a time: each may take half a gigabyte."""


def make_file(
    make: Callable[..., WrittenFile], store: Store, *reports: str, **arguments: Any
) -> WrittenFile:
    """The file that a function makes of reports; a process of its own runs it where they are large.

    Args:
        make: a function of a module, called with the store, the ids and the arguments.
        store: that has the reports.
        reports: their ids.
        arguments: values that JSON has.

    Raises:
        NotThere: there is no such report.
        RagassayError: as the function raises it.
    """
    from ragassay.service.store.report_files import WrittenFile
    from ragassay.service.store.reports import get_report

    headlines = [get_report(store, key).headline or {} for key in reports]
    n = sum(max((one["n_total"] for one in metrics.values()), default=0) for metrics in headlines)
    if n < LARGE:
        return make(store, *reports, **arguments)
    with _SLOTS:
        output = run_in_process(
            _named_content,
            *(store.address, make.__module__, make.__name__, reports, arguments),
            died="The process that made it died (memory?).",
        )
    name, _, content = output.partition(b"\n")
    return WrittenFile(json.loads(name), content)


def _named_content(address: str, module: str, name: str, reports: Any, arguments: Any) -> bytes:
    """The file that a function makes of reports: its name in a line of JSON, then its content."""
    from ragassay.service.store.database import Store

    file = getattr(importlib.import_module(module), name)(Store(address), *reports, **arguments)
    return json.dumps(file.name).encode() + b"\n" + bytes(file.content)


def repacked_apart(archive: IO[bytes]) -> tuple[bytes, dict[str, Any]]:
    """The same as `repacked_run`, in a process of its own: what an archive holds may be a thousand
    times as large as it.

    Args:
        archive: of a run folder.

    Raises:
        RagassayError: see `repacked_run`.
    """
    with _SLOTS, tempfile.TemporaryDirectory(prefix="ragassay-upload-") as folder:
        sent, kept = Path(folder) / "sent", Path(folder) / "run.zip"
        with sent.open("wb") as out:
            shutil.copyfileobj(archive, out)
        died = "This is no run folder that can be read (too large?)."
        headline = run_in_process(_repacked_file, str(sent), str(kept), died=died)
        return kept.read_bytes(), json.loads(headline)


def _repacked_file(sent: str, kept: str) -> bytes:
    """The headline of a run folder in a file; it is packed into another file."""
    from ragassay.service.store.run_archives import repacked_run

    with Path(sent).open("rb") as archive:
        content, headline = repacked_run(archive)
    Path(kept).write_bytes(content)
    return json.dumps(headline).encode()


def run_in_process(function: Callable[..., bytes | None], *arguments: Any, died: str) -> bytes:
    """What a function of a module returns; a process of its own runs it.

    Args:
        function: of a module.
        arguments: values that JSON has.
        died: the sentence for a process that ends without one.

    Raises:
        RagassayError: as the function raises it.
    """
    call = [function.__module__, function.__name__, arguments]
    process = subprocess.run(
        [sys.executable, "-m", "ragassay.service.views.separate_process"],
        input=json.dumps(call).encode(),
        capture_output=True,
        check=False,
    )
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
    sys.stdout.buffer.write(output or b"")
    return 0


if __name__ == "__main__":
    sys.exit(main())
