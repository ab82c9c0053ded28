"""From a name, ``name(param=value,...).part@cutoff``, to a metric: the grammar, the aliases and the
nearest match. A value may be a metric's name itself: ``runs_cv(of=P(rel=2)@5)``."""

from __future__ import annotations

import dataclasses
import importlib
import re
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, dataclass_transform

from ragassay.base import packages
from ragassay.base.errors import UsageError, did_you_mean
from ragassay.metrics.core.metric import (
    Metric,
    parameter_types,
    register as register_class,
    registered,
    spelling,
)

if TYPE_CHECKING:
    from ragassay.judges import Question

M = TypeVar("M", bound=Metric)

DEFAULT_KS = (1, 5, 10, 20, 50, 100)
"""UltraRAG's default cut-offs."""

ULTRARAG_RANKED = {"recall": "Recall", "ndcg": "nDCG", "precision": "P"}
"""UltraRAG's names that mean one metric at each of its ``ks``."""

SEVERAL: Mapping[str, tuple[str, ...]] = {"rouge_score": ("rouge1.f", "rouge2.f", "rougeL.f")}
"""Published names of several metrics: datapizza's function gives three values."""

_GRAMMAR = re.compile(
    r"^(?P<name>[A-Za-z0-9_\-]+)"
    r"(?:\((?P<params>(?:[^()]|\([^()]*\))*)\))?"
    r"(?:\.(?P<part>[A-Za-z_]\w*))?"
    r"(?:@(?P<cutoff>[^@\s]+))?$"
)


class UnknownMetric(UsageError):  # noqa: N818 - the message is for users
    """A name that is no metric's; ``hint`` has the nearest names."""

    def __init__(self, problem: str, hint: str) -> None:
        self.hint = hint
        super().__init__(problem)


def metric_classes() -> Mapping[str, type[Metric]]:
    """Every metric class, by canonical name. Imports each module of ``ragassay.metrics`` once, and
    what installed packages add."""
    _import_all()
    packages.added("metrics")
    return registered()[0]


def aliases() -> Mapping[str, str]:
    """Every alias with the expression that it means."""
    metric_classes()
    return registered()[1]


@cache
def _import_all() -> None:
    for _ in packages.modules("ragassay.metrics"):
        pass  # importing a module registers its metrics


@cache
def _places() -> Mapping[str, Sequence[str]]:
    """The modules that define each name or alias of ours, by ``modules_of_names.txt``; where it
    lacks a name, all modules are imported to find it."""
    places: dict[str, list[str]] = {}
    for module, names in packages.word_lists("ragassay.metrics", "modules_of_names.txt").items():
        for name in names:
            places.setdefault(name, []).append(f"ragassay.metrics.{module}")
    return places


def all_names() -> set[str]:
    """Every name and alias of a metric; imports none of ours."""
    packages.added("metrics")
    classes, others = registered()
    return {*_places(), *classes, *others, *SEVERAL}


def parse(text: str, local: Mapping[str, str] | None = None) -> Metric:
    """The metric that a text such as ``nDCG@10`` names; ``local`` are aliases that win over the
    general ones. A `UsageError` with the nearest match where the name, a parameter, the part or the
    cut-off is unknown or out of range."""
    return _parse(text.strip(), local or {})[0]


def _parse(text: str, local: Mapping[str, str]) -> tuple[Metric, bool]:
    """The metric, and whether it was named by an alias or in another case."""
    match = _GRAMMAR.match(text)
    if match is None:
        raise UsageError(
            f"{text!r} is not a metric name. The form is name(param=value).part@cutoff, "
            "as in nDCG@10 or rougeL(stem=false).f."
        )
    found = _look_up(match["name"], local)
    if found is None:
        raise _unknown(match["name"], text, local)
    cls, fixed, by_alias = found
    settable = parameters(cls)
    by_role = {spec.metadata.get("role"): spec.name for spec in dataclasses.fields(cls)}
    written = [item.partition("=") for item in split(match["params"] or "")]
    for key, sep, _ in written:
        if not sep or key.strip() not in (*settable, by_role.get("cutoff")):
            raise UsageError(
                f"{text}: {cls.name} has no parameter {key.strip()!r}; "
                + (f"it takes {', '.join(settable)}." if settable else "it takes none.")
            )
    for role, lacking in (("part", "parts (no '.')"), ("cutoff", "cut-off (no '@')")):
        if match[role] is not None:
            if role not in by_role:
                raise UsageError(f"{text}: {cls.name} has no {lacking}.")
            written.append((by_role[role], "=", match[role]))
    values: dict[str, Any] = {}
    for key, _, value in written:
        if key.strip() in values:
            raise UsageError(f"{text}: {key.strip()} is given twice.")
        values[key.strip()] = _convert(text, cls, key.strip(), value.strip())
    values = {**fixed, **values}
    for spec in dataclasses.fields(cls):
        if spec.name not in values and spec.default is dataclasses.MISSING:
            raise UsageError(f"{text}: {cls.name} needs a cut-off, as in {cls.name}@10.")
    return cls(**values), by_alias


