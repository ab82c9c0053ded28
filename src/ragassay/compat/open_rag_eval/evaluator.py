"""The whole suite ``trecrag`` as an object."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay import suites
from ragassay.compat.open_rag_eval.judge_models import LLMJudgeModel, asked, sampling
from ragassay.compat.open_rag_eval.metric_classes import (
    AutoNuggetMetric,
    CitationMetric,
    HallucinationMetric,
    NoAnswerMetric,
    Part,
    UMBRELAMetric,
)
from ragassay.compat.open_rag_eval.options import (
    K_VALUES,
    TREC_KEYS,
    check,
    cutoffs,
    trec_options,
    with_options,
)
from ragassay.compat.open_rag_eval.query_data import samples_of
from ragassay.errors import RagassayWarning
from ragassay.samples import Sample

if TYPE_CHECKING:
    from ragassay.engine.results import Result
    from ragassay.engine.run import Data
    from ragassay.judges import Judge


class TRECEvaluator:
    """The whole suite ``trecrag``.

    Args:
        model: who is asked; the embedded judge where left out.
        options: ``k_values``, ``hallucination_metric`` (``model_name``, ``max_chars``),
            ``run_consistency`` (the runs of each query are compared, too: `Result.consistency`)
            with ``metrics_to_run_consistency`` (all, where it is empty), ``model_kwargs`` (sampling
            parameters, see `Part`), and parameters of metrics
            (``rel`` for the threshold of relevance, ``shots``, ``iterations`` ...).

    Raises:
        UsageError: an option that there is not, an unknown metric, or an impossible value.
    """

    def __init__(
        self,
        model: LLMJudgeModel | Judge | str = "offline",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        from ragassay.metrics.core import naming

        given = dict(options or {})
        self.model = model
        at = given.pop("k_values", None)
        kwargs = given.pop("model_kwargs", None)
        self._sampling = sampling(kwargs)
        self._ks = None if at is None else cutoffs(at)
        self.k_values = self._ks or K_VALUES
        own = trec_options({name: given.pop(name) for name in TREC_KEYS if name in given})
        looked_at = own.metrics_to_run_consistency
        named = tuple(suites.get("trecrag").resolve(looked_at) if looked_at else ())
        self._repeats = named if own.run_consistency else None
        if named and not own.run_consistency:
            warnings.warn(
                "metrics_to_run_consistency is not looked at, because run_consistency is not true.",
                RagassayWarning,
                stacklevel=2,
            )
        hhem = own.hallucination_metric
        if hhem is not None and hhem.max_chars is not None:
            given["max_chars"] = hhem.max_chars
        metrics = suites.get("trecrag").resolve(ks=self._ks)
        check(given, "TRECEvaluator", naming.parameters(*metrics), "k_values", *TREC_KEYS)
        self.options = given
        self.retrieval_metric = UMBRELAMetric(model, kwargs, **_of(UMBRELAMetric, given))
        self.generation_metric = AutoNuggetMetric(model, kwargs, **_of(AutoNuggetMetric, given))
        self.citation_metric = CitationMetric(model, kwargs, **_of(CitationMetric, given))
        self.hallucination_metric = HallucinationMetric(
            None if hhem is None else hhem.model_name, **_of(HallucinationMetric, given)
        )
        self.no_answer_metric = NoAnswerMetric(model, kwargs)
        for metric in metrics:
            with_options(metric, given)  # refuses impossible values now

    def evaluate(
        self,
        data: Data | Mapping[str, Any] | Sample,
        *,
        save: str | Path | None = None,
        **options: Any,
    ) -> Result:
        """Evaluates samples with every metric of the suite.

        Args:
            data: a path, one flat mapping or `Sample` (see the module), or several.
            save: a run folder to write.
            options: as for `ragassay.evaluate` (``nuggets="pooled"``, ``budget="5.00"`` ...).

        Raises:
            InputError: data that cannot be read, or a mapping with an unknown nested field.
            UsageError: an option that there is not, or a judge that cannot be had.
        """
        from ragassay.engine import evaluate

        aliases = {
            metric: with_options(metric, self.options)
            for metric in suites.get("trecrag").resolve(ks=self._ks)
        }
        columns = {
            str(new): suites.get("trecrag").columns.get(str(old)) for old, new in aliases.items()
        }
        suite = dataclasses.replace(
            suites.get("trecrag"),
            metrics=tuple(map(str, aliases.values())),
            columns={name: column for name, column in columns.items() if column is not None},
        )
        models = self.hallucination_metric.running.get("models") or {}
        running = {
            **self._sampling,
            **options,
            "models": {**models, **(options.get("models") or {})},
        }
        chosen: list[Any] = [suite]
        if self._repeats is not None:
            chosen.append("consistency")
            names = [str(with_options(metric, self.options)) for metric in self._repeats]
            running = {"consistency_of": names, **running}
        return evaluate(
            samples_of(data, options.get("columns")),
            chosen,
            save=save,
            **asked(self.model),
            **running,
        )

    evaluate_batch = evaluate

    def to_csv(self, result: Result, path: str | Path) -> None:
        """Writes the results in the columns of Open RAG Eval's page: unprefixed for a single run,
        ``run_1_`` ... where queries were run several times.

        ``ragassay report RUN --format ore`` writes the files of its tool.

        Args:
            result: of a run.
            path: of the file to write.

        Raises:
            UsageError: the file cannot be written.
        """
        from ragassay.reports.tables import write_trecrag

        write_trecrag(result, path)


def _of(metric: type[Part], options: Mapping[str, Any]) -> dict[str, Any]:
    from ragassay.metrics.core import naming

    own = naming.parameters(*map(naming.parse, metric.metrics))
    return {name: value for name, value in options.items() if name in own}
