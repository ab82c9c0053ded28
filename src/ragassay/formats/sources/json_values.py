"""JSON values: strict where a reader would silently lose something, lenient where files are known
to differ."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from ragassay.base.problem_words import json_problem
from ragassay.formats.format_words import wrong
from ragassay.formats.sources.opening import placed, read_all


def parse_json(raw: bytes, path: Path | None = None, line: int | None = None) -> Any:
    """One JSON value.

    Python and pandas write ``NaN`` for missing values, and programs that cut text in the middle of
    a character write halves of surrogate pairs. Published files hold both. ``NaN`` becomes ``null``
    (except where a score is expected, which `field_values` of records then refuses), half a pair
    becomes U+FFFD.

    Args:
        raw: the bytes.
        path, line: their place, for errors.

    Raises:
        InputError: it is not JSON, not UTF-8, names a key twice in one object, or holds an infinite
            number.
    """
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as strict:
        try:
            with placed(path, line):
                return cleaned(json.loads(raw.decode(), object_pairs_hook=_unique))
        except (ValueError, RecursionError):
            raise wrong("no_json", path=path, line=line, why=json_problem(strict)) from None
    with placed(path, line):
        if _NINETEEN in raw.translate(_DIGITS):  # orjson makes floats of integers beyond 64 bits
            value = cleaned(json.loads(raw, object_pairs_hook=_unique, parse_int=exact))
        else:
            refuse_repeats(raw, value)
    return value


_DIGITS = bytes(48 if chr(at).isdecimal() else 32 for at in range(256))
_NINETEEN = b"0" * 19
"""So many digits may need more than 64 bits."""


def exact(written: str | int) -> int | str:
    """An integer; as its digits where it needs more than 64 bits, which not every reader keeps."""
    value = int(written)
    return value if -(2**63) <= value < 2**63 else str(value)


def whole_object(path: Path, encoding: str | None = None) -> dict[str, Any]:
    """The JSON object that a file holds."""
    value = parse_json(read_all(path, encoding), path)
    if not isinstance(value, dict):
        raise wrong("no_object", path=path)
    return value


def refuse_repeats(raw: bytes, value: Any) -> None:
    """Refuses an object that names a key twice; JSON readers silently keep the last value.

    Each key has its colon, so an object with as many keys as the text has colons lost none.
    Otherwise the value, written again, has as many colons as the text unless a key was lost (or a
    colon was written as an escape). Only then is the text parsed again, slowly.

    Args:
        raw: the text, as bytes.
        value: what was read from it.
    """
    colons = raw.count(b":")
    if isinstance(value, dict) and len(value) == colons:
        return
    try:
        if orjson.dumps(value).count(b":") == colons:
            return
    except TypeError:
        pass  # nested too deeply to be written
    with suppress(RecursionError):
        json.loads(raw, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise wrong("key_twice", field=twice, key=twice)
    return unique


def cleaned(value: Any, key: str = "") -> Any:
    """A JSON value without NaN and lone surrogates: ``NaN`` stays under a key of scores and becomes
    ``None`` elsewhere. An infinite number is an error."""
    if isinstance(value, float) and not math.isfinite(value):
        if math.isinf(value):
            raise wrong("infinite", field=key or None, value=value)
        return value if key.casefold() in SCORES else None
    if isinstance(value, str):
        return value if value.isascii() else _without_lone_surrogates(value)
    if isinstance(value, dict):
        return {cleaned(name): cleaned(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [cleaned(item, key) for item in value]
    return value


SCORES = ("score", "relevance_score", "similarity")
"""What the score of a passage is called."""


def _without_lone_surrogates(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
