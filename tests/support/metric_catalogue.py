"""Every metric as sections of the documentation."""

from __future__ import annotations

import re
from typing import Any

from ragassay.reports.views import catalogue_view as catalogue
from ragassay.reports.views.worked_examples import worked_example

_LONGEST = 300
"""Characters of an example's line."""


def metric_catalogue() -> str:
    """A section a metric, by family: what it measures, takes and gives, with an example."""
    entries = sorted(catalogue.all_entries(), key=lambda entry: (entry["family"], entry["name"]))
    blocks: list[str] = []
    for family in dict.fromkeys(entry["family"] for entry in entries):
        blocks.append(f"## {family}")
        blocks += [_section(entry) for entry in entries if entry["family"] == family]
    return "\n\n".join(blocks)


def _section(entry: catalogue.Entry) -> str:
    better = {True: "higher is better", False: "lower is better", None: "no direction"}
    kind = "" if entry["kind"] == "arithmetic" else f" By a {entry['kind']}."
    facts = {
        "Formula": entry["formula"],
        "Misleads where": entry["misleads"],
        "Needs": ", ".join(entry["needs"]) or "nothing",
        "Also uses": ", ".join(entry["uses"]),
        "Range": f"{entry['range']}, {better[entry['higher_is_better']]}; "
        f"{entry['aggregate']} over the samples",
        "Parameters": ", ".join(_parameter(one) for one in entry["parameters"]),
        "Suites": ", ".join(entry["suites"]),
        "Other names": ", ".join(f"`{name}`" for name in entry["aliases"]),
        "Source": entry["source"],
        **{label.capitalize(): _code(text) for label, text in worked_example(entry["metric"])},
    }
    lines = [f"- {label}: {text}" for label, text in facts.items() if text]
    return "\n".join([f"### `{entry['name']}`", "", f"{entry['title']}.{kind}", "", *lines])


def _code(text: str) -> str:
    text = re.sub(r"\|version:[\d.]+", "", text)  # of a library
    shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f"`{shown.replace('`', chr(39))}`"


def _parameter(one: dict[str, Any]) -> str:
    choices = f" of {', '.join(map(str, one['choices']))}" if one["choices"] else ""
    default = str(one["default"]).lower() if isinstance(one["default"], bool) else one["default"]
    return f"`{one['spelling']}` {default}{choices}"
