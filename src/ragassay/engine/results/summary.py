"""The summary of a run: the values that reports show and ``summary.json`` holds, and how they come
from columns of scores, with intervals, counts and slices."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragassay import suites
from ragassay.base.errors import UsageError, did_you_mean
from ragassay.base.note import Displayed, Note
from ragassay.base.printable import either, plural, share
from ragassay.base.score import Reason
from ragassay.engine.results.score_columns import Mask, ScoreColumns, label_of
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric
from ragassay.stats.intervals import Bounds, Interval, Span, mean_interval
from ragassay.stats.percentiles import percentile_interval
from ragassay.stats.repeats import Components
from ragassay.suites import Suite

if TYPE_CHECKING:
    from ragassay.judges.asking import Usage

SCHEMA_VERSION = 1
"""Version of the run folder's contract (docs/run-folder.md)."""

_LONGEST_FAILURE = 200
"""Most characters that a sentence shows of the message of a failed system."""


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """One metric over all samples of a run (or of a slice).

    ``name`` is what the suite calls it (``RougeL_stemFalse``), ``metric`` its canonical spelling
    (``reference_rougeL``), ``signature`` what two runs must share to be comparable.
    ``mean`` is the metric's aggregate (arithmetic mean unless ``aggregate`` says sum, geometric or
    a percentile: ``p95``);
    ``low`` and ``high`` bound it at ``level``. All are ``None`` when nothing was scored; the bounds
    also when the interval is undefined (one value only, a sum).
    ``n_assumed`` of the scored values stand for a missing part of the sample, as the published
    system has it; ``mean_measured`` is the mean without them. ``n_given`` of them came with the
    records, so that nobody was asked. ``group`` is the published heading of its suite. ``judge`` is
    the label of who was asked, or of whoever gave the records' values; empty for arithmetic.
    ``judges`` has the number of values by the label of their judges, ``record`` where the records
    do not name them. ``language`` is the code of the language that the judged samples are in; empty
    where nobody judged, or the language is not known. ``lacking`` has the parts of a sample that
    scores of the reason ``missing_input`` are missing for, each with their number."""

    name: str
    title: str
    family: str
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    interval: str = "none"
    n_scored: int = 0
    n_total: int = 0
    n_clusters: int | None = None
    std: float | None = None
    median: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    aggregate: str = "mean"
    higher_is_better: bool | None = True
    bounds: tuple[float | None, float | None] = (0.0, 1.0)
    unscored: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, int] = field(default_factory=dict)
    metric: str = ""
    signature: str = ""
    judge: str = ""
    n_assumed: int = 0
    mean_measured: float | None = None
    n_given: int = 0
    group: str = ""
    judges: Mapping[str, int] = field(default_factory=dict)
    language: str = ""
    lacking: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        mean = "no mean" if self.mean is None else f"mean {self.mean:.4f}"
        if self.low is not None:
            mean += f" [{self.low:.4f}, {self.high:.4f}] at {100 * self.level:g} %"
        return f"<{self.name}: {mean}, {self.n_scored}/{self.n_total} scored>"

    @property
    def percentile(self) -> float | None:
        """Which percentile ``mean`` is, in (0, 100); ``None`` where it is none."""
        match = re.fullmatch(r"p(\d+(?:\.\d+)?)", self.aggregate)
        return float(match[1]) if match else None


@dataclass(frozen=True, slots=True)
class Spending:
    """What a run asked its judge, and what that cost.

    ``questions`` are distinct; ``calls`` are requests that were sent (retries and repairs
    included, those without a connection not), ``cached`` questions that the ledger had. ``cost`` is
    in US dollars, ``unpriced`` the number of calls whose price is not known. ``failures`` counts
    questions without an answer by reason, ``in_part`` answers that lack a part.
    ``votes`` counts what was asked of a panel's members, ``lost_votes`` (by reason) the votes that
    failed for a passing reason while the panel had an answer without them, ``disagreed`` the
    questions on which its members did not agree. ``details`` has the first message for each of
    these reasons. ``seconds`` is the run's wall time."""

    judge: str
    signature: str = ""
    questions: int = 0
    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    votes: int = 0
    lost_votes: Mapping[str, int] = field(default_factory=dict)
    in_part: Mapping[str, int] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    disagreed: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, judge: str, signature: str, usage: Usage, seconds: float = 0.0) -> Spending:
        """What was counted while a run went on."""
        counted = dict(vars(usage))
        for name in ("failures", "lost_votes", "in_part"):
            counted[name] = dict(counted[name].most_common())
        counted["details"] = dict(counted["details"])
        counted["cost"] = round(counted["cost"], 6)
        return cls(judge, signature, seconds=round(seconds, 3), **counted)


