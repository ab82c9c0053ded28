"""The options that say who is asked, how, and for how much."""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationInfo, field_validator

from ragassay.base.errors import UsageError
from ragassay.engine.config.option import MODEL_CONFIG, Names, Option

OWN, POOLED = "own", "pooled"
"""Where nuggets come from, unless a file is named: each sample's passages, or all systems'."""


def _as_paths(value: Any) -> Any:
    """The files of a mapping as texts; ``None`` is an empty one."""
    if not isinstance(value, dict):
        return {} if value is None else value
    return {k: os.fspath(one) if isinstance(one, os.PathLike) else one for k, one in value.items()}


class Judging(BaseModel):
    """The judge, its parameters and limits, and what it is asked by."""

    model_config = MODEL_CONFIG

    judge: Annotated[
        Names, Option(short="-J", commas=True, default="offline", page="judges.md")
    ] = Field(default_factory=list)
    """Who is asked: offline[:ENCODER], openai[:MODEL], anthropic:MODEL, google:MODEL, a base URL
    with #MODEL, replay:FILE, module:function ... Several make a panel."""
    judge_name: Annotated[
        str | None, Option(default="its module, name and source", page="judges.md")
    ] = Field(None, min_length=1)
    """Name under which answers of a judge in Python (module:function) are kept and compared."""
    panel_rule: Annotated[Literal["majority", "median"] | None, Option(default="median")] = None
    """How the votes of several judges become one."""
    quorum: Annotated[int | None, Option(default="more than half")] = Field(None, ge=1)
    """Votes that a panel needs."""
    concurrency: Annotated[int | None, Option(short="-j", default="64")] = Field(None, ge=1)
    """Most requests in flight at once, for each endpoint."""
    rpm: float | None = Field(None, gt=0)
    """Most requests a minute."""
    tpm: float | None = Field(None, gt=0)
    """Most tokens a minute."""
    timeout: Annotated[float | None, Option(default="120")] = Field(None, gt=0)
    """Seconds until a question is given up."""
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
    """Dollars a million tokens, INPUT,OUTPUT, for a model whose price is not known."""
    key_file: Annotated[
        str | None, Option(path="read", default="the provider's environment variable")
    ] = None
    """File that holds the endpoint's key."""
    key_variable: Annotated[str | None, Option(default="the provider's")] = None
    """Environment variable that holds the endpoint's key."""
    ledger: Annotated[str | None, Option(path="write", default=".ragassay/ledger.sqlite")] = None
    """File of paid answers."""
    budget: str | None = Field(None, coerce_numbers_to_str=True)
    """Most to spend now: 5.00 (dollars), '200 calls', '2M tokens'. What is scored until then is
    kept; exit code 3."""
    retry_failed: bool = False
    """Ask again what the judge refused or answered unusably."""
    refresh: bool = False
    """Ask everything again, also what the ledger holds, and in a step of MT-RAG's also what judges
    gave to its records."""
    accept_older: bool = False
    """With replay:FILE: answers to an older version of a question count."""
    nuggets: Annotated[str, Option(page="nuggets.md")] = "own"
    """Facts that answers are measured by: each sample's own passages ('own', as published), those
    of all systems together ('pooled'), or a nugget file."""
    rubric: Annotated[Names, Option(path="read", page="own-metrics.md")] = Field(
        default_factory=list
    )
    """YAML file of a rubric of your own, to score by."""
    judge_prompt: Annotated[str | None, Option(path="read")] = None
    """Text file with your own instructions for answer_match."""
    prompts: Annotated[
        dict[str, str],
        BeforeValidator(_as_paths),
        Option(
            flags=("--prompt",),
            path="read",
            form="KIND=FILE",
            example="says_idk=idk.txt",
            page="judges.md",
        ),
    ] = Field(default_factory=dict)
    """File with a prompt of your own for a kind of question."""

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
        from ragassay.transport.prices import Price

        if value is not None:
            try:
                Budget.parse(value) if info.field_name == "budget" else Price.parse(value)
            except UsageError as error:
                raise ValueError(str(error)) from error
        return value
