"""The catalogue: every metric with its suites, needs, range, direction, source and an example, and
every model with what it is for, its size and where it is.

An example is computed when it is shown: ``worked_examples.yaml`` holds tiny samples, and numbers or
a reply that stand for what a model or a judge says."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from ragassay import suites
from ragassay.base import packages
from ragassay.base.errors import RagassayWarning, UsageError
from ragassay.base.json_data import dumps
from ragassay.base.printable import few, grouped
from ragassay.base.sample import Sample
from ragassay.base.score import Score
from ragassay.engine.comparison.offline_agreement import agreements
from ragassay.engine.models.model_survey import Surveyed
from ragassay.formats import from_records
from ragassay.judges.own_prompts import placeholders
from ragassay.judges.question import kinds
from ragassay.metrics.consistency.runs_spread import OfMetric
from ragassay.metrics.core import naming
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import Metric, Window, said
from ragassay.models.classifiers.hhem import HhemModel
from ragassay.models.encoders.encoder import Encoder
from ragassay.models.encoders.token_matching import WordVectors
from ragassay.models.run_models import Models
from ragassay.models.weights.fetching import readable
from ragassay.reports.model import Cell, Column, Report, Table, lines, part, table
from ragassay.reports.text import wording

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
    return _entries(
        (type(metric), columns.get(str(metric), str(metric)), str(metric)) for metric in metrics
    )


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

    columns = [Column("metric", "name"), Column("what it measures", "words"),
               Column("range", "label", style="dim")]  # fmt: skip
    parts = (
        part(family, table(columns, map(row, members)))
        for family, members in grouped((entry["family"], entry) for entry in entries).items()
    )
    return Report("", (*parts, lines(["'ragassay metrics NAME' explains a metric."])))


def overview_report(entries: Sequence[Entry]) -> Report:
    """The names of metrics by family, for one screen."""
    families = grouped((entry["family"], entry["name"]) for entry in entries)
    rows = ((Cell(value, style="strong"), "  ".join(names)) for value, names in families.items())
    return Report("", (table(_GRID, rows), lines([wording.sentence("metrics_hint")])))


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
        ("may use", ", ".join(entry["uses"])),
        ("range", entry["range"]),
        ("direction", wording.direction(entry["higher_is_better"])),
        ("aggregated as", entry["aggregate"]),
        ("other names", ", ".join(entry["aliases"])),
        *((f"in {peer.tool}", f"{', '.join(peer.names)}. {peer.differs}.") for peer in peers),
        ("source", entry["source"]),
        ("asks", ", ".join(entry["offline_agreement"])),
    ]
    for parameter in entry["parameters"]:
        text = f"{parameter['spelling']}  {parameter['doc']}"
        text += f" (default: {parameter['default'] or 'none'})" * ("default" not in text)
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
    classes = naming.metric_classes().values()
    judged = (cls for cls in classes if issubclass(cls, JudgedMetric))
    asking = [cls.name for cls in judged if kind in {asked.kind for asked in cls.asks}]
    facts = said(question.__doc__)
    rows = [
        ("asks", facts["title"].replace("`", "")),
        ("details", facts["details"]),
        ("version", str(question.version)),
        ("asked by", ", ".join(sorted(asking))),
        ("placeholders", _placeholders(placeholders(question))),
        ("answer", ", ".join(question.schema()["properties"])),
        ("replace", f"--prompt {kind}=FILE (prompts={{'{kind}': 'FILE'}}); see docs/judges.md"),
    ]
    template = part("The package's own prompt:", lines([question.blank({}).source()], "text"))
    return Report(f"The question {kind}", (_grid(rows), template))


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
                    "rows": [dataclasses.asdict(row) | {"sufficient": row.sufficient}
                             for row in rows],
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
    found = [
        (suite, str(metric)) for suite, of in of_suites for metric in of if type(metric) is cls
    ]
    steps: dict[str, str] = {}
    for suite, name in [pair for pair in found if pair[1] == canonical] or found:
        steps.setdefault(suite.name, suite.steps.get(suite.columns.get(name, name), ""))
    return steps


def models_report(models: Sequence[Surveyed]) -> Report:
    """Each model with what it is for, its licence and size, and where it is."""
    columns = [Column("model", "name", style="strong"), Column("what it is for", "words")]
    rows = ((model.name, Cell(model.facts.what, below=_about(model))) for model in models)
    return Report("", (table(columns, rows), lines([wording.sentence("models_hint")])))


def models_as_json(models: Sequence[Surveyed]) -> list[Mapping[str, Any]]:
    """The same as data: sizes in bytes, ``null`` for what is not known or not here."""
    return [
        {
            "name": model.name,
            "commit": model.commit or None,
            "what": model.facts.what,
            "licence": model.facts.licence or None,
            "size": model.facts.size or None,
            "tokenizer_only": model.facts.tokenizer,
            "needs": list(model.facts.companions),
            "metrics": {name: list(suites) for name, suites in model.metrics.items()},
            "here": not model.problem,
            "folder": None if model.folder is None else str(model.folder),
            "named": model.given,
            "bytes_here": model.size or None,
            "problem": model.problem or None,
        }
        for model in models
    ]


def _about(surveyed: Surveyed) -> tuple[str, ...]:
    """The metrics of a model (those of suites first), its licence and size, and where it is."""
    facts, here = surveyed.facts, surveyed.folder is not None
    ordered = sorted(surveyed.metrics.items(), key=lambda item: not item[1])
    names = [f"{name} ({', '.join(suites)})" if suites else name for name, suites in ordered]
    size = surveyed.size if here and not surveyed.problem else facts.size
    about = (
        f"for {few(names, _SHOWN)}" if names else "",
        f"commit {surveyed.commit}" if surveyed.commit else "",
        f"licence {facts.licence or '?'}, {readable(size) if size else '?'}",
        f"with the tokenizer of {', '.join(facts.companions)}" if facts.companions else "",
        f"{'named folder' if surveyed.given else 'cache'}: {surveyed.folder}" if here else "",
        surveyed.problem if here or surveyed.given else "not here",
    )
    return tuple(filter(None, about))


I = TypeVar("I")  # noqa: E741

_FIELD = {"gold_passages": "gold", "answerable": "answerability", "metrics": "given"}
"""The need that a key of a record fulfils, where it has another name."""


_Worked = tuple[str, Any, str, str]
"""The outcome of an example: the metric's shown name, its value, why, and who judged."""


