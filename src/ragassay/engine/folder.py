"""The run folder: what one evaluation leaves on disk (contract: docs/run-folder.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import orjson
import yaml

from ragassay import files, formats
from ragassay.engine.results import Result, ScoreColumns, ScoreRow
from ragassay.engine.slicing import CONVERSATION_KEYS, Slicer, conversation
from ragassay.engine.summary import SCHEMA_VERSION, Summary
from ragassay.errors import InputError, UsageError
from ragassay.formats.native import to_record
from ragassay.samples import Sample
from ragassay.scores import Outcome
from ragassay.strict import dumps

RUN, SAMPLES, SCORES, SUMMARY = "run.yaml", "samples.jsonl", "scores.jsonl", "summary.json"
CONTRACT = (RUN, SAMPLES, SCORES, SUMMARY)


class FolderWriter:
    """Streams samples and scores to disk; the files appear under their names only at the end.

    Use as a context manager; call `finish` inside it. Leaving early (an error, Ctrl-C) leaves the
    folder as it was.

    Raises:
        UsageError: the folder cannot be written to, or holds files that are not a run's.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._files = ExitStack()
        self._samples: BinaryIO
        self._scores: BinaryIO

    def __enter__(self) -> FolderWriter:
        check_target(self.folder)
        self._samples = self._files.enter_context(files.atomic(self.folder / SAMPLES))
        self._scores = self._files.enter_context(files.atomic(self.folder / SCORES))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._files.__exit__(kind, error, trace)

    def add(
        self, samples: Sequence[Sample], names: Sequence[str], outcomes: Sequence[Sequence[Outcome]]
    ) -> None:
        """Writes a window's samples and scores."""
        self._samples.write(b"".join(dump_line(to_record(sample)) for sample in samples))
        self._scores.write(
            b"".join(
                dump_line(score_record(ScoreRow.of(sample.identity, name, column[at])))
                for at, sample in enumerate(samples)
                for name, column in zip(names, outcomes, strict=True)
            )
        )

    def finish(self, config: Mapping[str, Any], summary: Summary) -> None:
        """Completes the folder: the streamed files get their names, then summary and config."""
        self._files.close()
        write_summary(self.folder, summary)
        write_config(self.folder, config)


def check_target(folder: Path) -> None:
    """Refuses a target that is a file, or a folder with files of other origin under our names."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, not a folder. Give another folder with -o.")
    taken = [name for name in CONTRACT if (folder / name).exists()]
    if taken and RUN not in taken:
        raise UsageError(
            f"{folder} already holds {taken[0]}, which is not from ragassay. "
            "Give another folder with -o."
        )


def save(result: Result, folder: str | Path) -> Path:
    """Writes a result that is in memory as a run folder, and returns the folder."""
    target = Path(folder)
    check_target(target)
    with files.atomic(target / SAMPLES) as stream:
        for sample in result.samples:
            stream.write(dump_line(to_record(sample)))
    with files.atomic(target / SCORES) as stream:
        for row in result.scores:
            stream.write(dump_line(score_record(row)))
    write_summary(target, result.summary)
    write_config(target, result.config)
    return target


def open_run(folder: str | Path) -> Result:
    """The result that a run folder holds.

    Raises:
        InputError: the folder is not a run folder, is incomplete, or of a newer contract.
    """
    base = Path(folder)
    if not base.is_dir():
        raise InputError("is not a folder", path=base, hint="Give the -o folder of a run.")
    for name in CONTRACT:
        if not (base / name).is_file():
            raise InputError(
                f"has no {name}",
                path=base,
                hint="It is not a run folder; 'ragassay run DATA -o DIR' makes one.",
            )
    summary = Summary.from_json(orjson.loads((base / SUMMARY).read_bytes()))
    if summary.schema_version > SCHEMA_VERSION:
        raise InputError(
            f"was written by a newer ragassay (contract {summary.schema_version})",
            path=base,
            hint="Upgrade ragassay.",
        )
    config: dict[str, Any] = yaml.safe_load((base / RUN).read_text(encoding="utf-8"))

    columns = _columns(list(summary.metrics), base, config)
    return Result(
        summary, columns, config, base, partial(read_rows, base), partial(read_samples, base)
    )


def read_rows(folder: Path) -> Iterator[ScoreRow]:
    """The scores of a run folder, streamed. Raises `InputError` for a line that is none."""
    path = folder / SCORES
    for number, line in _lines(path):
        try:
            yield ScoreRow(**orjson.loads(line))
        except (TypeError, ValueError) as error:
            raise InputError(f"is not a score ({error})", path=path, line=number) from error


def read_samples(folder: Path) -> Iterator[Sample]:
    """The samples of a run folder, streamed. Raises `InputError` for a line that is none."""
    return formats.read(folder / SAMPLES, format="jsonl")


def score_record(row: ScoreRow) -> dict[str, Any]:
    """A row as one line of ``scores.jsonl``."""
    return {
        "sample": row.sample,
        "system": row.system,
        "repeat": row.repeat,
        "metric": row.metric,
        "value": row.value,
        "status": row.status,
        "reason": row.reason,
        "explanation": row.explanation,
        "parts": row.parts,
    }


def dump_line(record: Mapping[str, Any]) -> bytes:
    """One line of strict JSON."""
    return dumps(record) + b"\n"


def write_summary(folder: Path, summary: Summary) -> None:
    """Writes ``summary.json``."""
    body = orjson.dumps(summary.to_json(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    files.write_bytes(folder / SUMMARY, body)


def write_config(folder: Path, config: Mapping[str, Any]) -> None:
    """Writes ``run.yaml``."""
    body = yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True)
    files.write_text(folder / RUN, body)


def _columns(metrics: Sequence[str], folder: Path, config: Mapping[str, Any]) -> ScoreColumns:
    columns = ScoreColumns(metrics)
    for row in read_rows(folder):
        columns.add(row.metric, row.outcome)
    slicer = Slicer(config.get("slice_by"))
    clusters: list[str] = []
    for sample in read_samples(folder):
        columns.identities.append(sample.identity)
        slicer.add(sample)
        clusters.append(cluster_of(sample, config.get("cluster_by")))
    columns.slices = slicer.columns()
    columns.clusters = clusters if config.get("cluster_by") else None
    return columns


def cluster_of(sample: Sample, column: str | None) -> str:
    """The cluster that a sample belongs to under ``cluster_by``; its own id where it has none."""
    if column in CONVERSATION_KEYS:
        found = conversation(sample)
    else:
        value = sample.metadata.get(column or "")
        found = None if value is None else str(value)
    return f"id {sample.id}" if found is None else f"in {found}"


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as stream:
        yield from enumerate(stream, start=1)
