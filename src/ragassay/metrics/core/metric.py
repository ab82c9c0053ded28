"""What a metric is: a frozen dataclass whose fields are its parameters, and how one is registered;
and the window of samples that it scores. Its docstring is its only description: commands and
docs/metrics.md show it.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, cast

from ragassay.base.errors import CountedFact, UsageError
from ragassay.base.sample import Passage, Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.models.weights.weight_files import Weights

if TYPE_CHECKING:
    from ragassay.judges.asking import Asker
    from ragassay.models.run_models import Models

T = TypeVar("T")
M = TypeVar("M", bound="Metric")
F = TypeVar("F", bound=Callable[..., Any])
Need = Literal[
    "query", "passages", "answer", "references", "gold", "answerability", "history", "given", "runs"
]
Kind = Literal["arithmetic", "model", "judge"]
Says = Literal["number", "flag", "label"]

SECTIONS = {"Formula": "formula", "Misleads where": "misleads", "Source": "source"}
"""The sections of a docstring, each with the attribute of a metric's class that holds it."""
_SECTION = re.compile(rf"^({'|'.join(SECTIONS)}|Part \w+): (.+(?:\n +.+)*)\n?", re.MULTILINE)
_FOR_PROGRAMMERS = ("Args:", "Attributes:", "Class attributes:", "Raises:")


def said(docstring: str | None) -> dict[str, Any]:
    """The facts in a docstring, each on one line."""
    text = inspect.cleandoc(docstring or "")
    found = {label: " ".join(rest.split()) for label, rest in _SECTION.findall(text)}
    sections: dict[str, Any] = {
        SECTIONS[section]: found[section] for section in SECTIONS if section in found
    }
    if parts := {value[5:]: found[value] for value in found if value.startswith("Part ")}:
        sections["parts_titles"] = parts
    title, *prose = (" ".join(name.split()) for name in _SECTION.sub("", text).split("\n\n"))
    details = " ".join(name for name in prose if not name.startswith(_FOR_PROGRAMMERS))
    return {"title": title.rstrip("."), "details": details.replace("`", "").strip(), **sections}


def param(default: Any, doc: str, *, beside: bool = False, **bounds: float) -> Any:
    """A parameter written in parentheses: ``name(key=value)``.

    Args:
        default: the value when the name leaves it out.
        doc: what it does, in a few words; shown by ``ragassay metrics``.
        beside: true where a published name does not show the parameter, because it says of the
            values where they come from, or which of two published rules they follow, and a note
            says that beside them.
        bounds: ``minimum`` and ``maximum``, the smallest and the largest value allowed, and
            ``exclusive=True`` where these themselves are not.
    """
    return dataclasses.field(default=default, metadata={"doc": doc, "beside": beside, **bounds})


def cutoff(
    default: Any = None, doc: str = "rank cut-off (all ranks when left out)", **bounds: float
) -> Any:
    """The parameter written after ``@``."""
    metadata = {"doc": doc, "role": "cutoff", "minimum": 1, **bounds}
    if default is ...:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def part(default: str, choices: tuple[str, ...], doc: str) -> Any:
    """The parameter written after a dot: ``rougeL.f``. Always printed."""
    return dataclasses.field(
        default=default, metadata={"doc": doc, "role": "part", "choices": choices}
    )


@cache
def parameter_types(cls: type[Metric]) -> Mapping[str, Any]:
    """The declared type of each parameter of a metric class."""
    return typing.get_type_hints(cls)


