"""Lists and objects that records hold as texts: in cells, and in JSON that was made of tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ragassay.base.errors import InputError
from ragassay.formats.records import aliases
from ragassay.formats.records.column_plans import FieldKeys
from ragassay.formats.records.values import answer_values, field_values
from ragassay.formats.records.values.cells import unpack

_LISTS_IN_TEXTS = (
    *("passages", "passage_ids", "gold", "gold_ids"),
    *("references", "reference_groups", "negative_references"),
)
_LISTS = {"history", "metadata", *_LISTS_IN_TEXTS, *aliases.GIVEN}


def unpacked_cells(record: Mapping[str, Any], plan: FieldKeys) -> Mapping[str, Any]:
    """A row of a table with lists and objects in place of their text in cells; a cell that begins
    like one and is none is an error."""
    keys = [key for field, key in plan.keys.items() if field in _LISTS]
    query = plan.keys.get("query")
    if query is not None and str(record[query])[:2] == "[{":
        keys.append(query)
    opened = {key: unpack(record[key], key) for key in (*keys, *plan.labels)}
    answer = plan.keys.get("answer")
    if answer is not None and (parts := answer_values.statements_in(record[answer])) is not None:
        opened[answer] = parts
    failed = plan.keys.get("failure")
    if failed is not None and not field_values.says_failure(record[failed]):
        opened[failed] = None
    return {**record, **opened}


def with_lists(
    record: Mapping[str, Any], plan: FieldKeys, tell: Callable[..., None], line: int
) -> Mapping[str, Any]:
    """A record of JSON with lists in place of texts that hold them, as frames of tables write them
    (pandas' ``read_csv().to_json()``). What only begins like a list stays a text, since JSON has
    lists of its own."""
    opened: dict[str, Any] = {}
    for field in _LISTS_IN_TEXTS:
        key = plan.keys.get(field)
        if key is None or type(value := record[key]) is not str:
            continue
        try:
            parsed = unpack(value, key)
        except InputError:
            tell("texts_like_lists", line, key=key)
            continue
        if parsed is value or not _is_list_of(field, parsed):
            continue
        answer = record.get(plan.keys.get("answer", ""))
        if "references" in field and str(answer).lstrip()[:1] == "[":
            # A system that is asked for lists has lists as references, each one text.
            tell("lists_beside_lists", line, key=key)
        else:
            opened[key] = parsed
            tell("lists_in_texts", line, key=key)
    return {**record, **opened} if opened else record


def _is_list_of(field: str, parsed: Any) -> bool:
    """Whether what a text in JSON holds is read as a field's list. A reference may be an object or
    numbers (``[1, 2]``) in a text: a system may be asked for such."""
    if "ids" in field:
        return True
    if isinstance(parsed, dict):
        return field in ("passages", "gold")
    return all(isinstance(one, str | dict | list) for one in parsed)
