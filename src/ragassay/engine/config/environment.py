"""Environment variables in configuration files: ``${NAME}``, ``${NAME:-text}``, and as OmegaConf
writes them ``${oc.env:NAME}`` and ``${oc.env:NAME,text}``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from ragassay.errors import InputError
from ragassay.yaml_files import Marked, Place, marked

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
"""What OmegaConf would resolve: another key, or a resolver of its own."""


def only_reference(text: str) -> re.Match[str] | None:
    """The reference that is the whole text, or ``None``. Its groups are ``name`` and ``default``,
    which counts where the variable is not set, if it is given.
    """
    match = _FORM.fullmatch(text.strip())
    return None if match is None else _reference(match[1])


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
        leave: tells the places whose references stay as they are.
        environment: the process's own where left out.

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
    one = _reference(match[1])
    if one is None:
        if _FOREIGN.fullmatch(match[1]):
            raise InputError(
                f"{match[0]} is no reference to an environment variable",
                path=path,
                line=line,
                hint="Write ${NAME} or ${oc.env:NAME}; references to other keys are not followed.",
            )
        return match[0]
    name, default = one["name"], one["default"]
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
