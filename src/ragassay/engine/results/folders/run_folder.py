"""The run folder: what one evaluation leaves on disk (contract: docs/run-folder.md). Errors in
reading it name the file and the line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import yaml
from pydantic import BaseModel, TypeAdapter

from ragassay.base import files
from ragassay.base.errors import InputError, UsageError, did_you_mean
from ragassay.base.json_data import dumps
from ragassay.base.packages import added
from ragassay.base.sample import Sample
from ragassay.base.yaml_files import text_of, value_of
from ragassay.engine.results.judge_answers import (
    DAMAGED,
    AnswerFile,
    Record,
    problem_of,
    read_lines,
)
from ragassay.engine.results.result import CONSISTENCY, Result
from ragassay.engine.results.score_columns import SampleColumns, ScoreColumns
from ragassay.engine.results.score_rows import ScoreRow
from ragassay.engine.results.summary import SCHEMA_VERSION, Slice, Summary
from ragassay.formats import native, to_record

RUN, SAMPLES, SCORES, SUMMARY = "run.yaml", "samples.jsonl", "scores.jsonl", "summary.json"
SLICES = "slices.json"
"""The slices of the summary; only in the folders of runs that have slices. Folders of older runs
have them in ``summary.json``."""

JUDGE_ANSWERS, NUGGETS, RUBRICS = "judge_answers.jsonl", "nuggets.jsonl", "rubrics"
"""Only in the folders of runs that asked a judge, were measured against a nugget bank, or by the
user's own rubrics (copies of their files)."""

CONTRACT = (RUN, SAMPLES, SCORES, SUMMARY)

ORE = {
    "ore": "TRECEvaluator-eval_results.csv",
    "ore (consistency)": "ConsistencyEvaluator-eval_results.csv",
    "ore (merged)": "eval_results.csv",
    "ore (viewer)": "eval_results.json",
}
"""Open RAG Eval's files, by the name of the report format."""

REPORTS = {
    "html": "report.html", "markdown": "report.md", "csv": "scores.csv",
    "long-csv": "scores-long.csv", "parquet": "scores.parquet", "png": "boxplots.png",
    "svg": "boxplots.svg", "ragreport": "ragreport.csv", "trecrag": "trecrag.csv",
    "consistency": "consistency.csv", "xlsx": "report.xlsx", "junit": "junit.xml", **ORE,
}  # fmt: skip
"""The file names of the reports of a run folder, by the format of the report."""


@dataclass(frozen=True)
class ReportFormat:
    """A format of reports that an installed package adds (group ``ragassay.reports``).

    Attributes:
        file_name: of the file in the run folder.
        write: writes the report of a result to a path."""

    file_name: str
    write: Callable[[Result, Path], None]


def report_files() -> dict[str, str]:
    """The file names of reports by format, those of installed packages included."""
    return {**{name: value.file_name for name, value in added("reports").items()}, **REPORTS}


