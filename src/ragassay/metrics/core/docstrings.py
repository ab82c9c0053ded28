"""What the docstring of a metric's class says, section by section.

A docstring is the only description of a metric: commands, pages and docs/metrics.md show it. ::

    '''Precision at k.

    Details, in paragraphs of their own; in many there are none.

    Formula: relevant among the first k / k
    Part NAME: what that part of the value is, of a metric that has parts
    Misleads where: with R below k it cannot reach 1
    Source: trec_eval P
    '''
"""

from __future__ import annotations

import inspect
import re
from typing import Any

SECTIONS = {
    "Formula": "formula",
    "Misleads where": "misleads",
    "Source": "source",
}
"""The sections, each with the attribute of a metric's class that holds it."""
_SECTION = re.compile(rf"^({'|'.join(SECTIONS)}|Part \w+): (.+(?:\n +.+)*)\n?", re.MULTILINE)
_FOR_PROGRAMMERS = ("Args:", "Attributes:", "Class attributes:", "Raises:")


def said(docstring: str | None) -> dict[str, Any]:
    """The facts in a docstring, each on one line."""
    text = inspect.cleandoc(docstring or "")
    found = {label: " ".join(rest.split()) for label, rest in _SECTION.findall(text)}
    sections: dict[str, Any] = {SECTIONS[one]: found[one] for one in SECTIONS if one in found}
    if parts := {one[5:]: found[one] for one in found if one.startswith("Part ")}:
        sections["parts_titles"] = parts
    title, *prose = (" ".join(one.split()) for one in _SECTION.sub("", text).split("\n\n"))
    details = " ".join(one for one in prose if not one.startswith(_FOR_PROGRAMMERS))
    return {"title": title.rstrip("."), "details": details.replace("`", "").strip(), **sections}
