"""The kind of a value in words, and the error for one of another kind."""

from __future__ import annotations

from typing import Any

from ragassay.base.errors import InputError


def unexpected(
    value: Any, wanted: str, field: str | None = None, hint: str | None = None
) -> InputError:
    """The error for a value of another kind than is expected.

    Args:
        value: what was given.
        wanted: what is expected, with its article.
        field: name of the value, if it has one.
        hint: what to do about it.
    """
    return InputError(f"{kind(value)} stands where {wanted} is expected", field=field, hint=hint)


def kind(value: Any) -> str:
    """A value's kind in words, for errors."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"the flag {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else f"a {type(value).__name__}"
