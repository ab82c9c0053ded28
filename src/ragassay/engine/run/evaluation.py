"""The main job: evaluate samples with a suite or a list of metrics."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay import formats, suites
from ragassay.engine.comparison import gates
from ragassay.engine.config import (
    OWN,
    POOLED,
    MetricSelection,
    RunConfig,
    make_config,
    make_plan,
    own_metrics,
)
from ragassay.engine.consistency import ConsistencyRun, GroupProgress, OnDisk, StoredSamples
from ragassay.engine.models import (
    address_for,
    check_models,
    here,
    models_for,
    spending_of,
)
from ragassay.engine.results import (
    NUGGETS,
    SAMPLES,
    VERDICTS,
    FolderWriter,
    KeptVerdicts,
    Result,
    ResultSink,
    VerdictFile,
    check_consistency,
)
from ragassay.engine.run.accumulator import Accumulator, collect, noted
from ragassay.engine.run.judge_session import (
    OFFLINE,
    JudgeSession,
    open_session,
    signature,
    spending,
)
from ragassay.engine.run.progress_bar import Progress, shown_progress
from ragassay.engine.run.resolved_config import resolved_config
from ragassay.engine.run.scoring import MODELLED_WINDOW, judged_among, score_stream
from ragassay.engine.run.source import Data, Source, format_of, open_source, paths_of
from ragassay.engine.run.suite_fit import LOOKED_AT, SuiteFits
from ragassay.errors import InputError, RagassayWarning, UsageError, did_you_mean, warn_user
from ragassay.golden import check_output
from ragassay.judges import Asker, Judge, named_judges, word_of
from ragassay.metrics.answer import AnswerMatches
from ragassay.metrics.core import AllSamples, Metric, as_metric, naming, own_names
from ragassay.models.embedders import DEFAULT
from ragassay.samples import Sample
from ragassay.stats import check_one_sided
from ragassay.suites import Suite

if TYPE_CHECKING:
    from ragassay.judges import Address

_NO_NAME = re.compile(r"(^|,)\s*(,|$)")
"""A place between commas without a name."""


def evaluate(
    data: Data,
    suite: str | Suite | Metric | Sequence[str | Suite | Metric | Callable[..., Any]] | None = None,
    *,
    metrics: str | Metric | Sequence[str | Metric | Callable[..., Any]] | None = None,
    judge: Any = None,
    environment: Mapping[str, str] | None = None,
    save: str | Path | None = None,
    progress: bool | Progress | None = None,
    **options: Any,
) -> Result:
    """Scores every sample with every metric, and summarises.

    Args:
        data: a path (any known format) or several, an iterable of `Sample`s or mappings, or a data
            frame.
        suite: a suite's name (``qa``, ``retrieval``, ``trecrag`` ...) or several, joined with
            commas (``qa,serving``) or in a list; among them names of metrics, and in a list also
            metric objects and functions (see `ragassay.metric`). Left out: what suits the data's
            format.
        metrics: metrics by name, as objects or functions, to compute these instead of all of the
            suites'.
        judge: who answers what text alone cannot: ``"openai:gpt-4o-mini"``, a base URL with
            ``#model``; a function that takes a prompt and returns a text; a chat model of LangChain
            or LlamaIndex; several of them for a panel; or a `Judge` of your own. Left out: the
            embedded judge, offline.
        environment: where a judge's key is looked for, in place of the process's environment.
        save: a run folder to write; samples and scores then stream to disk and do not stay in
            memory.
        progress: ``True`` shows a bar (by tqdm where it is installed, else lines on standard
            error), ``False`` none; left out, a notebook shows one. Or a function, called now and
            then with the number of samples done.
        options: further fields of `RunConfig`: ``columns``, ``format``, ``qrels``, ``ks``,
            ``limit``, ``slice_by``, ``cluster_by``, ``interval``, ``level``, ``seed``,
            ``published``, ``fail_under`` (see `Result.gates`) ...

    Returns:
        Scores and summary. Works the same inside a running event loop.

    Raises:
        InputError: data that cannot be read, with file, line and field.
        UsageError: an unknown suite, metric or option.
    """
    job = _job(data, suite, metrics, judge, environment, save, options)
    with shown_progress(progress, job.source.count, job.doing) as told:
        return job.run(told)


def dry_run(
    data: Data,
    suite: str | Suite | Metric | Sequence[str | Suite | Metric | Callable[..., Any]] | None = None,
    *,
    metrics: str | Metric | Sequence[str | Metric | Callable[..., Any]] | None = None,
    judge: Any = None,
    environment: Mapping[str, str] | None = None,
    **options: Any,
) -> PreparedRun:
    """The run that `evaluate` would do with these arguments, to be previewed only: no key is needed
    and nothing is sent.

    Args:
        data: see `evaluate`.
        suite: see `evaluate`.
        metrics: see `evaluate`.
        judge: see `evaluate`.
        environment: see `evaluate`.
        options: see `evaluate`.

    Raises:
        InputError: data that cannot be read.
        UsageError: an unknown suite, metric or option.
    """
    return _job(data, suite, metrics, judge, environment, None, options, dry=True)


def _job(
    data: Data,
    suite: Any,
    metrics: Any,
    judge: Any,
    environment: Mapping[str, str] | None,
    save: str | Path | None,
    options: Mapping[str, Any],
    *,
    dry: bool = False,
) -> PreparedRun:
    """The run that the arguments of `evaluate` describe."""
    if data is None:
        raise UsageError(
            "No data is given: data is None. Give a path, a list of samples or mappings, or a data "
            "frame."
        )
    objects: list[Metric] = []
    names: list[str] = []
    chosen: list[Suite] = []
    for item in _single(_listed(suite)):
        if isinstance(item, Suite):
            chosen.append(item)
        elif not isinstance(item, str):
            objects.append(as_metric(item))
        elif item in suites.known():
            chosen.append(suites.get(item))
        else:
            names += [_metric_name(name) for name in own_names([item])]
    if suite is not None and not (objects or names or chosen):
        raise UsageError("No suite and no metric is named. 'ragassay metrics' lists them.")
    if names and chosen and metrics is None:
        # Names in one list with suites come on top of the suites' own.
        names = [*(name for each in chosen for name in each.metrics), *names]
    words = [naming.split(item) if isinstance(item, str) else [item] for item in _listed(metrics)]
    names += own_names([word for several in words for word in several])
    named = paths_of(data)
    path = str(named) if isinstance(named, str | Path) else [*map(str, named or ())] or None
    own = judge if isinstance(judge, Judge) else named_judges(judge) or None
    judges = judge if isinstance(judge, list | tuple) else [judge]
    config = make_config(
        data=path,
        judge=None if own is None or isinstance(own, Judge) else [word_of(one) for one in judges],
        suite=[each.name for each in chosen],
        metrics=names,
        **{"output": save, **options},
    )
    return prepare(
        config, data, chosen=chosen, objects=objects, judge=own, environment=environment, dry=dry
    )


def _listed(given: Any) -> Sequence[Any]:
    """One or several, or none, as a list."""
    if given is None:
        return []
    return list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]


def _single(items: Iterable[Any]) -> Iterator[Any]:
    """The items, with texts that name several suites or metrics taken apart at their commas."""
    for item in items:
        if not isinstance(item, str):
            yield item
        elif _NO_NAME.search(item):
            raise UsageError(f"The suite {item!r}: a name is empty. Leave out the comma.")
        else:
            yield from naming.split(item)


def _metric_name(word: str) -> str:
    """The word, unless it looks like a misspelt suite and is no metric."""
    aliases = [None, *(suite.aliases for suite in suites.known().values())]
    hint = did_you_mean(word, suites.known())
    if hint and not any(naming.is_known(word, local) for local in aliases):
        raise UsageError(f"{word!r} is neither a suite nor a metric. {hint}")
    return word


def prepare(
    config: RunConfig,
    data: Data | None = None,
    *,
    chosen: Sequence[Suite] = (),
    objects: Sequence[Metric] = (),
    judge: Judge | Sequence[Any] | None = None,
    dry: bool = False,
    environment: Mapping[str, str] | None = None,
) -> PreparedRun:
    """Opens the data and resolves all names, so that errors show before the work begins.

    Args:
        config: of the run.
        data: to be read; what the configuration names when left out.
        chosen: suites that take the place of those that the configuration names.
        objects: metrics that come on top of those.
        judge: takes the place of the one that the configuration names: a `Judge`, or words and
            objects in Python.
        dry: whether the job is only previewed (see `preview`): the judge's key is then not needed,
            and no ledger is made.
        environment: where keys are looked for; the process's own when left out.

    Raises:
        InputError: the data or the nugget bank cannot be opened.
        UsageError: no data, an unknown suite, metric or judge, a judge's missing key; a run folder
            whose samples are the data, or that lies in a golden set.
    """
    if data is None:
        if config.data is None:
            raise UsageError("No data is named. Give a file: ragassay run DATA.")
        data = config.data
    if config.output:
        paths = paths_of(data)
        check_output(Path(config.output) / SAMPLES, *(formats.files_of(paths) if paths else ()))
    own = own_metrics(config.model_dump())
    plan = make_plan(config, format_of(data, config), chosen, [*objects, *own])
    if config.judge_prompt:
        _warn_of_two_instructions(plan)
    refused = any(metric.counts_chunks for metric in plan.every.values())
    source = open_source(data, config, refuse_joined=refused)
    shown = {name: str(metric) for name, metric in plan.every.items()}
    spans = {name: (metric.low, metric.high) for name, metric in plan.every.items()}
    checks = gates.resolve(config.fail_under, shown, [s.name for s in plan.suites], spans)
    if any(gate.which != "mean" for gate in checks):
        check_one_sided(config.level)
    asks = bool(judged_among(plan.metrics.values())) or config.nuggets == POOLED
    session = None
    if asks and config.nuggets not in (OWN, POOLED):
        from ragassay.engine.run.pooled_nuggets import checked

        source.samples = checked(source.samples, formats.NuggetBank.read(config.nuggets))
    check_models(config, plan.every.values())
    address = address_for(config, plan.metrics.values(), dry=dry, environment=environment)
    if asks:
        session = open_session(config, plan.suites, judge, dry=dry, environment=environment)
    elif config.judge and config.judge != [OFFLINE]:
        warn_user(f"The judge {config.judge[0]} is not asked: no metric of this run needs one.")
    again = not isinstance(data, Iterator)
    rereads = (lambda: open_source(data, config, refuse_joined=refused).samples) if again else None
    return PreparedRun(config, source, plan, tuple(checks), session, rereads, address)


def _warn_of_two_instructions(plan: MetricSelection) -> None:
    """Warns where answers are matched by ragassay's instructions and by the user's as well."""
    ours = [name for name, one in plan.every.items() if one.name == AnswerMatches.name]
    own = [
        name
        for name, one in plan.every.items()
        if isinstance(one, AnswerMatches) and one.prompt is not None
    ]
    if ours and own:
        warn_user(
            f"{ours[0]} asks by ragassay's instructions and {own[0]} by those of --judge-prompt "
            f"(judge_prompt): two questions a sample. Leave {ours[0]} out to ask only the second."
        )


@dataclass(frozen=True)
class PreparedRun:
    """A run that is ready to go. It can be run once.

    ``session`` holds the judge, where a metric asks one. ``rereads`` opens the data once more,
    where it can be read more than once. ``embedding`` is where the embedder is, where that is an
    endpoint.
    """

    config: RunConfig
    source: Source
    plan: MetricSelection
    gates: tuple[gates.Gate, ...] = ()
    session: JudgeSession | None = None
    rereads: Callable[[], Iterator[Sample]] | None = None
    embedding: Address | None = None

    @property
    def doing(self) -> Callable[[], str] | None:
        """Says in words what the asking does; ``None`` where asking takes no time."""
        return self.session.doing if self.session is not None and self.session.costs else None

    def run(
        self,
        progress: Progress | None = None,
        compared: GroupProgress | None = None,
        *,
        keep: bool = True,
    ) -> Result:
        """Scores and summarises. Writes the run folder when the configuration names one.

        Args:
            progress: called with the number of samples done.
            compared: called while repeated runs are compared, with the number of queries done and
                the number of all.
            keep: whether samples and outcomes stay in memory where there is no folder. Without them
                the result has its summary and columns only.
        """
        config, plan, source = self.config, self.plan, self.source
        collected = Accumulator(config, plan.metrics)
        collected.other_suites = self._other_suites
        begun = time.monotonic()
        with ExitStack() as stack:
            warned = stack.enter_context(noted())
            if config.output and plan.consistency is not None:
                check_consistency(Path(config.output))
            writer = stack.enter_context(FolderWriter(config.output)) if config.output else None
            kept = KeptVerdicts()
            keeper = writer.add_verdict if writer else kept.add if keep else None
            asker = None
            if self.session is not None:
                # However a run ends, what is paid for arrives.
                stack.callback(self.session.close)
                asker = stack.enter_context(self.session.asker(keeper))
            judge = "" if asker is None else asker.judge.label
            collected.judge = judge
            sink = ResultSink(list(plan.metrics), writer, keep=keep, judge=judge)
            bank = None if asker is None else self.bank(asker)
            models = models_for(config, self.embedding, stack, asker, self.session)
            metrics = list(plan.metrics.values())
            all_samples = AllSamples(self.rereads)
            embedder = None if self.embedding else config.embedder or DEFAULT
            size = MODELLED_WINDOW if here(metrics, config.models, embedder) else None
            stream = score_stream(
                source.samples, metrics, asker, size, models=models, all_samples=all_samples
            )
            by_asking = asker is not None and size is None
            if asker is not None and by_asking:
                asker.progress = progress
            takers: list[Callable[[Sequence[Sample]], None]] = []
            groups: StoredSamples = []
            if plan.consistency is not None:
                groups = [] if sink.in_memory else OnDisk(stack, config.output)
                takers.append(groups.extend)
            if progress is not None and not by_asking:
                takers.append(lambda _: progress(len(collected.columns)))
            collect(stream, collected, sink, takers)
            if not collected.columns.identities:
                raise InputError("holds no samples", path=source.title)
            notes = warned()
            if asker is not None:
                notes += asker.judge.remarks()
            notes += models.remarks()
            spent = None if asker is None else spending(asker, begun)
            summary = collected.summary(
                source.title,
                plan.title,
                notes,
                sign=lambda metric, given: signature(metric, asker, bank, given, models),
                judging=spent,
                embedding=spending_of(models.embedder_used),
                nuggets="" if bank is None else bank.hash,
                suites=plan.suites,
            )
            signatures = {name: metric.signature for name, metric in summary.metrics.items()}
            resolved = resolved_config(config, plan, source, collected.clustered_by, signatures)
            if spent is not None:
                resolved["judged_by"] = spent.signature
            repeats = None
            if plan.consistency is not None:
                first = resolved, summary, collected.columns
                older = None if writer is None else writer.replace
                second = ConsistencyRun(config, plan.consistency, *first, groups, models, older)
                repeats = second.run(compared, keep=keep)
            if writer is not None:
                if repeats is None:
                    writer.replace()
                if bank is not None:
                    bank.write(writer.folder / NUGGETS)
                writer.finish(resolved, summary)
        folder = None if config.output is None else Path(config.output)
        result = Result(
            summary,
            collected.columns,
            resolved,
            folder,
            sink.rows,
            sink.samples,
            bank=bank,
            verdicts=kept if folder is None else VerdictFile(folder / VERDICTS),
            _consistency=repeats,
        )
        result.gates = gates.decide_run(
            self.gates, result, collected.intervals, trust_offline=config.trust_offline
        )
        return result

    def _other_suites(self) -> list[str]:
        """The suites that could score the data in place of the run's, best first."""
        if self.rereads is None or self.config.metrics or not self.plan.suites:
            return []
        fits = SuiteFits()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RagassayWarning)  # all were said at the first reading
            fits.add(islice(self.rereads(), LOOKED_AT))
        taken = {suite.name for suite in self.plan.suites}
        return [name for name, fit in fits.found().items() if fit.n_samples and name not in taken]

    def bank(self, asker: Asker) -> formats.NuggetBank | None:
        """The nugget bank that the configuration names, made known to the metrics: read, or made
        by asking (see `nugget_bank.pooled`)."""
        if self.config.nuggets == OWN:
            return None
        from ragassay.engine.run.pooled_nuggets import pooled

        if self.config.nuggets != POOLED:
            bank = formats.NuggetBank.read(self.config.nuggets)
        elif self.rereads is None:
            raise UsageError(
                "Pooled nuggets need the data twice: give a file or a list, not an iterator."
            )
        else:
            bank = pooled(self.rereads(), asker, self.plan.metrics.values())
        asker.context["nuggets"] = bank
        return bank
