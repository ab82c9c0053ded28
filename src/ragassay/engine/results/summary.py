"""What a run says as a whole: the values that reports show and ``summary.json`` holds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import ragassay
from ragassay.counts import either, plural, share
from ragassay.engine.results.shown_names import shown
from ragassay.errors import UsageError
from ragassay.stats import Components, is_close

if TYPE_CHECKING:
    from ragassay.engine.results.result import Result
    from ragassay.judges import Usage
    from ragassay.reports import Chart

SCHEMA_VERSION = 1
"""Version of the run folder's contract (docs/run-folder.md)."""

_THRESHOLD = re.compile(r"[<>]=?\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)$")
"""The threshold of a gate."""

_MOST_DIGITS = 15
"""Decimal places of a number at most."""

_LONGEST_FAILURE = 200
"""Characters of what a system said when it failed that a sentence shows."""


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
    ``judges`` says on whom how many values rest, ``record`` where the records do not name them.
    """

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

    def __repr__(self) -> str:
        mean = "no mean" if self.mean is None else f"mean {self.mean:.4f}"
        if self.low is not None:
            mean += f" [{self.low:.4f}, {self.high:.4f}] at {100 * self.level:g} %"
        return f"<{self.name}: {mean}, {self.n_scored}/{self.n_total} scored>"

    @property
    def percentile(self) -> float | None:
        """Which percentile ``mean`` is, in (0, 100); ``None`` where it is none."""
        found = re.fullmatch(r"p(\d+(?:\.\d+)?)", self.aggregate)
        return float(found[1]) if found else None

    @property
    def without_assumed(self) -> str:
        """The mean without values for missing parts, and their number; empty where there are none.

        For example ``4.2000 without 2 for missing parts``, or ``-`` where nothing is left.
        """
        if not self.n_assumed:
            return ""
        mean = "-" if self.mean_measured is None else f"{self.mean_measured:.4f}"
        return f"{mean} without {self.n_assumed:,} for missing parts"


@dataclass(frozen=True, slots=True)
class Spending:
    """What a run asked its judge, and what that cost.

    ``questions`` are distinct; ``calls`` are requests really sent (retries and repairs included,
    what found no connection not), ``cached`` questions that the ledger had. ``cost`` is in US
    dollars, ``unpriced`` the number of calls whose price is not known. ``failures`` counts
    questions without an answer by reason.
    ``in_part`` counts answers that lack a part, by reason.
    ``votes`` counts what was asked of a panel's members, ``lost_votes`` those of them that it went
    without for a passing reason and had an answer all the same, ``disagreed`` the questions on
    which its members did not agree. ``details`` has for each of these reasons what was
    said the first time. ``seconds`` is the run's wall time.
    """

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

    @property
    def by_functions(self) -> bool:
        """Whether all of it was asked of functions in Python that told no tokens: tokens and prices
        mean nothing then."""
        members = re.fullmatch(r"(?:panel\()?(.*?)\)?", self.judge, re.S)
        told = self.input_tokens or self.output_tokens or self.cost
        return not told and all(
            one.startswith("python:") for one in (members[1] if members else "").split(", ")
        )

    @property
    def lost(self) -> str:
        """How many votes a panel went without, of how many: ``11 of 90 votes``."""
        n = sum(self.lost_votes.values())
        # Runs of older versions do not say how many votes there were.
        return share(n, self.votes, "vote") if self.votes else plural(n, "vote")

    @classmethod
    def of(cls, judge: str, signature: str, usage: Usage, seconds: float = 0.0) -> Spending:
        """What was counted while a run went on."""
        counted = dict(vars(usage))
        for name in ("failures", "lost_votes", "in_part"):
            counted[name] = dict(counted[name].most_common())
        counted["details"] = dict(counted["details"])
        counted["cost"] = round(counted["cost"], 6)
        return cls(judge, signature, seconds=round(seconds, 3), **counted)


class Displayed:
    """What prints itself as the command line prints it, and what a notebook shows as HTML."""

    __slots__ = ()

    def __str__(self) -> str:
        return ragassay.reports.text_of(self)

    def _repr_html_(self) -> str:
        return ragassay.reports.html_of(self)


@dataclass(frozen=True, slots=True)
class Slice:
    """The same metrics over the samples that share one metadata value."""

    column: str
    value: str
    n: int
    metrics: Mapping[str, MetricSummary]


@dataclass(frozen=True, slots=True)
class Summary(Displayed):
    """One run.

    ``averaged_over`` says in words what the mean runs over; ``incomplete`` counts scores that are
    missing by accident, and votes that a panel lost by accident (exit code 3). ``judging`` is
    ``None`` where nobody was asked, ``embedding`` (its questions are texts) where no endpoint
    embedded any; ``fingerprint`` names what was asked and expected, ``nuggets`` the nugget bank's
    hash, and ``totals`` are values of the run as a whole that a suite publishes. In the summary of
    a run's consistency, ``variances`` tells of each metric of the run where its variance comes
    from.
    """

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
    warnings: tuple[str, ...] = ()
    judging: Spending | None = None
    embedding: Spending | None = None
    fingerprint: str = ""
    nuggets: str = ""
    totals: Mapping[str, float] = field(default_factory=dict)
    variances: Mapping[str, Components] = field(default_factory=dict)
    schema_version: int = SCHEMA_VERSION

    def __getitem__(self, name: str) -> MetricSummary:
        """The summary of one metric.

        Args:
            name: as it is shown, its canonical name, or an alias of the suites of the run.

        Raises:
            UsageError: the run has no such metric, or the name stands for several.
        """
        known = {one: entry.metric for one, entry in self.metrics.items()}
        found = shown(str(name), known, self.suite.split("+"), "this run", "'metrics' lists them")
        if len(found) != 1:
            raise UsageError(f"{name!r} stands for several metrics: {', '.join(found)}. Name one.")
        return self.metrics[found[0]]

    def __iter__(self) -> Iterator[str]:
        """The names of the metrics, as they are shown."""
        return iter(self.metrics)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """A plain table: metric, mean, interval, how many were scored; then the notes."""
        lines = [f"{self.suite} on {self.title}: mean over {self.averaged_over}"]
        if not self.metrics and self.suite == "consistency":
            lines.append(
                "No metric of single samples: print(result.consistency) shows what was found of "
                "the runs of each query."
            )
        width = max((len(name) for name in ("metric", *self.metrics)), default=0)
        if self.metrics:
            lines.append(f"{'metric':<{width}}  {'mean':>9}  {'interval':<20}  scored")
        for name, m in self.metrics.items():
            mean = "-" if m.mean is None else f"{m.mean:.4f}"
            bounds = "" if m.low is None else f"[{m.low:.4f}, {m.high:.4f}]"
            line = f"{name:<{width}}  {mean:>9}  {bounds:<20}  {m.n_scored}/{m.n_total}"
            beside = [f"{n} {label}" for label, n in m.labels.items()]
            beside += [f"{n} {reason}" for reason, n in m.unscored.items()]
            beside += [m.without_assumed] * bool(m.n_assumed)
            beside += [f"{m.n_given} from the records"] * bool(m.n_given) + [m.judge] * bool(
                m.judge
            )
            lines.append(f"{line}  {', '.join(beside)}".rstrip())
        lines += [f"note: {note}" for note in self.warnings]
        return "\n".join(lines)

    @property
    def all_failed(self) -> str:
        """See `all_failed`."""
        return all_failed(self.failures, self.n_samples)

    @property
    def lost_votes(self) -> int:
        """Votes that a panel lost by accident and had an answer all the same."""
        return 0 if self.judging is None else sum(self.judging.lost_votes.values())

    @property
    def n_missing(self) -> int:
        """Scores that are missing by accident: `incomplete` without votes."""
        return self.incomplete - self.lost_votes

    @property
    def is_empty(self) -> bool:
        """Whether nothing could be scored, because the system gave no answer at all."""
        return bool(self.all_failed) and not any(m.n_scored for m in self.metrics.values())

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values, ready for strict JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Summary:
        """The summary that `to_json` wrote; fields that this version does not know are left out."""
        from pydantic import TypeAdapter

        return TypeAdapter(cls).validate_python(data)


def missing_by_accident(*summaries: Summary) -> str:
    """What runs lack by accident, in words without a full stop; empty where they lack nothing.

    ``2 scores missing by accident and 11 of 90 votes of the panel``. Votes that a panel lost are no
    scores: their questions have an answer.

    Args:
        summaries: of a run and, where there is one, of its consistency.
    """
    n = sum(one.n_missing for one in summaries)
    told = [plural(n, "score")] * bool(n)
    told += [
        f"{one.judging.lost} of the panel" for one in summaries if one.judging and one.lost_votes
    ]
    if not told:
        return ""
    what = f"{' and '.join(told)} missing by accident"
    if n:
        return what
    return f"{what} (no score is missing for that, but with all votes some could be different)"


def all_failed(failures: Mapping[str, int], n_samples: int) -> str:
    """A sentence that says that the system failed for every sample, and what to do; empty where it
    answered one.

    Args:
        failures: samples by what the system said when it failed.
        n_samples: all samples.
    """
    n = sum(failures.values())
    if not n or n < n_samples:
        return ""
    (most, count), *others = sorted(failures.items(), key=lambda one: -one[1])
    words = most.rstrip(". ")
    if len(words) > _LONGEST_FAILURE:
        cut = words[:_LONGEST_FAILURE]
        words = f"{cut.rpartition(' ')[0] or cut[:-1]}…"
    rest = f"; {sum(n for _, n in others):,} failed otherwise" if others else ""
    return (
        f"The system gave no answer: {share(n, n_samples, 'sample')} "
        f"{either(n, 'is a failure', 'are failures')} ({count:,} {words}{rest}). Start or mend the "
        "system, ask it again and evaluate its answers: the same 'ragassay ask' command asks what "
        "is missing."
    )


@dataclass(frozen=True, slots=True)
class GateResult:
    """What a gate found.

    ``value`` is the mean or the one-sided bound that the gate asks about. ``passed`` is ``None``
    when it cannot be decided, and ``why`` says why not: n is too small, nothing was scored,
    ``unscored`` scores are missing that should be there (of two runs, also those of queries that
    the new one lacks). ``which`` is ``mean``, or the bound:
    ``low`` or ``high``, at the confidence level ``level``. ``low`` and ``high`` are the ends
    between which the gate was decided: both one-sided bounds, and what they and the mean are with
    the worst and the best values for missing scores. Of a gate on a drop, ``drop`` is the observed
    one, above 0 for the worse, and ``limit`` the largest that is allowed.
    """

    gate: str
    value: float | None
    passed: bool | None
    unscored: int = 0
    why: str = ""
    which: str = "mean"
    level: float = 0.95
    low: float | None = None
    high: float | None = None
    drop: float | None = None
    limit: float | None = None

    @property
    def drop_bounds(self) -> tuple[float | None, float | None]:
        """Of a gate on a drop: ``low`` and ``high`` as bounds of it, above 0 for the worse."""
        if self.which == "high":  # lower is better: the difference is the drop
            return self.low, self.high
        low, high = (None if one is None else 0.0 - one for one in (self.high, self.low))
        return low, high

    @property
    def sentence(self) -> str:
        """One line for the terminal."""
        state = {True: "passed", False: "FAILED", None: "undecided"}[self.passed]
        facts = []
        ends = ""
        low, high = (self.low, self.high) if self.limit is None else self.drop_bounds
        if low is not None and high is not None:
            ends = f"{self.spelled(low)} and {self.spelled(high)}"
        if self.limit is not None and self.drop is not None:
            if self.drop < 0.0:
                facts.append(
                    f"a gain of {-self.drop:.4f} where a drop of {self.limit:g} is allowed"
                )
            else:
                facts.append(f"a drop of {self.spelled(self.drop)} where {self.limit:g} is allowed")
        if self.which == "mean" and self.value is not None:
            between = f", between {ends} with the missing scores" if ends else ""
            facts.append(f"mean {self.spelled(self.value)}{between}")
        elif ends:
            owed = " with the worst and the best values for missing scores" * bool(self.unscored)
            of = " of the drop" * (self.limit is not None)
            facts.append(f"one-sided {100 * self.level:.4g} % bounds{of} {ends}{owed}")
        facts += [self.why] * bool(self.why)
        return f"gate {self.gate}: {', '.join([state, *['; '.join(facts)] * bool(facts)])}"

    def spelled(self, value: float) -> str:
        """A value with four digits, or with as many as show on which side of the gate's threshold
        it lies: 0.69996 is not 0.7."""
        found = _THRESHOLD.search(self.gate)
        # A drop of 0.02 is a change by -0.02.
        threshold = math.copysign(float(found[1]), value) if found else value
        digits = 4
        if not is_close(value, threshold):
            while digits < _MOST_DIGITS and f"{value:.{digits}f}" == f"{threshold:.{digits}f}":
                digits += 1
        return f"{value:.{digits}f}"

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        return asdict(self)


Standing = Literal["tested", "exploratory", "indicative", "not comparable"]
"""``tested``: its verdict counts. ``exploratory``: not among the primary metrics. ``indicative``:
judged offline, and nobody showed that these judgments agree with people. ``not comparable``: the
two runs did not compute it alike."""

Verdict = Literal[
    "better",
    "worse",
    "different",
    "no difference shown",
    "unknown",
    "indicative",
    "exploratory",
    "not comparable",
]


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric of a comparison: A is the new system, B the old one (UltraRAG's letters).

    ``p_value`` is the two-sided paired sign-flip test's, ``significant`` says raw p < 0.05,
    ``p_adjusted`` and ``significant_adjusted`` are after the correction across the tested metrics.
    ``low`` and ``high`` bound the difference at ``level``, the one that the correction leaves this
    metric, so that they exclude 0 exactly where the difference is significant after it; ``least``
    and ``most`` are one-sided bounds at the comparison's own level, uncorrected.
    ``too_few`` says that so few queries (or clusters) cannot reach the level of the test, whatever
    their differences.
    ``detectable`` is the smallest true difference that a t-test of ``n`` queries with this spread
    would have found with 80 % power at the comparison's own level (5 % where that is 95 %),
    uncorrected. What could not be computed is ``None``.

    ``standing`` says whether the verdict counts: ``tested``, or ``exploratory`` (not among the
    primary metrics), ``indicative`` (judged offline, without known agreement with people) or ``not
    comparable`` (the runs did not compute it alike); ``why`` explains the last two, or says how far
    the judge is known to agree with people.
    """

    name: str
    a_mean: float | None
    b_mean: float | None
    diff: float | None
    low: float | None
    high: float | None
    p_value: float | None
    significant: bool | None
    p_adjusted: float | None
    significant_adjusted: bool | None
    t_p_value: float | None
    cohens_d: float | None
    detectable: float | None
    n: int
    wins: int
    losses: int
    ties: int
    higher_is_better: bool | None = True
    level: float = 0.95
    interval: str = ""
    least: float | None = None
    most: float | None = None
    too_few: bool = False
    standing: Standing = "tested"
    why: str = ""

    @property
    def verdict(self) -> Verdict:
        """The corrected test in words, seen from A; where it does not count, why not."""
        if self.diff is None:
            return "unknown"
        if self.standing != "tested":
            return self.standing
        if self.significant_adjusted is None:
            return "unknown"
        if not self.significant_adjusted:
            return "no difference shown"
        return self._direction

    @property
    def seems_worse(self) -> bool:
        """Whether the means alone say that A is worse."""
        return bool(self.diff) and self._direction == "worse"

    @property
    def suspected(self) -> bool:
        """Whether its own uncorrected test says that A is worse, whatever its standing."""
        return bool(self.significant) and self.seems_worse

    @property
    def _direction(self) -> Verdict:
        if self.higher_is_better is None or self.diff is None:
            return "different"
        return "better" if (self.diff > 0) == self.higher_is_better else "worse"


