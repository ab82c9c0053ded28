"""From a name to a metric and back: the grammar, the aliases and the nearest match.

``name(param=value,...).part@cutoff``: each of the three tails is optional, as the metric declares.
A value may be a metric's name with parameters of its own: ``runs_cv(of=P(rel=2)@5)``.
"""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from ragassay import discovery
from ragassay.errors import UsageError, did_you_mean
from ragassay.metrics.base import Metric, parameter_types, registered

DEFAULT_KS = (1, 5, 10, 20, 50, 100)
"""UltraRAG's default cut-offs."""

ULTRARAG_RANKED = {
    "recall": "Recall",
    "ndcg": "nDCG",
    "precision": "P",
}
"""UltraRAG's names that stand for one metric at each of its ``ks``."""

_GRAMMAR = re.compile(
    r"^(?P<name>[A-Za-z0-9_\-]+)"
    r"(?:\((?P<params>(?:[^()]|\([^()]*\))*)\))?"
    r"(?:\.(?P<part>[A-Za-z_]\w*))?"
    r"(?:@(?P<cut>[^@\s]+))?$"
)


class UnknownMetric(UsageError):  # noqa: N818 - the message is for users
    """A name that is no metric's."""


@cache
def known() -> Mapping[str, type[Metric]]:
    """Every metric class, by canonical name. Imports each module of ``ragassay.metrics`` once."""
    for _ in discovery.modules("ragassay.metrics"):
        pass  # importing a module registers its metrics
    return dict(sorted(registered().items(), key=lambda item: item[0].casefold()))


@cache
def aliases() -> Mapping[str, str]:
    """Every alias with the expression that it stands for."""
    return {a: target for cls in known().values() for a, target in cls.aliases.items()}


def parse(text: str, local: Mapping[str, str] | None = None) -> Metric:
    """The metric that ``text`` names.

    Args:
        text: for example ``nDCG@10`` or an alias such as ``MRR``.
        local: further aliases that win over the general ones (a suite's published names).

    Raises:
        UsageError: the name, a parameter, the part or the cut-off is unknown or out of range; the
            message has the nearest match.
    """
    text = text.strip()
    found = _GRAMMAR.match(text)
    if found is None:
        raise UsageError(
            f"{text!r} is not a metric name. The form is name(param=value).part@cutoff, "
            "as in nDCG@10 or rougeL(stem=false).f."
        )
    cls, given = _resolve(found["name"], text, local or {})
    given = dict(given)
    specs = {spec.name: spec for spec in dataclasses.fields(cls)}
    by_role = {spec.metadata.get("role"): spec.name for spec in specs.values()}
    written: set[str] = set()
    for item in split(found["params"] or ""):
        key, sep, value = (piece.strip() for piece in item.partition("="))
        takes = parameters(cls)
        if not sep or key not in takes:
            raise UsageError(
                f"{text}: {cls.name} has no parameter {key!r}; "
                + (f"it takes {', '.join(takes)}." if takes else "it takes none.")
            )
        if key in written:
            raise UsageError(f"{text}: {key} is given twice.")
        written.add(key)
        given[key] = _convert(text, cls, key, value)
    for role, value in (("part", found["part"]), ("cutoff", found["cut"])):
        if value is None:
            continue
        if role not in by_role:
            what = "parts (no '.')" if role == "part" else "cut-off (no '@')"
            raise UsageError(f"{text}: {cls.name} has no {what}.")
        given[by_role[role]] = _convert(text, cls, by_role[role], value)
    for spec in specs.values():
        if spec.name not in given and spec.default is dataclasses.MISSING:
            raise UsageError(f"{text}: {cls.name} needs a cut-off, as in {cls.name}@10.")
    return cls(**given)


def find(text: str, local: Mapping[str, str] | None = None) -> tuple[type[Metric], str]:
    """The class behind a name and its canonical spelling; a required cut-off may be missing.

    Raises:
        UsageError: there is no such metric.
    """
    try:
        metric = parse(text, local)
    except UsageError:
        found = _GRAMMAR.match(text.strip())
        if found is None or found["params"] or found["part"] or found["cut"]:
            raise
        base = ULTRARAG_RANKED.get(found["name"].casefold())
        if base is not None and found["name"] not in known():
            return known()[base], base
        cls, _ = _resolve(found["name"], text, local or {})
        return cls, cls.name
    return type(metric), str(metric)


