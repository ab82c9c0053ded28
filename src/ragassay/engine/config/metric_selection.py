"""The suite that data gets when none is named, how each suite suits it, and the metrics that will
be computed, under the names that they are shown by: those of single samples, and those over runs.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragassay import suites
from ragassay.base.errors import InputError, OptionError, UsageError, did_you_mean, warn_user
from ragassay.base.note import Note
from ragassay.base.sample import Sample
from ragassay.engine.comparison.offline_agreement import shown_offline
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.results.result import CONSISTENCY
from ragassay.judges.own_prompts import read_judge_prompt, read_rubric
from ragassay.metrics.consistency.runs_spread import OfMetric, RunsFlip
from ragassay.metrics.core import naming
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import Metric, choices_of, missing
from ragassay.metrics.serving.serving_metrics import lacks_beside_failures
from ragassay.suites import Suite
from ragassay.suites.default_suite import DEFAULT_SUITES, default_suite

LOOKED_AT = 2_000
"""Most samples that are looked at."""


@dataclass(frozen=True)
class SuiteFit:
    """How a suite suits data: how many samples one of its metrics could score, and how many samples
    were looked at."""

    n_samples: int
    n_seen: int


def needs_llm(metric: Metric) -> bool:
    """Whether a metric asks what the offline judge has no answer to."""
    from ragassay.judges.offline.questions import is_answered

    return isinstance(metric, JudgedMetric) and not all(map(is_answered, metric.asks))


def suite_fits(samples: Sequence[Sample], *, offline: bool) -> dict[str, SuiteFit]:
    """How each suite, by name, suits some samples; the suites that suit most of them come first.
    Where only the offline judge is asked, metrics that a run would not show do not count."""
    shown = shown_offline if offline else (lambda metric: True)
    by_suite = {
        name: {*(suite.fitted(samples, shown) if suite.otherwise else suite).resolve()}
        for name, suite in suites.all_suites().items()
    }
    failed = any(sample.failure is not None for sample in samples)
    lacks = lacks_beside_failures if failed else lambda metric, sample: metric.lacks(sample)
    every = set[Metric]().union(*by_suite.values())
    allowed = [metric for metric in every if not (offline and needs_llm(metric))]
    # Some metrics publish a lowest value where a part is missing: that is no fit.
    fitting = [
        {m for m in allowed if missing(s, m.needs) is None and lacks(m, s) is None} for s in samples
    ]
    scored = set[Metric]().union(*fitting)
    # Those of which more metrics suit first, and above all those that suit more samples.
    share = {name: len(own & scored) / max(1, len(own)) for name, own in by_suite.items()}
    fits = {
        name: SuiteFit(sum(map(bool, map(by_suite[name].__and__, fitting))), len(samples))
        for name in sorted(share, key=lambda name: -share[name])
    }
    return dict(sorted(fits.items(), key=lambda fit: -fit[1].n_samples))


@dataclass(frozen=True)
class ConsistencySelection:
    """What will be computed of the runs of each query: the metrics by shown name, the metrics of
    single runs that they look at (``of``), and the metrics as a configuration names them
    (``asked``)."""

    metrics: Mapping[str, Metric]
    of: tuple[str, ...]
    asked: tuple[str, ...]

    @property
    def suite(self) -> Suite:
        """The suite with the headings of this run's metrics."""
        groups = {name: m.of for name, m in self.metrics.items() if isinstance(m, OfMetric)}
        return dataclasses.replace(suites.get(CONSISTENCY), groups=groups)


@dataclass(frozen=True)
class MetricSelection:
    """The metrics that will be computed, by the names that they are shown under; ``consistency`` is
    the selection of the second step (comparing the runs of each query), where it is asked for.
    ``every`` has the metrics of both, ``title`` the names of the suites that take part; it is empty
    where only metrics were named."""

    suites: tuple[Suite, ...]
    metrics: Mapping[str, Metric]
    every: Mapping[str, Metric]
    title: str
    consistency: ConsistencySelection | None = None


