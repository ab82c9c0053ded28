"""Reads a run folder; errors name the file and the line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, TypeAdapter

from ragassay.base.errors import InputError
from ragassay.base.sample import Sample
from ragassay.base.yaml_files import text_of, value_of
from ragassay.engine.results.folders.run_folder import (
    CONTRACT,
    JUDGE_ANSWERS,
    RUN,
    SAMPLES,
    SCORES,
    SLICES,
    SUMMARY,
    holds_consistency,
)
from ragassay.engine.results.judge_answers import AnswerFile, damaged, problem_of, read_lines
from ragassay.engine.results.result import CONSISTENCY, Result
from ragassay.engine.results.score_columns import ScoreColumns
from ragassay.engine.results.score_rows import ScoreRow
from ragassay.engine.results.slicing import Slicer, cluster_column, cluster_of
from ragassay.engine.results.summary import SCHEMA_VERSION, Slice, Summary
from ragassay.formats import native


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
        problem = "is a file" if base.exists() else "there is no such folder"
        raise InputError(problem, path=base, hint="Give the folder of a run (its -o).")
    for name in CONTRACT:
        if not (base / name).is_file():
            raise InputError(
                f"has no {name}",
                path=base,
                hint="It is not a (finished) run folder; 'ragassay run DATA -o DIR' makes one.",
            )
    summary = _read_summary(base / SUMMARY)
    with _refused(base / RUN, "a configuration"):
        config: dict[str, Any] = dict(value_of(text_of(base / RUN), base / RUN))
        _Lists.model_validate(config)
    answers = AnswerFile(base / JUDGE_ANSWERS)
    return Result(
        summary,
        _columns(summary, base, config, answers),
        config,
        base,
        partial(read_rows, base),
        partial(read_samples, base),
        judge_answers=answers,
        _consistency=base / CONSISTENCY if holds_consistency(base) else None,
    )


def read_rows(folder: Path) -> Iterator[ScoreRow]:
    """The scores of a run folder, streamed. Raises `InputError` for a line that is none."""
    return (row for *_, row in read_lines(folder / SCORES, ScoreRow.from_record, "a score"))


def read_samples(folder: Path) -> Iterator[Sample]:
    """The samples of a run folder, streamed. Raises `InputError` for a line that is none."""
    return (one for *_, one in read_lines(folder / SAMPLES, native.from_record, "a sample"))


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
    slicer = Slicer(config.get("slice_by"))
    clusters: list[str] = []
    column = cluster_column(config.get("cluster_by"))
    path, number = folder / SCORES, 0
    rows = read_lines(path, ScoreRow.from_record, "a score")
    for sample in read_samples(folder):
        columns.add_sample(sample)
        slicer.add(sample)
        clusters.append(cluster_of(sample, column))
        for metric in summary.metrics:
            number, _, row = next(rows, (number + 1, 0, None))
            if row is None or row.metric != metric or row.identity != sample.identity:
                problem = f"the score of {metric} for sample {sample.id!r} should stand here"
                raise damaged(problem, path, number)
            lost = next((name for name in row.evidence if name not in answers), None)
            if lost is not None:
                problem = f"rests on the answer {lost!r}, which {JUDGE_ANSWERS} does not hold"
                raise damaged(problem, path, number)
            columns.add(metric, row.outcome, row.judge)
    for number, *_ in rows:
        raise InputError(f"there is no sample for this score in {SAMPLES}", path=path, line=number)
    columns.slices = slicer.columns()
    columns.clusters = None if column is None else clusters
    return columns
