"""What a metric is: a named, parameterised value object that scores a window of samples.

A metric is a frozen dataclass. Its class says what it measures; its fields are its parameters, and
its printed name carries those that differ from their defaults: ``nDCG@10``, ``P(rel=2)@5``,
``rougeL(stem=false).f``. `ragassay.metrics.core.naming` reads such a name back.

Adding one takes one file in this package::

    @register
    class Shout(SampleMetric):
        '''Share of capital letters in the answer.'''

        name = "shout"
        title = "Share of letters that are capitals"
        family = "answer"
        needs = ("answer",)
        source = "our own"

        def score_sample(self, sample: Sample) -> Outcome:
            ...
"""

from __future__ import annotations

import dataclasses
import math
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, cast

from ragassay.errors import CountedFact, UsageError
from ragassay.metrics.core.all_samples import AllSamples
from ragassay.samples import Sample
from ragassay.scores import Outcome, Reason, Score, Unscored

if TYPE_CHECKING:
    from ragassay.judges import Asker
    from ragassay.models import Models, Weights

T = TypeVar("T")
Need = Literal[
    "query", "passages", "answer", "references", "gold", "answerability", "history", "given", "runs"
]
Aggregate = Literal["mean", "sum", "geometric"]
Kind = Literal["arithmetic", "model", "judge"]
Says = Literal["number", "flag", "label"]


def param(default: Any, doc: str, *, origin: bool = False, **bounds: float) -> Any:
    """A parameter written in parentheses: ``name(key=value)``.

    Args:
        default: the value when the name leaves it out.
        doc: what it does, in a few words; shown by ``ragassay metrics``.
        origin: true where the parameter only says where values come from. Such a parameter does not
            change what the metric is: it stands beside the values in every report, and a published
            name does not show it.
        bounds: ``minimum`` and ``maximum``, the smallest and the largest value allowed, and
            ``exclusive=True`` where these themselves are not.
    """
    return dataclasses.field(default=default, metadata={"doc": doc, "origin": origin, **bounds})


def cutoff(
    default: Any = None, doc: str = "rank cut-off (all ranks when left out)", **bounds: float
) -> Any:
    """The parameter written after ``@``.

    Args:
        default: the rank when the name leaves it out, ``None`` for all ranks; ``...`` where a rank
            must be given.
        doc: what it does, in a few words.
        bounds: as those of `param`; a rank is at least 1.
    """
    metadata = {"doc": doc, "role": "cutoff", "minimum": 1, **bounds}
    given = dataclasses.MISSING if default is ... else default
    return dataclasses.field(default=given, metadata=metadata)


def part(default: str, choices: tuple[str, ...], doc: str) -> Any:
    """The parameter written after a dot: ``rougeL.f``. Always printed.

    Args:
        default: the part when the name leaves it out.
        choices: all parts that there are.
        doc: what they are, in a few words.
    """
    return dataclasses.field(
        default=default, metadata={"doc": doc, "role": "part", "choices": choices}
    )


class Remembering:
    """Remembers what is computed about it. A subclass makes ``_memo``, empty at first."""

    _memo: dict[Hashable, Any]

    def once(self, build: Callable[..., T], *args: Hashable) -> T:
        """``build(self, *args)``, computed on the first call and remembered.

        Args:
            build: a function of this object and ``args``, or a class; the same one means the same
                result.
            *args: further arguments of ``build``; they are part of the key, so they must be
                hashable.
        """
        key = (build, args)
        if key not in self._memo:
            self._memo[key] = build(self, *args)
        return cast(T, self._memo[key])