@dataclass(frozen=True, slots=True)
class Slice:
    """The same metrics over the samples that share one metadata value."""

    column: str
    value: str
    n: int
    metrics: Mapping[str, MetricSummary]


@dataclass(frozen=True, slots=True, repr=False)
class Summary(Displayed):
    """One run.

    ``averaged_over`` says in words what the mean runs over; ``incomplete`` counts scores that are
    missing because the judge or a metric failed, and votes that a panel lost so (exit code 3).
    ``judging`` is
    ``None`` where nobody was asked, ``embedding`` (its questions are texts) where no endpoint
    embedded any; ``fingerprint`` names what was asked and expected, ``nuggets`` the nugget bank's
    hash, and ``totals`` are values of the run as a whole that a suite publishes. In the summary of
    a run's consistency, ``variances`` tells of each metric of the run where its variance comes
    from. ``trust_offline``: offline judgments decide its gates, whatever their agreement."""

    title: str
    suite: str
    system: str
    n_samples: int
    n_queries: int
    averaged_over: str
    metrics: Mapping[str, MetricSummary]
    slices: tuple[Slice, ...] = ()
    failures: Mapping[str, int] = field(default_factory=dict)
    incomplete: int = 0
    notes: tuple[Note, ...] = ()
    judging: Spending | None = None
    embedding: Spending | None = None
    fingerprint: str = ""
    nuggets: str = ""
    totals: Mapping[str, float] = field(default_factory=dict)
    variances: Mapping[str, Components] = field(default_factory=dict)
    trust_offline: bool = False
    schema_version: int = SCHEMA_VERSION

    def __getitem__(self, name: str) -> MetricSummary:
        """The summary of one metric.

        Args:
            name: as it is shown, its canonical name, or an alias of the suites of the run.

        Raises:
            UsageError: the run has no such metric, or the name means several.
        """
        canonical = {text: entry.metric for text, entry in self.metrics.items()}
        used = self.suite.split("+")
        names = shown(str(name), canonical, used, "this run", "'metrics' lists them")
        if len(names) != 1:
            raise UsageError(
                f"{name!r} means several metrics: {', '.join(names)}. Name it in full."
            )
        return self.metrics[names[0]]

    def __iter__(self) -> Iterator[str]:
        """The names of the metrics, as they are shown."""
        return iter(self.metrics)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The sentences of its notes."""
        return tuple(map(str, self.notes))

    @property
    def all_failed(self) -> str:
        """That the system failed for every sample, and what to do; empty where it answered one."""
        n = sum(self.failures.values())
        if not n or n < self.n_samples:
            return ""
        why, most = max(self.failures.items(), key=lambda item: item[1])
        why = why.rstrip(". ")
        why = why if len(why) <= _LONGEST_FAILURE else f"{why[:_LONGEST_FAILURE]}…"
        counts: dict[str, float | str] = {"n": n, "most": most, "why": why}
        counts["failed"] = share(n, self.n_samples, "sample")
        counts["rest"] = f"; {n - most:,} failed otherwise" if n > most else ""
        return str(Note("system_gone", counts))

    @property
    def lost_votes(self) -> int:
        """Votes that a panel lost by a failure and had an answer all the same."""
        return 0 if self.judging is None else sum(self.judging.lost_votes.values())

    @property
    def n_missing(self) -> int:
        """Scores that are missing by a failure: `incomplete` without votes."""
        return self.incomplete - self.lost_votes

    @property
    def is_empty(self) -> bool:
        """Whether nothing was scored."""
        return not any(metric.n_scored for metric in self.metrics.values())

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values, ready for strict JSON."""
        return asdict(self) | {"warnings": list(self.warnings)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Summary:
        """The summary that `to_json` wrote; fields that this version does not know are left out."""
        from pydantic import TypeAdapter

        sentences, facts = data.get("warnings", ()), data.get("notes", ())
        notes = [Note(**{**fact, "names": tuple(fact["names"])}) for fact in facts]
        if len(notes) != len(sentences):  # an older run
            notes = [Note("text", {"text": sentence}, severity="warning") for sentence in sentences]
        return TypeAdapter(cls).validate_python({**data, "notes": notes})


def is_incomplete(*summaries: Summary) -> bool:
    """Whether nothing could be scored, or something went unscored that should not have, or the
    recorded answers named as the judge answer fewer than half of the questions."""
    metrics = [metric for summary in summaries for metric in summary.metrics.values()]
    judges = [summary.judging for summary in summaries if summary.judging is not None]
    return (
        not any(metric.n_scored for metric in metrics)
        or any(2 * j.failures.get(Reason.MISSING_INPUT, 0) > j.questions for j in judges)
        or any(summary.incomplete for summary in summaries)
    )


FAILURES = ("questions_unanswered", "votes_lost", "answers_in_part", "texts_without_vector")
"""The kinds of notes that say why scores are missing."""


def missing_by_failure(*summaries: Summary) -> str:
    """The numbers of scores and votes that runs lack by a failure, in words without a full stop;
    empty where they lack nothing. Votes that a panel lost are no scores: there is an answer."""
    n = sum(summary.n_missing for summary in summaries)
    missing = [plural(n, "score")] if n else []
    for summary in summaries:
        if summary.judging and (lost := summary.lost_votes):
            votes, n = summary.judging.votes, n + lost  # older versions do not count them
            said = share(lost, votes, "vote") if votes else plural(lost, "vote")
            missing.append(f"{said} of the panel")
    return f"{' and '.join(missing)} {either(n, 'is', 'are')} missing" if missing else ""


def left_out(summary: Summary, used: Sequence[str]) -> list[str]:
    """The metrics beside the headline of their suite, where all of the suite were computed."""
    by_canonical = {metric.metric: name for name, metric in summary.metrics.items()}
    shown: set[str] = set()
    own_metrics: dict[str, None] = {}
    for suite in filter(None, map(suites.all_suites().get, used)):
        own = [str(metric) for metric in suite.resolve()]
        if suite.headline and by_canonical.keys() >= set(own):
            own_metrics |= dict.fromkeys(own)
            shown.update(suite.headline)
        else:
            shown.update(own)
    return [by_canonical[own_metric] for own_metric in own_metrics if own_metric not in shown]


def shown(
    wanted: str | Sequence[str],
    metrics: Mapping[str, str],
    used: Iterable[str],
    what: str,
    listed: str = "'ragassay report RUN' lists them",
    write: str | None = "{}",
) -> list[str]:
    """The shown names of ``wanted``, each once; ``write``: how to name one that is reversed,
    ``None`` where nothing is said of its values."""
    known = (suites.get(name) for name in used if name in suites.all_suites())
    local = {**suites.general_aliases(), **suites.aliases_of(known)}
    by_canonical = {canonical: name for name, canonical in metrics.items()}
    by_folded = {name.casefold(): name for name in reversed(list(metrics))}
    names: dict[str, None] = {}
    for word in naming.split(wanted):
        name = word if word in metrics else by_folded.get(word.casefold())
        if name is not None:
            names.setdefault(name)
            continue
        peer = suites.peer_of(word, local)
        # A condition on a metric that is low where ours is high would mean the opposite.
        ours = peer.ours if peer and not (peer.reversed and write) else word
        meant = naming.known(ours, local)
        existing = [by_canonical[str(metric)] for metric in meant if str(metric) in by_canonical]
        existing = existing or [ours] * (ours in metrics)
        if not existing:
            alike = [name for name in metrics if word.casefold() in re.split("[_.@(]", name)]
            near = did_you_mean(word, alike[:1], at_least=0) or did_you_mean(word, metrics)
            run = f"Add {word} to the metrics of the run." if meant else ""
            near = f"{near} {run}".strip() or suites.advice_on(word)
            near += f" Write {write.format(peer.ours)}." if peer and peer.reversed and write else ""
            few = f"There are: {', '.join(metrics)}."
            there = few if len(metrics) <= _MOST else f"There are {len(metrics)}; {listed}."
            raise UsageError(f"{word!r} is not in {what}. {near} {there}")
        names.update(dict.fromkeys(existing))
    return list(names)


_MOST = 20
"""Most names that an error lists; of more it has only the nearest."""


GEOMETRIC_FLOOR = 1e-5
"""Zeros count as this in a geometric mean (trec_eval's MIN_GEO_MEAN)."""


def describe(name: str, metric: Metric, level: float, **more: Any) -> MetricSummary:
    """The summary of a metric that has no scores yet; ``more`` are other fields of it."""
    return MetricSummary(
        name=name,
        title=metric.about,
        family=metric.family,
        level=level,
        aggregate=metric.aggregate,
        higher_is_better=metric.higher_is_better,
        bounds=(metric.low, metric.high),
        metric=str(metric),
        **({"signature": metric.signature} | more),
    )


def summarise(
    columns: ScoreColumns,
    metrics: Sequence[MetricSummary],
    method: str = "auto",
    part: tuple[Mask, NDArray[np.int64] | None] | None = None,
) -> tuple[dict[str, MetricSummary], tuple[str, ...]]:
    """The metrics with their numbers, by name; and the names of the means whose scores are nearly
    all so close to one end of the range that the interval may be too narrow. ``method`` is that of
    intervals (`ragassay.stats.intervals`), whose level each metric has; ``part`` says which samples
    count, with their clusters (`sample_clusters`); all do without it."""
    mask, clusters = part or (np.ones(len(columns), dtype=np.bool_), sample_clusters(columns))
    found, crowded = {}, []
    for metric in metrics:
        name = metric.name
        chosen = columns.averaged(name, mask)
        values = columns.values(name)[chosen]
        own_clusters = None if clusters is None else clusters[chosen]
        interval = interval_of(metric, values, own_clusters, method)
        if interval.crowded and metric.aggregate == "mean":
            crowded.append(name)
        tally = columns.tally(name, mask)
        measured = values[columns.measured(name)[chosen]] if tally.n_assumed else values[:0]
        found[name] = replace(
            metric,
            mean=interval.mean,
            low=interval.low,
            high=interval.high,
            interval=interval.method if interval.low is not None else "none",
            n_scored=tally.n_scored,
            n_total=int(mask.sum()),
            n_clusters=interval.n_clusters,
            std=float(values.std(ddof=1)) if values.size > 1 else None,
            median=float(np.median(values)) if values.size else None,
            minimum=float(values.min()) if values.size else None,
            maximum=float(values.max()) if values.size else None,
            unscored=tally.reasons,
            lacking=tally.lacking,
            labels=tally.labels,
            n_assumed=tally.n_assumed,
            mean_measured=float(measured.mean()) if measured.size else None,
            n_given=tally.n_given,
            judges=tally.judges,
            judge=label_of(tally.judges) if tally.judges else metric.judge,
            language=metric.language if tally.judges or metric.judge else "",
        )
    return found, tuple(crowded)


def slice_summaries(
    columns: ScoreColumns, metrics: Sequence[MetricSummary], method: str = "auto"
) -> tuple[Slice, ...]:
    """The metrics with their numbers for each value of each slicing column, largest slice first.

    A sample with several labels in a column (a list) is in the slice of each."""
    clusters, slices = sample_clusters(columns), []
    metrics = [m for m in metrics if m.aggregate == "mean" or m.percentile is not None]
    for column, labels in columns.slices.items():
        counts = Counter(label for each in labels for label in each)
        for value, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            mask = np.fromiter((value in each for each in labels), np.bool_, len(labels))
            chosen, _ = summarise(columns, metrics, method, (mask, clusters))
            slices.append(Slice(column, value, n, chosen))
    return tuple(slices)


def facts_of(
    columns: ScoreColumns, metrics: Sequence[MetricSummary], method: str, cluster_by: str | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The fields of a `Summary` that its columns give, and the crowded means (see `summarise`)."""
    found, crowded = summarise(columns, metrics, method)
    n, n_queries = len(columns), len({query for query, _, _ in columns.identities})
    queries = plural(n_queries, "query")
    over = queries if n == n_queries else f"{n:,} samples of {queries}"
    if cluster_by is not None:
        over += f", by {cluster_by}"
    elif n != n_queries:
        over += ", by query"
    unscored = (item for metric in found.values() for item in metric.unscored.items())
    # The same for a set of queries, whatever their order and however often each was asked.
    asked = b"".join(number.to_bytes(8, "big") for number in sorted(set(columns.asked)))
    return {
        "n_samples": n,
        "n_queries": n_queries,
        "averaged_over": over,
        "metrics": found,
        "incomplete": sum(number for reason, number in unscored if Reason(reason).incomplete),
        "fingerprint": hashlib.sha256(asked).hexdigest()[:16] if asked else "",
    }, crowded


def sample_clusters(columns: ScoreColumns) -> NDArray[np.int64] | None:
    """Each sample's cluster as a number, or ``None`` when samples are independent.

    Samples cluster by the column that was asked for; else by query, where a query occurs more than
    once (repeats of a query are not independent evidence)."""
    keys: Sequence[str] = columns.clusters or [identity[0] for identity in columns.identities]
    codes: Mapping[str, int] = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    if len(codes) == len(keys):
        return None
    return np.fromiter((codes[key] for key in keys), dtype=np.int64, count=len(keys))


def interval_of(
    metric: MetricSummary,
    values: NDArray[np.float64],
    clusters: NDArray[np.int64] | None,
    method: str,
) -> Interval:
    """A metric's aggregate of some values (mean, sum, percentile ...) with its interval.

    A sum has no interval. That of a percentile lies between two of the ordered values, whatever
    method is chosen for means. The interval of a geometric mean is computed on logarithms. Bounds
    are cut at the metric's range, because the true mean lies inside it."""
    floor, ceiling = metric.bounds
    if metric.aggregate == "sum" or not values.size:
        total = float(values.sum()) if values.size else None
        return Interval(total, None, None, metric.level, "none", values.size)
    if metric.aggregate != "mean" and (percentile := metric.percentile) is not None:
        return percentile_interval(values, percentile, level=metric.level, clusters=clusters)
    geometric = metric.aggregate == "geometric"
    if geometric:
        values = np.log(np.maximum(values, GEOMETRIC_FLOOR))
        floor = np.log(GEOMETRIC_FLOOR) if floor == 0.0 else None
        ceiling = None if ceiling is None else float(np.log(ceiling))
    interval = mean_interval(
        values, span=(floor, ceiling), method=method, level=metric.level, clusters=clusters
    )
    mean, (low, high) = interval.mean, cut(interval.low, interval.high, (floor, ceiling))
    if geometric:
        mean, low, high = (None if x is None else float(np.exp(x)) for x in (mean, low, high))
    return replace(interval, mean=mean, low=low, high=high)


def cut(low: float | None, high: float | None, span: Span) -> Bounds:
    """The bounds, cut at the ends of a metric's range, where there are any."""
    floor, ceiling = span
    return (
        low if low is None or floor is None else max(low, floor),
        high if high is None or ceiling is None else min(high, ceiling),
    )


def totals(suites: Iterable[Suite], metrics: Iterable[MetricSummary]) -> dict[str, float]:
    """The totals of the suites, by name.

    A total is left out where one of its metrics was not computed, or lacks samples for a reason
    other than the data: the total would describe other samples than it says."""
    every = {name: total for suite in suites for name, total in suite.totals.items()}
    means = {plain(metric.metric): metric.mean for metric in metrics if lacks_no_sample(metric)}
    return {
        name: total.compute(**{role: means[metric] for role, metric in total.means.items()})
        for name, total in every.items()
        if means.keys() >= set(total.means.values())
    }


def lacks_no_sample(metric: MetricSummary) -> bool:
    """Whether a metric has a mean, and each sample without a score lacks it because of what it or
    the system holds, not because of a judge's failure or a missing model."""
    facts = (Reason.NOT_APPLICABLE, Reason.UNDEFINED)
    return metric.mean is not None and all(
        Reason(text).excused in facts for text in metric.unscored
    )


def plain(name: str) -> str:
    """A metric's name without its parameter ``given``: with and without it is the same metric."""
    if "given=" not in name:
        return name
    return str(naming.with_parameters(naming.parse(name), {"given": True}))
