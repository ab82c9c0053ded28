"""What the records of some tools go through before paths lead to their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ragassay.base.errors import InputError
from ragassay.formats.records.values.retrieved import unpacked

Row = Mapping[str, Any]


def attributes(record: Row) -> Row:
    """The record of a span of OpenTelemetry with its attributes as nested objects, however they are
    written: by dotted names, as OTLP's list of keys and values, in columns ``attributes.NAME``."""
    written = unpacked(record.get("attributes")) or {}
    if not isinstance(written, dict | list):
        raise InputError("a list is expected", field="attributes")
    if isinstance(written, list):
        written = {str(item.get("key")): _value(item.get("value")) for item in written}
    columns = {key: one for key, one in record.items() if key.startswith("attributes.")}
    others = {key: one for key, one in record.items() if key not in columns}
    of_columns = {key.partition(".")[2]: unpacked(one) for key, one in columns.items()}
    entries = {
        key: None if value == "null" and key.startswith("mlflow.") else value
        for key, value in {**written, **of_columns}.items()
    }
    return {**others, "attributes": _listed(_nested(entries))}


def _value(value: Any) -> Any:
    """A value of OTLP's JSON as it is."""
    if not isinstance(value, dict):
        return value
    for name, one in value.items():
        if name in ("arrayValue", "array_value"):
            return [_value(item) for item in one.get("values") or ()]
        if name in ("kvlistValue", "kvlist_value"):
            return {item["key"]: _value(item.get("value")) for item in one.get("values") or ()}
        return int(one) if name in ("intValue", "int_value") else one
    return None


def _nested(entries: Row) -> dict[str, Any]:
    """The attributes with an object for each dotted name's part."""
    made: dict[str, Any] = {}
    for name, value in entries.items():
        *above, last = str(name).split(".")
        inner = made
        for key in above:
            below = inner.get(key)
            if not isinstance(below, dict):
                below = inner[key] = {}
            inner = below
        if isinstance(value, Mapping):
            below = inner.get(last)
            inner[last] = {**(below if isinstance(below, dict) else {}), **_nested(value)}
        elif value is not None and not isinstance(inner.get(last), dict):
            inner[last] = [_each(one) for one in value] if isinstance(value, list) else value
    return made


def _each(value: Any) -> Any:
    return _nested(value) if isinstance(value, Mapping) else value


def _listed(value: Any) -> Any:
    """A value with lists in place of objects whose keys are 0, 1, 2 ..."""
    if isinstance(value, list):
        return [_listed(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value and all(key.isdecimal() for key in value):
        return [_listed(value[key]) for key in sorted(value, key=int)]
    return {key: _listed(one) for key, one in value.items()}


def flat(nested: Row) -> dict[str, Any]:
    """The values of nested objects by dotted names."""
    made: dict[str, Any] = {}
    for name, value in nested.items():
        if isinstance(value, dict) and value:
            made |= {f"{name}.{inner}": one for inner, one in flat(value).items()}
        else:
            made[name] = value
    return made


def usage_in_tokens(record: Row) -> Row:
    """The record without a usage that counts something else than tokens."""
    usage = unpacked(record.get("usage"))
    counts = not isinstance(usage, dict) or usage.get("unit") in (None, "", "TOKENS")
    return record if counts else {key: one for key, one in record.items() if key != "usage"}


BY_NAME: Mapping[str, Callable[[Row], Row]] = {
    "": lambda record: record,
    "attributes": attributes,
    "usage_in_tokens": usage_in_tokens,
}