def spelling(value: Any) -> str:
    """A parameter's value as a metric's name has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)


@cache
def choices_of(cls: type[Metric]) -> Mapping[str, tuple[Any, ...]]:
    """The values that each parameter of a metric class may have, where they can be listed."""
    types = parameter_types(cls).items()
    listed = {name: typing.get_args(t) for name, t in types if typing.get_origin(t) is Literal}
    stated = {spec.name: spec.metadata.get("choices") for spec in dataclasses.fields(cls)}
    return listed | {name: tuple(choices) for name, choices in stated.items() if choices}


class Remembering:
    """Remembers what is computed about it. A subclass makes ``_memo``, empty at first."""

    _memo: dict[Hashable, Any]

    def once(self, build: Callable[..., T], *args: Hashable) -> T:
        """``build(self, *args)``, computed on the first call and remembered."""
        key = (build, args)
        if key not in self._memo:
            self._memo[key] = build(self, *args)
        return cast(T, self._memo[key])


@dataclass(eq=False)
class AllSamples(Remembering):
    """All samples of a run, and what is computed from them, once for all windows. Iterating opens
    them from the beginning."""

    read: Callable[[], Iterable[Sample]]
    _memo: dict[Hashable, Any] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Sample]:
        return iter(self.read())


class Window(Remembering):
    """A bounded batch of samples, in the order of the data, with everything computed about it so
    far. Without ``asker`` the embedded judge is asked, without ``models`` they have every default,
    without ``all_samples`` the window holds all. ``computed`` has the outcomes of judged metrics.
    """

    def __init__(
        self,
        samples: Sequence[Sample],
        asker: Asker | None = None,
        models: Models | None = None,
        all_samples: AllSamples | None = None,
        computed: Mapping[Any, Sequence[Outcome]] | None = None,
    ) -> None:
        self.samples = tuple(samples)
        self.asker = asker
        self.all_samples = all_samples or AllSamples(lambda: self.samples)
        self._models = models
        self._memo = dict(computed or {})

    @property
    def models(self) -> Models:
        """The run's models, or models with every default where the run gave none."""
        if self._models is None:
            from ragassay.models.run_models import Models

            self._models = Models()
        return self._models

    def alone(self, at: int) -> Window:
        """A window of one of the samples, with nothing computed yet."""
        return Window([self.samples[at]], self.asker, self._models, self.all_samples)

    def outcomes(self, metric: Metric) -> Sequence[Outcome]:
        """The metric's outcome for each sample; computed once, so that metrics may build on
        others. Where it breaks down, only the samples that break it are unscored."""
        if metric in self._memo:
            return cast("Sequence[Outcome]", self._memo[metric])
        n = len(self.samples)
        try:
            outcomes = metric.score_window(self)
        except UsageError:
            raise  # such as a missing device: no sample is to blame
        except Exception as error:
            alone = [] if n == 1 else map(self.alone, range(n))
            outcomes = [window.outcomes(metric)[0] for window in alone] or [failed(metric, error)]
        if len(outcomes) != n:
            raise AssertionError(f"{metric} gave {len(outcomes)} outcomes for {n} samples")
        self._memo[metric] = outcomes
        return outcomes


def failed(metric: Metric, error: Exception) -> Unscored:
    """The outcome of a sample on which a metric broke down, with the reason ``FAILED``."""
    return Unscored(Reason.FAILED, f"{metric} broke down: {type(error).__name__}: {error}")


