"""Where the texts of a column are, when it holds objects and lists: paths for ``columns``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ragassay.base.json_paths import EVERY, JsonPath

_DEEPEST = 6
"""Levels of objects and lists that are looked into."""

_Steps = tuple[str | int, ...]


def text_paths(values: Sequence[Any], column: str, *, listed: bool = False) -> dict[str, list[Any]]:
    """The paths to the texts and lists of texts in the values of a column.

    Args:
        values: what some records have in the column.
        column: its name.
        listed: whether they are for a field that is a list.

    Returns:
        Path -> what it leads to in those values that have it. The texts of a list of objects are a
        list (``hits[*].text``), unless every such list has a single item (``choices[0].message``)
        and the field is no list: in other records the list may be longer.
    """
    values_of: dict[str, list[Any]] = {}
    for path, steps in dict(_paths(list(values), column, (), listed)).items():
        way = JsonPath(path, steps, optional=True)
        texts = [_texts(way.find(value)) for value in values]
        if present := [one for one in texts if one is not None]:
            values_of[path] = present
    return values_of


def is_list_of_texts(value: Any) -> bool:
    """Whether a value is a list that holds texts alone, and any."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)


def _texts(value: Any) -> Any:
    """A text, or the texts of a list; ``None`` where there are none."""
    if isinstance(value, list):
        return [one for one in value if isinstance(one, str)] or None
    return value if isinstance(value, str) else None


def _paths(
    values: list[Any], path: str, steps: _Steps, listed: bool
) -> Iterator[tuple[str, _Steps]]:
    """Paths into values that stand at one place in several records, with their steps."""
    if any(isinstance(one, str) or is_list_of_texts(one) for one in values):
        yield path, steps
    if len(steps) >= _DEEPEST:
        return
    objects = [one for one in values if isinstance(one, dict)]
    for key in dict.fromkeys(key for one in objects for key in one):
        plain = str(key).replace("_", "").replace("-", "").isalnum()
        step = f".{key}" if plain else f'["{key}"]'
        inner_values = [one[key] for one in objects if key in one]
        yield from _paths(inner_values, f"{path}{step}", (*steps, key), listed)
    lists = [one for one in values if isinstance(one, list) and one and isinstance(one[0], dict)]
    if lists:
        items = [item for one in lists for item in one if isinstance(item, dict)]
        every = listed or any(len(one) > 1 for one in lists)
        step, at = ("[*]", EVERY) if every else ("[0]", 0)
        yield from _paths(items, f"{path}{step}", (*steps, at), listed)


def unread(value: Any, texts: set[str]) -> Any:
    """What is left of inputs or outputs without the texts that were read from them; ``None`` where
    nothing is."""
    if isinstance(value, str):
        return None if value.strip() in texts or not value.strip() else value
    if isinstance(value, dict):
        entries = {key: unread(one, texts) for key, one in value.items() if key != "type"}
        return {key: one for key, one in entries.items() if one is not None} or None
    if isinstance(value, list):
        items = [unread(one, texts) for one in value]
        if all(one is None for one in items):
            return None
        return [one or {} for one in items] if isinstance(value[0], dict) else value
    return None


def all_texts(value: Any) -> Iterator[str]:
    """Every text in a value."""
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from all_texts(one)
