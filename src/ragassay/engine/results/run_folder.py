"""The run folder: what one evaluation leaves on disk (contract: docs/run-folder.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import yaml
from pydantic import TypeAdapter

from ragassay import files, formats
from ragassay.engine.results import fingerprint
from ragassay.engine.results.result import CONSISTENCY, Result, ScoreColumns, ScoreRow
from ragassay.engine.results.slicing import CONVERSATION_KEYS, Slicer, conversation
from ragassay.engine.results.summary import SCHEMA_VERSION, Slice, Summary
from ragassay.engine.results.verdicts import VerdictFile, damaged, problem_of
from ragassay.errors import InputError, UsageError
from ragassay.extensions import added
from ragassay.formats import to_record
from ragassay.judges import Asked, to_record as verdict_record
from ragassay.samples import Sample
from ragassay.strict import dumps
from ragassay.yaml_files import text_of, value_of

RUN, SAMPLES, SCORES, SUMMARY = "run.yaml", "samples.jsonl", "scores.jsonl", "summary.json"
SLICES = "slices.json"
"""What the summary says of each slice; only in the folders of runs that have slices. Folders of
older runs have it within their summary."""

VERDICTS, NUGGETS, RUBRICS = "verdicts.jsonl", "nuggets.jsonl", "rubrics"
"""Only in the folders of runs that asked a judge, were measured against a nugget bank, or by the
user's own rubrics (copies of their files)."""

IN_CLUSTER = "in "
"""Begins the cluster of a sample that has one by its data, not only by its id."""

NO_CLUSTERS = "none"
"""Value of ``cluster_by`` by which only samples of one query belong together."""

CONTRACT = (RUN, SAMPLES, SCORES, SUMMARY)

ORE = {
    "ore": "TRECEvaluator-eval_results.csv",
    "ore (consistency)": "ConsistencyEvaluator-eval_results.csv",
    "ore (merged)": "eval_results.csv",
    "ore (viewer)": "eval_results.json",
}
"""Open RAG Eval's files, by what we call them."""

REPORTS = {
    "html": "report.html",
    "markdown": "report.md",
    "csv": "scores.csv",
    "long-csv": "scores-long.csv",
    "parquet": "scores.parquet",
    "png": "boxplots.png",
    "svg": "boxplots.svg",
    "distributions": "distributions.svg",
    "ragreport": "ragreport.csv",
    "trecrag": "trecrag.csv",
    "consistency": "consistency.csv",
    "xlsx": "report.xlsx",
    "junit": "junit.xml",
    "badge": "badge.svg",
    **ORE,
}
"""The files of a run folder that are made from its other files, by the format of the report."""


@dataclass(frozen=True)
class ReportFormat:
    """A report that an installed package adds (group ``ragassay.reports``).

    Attributes:
        file_name: of the file in the run folder.
        write: writes the report of a result to a path.
    """

    file_name: str
    write: Callable[[Result, Path], None]


def report_files() -> dict[str, str]:
    """The names of the files of reports, by format; those of installed packages, too."""
    return {**{name: one.file_name for name, one in added("reports").items()}, **REPORTS}


class FolderWriter:
    """Streams samples and scores to disk; the files appear under their names only at the end.

    Use as a context manager; call `replace`, then `finish` inside it. Leaving earlier (an error,
    Ctrl-C) leaves the folder as it was.

    Raises:
        UsageError: the folder cannot be written to, or holds files that are not a run's.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._files = ExitStack()
        self._samples: BinaryIO
        self._scores: BinaryIO
        self._verdicts: BinaryIO | None = None
        self._replaces = False

    def __enter__(self) -> FolderWriter:
        check_target(self.folder)
        self._replaces = (self.folder / RUN).exists()
        self._samples = self._files.enter_context(files.atomic(self.folder / SAMPLES))
        self._scores = self._files.enter_context(files.atomic(self.folder / SCORES))
        return self

    def __exit__(self, *error: Any) -> None:
        self._files.__exit__(*error)

    def add_sample(self, sample: Sample) -> None:
        """Writes one sample."""
        self._samples.write(dump_line(to_record(sample)))

    def add_row(self, row: ScoreRow) -> None:
        """Writes one score."""
        self._scores.write(dump_line(row.to_record()))

    def add_verdict(self, asked: Asked) -> None:
        """Keeps a copy of a verdict. May be called from another thread than the rest."""
        self.add_verdict_record(verdict_record(asked))

    def add_verdict_record(self, record: Mapping[str, Any]) -> None:
        """Keeps a verdict that is a record already."""
        if self._verdicts is None:
            self._verdicts = self._files.enter_context(files.atomic(self.folder / VERDICTS))
        self._verdicts.write(dump_line(record))

    def replace(self) -> None:
        """Deletes what an older run left, its summary first: whatever happens before the end of
        `finish`, nobody can read the folder as a complete run of either.
        """
        if self._replaces:  # in other folders it is somebody else's
            (self.folder / SUMMARY).unlink(missing_ok=True)
            (self.folder / SLICES).unlink(missing_ok=True)
            drop_consistency(self.folder)
            _drop(self.folder, report_files().values())

    def finish(self, config: Mapping[str, Any], summary: Summary) -> None:
        """Completes the folder.

        ``run.yaml`` is written first (it marks the folder as a run's) and ``summary.json`` last: a
        folder that has one is complete.

        Args:
            config: content of ``run.yaml``.
            summary: content of ``summary.json``, its slices that of ``slices.json``.
        """
        resolved = yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True)
        content = summary.to_json()
        slices = content.pop("slices")
        body = dumps(content, indent=True) + b"\n"
        files.write_text(self.folder / RUN, resolved)
        # What an older run left and this one has not; in other folders it is somebody else's.
        if self._replaces and self._verdicts is None:
            (self.folder / VERDICTS).unlink(missing_ok=True)
        if self._replaces and not summary.nuggets and config.get("nuggets") != NUGGETS:
            (self.folder / NUGGETS).unlink(missing_ok=True)
        self._files.close()
        if slices:
            files.write_bytes(self.folder / SLICES, dumps(slices) + b"\n")
        files.write_bytes(self.folder / SUMMARY, body)


def check_target(folder: Path) -> None:
    """Refuses a target that is a file, or a folder with files of other origin under our names."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, not a folder. Give another folder with -o.")
    taken = [name for name in (*CONTRACT, SLICES) if (folder / name).exists()]
    if taken and RUN not in taken:
        raise UsageError(
            f"{folder} already holds {taken[0]}, which is not from ragassay. "
            "Give another folder with -o."
        )