@dataclass(frozen=True)
class Metric(ABC):
    """Base of all metrics. Subclasses are frozen dataclasses, hashable and comparable by value.

    Class attributes:
        name: canonical name, without parameters.
        title, details, formula, parts_titles, misleads, source: what the docstring says
            (see `said`); a section that it lacks is its base's.
        family: ``retrieval``, ``chunks``, ``answer``, ``mtrag`` ...: where it is listed.
        needs: parts of a sample that it cannot do without.
        uses: parts that it reads where a sample has them.
        low, high: range of the value; ``None`` means unbounded.
        higher_is_better: direction; ``None`` where neither is better (a length, a count).
        aggregate: how a run's values become one: ``mean``, ``sum``, ``geometric``; of an instance
            perhaps a percentile (``p95``).
        inputs: the metrics whose outcomes it reads from the window.
        weights: the models that it uses itself (not those of its inputs).
        embeds: whether it uses the run's embedder itself.
        aliases: other names, each mapped to the expression it means.
        kind: arithmetic, model or judge.
        says: whether its value is a number, a flag (yes or no) or a label.
        version: raised when the same input would give another value.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    details: ClassVar[str] = ""
    formula: ClassVar[str] = ""
    misleads: ClassVar[str] = ""
    source: ClassVar[str] = ""
    family: ClassVar[str]
    needs: ClassVar[tuple[Need, ...]] = ()
    uses: ClassVar[tuple[Need, ...]] = ()
    low: ClassVar[float | None] = 0.0
    high: ClassVar[float | None] = 1.0
    higher_is_better: ClassVar[bool | None] = True
    aggregate: ClassVar[str] = "mean"
    parts_titles: ClassVar[Mapping[str, str]] = {}
    aliases: ClassVar[Mapping[str, str]] = {}
    kind: ClassVar[Kind] = "arithmetic"
    says: ClassVar[Says] = "number"
    version: ClassVar[int] = 1
    inputs: ClassVar[tuple[Metric, ...]] = ()
    weights: ClassVar[tuple[Weights, ...]] = ()
    embeds: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for fact, text in said(cls.__doc__).items():
            if fact not in vars(cls):
                setattr(cls, fact, text)

    def __post_init__(self) -> None:
        """Checks that each parameter is one of its choices, and in range."""
        for spec in dataclasses.fields(self):
            value, allowed = getattr(self, spec.name), spec.metadata
            if value is None:
                continue
            where = f"{self.name}: {spec.name} must"
            choices = choices_of(type(self)).get(spec.name)
            if choices is not None and value not in choices:
                raise UsageError(
                    f"{where} be one of {', '.join(map(str, choices))}, not {value!r}."
                )
            if isinstance(value, float) and not math.isfinite(value):
                raise UsageError(f"{where} be finite, not {value}.")
            low, high = allowed.get("minimum"), allowed.get("maximum")
            exclusive = allowed.get("exclusive", False)
            if low is not None and not value >= low:
                raise UsageError(f"{where} be at least {low:g}, not {value}.")
            if high is not None and (not value <= high or (exclusive and value in (low, high))):
                ends = " (exclusive)" if exclusive else ""
                raise UsageError(f"{where} lie between {low:g} and {high:g}{ends}, not at {value}.")

    @abstractmethod
    def score_window(self, window: Window) -> Sequence[Outcome]:
        """One outcome for each sample of the window, in its order. Never raises for a bad sample:
        what cannot be scored is `Unscored` with a reason."""

    def lacks(self, sample: Sample) -> Unscored | None:
        """The reason why a sample cannot be scored, found without scoring it; ``None`` when it has
        all."""
        return missing(sample, self.needs)

    def suits(self, sample: Sample) -> bool:
        """Whether the metric has something to measure on a sample. Some publish a lowest value
        where a part is missing: that is no fit."""
        return missing(sample, self.needs) is None and self.lacks(sample) is None

    @property
    def about(self) -> str:
        """The title, with the title of the part that the name chooses."""
        for spec in dataclasses.fields(self):
            if spec.metadata.get("role") == "part":
                part_title = self.parts_titles.get(getattr(self, spec.name))
                return f"{self.title}: {part_title}" if part_title else self.title
        return self.title

    def remarks(self, window: Window) -> Iterable[CountedFact]:
        """What a reader should know about the samples and outcomes of a window; nothing by default.
        A run shows each remark once, with the sum of its counts, unless that is 0."""
        return ()

    def allows(self, number: float) -> bool:
        """Whether a number lies in the metric's range."""
        low, high = self.low, self.high
        return not ((low is not None and number < low) or (high is not None and number > high))

    def score(self, sample: Sample) -> Outcome:
        """The outcome for a single sample, by the embedded judge where a judge is needed."""
        return self.score_window(Window([sample]))[0]

    def __str__(self) -> str:
        params, tail_part, tail_cut = [], "", ""
        for spec in dataclasses.fields(self):
            value = getattr(self, spec.name)
            role = spec.metadata.get("role")
            if role == "part":
                tail_part = f".{value}"
            elif value == spec.default:
                continue
            elif role == "cutoff":
                tail_cut = f"@{spelling(value)}"
            else:
                params.append(f"{spec.name}={spelling(value)}")
        return f"{self.name}{'(' + ','.join(params) + ')' if params else ''}{tail_part}{tail_cut}"

    __repr__ = __str__

    @property
    def signature(self) -> str:
        """Names what two numbers must share to be comparable: name, parameters and version."""
        return f"{self}|v{self.version}"


