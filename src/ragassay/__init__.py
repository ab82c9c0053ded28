"""Evaluate RAG systems, and say whether a difference is real.

>>> import ragassay
>>> result = ragassay.evaluate("answers.jsonl", "qa")      # doctest: +SKIP
>>> print(result.summary)                                   # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Answerability",
    "AnthropicModel",
    "AutoNuggetMetric",
    "AutoNuggetizer",
    "CitationMetric",
    "Comparison",
    "ConsistencyEvaluator",
    "GeminiModel",
    "GoldPassage",
    "GoldenAnswerEvaluator",
    "HallucinationMetric",
    "InputError",
    "LLMJudgeModel",
    "NoAnswerMetric",
    "OpenAIModel",
    "Passage",
    "RAGResultsLoader",
    "RagassayError",
    "Reason",
    "Result",
    "Sample",
    "Score",
    "Statement",
    "TRECEvaluator",
    "TogetherModel",
    "Turn",
    "UMBRELAMetric",
    "Unscored",
    "UsageError",
    "__version__",
    "compare",
    "evaluate",
    "evaluate_run",
    "load",
    "open_run",
    "save_run",
]

_HOME = {
    "Answer": "ragassay.samples",
    "Answerability": "ragassay.samples",
    "AnthropicModel": "ragassay.compat.open_rag_eval",
    "AutoNuggetMetric": "ragassay.compat.open_rag_eval",
    "AutoNuggetizer": "ragassay.compat.open_rag_eval",
    "CitationMetric": "ragassay.compat.open_rag_eval",
    "Comparison": "ragassay.engine",
    "ConsistencyEvaluator": "ragassay.compat.open_rag_eval",
    "GeminiModel": "ragassay.compat.open_rag_eval",
    "GoldPassage": "ragassay.samples",
    "GoldenAnswerEvaluator": "ragassay.compat.open_rag_eval",
    "HallucinationMetric": "ragassay.compat.open_rag_eval",
    "InputError": "ragassay.errors",
    "LLMJudgeModel": "ragassay.compat.open_rag_eval",
    "NoAnswerMetric": "ragassay.compat.open_rag_eval",
    "OpenAIModel": "ragassay.compat.open_rag_eval",
    "Passage": "ragassay.samples",
    "RAGResultsLoader": "ragassay.compat.open_rag_eval",
    "RagassayError": "ragassay.errors",
    "Reason": "ragassay.scores",
    "Result": "ragassay.engine",
    "Sample": "ragassay.samples",
    "Score": "ragassay.scores",
    "Statement": "ragassay.samples",
    "TRECEvaluator": "ragassay.compat.open_rag_eval",
    "TogetherModel": "ragassay.compat.open_rag_eval",
    "Turn": "ragassay.samples",
    "UMBRELAMetric": "ragassay.compat.open_rag_eval",
    "Unscored": "ragassay.scores",
    "UsageError": "ragassay.errors",
    "compare": "ragassay.engine",
    "evaluate": "ragassay.engine",
    "evaluate_run": "ragassay.engine",
    "load": "ragassay.formats",
    "open_run": "ragassay.engine",
    "save_run": "ragassay.engine",
}

_PACKAGES = frozenset(
    {"compat", "engine", "errors", "examples", "formats", "judges", "metrics", "models"}
    | {"reports", "samples", "scores", "stats", "suites", "transport"}
)
"""Packages and modules that are reached as attributes: ``ragassay.formats.schema()``."""

if TYPE_CHECKING:
    from ragassay.compat.open_rag_eval import (
        AnthropicModel,
        AutoNuggetizer,
        AutoNuggetMetric,
        CitationMetric,
        ConsistencyEvaluator,
        GeminiModel,
        GoldenAnswerEvaluator,
        HallucinationMetric,
        LLMJudgeModel,
        NoAnswerMetric,
        OpenAIModel,
        RAGResultsLoader,
        TogetherModel,
        TRECEvaluator,
        UMBRELAMetric,
    )
    from ragassay.engine import (
        Comparison,
        Result,
        compare,
        evaluate,
        evaluate_run,
        open_run,
        save_run,
    )
    from ragassay.errors import InputError, RagassayError, UsageError
    from ragassay.formats import load
    from ragassay.samples import (
        Answer,
        Answerability,
        GoldPassage,
        Passage,
        Sample,
        Statement,
        Turn,
    )
    from ragassay.scores import Reason, Score, Unscored


def __getattr__(name: str) -> Any:
    """Public names and packages are imported when first used, so that ``import ragassay`` stays
    cheap."""
    if name in _PACKAGES:
        return importlib.import_module(f"ragassay.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'ragassay' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES})
