"""Open RAG Eval's other evaluators: how alike repeated runs are, and golden answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.compat.open_rag_eval.base_evaluator import Evaluator
from ragassay.compat.open_rag_eval.judge_models import LLMJudgeModel
from ragassay.compat.open_rag_eval.options import translated

if TYPE_CHECKING:
    from ragassay.engine.results import Result
    from ragassay.judges import Judge


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
        from ragassay.engine.published import SIMILARITIES

        given = dict(options or {})
        listed = given.get("metrics") or list(SIMILARITIES)
        given["metrics"] = listed if isinstance(listed, list | tuple) else [listed]
        names = translated("consistency", given)["consistency_metrics"]
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
        from ragassay.reports.tables import write_csv

        write_csv(result, path)


class GoldenAnswerEvaluator(Evaluator):
    """The suite ``golden``: answers against golden answers (``expected_answer``), by a cosine and
    by precision, recall and F1 of claims.

    ``evaluate(data, references="queries.csv")`` joins the golden answers from a table with
    ``query_id`` and ``expected_answer``.

    Args:
        model: who is asked about claims; the embedded judge where left out.
        embedding_model: what turns texts into vectors, as ``--embedder`` takes it
            (``"openai:text-embedding-3-small"``, a folder), or an `OpenAIModel`. Without one the
            semantic similarity is unscored.
    """

    def __init__(
        self,
        model: LLMJudgeModel | Judge | str = "offline",
        embedding_model: LLMJudgeModel | str | None = None,
    ) -> None:
        if isinstance(embedding_model, LLMJudgeModel):
            embedding_model = embedding_model.word
        self.embedder = embedding_model
        super().__init__(["golden"], {"embedder": embedding_model}, model)