class Window(Remembering):
    """A bounded batch of samples, with everything computed about it so far.

    Metrics that share an intermediate result (tokens, a ranking with its grades, a table of common
    subsequences) ask for it with `once` and get one and the same object.

    Args:
        samples: the samples of the batch, in the order of the data.
        asker: asks the judge for metrics that need one; ``None`` stands for the embedded judge.
        models: the neural models that metrics may use, shared by the windows of a run; ``None`` for
            those with every default.
        all_samples: the results that need all samples of the run, shared by its windows; ``None``
            where the window holds all samples.
    """

    def __init__(
        self,
        samples: Sequence[Sample],
        asker: Asker | None = None,
        models: Models | None = None,
        all_samples: AllSamples | None = None,
    ) -> None:
        self.samples = tuple(samples)
        self.asker = asker
        self.all_samples = all_samples or AllSamples(lambda: self.samples)
        self._models = models
        self._memo = {}

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def models(self) -> Models:
        """The run's models, or models with every default where the run gave none."""
        if self._models is None:
            from ragassay.models import Models

            self._models = Models()
        return self._models

    def alone(self, at: int) -> Window:
        """A window of one of the samples, with nothing computed yet."""
        return Window([self.samples[at]], self.asker, self._models, self.all_samples)

    def put(self, metric: Metric, outcomes: Sequence[Outcome]) -> None:
        """Stores outcomes that were computed elsewhere, as those of a judged metric are.

        Args:
            metric: the metric that gave them.
            outcomes: one for each sample of the window, in its order.
        """
        self._memo[metric] = outcomes

    def outcomes(self, metric: Metric) -> Sequence[Outcome]:
        """The metric's outcome for each sample; computed once, so that metrics may build on
        others."""
        if metric not in self._memo:
            self._memo[metric] = _score_safely(metric, self)
        return cast("Sequence[Outcome]", self._memo[metric])


@dataclass(frozen=True)
class Metric(ABC):
    """Base of all metrics. Subclasses are frozen dataclasses, hashable and comparable by value.

    Class attributes:
        name: canonical name, without parameters.
        title: one line for people.
        family: ``retrieval``, ``chunks``, ``answer``, ``mtrag`` ...: where it is listed.
        source: paper, tool or specification that defines it.
        needs: parts of a sample that it cannot do without.
        uses: parts that it reads when they are there.
        low, high: range of the value; ``None`` means unbounded.
        higher_is_better: direction; ``None`` where neither is better (a length, a count).
        aggregate: how a run's values become one.
        parts_titles: what each part of it is, in a few words.
        recommended_for: what a person would pick it for.
        aliases: other names, each mapped to the expression it stands for.
        kind: arithmetic, model or judge.
        says: whether its value is a number, a flag (yes or no) or a label.
        counts_chunks: whether its value counts the chunks of a context by number, so that a
            context must be cut where its chunks end.
        version: raised when the same input would give another value.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    family: ClassVar[str]
    source: ClassVar[str]
    needs: ClassVar[tuple[Need, ...]] = ()
    uses: ClassVar[tuple[Need, ...]] = ()
    low: ClassVar[float | None] = 0.0
    high: ClassVar[float | None] = 1.0
    higher_is_better: ClassVar[bool | None] = True
    aggregate: ClassVar[Aggregate] = "mean"
    parts_titles: ClassVar[Mapping[str, str]] = {}
    recommended_for: ClassVar[str] = ""
    aliases: ClassVar[Mapping[str, str]] = {}
    kind: ClassVar[Kind] = "arithmetic"
    says: ClassVar[Says] = "number"
    counts_chunks: ClassVar[bool] = False
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            _check_param(self, spec, getattr(self, spec.name))

    @abstractmethod
    def score_window(self, window: Window) -> Sequence[Outcome]:
        """One outcome for each sample of the window, in its order.

        Never raises for a bad sample: what cannot be scored is `Unscored` with a reason.
        """

    @property
    def for_all_scripts(self) -> str:
        """The metric that counts words of any script, where this one counts ``a-z0-9`` only; empty
        for all others."""
        return ""

    @property
    def aggregation(self) -> str:
        """How a run's values become one: `aggregate`, or a percentile (``p95``)."""
        return self.aggregate

    def lacks(self, sample: Sample) -> Unscored | None:
        """The reason why a sample cannot be scored, found without scoring it; ``None`` when it has
        all.

        A metric that reads single values of ``given`` overrides this to say which are missing.
        """
        return missing(sample, self.needs)

    def lacks_beside_failures(self, sample: Sample) -> Unscored | None:
        """As `lacks`, where another sample of the data tells that its system failed."""
        return self.lacks(sample)

    @property
    def about(self) -> str:
        """The title, with the title of the part that the name chooses."""
        for spec in dataclasses.fields(self):
            if spec.metadata.get("role") == "part":
                part_title = self.parts_titles.get(getattr(self, spec.name))
                return f"{self.title}: {part_title}" if part_title else self.title
        return self.title

    @property
    def inputs(self) -> tuple[Metric, ...]:
        """The metrics whose outcomes it reads from the window."""
        return ()

    @property
    def weights(self) -> tuple[Weights, ...]:
        """The models that it uses itself (not those of its inputs)."""
        return ()

    @property
    def embeds(self) -> bool:
        """Whether it uses the run's embedder itself."""
        return False

    def texts_to_embed(self, sample: Sample) -> Iterable[str]:
        """The texts of a sample that the metric needs vectors of; some may be blank."""
        return ()

    def remarks(self, window: Window) -> Iterable[CountedFact]:
        """What a reader should know about the samples and outcomes of a window; nothing by default.
        A run shows each remark once, with the sum of its counts, unless that is 0."""
        return ()

    def score(self, sample: Sample) -> Outcome:
        """The outcome for a single sample, by the embedded judge where a judge is needed."""
        return self.score_window(Window([sample]))[0]

    def called(self, name: str, usual: Metric) -> str:
        """A published name of this metric, with the parameters that set it apart.

        Args:
            name: as it is published.
            usual: the metric that the name stands for by itself, of the same class.
        """
        params = [
            f"{spec.name}={_spell(getattr(self, spec.name))}"
            for spec in dataclasses.fields(self)
            if spec.metadata.get("role") is None and not spec.metadata.get("origin")
            if getattr(self, spec.name) != getattr(usual, spec.name)
        ]
        return f"{name}({','.join(params)})" if params else name

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
                tail_cut = f"@{_spell(value)}"
            else:
                params.append(f"{spec.name}={_spell(value)}")
        return f"{self.name}{'(' + ','.join(params) + ')' if params else ''}{tail_part}{tail_cut}"

    __repr__ = __str__

    @property
    def signature(self) -> str:
        """Names what two numbers must share to be comparable: name, parameters and version."""
        return f"{self}|v{self.version}"


