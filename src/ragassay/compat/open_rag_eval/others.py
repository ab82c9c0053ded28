"""Open RAG Eval's other evaluators: how alike repeated runs are, and golden answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.compat.open_rag_eval.judge_models import LLMJudgeModel, asked
from ragassay.compat.open_rag_eval.options import similarities
from ragassay.compat.open_rag_eval.query_data import samples_of
from ragassay.samples import Sample

if TYPE_CHECKING:
    from ragassay.engine.results import Result
    from ragassay.engine.run import Data
    from ragassay.judges import Judge


class ConsistencyEvaluator:
    """How alike the answers to repeated runs of a query are; asks no judge.

    Args:
        options: ``metrics``: a list of ``{"bert_score": {...}}`` (``model_type``, ``lang``,
            ``rescale_with_baseline``, ``layer``), ``{"rouge_score": {}}`` or names alone; both
            where left out.

    Raises:
        UsageError: an option or a metric that there is not, or an impossible value.
    """

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        self.metrics = similarities(options or {})

    def evaluate(
        self,
        data: Data | Mapping[str, Any] | Sample,
        *,
        save: str | Path | None = None,
        **options: Any,
    ) -> Result:
        """Compares the runs of each query, two by two.

        The result's own summary has no metric: the numbers are in its ``consistency``, a result
        of its own, and printing the result shows them.

        Args:
            data: samples that hold each query several times (``query_run`` or ``repeat``).
            save: a run folder to write.
            options: as for `ragassay.evaluate` (``models``, ``device`` ...).

        Raises:
            InputError: data that cannot be read.
        """
        from ragassay.engine import evaluate

        running = {"consistency_metrics": list(self.metrics), **options}
        return evaluate(
            samples_of(data, options.get("columns")), "consistency", save=save, **running
        )

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


class GoldenAnswerEvaluator:
    """The suite ``golden``: answers against golden answers (``expected_answer``).

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
        self.model = model
        if isinstance(embedding_model, LLMJudgeModel):
            embedding_model = embedding_model.word
        self.embedder = embedding_model

    def evaluate(
        self,
        data: Data | Mapping[str, Any] | Sample,
        *,
        save: str | Path | None = None,
        **options: Any,
    ) -> Result:
        """Semantic similarity (a cosine), and precision, recall and F1 of claims.

        Args:
            data: samples with golden answers (``expected_answer``).
            save: a run folder to write.
            options: as for `ragassay.evaluate`: ``references="queries.csv"`` joins the golden
                answers from a table with ``query_id`` and ``expected_answer``.

        Raises:
            InputError: data that cannot be read.
            UsageError: a judge or an embedder that cannot be had.
        """
        from ragassay.engine import evaluate

        running = {"embedder": self.embedder, **options}
        return evaluate(
            samples_of(data, options.get("columns")),
            "golden",
            save=save,
            **asked(self.model),
            **running,
        )
