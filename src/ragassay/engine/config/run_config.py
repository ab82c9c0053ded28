"""The configuration of a run: all options, each with its help, its flags and whether it is a path.
`ragassay.engine.run.config_reading` reads it from YAML."""

from __future__ import annotations

import ast
import inspect
import math
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from ragassay.base.errors import InputError, OptionError, UsageError, did_you_mean, mistakes
from ragassay.base.subsets import Subset
from ragassay.formats.records.field_values import timestamp
from ragassay.models.device import check_device

MODEL_CONFIG = ConfigDict(extra="forbid", frozen=True, defer_build=True)
"""Of the classes that declare options."""

ONE_OR_MANY = BeforeValidator(lambda value: [value] if isinstance(value, str) else value)
EMPTY = BeforeValidator(lambda value: {} if value is None else value)
AS_TEXT = BeforeValidator(lambda path: str(path) if isinstance(path, os.PathLike) else path)
Names = Annotated[list[str], ONE_OR_MANY]
"""Several names; one may be given as it is."""


@dataclass(frozen=True)
class Option:
    """The annotation of a field that is an option, where its name, type and text do not say all:
    the default in words, the flags (the usual one first) and one of a letter, whether its value is
    a path, several joined with ``commas`` or a ``text``, how NAME=VALUE is written, and the docs'
    page."""

    default: str = ""
    flags: tuple[str, ...] = ()
    short: str = ""
    path: Literal["read", "write"] | None = None
    commas: bool = False
    text: bool = False
    form: str = ""
    example: str = ""
    page: str = ""
    help: str = ""


@cache
def options_of(schema: type[BaseModel]) -> Mapping[str, Option]:
    """The options of a model, by the names of its fields; the text below a field is its help, the
    flag that is not declared has its name."""
    texts = _texts_of_fields(schema.__module__)
    options = {}
    for name, field in schema.model_fields.items():
        declared = next((item for item in field.metadata if isinstance(item, Option)), Option())
        own: Any = field.default
        usual = "" if own is False or own in (None, [], {}) else str(own)
        text, flag = " ".join(texts.get(name, "").split()), f"--{name.replace('_', '-')}"
        options[name] = replace(
            declared, help=text, default=declared.default or usual, flags=declared.flags or (flag,)
        )
    return options