def worked_example(name: str) -> list[tuple[str, str]]:
    """A tiny sample, and what the metric says of it: computed, not written down."""
    cls = next(cls for cls, _ in naming.find(name, suites.every_alias()))
    examples = _examples()
    example = examples["metrics"].get(cls.name)
    if example is None and cls.kind != "model":  # of another package: loading it may take minutes
        example = examples["families"].get(cls.family)
    if example is None:
        return []
    metric = example_of(cls, name)
    if "as" in example:
        metric = naming.parse(example["as"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RagassayWarning)
        worked = _by_model(metric, example) if _MODELS & set(example) else _by_run(metric, example)
    if worked is None:
        return []
    shown_name, value, why, judge = worked
    rows = [("example", _read_by(metric, example))]
    for key, what in _RECORDED.items():
        if recorded := example.get(key):
            text = recorded if isinstance(recorded, str) else dumps(recorded).decode()
            rows.append(("recorded", f"{what}: {text}"))
    rows += [("gives", f"{shown_name} = {wording.value(value)}"), ("because", why)]
    return [row for row in (*rows, ("judged by", judge)) if row[1]]


def example_of(cls: type[Metric], canonical: str | None) -> Metric:
    """The metric of a canonical name, with a value for a required parameter that the name lacks."""
    try:
        return naming.parse(canonical or cls.name)
    except UsageError:
        fields = dataclasses.fields(cls)
        required = [field.name for field in fields if field.default is dataclasses.MISSING]
        return cls(**dict.fromkeys(required, 1))  # only cut-offs are required


def _examples() -> dict[str, dict[str, Any]]:
    """The samples by metric and by family."""
    examples: dict[str, dict[str, Any]] = packages.table(__package__, "worked_examples.yaml")
    return examples


def _records(example: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The records of an example: one a run, each with what all have in common."""
    common = {key: value for key, value in example.items() if key not in _NOT_OF_RECORDS}
    runs = example.get("runs", [{}])
    return [{"id": "example", "repeat": at, **common, **run} for at, run in enumerate(runs)]


def _by_run(metric: Metric, example: Mapping[str, Any]) -> _Worked | None:
    """The example by an evaluation, with the offline judge or a recorded reply."""
    from ragassay.engine import evaluate

    reply = example.get("reply")
    judge = None if reply is None else lambda _: dumps(reply).decode()
    metrics = [example["of"], metric] if isinstance(metric, OfMetric) else [metric]
    result = evaluate(_records(example), metrics, judge=judge)
    step = result.consistency if "runs" in metric.needs else result
    if step is None:
        return None
    (row,) = step.scores
    if row.value is None:
        return None
    why = _because(row.explanation, row.parts)
    return row.metric, row.value, why, row.judge if reply is None else ""


def _by_model(metric: Metric, example: Mapping[str, Any]) -> _Worked | None:
    """The example with recorded numbers in place of a model."""
    samples = list(from_records(_records(example)))
    if "runs" in metric.needs:
        samples = [Sample(id="example", runs=tuple(samples))]
    (outcome,) = metric.score_window(Window(samples, models=_RecordedModels(example)))
    if not isinstance(outcome, Score):
        return None
    return str(metric), outcome.value, _because(outcome.explanation, outcome.parts), ""


class _RecordedModels(Models):
    """Models that say what an example records."""

    def __init__(self, example: Mapping[str, Any]) -> None:
        super().__init__()
        self._recorded = {
            Encoder: WordVectors(example.get("word_vectors", {})),
            HhemModel: _Probabilities(example.get("probabilities", {})),
        }

    def use(self, kind: type[I], *spec: Hashable) -> I:
        """The recorded model of a kind, else the kind itself."""
        return cast(I, self._recorded.get(kind)) or super().use(kind, *spec)


class _Probabilities:
    """Stands for HHEM: a text has the same probability whatever the source."""

    def __init__(self, of: Mapping[str, float]) -> None:
        self._of = of

    def scores(
        self, pairs: Sequence[tuple[str, str]], at_most: int | None = None
    ) -> list[float | None]:
        del at_most
        return [self._of[text] for _, text in pairs]

    def windows(self, text: str, size: int, overlap: int) -> list[tuple[int, int]]:
        del size, overlap
        return [(0, len(text))]


_MODELS = {"word_vectors", "probabilities"}
_RECORDED = {
    "word_vectors": "vectors of words in place of a model's",
    "probabilities": "probabilities in place of the model's",
    "reply": "a judge's reply",
}
_NOT_OF_RECORDS = {*_RECORDED, "runs", "of", "as"}


def _read_by(metric: Metric, example: Mapping[str, Any]) -> str:
    """The parts of the example that the metric reads."""
    reads = {*metric.needs, *metric.uses, "runs", "metadata", "failure"}
    if isinstance(metric, OfMetric):
        reads |= {"of", "references"}
    used = [name for name in example if _FIELD.get(name, name) in reads]
    return "; ".join(f"{name}: {dumps(example[name]).decode()}" for name in used)


def _because(explanation: str, parts: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, (explanation, dumps(parts).decode() if parts else "")))
