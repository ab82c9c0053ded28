"""The keys of Open RAG Eval's configurations, and notes on those that have no effect here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from ragassay.models.encoders import has_baseline

Cutoff = Annotated[int, Field(ge=1)]


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class JudgeModel(_Keys):
    """``model``: who is asked."""

    type: str
    name: str | None = None
    api_key: str | None = None
    base_url: str | None = None
    model_kwargs: dict[str, Any] | None = None


class Evaluator(_Keys):
    """An entry of ``evaluator``. The page calls it by ``name``, the tool by ``type``."""

    name: str | None = None
    type: str | None = None
    model: JudgeModel | None = None
    embedding_model: Any = None
    options: dict[str, Any] | None = None


class Hallucination(_Keys):
    """``hallucination_metric`` of the TREC evaluator."""

    backend_type: str | None = None
    model_name: str | Path | None = None
    detection_threshold: float | None = None
    max_chars: Cutoff | None = None
    api_key: str | None = None
    base_url: str | None = None


class TrecOptions(_Keys):
    """``options`` of the TREC evaluator."""

    k_values: Annotated[list[Cutoff], Field(min_length=1)] | None = None
    run_consistency: bool = False
    metrics_to_run_consistency: list[str] | None = None
    hallucination_metric: Hallucination | None = None
    model_kwargs: dict[str, Any] | None = None


class ConsistencyOptions(_Keys):
    """``options`` of the consistency evaluator."""

    metrics: Annotated[list[Any], Field(min_length=1)] | None = None


class BertOptions(_Keys):
    """``bert_score`` of the consistency evaluator, with the page's defaults."""

    model_type: str = "xlm-roberta-large"
    lang: str = "en"
    rescale_with_baseline: bool = True
    max_length: Cutoff | None = None
    layer: Annotated[int, Field(ge=0)] | None = None

    @property
    def rescaled(self) -> bool:
        """As on the page unless the file says otherwise, if there is a baseline."""
        return self.rescale_with_baseline and has_baseline(self.lang, self.model_type)

    @property
    def metrics(self) -> list[str]:
        """Our name for it: the page speaks of F1 alone."""
        scale = f"lang={self.lang}" if self.rescaled else "rescale=false"
        layer = "" if self.layer is None else f"layer={self.layer},"
        return [f"runs_bertscore(model={self.model_type},{layer}{scale}).f"]


class RougeOptions(_Keys):
    """``rouge_score`` of the consistency evaluator: it has no options."""

    @property
    def metrics(self) -> list[str]:
        """Our names for it: precision, recall and F of each variant, and the tool's own ROUGE-L."""
        parts = [f"runs_rouge{variant}.{part}" for variant in "12L" for part in "fpr"]
        return [*parts, "runs_rouge_ore.f"]


SIMILARITIES: Mapping[str, type[BertOptions] | type[RougeOptions]] = {
    "bert_score": BertOptions,
    "rouge_score": RougeOptions,
}
"""What may stand in the list of the consistency evaluator."""


def top_notes() -> Mapping[str, str]:
    """The keys of a file that mean nothing here, with what to know about each."""
    return {
        "connector": "is not called: ragassay evaluates answers that are there already. Give the "
        "file that the connector wrote as DATA, or as generated_answers.",
        "eval_results_file": _RESULTS,
        "evaluation_results": _RESULTS,
        "metrics_file": "no picture is drawn by a run; 'ragassay plot' draws them.",
        "log_level": "has no meaning here: what is worth telling is told.",
    }


_RESULTS = (
    "is not written by a run; 'ragassay report RUN --format ore' writes Open RAG Eval's results."
)
