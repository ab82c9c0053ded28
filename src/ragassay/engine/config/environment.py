"""Environment variables in configuration files: ``${NAME}``, ``${NAME:-text}``, and as OmegaConf
writes them ``${oc.env:NAME}`` and ``${oc.env:NAME,text}``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ragassay.errors import InputError
from ragassay.yaml_files import Marked, Place, marked

_FORM = re.compile(r"\$\{([^}]*)\}")
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_OURS = re.compile(rf"({_NAME})(?:(:-)(.*))?", re.DOTALL)
_OMEGACONF = re.compile(rf"\s*oc\.env\s*:\s*({_NAME})\s*(?:(,)(.*))?", re.DOTALL)
_FOREIGN = re.compile(r"\s*(?:\.|[A-Za-z_]\w*\s*[.:\[]).*", re.DOTALL)
"""What OmegaConf would resolve: another key, or a resolver of its own."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A mention of an environment variable.

    Attributes:
        name: of the variable.
        default: what counts where it is not set; ``None`` where nothing does.
    """

    name: str
    default: str | None = None


def only_reference(text: str) -> Reference | None:
    """The reference that is the whole text, or ``None``."""
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
    if one.name in environment:
        return environment[one.name]
    if one.default is None:
        raise InputError(
            f"names the environment variable {one.name}, which is not set",
            path=path,
            line=line,
            hint=f"Set it, or write ${{{one.name}:-default}}.",
        )
    return one.default


def _reference(body: str) -> Reference | None:
    match = _OURS.fullmatch(body)
    if match is not None:
        return Reference(match[1], match[3] if match[2] else None)
    match = _OMEGACONF.fullmatch(body)
    if match is None:
        return None
    return Reference(match[1], _unquoted(match[3]) if match[2] else None)


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
