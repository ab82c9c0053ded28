"""The catalogue: every metric with its suites, needs, range, direction and source."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from ragassay import suites
from ragassay.base.counts import grouped
from ragassay.base.errors import UsageError
from ragassay.engine.comparison.standing import agreements
from ragassay.judges.own_prompts import placeholders
from ragassay.judges.questions.question_kinds import kinds
from ragassay.metrics.core import naming
from ragassay.metrics.core.docstrings import said
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import Metric
from ragassay.reports.text import wording
from ragassay.reports.text.worked_examples import example_of, worked_example

Entry = dict[str, Any]

_NAME_WIDTH, _RANGE_WIDTH = 25, 9


def all_entries(suite: str | None = None) -> list[Entry]:
    """Every metric class (with its default parameters), or the metrics of one suite.

    Raises:
        UsageError: an unknown suite.
    """
    if suite is None:
        return _entries((cls, cls.name, None) for cls in naming.metric_classes().values())
    columns, metrics = suites.get(suite).columns, suites.get(suite).resolve()
    return _entries((type(one), columns.get(str(one), str(one)), str(one)) for one in metrics)


def entries_named(name: str, suite: str | None = None) -> list[Entry]:
    """The entries of the metrics with this name; several where suites use it for different metrics.

    Args:
        name: of a metric; its parameters may be left out.
        suite: whose published names are meant; those of all suites when left out.

    Raises:
        UsageError: there is none.
    """
    aliases = suites.get(suite).aliases if suite is not None else suites.every_alias()
    try:
        matches = naming.find(name, aliases)
    except UsageError:
        if advice := suites.advice_on(name):
            raise UsageError(advice) from None
        raise
    return _entries((cls, name if len(matches) == 1 else text, text) for cls, text in matches)


def table(entries: Sequence[Entry]) -> RenderableType:
    """A table of entries, by family: what each measures, and in dim print what it needs."""
    blocks: list[RenderableType] = []
    width = min(_NAME_WIDTH, max((len(entry["name"]) for entry in entries), default=0))
    for family, members in grouped((entry["family"], entry) for entry in entries).items():
        columns = (
            Column("metric", style="bold", overflow="fold", width=max(width, len("metric"))),
            Column("what it measures", ratio=1),
            Column("range", style="dim", no_wrap=True, width=_RANGE_WIDTH),
        )
        grid = Table(*columns, box=None, pad_edge=False, title=family, title_justify="left")
        for entry in members:
            arrow = wording.arrow(entry["higher_is_better"])
            span = f"{entry['range']} {arrow}".strip()
            grid.add_row(escape(entry["name"]), _what(entry), span)
        blocks += [grid, Text("")]
    blocks.append(Text("'ragassay metrics NAME' explains one.", style="dim"))
    return Group(*blocks)


def overview(entries: Sequence[Entry]) -> RenderableType:
    """The names of metrics by family, for one screen.

    Args:
        entries: see `all_entries`.
    """
    columns = Column(style="bold", no_wrap=True), Column(ratio=1)
    grid = Table(*columns, box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for family, names in grouped((entry["family"], entry["name"]) for entry in entries).items():
        grid.add_row(family, escape("  ".join(names)))
    hint = (
        "'ragassay metrics NAME' explains one, '--family FAMILY' and '--suite SUITE' describe "
        "those of one, '--long' describes all."
    )
    return Group(grid, Text(""), Text(hint, style="dim"))


def about(suite: str) -> RenderableType:
    """A suite in words: what it is, and what a reader of its numbers should know.

    Raises:
        UsageError: an unknown suite.
    """
    chosen = suites.get(suite)
    head = Text(chosen.name, "bold").append(f": {chosen.title}", "not bold")
    notes = [Padding(Text(f"- {note}"), (0, 0, 0, 1)) for note in chosen.notes]
    return Group(head, Text(chosen.source, "dim"), Text(""), *notes)


def page(entry: Entry) -> RenderableType:
    """One entry in full."""
    columns = Column(style="dim", no_wrap=True), Column(ratio=1, overflow="fold")
    grid = Table(*columns, box=None, show_header=False, pad_edge=False)
    rows: Mapping[str, str] = {
        "canonical name": entry["metric"],
        "measures": entry["title"],
        "details": entry["description"],
        "formula": entry["formula"],
        "misleads where": entry["misleads"],
        "kind": _kind(entry),
        "suites": _suites(entry) or "none",
        "needs": ", ".join(entry["needs"]) or "nothing",
        "also uses": ", ".join(entry["uses"]),
        "range": entry["range"],
        "direction": wording.direction(entry["higher_is_better"]),
        "aggregated as": entry["aggregate"],
        "recommended for": entry["recommended_for"],
        "other names": ", ".join(entry["aliases"]),
        "source": entry["source"],
        "rests on": ", ".join(entry["offline_agreement"]),
    }
    for label, text in rows.items():
        if text:
            grid.add_row(label, escape(text))
    for parameter in entry["parameters"]:
        text = f"{parameter['spelling']}  {parameter['doc']} (default: {parameter['default']})"
        grid.add_row("parameter", escape(text))
    for kind, agreement in entry["offline_agreement"].items():
        said = agreement["said"]
        grid.add_row("offline judge", escape(f"{kind}: {said}"))
        for row in agreement["rows"]:
            grid.add_row("", Text(f"{row['of']}: {row['source']}", "dim"))
    for kind, names in entry["prompts"].items():
        grid.add_row("prompt", escape(f"--prompt {kind}=FILE with {_placeholders(names)}"))
    for label, text in worked_example(entry["metric"]):
        grid.add_row(label, escape(text))
    return Group(Text(entry["name"], style="bold"), grid)


def question_page(kind: str) -> RenderableType:
    """A kind of question: what a prompt for it holds, and the package's own.

    Args:
        kind: its name.
    """
    question = kinds()[kind]
    grid = Table(Column(style="dim", no_wrap=True), Column(ratio=1, overflow="fold"), box=None,
                 show_header=False, pad_edge=False)  # fmt: skip
    asking = [one for one in naming.metric_classes().values() if kind in _kinds_of(one)]
    rows = {
        "asks": said(question.__doc__)["details"],
        "version": str(question.version),
        "asked by": ", ".join(sorted(one.name for one in asking)),
        "placeholders": _placeholders(placeholders(question)),
        "answer": ", ".join(question.schema()["properties"]),
        "replace": f"--prompt {kind}=FILE (prompts={{'{kind}': 'FILE'}}); see docs/judges.md",
    }
    for label, text in rows.items():
        if text:
            grid.add_row(label, escape(text))
    template = Text(question.blank({}).source())
    return Group(Text(kind, style="bold"), grid, Text("\nThe package's own prompt:\n"), template)


def _placeholders(names: Mapping[str, bool]) -> str:
    """``{{ query }}, {{ passage }}; it may have {{ rule }}``."""
    needed, others = (
        ", ".join(f"{{{{ {name} }}}}" for name, needs in names.items() if needs is wanted)
        for wanted in (True, False)
    )
    return f"{needed}; it may have {others}"


def _kinds_of(cls: type[Metric]) -> list[str]:
    return [one.kind for one in cls.asks] if issubclass(cls, JudgedMetric) else []


def _what(entry: Entry) -> RenderableType:
    """A metric's title, and below it in dim print its uses, kind, needs, suites and source."""
    facts = [
        entry["recommended_for"] and (f"for {entry['recommended_for']}", "dim"),
        (_kind(entry), "dim" if entry["kind"] == "arithmetic" else "yellow"),
        (f"needs {', '.join(entry['needs']) or 'nothing'}", "dim"),
        entry["uses"] and (f"also uses {', '.join(entry['uses'])}", "dim"),
        entry["suites"] and (f"in {_suites(entry)}", "cyan"),
        entry["source"] and (entry["source"], "dim"),
    ]
    line = Text(" · ", "dim").join(Text(*fact) for fact in facts if fact)
    return Group(Text(entry["title"]), Padding(line, (0, 0, 0, 2)))


