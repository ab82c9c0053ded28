"""The catalogue: every metric with its suites, needs, range, direction and source, and every model
with what it is for, its size and where it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragassay import suites
from ragassay.base.errors import UsageError
from ragassay.base.printable import few, grouped
from ragassay.engine.comparison.verdict_rules import agreements
from ragassay.engine.models.model_survey import Surveyed
from ragassay.judges.own_prompts import placeholders
from ragassay.judges.question import kinds
from ragassay.metrics.core import naming
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import Metric, said
from ragassay.models.weights.fetching import readable
from ragassay.reports.model import Cell, Column, Report, Table, lines, part, table
from ragassay.reports.text import wording
from ragassay.reports.views.worked_examples import example_of, worked_example

Entry = dict[str, Any]

_GRID = (Column("", "name"), Column("", "words"))
"""A label and its text, without heads."""

_SHOWN = 4
"""Metrics of a model that are named; the rest is counted."""


def all_entries(suite: str | None = None) -> list[Entry]:
    """Every metric class (with its default parameters), or the metrics of one suite."""
    if suite is None:
        return _entries((cls, cls.name, None) for cls in naming.metric_classes().values())
    columns, metrics = suites.get(suite).columns, suites.get(suite).resolve()
    return _entries((type(one), columns.get(str(one), str(one)), str(one)) for one in metrics)


def entries_named(name: str, suite: str | None = None) -> list[Entry]:
    """The entries of the metrics with this name; several where suites use it differently, or where
    it depends on the data which is measured. Of another tool's name it is the metric of ours."""
    aliases = suites.get(suite).aliases if suite is not None else suites.every_alias()
    peer = suites.peer_of(name, aliases)
    ours = peer.ours if peer else name
    by_data = suites.get("rag").otherwise.get(ours)
    try:
        matches = [*naming.find(ours, aliases), *(naming.find(by_data) if by_data else ())]
    except UsageError:
        if advice := suites.advice_on(name):
            raise UsageError(advice) from None
        raise
    return _entries((cls, ours if len(matches) == 1 else text, text) for cls, text in matches)


def entries_report(entries: Sequence[Entry]) -> Report:
    """Entries by family: what each measures and, in small print, how and from what."""

    def row(entry: Entry) -> list[Cell | str]:
        facts = [
            _kind(entry),
            f"needs {', '.join(entry['needs']) or 'nothing'}",
            entry["uses"] and f"also uses {', '.join(entry['uses'])}",
            entry["suites"] and f"in {_suites(entry)}",
            entry["source"],
        ]
        what = Cell(entry["title"], below=(" · ".join(filter(None, facts)),))
        span = f"{entry['range']} {wording.ARROWS[entry['higher_is_better']]}".strip()
        return [Cell(entry["name"], style="strong"), what, span]

    columns = [
        Column("metric", "name"),
        Column("what it measures", "words"),
        Column("range", "label", style="dim"),
    ]
    parts = (
        part(family, table(columns, map(row, members)))
        for family, members in grouped((entry["family"], entry) for entry in entries).items()
    )
    return Report("", (*parts, lines(["'ragassay metrics NAME' explains a metric."])))


def overview_report(entries: Sequence[Entry]) -> Report:
    """The names of metrics by family, for one screen."""
    families = grouped((entry["family"], entry["name"]) for entry in entries)
    rows = ((Cell(one, style="strong"), "  ".join(names)) for one, names in families.items())
    hint = (
        "'ragassay metrics NAME' explains one, '--family FAMILY' and '--suite SUITE' describe "
        "those of one, '--long' describes all."
    )
    return Report("", (table(_GRID, rows), lines([hint])))


def suite_report(suite: str) -> Report:
    """A suite in words: what it is, and what a reader of its numbers should know."""
    chosen = suites.get(suite)
    notes = lines((f"- {note}" for note in chosen.notes), "text")
    return Report(f"{chosen.name}: {chosen.title}", (lines([chosen.source]), notes))


