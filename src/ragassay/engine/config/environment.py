"""Environment variables in configuration files: ``${NAME}``, ``${NAME:-text}``, and as OmegaConf
writes them ``${oc.env:NAME}`` and ``${oc.env:NAME,text}``. An API key must be given by such a
reference, because files are shared and kept."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ragassay.base.errors import InputError
from ragassay.base.yaml_files import Marked, Place, marked

_FORM = re.compile(r"\$\{([^}]*)\}")
_NAME = r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
_REFERENCES = (
    re.compile(rf"{_NAME}(?::-(?P<default>.*))?", re.DOTALL),
    re.compile(
        rf"\s*oc\.env\s*:\s*{_NAME}\s*(?:,\s*(?P<quote>['\"]?)(?P<default>.*?)(?P=quote)\s*)?",
        re.DOTALL,
    ),
)
_FOREIGN = re.compile(r"\s*(?:\.|[A-Za-z_]\w*\s*[.:\[]).*", re.DOTALL)
"""References that OmegaConf would resolve: to another key, or to a resolver of its own."""


def read_filled(
    text: str,
    path: object,
    *,
    leave: Callable[[Place], bool] = lambda place: False,
    environment: Mapping[str, str] | None = None,
) -> Marked:
    """The content of a YAML text, with environment variables filled in.

    They are filled in after the text was parsed, so no value can change its structure, and
    references in comments are ignored.

    Args:
        text: the whole file.
        path: names the file in errors.
        leave: whether the references at a place stay as they are.
        environment: the process's own when left out.

    Raises:
        InputError: it is no YAML, names a variable that is not set, or holds a reference to
            something else; with the line.
    """
    mark = next(chr(code) for code in range(0xE000, 0xF8FF) if chr(code) not in text)
    variables = os.environ if environment is None else environment
    matches: list[re.Match[str]] = []

    def noted(match: re.Match[str]) -> str:
        matches.append(match)
        return f"{mark}{len(matches) - 1}{mark}"

    safe = _FORM.sub(noted, text)  # braces mean something inside YAML's own brackets

    def fill(scalar: str, place: Place) -> str:
        if mark not in scalar:
            return scalar
        left = leave(place)

        def value(token: re.Match[str]) -> str:
            match = matches[int(token[1])]
            line = text.count("\n", 0, match.start()) + 1
            return match[0] if left else _value(match, variables, path, line)

        return re.sub(f"{mark}(\\d+){mark}", value, scalar)

    return marked(safe, path, fill)


def _value(match: re.Match[str], environment: Mapping[str, str], path: object, line: int) -> str:
    reference = _reference(match[1])
    if reference is None:
        if _FOREIGN.fullmatch(match[1]):
            raise InputError(
                f"{match[0]} is no reference to an environment variable",
                path=path,
                line=line,
                hint="Write ${NAME} or ${oc.env:NAME}; references to other keys are not followed.",
            )
        return match[0]
    name, default = reference["name"], reference["default"]
    if name not in environment and default is None:
        raise InputError(
            f"names the environment variable {name}, which is not set",
            path=path,
            line=line,
            hint=f"Set it, or write ${{{name}:-default}}.",
        )
    return environment.get(name, default)


def _reference(body: str) -> re.Match[str] | None:
    return next((match for form in _REFERENCES if (match := form.fullmatch(body))), None)


_NAMED = re.compile(r"(?:^|_)(?:api_?key|(?:access|auth|hf|api)_token|password|secret)$", re.I)


def is_for_a_key(place: Place) -> bool:
    """Whether the key of a place is one for API keys, passwords or the like."""
    return bool(place) and _NAMED.search(place[-1].replace("-", "_")) is not None


def refuse_keys(content: Marked) -> None:
    """Refuses an API key that is written out. A reference to the environment is allowed."""
    for place, value in _scalars(content.value):
        if is_for_a_key(place) and value not in (None, ""):
            variable_of(value, content, place)


def variable_of(value: Any, content: Marked, place: Place) -> str | None:
    """The environment variable that an API key is to be read from; ``None`` where the value is
    empty. A key that stands in the file itself is refused."""
    if value in (None, ""):
        return None
    match = _FORM.fullmatch(value.strip()) if isinstance(value, str) else None
    reference = None if match is None else _reference(match[1])
    if reference is not None and reference["default"] in (None, "", "null"):
        return reference["name"]
    raise content.wrong(
        place,
        "a key must not stand in the file",
        "Write ${oc.env:NAME} and set that environment variable, or keep the key in a file of "
        "its own (--key-file). For a server that needs none, leave it out.",
    )


def _scalars(value: Any) -> Iterator[tuple[Place, Any]]:
    """Every scalar with its place."""
    seen: set[int] = set()
    waiting: list[tuple[Place, Any]] = [((), value)]
    while waiting:
        place, part = waiting.pop()
        if isinstance(part, dict | list):
            if id(part) in seen:
                continue
            seen.add(id(part))
            pairs = part.items() if isinstance(part, dict) else enumerate(part)
            waiting += [((*place, str(key)), inner) for key, inner in pairs]
        else:
            yield place, part
