"""Plans a run's use of models: the scores that it would lack because a model is not on the machine,
and the texts that it would send to its embedder's endpoint. Nothing is loaded or sent."""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ragassay.base.sample import Sample
from ragassay.base.score import Reason, Unscored
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.models.modelling import model_options, weights_among
from ragassay.engine.run.scoring import judged_among
from ragassay.judges.judge_factory import Address
from ragassay.judges.ledger import store
from ragassay.judges.llm import token_estimate
from ragassay.metrics.core.metric import Metric
from ragassay.metrics.core.window import AllSamples, Window
from ragassay.models.embedders.embedder import DEFAULT, Embedder, is_blank
from ragassay.models.embedders.embedding_endpoint import VectorStore
from ragassay.models.model_options import ModelOptions
from ragassay.models.run_models import Models
from ragassay.models.weights.weight_files import Unavailable, needs_packages, place_of
from ragassay.transport.prices import price_of

I = TypeVar("I")  # noqa: E741
_NOT_JUDGED = Unscored(Reason.UNSUPPORTED, "no judge is asked")


class AbsentModels:
    """Counts the samples for which metrics need a model that is not here (``counts``), and keeps
    what is missing and how to get it (``why``), both by metric.

    Such a metric scores the samples as in the run, with models that fail as they would fail there.
    So values that a record brings, and values that are derived from them, count as in the run. No
    model is loaded, and no judge is asked. ``remote`` is whether an endpoint embeds.
    """

    def __init__(
        self,
        config: RunConfig,
        metrics: Mapping[str, Metric],
        remote: bool,
        all_samples: AllSamples,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.why: dict[str, str] = {}
        self._all_samples = all_samples
        options = model_options(config)
        self._metrics: dict[str, tuple[Metric, _Absent]] = {}
        for name, metric in metrics.items():
            error = _lacking(metric, options, None if remote else config.embedder or DEFAULT)
            if error is not None:
                self._metrics[name] = metric, _Absent(options, error)

    def add(self, samples: Sequence[Sample]) -> None:
        """Takes in some samples."""
        for name, (metric, models) in self._metrics.items():
            window = Window(samples, None, models, self._all_samples)
            for judged in judged_among([metric]):
                window.put(judged, [_NOT_JUDGED] * len(window))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcomes = window.outcomes(metric)
            for sample, outcome in zip(samples, outcomes, strict=True):
                if (
                    isinstance(outcome, Unscored)
                    and outcome.reason is Unavailable.reason
                    and metric.lacks(sample) is None
                ):
                    self.counts[name] += 1
                    self.why[name] = models.problem


class _Absent(Models):
    """Models that are not on this machine."""

    def __init__(self, options: ModelOptions, error: Unavailable) -> None:
        super().__init__(options, lambda models: models.use(Embedder))  # type: ignore[type-abstract]
        self._error, self.problem = error, str(error)

    def use(self, kind: type[I], *spec: Hashable) -> I:
        raise self._error.saying(self.problem)


def _lacking(metric: Metric, options: ModelOptions, embedder: str | None) -> Unavailable | None:
    """Why a metric, or one that it is made of, has no model on this machine; ``None`` where it has
    one or needs none."""
    for weights in weights_among([metric], embedder):
        try:
            needs_packages()
            place_of(weights, options.folders)
        except Unavailable as error:
            if error.reason is Unavailable.reason:
                return error
    return None


@dataclass(frozen=True, slots=True)
class EmbeddingPlan:
    """Distinct texts that need a vector, how many of them the ledger holds, and the tokens
    (estimated) and dollars of the others; ``cost`` is ``None`` where no price is known."""

    embedder: str
    texts: int
    held: int
    input_tokens: int
    cost: float | None


class EmbeddingPlanner:
    """Counts the texts of samples that stream past; closed by `plan`."""

    def __init__(self, config: RunConfig, address: Address, metrics: Iterable[Metric]) -> None:
        self._address, self._metrics = address, [metric for metric in metrics if metric.embeds]
        self._prefix = config.embedder_prefix or ""
        self._seen: set[bytes] = set()
        self._held, self._tokens = 0, 0.0
        place = config.ledger or store.DEFAULT
        self._ledger = store.look_into(None if config.refresh else place)
        space = (address.url, address.model, config.embedder_dimensions)
        self._store = VectorStore(self._ledger, *space)

    def add(self, sample: Sample) -> None:
        """Takes in a sample."""
        texts = {text for metric in self._metrics for text in metric.texts_to_embed(sample)}
        new = []
        for text in texts:
            if is_blank(text):
                continue
            name = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            if name not in self._seen:
                self._seen.add(name)
                new.append(self._prefix + text)
        held = self._store.find(new)
        self._held += len(held)
        self._tokens += sum(token_estimate.estimate(text) for text in new if text not in held)

    def plan(self) -> EmbeddingPlan:
        """The plan for the samples so far; closes the ledger."""
        self._ledger.close()
        price = price_of(self._address.model, self._address.url)
        return EmbeddingPlan(
            self._address.label,
            len(self._seen),
            self._held,
            round(self._tokens),
            None if price is None else price.cost(self._tokens, 0),
        )