def metric_report(entry: Entry) -> Report:
    """One entry in full."""
    general = suites.general_aliases()
    called = {entry["name"], *(name for name in general if general[name] == entry["metric"])}
    called |= {name for name, by_data in suites.get("rag").otherwise.items() if by_data in called}
    peers = [peer for peer in suites.peer_metrics() if peer.ours in called]
    rows = [
        ("canonical name", entry["metric"]),
        ("measures", entry["title"]),
        ("details", entry["description"]),
        ("formula", entry["formula"]),
        ("misleads where", entry["misleads"]),
        ("kind", _kind(entry)),
        ("suites", _suites(entry) or "none"),
        ("needs", ", ".join(entry["needs"]) or "nothing"),
        ("also uses", ", ".join(entry["uses"])),
        ("range", entry["range"]),
        ("direction", wording.direction(entry["higher_is_better"])),
        ("aggregated as", entry["aggregate"]),
        ("other names", ", ".join(entry["aliases"])),
        *((f"in {peer.tool}", f"{', '.join(peer.names)}. {peer.differs}.") for peer in peers),
        ("source", entry["source"]),
        ("rests on", ", ".join(entry["offline_agreement"])),
    ]
    for parameter in entry["parameters"]:
        text = f"{parameter['spelling']}  {parameter['doc']} (default: {parameter['default']})"
        rows.append(("parameter", text))
    measured = (
        ((found["said"], *(f"{row['of']}: {row['source']}" for row in found["rows"])), kind)
        for kind, found in entry["offline_agreement"].items()
    )
    for (said_of, *sources), of_kinds in grouped(measured).items():
        rows.append(("offline judge", f"{', '.join(of_kinds)}: {said_of}"))
        rows += [("", source) for source in sources]
    for kind, names in entry["prompts"].items():
        rows.append(("prompt", f"--prompt {kind}=FILE with {_placeholders(names)}"))
    rows += worked_example(entry["metric"])
    return Report(entry["name"], (_grid(rows),))


def question_report(kind: str) -> Report:
    """A kind of question: what a prompt for it holds, and the package's own."""
    question = kinds()[kind]
    asking = [
        one
        for one in naming.metric_classes().values()
        if issubclass(one, JudgedMetric) and kind in (asked.kind for asked in one.asks)
    ]
    rows = [
        ("asks", said(question.__doc__)["details"]),
        ("version", str(question.version)),
        ("asked by", ", ".join(sorted(one.name for one in asking))),
        ("placeholders", _placeholders(placeholders(question))),
        ("answer", ", ".join(question.schema()["properties"])),
        ("replace", f"--prompt {kind}=FILE (prompts={{'{kind}': 'FILE'}}); see docs/judges.md"),
    ]
    template = lines([question.blank({}).source()], "text")
    return Report(kind, (_grid(rows), part("The package's own prompt:", template)))


def _grid(rows: Iterable[tuple[str, str]]) -> Table:
    """Labels and texts; those without a text are left out."""
    return table(_GRID, ((Cell(label, style="dim"), text) for label, text in rows if text))


def _placeholders(names: Mapping[str, bool]) -> str:
    """``{{ query }}, {{ passage }}; it may have {{ rule }}``."""
    needed, others = (
        ", ".join(f"{{{{ {name} }}}}" for name, needs in names.items() if needs is wanted)
        for wanted in (True, False)
    )
    return f"{needed}; it may have {others}"


def _kind(entry: Entry) -> str:
    """The kind; also says where the record may hold what a model or a judge would say."""
    given = entry["kind"] != "arithmetic" and "given" in entry["uses"]
    return f"{entry['kind']}{', or from the record' if given else ''}"


def _suites(entry: Entry) -> str:
    """The suites, each with its published step."""
    steps = entry["steps"]
    return ", ".join(f"{s} ({steps[s]})" if s in steps else s for s in entry["suites"])


_OF_CLASS = ("title", "formula", "misleads", "family", "kind", "low", "high", "higher_is_better",
             "aggregate", "source", "version")  # fmt: skip
"""What an entry has as its class has it."""