class SampleMetric(Metric):
    """A metric that looks at one sample at a time.

    Samples that lack something (see `Metric.lacks`) never reach ``score_sample``.
    """

    def score_window(self, window: Window) -> Sequence[Outcome]:
        """Scores each sample by itself."""
        return [self.lacks(sample) or self.score_sample(sample) for sample in window.samples]

    @abstractmethod
    def score_sample(self, sample: Sample) -> Outcome:
        """The outcome for one sample that lacks nothing."""


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
    """The first needed part that the sample lacks, as an `Unscored`; ``None`` when it has all.

    A missing answer, retrieval or given value is ``MISSING_INPUT``. A missing label (references,
    gold, answerability) means that the metric does not apply, and so does a first turn, which has
    no history.

    Args:
        sample: any sample.
        needs: parts of a sample; they are looked at in this order.
    """
    for need in needs:
        has = getattr(sample, need)
        if has is not None and (has or need not in _FILLED):
            continue
        reason, detail = _LACKING[need]
        if need == "answer" and sample.failure:
            detail += f" (the system failed: {sample.failure})"
        return Unscored(reason, detail)
    return None


def textless_passage(sample: Sample) -> Unscored | None:
    """`Unscored` where a passage has no text; names the first by its rank."""
    bare = next((n for n, one in enumerate(sample.passages or (), 1) if one.text is None), None)
    if bare is None:
        return None
    return Unscored(Reason.MISSING_INPUT, f"passage {bare} has no text")


def passage_texts(sample: Sample) -> tuple[str, ...]:
    """The texts of a sample's passages, in rank order; empty for one without text."""
    return tuple(passage.text or "" for passage in sample.passages or ())


def _score_safely(metric: Metric, window: Window) -> Sequence[Outcome]:
    """The metric's outcomes; where it breaks down, only the samples that break it are unscored."""
    try:
        outcomes = metric.score_window(window)
    except UsageError:
        raise  # such as a device that is not there: no sample is to blame
    except Exception as error:
        if len(window) == 1:
            return [failed(metric, error)]
        return [_score_safely(metric, window.alone(at))[0] for at in range(len(window))]
    if len(outcomes) != len(window):
        raise AssertionError(f"{metric} gave {len(outcomes)} outcomes for {len(window)} samples")
    return outcomes


