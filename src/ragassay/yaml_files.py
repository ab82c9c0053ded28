"""Reading YAML, whose mistakes are told with file and line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import yaml

from ragassay.errors import InputError

Place = tuple[str, ...]
"""Where something stands: the keys that lead to it; items of lists count from 0."""

Fill = Callable[[str, Place], str]
"""Called with each scalar's text and place; gives the text that takes its place."""


class Wrong(Protocol):
    """Makes an error about a place."""

    def __call__(self, place: Place, problem: str, hint: str | None = None) -> InputError:
        """The error, to be raised: what is wrong, and what to do."""


@dataclass(frozen=True)
class Marked:
    """What a YAML text holds.

    Attributes:
        value: mappings, lists and scalars.
        lines: the line of each key and item, from 1.
    """

    value: Any
    lines: Mapping[Place, int]

    def line(self, place: Place) -> int | None:
        """The line of a place, or of the nearest one around it that is known."""
        known = (place[:n] for n in range(len(place), 0, -1))
        return next((self.lines[one] for one in known if one in self.lines), None)


def text_of(path: Path) -> str:
    """A text file, with or without a byte order mark.

    Raises:
        InputError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", path=path) from error


def value_of(text: str, path: object) -> Any:
    """What a YAML text holds; ``path`` names it in errors.

    Raises:
        InputError: it is no YAML.
    """
    with explained(path):
        loader, root = _composed(text, path)
        return None if root is None else loader.construct_document(root)


def marked(text: str, path: object, fill: Fill | None = None) -> Marked:
    """What a YAML text holds, with its lines.

    Args:
        text: the whole file.
        path: names the file in errors.
        fill: changes scalars. What it changes in a plain one (without quotation marks) is read
            anew, so that it may become a number, or a list in brackets.

    Raises:
        InputError: it is no YAML, or a key is given twice.
    """
    with explained(path):
        loader, root = _composed(text, path)
        if fill is not None and root is not None:
            root = _filled(root, (), fill)
        lines = _walk(root, path, fill)
        return Marked(None if root is None else loader.construct_document(root), lines)


_MOST_NODES = 100_000
"""Keys, items and scalars of a file with all its anchors written out."""


def _composed(text: str, path: object) -> tuple[yaml.SafeLoader, Any]:
    """The loader of a YAML text, and its root.

    Raises:
        InputError: its anchors, each of which holds several of another, stand for far more than is
            written.
    """
    loader = yaml.SafeLoader(text)  # libyaml's dies of deep nesting, this one raises an error
    root = loader.get_single_node()
    begun: set[int] = set()
    sizes: dict[int, int] = {}
    waiting = [] if root is None else [root]
    while waiting:
        node = waiting[-1]
        inner = _inner(node)
        if id(node) not in begun:
            begun.add(id(node))
            waiting += [one for one in inner if id(one) not in begun]
            continue
        waiting.pop()
        # What is begun and not ended holds this node.
        if any(id(one) not in sizes for one in inner):
            raise InputError("an anchor holds itself", path=path, line=node.start_mark.line + 1)
        sizes[id(node)] = 1 + sum(sizes[id(one)] for one in inner)
        if sizes[id(node)] > max(_MOST_NODES, len(text)):
            raise InputError(
                f"its anchors stand for more than {_MOST_NODES:,} values",
                path=path,
                line=node.start_mark.line + 1,
                hint="Write out what is needed.",
            )
    return loader, root


def _walk(root: Any, path: object, fill: Fill | None) -> dict[Place, int]:
    """The line of every key and item; changes scalars on the way."""
    found: dict[Place, int] = {}
    seen: set[int] = set()
    waiting: list[tuple[Place, Any]] = [((), root)]
    while waiting:
        place, node = waiting.pop()
        if id(node) in seen:
            continue  # an anchor: where it was first
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            pairs, keys = [], set()
            for key, value in node.value:
                if fill is not None:
                    key = _filled(key, (*place, str(key.value)), fill)
                    value = _filled(value, (*place, str(key.value)), fill)
                here = (*place, str(key.value))
                line = key.start_mark.line + 1
                if here[-1] in keys:
                    raise InputError(
                        "is given twice",
                        path=path,
                        line=line,
                        field=".".join(here),
                        hint="Keep one of them.",
                    )
                keys.add(here[-1])
                found[here] = line
                pairs.append((key, value))
                waiting.append((here, value))
            node.value = pairs
        elif isinstance(node, yaml.SequenceNode):
            if fill is not None:
                node.value = [
                    _filled(item, (*place, str(at)), fill) for at, item in enumerate(node.value)
                ]
            for at, item in enumerate(node.value):
                found[(*place, str(at))] = item.start_mark.line + 1
                waiting.append(((*place, str(at)), item))
    return found


def _filled(node: Any, place: Place, fill: Fill) -> Any:
    """The node with its text changed, or a new one where the text is something else now."""
    if not isinstance(node, yaml.ScalarNode):
        return node
    text = fill(node.value, place)
    if text == node.value:
        return node
    made = _read_anew(text) if node.style is None else None
    if made is None:
        tag = "tag:yaml.org,2002:str"
        return yaml.ScalarNode(tag, text, node.start_mark, node.end_mark, style=node.style or '"')
    for one in _nodes(made):
        one.start_mark, one.end_mark = node.start_mark, node.end_mark
    return made


def _nodes(root: Any) -> Iterator[Any]:
    """A node and all within it."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += _inner(node)


def _inner(node: Any) -> list[Any]:
    """What a node holds."""
    if isinstance(node, yaml.MappingNode):
        return [one for pair in node.value for one in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _read_anew(text: str) -> Any:
    """The node of a plain scalar, or of a list or mapping in brackets; ``None`` for all else, which
    is a text as it stands (a path with ': ' or ' #' in it)."""
    if not text.strip():
        return yaml.ScalarNode("tag:yaml.org,2002:null", "", None, None)
    try:
        found = yaml.compose(text, yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    if isinstance(found, yaml.ScalarNode):
        return found if found.style is None and found.value == text.strip() else None
    return found if isinstance(found, yaml.CollectionNode) and found.flow_style else None


@contextmanager
def explained(path: object) -> Iterator[None]:
    """What the YAML parser complains about, as an `InputError` with its line."""
    try:
        yield
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise InputError(
            f"is not YAML ({getattr(error, 'problem', None) or error})",
            path=path,
            line=mark.line + 1 if mark else None,
        ) from error
    except (RecursionError, ValueError) as error:
        raise InputError(f"cannot be read ({error})", path=path) from error
