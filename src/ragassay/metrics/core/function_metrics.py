"""A metric from a function: ``@ragassay.metric``."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import inspect
import math
import sys
import tokenize
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from typing import Any, ClassVar, TypeVar, overload

from ragassay.base.errors import UsageError, did_you_mean
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric, Need, Window, param, said
from ragassay.user_code.background_loop import run
from ragassay.user_code.object_calls import described, is_async
from ragassay.user_code.object_loading import PYTHON_WORD, load_object

F = TypeVar("F", bound=Callable[..., Any])

_NEEDS: tuple[Need, ...] = (
    *("query", "passages", "answer", "references", "gold", "answerability", "history"),
    "given",
)
"""Parts without which a metric has no value, in the order in which they are looked for."""

_FREE = (
    *("sample", "id", "system", "repeat", "metadata", "timestamp", "failure"),
    *("reference_groups", "negative_references"),
)
"""Parts that every sample has, if only empty."""

_AT_ONCE = 64
"""Samples for which an asynchronous function is called at once."""


class FunctionMetric(Metric):
    """A metric that a function computes, one sample at a time, from parts of it (``fields``).
    Numbers of another ``digest`` of its source are not compared. ``place`` is ``module:function``,
    from which a run's configuration loads it again; empty where it cannot be loaded."""

    function: ClassVar[Callable[..., Any]]
    fields: ClassVar[tuple[str, ...]]
    digest: ClassVar[str]
    place: ClassVar[str]
    family = "own"
    source = "our own"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns for these arguments."""
        return type(self).function(*args, **kwargs)

    @property
    def signature(self) -> str:
        """Holds a hash of the function's source."""
        return f"{super().signature}|function={self.digest}"

    def lacks(self, sample: Sample) -> Unscored | None:
        """Also unscored where a passage that the function is to see has no text, or an empty
        one."""
        lacking = super().lacks(sample)
        if lacking is None and "passages" in self.needs:
            for rank, passage in enumerate(sample.passages or (), 1):
                if not passage.text:
                    return Unscored(Reason.MISSING_INPUT, f"passage {rank} has no text")
        return lacking

    def score_window(self, window: Window) -> Sequence[Outcome]:
        if not is_async(type(self).function):
            return [self.lacks(sample) or self._called(sample) for sample in window.samples]
        return run(self._all(window.samples)).result()

    async def _all(self, samples: Sequence[Sample]) -> list[Outcome]:
        places = asyncio.Semaphore(_AT_ONCE)

        async def one(sample: Sample) -> Outcome:
            lacking = self.lacks(sample)
            if lacking is not None:
                return lacking
            async with places:
                try:
                    return self._outcome(await type(self).function(**self._arguments(sample)))
                except Exception as error:
                    return self._broken(error)

        return list(await asyncio.gather(*map(one, samples)))

    def _called(self, sample: Sample) -> Outcome:
        try:
            return self._outcome(type(self).function(**self._arguments(sample)))
        except Exception as error:
            return self._broken(error)

    def _broken(self, error: Exception) -> Unscored:
        """The outcome of a call that raised. A usage error ends the run: no sample is to blame."""
        if isinstance(error, UsageError):
            raise error
        return Unscored(Reason.FAILED, f"{self} raised {described(error, place=True)}")

    def _arguments(self, sample: Sample) -> dict[str, Any]:
        own_parameters = {
            field.name: getattr(self, field.name) for field in dataclasses.fields(self)
        }
        return {**{name: _part_of(sample, name) for name in self.fields}, **own_parameters}

    def _outcome(self, value: Any) -> Outcome:
        """The outcome that a returned value means."""
        explanation = ""
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str):
            value, explanation = value
        if isinstance(value, Unscored):
            return value
        if value is None:
            return Unscored(Reason.UNDEFINED, explanation or f"{self.name} returned None")
        if isinstance(value, Score):
            outcome = value
        else:
            plain = value.item() if getattr(value, "shape", None) == () else value
            if not isinstance(plain, bool | int | float) or not math.isfinite(plain):
                shown = plain if isinstance(plain, float) else f"a {type(value).__name__}"
                return Unscored(
                    Reason.FAILED,
                    f"{self.name} returned {shown}; a metric returns a finite number, True or "
                    "False, (number, explanation), or None where it has no value",
                )
            outcome = Score(plain, {}, explanation)
        number = outcome.number
        if number is not None and not self.allows(number):
            low, high = ("any" if end is None else f"{end:g}" for end in (self.low, self.high))
            return Unscored(
                Reason.FAILED,
                f"{self.name} returned {number}, which lies outside its range, from {low} to "
                f"{high}: state another range with @ragassay.metric(low=..., high=...)",
            )
        return outcome