def failed(metric: Metric, error: Exception) -> Unscored:
    """The outcome of a sample on which a metric broke down, with the reason ``FAILED``.

    Args:
        metric: the metric.
        error: what it raised; its type and message stand in the detail.
    """
    return Unscored(Reason.FAILED, f"{metric} broke down: {type(error).__name__}: {error}")


_CLASSES: dict[str, type[Metric]] = {}
M = TypeVar("M", bound=Metric)


@typing.dataclass_transform(frozen_default=True)
def register(cls: type[M]) -> type[M]:
    """Makes a metric class a frozen dataclass (unless it is one already), known by its name and
    aliases, and printed by its name."""
    if "__dataclass_params__" not in vars(cls):
        cls = dataclass(frozen=True)(cls)
    known = _CLASSES.get(cls.name, cls)
    if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise UsageError(
            f"Two metrics are called {cls.name!r}: {known.__module__}.{known.__qualname__} and "
            f"{cls.__module__}.{cls.__qualname__}. Give one of them another name."
        )
    cls.__repr__ = Metric.__str__  # type: ignore[assignment, method-assign]
    _CLASSES[cls.name] = cls
    registered.cache_clear()
    return cls


@cache
def registered() -> tuple[Mapping[str, type[Metric]], Mapping[str, str]]:
    """All metric classes imported so far, by canonical name and in the order of these names,
    whichever was imported first; and what their aliases stand for (see ``naming.known``)."""
    names = sorted(_CLASSES, key=lambda name: (name.casefold(), name))
    classes = {name: _CLASSES[name] for name in names}
    return classes, {one: target for cls in classes.values() for one, target in cls.aliases.items()}


def scored(value: float | bool | str, explanation: str = "", **parts: Any) -> Score:
    """A `Score` with its parts given as keywords.

    Args:
        value: the score.
        explanation: why, in a sentence or two.
        **parts: the parts, by name.
    """
    return Score(value, parts, explanation)


def harmonic(precision: float, recall: float) -> float:
    """Harmonic mean (F1) of a precision and a recall; 0 where both are 0.

    Args:
        precision: 0 to 1.
        recall: 0 to 1.
    """
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def not_applicable(detail: str) -> Unscored:
    """`Unscored`: the metric does not apply to this sample."""
    return Unscored(Reason.NOT_APPLICABLE, detail)


@cache
def parameter_types(cls: type[Metric]) -> Mapping[str, Any]:
    """The declared type of each parameter of a metric class."""
    return typing.get_type_hints(cls)


def _spell(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)


def choices_of(metric: Metric, spec: dataclasses.Field[Any]) -> tuple[Any, ...] | None:
    """The values that a parameter may have; ``None`` where they cannot be listed.

    Args:
        metric: the metric that has the parameter.
        spec: the parameter, a dataclass field of the metric's class.
    """
    choices = spec.metadata.get("choices")
    if choices is None:
        hint = parameter_types(type(metric)).get(spec.name)
        if typing.get_origin(hint) is Literal:
            choices = typing.get_args(hint)
    return None if choices is None else tuple(choices)


def _check_param(metric: Metric, spec: dataclasses.Field[Any], value: Any) -> None:
    if value is None:
        return
    choices = choices_of(metric, spec)
    where = f"{metric.name}: {spec.name}"
    if choices is not None and value not in choices:
        raise UsageError(f"{where} must be one of {', '.join(map(str, choices))}, not {value!r}.")
    if isinstance(value, float) and math.isinf(value):
        raise UsageError(f"{where} must be finite, not {value}.")
    low, high = spec.metadata.get("minimum"), spec.metadata.get("maximum")
    exclusive = spec.metadata.get("exclusive", False)
    if low is not None and not value >= low:
        raise UsageError(f"{where} must be at least {low:g}, not {value}.")
    if high is not None and (not value <= high or (exclusive and value in (low, high))):
        ends = " (exclusive)" if exclusive else ""
        raise UsageError(f"{where} must lie between {low:g} and {high:g}{ends}, not at {value}.")


def reached(metrics: Iterable[Metric]) -> dict[Metric, None]:
    """The metrics and all that they are made of, each once."""
    found: dict[Metric, None] = {}
    for metric in metrics:
        found[metric] = None
        found.update(reached(metric.inputs))
    return found
