"""The configuration of a run; `config_file` reads it from YAML."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from ragassay.engine.config.option import JUDGING, MODELS, Option
from ragassay.errors import InputError, OptionError, UsageError, did_you_mean
from ragassay.formats import timestamp
from ragassay.models import check_device
from ragassay.yaml_positions import shown

OWN, POOLED = "own", "pooled"
"""Where nuggets come from, unless a file is named: each sample's passages, or all systems'."""

_DAY = 86_400.0
"""Seconds."""


class RunConfig(BaseModel):
    """The options of ``ragassay run``. They are declared only here: the flags of the command, the
    keys of a configuration file, the keywords of `ragassay.evaluate`, docs/configuration.md and
    its JSON schema all come from these fields.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: Annotated[str | None, Option("File or folder with the samples.", path="read")] = None
    suite: Annotated[
        list[str],
        Option(
            "Suites to run: qa, retrieval, chunks, trecrag, mtrag, ragreport, golden or "
            "consistency.",
            short="-s",
            commas=True,
            default="what suits the data",
            page="formats.md",
        ),
    ] = Field(default_factory=list)
    metrics: Annotated[
        list[str],
        Option(
            "Metrics to compute instead of all of the suites', joined with commas ('ragassay "
            "metrics' lists them).",
            short="-m",
        ),
    ] = Field(default_factory=list)
    output: Annotated[
        str | None, Option("Folder for scores, summary and reports.", short="-o", path="write")
    ] = None
    columns: Annotated[
        dict[str, str],
        Option(
            "Your column for one of our fields, as in answer=model_output.",
            commas=True,
            form="FIELD=COLUMN",
            example="answer=model_output",
        ),
    ] = Field(default_factory=dict)
    format: Annotated[
        str | None, Option("Input format, where detection is wrong.", default="detected")
    ] = None
    references: Annotated[
        str | None,
        Option(
            "Table (CSV) with query_id and expected_answer to take golden answers from.",
            path="read",
        ),
    ] = None
    qrels: Annotated[
        str | None, Option("TREC or BEIR judgements to take gold passages from.", path="read")
    ] = None
    ks: Annotated[
        list[int] | None,
        Option(
            "Cut-offs, joined with commas: of the suites retrieval and trecrag in place of theirs, "
            "or of metrics named without one (recall, ndcg, precision).",
            default="1,5,10,20,50,100",
        ),
    ] = None
    separator: Annotated[
        str | None,
        Option(r"What separates the chunks in a context that is one string: '|||', '\n\n' ..."),
    ] = None
    single_chunk: Annotated[
        bool,
        Option(
            "Each context that is one string is one chunk. Suite ragreport, whose indices count "
            "chunks, refuses one that looks joined unless this or a separator is given."
        ),
    ] = False
    system: Annotated[str | None, Option("System name for data that has none.")] = None
    published: Annotated[
        bool, Option("Give the benchmark's own values where its description differs from them.")
    ] = False
    from_timestamp: Annotated[
        float | None,
        Option(
            "Evaluate only samples from this time on: seconds, or ISO 8601 (UTC where no zone is "
            "named). Samples without a timestamp are left out and counted.",
            flags=("--from", "--from-timestamp"),
            text=True,
        ),
    ] = None
    to_timestamp: Annotated[
        float | None,
        Option(
            "Evaluate only samples up to this time, itself included; a date means all of that day.",
            flags=("--to", "--to-timestamp"),
            text=True,
        ),
    ] = None
    limit: Annotated[int | None, Option("Evaluate only the first N samples.", short="-n")] = Field(
        None, ge=1
    )
    slice_by: Annotated[
        list[str] | None,
        Option("Metadata columns to slice by.", commas=True, default="those with few values"),
    ] = None
    cluster_by: Annotated[
        str | None,
        Option("Metadata column whose samples are not independent.", default="the conversation"),
    ] = None
    interval: Annotated[
        Literal["auto", "t", "percentile", "bca"],
        Option(
            "Kind of interval: by the scores' range (auto), Student's t, or a bootstrap.",
            page="statistics.md",
        ),
    ] = "auto"
    level: Annotated[float, Option("Confidence level.")] = Field(0.95, gt=0, lt=1)
    n_resamples: Annotated[int, Option("Bootstrap resamples.")] = Field(10_000, ge=1)
    seed: Annotated[int, Option("Seed of everything random.")] = Field(0, ge=0)
    fail_under: Annotated[
        list[str],
        Option(
            "Gate: METRIC>=VALUE on the mean, or low(METRIC)>=VALUE (high(METRIC)<=VALUE) on the "
            "one-sided bound of the true mean; exit code 1 when it fails, 3 when n is too small to "
            "tell."
        ),
    ] = Field(default_factory=list)
    trust_offline: Annotated[
        bool, Option("Let offline judgments decide gates, whatever their agreement with people.")
    ] = False
    options: Annotated[
        dict[str, Any],
        Option(
            "A parameter for every metric that has it, as in min_grade=2.",
            flags=("--option",),
            form="NAME=VALUE",
            example="min_grade=2",
        ),
    ] = Field(default_factory=dict)
    consistency_of: Annotated[
        list[str],
        Option(
            "With suite consistency: the metrics whose spread over repeated runs is shown, joined "
            "with commas.",
            default="all of the other suites",
            page="consistency.md",
        ),
    ] = Field(default_factory=list)
    consistency_metrics: Annotated[
        list[str], Option("The metrics of suite consistency.", default="the suite's")
    ] = Field(default_factory=list)

    judge: Annotated[
        list[str],
        Option(
            "Who is asked: offline, openai or openai:MODEL, anthropic:MODEL, google:MODEL, a base "
            "URL with #MODEL, replay:FILE ... Several make a panel.",
            JUDGING,
            short="-J",
            commas=True,
            default="offline",
            page="judges.md",
        ),
    ] = Field(default_factory=list)
    panel_rule: Annotated[
        Literal["majority", "median"] | None,
        Option("How the votes of several judges become one.", JUDGING, default="median"),
    ] = None
    quorum: Annotated[
        int | None, Option("Votes that a panel needs.", JUDGING, default="more than half")
    ] = Field(None, ge=1)
    concurrency: Annotated[
        int | None,
        Option(
            "Most requests in flight at once, for each endpoint.", JUDGING, short="-j", default="64"
        ),
    ] = Field(None, ge=1)
    rpm: Annotated[float | None, Option("Most requests a minute.", JUDGING)] = Field(None, gt=0)
    tpm: Annotated[float | None, Option("Most tokens a minute.", JUDGING)] = Field(None, gt=0)
    timeout: Annotated[
        float | None, Option("Seconds until a question is given up.", JUDGING, default="120")
    ] = Field(None, gt=0)
    temperature: Annotated[
        float | None,
        Option(
            "Sampling temperature of the judge.",
            JUDGING,
            default="0, or what the published method says",
        ),
    ] = Field(None, ge=0)
    top_p: Annotated[
        float | None,
        Option(
            "The judge's nucleus sampling, above 0 to 1.",
            JUDGING,
            default="the question's own; 1.0 for UMBRELA's grades",
        ),
    ] = Field(None, gt=0, le=1)
    presence_penalty: Annotated[
        float | None,
        Option(
            "The judge's penalty on words that occurred, -2 to 2.",
            JUDGING,
            default="the question's own; 0.5 for UMBRELA's grades",
        ),
    ] = Field(None, ge=-2, le=2)
    frequency_penalty: Annotated[
        float | None,
        Option(
            "The judge's penalty on words by how often they occurred, -2 to 2.",
            JUDGING,
            default="the question's own",
        ),
    ] = Field(None, ge=-2, le=2)
    max_tokens: Annotated[
        int | None, Option("Longest reply, in tokens.", JUDGING, default="the endpoint's")
    ] = Field(None, ge=1)
    judge_seed: Annotated[
        int | None, Option("Sampling seed of the judge.", JUDGING, default="42")
    ] = None
    price: Annotated[
        str | None,
        Option(
            "Dollars a million tokens, INPUT,OUTPUT, for a model whose price is not known.", JUDGING
        ),
    ] = None
    key_file: Annotated[
        str | None,
        Option(
            "File that holds the endpoint's key.",
            JUDGING,
            path="read",
            default="the provider's environment variable",
        ),
    ] = None
    key_variable: Annotated[
        str | None,
        Option(
            "Environment variable that holds the endpoint's key.",
            JUDGING,
            default="the provider's",
        ),
    ] = None
    ledger: Annotated[
        str | None,
        Option("File of paid answers.", JUDGING, path="write", default=".ragassay/ledger.sqlite"),
    ] = None
    budget: Annotated[
        str | None,
        Option(
            "Most to spend now: 5.00 (dollars), '200 calls', '2M tokens'. What is scored until "
            "then is kept; exit code 3.",
            JUDGING,
        ),
    ] = None
    retry_failed: Annotated[
        bool, Option("Ask again what the judge refused or answered unusably.", JUDGING)
    ] = False
    refresh: Annotated[
        bool,
        Option(
            "Ask everything again, also what the ledger holds, and in a step of MT-RAG's also what "
            "judges gave to its records.",
            JUDGING,
        ),
    ] = False
    nuggets: Annotated[
        str,
        Option(
            "Facts that answers are measured by: each sample's own passages ('own', as published), "
            "those of all systems together ('pooled'), or a nugget file.",
            JUDGING,
            page="nuggets.md",
        ),
    ] = "own"
    rubric: Annotated[
        list[str],
        Option(
            "YAML file of a rubric of your own, to score by.",
            JUDGING,
            path="read",
            page="own-metrics.md",
        ),
    ] = Field(default_factory=list)
    judge_prompt: Annotated[
        str | None,
        Option("Text file with your own instructions for answer_match.", JUDGING, path="read"),
    ] = None

    models: Annotated[
        dict[str, str],
        Option(
            "A local folder for a neural model, by its name ('ragassay models' lists which there "
            "are, and where they are).",
            MODELS,
            flags=("--model",),
            form="NAME=FOLDER",
            example="xlm-roberta-large=models",
            page="models.md",
        ),
    ] = Field(default_factory=dict)
    device: Annotated[
        str | None,
        Option(
            "Where models run: auto, cpu, cuda, cuda:1, mps.",
            MODELS,
            default="auto: a CUDA GPU where there is one",
        ),
    ] = None
    dtype: Annotated[
        Literal["float32", "float16", "bfloat16"] | None,
        Option("Precision of models.", MODELS, default="float32"),
    ] = None
    batch_size: Annotated[
        int | None,
        Option("Texts that go through a model at a time.", MODELS, default="by their length"),
    ] = Field(None, ge=1)
    embedder: Annotated[
        str | None,
        Option(
            "What turns texts into vectors, for cosines: a FOLDER, a model on this machine, "
            "openai:text-embedding-3-small, or a base URL with #MODEL.",
            MODELS,
            default="sentence-transformers/all-MiniLM-L6-v2",
            page="embeddings.md",
        ),
    ] = None
    embedder_prefix: Annotated[
        str | None,
        Option(
            "What goes before each embedded text, where a model wants it: 'query: '.",
            MODELS,
            default="the folder's own prompt",
        ),
    ] = None
    embedder_dimensions: Annotated[
        int | None,
        Option(
            "Components of an endpoint's vectors, where its model lets one choose.",
            MODELS,
            default="the model's own",
        ),
    ] = Field(None, ge=1)
    embedder_key_file: Annotated[
        str | None,
        Option(
            "File that holds the key of the embedder's endpoint.",
            MODELS,
            path="read",
            default="the provider's environment variable",
        ),
    ] = None

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
        from ragassay.transport import Budget, Price

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
    values = {}
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
        values[key] = value
    return values