def _entries(metrics: Iterable[tuple[type[Metric], str, str | None]]) -> list[Entry]:
    """The entries of metrics: class, shown name, canonical name (``None``: the defaults)."""
    of_suites = [(suite, suite.resolve()) for suite in suites.all_suites().values()]
    entries = []
    for cls, name, canonical in metrics:
        steps = _steps(cls, canonical, of_suites)
        low = "-∞" if cls.low is None else f"{cls.low:g}"
        high = "∞" if cls.high is None else f"{cls.high:g}"
        measured = agreements(str(example_of(cls, canonical)))
        entry = {
            "name": name,
            "metric": canonical or cls.name,
            "description": cls.details,
            **{fact: getattr(cls, fact) for fact in _OF_CLASS},
            "suites": list(steps),
            "steps": {suite: step for suite, step in steps.items() if step},
            "needs": list(cls.needs),
            "uses": list(cls.uses),
            "range": f"{low} to {high}",
            "aliases": sorted(cls.aliases),
            "parameters": [_parameter(spec) for spec in dataclasses.fields(cls)],
            # By the kinds of question that the metric rests on: what was measured of the offline
            # judge, and what a prompt holds.
            "offline_agreement": {
                kind: {
                    "said": "; ".join(map(str, rows)) or "agreement not measured",
                    "rows": [dataclasses.asdict(one) | {"sufficient": one.sufficient}
                             for one in rows],
                }
                for kind, rows in measured.items()
            },
            "prompts": {kind: placeholders(kinds()[kind]) for kind in measured},
        }  # fmt: skip
        entries.append(entry)
    return entries


def _parameter(spec: dataclasses.Field[Any]) -> dict[str, Any]:
    role = spec.metadata.get("role")
    spelling = f"({spec.name}=)"
    if role is not None:
        spelling = f"{'@' if role == 'cutoff' else '.'}{spec.name}"
    default = {None: "none", dataclasses.MISSING: "required"}.get(spec.default, spec.default)
    return {
        "name": spec.name,
        "spelling": spelling,
        "doc": spec.metadata.get("doc", ""),
        "default": default,
        "choices": list(spec.metadata.get("choices") or ()),
    }


def _steps(
    cls: type[Metric],
    canonical: str | None,
    of_suites: Iterable[tuple[suites.Suite, Sequence[Metric]]],
) -> dict[str, str]:
    """Step by suite that holds the metric: with ``canonical`` parameters, else with any."""
    found = [(suite, str(one)) for suite, of in of_suites for one in of if type(one) is cls]
    steps: dict[str, str] = {}
    for suite, name in [pair for pair in found if pair[1] == canonical] or found:
        steps.setdefault(suite.name, suite.steps.get(suite.columns.get(name, name), ""))
    return steps


def models_report(models: Sequence[Surveyed]) -> Report:
    """Each model with what it is for, its licence and size, and where it is."""
    columns = [Column("model", "name", style="strong"), Column("what it is for", "words")]
    rows = ((one.name, Cell(one.facts.what, below=_about(one))) for one in models)
    hint = (
        "'ragassay models fetch NAME' downloads one, 'ragassay models check' tries those that are "
        "here; --model NAME=FOLDER names a folder that holds one."
    )
    return Report("", (table(columns, rows), lines([hint])))


def models_as_json(models: Sequence[Surveyed]) -> list[Mapping[str, Any]]:
    """The same as data: sizes in bytes, ``null`` for what is not known or not here."""
    return [
        {
            "name": one.name,
            "commit": one.commit or None,
            "what": one.facts.what,
            "licence": one.facts.licence or None,
            "size": one.facts.size or None,
            "tokenizer_only": one.facts.tokenizer,
            "needs": list(one.facts.companions),
            "metrics": {name: list(suites) for name, suites in one.metrics.items()},
            "here": not one.problem,
            "folder": None if one.folder is None else str(one.folder),
            "named": one.given,
            "bytes_here": one.size or None,
            "problem": one.problem or None,
        }
        for one in models
    ]


def _about(one: Surveyed) -> tuple[str, ...]:
    """The metrics of a model (those of suites first), its licence and size, and where it is."""
    facts, here = one.facts, one.folder is not None
    ordered = sorted(one.metrics.items(), key=lambda item: not item[1])
    names = [f"{name} ({', '.join(suites)})" if suites else name for name, suites in ordered]
    size = one.size if here and not one.problem else facts.size
    about = (
        f"for {few(names, _SHOWN)}" if names else "",
        f"commit {one.commit}" if one.commit else "",
        f"licence {facts.licence or '?'}, {readable(size) if size else '?'}",
        f"with the tokenizer of {', '.join(facts.companions)}" if facts.companions else "",
        f"{'named folder' if one.given else 'cache'}: {one.folder}" if here else "",
        one.problem if here or one.given else "not here",
    )
    return tuple(filter(None, about))
