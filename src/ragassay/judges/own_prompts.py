"""Prompts of a user's own, in place of the package's: one file for each kind of question, written
as these are. A file without lines ``--- system ---`` or ``--- user ---`` is one message of the
user."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError, UsageError, did_you_mean
from ragassay.base.yaml_files import text_of
from ragassay.judges.question import PART, Question, environment, kinds

ALWAYS = "rule"
"""The placeholder that every prompt may have: what fences mean (`prompt_escaping.RULE`)."""


def placeholders(kind: type[Question[Any]]) -> dict[str, bool]:
    """The placeholders of a kind of question, and whether a prompt needs each."""
    fields = [one for one in dataclasses.fields(kind) if one.name not in kind.unsent]
    needed = {one.name: one.default is dataclasses.MISSING for one in fields}
    return {**needed, ALWAYS: False}


def read_prompts(named: Mapping[str, str | os.PathLike[str]]) -> dict[str, str]:
    """The prompts in files by kind of question, as `Question.messages` takes them. A `UsageError`
    for an unknown kind, an `InputError` for a file that cannot be read or has wrong
    placeholders."""
    known = kinds()
    for kind in named:
        if kind not in known:
            raise UsageError(
                f"prompts: there is no question {kind!r}. {did_you_mean(kind, known)} There are: "
                f"{', '.join(known)}. `ragassay metrics NAME` says which of them a metric asks."
            )
    return {kind: _read(known[kind], path) for kind, path in named.items()}


def _read(kind: type[Question[Any]], path: str | os.PathLike[str]) -> str:
    import jinja2
    from jinja2 import nodes

    written = text_of(Path(path))
    source = written if PART.search(written) else f"--- user ---\n{written}"
    offset = source.count("\n") - written.count("\n")
    known = placeholders(kind)
    shown = ", ".join(f"{{{{ {name} }}}}" for name in known)
    try:
        tree = environment().parse(source)
        environment().from_string(source)  # unknown filters
    except jinja2.TemplateSyntaxError as error:
        raise InputError(
            f"is no prompt: {error.message}", path=path, line=max(1, error.lineno - offset),
            hint="Placeholders are written {{ name }}; other double braces and {% need {% raw %}.",
        ) from error  # fmt: skip
    found = list(tree.find_all(nodes.Name))
    own = {one.name for one in found if one.ctx != "load"} | {"loop"}
    used = [one for one in found if one.ctx == "load" and one.name not in own]
    for one in used:
        if one.name not in known:
            raise InputError(
                f"{kind.kind} has no placeholder {{{{ {one.name} }}}}",
                path=path, line=one.lineno - offset,
                hint=f"{did_you_mean(one.name, known)} There are: {shown}.".strip(),
            )  # fmt: skip
    lacking = [name for name, needed in known.items() if needed]
    lacking = [name for name in lacking if name not in {one.name for one in used}]
    if lacking:
        name = lacking[0]
        # Published prompts are often written for str.format.
        single = re.search(rf"(?<!{{){{{name}}}(?!}})", written)
        raise InputError(
            f"{kind.kind} needs the placeholder {{{{ {name} }}}}, and the prompt does not have it",
            path=path, line=written.count("\n", 0, single.start() if single else None) + 1,
            hint=f"Placeholders are written with two braces. There are: {shown}.",
        )  # fmt: skip
    return source