def _look_up(
    name: str, local: Mapping[str, str]
) -> tuple[type[Metric], Mapping[str, Any], bool] | None:
    """A name's class, the parameters that an alias fixes, and whether the name is an alias or of
    another case; ``None`` for an unknown name."""
    classes: Mapping[str, type[Metric]] = {}
    others: Mapping[str, str] = {}
    if name not in local:
        for module in _places().get(name, ()):
            importlib.import_module(module)
        classes, others = registered()
        if name not in classes and name not in others:
            classes, others = metric_classes(), aliases()
    spellings: tuple[Mapping[str, str | type[Metric]], ...] = (local, classes, others)
    folded = name.casefold()
    targets = [names[name] for names in spellings if name in names] or [
        target
        for names in spellings
        for other, target in names.items()
        if other.casefold() == folded
    ]
    if not targets:
        return None
    if not isinstance(targets[0], str):
        return targets[0], {}, name not in classes
    try:
        metric = parse(targets[0])
    except UsageError:  # the name of a metric whose cut-off is still to come
        return registered()[0][targets[0]], {}, True
    values = {spec.name: getattr(metric, spec.name) for spec in dataclasses.fields(metric)}
    return type(metric), values, True


def _unknown(name: str, text: str, local: Mapping[str, str]) -> UsageError:
    """The error for an unknown name, with the nearest ones."""
    if several := SEVERAL.get(name.casefold()):
        return UsageError(
            f"{name} means several metrics: {', '.join(several)}. Choose one for {text!r}."
        )
    hint = did_you_mean(name, [*metric_classes(), *aliases(), *local, *ULTRARAG_RANKED, *SEVERAL])
    problem = f"Unknown metric {text!r}. {hint} 'ragassay metrics' lists them all."
    return UnknownMetric(problem, hint)


def find(text: str, local: Mapping[str, str] | None = None) -> list[tuple[type[Metric], str]]:
    """The class that a name means, and its canonical spelling; a required cut-off may be
    missing. More than one only for a name of several metrics (`SEVERAL`)."""
    try:
        metrics = [parse(each, local) for each in _expanded(text.strip(), local or {})]
        return [(type(metric), str(metric)) for metric in metrics]
    except UsageError:
        match = _look_up(text.strip(), local or {})
        if match is None:
            raise
        return [(match[0], match[0].name)]


def parameters(*metrics: Metric | type[Metric]) -> dict[str, dataclasses.Field[Any]]:
    """The parameters that may be set in parentheses, by name: all but part and cut-off."""
    return {
        spec.name: spec
        for metric in metrics
        for spec in dataclasses.fields(metric)
        if spec.metadata.get("role") is None
    }


def with_parameters(metric: Metric, values: Mapping[str, Any]) -> Metric:
    """The metric with some of its parameters set, as if they were in its name."""
    typed = {
        key: _convert(metric.name, type(metric), key, str(value)) for key, value in values.items()
    }
    return dataclasses.replace(metric, **typed)


def published_name(name: str, metric: Metric, usual: Metric) -> str:
    """A published name of a metric, with the parameters that set it apart from ``usual``, for which
    the name is enough, except those that a note names beside the values."""
    params = [
        f"{key}={spelling(value)}"
        for key, spec in parameters(metric).items()
        if not spec.metadata.get("beside")
        if (value := getattr(metric, key)) != getattr(usual, key)
    ]
    return f"{name}({','.join(params)})" if params else name


def known(text: str, local: Mapping[str, str] | None = None) -> list[Metric]:
    """The metrics that ``text`` names (several for UltraRAG's ``recall``); none where it names
    none."""
    try:
        return list(metrics_by_name(text, local=local).values())
    except UsageError:
        return []


class Use(NamedTuple):
    """A kind of question (`Question.kind`), and the name of the metric that asks it
    (`Metric.name`): metrics may ask the same kind about different things."""

    kind: str
    metric: str


def uses_of(metric: Metric, local: Mapping[str, str] | None) -> frozenset[Use]:
    """The questions that a metric's value rests on: its own, those of its inputs, and those of the
    metric (``of``) that a figure over repeated runs looks at."""
    asks: Sequence[type[Question[Any]]] = getattr(metric, "asks", ())
    uses = frozenset(Use(question.kind, metric.name) for question in asks)
    of = getattr(metric, "of", None)
    subjects = known(of, local) if isinstance(of, str) and of else []
    return uses.union(*(uses_of(each, local) for each in (*metric.inputs, *subjects)))