def select_metrics(
    config: RunConfig,
    data_format: str,
    chosen: Sequence[Suite] = (),
    objects: Sequence[Metric | str] = (),
    fitted: Callable[[Suite], Suite] = lambda suite: suite,
    own: Sequence[Metric] = (),
) -> MetricSelection:
    """The metrics of a configuration under the names that its suites publish. ``fitted`` makes a
    suite whose metrics depend on the data (`Suite.otherwise`) one of those that the data allow.
    ``objects``, some by name, come on top of the suites named, and ``own`` (rubrics, say) also of
    the suite for the data where nothing is named."""
    named_suites = [*(chosen or map(suites.get, config.suite))]
    if not named_suites and not config.metrics and not objects:
        named_suites = [default_suite(data_format, qrels=config.qrels is not None)]
    used = tuple(fitted(suite) if suite.otherwise else suite for suite in named_suites)
    wanted = [*config.metrics, *(item for item in objects if isinstance(item, str))]
    if config.ks:
        _check_ks(config, used, naming.split(wanted))
    asked: dict[Metric, str] = {}
    of_suites: list[Metric] = []
    if wanted:
        local = published_names(config, data_format, used)
        names = suites.our_names(wanted, local)
        if "faithfulness" in {*names} & {*naming.split(config.metrics)} - local.keys():
            warn_user(str(Note("not_mlcube")))
        rag = suites.get("rag")
        if by_data := rag.otherwise.keys() & {*names} - suites.aliases_of(used).keys():
            aliases = fitted(rag).aliases
            local |= {name: aliases[name] for name in by_data}
        published = {name: target for suite in used for name, target in suite.published.items()}
        every = Suite("metrics", "", "", (), aliases=local, published=published)
        by_name = every.metrics_by_name(names, ks=config.ks, published=config.published)
        asked = {metric: name for name, metric in by_name.items()}
    if not config.metrics:
        for suite in used:
            of_suites += suite.metrics_by_name(ks=config.ks, published=config.published).values()
    made = (item for item in objects if not isinstance(item, str))
    selected = dict.fromkeys([*of_suites, *asked, *made, *own])
    metrics = [metric for metric in selected if "runs" not in metric.needs]
    over = [metric for metric in selected if "runs" in metric.needs]
    compared: list[Metric] = []
    if (
        over
        or config.consistency_of
        or config.consistency_metrics
        or any(suite.name == CONSISTENCY for suite in used)
    ):
        over, compared = _over_runs(config, used, metrics, over)
        metrics = list(dict.fromkeys([*metrics, *compared]))
    columns = {metric: name for suite in reversed(used) for metric, name in suite.columns.items()}
    changed = [*metrics, *over]
    if config.options:
        changed = with_options(changed, config.options)
    named: dict[str, Metric] = {}
    of: dict[str, Metric] = {}
    shown: dict[str, str] = {}
    for plain, metric in zip(metrics, changed, strict=False):
        column = columns.get(str(metric)) or _column(metric, columns) if columns else None
        name = column or asked.get(metric, str(metric))
        name = name if name not in named else str(metric)
        if named.setdefault(name, metric) != metric:
            raise UsageError(
                f"Two metrics are called {name!r}. Rename either: @ragassay.metric(name=...)."
            )
        shown[str(plain)] = name
        if plain in compared:
            of[name] = metric
    repeats = _consistency_plan(changed[len(metrics) :], of, shown) if over else None
    computed = {**named, **(repeats.metrics if repeats else {})}
    shown_names = {metric.name for metric in computed.values()}
    title = "+".join(suite.name for suite in used if shown_names & suite.owned)
    return MetricSelection(used, named, computed, title, repeats)


def _column(metric: Metric, columns: Mapping[str, str]) -> str | None:
    """The published name of a metric with its chosen parameters, so that one name has one value."""
    defaults = {name: spec.default for name, spec in naming.parameters(metric).items()}
    usual = dataclasses.replace(metric, **defaults)
    column = columns.get(str(usual))
    return None if column is None else naming.published_name(column, metric, usual)


