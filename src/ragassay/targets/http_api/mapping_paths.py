"""The paths of a mapping file: what they find in a reply."""

from __future__ import annotations

from typing import Any

from ragassay.json_paths import EVERY, NOTHING, JsonPath, PathError

Paths = str | list[str] | None
"""A path as `JsonPath` reads it, or several, of which the first that leads somewhere counts."""


def each_path(paths: Paths) -> list[JsonPath]:
    """The paths, parsed.

    Args:
        paths: of a mapping file.

    Raises:
        ValueError: one is no path.
    """
    return [JsonPath.parse(one) for one in ([paths] if isinstance(paths, str) else paths or ())]


def paths_text(paths: Paths) -> str:
    """The paths as messages show them.

    Args:
        paths: of a mapping file.
    """
    return paths if isinstance(paths, str) else ", ".join(paths or ())


def find_first(value: Any, paths: Paths) -> Any:
    """What the first of the paths that leads somewhere finds.

    Args:
        value: of a reply.
        paths: of a mapping file.

    Returns:
        `NOTHING` where they find nothing and one of them is optional.

    Raises:
        PathError: they find nothing.
    """
    problem: PathError | None = None
    parsed = each_path(paths)
    for path in parsed:
        try:
            found = path.find(value)
        except PathError as error:
            problem = problem or error
            continue
        if found is not NOTHING:
            return found
    if problem is not None and not any(path.optional for path in parsed):
        raise problem
    return NOTHING


def value_at(value: Any, paths: Paths) -> Any:
    """As `find_first`, with ``None`` where nothing is found.

    Args:
        value: of a reply.
        paths: of a mapping file.
    """
    try:
        found = find_first(value, paths)
    except PathError:
        return None
    return None if found is NOTHING else found


def texts_joined(found: Any, paths: Paths) -> Any:
    """The text whose pieces a path with ``[*]`` finds; anything else unchanged.

    Args:
        found: what the paths find.
        paths: of a mapping file.
    """
    if (
        isinstance(found, list)
        and any(EVERY in path.steps for path in each_path(paths))
        and all(isinstance(one, str) for one in found)
    ):
        return "".join(found)
    return found
