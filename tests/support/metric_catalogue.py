"""Every metric as sections of the documentation."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from ragassay.reports.text import wording
from ragassay.reports.views import catalogue_view as catalogue
from ragassay.reports.views.worked_examples import worked_example

_LONGEST = 300
"""Characters of an example's line."""


def metric_catalogue() -> str:
    """A section a metric, by family: what it measures, takes and gives, with an example. An example
    that several metrics of a family share is printed once, below the family's name."""
    entries = sorted(catalogue.all_entries(), key=lambda entry: (entry["family"], entry["name"]))
    blocks: list[str] = []
    for family in dict.fromkeys(entry["family"] for entry in entries):
        members = [entry for entry in entries if entry["family"] == family]
        worked = {entry["name"]: dict(worked_example(entry["metric"])) for entry in members}
        examples = Counter(facts.get("example", "") for facts in worked.values())
        ((shared, times),) = examples.most_common(1)
        blocks.append(f"## {family}")
        if times > 1 and shared:
            blocks.append(f"Example: {_code(shared)}")
        for entry in members:
            facts = worked[entry["name"]]
            if facts.get("example") == shared and times > 1:
                del facts["example"]
            blocks.append(_section(entry, facts))
    return "\n\n".join(blocks)


def _section(entry: catalogue.Entry, worked: dict[str, str]) -> str:
    kind = "" if entry["kind"] == "arithmetic" else f" By a {entry['kind']}."
    takes = {
        "needs": ", ".join(entry["needs"]),
        "uses": ", ".join(entry["uses"]),
        "parameters": ", ".join(_parameter(one) for one in entry["parameters"]),
        "suites": ", ".join(entry["suites"]),
        "also": ", ".join(f"`{name}`" for name in entry["aliases"]),
    }
    arrow = wording.ARROWS[entry["higher_is_better"]]
    combined = "" if entry["aggregate"] == "mean" else f"{entry['aggregate']} of the samples"
    span = f"{entry['range'].replace(' to ', '…')}{arrow}"
    example = [_code(worked[key]) for key in ("example", "recorded", "gives") if key in worked]
    lines = [
        f"- Formula: {entry['formula']}",
        f"- Misleads: {entry['misleads']}",
        "- " + "; ".join(filter(None, [span, combined, *_labelled(takes), entry["source"]])),
        f"- {' → '.join(example)}" if example else "",
    ]
    head = [f"### `{entry['name']}`", "", f"{entry['title']}.{kind}", ""]
    return "\n".join([*head, *filter(None, lines)])


def _labelled(facts: dict[str, str]) -> list[str]:
    return [f"{label} {text}" for label, text in facts.items() if text]


def _code(text: str) -> str:
    text = re.sub(r"\|version:[\d.]+", "", text)  # of a library
    shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f"`{shown.replace('`', chr(39))}`"


def _parameter(one: dict[str, Any]) -> str:
    choices = f" of {', '.join(map(str, one['choices']))}" if one["choices"] else ""
    default = str(one["default"]).lower() if isinstance(one["default"], bool) else one["default"]
    return f"`{one['spelling']}` {default}{choices}".strip()
