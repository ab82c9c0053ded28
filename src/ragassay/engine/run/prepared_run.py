"""From the arguments in Python or a configuration to a run that is ready to go (its data is open
and its names are resolved), and to its result."""

from __future__ import annotations

import platform
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay import __version__, formats, suites
from ragassay.base import files
from ragassay.base.errors import InputError, UsageError, did_you_mean, warn_user
from ragassay.base.note import Note
from ragassay.base.sample import Answer, Passage, Sample
from ragassay.engine.comparison.offline_agreement import shown_offline
from ragassay.engine.config.config_paths import make_relative
from ragassay.engine.config.metric_selection import (
    LOOKED_AT,
    MetricSelection,
    metric_of,
    own_metrics,
    published_names,
    select_metrics,
)
from ragassay.engine.config.run_config import OWN, POOLED, RunConfig, make_config
from ragassay.engine.models.needed_models import address_for, check_models, here, models_for
from ragassay.engine.results.folders.run_folder import (
    JUDGE_ANSWERS,
    NUGGETS,
    RUBRICS,
    SAMPLES,
    FolderWriter,
    check_consistency,
)
from ragassay.engine.results.judge_answers import AnswerFile, Record
from ragassay.engine.results.result import Result
from ragassay.engine.results.summary import Summary
from ragassay.engine.run.consistency_run import GroupProgress, consistency_of
from ragassay.engine.run.judge_session import OFFLINE, JudgeSession, open_session
from ragassay.engine.run.scoring import (
    MODELLED_WINDOW,
    Accumulator,
    as_note,
    by_reference,
    judged_among,
    record_warnings,
)
from ragassay.engine.run.source import Data, Source, format_of, open_source, paths_of
from ragassay.judges import Judge
from ragassay.judges.asking import AnswerOrFailure, Asker
from ragassay.judges.judge import to_record
from ragassay.judges.judge_factory import named_judges
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.judges.own_prompts import read_prompts
from ragassay.judges.python_judge import word_of
from ragassay.judges.questions.grading import ReportOnContext
from ragassay.metrics.core import naming
from ragassay.metrics.core.function_metrics import FunctionMetric, own_names
from ragassay.metrics.core.metric import AllSamples, Metric, reached
from ragassay.metrics.core.naming import uses_of
from ragassay.models.embedders.embedder import DEFAULT
from ragassay.suites import Suite

if TYPE_CHECKING:
    from ragassay.judges.judge_factory import Address

Progress = Callable[[int], None]
"""Called with the number of samples done so far."""

ADVISED = "openai:gpt-4o-mini"
"""The judge whose cost is named where a metric needs an LLM."""

PLANNED = 30
"""Most samples that this cost is estimated from."""


