"""The configuration of a run: all options. `ragassay.engine.run.config_reading` reads it from
YAML."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError, field_validator

from ragassay.base.errors import OptionError, UsageError, did_you_mean
from ragassay.base.problem_words import mistakes
from ragassay.engine.config.judging import Judging
from ragassay.engine.config.option import EMPTY, MODEL_CONFIG, Option
from ragassay.engine.config.parameters import Parameters
from ragassay.models.device import check_device


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
    ] = Field(default_factory=dict)
    """A local folder for a neural model, by its name ('ragassay models' lists which there are, and
    where they are)."""
    device: Annotated[str | None, Option(default="auto: a CUDA GPU where there is one")] = None
    """Where models run: auto, cpu, cuda, cuda:1, mps."""
    dtype: Annotated[
        Literal["float32", "float16", "bfloat16"] | None, Option(default="float32")
    ] = None
    """Precision of models."""
    batch_size: Annotated[int | None, Option(default="by their length")] = Field(None, ge=1)
    """Texts that go through a model at a time."""
    embedder: Annotated[
        str | None, Option(default="sentence-transformers/all-MiniLM-L6-v2", page="embeddings.md")
    ] = None
    """What turns texts into vectors, for cosines: a FOLDER, a model on this machine,
    openai:text-embedding-3-small, or a base URL with #MODEL."""
    embedder_prefix: Annotated[str | None, Option(default="the folder's own prompt")] = None
    """What goes before each embedded text, where a model wants it: 'query: '."""
    embedder_dimensions: Annotated[int | None, Option(default="the model's own")] = Field(
        None, ge=1
    )
    """Components of an endpoint's vectors, where its model lets one choose."""
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
    its JSON schema all come from these fields.
    """


MODEL_KWARGS: Mapping[str, str] = {
    "temperature": "temperature",
    "top_p": "top_p",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
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
        raise OptionError(name, f"is no sampling parameter. {listed}")
    try:
        make_config(**{MODEL_KWARGS[name]: value})
    except OptionError as error:
        raise OptionError(name, error.problem) from error
    return MODEL_KWARGS[name]


def make_config(**values: Any) -> RunConfig:
    """A configuration from keywords. A value ``None`` counts as left out, a path as its text.

    Raises:
        UsageError: an unknown key, or (an `OptionError`) an impossible value.
    """
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
            hint = did_you_mean(where, RunConfig.model_fields)
            raise UsageError(f"Unknown option {where!r}. {hint}") from error
        raise OptionError(where, problem) from error