def metrics_by_name(
    names: str | Iterable[str],
    *,
    ks: Sequence[int] | None = None,
    local: Mapping[str, str] | None = None,
) -> dict[str, Metric]:
    """The metrics that a list (or a comma-separated string) names, in order, without repeats: each
    under the name that results show it by, which is the one that it was asked by, as it was typed
    (``MRR``, ``UMBRELA``); a canonical name is completed (``rougeL.f``).

    A name that needs a cut-off and has none means one metric at each of ``ks``. So do
    UltraRAG's ``recall``, ``ndcg`` and ``precision``, unless ``local`` says what they mean.
    """
    listed = split(names)
    if not listed:
        raise UsageError("No metric is named. 'ragassay metrics' lists them.")
    shown_names: dict[Metric, str] = {}
    for name in listed:
        full_names = _expanded(name, local or {}, ks or DEFAULT_KS)
        while full_names:
            full_name = full_names.pop(0)
            try:
                metric, by_alias = _parse(full_name, local or {})
            except UsageError:
                if full_name in (local or {}) or not lacks_cutoff(full_name):
                    raise
                full_names += [f"{full_name}@{k}" for k in ks or DEFAULT_KS]
                continue
            shown_names.setdefault(
                metric, full_name if by_alias or full_name != name else str(metric)
            )
    return {shown: metric for metric, shown in shown_names.items()}


def _expanded(name: str, local: Mapping[str, str], ks: Sequence[int] = ()) -> list[str]:
    """The names that a name means: itself, unless it is a published one of several metrics."""
    folded = name.casefold()
    if name not in local:
        if folded in ULTRARAG_RANKED and name != ULTRARAG_RANKED[folded]:
            return [f"{name}@{k}" for k in ks] or [ULTRARAG_RANKED[folded]]
        if folded in SEVERAL and folded not in map(str.casefold, local):
            return list(SEVERAL[folded])
    return [name]


def lacks_cutoff(name: str) -> bool:
    """Whether a bare name is that of a metric that needs a cut-off."""
    match = _look_up(name, {}) if re.fullmatch(r"[\w\-]+", name) else None
    if match is None:
        return False
    cls, fixed, _ = match
    return any(
        spec.default is dataclasses.MISSING
        and spec.name not in fixed
        and parameter_types(cls)[spec.name] is int
        for spec in dataclasses.fields(cls)
    )


def takes_cutoffs(name: str, local: Mapping[str, str] | None = None) -> bool:
    """Whether separately given cut-offs (``ks``) apply to a name."""
    name, local = name.strip(), local or {}
    expanded = _expanded(name, local, (1,))
    is_local = name.casefold() in map(str.casefold, local)
    return expanded == [f"{name}@1"] or (expanded == [name] and not is_local and lacks_cutoff(name))


def split(names: str | Iterable[str]) -> list[str]:
    """The single names in (a list of) comma-separated names; commas in parentheses do not count."""
    pieces: list[str] = []
    for text in [names] if isinstance(names, str) else names:
        pieces.append("")
        depth = 0
        for char in text:
            depth = max(0, depth + (char == "(") - (char == ")"))
            if char == "," and not depth:
                pieces.append("")
            else:
                pieces[-1] += char
    return [piece for piece in map(str.strip, pieces) if piece]


def _convert(text: str, cls: type[Metric], key: str, value: str) -> Any:
    """A parameter's value from its spelling, by the field's declared type."""
    hint = parameter_types(cls)[key]
    kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if bool in kinds and value.casefold() in ("true", "false"):
        return value.casefold() == "true"
    for kind in (int, float):
        if kind in kinds:
            try:
                return kind(value)
            except ValueError:
                continue
    if str in kinds or any(typing.get_origin(kind) is typing.Literal for kind in kinds):
        return value
    wanted = "/".join(
        getattr(kind, "__name__", str(kind)) for kind in kinds if kind is not type(None)
    )
    raise UsageError(f"{text}: {key} must be {wanted}, not {value!r}.")


_OWN: dict[str, str] = {}
"""Names taken so far, with the (qualified) name of the class that has each."""


@dataclass_transform(frozen_default=True)
def register(cls: type[M]) -> type[M]:
    """Makes a user's metric class a frozen dataclass, known by its name (a decorator). A later
    class of the same name replaces it, so that an edited file, or a notebook's cell, can be loaded
    again. A `UsageError` where another metric has the name, or it is not allowed."""
    name = cls.name
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_\-]*", name):
        raise UsageError(
            f"{name!r} cannot be a metric's name: use letters, digits, '_' and '-', a letter first."
        )
    names = [*metric_classes(), *aliases(), *ULTRARAG_RANKED, *SEVERAL]
    if _OWN.get(name) != cls.__qualname__ and name.casefold() in map(str.casefold, names):
        raise UsageError(
            f"A metric is called {name!r} already; give yours another name. "
            "'ragassay metrics' lists them all."
        )
    cls = register_class(cls)
    _OWN[name] = cls.__qualname__
    return cls