@cache
def _texts_of_fields(module: str) -> Mapping[str, str]:
    """The text below each field of a module's classes; pydantic takes ten times as long for it."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    bodies = [node.body for node in tree.body if isinstance(node, ast.ClassDef)]
    return {
        field.target.id: below.value.value
        for body in bodies
        for field, below in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }


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
            default="by the format of the data, mostly rag",
            page="formats.md",
        ),
    ] = []
    """Suites to run: rag, qa, retrieval, chunks, trecrag, mtrag, ragreport, golden, serving or
    consistency."""
    metrics: Annotated[Names, Option(short="-m")] = []
    """Metrics to compute instead of the suites', joined with commas ('ragassay metrics' lists
    them). all: the suites', with a row for each in the terminal."""
    output: Annotated[str | None, Option(short="-o", path="write")] = None
    """Folder for scores, summary and reports."""
    columns: Annotated[
        dict[str, str | list[str]],
        EMPTY,
        Option(commas=True, form="FIELD=COLUMN", example="answer=model_output", page="formats.md"),
    ] = {}
    """Your column for one of our fields. COLUMN may be a path (choices[0].message.content),
    alternatives (a|b: the first that a record has) or a list (text_*, a+b)."""
    format: Annotated[str | None, Option(default="detected")] = None
    """Input format, if detection is wrong."""
    passages_from: Annotated[
        str | None, Option(default="retrieval", form="retrieval|tools|span:NAME", page="formats.md")
    ] = None
    """What becomes passages in traces and conversations: the output of retrieval steps
    (retrieval), also of tools (tools), or of steps called NAME (span:NAME)."""
    encoding: Annotated[str | None, Option(default="utf-8")] = None
    """Encoding of the data's text, as in cp1252. Files with a byte order mark need none."""
    sheet: str | None = None
    """Sheet of a workbook to read, in place of the first one with records."""
    references: Annotated[str | None, Option(path="read")] = None
    """File with the references of the data's questions, joined by id, else by query: questions in
    any format, or a table (CSV) with query_id and expected_answer."""
    golden: Annotated[str | None, Option(path="read")] = None
    """Folder of a golden set, joined with the answers by id. Its accepted items give references,
    gold spans and labels."""
    golden_drafts: bool = False
    """Draft items of the golden set count, too."""
    qrels: Annotated[str | None, Option(path="read")] = None
    """TREC or BEIR judgements to take gold passages from."""
    ks: Annotated[list[int] | None, Option(default="1,5,10,20,50,100")] = None
    """Cut-offs, joined with commas, for the suites retrieval and trecrag, and for metrics named
    without a cut-off (recall, ndcg, precision)."""
    separator: str | None = None
    r"""What separates the chunks in a context that is one string: '|||', '\n\n' ..."""
    single_chunk: bool = False
    """Each context that is one string is one chunk. Suite ragreport refuses a string that looks
    joined unless this or a separator is given."""
    system: str | None = None
    """System name for data that has none."""
    published: bool = False
    """Compute the benchmark's own values, even where its description says otherwise."""
    from_timestamp: Annotated[
        float | None, Option(flags=("--from", "--from-timestamp"), text=True)
    ] = None
    """Evaluate only samples from this time on: seconds, or ISO 8601 (UTC where no zone is named).
    Samples without a timestamp are left out and counted."""
    to_timestamp: Annotated[float | None, Option(flags=("--to", "--to-timestamp"), text=True)] = (
        None
    )
    """Evaluate only samples up to and including this time; a date means all of that day."""
    where: Annotated[
        Names, Option(form="CONDITION", example="'source=user log'", page="formats.md")
    ] = []
    """Evaluate only samples for which this holds: FIELD=VALUE or FIELD!=VALUE, of metadata, tags,
    id, system, answerability or turn; several values with commas: type=summary,comparison."""
    limit: Annotated[int | None, Option(short="-n")] = Field(None, ge=1)
    """Evaluate only the first N samples."""
    first_runs: bool = False
    """Evaluate only the first run of each query, except in suite consistency. The others are
    counted and left out."""
    slice_by: Annotated[
        list[str] | None, ONE_OR_MANY, Option(commas=True, default="those with few values")
    ] = None
    """Metadata columns to slice by."""
    cluster_by: Annotated[str | None, Option(default="the conversation")] = Field(
        None, min_length=1
    )
    """Metadata column whose samples depend on each other; 'none': each query is independent."""
    interval: Annotated[Literal["auto", "t"], Option(page="statistics.md")] = "auto"
    """Kind of interval: by the scores' range (auto), or Student's t."""
    level: float = Field(0.95, gt=0, lt=1)
    """Confidence level."""
    seed: int = Field(0, ge=0)
    """Random seed."""
    fail_under: Names = []
    """Gate on the mean: METRIC>=VALUE. Exit code 1: failed; 3: undecided. low(METRIC)>=VALUE and
    high(METRIC)<=VALUE take the one-sided bound of the true mean."""
    trust_offline: bool = False
    """Let the offline judge decide gates, even where it is not known to agree with people."""
    options: Annotated[
        dict[str, Any], EMPTY, Option(flags=("--option",), form="NAME=VALUE", example="min_grade=2")
    ] = {}
    """A parameter for every metric that has it, as in min_grade=2."""
    consistency_of: Annotated[
        Names, Option(default="all of the other suites", page="consistency.md")
    ] = []
    """With suite consistency: the metrics whose spread over repeated runs is shown, joined with
    commas."""
    consistency_metrics: Annotated[Names, Option(default="the suite's")] = []
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
            raise ValueError(f"{value!r} is not a time. {error.hint}") from error
        is_day = isinstance(value, str) and re.fullmatch(r"\s*\d{4}-\d\d-\d\d\s*", value)
        if seconds is not None and is_day and info.field_name == "to_timestamp":
            return math.nextafter(seconds + timedelta(days=1).total_seconds(), seconds)
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


OWN, POOLED = "own", "pooled"
"""Where nuggets come from, unless a file is named: each sample's passages, or all systems'."""