@overload
def metric(function: F) -> FunctionMetric: ...


@overload
def metric(
    function: None = None,
    *,
    name: str | None = None,
    title: str | None = None,
    low: float | None = 0.0,
    high: float | None = 1.0,
    higher_is_better: bool | None = True,
    version: int = 1,
) -> Callable[[F], FunctionMetric]: ...


def metric(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    title: str | None = None,
    low: float | None = 0.0,
    high: float | None = 1.0,
    higher_is_better: bool | None = True,
    version: int = 1,
) -> FunctionMetric | Callable[[F], FunctionMetric]:
    """Makes a metric of a function (a decorator).

    Examples:
        >>> import ragassay
        >>> @ragassay.metric
        ... def brief(answer, most=5):
        ...     return len(answer.split()) <= most
        >>> data = [{"id": "1", "answer": "Frank Herbert."}, {"id": "2", "query": "When?"}]
        >>> [(row.value, row.reason) for row in ragassay.evaluate(data, [brief]).scores]
        [(True, None), (None, 'missing_input')]
        >>> brief("It was written by Frank Herbert.")
        False
        >>> brief.name, ragassay.metrics.parse("brief(most=9)")
        ('brief', brief(most=9))

    Args:
        function: computes the value of one sample; may be a coroutine function. A parameter that is
            named as a part of a sample gets that part: ``query`` and ``answer`` as texts,
            ``references`` and ``passages`` as lists of texts, ``gold``, ``history``,
            ``answerability``, ``metadata``, ``id``, ``system``, ``repeat``, ``given``, or
            ``sample`` for all of it. A sample without a part is unscored, unless the parameter has
            the default ``None``. Any other parameter has a number, flag or text as its default,
            and is a parameter of the metric: ``brief(most=9)``. The function returns a finite
            number, ``True`` or ``False``, ``(number, explanation)``, or ``None`` (or ``(None,
            why)``) where it has no value.
        name: of the metric (default: the function's).
        title: a line for people (default: the first line of the function's docstring).
        low: smallest value; ``None`` for no bound. A value outside the range is unscored.
        high: largest value, likewise.
        higher_is_better: the direction; ``None`` if neither is better.
        version: raise it if the same input gives another value, for a reason outside the
            function's own source.

    Returns:
        The metric. It can be called like the function.

    Raises:
        UsageError: a parameter that is not a part of a sample and has no default, a name that
            another metric has, an impossible range.
    """

    def made(function: Callable[..., Any]) -> FunctionMetric:
        called = name or str(getattr(function, "__name__", ""))
        if not inspect.isroutine(function) or called == "<lambda>":
            raise UsageError(
                "@ragassay.metric makes a metric of a function with a name: "
                "def politeness(answer): ..."
            )
        if low is not None and high is not None and not low < high:
            raise UsageError(f"The metric {called}: low is {low}, which is not below high, {high}.")
        needs, uses, sample_parts, parameters = _signature_of(function, called)
        doc = inspect.getdoc(function) or ""
        body: dict[str, Any] = {
            "__doc__": doc or f"The function {called}.",
            "__module__": function.__module__,
            "__qualname__": function.__qualname__,
            "__annotations__": {key: type(value) for key, value in parameters.items()},
            **{key: param(value, f"parameter of {called}") for key, value in parameters.items()},
            "function": staticmethod(function),
            "fields": sample_parts,
            "digest": _digest_of(function),
            "place": _place_of(function),
            "name": called,
            "title": title or said(doc)["title"] or called.replace("_", " "),
            "needs": needs,
            "uses": uses,
            "low": low,
            "high": high,
            "higher_is_better": higher_is_better,
            "version": version,
        }
        if function.__annotations__.get("return") in (bool, "bool"):
            body["says"] = "flag"
        cls: type[FunctionMetric] = naming.register(type(called, (FunctionMetric,), body))
        return cls()

    return made if function is None else made(function)