def _over_runs(
    config: RunConfig, used: Sequence[Suite], metrics: Sequence[Metric], over: list[Metric]
) -> tuple[list[Metric], list[Metric]]:
    """The metrics over runs that a configuration names (else ``over``, or those of the suite), and
    the metrics of single runs whose spread is reported: those that the configuration or a metric
    over runs names (by canonical names then), or else all but percentiles."""
    suite = suites.get(CONSISTENCY)
    over = over or suite.resolve()
    if config.consistency_metrics:
        over = suite.resolve(config.consistency_metrics)
        if single := [metric for metric in over if "runs" not in metric.needs]:
            raise UsageError(
                f"{single[0]} is not a metric of the suite consistency. For its spread, write "
                f"--consistency-of {single[0]}."
            )
    aliases = suites.aliases_of(suite for suite in used if suite.name != CONSISTENCY)
    columns = {name: metric for suite in used for metric, name in suite.columns.items()}
    by_name = {str(metric): metric for metric in metrics}

    def named(word: str) -> list[Metric]:
        computed = by_name.get(word) or by_name.get(columns.get(word, ""))
        if computed:
            return [computed]
        found = list(suites.metrics_by_name(word, local=aliases).values())
        if wrong := next((metric for metric in found if "runs" in metric.needs), None):
            raise UsageError(f"{wrong} compares runs itself: it has no spread over runs.")
        return found

    chosen = dict.fromkeys(m for word in naming.split(config.consistency_of) for m in named(word))
    resolved: list[Metric] = []
    for metric in over:
        if isinstance(metric, OfMetric) and metric.of:
            meant = named(metric.of)
            chosen.update(dict.fromkeys(meant))
            resolved += [dataclasses.replace(metric, of=str(item)) for item in meant]
        else:
            resolved.append(metric)
    # The values of a percentile are those of its metric: latency_p95 of a sample is its latency.
    plain = [metric for metric in metrics if metric.aggregate == type(metric).aggregate]
    looked = list(chosen) if config.consistency_of else [*plain, *chosen]
    return resolved, list(dict.fromkeys(looked))


def _consistency_plan(
    over: Sequence[Metric], of: Mapping[str, Metric], shown: Mapping[str, str]
) -> ConsistencySelection:
    """The metrics over runs; one that names no other metric is there once for each metric that is
    compared. ``shown`` has the names of those by their canonical names."""
    columns = suites.get(CONSISTENCY).columns
    by_name: dict[str, Metric] = {}

    def add(metric: Metric, name: str) -> None:
        by_name[name if name not in by_name else str(metric)] = metric

    for metric in over:
        if not isinstance(metric, OfMetric):
            add(metric, _column(metric, columns) or str(metric))
    for name, looked in of.items():
        for metric in over:
            if not isinstance(metric, OfMetric) or shown.get(metric.of, "") not in ("", name):
                continue
            # Verdicts flip, numbers spread; flags do both.
            unsuited = "number" if isinstance(metric, RunsFlip) else "label"
            if metric.of or looked.says != unsuited:
                add(dataclasses.replace(metric, of=name), f"{CONSISTENCY}_{name}.{metric.stat}")
    numeric = tuple(name for name, looked in of.items() if looked.says != "label")
    labels = tuple(name for name in of if name not in numeric)
    return ConsistencySelection(by_name, (*numeric, *labels), tuple(map(str, over)))


def _check_ks(config: RunConfig, used: Sequence[Suite], names: Sequence[str]) -> None:
    """Refuses cut-offs that would change nothing."""
    local = suites.aliases_of(used)
    # The names in a resolved configuration have its cut-offs already.
    at = tuple(f"@{k}" for k in config.ks or ())
    named = any(naming.takes_cutoffs(name, local) or name.endswith(at) for name in names)
    if named or (not config.metrics and any(suite.ranked for suite in used)):
        return
    what = ", ".join(names or [suite.name for suite in used])
    raise OptionError(
        "ks",
        f"nothing in {what} takes separate cut-offs; write them into the "
        "names, as in nDCG@5, or name recall, ndcg or precision",
    )