def _kind(entry: Entry) -> str:
    """The kind; also says where the record may hold what a model or a judge would say."""
    kind = str(entry["kind"])
    if kind == "arithmetic" or "given" not in entry["uses"]:
        return kind
    return f"{kind}, or from the record"


def _suites(entry: Entry) -> str:
    """The suites, each with its published step."""
    steps = entry["steps"]
    return ", ".join(f"{s} ({steps[s]})" if s in steps else s for s in entry["suites"])


def _entries(metrics: Iterable[tuple[type[Metric], str, str | None]]) -> list[Entry]:
    """The entries of metrics.

    Args:
        metrics: class, shown name, and canonical name (``None`` for default parameters).
    """
    of_suites = {name: suite.resolve() for name, suite in suites.all_suites().items()}
    return [_entry(*one, of_suites) for one in metrics]


def _entry(
    cls: type[Metric], name: str, canonical: str | None, of_suites: Mapping[str, Sequence[Metric]]
) -> Entry:
    steps = _suites_of(cls, canonical, of_suites)
    low, high = cls.low, cls.high
    return {
        "name": name,
        "metric": canonical or cls.name,
        "title": cls.title,
        "description": cls.details,
        "formula": cls.formula,
        "misleads": cls.misleads,
        "family": cls.family,
        "kind": cls.kind,
        "suites": list(steps),
        "steps": {suite: step for suite, step in steps.items() if step},
        "needs": list(cls.needs),
        "uses": list(cls.uses),
        "range": f"{_bound(low, '-∞')} to {_bound(high, '∞')}",
        "low": low,
        "high": high,
        "higher_is_better": cls.higher_is_better,
        "aggregate": cls.aggregate,
        "recommended_for": cls.recommended_for,
        "aliases": sorted(cls.aliases),
        "source": cls.source,
        "version": cls.version,
        "parameters": [_parameter(spec) for spec in dataclasses.fields(cls)],
        **_of_judge(example_of(cls, canonical)),
    }


