"""MT-RAG's five steps over a JSON Lines file that grows: each adds its fields to each record's
``metrics`` and writes the file again, whole or not at all. An interrupted step is run again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from ragassay import suites
from ragassay.base import json_data
from ragassay.base.errors import InputError, UsageError, did_you_mean
from ragassay.base.files import atomic
from ragassay.base.printable import either, share
from ragassay.base.sample import Sample
from ragassay.base.score import RECORD, Outcome, Reason, Score, Unscored
from ragassay.base.yaml_files import text_of, value_of
from ragassay.compat.mtrag.mtrag_records import Record, Tasks, extended
from ragassay.engine.config.metric_selection import with_options
from ragassay.engine.config.run_config import make_config
from ragassay.engine.results.score_columns import judges_of
from ragassay.engine.results.summary import Summary
from ragassay.engine.run.scoring import (
    Accumulator,
    as_note,
    judged_among,
    record_warnings,
    score_stream,
)
from ragassay.formats import Mapper
from ragassay.formats.native import packed
from ragassay.formats.sources import json_files
from ragassay.judges import Failure, Judge, JudgeAnswer, Provenance, Question
from ragassay.judges.asking import Asker
from ragassay.judges.judge import evidence_id
from ragassay.judges.offline.offline_judge import offline_asker
from ragassay.judges.question import R_co
from ragassay.judges.questions import ExtractClaims, ReferenceRating, SaysIdk
from ragassay.judges.questions.answering import SaysUnderspecified
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import Metric
from ragassay.metrics.core.naming import published_name
from ragassay.metrics.mtrag.mtrag_conditioning import Conditioned
from ragassay.metrics.mtrag.mtrag_judged import UnderspecifiedEval
from ragassay.metrics.mtrag.mtrag_values import explained
from ragassay.models.model_options import ModelOptions
from ragassay.models.run_models import Models

Step = Literal["algorithmic", "idk", "ragas", "radbench", "idk_condition"]
STEPS: tuple[Step, ...] = get_args(Step)
ALL = "all"
SUITE = "mtrag"
CONDITION: Step = "idk_condition"

_BESIDE = "underspecified_eval"
"""Field that the step ``idk`` adds to records labelled UNDERSPECIFIED, whose conditioning needs it;
the benchmark's own code fills it in a step that its description does not have."""

_FIELD_OF = {
    ("recall", "target"): "Recall",
    ("rouge_l", "target"): "RougeL_stemFalse",
    ("bert_prec", "target"): "BertscoreP",
    ("bert_recall", "target"): "BertscoreR",
    ("bert_prec", "passage"): "BertKPrec",
    ("extractiveness_rouge", "passage"): "Extractiveness_RougeL",
    ("length", "target"): "Length",
}
"""What a function of the published scripts computes, by what it is held against."""

_AGGREGATE = ("RB_agg", "RB_agg_zero_denominator")
_AGGREGATED = {"Recall", "RougeL_stemFalse", "BertscoreR", "BertKPrec"}
_FORM = "Write NAME: {func: recall, prediction: prediction, target: target}."


