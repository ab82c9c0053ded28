"""The whole suite ``trecrag`` as an object."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay import suites
from ragassay.compat.open_rag_eval.base_evaluator import Evaluator
from ragassay.compat.open_rag_eval.judge_models import LLMJudgeModel
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
    cutoffs,
    translated,
    with_options,
)

if TYPE_CHECKING:
    from ragassay.engine.results import Result
    from ragassay.judges import Judge


class TRECEvaluator(Evaluator):
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
        from ragassay.models.classifiers import HHEM

        given = dict(options or {})
        if given.get("k_values") is not None:
            cutoffs(given["k_values"])
        values = translated("trecrag", given)
        super().__init__(values.pop("suite"), values, model)
        self.k_values = tuple(values.get("ks", K_VALUES))
        self.options = values.get("options", {})
        kwargs, given = given.get("model_kwargs"), self.options
        self.retrieval_metric = UMBRELAMetric(model, kwargs, **_of(UMBRELAMetric, given))
        self.generation_metric = AutoNuggetMetric(model, kwargs, **_of(AutoNuggetMetric, given))
        self.citation_metric = CitationMetric(model, kwargs, **_of(CitationMetric, given))
        self.hallucination_metric = HallucinationMetric(
            values.get("models", {}).get(HHEM.name), **_of(HallucinationMetric, given)
        )
        self.no_answer_metric = NoAnswerMetric(model, kwargs)
        for metric in suites.get("trecrag").resolve():
            with_options(metric, given)  # refuses impossible values now

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
        from ragassay.reports.tables import write_trecrag

        write_trecrag(result, path)


def _of(metric: type[Part], options: Mapping[str, Any]) -> dict[str, Any]:
    from ragassay.metrics.core import naming

    own = naming.parameters(*map(naming.parse, metric.metrics))
    return {name: value for name, value in options.items() if name in own}
