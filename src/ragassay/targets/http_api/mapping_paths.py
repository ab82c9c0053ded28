"""The paths of a mapping file: what they find in a reply."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Annotated, Any

from pydantic import AfterValidator

from ragassay.base.json_paths import EVERY, NOTHING, JsonPath, PathError


def each_path(paths: str | list[str] | None) -> list[JsonPath]:
    """The paths, parsed.

    Args:
        paths: of a mapping file.

    Raises:
        ValueError: one is no path.
    """
    return [JsonPath.parse(one) for one in ([paths] if isinstance(paths, str) else paths or ())]


def _checked(paths: str | list[str] | None) -> str | list[str] | None:
    each_path(paths)
    return paths


Paths = Annotated[str | list[str] | None, AfterValidator(_checked)]
"""A path as `JsonPath` reads it, or several: the first that finds something counts."""


def paths_text(paths: Paths) -> str:
    """The paths as messages show them.

    Args:
        paths: of a mapping file.
    """
    return paths if isinstance(paths, str) else ", ".join(paths or ())


def find_first(values: Iterable[Any], paths: Paths) -> Any:
    """What the first of the paths that leads somewhere finds, in the first value where one does.

    Args:
        values: of replies or events.
        paths: of a mapping file.

    Returns:
        `NOTHING` where they find nothing and one of them is optional.

    Raises:
        PathError: they find nothing.
    """
    problem: PathError | None = None
    parsed = each_path(paths)
    for value, path in product(values, parsed):
        try:
            part = path.find(value)
        except PathError as error:
            problem = problem or error
            continue
        if part is not NOTHING:
            return part
    if problem is not None and not any(path.optional for path in parsed):
        raise problem
    return NOTHING


def value_at(value: Any, paths: Paths) -> Any:
    """As `find_first` of one value, with ``None`` where nothing is found.

    Args:
        value: of a reply.
        paths: of a mapping file.
    """
    try:
        part = find_first([value], paths)
    except PathError:
        return None
    return None if part is NOTHING else part


def texts_joined(value: Any, paths: Paths) -> Any:
    """The text whose pieces a path with ``[*]`` finds; anything else unchanged.

    Args:
        value: that the paths find.
        paths: of a mapping file.
    """
    if (
        isinstance(value, list)
        and any(EVERY in path.steps for path in each_path(paths))
        and all(isinstance(one, str) for one in value)
    ):
        return "".join(value)
    return value