class SampleMetric(Metric):
    """A metric that looks at one sample at a time, at none that lacks something."""

    def score_window(self, window: Window) -> Sequence[Outcome]:
        return [self.lacks(sample) or self.score_sample(sample) for sample in window.samples]

    @abstractmethod
    def score_sample(self, sample: Sample) -> Outcome:
        """The outcome for one sample that lacks nothing."""


class Measured(Metric):
    """A metric whose value a function computes."""

    function: ClassVar[Callable[..., Any]]
    taken: ClassVar[tuple[str, ...]]

    def measured(self, *data: Any) -> Any:
        """What the function gives for the data and the metric's parameters."""
        return type(self).function(*data, **{name: getattr(self, name) for name in self.taken})


_LACKING: Mapping[Need, tuple[Reason, str]] = {
    "query": (Reason.MISSING_INPUT, "the sample has no query"),
    "passages": (Reason.MISSING_INPUT, "the sample has no retrieved passages"),
    "answer": (Reason.MISSING_INPUT, "the sample has no answer"),
    "references": (Reason.NOT_APPLICABLE, "the sample has no reference answer"),
    "gold": (Reason.NOT_APPLICABLE, "the sample has no gold passages"),
    "answerability": (Reason.NOT_APPLICABLE, "the sample has no answerability label"),
    "history": (Reason.NOT_APPLICABLE, "the sample has no earlier turns"),
    "given": (Reason.MISSING_INPUT, "the record brings no values under 'given'"),
    "runs": (Reason.NOT_APPLICABLE, "the sample is one run of a query, not a group of runs"),
}
_FILLED = ("references", "history", "given", "runs")
"""Needs that an empty value does not meet."""


def missing(sample: Sample, needs: Sequence[Need]) -> Unscored | None:
    """The first needed part that the sample lacks, as an `Unscored`; ``None`` when it has all. A
    missing answer, retrieval or given value is ``MISSING_INPUT``; with a missing label, or without
    history, the metric does not apply."""
    for need in needs:
        value = getattr(sample, need)
        if value is not None and (value or need not in _FILLED):
            continue
        reason, detail = _LACKING[need]
        if need == "answer" and sample.failure:
            detail += f" (the system failed: {sample.failure})"
        return Unscored(reason, detail, lacks=need)
    return None


def textless_passage(sample: Sample, detail: str = "passage {} has no text") -> Unscored | None:
    """`Unscored` where a passage has no text."""
    for rank, passage in enumerate(sample.passages or (), 1):
        if passage.text is None:
            return Unscored(Reason.MISSING_INPUT, detail.format(rank), lacks="texts")
    return None


def passage_texts(sample: Sample) -> tuple[str, ...]:
    """The texts of a sample's passages, in rank order; empty for one without text."""
    return tuple(passage.text or "" for passage in sample.passages or ())


def passage_keys(passages: Sequence[Passage]) -> tuple[str, ...]:
    """The unique name of each passage: its id, or its rank from 1 where it has none."""
    keys: dict[str, None] = {}
    for rank, passage in enumerate(passages, start=1):
        name = passage.id if passage.id is not None else str(rank)
        while name in keys:
            name = f"{name} (rank {rank})"
        keys[name] = None
    return tuple(keys)


