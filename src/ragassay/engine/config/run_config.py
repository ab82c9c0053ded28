"""The configuration of a run; `config_file` reads it from YAML."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from ragassay.errors import InputError, OptionError, UsageError, did_you_mean
from ragassay.formats.values import timestamp
from ragassay.models.device import check_device
from ragassay.yaml_positions import shown

PATHS = (
    "data",
    "qrels",
    "references",
    "output",
    "ledger",
    "key_file",
    "judge_prompt",
    "embedder_key_file",
)
"""Keys that hold paths; in a file they are relative to it."""

WRITTEN = ("output", "ledger")
"""Those of them that name what is written: it need not be there yet."""

_DAY = 86_400.0
"""Seconds."""

OWN, POOLED = "own", "pooled"
"""Where nuggets come from, unless a file is named: each sample's passages, or all systems'."""


class RunConfig(BaseModel):
    """What ``ragassay run`` does: each field is a flag of the command and a key of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: str | None = Field(None, description="file or folder with the samples")
    suite: list[str] = Field(default_factory=list, description="suites to run")
    metrics: list[str] = Field(
        default_factory=list, description="metrics to compute instead of all of the suite's"
    )
    ks: list[int] | None = Field(
        None,
        description="cut-offs of the suites retrieval, trecrag or of recall, ndcg, precision",
    )
    published: bool = Field(
        False, description="the benchmark's own values where spec and it differ"
    )
    format: str | None = Field(None, description="input format; detected when left out")
    columns: dict[str, str] = Field(
        default_factory=dict, description="our field: name of the column in the data"
    )
    separator: str | None = Field(None, description="what separates chunks in one context string")
    single_chunk: bool = Field(False, description="each context string is one chunk")
    system: str | None = Field(None, description="system name for data that has none")
    references: str | None = Field(
        None, description="table with query_id and expected_answer: the golden answers"
    )
    qrels: str | None = Field(None, description="TREC or BEIR qrels to take gold passages from")
    from_timestamp: float | None = Field(
        None, description="only samples from this time on: seconds, or ISO 8601"
    )
    to_timestamp: float | None = Field(
        None, description="only samples up to this time, itself included (a date: that whole day)"
    )
    limit: int | None = Field(None, ge=1, description="only the first N samples")
    slice_by: list[str] | None = Field(None, description="metadata columns to slice the report by")
    cluster_by: str | None = Field(
        None, description="metadata column whose values are not independent (a conversation)"
    )
    interval: Literal["auto", "t", "percentile", "bca"] = Field(
        "auto", description="kind of interval: by the scores' range, Student's t, or a bootstrap"
    )
    level: float = Field(0.95, gt=0, lt=1, description="confidence level of intervals")
    n_resamples: int = Field(10_000, ge=1, description="bootstrap resamples")
    seed: int = Field(0, ge=0, description="seed of everything random")
    fail_under: list[str] = Field(default_factory=list, description="gates such as 'f1>=0.6'")
    trust_offline: bool = Field(
        False, description="let offline judgments decide gates, whatever their agreement"
    )
    judge: list[str] = Field(
        default_factory=list, description="who is asked: offline, openai:MODEL, URL#MODEL ..."
    )
    panel_rule: Literal["majority", "median"] | None = Field(
        None, description="how several judges become one"
    )
    quorum: int | None = Field(None, ge=1, description="votes that a panel needs")
    concurrency: int | None = Field(None, ge=1, description="most requests in flight an endpoint")
    rpm: float | None = Field(None, gt=0, description="most requests a minute")
    tpm: float | None = Field(None, gt=0, description="most tokens a minute")
    timeout: float | None = Field(None, gt=0, description="seconds until a question is given up")
    temperature: float | None = Field(None, ge=0, description="sampling temperature of the judge")
    top_p: float | None = Field(None, gt=0, le=1, description="nucleus sampling of the judge")
    presence_penalty: float | None = Field(
        None, ge=-2, le=2, description="the judge's penalty on words that occurred"
    )
    frequency_penalty: float | None = Field(
        None, ge=-2, le=2, description="the judge's penalty on words by how often they occurred"
    )
    max_tokens: int | None = Field(None, ge=1, description="longest reply")
    judge_seed: int | None = Field(None, description="sampling seed of the judge")
    price: str | None = Field(None, description="dollars a million tokens: INPUT,OUTPUT")
    key_file: str | None = Field(None, description="file that holds the endpoint's key")
    key_variable: str | None = Field(
        None, description="environment variable that holds the endpoint's key"
    )
    ledger: str | None = Field(None, description="file of paid answers")
    budget: str | None = Field(None, description="most to spend: dollars, calls or tokens")
    retry_failed: bool = Field(False, description="ask again what the judge could not answer")
    refresh: bool = Field(False, description="ask again what the ledger holds")
    nuggets: str = Field("own", description="nuggets: own, pooled, or a file")
    rubric: list[str] = Field(default_factory=list, description="files of rubrics to score by")
    judge_prompt: str | None = Field(None, description="instructions for answer_match, a text file")
    models: dict[str, str] = Field(
        default_factory=dict, description="a local folder for a neural model, by its name"
    )
    device: str | None = Field(None, description="where models run: auto, cpu, cuda, cuda:1, mps")
    dtype: Literal["float32", "float16", "bfloat16"] | None = Field(
        None, description="precision of models"
    )
    batch_size: int | None = Field(None, ge=1, description="texts through a model at a time")
    embedder: str | None = Field(
        None, description="what turns texts into vectors: folder, model, openai:MODEL, URL#MODEL"
    )
    embedder_prefix: str | None = Field(None, description="what goes before each embedded text")
    embedder_dimensions: int | None = Field(
        None, ge=1, description="components of an endpoint's vectors, where one may choose"
    )
    embedder_key_file: str | None = Field(
        None, description="file that holds the key of the embedder's endpoint"
    )
    consistency_of: list[str] = Field(
        default_factory=list, description="metrics whose spread over repeated runs is told"
    )
    consistency_metrics: list[str] = Field(
        default_factory=list, description="metrics of the suite consistency"
    )
    options: dict[str, Any] = Field(
        default_factory=dict, description="parameters for every metric that has them"
    )
    output: str | None = Field(None, description="run folder to write")

    @field_validator(
        *("suite", "metrics", "fail_under", "slice_by", "judge", "rubric"),
        *("consistency_of", "consistency_metrics"),
        mode="before",
    )
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("judge")
    @classmethod
    def _named(cls, words: list[str]) -> list[str]:
        if any(not word.strip() for word in words):
            raise ValueError("a judge's name is empty (an unset variable?); leave --judge out")
        return words

    @field_validator("from_timestamp", "to_timestamp", mode="before")
    @classmethod
    def _time(cls, value: Any, info: ValidationInfo) -> Any:
        """Seconds since 1970, UTC where no zone is named."""
        if isinstance(value, date):
            value = value.isoformat()  # YAML knows dates
        try:
            found = timestamp(value, info.field_name or "")
        except InputError as error:
            raise ValueError(f"{value!r} is no point in time. {error.hint}") from error
        is_day = isinstance(value, str) and re.fullmatch(r"\s*\d{4}-\d\d-\d\d\s*", value)
        if found is not None and is_day and info.field_name == "to_timestamp":
            return math.nextafter(found + _DAY, found)
        return found

    @field_validator("to_timestamp")
    @classmethod
    def _in_order(cls, last: float | None, info: ValidationInfo) -> float | None:
        first = info.data.get("from_timestamp")
        if first is not None and last is not None and first > last:
            raise ValueError(
                f"the interval ends at {_utc(last)} and begins later, at {_utc(first)}"
            )
        return last

    @field_validator("device")
    @classmethod
    def _device(cls, name: str | None) -> str | None:
        try:
            return name if name is None else check_device(name)
        except UsageError as error:
            raise ValueError(str(error)) from error

    @field_validator("budget", "price", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int | float) else value

    @field_validator("budget", "price")
    @classmethod
    def _readable(cls, value: str | None, info: ValidationInfo) -> str | None:
        from ragassay.transport.budget import Budget
        from ragassay.transport.prices import Price

        if value is not None:
            try:
                Budget.parse(value) if info.field_name == "budget" else Price.parse(value)
            except UsageError as error:
                raise ValueError(str(error)) from error
        return value

    @field_validator("columns", "options", "models", mode="before")
    @classmethod
    def _no_columns(cls, value: Any) -> Any:
        return {} if value is None else value


