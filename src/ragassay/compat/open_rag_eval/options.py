"""The options of Open RAG Eval's Python classes, and what they mean here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.base.errors import InputError, UsageError, did_you_mean, warn_user
from ragassay.base.yaml_files import Marked

if TYPE_CHECKING:
    from ragassay.metrics.core.metric import Metric

K_VALUES = (1, 3, 5)


def translated(evaluator: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a run for an evaluator's options, as for those in the tool's files. What has no
    meaning here is warned of."""
    from ragassay.compat.open_rag_eval.published_config import translate
    from ragassay.engine.run.config_reading import ConfigFile

    body = {"evaluator": {"name": evaluator, "options": dict(options)}}
    file = ConfigFile(Marked(body, {}), Path(), flags=("judge",))
    try:
        translate(file)
    except InputError as error:
        place = (error.field or "").removeprefix("evaluator.options.")
        raise UsageError(f"{place}: {error.problem}. {error.hint or ''}") from error
    for note in file.notes:
        warn_user(note)
    return file.values


def cutoffs(values: Any) -> tuple[int, ...]:
    """Checks ``k_values``."""
    listed = values if isinstance(values, list | tuple) else ()
    if not listed or any(type(value) is not int or value < 1 for value in listed):
        raise UsageError(f"k_values: {values!r} is no list of whole numbers of at least 1.")
    return tuple(listed)


def with_options(metric: Metric, parameters: Mapping[str, Any]) -> Metric:
    """The metric with those of the parameters that it has."""
    from ragassay.metrics.core import naming

    own = naming.parameters(metric)
    return naming.with_parameters(metric, {k: v for k, v in parameters.items() if k in own})


def check(options: Iterable[str], who: str, known: Collection[str]) -> None:
    """Checks that all options are known."""
    for name in options:
        if name not in known:
            allowed = sorted(known)
            raise UsageError(
                f"{who} has no option {name!r}. {did_you_mean(name, allowed)} "
                f"There are: {', '.join(allowed) or 'none'}."
            )