def parameters(*metrics: Metric | type[Metric]) -> dict[str, dataclasses.Field[Any]]:
    """What of some metrics may be set: not part and cut-off, which have places in the name."""
    return {
        spec.name: spec
        for metric in metrics
        for spec in dataclasses.fields(metric)
        if spec.metadata.get("role") is None
    }


def with_parameters(metric: Metric, values: Mapping[str, Any]) -> Metric:
    """The metric with some of its parameters set, as if they stood in its name.

    Raises:
        UsageError: a value that the parameter does not take.
    """
    cls = type(metric)
    typed = {
        key: _convert(metric.name, cls, key, str(value)) if not isinstance(value, bool) else value
        for key, value in values.items()
    }
    return dataclasses.replace(metric, **typed)


def usual(metric: Metric) -> Metric:
    """The metric with its parameters at their defaults; part and cut-off stay."""
    defaults = {name: spec.default for name, spec in parameters(metric).items()}
    return dataclasses.replace(metric, **defaults)


def is_known(text: str, local: Mapping[str, str] | None = None) -> bool:
    """Whether ``text`` names a metric (or several, as UltraRAG's ``recall`` does)."""
    try:
        return bool(parse_all(text, local=local))
    except UsageError:
        return False


def parse_all(
    names: str | Iterable[str],
    *,
    ks: Sequence[int] | None = None,
    local: Mapping[str, str] | None = None,
) -> list[Metric]:
    """The metrics that a list (or a comma-separated string) names, in order, without repeats.

    UltraRAG's ``recall``, ``ndcg`` and ``precision`` stand for one metric at each of ``ks``
    (default 1, 5, 10, 20, 50, 100), unless ``local`` gives them another meaning.

    Raises:
        UsageError: see `parse`; also a ``ks`` below 1, or no name at all.
    """
    listed = split(names)
    if not listed:
        raise UsageError("No metric is named. 'ragassay metrics' lists them.")
    found: dict[Metric, None] = {}
    for name in listed:
        base = at_each_k(name, local)
        if base is not None:
            for k in ks or DEFAULT_KS:
                found.setdefault(parse(f"{base}@{k}"), None)
        else:
            found.setdefault(parse(name, local), None)
    return list(found)


def at_each_k(name: str, local: Mapping[str, str] | None = None) -> str | None:
    """The metric that UltraRAG's ``recall``, ``ndcg`` or ``precision`` stands for at each cut-off;
    ``None`` for a name that cut-offs given apart do not change."""
    if name in known() or name in (local or {}):
        return None
    return ULTRARAG_RANKED.get(name.casefold())


def split(names: str | Iterable[str]) -> list[str]:
    """The single names in (a list of) comma-separated ones; commas in parentheses do not count."""
    texts = [names] if isinstance(names, str) else names
    pieces = (piece.strip() for text in texts for piece in _cut(text))
    return [piece for piece in pieces if piece]


def _cut(text: str) -> list[str]:
    """The pieces between the commas that stand in no parentheses."""
    pieces, depth = [""], 0
    for char in text:
        depth = max(0, depth + (char == "(") - (char == ")"))
        if char == "," and not depth:
            pieces.append("")
        else:
            pieces[-1] += char
    return pieces


def _resolve(
    name: str, text: str, local: Mapping[str, str]
) -> tuple[type[Metric], Mapping[str, Any]]:
    """The class behind a name, and the parameters that an alias fixes."""
    if name in local:
        return _expand(local[name])
    if name in known():
        return known()[name], {}
    if name in aliases():
        return _expand(aliases()[name])
    folded = name.casefold()
    for other in local:
        if other.casefold() == folded:
            return _expand(local[other])
    for other in known():
        if other.casefold() == folded:
            return known()[other], {}
    for other in aliases():
        if other.casefold() == folded:
            return _expand(aliases()[other])
    hint = did_you_mean(name, [*known(), *aliases(), *local, *ULTRARAG_RANKED])
    raise UnknownMetric(f"Unknown metric {text!r}. {hint} 'ragassay metrics' lists them all.")


def _expand(expression: str) -> tuple[type[Metric], Mapping[str, Any]]:
    """Class and fixed parameters of an alias's expression.

    The expression may leave out a required cut-off: whoever uses the alias gives it.
    """
    try:
        metric = parse(expression)
    except UsageError:
        return known()[expression], {}
    fixed = {
        s.name: getattr(metric, s.name)
        for s in dataclasses.fields(metric)
        if getattr(metric, s.name) != s.default
    }
    return type(metric), fixed


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