class Judging(BaseModel):
    """The judge, its parameters and limits, and what it is asked by."""

    model_config = MODEL_CONFIG

    judge: Annotated[
        Names, Option(short="-J", commas=True, default="offline", page="judges.md")
    ] = []
    """Who is asked: offline[:ENCODER], openai[:MODEL], anthropic:MODEL, google:MODEL, a base URL
    with #MODEL, replay:FILE, module:function ... Several make a panel."""
    judge_name: Annotated[
        str | None, Option(default="its module, name and source", page="judges.md")
    ] = Field(None, min_length=1)
    """Name under which answers of a judge in Python (module:function) are kept and compared."""
    quorum: Annotated[int | None, Option(default="more than half")] = Field(None, ge=1)
    """Votes that a panel needs."""
    concurrency: Annotated[int | None, Option(short="-j", default="64")] = Field(None, ge=1)
    """Requests in flight per endpoint, at most."""
    rpm: float | None = Field(None, gt=0)
    """Requests per minute, at most."""
    tpm: float | None = Field(None, gt=0)
    """Tokens per minute, at most."""
    timeout: Annotated[float | None, Option(default="120")] = Field(None, gt=0)
    """Seconds after which a question is given up."""
    temperature: Annotated[float | None, Option(default="0, or what the published method says")] = (
        Field(None, ge=0)
    )
    """Sampling temperature of the judge."""
    top_p: Annotated[
        float | None, Option(default="the question's own; 1.0 for UMBRELA's grades")
    ] = Field(None, gt=0, le=1)
    """The judge's nucleus sampling, above 0 to 1."""
    presence_penalty: Annotated[
        float | None, Option(default="the question's own; 0.5 for UMBRELA's grades")
    ] = Field(None, ge=-2, le=2)
    """The judge's penalty on words that occurred, -2 to 2."""
    frequency_penalty: Annotated[float | None, Option(default="the question's own")] = Field(
        None, ge=-2, le=2
    )
    """The judge's penalty on words by how often they occurred, -2 to 2."""
    max_tokens: Annotated[int | None, Option(default="the endpoint's")] = Field(None, ge=1)
    """Longest reply, in tokens."""
    language: Annotated[str | None, Option(default="the query's")] = Field(None, min_length=1)
    """Language of an LLM judge's explanations (de, German)."""
    judge_seed: Annotated[int | None, Option(default="42")] = None
    """Sampling seed of the judge."""
    price: str | None = Field(None, coerce_numbers_to_str=True)
    """Dollars per million tokens, INPUT,OUTPUT, for a model whose price is not known."""
    key_file: Annotated[
        str | None, Option(path="read", default="the provider's environment variable")
    ] = None
    """File that holds the endpoint's key."""
    key_variable: Annotated[str | None, Option(default="the provider's")] = None
    """Environment variable that holds the endpoint's key."""
    ledger: Annotated[str | None, Option(path="write", default=".ragassay/ledger.sqlite")] = None
    """File of paid answers."""
    budget: str | None = Field(None, coerce_numbers_to_str=True)
    """Most to spend now: 5.00 (dollars), '200 calls', '2M tokens'. The run then stops, keeps its
    scores and exits with 3."""
    retry_failed: bool = False
    """Ask again what the judge refused or answered unusably."""
    refresh: bool = False
    """Ask everything again, although the ledger (or, in ragassay mtrag, the record) has an
    answer."""
    nuggets: Annotated[str, Option(page="nuggets.md")] = "own"
    """Source of the facts that answers should hold: each sample's passages ('own', as published),
    those of all systems ('pooled'), or a nugget file."""
    rubric: Annotated[Names, Option(path="read", page="own-metrics.md")] = []
    """YAML file with your own rubric."""
    judge_prompt: Annotated[str | None, Option(path="read")] = None
    """Text file with your own instructions for answer_match."""
    prompts: Annotated[
        dict[str, Annotated[str, AS_TEXT]],
        EMPTY,
        Option(
            flags=("--prompt",),
            path="read",
            form="KIND=FILE",
            example="says_idk=idk.txt",
            page="judges.md",
        ),
    ] = {}
    """File with your own prompt for a kind of question."""

    @field_validator("judge")
    @classmethod
    def _named(cls, words: list[str]) -> list[str]:
        if any(not word.strip() for word in words):
            raise ValueError("a judge's name is empty (an unset variable?); leave the option out")
        return words

    @field_validator("budget", "price")
    @classmethod
    def _readable(cls, value: str | None, info: ValidationInfo) -> str | None:
        from ragassay.transport.budget import Budget
        from ragassay.transport.providers_and_prices import Price

        if value is not None:
            try:
                Budget.parse(value) if info.field_name == "budget" else Price.parse(value)
            except UsageError as error:
                raise ValueError(str(error)) from error
        return value