def save_run(result: Result, folder: str | Path) -> Path:
    """Writes a result as a run folder.

    Examples:
        >>> import ragassay
        >>> result = ragassay.evaluate([{"id": "1", "answer": "a", "references": ["a"]}], "em")
        >>> folder = ragassay.save_run(result, "runs/one")  # or result.save("runs/one")
        >>> ragassay.open_run(folder).summary.metrics["em"].mean
        1.0

    Args:
        result: to be written.
        folder: its path.

    Returns:
        The path of the folder.

    Raises:
        UsageError: the folder cannot be written to, or the result kept no scores.
    """
    if result.consistency is not None:
        check_consistency(Path(folder))
    with FolderWriter(folder) as writer:
        for sample in result.samples:
            writer.add_sample(sample)
        for row in result.scores:
            writer.add_row(row)
        for record in result.verdicts:
            writer.add_verdict_record(record)
        writer.replace()
        if result.bank is not None:
            result.bank.write(writer.folder / NUGGETS)
        if result.consistency is not None:
            save_run(result.consistency, writer.folder / CONSISTENCY)
        writer.finish(result.config, result.summary)
    return Path(folder)


def holds_consistency(folder: Path) -> bool:
    """Whether the folder ``consistency`` within a run's belongs to that run. A folder of that name
    that does not is a run by itself, whose metrics are never those of the suite.
    """
    try:
        body = orjson.loads((folder / CONSISTENCY / SUMMARY).read_bytes())
        return bool(body["suite"] == CONSISTENCY and body["metrics"])
    except (OSError, KeyError, TypeError, ValueError):
        return False


def drop_consistency(folder: Path) -> None:
    """Deletes the consistency of an older run in the same folder, so that nobody reads it as this
    run's. Its folder stays if other files are in it.
    """
    inner = folder / CONSISTENCY
    half_dropped = (inner / RUN).is_file() and not (inner / SUMMARY).exists()
    if half_dropped or holds_consistency(folder):
        _drop(inner, (SUMMARY, SLICES, SAMPLES, SCORES, *report_files().values(), RUN))
        with suppress(OSError):
            inner.rmdir()


