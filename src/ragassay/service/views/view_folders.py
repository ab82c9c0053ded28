"""The views on this machine: each is made when it is first opened, and deleted with its report."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

from ragassay.base.errors import RagassayError
from ragassay.client.archives import unpack
from ragassay.service.store.database import Store
from ragassay.service.store.report_files import report_facts, write_report
from ragassay.service.store.reports import run_archive, run_kept
from ragassay.service.store.store_errors import Conflict, NotThere
from ragassay.service.views.report_view import PIECES, RUN, ReportView, build_view
from ragassay.service.views.separate_process import make_file, run_in_process

HALF_MADE_S = 3_600.0
"""Seconds after which an unfinished view is taken to be abandoned."""


class Views:
    """Views of the reports of a store, one folder a report. A report must be there and finished."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store, self._folder = store, folder
        self._making: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def open(self, report: str) -> ReportView:
        """The view of a finished report."""
        with self._making[report]:
            target = self._place(report)
            if not (target / PIECES).exists():
                self._make(report, target)
        return ReportView(target)

    def file(self, report: str, form: str) -> bytes:
        """A report as a file, which is made once (others wait for it) and kept with its view."""
        self.open(report)
        kept = self._place(report) / f"report.{form}"
        with self._making[str(kept)]:
            if not kept.exists():
                part = kept.with_name(f"{kept.name}.part")
                part.write_bytes(make_file(write_report, self._store, report, form=form))
                part.replace(kept)
        return kept.read_bytes()

    def sweep(self) -> None:
        """Deletes views of reports that were deleted or tried again, and those left half made."""
        for path in self._folder.glob("*"):
            if path.name.count("-") and time.time() - path.stat().st_mtime < HALF_MADE_S:
                continue  # it may be in the making
            with suppress(NotThere, Conflict):
                if path == self._place(path.name.partition("@")[0]):
                    continue
            shutil.rmtree(path, ignore_errors=True)

    def _place(self, report: str) -> Path:
        """The folder of a report's view: another one where another try has made its run folder, or
        an older version (2: with answers) the view."""
        return self._folder / f"{report}@2_{run_kept(self._store, report):.3f}"

    def _make(self, report: str, target: Path) -> None:
        facts, archive = report_facts(self._store, report), run_archive(self._store, report)
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        made = Path(tempfile.mkdtemp(prefix=f"{report}-", dir=self._folder))
        try:
            unpack(archive, made / RUN)
            run_in_process(build_view, str(made), report, facts, died="the process died (memory?)")
            shutil.rmtree(target, ignore_errors=True)
            with suppress(OSError):  # another process may have been faster
                made.rename(target)
        except RagassayError as error:
            problem = str(error).replace(f"{made / RUN}", "its run folder")
            raise RagassayError(f"The report cannot be shown: {problem}") from error
        finally:
            shutil.rmtree(made, ignore_errors=True)
