"""A batch of samples with everything that metrics have computed about it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ragassay.base.errors import UsageError
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Unscored

if TYPE_CHECKING:
    from ragassay.judges.asking import Asker
    from ragassay.metrics.core.metric import Metric
    from ragassay.models.run_models import Models

T = TypeVar("T")


class Remembering:
    """Remembers what is computed about it. A subclass makes ``_memo``, empty at first."""

    _memo: dict[Hashable, Any]

    def once(self, build: Callable[..., T], *args: Hashable) -> T:
        """``build(self, *args)``, computed on the first call and remembered."""
        key = (build, args)
        if key not in self._memo:
            self._memo[key] = build(self, *args)
        return cast(T, self._memo[key])


class AllSamples(Remembering):
    """All samples of a run, and what is computed from them, once for all windows. Iterating opens
    them from the beginning; a ``ValueError`` where ``read`` is ``None``: they can be read only
    once."""

    def __init__(self, read: Callable[[], Iterable[Sample]] | None) -> None:
        self._read = read
        self._memo = {}

    @property
    def readable(self) -> bool:
        """Whether the samples can be read once more."""
        return self._read is not None

    def __iter__(self) -> Iterator[Sample]:
        if self._read is None:
            raise ValueError("these samples can be read only once")
        return iter(self._read())


class Window(Remembering):
    """A bounded batch of samples, in the order of the data, with everything computed about it so
    far. Without ``asker`` the embedded judge is asked, without ``models`` they have every default,
    without ``all_samples`` the window holds all."""

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

    def put(self, metric: Metric, outcomes: Sequence[Outcome]) -> None:
        """Stores outcomes that were computed elsewhere, as those of a judged metric are."""
        self._memo[metric] = outcomes

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
            outcomes = [one.outcomes(metric)[0] for one in alone] or [failed(metric, error)]
        if len(outcomes) != n:
            raise AssertionError(f"{metric} gave {len(outcomes)} outcomes for {n} samples")
        self._memo[metric] = outcomes
        return outcomes


def failed(metric: Metric, error: Exception) -> Unscored:
    """The outcome of a sample on which a metric broke down, with the reason ``FAILED``."""
    return Unscored(Reason.FAILED, f"{metric} broke down: {type(error).__name__}: {error}")