def _drop(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        (folder / name).unlink(missing_ok=True)


def check_consistency(folder: Path) -> None:
    """Refuses a folder in which the consistency of a run would overwrite another run."""
    inner = folder / CONSISTENCY
    check_target(inner)
    if (inner / SUMMARY).exists() and not holds_consistency(folder):
        raise UsageError(
            f"{inner} holds a run of its own, and what is found of repeated runs would overwrite "
            "it. Give another folder with -o."
        )


def open_run(folder: str | Path) -> Result:
    """The result that a run folder holds.

    Examples:
        >>> import ragassay
        >>> made = ragassay.evaluate([{"id": "1"}], "answer_words", save="runs/opened")
        >>> row = ragassay.open_run("runs/opened").scores[0]
        >>> row.value, row.reason
        (None, 'missing_input')

    Raises:
        InputError: the folder is not a run folder, is damaged, or of a newer contract.
    """
    base = Path(folder)
    if not base.is_dir():
        raise InputError("is not a folder", path=base, hint="Give the -o folder of a run.")
    for name in CONTRACT:
        if not (base / name).is_file():
            raise InputError(
                f"has no {name}",
                path=base,
                hint="It is not a (finished) run folder; 'ragassay run DATA -o DIR' makes one.",
            )
    summary = _read_summary(base / SUMMARY)
    config = _read_config(base / RUN)
    verdicts = VerdictFile(base / VERDICTS)
    columns = _columns(list(summary.metrics), base, config, verdicts)
    return Result(
        summary,
        columns,
        config,
        base,
        partial(read_rows, base),
        partial(read_samples, base),
        verdicts=verdicts,
        _consistency=base / CONSISTENCY if holds_consistency(base) else None,
    )


def read_rows(folder: Path) -> Iterator[ScoreRow]:
    """The scores of a run folder, streamed. Raises `InputError` for a line that is none."""
    return (row for _, row in _numbered_rows(folder))


def read_samples(folder: Path) -> Iterator[Sample]:
    """The samples of a run folder, streamed. Raises `InputError` for a line that is none."""
    return formats.read(folder / SAMPLES, format="jsonl")


def dump_line(record: Mapping[str, Any]) -> bytes:
    """One line of strict JSON."""
    return dumps(record) + b"\n"


def _read_summary(path: Path) -> Summary:
    try:
        body = orjson.loads(path.read_bytes())
        version = body["schema_version"]
        if version > SCHEMA_VERSION:
            raise InputError(
                f"was written by a newer ragassay (contract {version})",
                path=path.parent,
                hint="Upgrade ragassay.",
            )
        if (apart := path.with_name(SLICES)).is_file():
            body["slices"] = _slices(apart)
        return Summary.from_json(body)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"is not a run's summary ({problem_of(error)})", path=path) from error


def _slices(path: Path) -> Any:
    """The content of ``slices.json``."""
    try:
        body = orjson.loads(path.read_bytes())
        TypeAdapter(tuple[Slice, ...]).validate_python(body)
    except ValueError as error:
        raise InputError(f"holds no slices of a run ({problem_of(error)})", path=path) from error
    return body


def _read_config(path: Path) -> dict[str, Any]:
    body = value_of(text_of(path), path)
    if not isinstance(body, dict):
        raise InputError("is not a mapping of keys", path=path)
    return body


def _numbered_rows(folder: Path) -> Iterator[tuple[int, ScoreRow]]:
    path = folder / SCORES
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                row = ScoreRow.from_record(orjson.loads(line))
            except ValueError as error:
                raise InputError(
                    f"is not a score ({problem_of(error)})", path=path, line=number
                ) from error
            yield number, row


def _columns(
    metrics: Sequence[str], folder: Path, config: Mapping[str, Any], verdicts: VerdictFile
) -> ScoreColumns:
    """The columns of a run folder: each sample must have one score for each metric, in order, and
    each score the verdicts that it rests on."""
    columns = ScoreColumns(metrics)
    slicer = Slicer(config.get("slice_by"))
    clusters: list[str] = []
    column = cluster_column(config)
    rows = _numbered_rows(folder)
    number = 0
    for sample in read_samples(folder):
        columns.identities.append(sample.identity)
        columns.asked.append(fingerprint.of_sample(sample))
        slicer.add(sample)
        clusters.append(cluster_of(sample, column))
        for metric in metrics:
            number, row = next(rows, (number + 1, None))
            if row is None or row.metric != metric or row.identity != sample.identity:
                problem = f"the score of {metric} for sample {sample.id!r} should stand here"
                raise damaged(problem, folder / SCORES, number)
            lost = next((one for one in row.evidence if one not in verdicts), None)
            if lost is not None:
                problem = f"rests on the verdict {lost!r}, which {VERDICTS} does not hold"
                raise damaged(problem, folder / SCORES, number)
            columns.add(metric, row.outcome, row.judge)
    for number, _ in rows:
        raise InputError(
            f"there is no sample for this score in {SAMPLES}", path=folder / SCORES, line=number
        )
    columns.slices = slicer.columns()
    columns.clusters = None if column is None else clusters
    return columns


def cluster_column(config: Mapping[str, Any]) -> str | None:
    """The column that a run is clustered by; ``None`` where it is not.

    Args:
        config: of the run, as in ``run.yaml``.
    """
    column = config.get("cluster_by")
    return None if column in (None, "", NO_CLUSTERS) else str(column)


def cluster_of(sample: Sample, column: str | None) -> str:
    """The cluster that a sample belongs to; its own id where it has none.

    Args:
        sample: of the run.
        column: that the run is clustered by, if it is.
    """
    if column in CONVERSATION_KEYS:
        name = conversation(sample)
    else:
        value = sample.metadata.get(column or "")
        name = None if value is None else str(value)
    return f"id {sample.id}" if name is None else f"{IN_CLUSTER}{name}"
