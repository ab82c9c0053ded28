"""Every metric as tables of the documentation."""

from __future__ import annotations

from typing import Any

from ragassay.reports.text import catalogue

HEADS = (
    *("metric", "what it measures", "needs", "also uses", "range", "better"),
    *("parameters", "suites", "source"),
)


def metric_tables() -> str:
    """A table a family: what each metric measures, takes and gives."""
    blocks: list[str] = []
    entries = sorted(catalogue.all_entries(), key=lambda entry: (entry["family"], entry["name"]))
    for family in dict.fromkeys(entry["family"] for entry in entries):
        rows = [_row(entry) for entry in entries if entry["family"] == family]
        blocks.append(
            "\n".join(
                [f"## {family}", "", f"| {' | '.join(HEADS)} |", "|" + "---|" * len(HEADS), *rows]
            )
        )
    return "\n\n".join(blocks)


def _row(entry: catalogue.Entry) -> str:
    better = {True: "higher", False: "lower", None: ""}[entry["higher_is_better"]]
    names = [f"`{entry['name']}`", *(f"`{name}`" for name in entry["aliases"])]
    kind = "" if entry["kind"] == "arithmetic" else f" ({entry['kind']})"
    total = "" if entry["aggregate"] == "mean" else f"; {entry['aggregate']} over the samples"
    cells = [
        ", ".join(names),
        f"{entry['title']}{kind}",
        ", ".join(entry["needs"]),
        ", ".join(entry["uses"]),
        f"{entry['range']}{total}",
        better,
        ", ".join(_parameter(one) for one in entry["parameters"]),
        ", ".join(entry["suites"]),
        entry["source"],
    ]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _parameter(one: dict[str, Any]) -> str:
    choices = f" of {', '.join(map(str, one['choices']))}" if one["choices"] else ""
    default = str(one["default"]).lower() if isinstance(one["default"], bool) else one["default"]
    return f"`{one['spelling']}` {default}{choices}"
