"""Strict JSON of whatever a score or a sample may hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS


def dumps(value: Any, *, indent: bool = False) -> bytes:
    """JSON that every reader takes: UTF-8, no NaN, no lone surrogates; dates as texts."""
    option = _OPTIONS | (orjson.OPT_INDENT_2 if indent else 0)
    try:
        return orjson.dumps(value, default=str, option=option)
    except TypeError:
        return orjson.dumps(_clean(value), default=str, option=option)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value
