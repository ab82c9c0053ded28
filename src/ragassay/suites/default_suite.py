"""The suite for a format, when none is named."""

from __future__ import annotations

from ragassay.suites.suite import Suite, get

DEFAULT_SUITES = {
    "mtrag": "mtrag", "inspectorraget": "mtrag", "mlcube": "ragreport", "open_rag_eval": "trecrag",
    "trec_rag": "trecrag", "trec_run": "retrieval", "beir": "retrieval",
}  # fmt: skip
"""By format. For all others: `retrieval` with qrels, else `rag`."""


def default_suite(data_format: str, *, qrels: bool) -> Suite:
    """The suite for data, with or without qrels beside them."""
    return get(DEFAULT_SUITES.get(data_format, "retrieval" if qrels else "rag"))
