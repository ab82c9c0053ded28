"""Evaluate RAG systems, and say whether a difference is real.

>>> import ragassay
>>> result = ragassay.evaluate("answers.jsonl", "qa")      # doctest: +SKIP
>>> print(result.summary)                                   # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "Answer": "ragassay.samples",
    "Answerability": "ragassay.samples",
    "GoldPassage": "ragassay.samples",
    "Passage": "ragassay.samples",
    "Sample": "ragassay.samples",
    "Statement": "ragassay.samples",
    "Turn": "ragassay.samples",
    "Score": "ragassay.scores",
    "Unscored": "ragassay.scores",
    "Reason": "ragassay.scores",
    "RagassayError": "ragassay.errors",
    "InputError": "ragassay.errors",
    "UsageError": "ragassay.errors",
    "load": "ragassay.formats",
    "evaluate": "ragassay.engine",
    "compare": "ragassay.engine",
    "Result": "ragassay.engine",
}

__all__ = ["__version__", *_PUBLIC]

if TYPE_CHECKING:
    from ragassay.engine import Result, compare, evaluate
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
    """Public names are imported when first used, so that ``import ragassay`` stays cheap."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'ragassay' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