def prepare(
    config: RunConfig,
    data: Data | None = None,
    *,
    chosen: Sequence[Suite] = (),
    objects: Sequence[Metric | str] = (),
    judge: Judge | Sequence[Any] | None = None,
    dry: bool = False,
    environment: Mapping[str, str] | None = None,
    named: Mapping[str, Mapping[str, str]] | None = None,
    expected: Sequence[Sample] = (),
) -> PreparedRun:
    """Opens the data and resolves all names, so that errors show before the work begins.

    ``data``, ``chosen`` and ``judge`` take the place of the configuration's data, suites and judge;
    the metrics of ``objects``, some by name, come on top. ``dry``: the job is only previewed, so no
    key is needed and no ledger is made. ``named`` has the words that names of an operator stand
    for, by role (``judge``, ``embedder``): the configuration and all outputs say the names only.
    ``expected`` are samples like those of data still to come, to choose a suite's metrics by."""
    if data is None:
        if config.data is None:
            raise UsageError("No data is named. Give a file: ragassay run DATA.")
        data = config.data
    if isinstance(data, Iterator):  # some metrics read the data twice
        data = [*data]
    if config.prompts:
        read_prompts(config.prompts)
    if config.output:
        from ragassay.golden.golden_folder import check_output

        paths = paths_of(data)
        check_output(Path(config.output) / SAMPLES, *(formats.files_of(paths) if paths else ()))
    own = own_metrics(config.model_dump()) if config.rubric or config.judge_prompt else []
    if config.fail_under:
        from ragassay.engine.comparison import gates

        gated = (gates.parse(text).metric for text in config.fail_under)
        own = [*own, *gates.computed(gated, judge=bool(config.judge or judge))]
    notes: list[Note] = []

    def fitted(suite: Suite) -> Suite:
        looked: Data = expected or data
        with record_warnings():  # they are issued when the samples are scored
            samples = [*map(by_reference, islice(open_source(looked, config).samples, LOOKED_AT))]
        # A system that failed is measured by what it would have been measured by.
        whole = [sample for sample in samples if not sample.failure]
        lost = (Passage("lost"),)
        samples = whole or [
            replace(each, answer=Answer(str(each.failure)), passages=each.passages or lost)
            for each in samples
        ]
        for part, kind in (("passages", "no_passages"), ("answer", "no_answer")):
            lacking = whole and all(getattr(sample, part) is None for sample in whole)
            notes.extend([Note(kind)] if lacking and not config.metrics else ())
        ids = [each.id for sample in whole for each in sample.passages or ()]
        gold = [each for sample in whole for each in sample.gold or ()]
        gold_by_id = any(each.id and not (each.text or each.document) for each in gold)
        if gold_by_id and ids and not any(ids):
            notes.append(Note("passages_without_ids"))
        every = suite.fitted(samples, lambda metric: True)
        # What is named is measured, whoever is asked.
        if config.metrics or judge or set(config.judge) - {OFFLINE}:
            return every
        chosen = suite.fitted(samples, shown_offline)
        named = every.metrics_by_name()
        unmeasured = {name: named[name] for name in named if name not in chosen.metrics}
        if unmeasured:
            from ragassay.engine.run.cost_estimate import Planner

            asking = config.model_copy(update={"judge": [ADVISED]})
            llm = open_session(asking, (), dry=True, environment={})
            with closing(llm), Planner(named, llm.judge) as planner:
                # Drawn, as neighbours may be alike; the same ones each time.
                planner.add(random.Random(0).sample(samples, min(len(samples), PLANNED)))
                total = planner.plan(len(samples)).total
            cost = 0.0 if total.cost is None else total.cost.high
            facts: dict[str, float | str] = {"judge": ADVISED, "calls": round(total.calls.high)}
            bound = "at most" if len(samples) <= PLANNED else "up to about"
            facts |= {"n": len(samples), "cost": round(cost, 4), "bound": bound}
            notes.append(Note("metrics_need_llm", facts, tuple(unmeasured)))
        return chosen

    data_format = format_of(data, config)
    selection = select_metrics(config, data_format, chosen, objects, fitted, own)
    every = selection.every
    asked = {use.kind for metric in every.values() for use in uses_of(metric, None)}
    for kind in sorted(config.prompts.keys() - asked):
        warn_user(str(Note("prompt_not_used", {"kind": kind})))
    numbers_chunks = ReportOnContext.kind in asked  # they must be cut where they end
    first_runs = config.first_runs and selection.consistency is None
    opened = partial(open_source, data, config, refuse_joined=numbers_chunks, first_runs=first_runs)
    source = opened()
    if config.fail_under:
        gates.check(config, selection)
    asks = bool(judged_among(selection.metrics.values())) or config.nuggets == POOLED
    session = None
    if asks and config.nuggets not in (OWN, POOLED):
        from ragassay.engine.run.pooled_nuggets import checked

        source.samples = checked(source.samples, formats.NuggetBank.read(config.nuggets))
    judges, embedders = ((named or {}).get(role, {}) for role in ("judge", "embedder"))
    given: Any = {"dry": dry, "environment": environment}
    address = None
    measures = any(metric.weights or metric.embeds for metric in reached(every.values()))
    if config.models or measures:
        embedder = embedders.get(config.embedder or "", config.embedder)
        check_models(config.model_copy(update={"embedder": embedder}), every.values())
    if config.embedder is not None or config.embedder_key_file or config.embedder_dimensions:
        address = address_for(config, selection.metrics.values(), **given, named=embedders)
    if asks:
        session = open_session(config, selection.suites, judge, **given, named=judges)
    elif config.judge and config.judge != [OFFLINE]:
        warn_user(str(Note("judge_not_used", {"judge": config.judge[0]})))
    return PreparedRun(
        config, source, selection, session, (lambda: opened().samples), address, measures,
        tuple(notes),
    )  # fmt: skip


