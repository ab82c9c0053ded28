"""The configuration of a run; `config_reading` reads it from YAML."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from ragassay.base.errors import OptionError, UsageError, did_you_mean
from ragassay.base.problem_words import mistakes
from ragassay.engine.config.judging import Judging
from ragassay.engine.config.neural_models import NeuralModels
from ragassay.engine.config.parameters import Parameters

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
    """The key of a configuration for a sampling parameter under its endpoints' name.

    Args:
        name: of the parameter.
        value: of the parameter.

    Raises:
        OptionError: an unknown parameter, or an impossible value.
    """
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
