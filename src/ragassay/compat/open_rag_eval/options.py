"""The options of Open RAG Eval's Python classes, and what they mean here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ragassay.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from ragassay.engine.published import TrecOptions
    from ragassay.metrics.core import Metric

K_VALUES = (1, 3, 5)
TREC_KEYS = ("run_consistency", "metrics_to_run_consistency", "hallucination_metric")


def trec_options(given: Mapping[str, Any]) -> TrecOptions:
    """The options of the published tool that are no parameters of metrics, as in its files.

    Raises:
        UsageError: an impossible value, or a backend that there is not.
    """
    from pydantic import ValidationError

    from ragassay.engine.config import first_problem
    from ragassay.engine.published import Hallucination, TrecOptions

    hhem = given.get("hallucination_metric")
    if isinstance(hhem, Mapping):
        check(hhem, "hallucination_metric", Hallucination.model_fields)
    try:
        options = TrecOptions.model_validate(given)
    except ValidationError as error:
        place, problem = first_problem(error)
        raise UsageError(f"{'.'.join(place)}: {problem}.") from error
    backend = options.hallucination_metric and options.hallucination_metric.backend_type
    if backend not in (None, "hhem"):
        raise UsageError(
            f"hallucination_metric: the backend {backend!r} is not supported; there is 'hhem', "
            "which runs on this machine."
        )
    return options


def similarities(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Our names for the metrics that a consistency evaluator's options list.

    Raises:
        UsageError: an unknown option or metric, or an impossible value.
    """
    from pydantic import ValidationError

    from ragassay.engine.config import first_problem
    from ragassay.engine.published import SIMILARITIES, ConsistencyOptions
    from ragassay.metrics.core import naming

    check(options, "ConsistencyEvaluator", ConsistencyOptions.model_fields)
    listed = options.get("metrics") or dict.fromkeys(SIMILARITIES)
    names: dict[str, None] = {}
    for entry in listed if isinstance(listed, list | tuple) else [listed]:
        pairs = {entry: None} if isinstance(entry, str) else entry
        if not isinstance(pairs, Mapping):
            raise UsageError(
                f"metrics: {entry!r} is no metric. Write {{'rouge_score': {{}}}} or 'rouge_score'."
            )
        for name, parameters in pairs.items():
            check([name], "metrics", SIMILARITIES)
            try:
                form = SIMILARITIES[name].model_validate(parameters or {})
            except ValidationError as error:
                place, problem = first_problem(error)
                raise UsageError(f"{'.'.join((name, *place))}: {problem}.") from error
            names |= dict.fromkeys(str(naming.parse(metric)) for metric in form.metrics)
    return tuple(names)


def cutoffs(values: Any) -> tuple[int, ...]:
    """Checks ``k_values``."""
    listed = values if isinstance(values, list | tuple) else ()
    if not listed or any(type(value) is not int or value < 1 for value in listed):
        raise UsageError(f"k_values: {values!r} is no list of whole numbers of at least 1.")
    return tuple(listed)


def with_options(metric: Metric, parameters: Mapping[str, Any]) -> Metric:
    """The metric with those of the parameters that it has.

    Args:
        metric: to be changed.
        parameters: by name; those of other metrics are ignored.
    """
    from ragassay.metrics.core import naming

    own = naming.parameters(metric)
    return naming.with_parameters(metric, {k: v for k, v in parameters.items() if k in own})


def check(options: Iterable[str], who: str, known: Collection[str], *more: str) -> None:
    """Checks that all options are known.

    Args:
        options: names that are given.
        who: takes them, for the message.
        known: names that are allowed.
        more: names that the message lists as well.

    Raises:
        UsageError: one is not; it says which there are.
    """
    for name in options:
        if name not in known:
            allowed = sorted({*known, *more})
            raise UsageError(
                f"{who} has no option {name!r}. {did_you_mean(name, allowed)} "
                f"There are: {', '.join(allowed) or 'none'}."
            )