@dataclass(frozen=True)
class PreparedRun:
    """A run that is ready to go. It can be run once.

    ``session`` holds the judge, where a metric asks one. ``rereads`` opens the data once more.
    ``embedding`` is the address of the embedder, where that is an endpoint; ``measures`` says that
    a metric uses a neural model or an embedder. ``notes`` begin the summary."""

    config: RunConfig
    source: Source
    selection: MetricSelection
    session: JudgeSession | None
    rereads: Callable[[], Iterator[Sample]]
    embedding: Address | None = None
    measures: bool = False
    notes: tuple[Note, ...] = ()

    @property
    def doing(self) -> Callable[[], str] | None:
        """Gives the state of the asking in words; ``None`` where asking takes no time."""
        if self.session is None or isinstance(self.session.judge, OfflineJudge):
            return None
        return self.session.doing

    def run(
        self,
        progress: Progress | None = None,
        compared: GroupProgress | None = None,
        *,
        keep: bool = True,
    ) -> Result:
        """Scores and summarises. Writes the run folder when the configuration names one."""
        config, selection, source = self.config, self.selection, self.source
        folder = Path(config.output) if config.output else None
        with ExitStack() as stack:
            recorded = stack.enter_context(record_warnings())
            writer = asker = bank = ledger = budget = None
            if folder is not None:
                if selection.consistency is not None:
                    check_consistency(folder)
                writer = stack.enter_context(FolderWriter(folder))
            answers: dict[str, Record] = {}

            def keep_answer(asked: AnswerOrFailure) -> None:
                record = to_record(asked)
                if writer is not None:
                    writer.add_answer(record)
                else:
                    answers[record["id"]] = record

            if self.session is not None:
                # However a run ends, the answers that are paid for are waited for.
                ledger, budget = self.session.ledger, self.session.budget
                if ledger is not None:
                    stack.callback(ledger.close)
                is_kept = writer is not None or keep
                asker = Asker(self.session.judge, keep=keep_answer if is_kept else None)
                self.session.asker = stack.enter_context(asker)
                bank = None if config.nuggets == OWN else self.bank(asker)
            judge = "" if asker is None else asker.judge.label
            collected = Accumulator(config, selection.metrics, writer, keep=keep, judge=judge)
            models = size = None
            if self.measures:
                models = models_for(config, self.embedding, stack, asker, ledger, budget)
                embedder = None if self.embedding else config.embedder or DEFAULT
                if here(selection.metrics.values(), config.models, embedder):
                    size = MODELLED_WINDOW
            if asker is not None and size is None:
                asker.progress, progress = progress, None
            runs: list[Sample] = []
            if [suite.name for suite in selection.suites] == ["rag"]:  # others read as published
                source.samples = map(collected.understood, source.samples)
            again = AllSamples(self.rereads)
            options = {"size": size, "models": models, "all_samples": again}
            for samples in collected.scored(source.samples, asker, **options):
                if selection.consistency is not None:
                    runs.extend(samples)
                if progress is not None:
                    progress(len(collected.columns))
            if not collected.columns.identities:
                raise InputError("holds no samples", path=source.title)
            remarks = recorded()
            remarks += [] if asker is None else asker.judge.remarks()
            remarks += [] if models is None else models.remarks()
            notes = [*self.notes, *map(as_note, remarks)]
            summary = collected.summary(
                source.title, selection.title, notes, asker=asker, models=models, bank=bank,
                suites=selection.suites,
            )  # fmt: skip
            resolved = resolved_config(config, selection, source, collected.clustered_by, summary)
            kept = answers if folder is None else AnswerFile(folder / JUDGE_ANSWERS)
            result = collected.result(summary, resolved, folder, bank=bank, judge_answers=kept)
            if selection.consistency is not None:
                inner = consistency_of(
                    result, runs, config, selection.consistency, models,
                    progress=compared, keep=keep, writer=writer,
                )  # fmt: skip
                result = replace(result, _consistency=inner)
            elif writer is not None:
                writer.replace()
            if writer is not None:
                if bank is not None:
                    bank.write(writer.folder / NUGGETS)
                writer.finish(resolved, summary)
        if config.fail_under:
            from ragassay.engine.comparison import gates

            result.gates = gates.results_of(result)
        return result

    def bank(self, asker: Asker) -> formats.NuggetBank:
        """The nugget bank that the configuration names, made known to the metrics: read, or made
        by asking (see `pooled_nuggets.pooled`)."""
        from ragassay.engine.run.pooled_nuggets import pooled

        if self.config.nuggets != POOLED:
            bank = formats.NuggetBank.read(self.config.nuggets)
        else:
            bank = pooled(self.rereads(), asker, self.selection.metrics.values())
        asker.context["nuggets"] = bank
        return bank