def _of_judge(metric: Metric) -> dict[str, Any]:
    """By the kinds of question that the metric rests on: what was measured of the offline judge,
    and what a prompt holds."""
    agreement = {
        kind: {
            "said": "; ".join(map(str, rows)) or "agreement not measured",
            "rows": [dataclasses.asdict(row) | {"sufficient": row.sufficient} for row in rows],
        }
        for kind, rows in agreements(str(metric)).items()
    }
    prompts = {kind: placeholders(kinds()[kind]) for kind in agreement}
    return {"offline_agreement": agreement, "prompts": prompts}


def _parameter(spec: dataclasses.Field[Any]) -> dict[str, Any]:
    role = spec.metadata.get("role")
    spelling = f"({spec.name}=)"
    if role is not None:
        spelling = f"{'@' if role == 'cutoff' else '.'}{spec.name}"
    has_default = spec.default is not dataclasses.MISSING
    return {
        "name": spec.name,
        "spelling": spelling,
        "doc": spec.metadata.get("doc", ""),
        "default": ("none" if spec.default is None else spec.default)
        if has_default
        else "required",
        "choices": list(spec.metadata.get("choices") or ()),
    }


def _suites_of(
    cls: type[Metric], canonical: str | None, of_suites: Mapping[str, Sequence[Metric]]
) -> dict[str, str]:
    """Suites that hold the metric, with their step for it; with any parameters, unless a suite
    holds exactly the ``canonical`` ones."""
    exact: dict[str, str] = {}
    any_parameters: dict[str, str] = {}
    for suite in suites.all_suites().values():
        for metric in of_suites[suite.name]:
            if type(metric) is cls:
                label = suite.columns.get(str(metric), str(metric))
                any_parameters.setdefault(suite.name, suite.steps.get(label, ""))
                if str(metric) == canonical:
                    exact[suite.name] = suite.steps.get(label, "")
    return exact or any_parameters


def _bound(value: float | None, unbounded: str) -> str:
    return unbounded if value is None else f"{value:g}"
