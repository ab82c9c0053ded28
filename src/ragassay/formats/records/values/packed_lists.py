"""Lists and objects that records hold as texts: in cells, and in JSON that was made of tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ragassay.base.errors import InputError
from ragassay.formats.records import aliases
from ragassay.formats.records.aliases import FieldKeys
from ragassay.formats.records.values import answer_values, field_values

_LISTS_IN_TEXTS = (
    *("passages", "passage_ids", "gold", "gold_ids"),
    *("references", "reference_groups", "negative_references"),
)
_LISTS = {"history", "metadata", *_LISTS_IN_TEXTS, *aliases.GIVEN}


def unpacked(record: Mapping[str, Any], plan: FieldKeys) -> Mapping[str, Any]:
    """The record with lists and objects in place of their text in cells.

    Args:
        record: of a table.
        plan: the keys of its fields.

    Raises:
        InputError: a cell begins as a list or an object does, and is none.
    """
    keys = [key for field, key in plan.keys.items() if field in _LISTS]
    query = plan.keys.get("query")
    if query is not None and str(record[query])[:2] == "[{":
        keys.append(query)
    opened = {key: field_values.unpack(record[key], key) for key in (*keys, *plan.labels)}
    answer = plan.keys.get("answer")
    if answer is not None and (parts := answer_values.statements_in(record[answer])) is not None:
        opened[answer] = parts
    failed = plan.keys.get("failure")
    if failed is not None and not field_values.says_failure(record[failed]):
        opened[failed] = None
    return {**record, **opened}


def with_lists(
    record: Mapping[str, Any], plan: FieldKeys, note: Callable[[str, str, int], None], line: int
) -> Mapping[str, Any]:
    """The record with lists in place of texts that hold them, as frames of tables write them
    into JSON (pandas' ``read_csv().to_json()``). What only begins like a list stays a text,
    since JSON has lists of its own.

    Args:
        record: of JSON.
        plan: the keys of its fields.
        note: takes a remark: what occurs, the consequence and the line.
        line: 1-based line or record number.
    """
    opened: dict[str, Any] = {}
    for field in _LISTS_IN_TEXTS:
        key = plan.keys.get(field)
        if key is None or type(value := record[key]) is not str:
            continue
        try:
            parsed = field_values.unpack(value, key)
        except InputError:
            note(
                f"texts of {key!r} that begin like a list and are none",
                'Each counts as one text. Write lists as JSON: ["first", "second"].',
                line,
            )
            continue
        if parsed is value or not _is_list_of(field, parsed):
            continue
        answer = record.get(plan.keys.get("answer", ""))
        if "references" in field and str(answer).lstrip()[:1] == "[":
            # A system that is asked for lists has lists as references, each one text.
            note(
                f"texts of {key!r} that hold a list, beside an answer that begins like one",
                "Each counts as one text. Write lists as JSON, where it is several references.",
                line,
            )
        else:
            opened[key] = parsed
            note(
                f"texts of {key!r} that hold a list",
                "They are read as lists, as in cells of tables.",
                line,
            )
    return {**record, **opened} if opened else record


def _is_list_of(field: str, parsed: Any) -> bool:
    """Whether what a text in JSON holds is read as a field's list. A reference may be an object or
    numbers (``[1, 2]``) in a text: a system may be asked for such."""
    if "ids" in field:
        return True
    if isinstance(parsed, dict):
        return field in ("passages", "gold")
    return all(isinstance(one, str | dict | list) for one in parsed)
