"""Checks of a configuration file beyond the types of its values: names of suites, metrics, judges
and files, gates, parameters. They run before the work begins, and each error has its line."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ragassay import formats, suites
from ragassay.base.errors import OptionError, UsageError
from ragassay.base.yaml_files import Place
from ragassay.engine.comparison import gates
from ragassay.engine.config.judging import OWN, POOLED
from ragassay.engine.config.metric_selection import (
    MetricSelection,
    make_plan,
    own_metrics,
    published_names,
    with_options,
)
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.consistency.consistency_plan import templates
from ragassay.engine.models.model_checks import check_folders, check_names, models_used
from ragassay.formats import encodings
from ragassay.formats.records.chosen_columns import canonical
from ragassay.metrics.core.metric import Metric
from ragassay.user_code.object_loading import has_module

Wrong = Callable[[Place, str], Exception]
"""Makes an error about a key, or an item of one, of what is wrong there."""


def check(config: RunConfig, keys: Collection[str], wrong: Wrong) -> None:
    """Looks at the values of some keys.

    Args:
        config: of the run, flags included.
        keys: those that the file has.
        wrong: makes the errors, for the place of a key or of an item of it.

    Raises:
        InputError: see the module.
    """
    for place, name in _paths(config):
        if place[0] in keys and not Path(name).exists():
            raise wrong(place, f"there is no file or folder {name}")
    own = own_metrics(config.model_dump())  # makes their names known
    for key in keys:
        for place, attempt in _attempts(key, config):
            _try(attempt, place, wrong)
    if {"options", "fail_under", "consistency_of", "models"} & set(keys):
        _check_plan(config, keys, own, wrong)


def _try(attempt: Callable[[], object], place: Place, wrong: Wrong) -> None:
    if error := _failure(attempt):
        problem = error.problem if isinstance(error, OptionError) else str(error)
        raise wrong(place, problem) from error


def _failure(attempt: Callable[[], object]) -> UsageError | None:
    try:
        attempt()
    except UsageError as error:
        return error
    return None


def _paths(config: RunConfig) -> list[tuple[Place, str]]:
    """The files that are read, each with the place of its name."""
    files = {key: getattr(config, key) for key in ("references", "golden", "qrels", "judge_prompt")}
    if config.nuggets not in (OWN, POOLED):
        files["nuggets"] = config.nuggets
    places: list[tuple[Place, str]] = [((key,), name) for key, name in files.items() if name]
    data = [config.data] if isinstance(config.data, str) else config.data or []
    places += [(("data",), str(path)) for name in data for path in formats.files_of(name)]
    places += [(("prompts", kind), name) for kind, name in config.prompts.items()]
    return places + [(("rubric", str(at)), name) for at, name in enumerate(config.rubric)]


def _attempts(key: str, config: RunConfig) -> Sequence[tuple[Place, Callable[[], object]]]:
    """The checks of the items of a key, each with its place."""
    value, check_one = getattr(config, key), _CHECKS.get(key)
    if check_one is None or value is None:
        return []
    if isinstance(value, Mapping):
        return [((key, name), partial(check_one, config, {name: value[name]})) for name in value]
    if isinstance(value, list):
        return [((key, str(at)), partial(check_one, config, item)) for at, item in enumerate(value)]
    return [((key,), partial(check_one, config, value))]


def _metric(config: RunConfig, name: str) -> None:
    suites.metrics_by_name(name, ks=config.ks, local=published_names(config, _format(config)))


def _over_runs(config: RunConfig, name: str) -> None:
    templates(config.model_copy(update={"consistency_metrics": [name]}), [])


def _cutoff(config: RunConfig, k: int) -> None:
    if k < 1:
        raise UsageError(f"a cut-off is at least 1, not {k}")


def _judge(config: RunConfig, word: str) -> None:
    from ragassay.judges.judge_factory import address_of, kinds
    from ragassay.judges.python_judge import names_object
    from ragassay.transport.secrets import NO_KEY

    if names_object(word) and has_module(word):
        return  # the run imports it when it begins
    if word.strip().partition(":")[0].casefold() not in kinds():
        address_of(word.strip(), "model", os.environ, NO_KEY)


_CHECKS: Mapping[str, Callable[[RunConfig, Any], object]] = {
    "suite": lambda config, name: suites.get(name),
    "metrics": _metric,
    "consistency_metrics": _over_runs,
    "ks": _cutoff,
    "format": lambda config, name: formats.get(name),
    "encoding": lambda config, name: encodings.checked(name),
    "columns": lambda config, mapping: canonical(mapping),
    "fail_under": lambda config, text: gates.parse(text),
    "judge": _judge,
    "models": lambda config, folders: check_folders(folders),
}
"""The check of a key's value, or of an item of it: it raises `UsageError` for an impossible one."""


def _check_plan(
    config: RunConfig, keys: Collection[str], own: Sequence[Metric], wrong: Wrong
) -> None:
    """Checks the keys whose values depend on the metrics: parameters, gates, models, and the
    metrics whose spread is reported."""
    data_format = _format(config)
    if data_format is None and not (config.suite or config.metrics):
        return  # the metrics depend on the data

    def plan(**changed: Any) -> MetricSelection:
        return make_plan(config.model_copy(update=changed), data_format or "", (), own)

    for at, name in enumerate(config.consistency_of) if "consistency_of" in keys else ():
        attempt = partial(plan, options={}, consistency_of=[name])
        _try(attempt, ("consistency_of", str(at)), wrong)
    without_options = plan(options={})
    if "options" in keys:
        _check_options(list(without_options.every.values()), config.options, wrong)
    full = plan()
    if "models" in keys:
        models = models_used(config, full.every.values())
        for name in config.models:
            _try(partial(check_names, [name], models), ("models", name), wrong)
    if "fail_under" in keys:
        shown = {name: str(metric) for name, metric in full.metrics.items()}
        used = [suite.name for suite in full.suites]
        for at, text in enumerate(config.fail_under):
            place = ("fail_under", str(at))
            _try(partial(gates.resolve, [text], shown, used), place, wrong)


def _check_options(metrics: Sequence[Metric], options: Mapping[str, Any], wrong: Wrong) -> None:
    """Tries all parameters together, because one may need another. The error names the parameter
    without which the others fit, or else the first that does not fit those before it.
    """
    all_at_once = partial(with_options, metrics, options)
    if not _failure(all_at_once):
        return
    for name in options:
        others = {other: value for other, value in options.items() if other != name}
        if not _failure(partial(with_options, metrics, others)):
            _try(all_at_once, ("options", name), wrong)
    names = list(options)
    for n, name in enumerate(names, start=1):
        first = {one: options[one] for one in names[:n]}
        _try(partial(with_options, metrics, first), ("options", name), wrong)


def _format(config: RunConfig) -> str | None:
    """The format of the data; ``None`` where the configuration does not say which data."""
    if config.format or config.data is None:
        return config.format
    if not formats.files_of(config.data)[0].exists():
        return None
    return formats.detect(config.data, config.encoding).name