def with_options(metrics: Sequence[Metric], options: Mapping[str, Any]) -> list[Metric]:
    """The metrics with parameters set on each that has them. A value that only some metrics know as
    a choice (``by=cosine``) is set only on those."""
    chosen: list[dict[str, Any]] = [{} for _ in metrics]
    for name, value in options.items():
        having = [metric for metric in metrics if name in naming.parameters(metric)]
        if not having:
            existing = naming.parameters(*metrics)
            raise UsageError(
                f"No metric of this run has the parameter {name!r}. "
                f"{did_you_mean(name, existing)} 'ragassay metrics NAME' shows what there is."
            )
        choices = {m: choices_of(type(m)).get(name) for m in having}
        knowing = [m for m, c in choices.items() if c is None or str(value) in map(str, c)]
        for metric, of_metric in zip(metrics, chosen, strict=True):
            if metric in (knowing or having):
                of_metric[name] = value
    pairs = zip(metrics, chosen, strict=True)
    return [naming.with_parameters(metric, own) if own else metric for metric, own in pairs]


def published_names(
    config: RunConfig, data_format: str | None, used: Sequence[Suite] = ()
) -> dict[str, str]:
    """The published names that are valid in a run, each with the canonical name that it means. They
    are the general ones and those of the run's suites; where no suite is named, those of the suite
    for its data, or of ``qa``, but for those of suite ``rag``."""
    used = used or [suites.get(name) for name in config.suite]
    published = suites.aliases_of(used)
    if not used and data_format is not None:
        usual = "retrieval" if config.qrels is not None else "qa"
        published = suites.aliases_of([suites.get(DEFAULT_SUITES.get(data_format, usual))])
        published = {k: v for k, v in published.items() if k not in suites.get("rag").metrics}
    return {**suites.general_aliases(), **published}


def own_metrics(config: Mapping[str, Any], base: Path | None = None) -> list[Metric]:
    """The metrics that a configuration's ``rubric`` and ``judge_prompt`` files define; relative
    paths start from ``base``. Their names are known from then on; reading an edited file again
    replaces its metric. An error about a name is one about the file that has it."""
    from ragassay.metrics.answer.answer_match import with_prompt
    from ragassay.metrics.rubric.rubric_grade import rubric_metric

    found, prompt = list[Metric](), config.get("judge_prompt")
    made: list[tuple[str, Callable[[Path], Metric]]]
    made = [(n, lambda path: rubric_metric(read_rubric(path))) for n in config.get("rubric") or ()]
    made += [(prompt, lambda path: with_prompt(read_judge_prompt(path)))] if prompt else []
    for name, metric_in in made:
        path = (base or Path()) / name
        try:
            found.append(metric_in(path))
        except UsageError as error:
            raise InputError(str(error), path=path, field="name") from error
    return found


def metric_of(value: Any) -> Metric:
    """The metric that a value is or makes (`as_metric`); a mapping is a rubric with the keys of its
    file. The error for an object of another tool says which metric of ours to name."""
    import yaml

    from ragassay.judges.own_prompts import parse_rubric
    from ragassay.metrics.core.function_metrics import as_metric
    from ragassay.metrics.rubric.rubric_grade import rubric_metric

    if isinstance(value, Mapping):
        return rubric_metric(parse_rubric(yaml.safe_dump(dict(value))))
    try:
        return as_metric(value)
    except UsageError as error:
        name, local = getattr(value, "__name__", type(value).__name__), suites.general_aliases()
        peer = suites.peer_of(name, local)
        ours = peer.ours if peer else next((m.name for m in naming.known(name, local)), "")
        advice = f"Give metrics=[{ours!r}]." if ours else suites.advice_on(name)
        if not advice or inspect.isroutine(value):
            raise
        raise UsageError(f"The object {name} is not a metric of ragassay. {advice}") from error