class FolderWriter:
    """Streams samples and scores to disk; the files appear under their names only at the end.

    Use as a context manager; call `replace`, then `finish` inside it. Leaving earlier (an error,
    Ctrl-C) leaves the folder as it was."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._files = ExitStack()
        self._answers: BinaryIO | None = None
        self._replaces = False

    def __enter__(self) -> FolderWriter:
        check_target(self.folder)
        self._replaces = (self.folder / RUN).exists()
        self._samples = self._files.enter_context(files.atomic(self.folder / SAMPLES))
        self._scores = self._files.enter_context(files.atomic(self.folder / SCORES))
        return self

    def __exit__(self, *error: Any) -> None:
        self._files.__exit__(*error)

    def add(self, samples: Iterable[Sample], rows: Iterable[ScoreRow]) -> None:
        """Writes samples and scores."""
        for sample in samples:
            self._samples.write(dumps(to_record(sample)) + b"\n")
        for row in rows:
            self._scores.write(dumps(row.to_record()) + b"\n")

    def add_answer(self, record: Record) -> None:
        """Keeps an answer of the judge. May be called from another thread than the rest."""
        if self._answers is None:
            self._answers = self._files.enter_context(files.atomic(self.folder / JUDGE_ANSWERS))
        self._answers.write(dumps(record) + b"\n")

    def replace(self) -> None:
        """Deletes the files of an older run, its summary first: if this run is interrupted before
        the end of `finish`, the folder cannot be read as a complete run of either."""
        if self._replaces:  # in other folders such files are not of ragassay
            _drop(self.folder, (SUMMARY, SLICES))
            inner = self.folder / CONSISTENCY
            half_dropped = (inner / RUN).is_file() and not (inner / SUMMARY).exists()
            if half_dropped or holds_consistency(self.folder):
                _drop(inner, (SUMMARY, SLICES, SAMPLES, SCORES, *report_files().values(), RUN))
                with suppress(OSError):  # it stays if other files are in it
                    inner.rmdir()
            _drop(self.folder, report_files().values())

    def finish(self, config: Mapping[str, Any], summary: Summary) -> None:
        """Completes the folder.

        ``run.yaml`` is written first (it marks the folder as a run's) and ``summary.json`` last: a
        folder that has one is complete."""
        resolved = yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True)
        content = summary.to_json()
        slices = content.pop("slices")
        body = dumps(content, indent=True) + b"\n"
        files.write_text(self.folder / RUN, resolved)
        # Files of an older run that this one does not write.
        has_nuggets = summary.nuggets or config.get("nuggets") == NUGGETS
        stale = [JUDGE_ANSWERS] * (self._answers is None) + [NUGGETS] * (not has_nuggets)
        _drop(self.folder, stale if self._replaces else ())
        self._files.close()
        if slices:
            files.write_bytes(self.folder / SLICES, dumps(slices) + b"\n")
        files.write_bytes(self.folder / SUMMARY, body)


def check_target(folder: Path) -> None:
    """Refuses a target that is a file, or a folder with files of other origin under our names."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, not a folder. Give another folder with -o.")
    existing = [name for name in (*CONTRACT, SLICES) if (folder / name).exists()]
    if existing and RUN not in existing:
        raise UsageError(
            f"{folder} already holds {existing[0]}, which is not from ragassay. "
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
        writer.add(result.samples, result.scores)
        for record in result.judge_answers.values():
            writer.add_answer(record)
        writer.replace()
        if result.bank is not None:
            result.bank.write(writer.folder / NUGGETS)
        if result.consistency is not None:
            save_run(result.consistency, writer.folder / CONSISTENCY)
        writer.finish(result.config, result.summary)
    return Path(folder)


def holds_consistency(folder: Path) -> bool:
    """Whether the folder ``consistency`` in a run folder belongs to that run. Else it is a run of
    its own, whose metrics are never those of the suite."""
    try:
        body = orjson.loads((folder / CONSISTENCY / SUMMARY).read_bytes())
        return bool(body["suite"] == CONSISTENCY and body["metrics"])
    except (OSError, KeyError, TypeError, ValueError):
        return False


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
        InputError: the folder is not a run folder, is damaged, or from a newer version.
    """
    base = Path(folder)
    if not base.is_dir():
        problem = "is a file" if base.exists() else "there is no such file or folder"
        near = "" if base.exists() else did_you_mean(str(base), map(str, base.parent.glob("*")))
        hint = f"{near} Give the folder of a run (its -o); 'compare' takes files of answers, too."
        raise InputError(problem, path=base, hint=hint)
    for name in CONTRACT:
        if not (base / name).is_file():
            raise InputError(
                f"has no {name}",
                path=base,
                hint="It is not a finished run folder. 'ragassay run DATA -o DIR' makes one.",
            )
    summary = _read_summary(base / SUMMARY)
    with _refused(base / RUN, "a configuration"):
        config: dict[str, Any] = dict(value_of(text_of(base / RUN), base / RUN))
        _Lists.model_validate(config)
    answers = AnswerFile(base / JUDGE_ANSWERS)
    columns = _columns(summary, base, config, answers)
    reading = partial(read_rows, base), partial(read_samples, base)
    inner = base / CONSISTENCY if holds_consistency(base) else None
    return Result(
        summary, columns, config, base, *reading, judge_answers=answers, _consistency=inner
    )


def read_rows(folder: Path) -> Iterator[ScoreRow]:
    """The scores of a run folder, streamed. Raises `InputError` for a line that is none."""
    return (row for *_, row in read_lines(folder / SCORES, ScoreRow.from_record, "a score"))


def read_samples(folder: Path) -> Iterator[Sample]:
    """The samples of a run folder, streamed. Raises `InputError` for a line that is none."""
    return (sample for *_, sample in read_lines(folder / SAMPLES, native.from_record, "a sample"))


@contextmanager
def _refused(path: Path, noun: str) -> Iterator[None]:
    """Names the file and its first mistake where its content is not of the form."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"is not {noun} ({problem_of(error)})", path=path) from error


def _read_summary(path: Path) -> Summary:
    with _refused(path, "a run's summary"):
        body = dict(orjson.loads(path.read_bytes()))
        if int(body["schema_version"]) > SCHEMA_VERSION:
            raise InputError(
                f"was written by a newer ragassay (contract {body['schema_version']})",
                path=path.parent,
                hint="Upgrade ragassay.",
            )
        slices = path.with_name(SLICES)
        if slices.is_file():
            with _refused(slices, "a list of slices of a run"):
                body["slices"] = orjson.loads(slices.read_bytes())
                TypeAdapter(tuple[Slice, ...]).validate_python(body["slices"])
        return Summary.from_json(body)


class _Lists(BaseModel):
    """What is read of a ``run.yaml`` that a person may have changed."""

    suite: list[str] = []
    metrics: list[str] = []
    fail_under: list[str] = []


def _columns(
    summary: Summary, folder: Path, config: Mapping[str, Any], answers: AnswerFile
) -> ScoreColumns:
    """The columns of a run folder: each sample must have one score for each metric, in order, and
    each score the answers that it rests on."""
    columns = ScoreColumns(summary.metrics)
    collected = SampleColumns(columns, config.get("slice_by"), config.get("cluster_by"))
    path, number = folder / SCORES, 0
    rows = read_lines(path, ScoreRow.from_record, "a score")
    for sample in read_samples(folder):
        collected.add(sample)
        for metric in summary.metrics:
            number, _, row = next(rows, (number + 1, 0, None))
            if row is None or row.metric != metric or row.identity != sample.identity:
                problem = f"the score of {metric} for sample {sample.id!r} should be here"
                raise InputError(problem, path=path, line=number, hint=DAMAGED)
            lost = next((name for name in row.evidence if name not in answers), None)
            if lost is not None:
                problem = f"rests on the answer {lost!r}, which {JUDGE_ANSWERS} does not hold"
                raise InputError(problem, path=path, line=number, hint=DAMAGED)
            columns.add(metric, row.outcome, row.judge)
    for number, *_ in rows:
        raise InputError(f"there is no sample for this score in {SAMPLES}", path=path, line=number)
    collected.close(clustered=collected.column is not None)
    return columns
