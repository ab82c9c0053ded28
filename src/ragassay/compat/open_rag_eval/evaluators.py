"""Open RAG Eval's evaluators: suites as objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay import suites
from ragassay.base.sample import Sample
from ragassay.compat.open_rag_eval.judge_models import LLMJudgeModel, judge_keywords
from ragassay.compat.open_rag_eval.metric_classes import (
    K_VALUES,
    AutoNuggetMetric,
    CitationMetric,
    HallucinationMetric,
    NoAnswerMetric,
    Part,
    UMBRELAMetric,
    cutoffs,
    translated,
    with_options,
)

if TYPE_CHECKING:
    from ragassay.engine.results import Result
    from ragassay.engine.run.source import Data
    from ragassay.judges import Judge


class Evaluator:
    """Evaluates samples with suites.

    Args:
        suites: their names.
        values: keywords of `ragassay.evaluate` that they are evaluated with.
        model: who is asked; nobody where left out.
    """

    def __init__(
        self,
        suites: Sequence[str],
        values: Mapping[str, Any],
        model: LLMJudgeModel | Judge | str | None = None,
    ) -> None:
        self._suites, self._values, self.model = suites, values, model

    def evaluate(
        self,
        data: Data | Mapping[str, Any] | Sample,
        *,
        save: str | Path | None = None,
        **options: Any,
    ) -> Result:
        """Evaluates samples with the metrics of the evaluator.

        Args:
            data: a path, one flat mapping or `Sample` (see the module), or several.
            save: a run folder to write.
            options: as for `ragassay.evaluate` (``nuggets="pooled"``, ``budget="5.00"``,
                ``models``, ``references`` ...).

        Raises:
            InputError: data that cannot be read.
            UsageError: an option that there is not, or a judge that cannot be had.
        """
        from ragassay.engine import evaluate

        models = {**self._values.get("models", {}), **(options.get("models") or {})}
        return evaluate(
            [data] if isinstance(data, Mapping | Sample) else data,
            self._suites,
            save=save,
            **({} if self.model is None else judge_keywords(self.model)),
            **{**self._values, **options, "models": models},
        )


class TRECEvaluator(Evaluator):
    """The whole suite ``trecrag``.

    Args:
        model: who is asked; the embedded judge where left out.
        options: ``k_values``, ``hallucination_metric`` (``model_name``, ``max_chars``),
            ``run_consistency`` (all runs of each query are judged and compared:
            `Result.consistency`; else only the first is judged) with
            ``metrics_to_run_consistency`` (all, where it is empty), ``model_kwargs`` (sampling
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
        from ragassay.models.classifiers.hhem import HHEM

        chosen = dict(options or {})
        if chosen.get("k_values") is not None:
            cutoffs(chosen["k_values"])
        values = translated("trecrag", chosen)
        super().__init__(values.pop("suite"), values, model)
        self.k_values = tuple(values.get("ks", K_VALUES))
        self.options = values.get("options", {})
        for metric in suites.get("trecrag").resolve():
            with_options(metric, self.options)  # refuses impossible values now
        kwargs = chosen.get("model_kwargs")
        self.retrieval_metric = UMBRELAMetric(model, kwargs, **self._of(UMBRELAMetric))
        self.generation_metric = AutoNuggetMetric(model, kwargs, **self._of(AutoNuggetMetric))
        self.citation_metric = CitationMetric(model, kwargs, **self._of(CitationMetric))
        self.hallucination_metric = HallucinationMetric(
            values.get("models", {}).get(HHEM.name), **self._of(HallucinationMetric)
        )
        self.no_answer_metric = NoAnswerMetric(model, kwargs)

    evaluate_batch = Evaluator.evaluate

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
        from ragassay.reports.tables.published_csv import write_trecrag

        write_trecrag(result, path)

    def _of(self, metric: type[Part]) -> dict[str, Any]:
        """Those of the options that a part has."""
        from ragassay.metrics.core import naming

        own = naming.parameters(*map(naming.parse, metric.metrics))
        return {name: value for name, value in self.options.items() if name in own}


class ConsistencyEvaluator(Evaluator):
    """How alike the answers to repeated runs of a query are, two by two; asks no judge.

    Samples hold each query several times (``query_run`` or ``repeat``). The summary of a result has
    no metric: the numbers are in its ``consistency``, a result of its own, and printing the result
    shows them.

    Args:
        options: ``metrics``: a list of ``{"bert_score": {...}}`` (``model_type``, ``lang``,
            ``rescale_with_baseline``, ``layer``), ``{"rouge_score": {}}`` or names alone; both
            where left out.

    Raises:
        UsageError: an option or a metric that there is not, or an impossible value.
    """

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        from ragassay.compat.open_rag_eval.published_evaluators import Similarities

        chosen = dict(options or {})
        chosen["metrics"] = chosen.get("metrics") or list(Similarities.model_fields)
        names = translated("consistency", chosen)["consistency_metrics"]
        super().__init__(["consistency"], {"consistency_metrics": names})
        self.metrics = tuple(names)

    def to_csv(self, result: Result, path: str | Path) -> None:
        """Writes the results in the tool's columns (``consistency_rouge_score`` ...).

        Args:
            result: of a run.
            path: of the file to write.

        Raises:
            UsageError: the file cannot be written.
        """
        from ragassay.reports.tables.published_csv import write_consistency

        write_consistency(result, path)