@dataclass(frozen=True, slots=True)
class Comparison(Displayed):
    """Two runs on the same queries.

    ``only_a`` and ``only_b`` count queries that the other run lacks; they are not compared.
    ``clustered_by`` names what belongs together in the test and the intervals (a conversation), and
    ``n_clusters`` says how many of them there are; both are ``None`` when queries stand alone.
    ``judged_by`` names the judge of both runs, or both judges; empty where nobody was asked.
    ``metrics_only_a`` and ``metrics_only_b`` are metrics that the other run lacks, where none were
    asked for by name. ``primary`` are the metrics that were named as the ones to test, ``gates``
    what was found of the largest drops allowed. ``1 - level`` is the level of the tests together.
    ``runs`` are both results, for pictures.
    """

    a: str
    b: str
    differences: tuple[Difference, ...]
    n_common: int
    only_a: int
    only_b: int
    n_resamples: int
    seed: int
    level: float
    correction: str
    interval: str
    warnings: tuple[str, ...] = ()
    clustered_by: str | None = None
    n_clusters: int | None = None
    judged_by: str = ""
    metrics_only_a: tuple[str, ...] = ()
    metrics_only_b: tuple[str, ...] = ()
    primary: tuple[str, ...] = ()
    gates: tuple[GateResult, ...] = ()
    runs: tuple[Result, Result] | None = field(default=None, compare=False)

    @property
    def with_scores(self) -> tuple[Difference, ...]:
        """The metrics of which both runs scored some query: what a table has rows of."""
        return tuple(d for d in self.differences if d.a_mean is not None or d.b_mean is not None)

    def __repr__(self) -> str:
        return str(self)

    def plot(self) -> Chart:
        """A picture of the differences with their intervals, and of those of each query; a notebook
        shows it, and ``save`` writes it to a file.

        Raises:
            UsageError: the comparison does not hold its runs.
        """
        return ragassay.reports.plot_of(self)

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values; UltraRAG's field names stand beside ours."""
        body = asdict(replace(self, runs=None))
        del body["runs"]
        body["differences"] = [
            {
                **asdict(d),
                "verdict": d.verdict,
                "A_mean": d.a_mean,
                "B_mean": d.b_mean,
                "Diff(A-B)": d.diff,
            }
            for d in self.differences
        ]
        return body