def resolved_config(
    config: RunConfig,
    selection: MetricSelection,
    source: Source,
    clustered_by: str | None,
    summary: Summary,
) -> dict[str, Any]:
    """The content of ``run.yaml``. Copies the user's own files into the run folder."""
    import numpy as np

    body = config.model_dump(exclude_none=True)
    for key in ("refresh", "retry_failed"):
        body.pop(key, None)  # who runs run.yaml again wants the same answers, not to pay again
    if "://" in body.get("ledger", ""):
        del body["ledger"]  # the address of a database may hold a password
    if config.output is not None:
        # Paths in a configuration are relative to it, so that run.yaml can be run again.
        make_relative(body, config.output)
        body |= _copied(config, Path(config.output), selection.metrics.values())
    body["suite"] = [suite.name for suite in selection.suites]
    local = published_names(config, source.format, selection.suites)
    body["metrics"] = []
    for name, metric in selection.metrics.items():
        # The name by which the metric is found when the run is run again.
        if isinstance(metric, FunctionMetric) and metric.place:
            name = f"{metric.place}{str(metric).removeprefix(metric.name)}"
        elif naming.known(name, local) != [metric]:
            name = str(metric)
        body["metrics"].append(name)
    if selection.consistency is not None:
        body["consistency_of"] = list(selection.consistency.of)
        body["consistency_metrics"] = list(selection.consistency.asked)
    body["cluster_by"] = clustered_by or config.cluster_by
    judged_by = {} if summary.judging is None else {"judged_by": summary.judging.signature}
    return {
        "ragassay": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "date": datetime.now(UTC).date().isoformat(),
        **body,
        "format": source.format,
        "fingerprint": source.fingerprint,
        "signatures": {name: metric.signature for name, metric in summary.metrics.items()},
        **judged_by,
    }


def _copied(config: RunConfig, folder: Path, metrics: Iterable[Metric]) -> dict[str, Any]:
    """Copies the user's files and rubrics into the run folder; the keys that name the copies."""
    import yaml

    from ragassay.judges.own_prompts import bundled, read_rubric
    from ragassay.metrics.rubric.rubric_grade import RubricMetric

    def copy(source: str, file_name: str) -> str:
        name = f"{RUBRICS}/{file_name}"
        if Path(source).resolve() != (folder / name).resolve():
            files.write_bytes(folder / name, Path(source).read_bytes())
        return name

    # A rubric's name is unique in a run, that of its file need not be.
    named = {read_rubric(name).name: name for name in config.rubric}
    rubrics = [copy(name, f"{rubric}.yaml") for rubric, name in named.items()]
    for rubric in (metric.rubric for metric in metrics if isinstance(metric, RubricMetric)):
        if rubric.name not in named and rubric not in bundled():  # given as a mapping
            rubrics.append(f"{RUBRICS}/{rubric.name}.yaml")
            files.write_text(folder / rubrics[-1], yaml.safe_dump(rubric.model_dump()))
    keys: dict[str, Any] = {"rubric": rubrics} if rubrics else {}
    if config.judge_prompt is not None:
        keys["judge_prompt"] = copy(config.judge_prompt, Path(config.judge_prompt).name)
    if config.prompts:
        keys["prompts"] = {kind: copy(name, f"{kind}.txt") for kind, name in config.prompts.items()}
    return keys


