"""The options that say what is evaluated, and how its numbers are made."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from ragassay.base.errors import InputError
from ragassay.base.subsets import Subset
from ragassay.engine.config.option import EMPTY, MODEL_CONFIG, ONE_OR_MANY, Names, Option
from ragassay.formats.records.values.field_values import timestamp

_DAY = 86_400.0
"""Seconds."""


class Parameters(BaseModel):
    """Which data, suites and metrics, and what is made of the scores."""

    model_config = MODEL_CONFIG

    data: Annotated[str | list[str] | None, Option(path="read")] = None
    """File or folder with the samples, a pattern, or a list of these."""
    suite: Annotated[
        Names,
        Option(
            short="-s",
            commas=True,
            default="by the format of the data, mostly qa",
            page="formats.md",
        ),
    ] = Field(default_factory=list)
    """Suites to run: qa, retrieval, chunks, trecrag, mtrag, ragreport, golden, serving or
    consistency."""
    metrics: Annotated[Names, Option(short="-m")] = Field(default_factory=list)
    """Metrics to compute instead of all of the suites', joined with commas ('ragassay metrics'
    lists them). all: those of the suites, and the terminal shows a row for each."""
    output: Annotated[str | None, Option(short="-o", path="write")] = None
    """Folder for scores, summary and reports."""
    columns: Annotated[
        dict[str, str | list[str]],
        EMPTY,
        Option(commas=True, form="FIELD=COLUMN", example="answer=model_output", page="formats.md"),
    ] = Field(default_factory=dict)
    """Your column for one of our fields: a name, or a path as in
    answer=choices[0].message.content; of several (a|b) the first that a record has. A list:
    passages=text_* or a+b."""
    format: Annotated[str | None, Option(default="detected")] = None
    """Input format, where detection is wrong."""
    passages_from: Annotated[
        str | None,
        Option(default="retrieval", form="retrieval|tools|span:NAME", page="formats.md"),
    ] = None
    """What becomes passages in traces and conversations: what retrieval steps gave (retrieval),
    also what tools gave (tools), or what the steps called NAME gave (span:NAME)."""
    encoding: Annotated[str | None, Option(default="utf-8")] = None
    """Encoding of the data's text, as in cp1252. Files with a byte order mark need none."""
    sheet: str | None = None
    """Sheet of a workbook to read, in place of the first one with records."""
    references: Annotated[str | None, Option(path="read")] = None
    """File with the references of the data's questions, joined by id, else by query: questions in
    any format, or a table (CSV) with query_id and expected_answer."""
    golden: Annotated[str | None, Option(path="read")] = None
    """Golden set (a folder) that answers are joined to by id: its accepted items give references,
    gold spans and labels; passages are found in its documents."""
    golden_drafts: bool = False
    """Items of the golden set that nobody accepted yet count, too."""
    qrels: Annotated[str | None, Option(path="read")] = None
    """TREC or BEIR judgements to take gold passages from."""
    ks: Annotated[list[int] | None, Option(default="1,5,10,20,50,100")] = None
    """Cut-offs, joined with commas: of the suites retrieval and trecrag in place of theirs, or of
    metrics named without one (recall, ndcg, precision)."""
    separator: str | None = None
    r"""What separates the chunks in a context that is one string: '|||', '\n\n' ..."""
    single_chunk: bool = False
    """Each context that is one string is one chunk. Suite ragreport, whose indices count chunks,
    refuses one that looks joined unless this or a separator is given."""
    system: str | None = None
    """System name for data that has none."""
    published: bool = False
    """Give the benchmark's own values where its description differs from them."""
    from_timestamp: Annotated[
        float | None, Option(flags=("--from", "--from-timestamp"), text=True)
    ] = None
    """Evaluate only samples from this time on: seconds, or ISO 8601 (UTC where no zone is named).
    Samples without a timestamp are left out and counted."""
    to_timestamp: Annotated[float | None, Option(flags=("--to", "--to-timestamp"), text=True)] = (
        None
    )
    """Evaluate only samples up to this time, itself included; a date means all of that day."""
    where: Annotated[
        Names, Option(form="CONDITION", example="'source=user log'", page="formats.md")
    ] = Field(default_factory=list)
    """Evaluate only samples for which this holds: FIELD=VALUE or FIELD!=VALUE, of metadata, tags,
    id, system, answerability or turn; several values with commas: type=summary,comparison."""
    limit: Annotated[int | None, Option(short="-n")] = Field(None, ge=1)
    """Evaluate only the first N samples."""
    first_runs: bool = False
    """Evaluate only the first run of each query where it was run several times, unless runs are
    compared (suite consistency). The others are counted and left out."""
    slice_by: Annotated[
        list[str] | None, ONE_OR_MANY, Option(commas=True, default="those with few values")
    ] = None
    """Metadata columns to slice by."""
    cluster_by: Annotated[str | None, Option(default="the conversation")] = Field(
        None, min_length=1
    )
    """Metadata column whose samples are not independent; none: samples of different queries are."""
    interval: Annotated[Literal["auto", "t", "percentile", "bca"], Option(page="statistics.md")] = (
        "auto"
    )
    """Kind of interval: by the scores' range (auto), Student's t, or a bootstrap."""
    level: float = Field(0.95, gt=0, lt=1)
    """Confidence level."""
    n_resamples: int = Field(10_000, ge=1, le=1_000_000)
    """Bootstrap resamples."""
    seed: int = Field(0, ge=0)
    """Seed of everything random."""
    fail_under: Names = Field(default_factory=list)
    """Gate: METRIC>=VALUE on the mean, or low(METRIC)>=VALUE (high(METRIC)<=VALUE) on the one-sided
    bound of the true mean; exit code 1 when it fails, 3 when n is too small to tell."""
    trust_offline: bool = False
    """Let offline judgments decide gates, whatever their agreement with people."""
    options: Annotated[
        dict[str, Any], EMPTY, Option(flags=("--option",), form="NAME=VALUE", example="min_grade=2")
    ] = Field(default_factory=dict)
    """A parameter for every metric that has it, as in min_grade=2."""
    consistency_of: Annotated[
        Names, Option(default="all of the other suites", page="consistency.md")
    ] = Field(default_factory=list)
    """With suite consistency: the metrics whose spread over repeated runs is shown, joined with
    commas."""
    consistency_metrics: Annotated[Names, Option(default="the suite's")] = Field(
        default_factory=list
    )
    """The metrics of suite consistency."""

    @field_validator("metrics")
    @classmethod
    def _without_all(cls, names: list[str]) -> list[str]:
        """All metrics of the suites are computed where none is named."""
        return [] if names == ["all"] else names

    @field_validator("where")
    @classmethod
    def _conditions(cls, where: list[str]) -> list[str]:
        """Conditions that can be read."""
        Subset(where)
        return where

    @field_validator("from_timestamp", "to_timestamp", mode="before")
    @classmethod
    def _time(cls, value: Any, info: ValidationInfo) -> Any:
        """Seconds since 1970, UTC where no zone is named."""
        if isinstance(value, date):
            value = value.isoformat()  # YAML knows dates
        try:
            seconds = timestamp(value, info.field_name or "")
        except InputError as error:
            raise ValueError(f"{value!r} is no point in time. {error.hint}") from error
        is_day = isinstance(value, str) and re.fullmatch(r"\s*\d{4}-\d\d-\d\d\s*", value)
        if seconds is not None and is_day and info.field_name == "to_timestamp":
            return math.nextafter(seconds + _DAY, seconds)
        return seconds

    @field_validator("to_timestamp")
    @classmethod
    def _in_order(cls, last: float | None, info: ValidationInfo) -> float | None:
        first = info.data.get("from_timestamp")
        if first is not None and last is not None and first > last:
            raise ValueError(
                f"the interval ends at {iso_time(last)} and begins later, at {iso_time(first)}"
            )
        return last


def iso_time(seconds: float) -> str:
    """A point in time in ISO 8601, in whole seconds."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=math.floor(seconds))
    return moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