@dataclass(frozen=True)
class StepOptions:
    """What to do with which file: records of ``input`` are joined with those of ``tasks``, the
    benchmark's ``config.yaml`` (``evaluators``) chooses algorithmic metrics, ``refresh`` asks the
    judge also for what the records bring of judges."""

    step: str
    input: Path
    output: Path
    tasks: Path | None = None
    evaluators: Path | None = None
    published: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    refresh: bool = False
    models: ModelOptions = field(default_factory=ModelOptions)
    cluster_by: str | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps to do, in their order."""
        steps = tuple(step for step in STEPS if self.step in (step, ALL))
        if not steps:
            names = (*STEPS, ALL)
            raise UsageError(
                f"There is no step {self.step!r}. {did_you_mean(self.step, names)} "
                f"Steps are: {', '.join(names)}."
            )
        return steps

    def fields(self) -> dict[str, Metric]:
        """The metrics to compute, by the published field that each fills."""
        suite = suites.get(SUITE)
        chosen: dict[str, Metric] = {}
        for step in self.steps:
            if step == "algorithmic" and self.evaluators is not None:
                chosen |= _read_evaluators(self.evaluators, published=self.published)
                continue
            for name, its_step in suite.steps.items():
                if its_step == step:
                    (chosen[name],) = suite.resolve([name], published=self.published)
            if step == "idk":
                chosen[_BESIDE] = UnderspecifiedEval(labelled=True)
        changed = with_options(list(chosen.values()), self.options)
        return {
            published_name(name, metric, plain): metric
            for (name, plain), metric in zip(chosen.items(), changed, strict=True)
        }

    @property
    def asks(self) -> bool:
        """Whether a judge is needed. Conditioning by itself is arithmetic over what is there."""
        return self.steps != (CONDITION,) and bool(judged_among(self.fields().values()))


def _scored(
    records: Iterable[tuple[int, Record]],
    fields: Mapping[str, Metric],
    asker: Asker,
    path: Path,
    models: Models,
    refresh: bool,
) -> Iterator[tuple[Record, Sample, Mapping[str, Outcome]]]:
    """Scores records, in their order and a window at a time: each with its new metrics, the sample
    that was made of it, and the outcomes."""
    waiting: deque[Record] = deque()
    mapper = Mapper(path)
    given_values = GivenValues(fields, not isinstance(asker.judge, UnavailableJudge), refresh)
    label = asker.judge.label
    rules = [
        conditioned.rule for conditioned in fields.values() if isinstance(conditioned, Conditioned)
    ]
    rule = "spec" if "spec" in rules else "" if rules else None

    def samples() -> Iterator[Sample]:
        for line, record in records:
            waiting.append(record)
            yield given_values.of(mapper.sample(record, line))

    for window, columns in score_stream(samples(), list(fields.values()), asker, models=models):
        for at, sample in enumerate(window):
            outcomes = {name: column[at] for name, column in zip(fields, columns, strict=True)}
            judged_by = {
                name: judge
                for name, metric in fields.items()
                if (judge := judge_of_field(metric, sample, outcomes[name], label)) is not None
            }
            shown = dict(outcomes)
            beside = shown.get(_BESIDE)
            if isinstance(beside, Unscored) and beside.reason is Reason.NOT_APPLICABLE:
                del shown[_BESIDE]
            written = extended(waiting.popleft(), shown, judged_by, rule)
            yield written, sample, outcomes


def run_steps(
    options: StepOptions, asker: Asker | None = None, progress: Callable[[int], None] | None = None
) -> Summary:
    """Reads, scores and writes; the summary of the fields of these steps. The asker, the embedded
    judge where there is none, stays open; ``progress`` gets the number of records done."""
    fields = options.fields()
    shown = {name: metric for name, metric in fields.items() if name != _BESIDE}
    collected = Accumulator(make_config(cluster_by=options.cluster_by), shown)
    tasks = None
    if options.tasks is not None and options.tasks.resolve() != options.input.resolve():
        tasks = Tasks(options.tasks)
    conditions = options.steps == (CONDITION,)
    used = Asker(UnavailableJudge(CONDITION)) if conditions else asker or offline_asker()
    collected.judge = used.judge.label if options.asks else ""
    records = (
        (line, record if tasks is None else tasks.join(record, options.input, line))
        for line, record in json_files.json_records(options.input)
    )
    models = Models(options.models)
    with (
        nullcontext() if used is asker else used,
        record_warnings() as warned,
        atomic(options.output) as raw,
        packed(raw, options.output) as stream,
    ):
        refresh = options.refresh and options.asks
        scored = _scored(records, fields, used, options.input, models, refresh)
        for n, (record, sample, outcomes) in enumerate(scored, 1):
            stream.write(json_data.dumps(record) + b"\n")
            collected.add([sample], [[outcomes[name]] for name in shown])
            if isinstance(used.judge, UnavailableJudge):
                used.judge.add(outcomes.values())
            if progress is not None:
                progress(n)
        if not collected.columns.identities:
            raise InputError("holds no records", path=options.input)
        warnings = warned()
    asked = used if options.asks else None
    notes = [*warnings, *used.judge.remarks(), *models.remarks()]
    if tasks is not None and tasks.unused:
        notes.insert(
            0,
            f"{tasks.unused} of {len(tasks)} tasks in {tasks.path.name} have no prediction: they "
            "are not in the output, and the means speak only of the others.",
        )
    if isinstance(used.judge, UnavailableJudge):
        collected.cause = used.judge.advice(len(collected.columns))
    return collected.summary(
        options.input.name,
        SUITE,
        [*map(as_note, notes)],
        asker=asked,
        models=models,
        suites=[suites.get(SUITE)],
    )


def _read_evaluators(path: Path, *, published: bool = False) -> dict[str, Metric]:
    """The metrics that a ``config.yaml`` of the benchmark names, by the fields that they fill. As
    in the published scripts ``RB_agg`` comes on top where all its parts are named."""
    body = value_of(text_of(path), path)
    if not isinstance(body, Mapping) or not body:
        raise InputError("is not a mapping of metrics", path=path, hint=_FORM)
    suite = suites.get("mtrag")
    fields = {str(name): _field(str(name), entry, path) for name, entry in body.items()}
    if fields.keys() >= _AGGREGATED:
        fields.update({name: name for name in _AGGREGATE})
    return {name: suite.resolve([field], published=published)[0] for name, field in fields.items()}


def _field(name: str, entry: Any, path: Path) -> str:
    if name in _AGGREGATE:
        return name
    if not isinstance(entry, Mapping) or entry.get("prediction", "prediction") != "prediction":
        raise InputError("is not a metric's entry", path=path, field=name, hint=_FORM)
    func, target = str(entry.get("func")), str(entry.get("target"))
    field = _FIELD_OF.get((func, target))
    if field is None:
        choices = {f"{text} against {other}" for text, other in _FIELD_OF}
        wrong = f"{func} against {target}"
        raise InputError(
            f"there is no metric {wrong}",
            path=path,
            field=name,
            hint=f"{did_you_mean(wrong, choices)} There are: {', '.join(sorted(choices))}.",
        )
    return field


# Which judged values count, and who gave them


_STEP_OF = {
    SaysIdk.kind: "idk",
    SaysUnderspecified.kind: "idk",
    ExtractClaims.kind: "ragas",
    ReferenceRating.kind: "radbench",
}
"""The step that asks a question whose answer conditioning needs, in the order of the steps."""


class GivenValues:
    """Decides which of a record's judged values count, and which are asked for again. A step that
    asks nobody takes all of them, nulls with their reasons included; a step that asks does so again
    where a null is no answer (a failure, or a question that the judge could not answer)."""

    def __init__(self, fields: Mapping[str, Metric], asks: bool, refresh: bool) -> None:
        self._asks = asks
        self._forgotten: set[str] = set()
        if refresh:
            for name, metric in fields.items():
                if metric.kind == "judge":
                    self._forgotten |= {name, metric.name, *_published(metric)}
            if "idk_eval" in self._forgotten:
                self._forgotten.add("conditional_idk")

    def of(self, sample: Sample) -> Sample:
        """The sample with those of its given values that count."""
        values, why = sample.given, sample.given_unscored
        if self._forgotten:
            values = {name: value for name, value in values.items() if name not in self._forgotten}
        if self._asks and why:
            why = {
                name: text
                for name, text in why.items()
                if Unscored.of_words(text).reason.excused is Reason.UNDEFINED
            }
        if values is sample.given and why is sample.given_unscored:
            return sample
        return replace(sample, given=values, given_unscored=why)


def _published(metric: Metric) -> tuple[str, ...]:
    names = getattr(metric, "published", ())
    return (names,) if isinstance(names, str) else tuple(names)


def judge_of_field(metric: Metric, sample: Sample, outcome: Outcome, label: str) -> str | None:
    """The judge of a field, for ``metrics_judge``: the label; empty where no judge gave the value;
    ``None`` where the record's own entry stays."""
    if isinstance(metric, JudgedMetric):
        if outcome.evidence:
            return label
        is_explained = isinstance(outcome, Score) or any(
            explained(sample, name) is not None for name in _published(metric)
        )
        return None if is_explained else ""
    if metric.kind != "judge":
        return None
    who = judges_of(outcome, label) if isinstance(outcome, Score) else ""
    return "" if who == RECORD else who