class NeuralModels(BaseModel):
    """Models on this machine, and what turns texts into vectors."""

    model_config = MODEL_CONFIG

    models: Annotated[
        dict[str, str],
        EMPTY,
        Option(
            flags=("--model",),
            form="NAME=FOLDER",
            example="xlm-roberta-large=models",
            page="models.md",
        ),
    ] = {}
    """A local folder for a neural model, by its name ('ragassay models' lists the models)."""
    device: Annotated[str | None, Option(default="auto: a CUDA GPU where there is one")] = None
    """Where models run: auto, cpu, cuda, cuda:1, mps."""
    dtype: Annotated[
        Literal["float32", "float16", "bfloat16"] | None, Option(default="float32")
    ] = None
    """Precision of models."""
    batch_size: Annotated[int | None, Option(default="by their length")] = Field(None, ge=1)
    """Texts that a model processes at a time."""
    embedder: Annotated[
        str | None, Option(default="sentence-transformers/all-MiniLM-L6-v2", page="embeddings.md")
    ] = None
    """What turns texts into vectors, for cosines: a FOLDER, a model on this machine,
    openai:text-embedding-3-small, or a base URL with #MODEL."""
    embedder_prefix: Annotated[str | None, Option(default="the folder's own prompt")] = None
    """Prefix of each embedded text, if the model needs one: 'query: '."""
    embedder_dimensions: Annotated[int | None, Option(default="the model's own")] = Field(
        None, ge=1
    )
    """Components of an endpoint's vectors, if its model offers a choice."""
    embedder_key_file: Annotated[
        str | None, Option(path="read", default="the provider's environment variable")
    ] = None
    """File that holds the key of the embedder's endpoint."""

    @field_validator("device")
    @classmethod
    def _device(cls, name: str | None) -> str | None:
        try:
            return name if name is None else check_device(name)
        except UsageError as error:
            raise ValueError(str(error)) from error


GROUPS: Mapping[str, type[BaseModel]] = {
    "Parameters": Parameters,
    "Judging": Judging,
    "Neural models": NeuralModels,
}
"""The options by the group that they are listed in."""


class RunConfig(NeuralModels, Judging, Parameters):
    """The options of ``ragassay run``. They are declared only here: the flags of the command, the
    keys of a configuration file, the keywords of `ragassay.evaluate`, docs/configuration.md and
    its JSON schema all come from these fields."""


MODEL_KWARGS: Mapping[str, str] = {
    **{name: name for name in ("temperature", "top_p", "presence_penalty", "frequency_penalty")},
    "seed": "judge_seed",
    "max_tokens": "max_tokens",
}
"""The key of each sampling parameter, by the name that endpoints have for it (Open RAG Eval's
``model_kwargs``)."""


def sampling_key(name: str, value: Any) -> str:
    """The key of a configuration for a sampling parameter under its endpoints' name."""
    if name not in MODEL_KWARGS:
        hint = did_you_mean(name, MODEL_KWARGS)
        listed = f"{hint} There are: {', '.join(MODEL_KWARGS)}".lstrip()
        raise OptionError(name, f"is not a sampling parameter. {listed}")
    try:
        make_config(**{MODEL_KWARGS[name]: value})
    except OptionError as error:
        raise OptionError(name, error.problem) from error
    return MODEL_KWARGS[name]


def make_config(**values: Any) -> RunConfig:
    """A configuration from keywords. A value ``None`` counts as left out, a path as its text."""
    given = {
        key: os.fspath(value) if isinstance(value, os.PathLike) else value
        for key, value in values.items()
        if value is not None
    }
    try:
        return RunConfig(**given)
    except ValidationError as error:
        place, problem = mistakes(error)[0]
        where = ".".join(place)
        if error.errors()[0]["type"] == "extra_forbidden":
            known = ["judge"] if where == "llm" else RunConfig.model_fields
            hint = did_you_mean("judge" if where == "llm" else where, known)
            raise UsageError(f"Unknown option {where!r}. {hint}") from error
        raise OptionError(where, problem) from error