MODEL_KWARGS: Mapping[str, str] = {
    "temperature": "temperature",
    "top_p": "top_p",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "seed": "judge_seed",
    "max_tokens": "max_tokens",
}
"""Sampling parameters by the names that endpoints have for them (Open RAG Eval's ``model_kwargs``),
and the key of each."""


def model_kwargs(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a configuration for sampling parameters under their endpoints' names.

    Raises:
        UsageError: an unknown parameter, or an impossible value (an `OptionError` with its name).
    """
    found = {}
    for name, value in given.items():
        if name not in MODEL_KWARGS:
            hint = did_you_mean(str(name), MODEL_KWARGS)
            raise OptionError(
                str(name), f"is no sampling parameter. {hint} There are: {', '.join(MODEL_KWARGS)}"
            )
        key = MODEL_KWARGS[name]
        try:
            make_config(**{key: value})
        except OptionError as error:
            raise OptionError(str(name), error.problem) from error
        found[key] = value
    return found


def make_config(**values: Any) -> RunConfig:
    """A configuration from keywords; what is ``None`` counts as not given.

    Raises:
        UsageError: an unknown key, or (an `OptionError`) an impossible value.
    """
    try:
        return RunConfig(**{key: value for key, value in values.items() if value is not None})
    except ValidationError as error:
        raise _explained(error) from error


def found_from(base: Path, name: str | Path) -> Path:
    """The file or folder that a configuration names.

    Args:
        base: the folder of the configuration.
        name: a path. One that is not there is looked for in the working directory.
    """
    beside = base / name
    return Path(name).absolute() if not beside.exists() and Path(name).exists() else beside


def absolute_words(
    found: dict[str, Any], base: Path, find: Callable[[Path, str], Path] = Path.joinpath
) -> None:
    """Makes the paths in lists and words absolute, in place.

    Args:
        found: keys of a configuration.
        base: the folder that they start from.
        find: makes the path of a folder and a name.
    """

    def at(name: str) -> str:
        return str(find(base, name))

    if found.get("rubric"):
        found["rubric"] = [*map(at, found["rubric"])]
    if found.get("nuggets") not in (None, OWN, POOLED):
        found["nuggets"] = at(found["nuggets"])
    if found.get("models"):
        found["models"] = {name: at(folder) for name, folder in found["models"].items()}
    if found.get("embedder") and Path(at(found["embedder"])).is_dir():
        found["embedder"] = at(found["embedder"])
    if found.get("judge"):
        found["judge"] = [_replay(word, at) for word in found["judge"]]


def _replay(word: str, change: Callable[[str], str]) -> str:
    """A judge's word with the file of ``replay:FILE`` changed."""
    kind, colon, name = word.partition(":")
    return f"{kind}:{change(name)}" if kind == "replay" and colon and name else word


def relative_words(body: dict[str, Any], folder: str | Path) -> None:
    """Makes paths in words relative to a folder, in place: the reverse of `absolute_words`."""
    if body.get("rubric"):
        body["rubric"] = [os.path.relpath(name, folder) for name in body["rubric"]]
    if body.get("nuggets") not in (None, OWN, POOLED):
        body["nuggets"] = os.path.relpath(body["nuggets"], folder)
    if body.get("models"):
        body["models"] = {
            name: os.path.relpath(path, folder) for name, path in body["models"].items()
        }
    if body.get("embedder") and Path(body["embedder"]).is_dir():
        body["embedder"] = os.path.relpath(body["embedder"], folder)
    if body.get("judge"):
        body["judge"] = [
            _replay(word, lambda name: os.path.relpath(name, folder)) for word in body["judge"]
        ]


def _utc(seconds: float) -> str:
    """A point in time in ISO 8601; the seconds since 1970 where the year has not four digits."""
    try:
        found = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=math.floor(seconds))
    except OverflowError:
        return f"{seconds:.15g}"
    return found.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def said(error: ValidationError) -> tuple[tuple[str, ...], str]:
    """The place (key, item) of the first thing that is wrong, and what it is."""
    first = error.errors()[0]
    problem = str(first["msg"]).removeprefix("Value error, ")
    wrong = "" if first["type"] == "value_error" else f", not {shown(first['input'])}"
    return tuple(map(str, first["loc"])), f"{problem[0].lower()}{problem[1:]}{wrong}"


def _explained(error: ValidationError) -> UsageError:
    place, problem = said(error)
    where = ".".join(place)
    if error.errors()[0]["type"] == "extra_forbidden":
        hint = did_you_mean(where, RunConfig.model_fields)
        return UsageError(f"Unknown option {where!r}. {hint}")
    return OptionError(where, problem)