class UnavailableJudge(Judge):
    """Answers nothing: conditioning uses what earlier steps have written."""

    def __init__(self, step: str) -> None:
        self._step = step
        self._step_of: dict[str, str] = {}
        self._lacking: set[str] = set()
        self._n_lacking = 0

    @property
    def label(self) -> str:
        """Never shown: it gives no answer."""
        return "nobody"

    async def answer(
        self, question: Question[R_co], repeat: int = 0
    ) -> JudgeAnswer[R_co] | Failure:
        """A failure that names the step that must run first."""
        step = _STEP_OF[question.kind]
        self._step_of[evidence_id(question, repeat)] = step
        detail = f"the step {self._step} asks no judge; run the step {step} first, or the step all"
        return Failure(question, Reason.UNSUPPORTED, detail, Provenance(self.label), repeat)

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Takes in the outcomes of a record: a step is missing where its judgement would count."""
        unscored = (outcome for outcome in outcomes if isinstance(outcome, Unscored))
        lacking = {self._step_of[text] for outcome in unscored for text in outcome.evidence}
        self._lacking |= lacking
        self._n_lacking += bool(lacking)

    def advice(self, total: int) -> str:
        """A sentence about records that lack the values of earlier steps; empty where none does."""
        if not self._lacking:
            return ""
        steps = [step for step in dict.fromkeys(_STEP_OF.values()) if step in self._lacking]
        return (
            f"{share(self._n_lacking, total, 'record')} "
            f"{either(self._n_lacking, 'lacks', 'lack')} values of {', '.join(steps)}, and "
            f"{self._step} asks no judge: run these steps first, or the step all."
        )