def make_config(**values: Any) -> RunConfig:
    """A configuration from keywords; what is ``None`` counts as not given.

    Raises:
        UsageError: an unknown key, or (an `OptionError`) an impossible value.
    """
    try:
        return RunConfig(**{key: value for key, value in values.items() if value is not None})
    except ValidationError as error:
        raise _explained(error) from error


def _utc(seconds: float) -> str:
    """A point in time in ISO 8601; the seconds since 1970 where the year has not four digits."""
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=math.floor(seconds))
    except OverflowError:
        return f"{seconds:.15g}"
    return moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def first_problem(error: ValidationError) -> tuple[tuple[str, ...], str]:
    """The place (key, item) of the first error, and what is wrong there."""
    first = error.errors()[0]
    problem = str(first["msg"]).removeprefix("Value error, ")
    wrong = "" if first["type"] == "value_error" else f", not {shown(first['input'])}"
    return tuple(map(str, first["loc"])), f"{problem[0].lower()}{problem[1:]}{wrong}"


def _explained(error: ValidationError) -> UsageError:
    place, problem = first_problem(error)
    where = ".".join(place)
    if error.errors()[0]["type"] == "extra_forbidden":
        hint = did_you_mean(where, RunConfig.model_fields)
        return UsageError(f"Unknown option {where!r}. {hint}")
    return OptionError(where, problem)
