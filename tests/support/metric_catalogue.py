"""Every metric as sections of the documentation."""

import re
from collections import Counter
from typing import Any

from ragassay.base.printable import grouped
from ragassay.reports.text import wording
from ragassay.reports.views import catalogue_view as catalogue
from ragassay.reports.views.catalogue_view import worked_example

_LONGEST = 300
"""Characters of an example's line."""


def metric_catalogue() -> str:
    """A section a metric, by family: what it measures, takes and gives, with an example. What most
    metrics of a family need, and an example that they share, is said once, below its name."""
    entries = sorted(catalogue.all_entries(), key=lambda entry: (entry["family"], entry["name"]))
    blocks: list[str] = []
    for family, members in grouped((entry["family"], entry) for entry in entries).items():
        worked = {entry["name"]: dict(worked_example(entry["metric"])) for entry in members}
        example = _most([facts.get("example", "") for facts in worked.values()])
        needs = _most([_needs(entry) for entry in members])
        shared = [f"Needs: {needs}." if needs else "", f"Example: {_code(example)}"]
        blocks += [f"## {family}", "\n\n".join(filter(None, shared))]
        for entry in members:
            facts = worked[entry["name"]]
            if facts.get("example") == example:
                del facts["example"]
            blocks.append(_section(entry, facts, needs))
    return "\n\n".join(blocks)


def _most(texts: list[str]) -> str:
    ((text, _),) = Counter(texts).most_common(1)
    return text


def _needs(entry: catalogue.Entry) -> str:
    return ", ".join(entry["needs"]) or "nothing"


def _section(entry: catalogue.Entry, worked: dict[str, str], needs: str) -> str:
    kind = "" if entry["kind"] == "arithmetic" else f" By a {entry['kind']}."
    takes = {
        "needs": "" if _needs(entry) == needs else _needs(entry), "uses": ", ".join(entry["uses"]),
        "suites": ", ".join(entry["suites"]),
        "also": ", ".join(f"`{name}`" for name in entry["aliases"]),
    }  # fmt: skip
    facts = [
        f"{entry['range'].replace(' to ', '…')}{wording.ARROWS[entry['higher_is_better']]}",
        "" if entry["aggregate"] == "mean" else f"{entry['aggregate']} of the samples",
        *(f"{label} {text}" for label, text in takes.items() if text),
        ", ".join(_parameter(one) for one in entry["parameters"]), entry["source"],
    ]  # fmt: skip
    example = [_code(worked[key]) for key in ("example", "gives") if key in worked]
    lines = [
        f"- Formula: {entry['formula']}", f"- Misleads: {entry['misleads']}",
        f"- {'; '.join(filter(None, facts))}",
    ]  # fmt: skip
    if len(example) == 1:
        lines[-1] += f"; {example[0]}"
    elif example:
        lines.append(f"- {' → '.join(example)}")
    return "\n".join([f"### `{entry['name']}`", "", f"{entry['title']}.{kind}", "", *lines])


def _code(text: str) -> str:
    text = re.sub(r"\|version:[\d.]+", "", text)  # of a library
    shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f"`{shown.replace('`', chr(39))}`"


def _parameter(one: dict[str, Any]) -> str:
    choices = f" of {', '.join(map(str, one['choices']))}" if one["choices"] else ""
    default = str(one["default"]).lower() if isinstance(one["default"], bool) else one["default"]
    return f"`{one['spelling']}` {default}{choices}".strip()