def own_names(names: Sequence[Any], *, typed: bool = True) -> list[str]:
    """Names of metrics, after the functions among them (``module:function``) are loaded.

    To be called only where a person named them, because loading runs their code.
    """
    printed: list[str] = []
    classes: dict[str, type[Metric]] = {}
    for name in names:
        if not isinstance(name, str):
            item = as_metric(name)
            printed.append(str(item))
        elif ":" in name.partition("(")[0]:
            place, bracket, rest = name.partition("(")
            if not PYTHON_WORD.fullmatch(place):
                raise UsageError(f"{name!r} is not a metric's name (a function: module:function).")
            item = as_metric(load_object(place, "metric", typed=typed))
            printed.append(f"{item.name}{bracket}{rest}")
        else:
            printed.append(name)
            continue
        if classes.setdefault(item.name, type(item)) is not type(item):
            raise UsageError(
                f"Two metrics are called {item.name!r}. Rename either: @ragassay.metric(name=...)."
            )
        own_metric = isinstance(name, str) or isinstance(item, FunctionMetric)
        if own_metric and naming.metric_classes().get(item.name) is not type(item):
            naming.register(type(item))  # another one had its name in the meantime
    return printed


def as_metric(value: Any) -> Metric:
    """The metric that an object is, or can be made of."""
    if isinstance(value, Metric):
        return value
    if inspect.isclass(value) and issubclass(value, Metric):
        return value()
    if inspect.isroutine(value):
        return metric(value)
    raise UsageError(
        f"{value!r} is not a metric. Give a name, a function of parts of a sample (answer, query "
        "...) or a metric object. A chat model is the judge: judge=..."
    )


def _part_of(sample: Sample, name: str) -> Any:
    """A part of a sample as functions get it: texts, and lists of texts."""
    if name == "sample":
        return sample
    value = getattr(sample, name)
    if name == "metadata":
        return deepcopy(value)  # a function that changes it changes no other metric's
    if name == "answer":
        return None if value is None else value.text
    if name == "passages":
        return None if value is None else [item.text for item in value]
    if isinstance(value, tuple):
        return list(value) or None if name in ("references", "history") else list(value)
    return str(value) if name == "answerability" and value is not None else value


def _signature_of(
    function: Callable[..., Any], name: str
) -> tuple[tuple[Need, ...], tuple[Need, ...], tuple[str, ...], Mapping[str, Any]]:
    """What a function takes."""
    needed: set[str] = set()
    sample_parts: list[str] = []
    parameters: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        where = f"The metric {name}: its parameter {parameter.name!r}"
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise UsageError(f"{where} has no fixed name. Name the parts of a sample it takes.")
        if parameter.name in (*_NEEDS, *_FREE):
            sample_parts.append(parameter.name)
            if parameter.default is parameter.empty:
                needed.add(parameter.name)
            elif parameter.default is not None:
                raise UsageError(
                    f"{where} is a part of the sample; its default can only be None, which it gets "
                    "where the sample lacks it."
                )
        elif parameter.default is parameter.empty:
            hint = did_you_mean(parameter.name, (*_NEEDS, *_FREE))
            raise UsageError(
                f"{where} is not a part of a sample. {hint} There are: "
                f"{', '.join((*_NEEDS, *_FREE))}; any other parameter needs a default."
            )
        elif not isinstance(parameter.default, bool | int | float | str):
            kind = type(parameter.default).__name__
            raise UsageError(
                f"{where} has a {kind} as its default; a metric's parameter is a number, a flag or "
                "a text."
            )
        else:
            parameters[parameter.name] = parameter.default
    needs = tuple(need for need in _NEEDS if need in needed)
    uses = tuple(need for need in _NEEDS if need in sample_parts and need not in needed)
    return needs, uses, tuple(sample_parts), parameters


def _digest_of(function: Callable[..., Any]) -> str:
    """The hash of a function's source, or of its compiled form where there is none."""
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError, SyntaxError, tokenize.TokenError):
        # There is no file, or the file of that name holds something else at that line.
        code = getattr(function, "__code__", None)
        source = "" if code is None else f"{code.co_code!r}{code.co_consts!r}{code.co_names!r}"
    # A function made by another one also depends on the values that this one gave it.
    for cell in getattr(function, "__closure__", None) or ():
        with suppress(ValueError):  # not filled yet
            value = cell.cell_contents
            source += f"|{value!r}" if isinstance(value, str | int | float | None) else ""
    return hashlib.sha256(source.encode("utf-8", "replace")).hexdigest()[:12]


def _place_of(function: Callable[..., Any]) -> str:
    """``module:function``, from which the function can be loaded again; empty where it cannot."""
    module, path = function.__module__, function.__qualname__
    if module == "__main__" or "<locals>" in path or module not in sys.modules:
        return ""
    return f"{module}:{path}"