def earlier_turns(sample: Sample) -> str:
    """The turns before the query, as lines ``speaker: text``; empty for a first turn."""
    return "\n".join(f"{turn.speaker}: {turn.text}" for turn in sample.history)


def conversation(sample: Sample) -> str:
    """The query with the turns before it, as lines ``speaker: text``."""
    asked = f"user: {sample.query}"
    return f"{earlier_turns(sample)}\n{asked}" if sample.history else asked


_CLASSES: dict[str, type[Metric]] = {}


@typing.dataclass_transform(frozen_default=True)
def register(cls: type[M]) -> type[M]:
    """Makes a metric class a frozen dataclass (unless it is one already), known by its name and
    aliases, and printed by its name."""
    if "__dataclass_params__" not in vars(cls):
        cls = dataclass(frozen=True, repr=False)(cls)
    places = [
        f"{kind.__module__}.{kind.__qualname__}" for kind in (_CLASSES.get(cls.name, cls), cls)
    ]
    if places[0] != places[1]:
        raise UsageError(
            f"Two metrics are called {cls.name!r}: {' and '.join(places)}. Rename either of them."
        )
    cls.__repr__ = Metric.__str__  # type: ignore[assignment, method-assign]
    _CLASSES[cls.name] = cls
    registered.cache_clear()
    return cls


def define(name: str, base: type[M], description: str, **body: Any) -> type[M]:
    """Registers a metric that differs from its family's base in docstring and attributes alone."""
    facts = {"__doc__": description, "__module__": base.__module__, "name": name, **body}
    return register(type(name, (base,), facts))


def measure(name: str, *aliases: str, base: type[Measured], **facts: Any) -> Callable[[F], F]:
    """Registers the metric that a function computes (a decorator); its docstring describes the
    metric. Its parameters that are fields of the base, or have a default by `param`, `cutoff` or
    `part`, are the metric's; the others are the data. ``facts`` are attributes of the class."""

    def made(function: F) -> F:
        types, known = (
            typing.get_type_hints(function),
            [item.name for item in dataclasses.fields(base)],
        )
        parameters = inspect.signature(function).parameters.values()
        own = {p.name: copy(p.default) for p in parameters if hasattr(p.default, "metadata")}
        body = {
            "__module__": function.__module__,
            "__annotations__": {parameter: types[parameter] for parameter in own},
            **own,
            "aliases": dict.fromkeys(aliases, name),
            "function": staticmethod(function),
            "taken": tuple(p.name for p in parameters if p.name in (*own, *known)),
        }
        define(name, base, function.__doc__ or "", **body | facts)
        return function

    return made


@cache
def registered() -> tuple[Mapping[str, type[Metric]], Mapping[str, str]]:
    """All metric classes imported so far, by canonical name and in the order of these names;
    and what their aliases mean (see ``naming.metric_classes``)."""
    names = sorted(_CLASSES, key=lambda name: (name.casefold(), name))
    classes = {name: _CLASSES[name] for name in names}
    return classes, {
        text: target for cls in classes.values() for text, target in cls.aliases.items()
    }


def scored(value: float | bool | str, explanation: str = "", **parts: Any) -> Score:
    """A `Score`, with an explanation in a sentence or two, and its parts given as keywords."""
    return Score(value, parts, explanation)


def harmonic(precision: float, recall: float) -> float:
    """Harmonic mean (F1) of a precision and a recall; 0 where both are 0."""
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def not_applicable(detail: str) -> Unscored:
    """`Unscored`: the metric does not apply to this sample."""
    return Unscored(Reason.NOT_APPLICABLE, detail)


def reached(metrics: Iterable[Metric]) -> dict[Metric, None]:
    """The metrics and all that they are made of, each once."""
    distinct: dict[Metric, None] = {}
    for metric in metrics:
        distinct[metric] = None
        distinct.update(reached(metric.inputs))
    return distinct
