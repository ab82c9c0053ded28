"""Run folders of reports, packed and read. It imports no database: report processes use it."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import yaml

from ragassay.base import files
from ragassay.base.errors import InputError
from ragassay.client.archives import pack, unpack
from ragassay.client.service_shapes import MOST_READ_WHOLE
from ragassay.engine.config.run_config import RunConfig, options_of
from ragassay.engine.results import Result, open_run
from ragassay.engine.results.folders.run_folder import RUN, SAMPLES, SUMMARY
from ragassay.formats.sources import opening


def detach_run(folder: Path) -> None:
    """Makes a run folder name nothing outside of it: its data are its own samples."""
    for path in folder.rglob(RUN):
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
        config["data"] = os.path.relpath(folder / SAMPLES, path.parent)
        config.pop("ledger", None)
        files.write_text(path, yaml.safe_dump(config, sort_keys=False, allow_unicode=True))


@contextmanager
def opened_archive(archive: bytes | IO[bytes], name: str = "run") -> Iterator[Result]:
    """The result in an archive of a run folder, under a name, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="ragassay-run-") as outer:
        # A run is called by its folder.
        shown = re.sub(r"[^\w ()-]", "_", name)[:60].strip()
        folder = Path(outer) / (shown or "run")
        folder.mkdir()
        unpack(archive, folder)
        within = [path.parent for path in folder.glob(f"*/{SUMMARY}")]
        base = within[0] if len(within) == 1 and not (folder / SUMMARY).exists() else folder
        try:
            result = open_run(base)
        except InputError as error:
            place = Path(str(error.path)).relative_to(base) if error.path else Path()
            where = "the archive" if place == Path() else str(place)
            problem = error.problem.replace(str(base), "the archive")
            raise error.but(problem=problem, path=where) from error
        yield result


def repack_run(sent: str | Path, kept: str | Path) -> dict[str, Any]:
    """Checks an archive of a run folder from elsewhere, and packs it again; its headline."""
    within = opening.pieces_within(MOST_READ_WHOLE)
    with Path(sent).open("rb") as archive, within, opened_archive(archive) as result:
        assert result.folder is not None
        pack(result.folder, Path(kept))
        return headline_of(result)


def headline_of(result: Result) -> dict[str, Any]:
    """What lists of reports show of a result, by metric."""
    shown = (
        "mean", "low", "high", "n_scored", "n_total", "n_assumed", "mean_measured", "signature",
    )  # fmt: skip
    systems = result.columns.systems
    of = {"n_systems": len(systems), "system": systems[0] if len(systems) == 1 else ""}
    return {
        name: {key: getattr(metric, key) for key in shown} | of
        for name, metric in result.summary.metrics.items()
    }


def as_report(result: Result, facts: Mapping[str, str]) -> Result:
    """A result with the facts of its report in its title and configuration, without paths."""
    paths = {name for name, option in options_of(RunConfig).items() if option.path is not None}
    config = {name: value for name, value in result.config.items() if name not in paths}
    summary = replace(result.summary, title=facts["report"])
    return replace(result, summary=summary, config={**facts, **config, **facts})
