"""The data that Open RAG Eval's Python classes take."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError
from ragassay.base.sample import Sample


class RAGResultsLoader:
    """Reads what Open RAG Eval's connectors wrote.

    Args:
        csv_path: one row a passage (``query_id``, ``query``, ``query_run``, ``passage_id``,
            ``passage``, ``generated_answer``); any other file that ragassay reads will do.
        queries_path: a table with ``query_id`` and ``expected_answer`` (``input_queries``).
    """

    def __init__(self, csv_path: str | Path, queries_path: str | Path | None = None) -> None:
        self.csv_path, self.queries_path = csv_path, queries_path

    def load(self) -> list[Sample]:
        """The samples, one for each query and run, for an evaluator's ``evaluate``.

        Raises:
            InputError: a file cannot be read; with its line.
        """
        from ragassay import formats
        from ragassay.engine.run.source import with_references

        samples = formats.read(Path(self.csv_path))
        if self.queries_path is not None:
            samples = with_references(samples, self.queries_path)
        return [*samples]


def samples_of(data: Any, columns: Mapping[str, str] | None = None) -> Any:
    """The data in a form that `ragassay.evaluate` takes. An unknown nested field is refused where
    passages or answer are missing, because it may hold them."""
    records = [data] if isinstance(data, Mapping | Sample) else data
    if isinstance(records, list | tuple):
        for at, record in enumerate(records, start=1):
            if isinstance(record, Mapping):
                _no_unknown(record, at, columns or {})
    return records


def _no_unknown(record: Mapping[str, Any], at: int, columns: Mapping[str, str]) -> None:
    from ragassay.formats import folded
    from ragassay.formats.records.field_names import FIELD_OF

    roots = {name.partition(".")[0] for name in FIELD_OF} | {*map(folded, columns.values())}
    fields = {FIELD_OF.get(folded(str(key))) for key in record} | {*columns}
    if {"passages", "answer"} <= fields:
        return
    for key, value in record.items():
        nested = value[0] if isinstance(value, list | tuple) and value else value
        if folded(str(key)) not in roots and isinstance(nested, Mapping):
            raise InputError(
                "unknown field",
                line=at,
                field=str(key),
                hint="Give a flat record: {'query': ..., 'passages': {id: text}, "
                "'answer': [{'text': ..., 'citations': [ids]}]}.",
            )