PATIENCE_S, EVERY_S = 1.0, 10.0
"""Seconds before the first line about the progress, and between two."""


def evaluate(
    data: Data,
    suite: Any = None,
    *,
    name: str = "",
    progress: bool | Progress | None = None,
    **options: Any,
) -> Result:
    """Scores every sample with every metric, and summarises; see `ragassay.evaluate`, which also
    asks a system first."""
    job = job_of(data, suite, False, **options)
    job.source.title = name or job.source.title
    ipython = sys.modules.get("IPython")
    in_notebook = hasattr(ipython and ipython.get_ipython(), "kernel")
    is_wanted = in_notebook if progress is None else progress
    result = job.run(progress if callable(progress) else _lines(job) if is_wanted else None)
    return replace(result, called=name)


def _lines(job: PreparedRun) -> Progress:
    """Writes the progress of a run to standard error, a line now and then; the last is the end."""
    due, total = time.monotonic() + PATIENCE_S, None

    def write(n: int) -> None:
        nonlocal due, total
        if time.monotonic() < due and n != total:
            return
        due, total = time.monotonic() + EVERY_S, job.source.count()
        of = "" if total is None else f" of {total:,}"
        state = "" if job.doing is None else f": {job.doing()}"
        sys.stderr.write(f"scoring: {n:,}{of} samples{state}\n")
        sys.stderr.flush()

    return write


def job_of(
    data: Data,
    suite: Any,
    dry: bool,
    /,
    *,
    metrics: Any = None,
    judge: Any = None,
    environment: Mapping[str, str] | None = None,
    save: str | Path | None = None,
    **options: Any,
) -> PreparedRun:
    """The run that the arguments of `ragassay.evaluate` describe. ``dry``: it is to be previewed
    only, so no key is needed and nothing is sent."""
    if data is None:
        raise UsageError("data is None. Give a path, a list of samples or mappings, or a frame.")
    objects: list[Metric | str] = []
    names: list[str] = []
    chosen: list[Suite] = []
    for item in _pieces(suite):
        if isinstance(item, Suite):
            chosen.append(item)
        elif not isinstance(item, str):
            objects.append(metric_of(item))
        elif item in suites.all_suites():
            chosen.append(suites.get(item))
        else:
            names += own_names([item])
            aliases = [None, *(suite.aliases for suite in suites.all_suites().values())]
            hint = did_you_mean(item, suites.all_suites())
            if hint and not any(naming.known(item, local) for local in aliases):
                raise UsageError(f"{item!r} is neither a suite nor a metric. {hint}")
    if suite is not None and not (objects or names or chosen):
        raise UsageError("No suite and no metric is named. 'ragassay metrics' lists them.")
    if chosen and metrics is None:  # names in one list with suites come on top of the suites' own
        objects, names = [*names, *objects], []
    names += own_names([w if isinstance(w, str) else metric_of(w) for w in _pieces(metrics)])
    paths = paths_of(data)
    own = judge if isinstance(judge, Judge) else named_judges(judge) or None
    config = make_config(
        data=str(paths) if isinstance(paths, str | Path) else [*map(str, paths or ())] or None,
        judge=None if own is None or isinstance(own, Judge) else [*map(word_of, _listed(judge))],
        suite=[each.name for each in chosen],
        metrics=names,
        **{"output": save, **options},
    )
    return prepare(
        config, data, chosen=chosen, objects=objects, judge=own, environment=environment, dry=dry
    )


def _listed(items: Any) -> Sequence[Any]:
    """One item, several or none as a list."""
    several = isinstance(items, Sequence) and not isinstance(items, str)
    return [] if items is None else list(items) if several else [items]


def _pieces(items: Any) -> list[Any]:
    """The items, texts cut at their commas."""
    split = (naming.split(item) if isinstance(item, str) else [item] for item in _listed(items))
    return [piece for pieces in split for piece in pieces]
