"""Gates on one run (``--fail-under 'em>=0.6'``) and on two: ``--fail-if-drop 'nDCG@10>0.03'``,
which passes where such a drop is excluded (non-inferiority), and ``--fail-if-worse``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ragassay import suites
from ragassay.base.errors import UsageError
from ragassay.base.note import Note
from ragassay.base.printable import grouped
from ragassay.engine.comparison.derived_runs import aligned, shown_queries
from ragassay.engine.comparison.differences import MatchedRuns
from ragassay.engine.comparison.offline_agreement import judge_agreement
from ragassay.engine.results.comparison_result import Comparison, GateResult
from ragassay.engine.results.result import Result
from ragassay.engine.results.score_columns import ScoreColumns
from ragassay.engine.results.summary import MetricSummary, interval_of, sample_clusters, shown
from ragassay.engine.results.verdict import Difference
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Metric, reached
from ragassay.stats.intervals import Interval, Span, alpha_of, check_one_sided, is_close, one_sided
from ragassay.stats.paired import PairedResult

if TYPE_CHECKING:
    from ragassay.engine.config.metric_selection import MetricSelection
    from ragassay.engine.config.run_config import RunConfig

_OPERATORS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
"""A decimal number without a sign, as a regular expression."""

_FORM = re.compile(rf"^(?P<left>.+?)\s*(?P<op>>=|<=|>|<)\s*(?P<threshold>[-+]?{NUMBER})$")
_BOUND = re.compile(r"^(?P<which>mean|low|high)\((?P<name>.+)\)$")


@dataclass(frozen=True)
class Gate:
    """A condition on a metric's ``mean``, or on a one-sided bound of its true mean: ``low`` (it is
    at least ...) or ``high`` (at most ...)."""

    metric: str
    which: Literal["mean", "low", "high"]
    op: str
    threshold: float

    @property
    def at_least(self) -> bool:
        """Whether large values pass."""
        return self.op.startswith(">")

    def holds(self, value: float) -> bool:
        """Whether a value fulfils the condition. One that equals the threshold up to rounding does
        as the threshold itself does: the mean of 0.7, 0.7 and 0.7 is 0.6999999999999998."""
        if is_close(value, self.threshold):
            return self.op.endswith("=")
        return bool(_OPERATORS[self.op](value, self.threshold))

    def decision(self, found: Interval) -> bool | None:
        """Whether the gate passes (``None``: undecided) by a mean, or by the one-sided bounds of
        the true mean: it passes where the bound that it asks about holds, and fails where the other
        one excludes it."""
        near, far = getattr(found, self.which), found.high if self.which == "low" else found.low
        if self.which == "mean":
            return None if near is None else self.holds(near)
        if near is not None and self.holds(near):
            return True
        return None if far is None or self.holds(far) else False

    def __str__(self) -> str:
        left = self.metric if self.which == "mean" else f"{self.which}({self.metric})"
        return f"{left}{self.op}{_number(self.threshold)}"


def parse(text: str, what: str = "--fail-under") -> Gate:
    """The gate that ``text`` describes."""
    match = _FORM.match(text.strip())
    if match is None or match["left"][-1] in "=<>!≥≤":
        raise UsageError(
            f"{what} {text!r} is not a condition. Write METRIC>=VALUE, low(METRIC)>=VALUE for "
            "the lower bound of the true mean, or high(METRIC)<=VALUE for the upper one, as in "
            "'token_f1.f>=0.6'."
        )
    bounded = _BOUND.match(match["left"])
    which, name = (bounded["which"], bounded["name"]) if bounded else ("mean", match["left"])
    gate = Gate(name, which, match["op"], float(match["threshold"]))  # type: ignore[arg-type]
    if gate.which != "mean" and gate.at_least != (gate.which == "low"):
        right = str(replace(gate, which="low" if gate.at_least else "high"))
        raise UsageError(
            f"{what} {text!r}: a gate on a bound asks for low(METRIC)>=VALUE or "
            f"high(METRIC)<=VALUE. Write {right!r}."
        )
    return gate


def resolve(
    texts: Sequence[str], metrics: Mapping[str, tuple[str, Span]], used: Sequence[str], level: float
) -> list[Gate]:
    """The gates that texts describe (see `parse`), each metric under the name that the run shows it
    by. ``metrics`` has the canonical name and the range of each shown one; the aliases of the
    suites ``used`` hold. A `UsageError` where a metric is not computed, a value lies outside of
    its range, or the ``level`` of intervals is too low for a one-sided bound."""
    gates, canonical = [], {name: metric for name, (metric, _) in metrics.items()}
    for text in texts:
        gate = parse(text)
        form = {"mean": "{}", "low": "high({})", "high": "low({})"}[gate.which]
        turned = f"'{form}{'<=' if gate.at_least else '>='}VALUE'"
        where = "what this run computes", "--dry-run lists them", turned
        for name in shown([gate.metric], canonical, used, *where):
            low, high = metrics[name][1]
            least, most = -np.inf if low is None else low, np.inf if high is None else high
            if not least <= gate.threshold <= most:
                ends = ("any value" if end is None else f"{end:g}" for end in (low, high))
                raise UsageError(
                    f"--fail-under {text!r}: {_number(gate.threshold)} is not a value of {name}, "
                    f"which runs from {' to '.join(ends)}."
                )
            gates.append(replace(gate, metric=name))
    if any(gate.which != "mean" for gate in gates):
        check_one_sided(level)
    return gates


def computed(names: Iterable[str], *, judge: bool) -> list[Metric]:
    """The metrics in gates that need no model or repeated runs, and a judge only where an LLM is
    one: a run computes them, too."""
    allowed = {"arithmetic", "judge"} if judge else {"arithmetic"}
    peers = ((name, suites.peer_of(name, {})) for name in names)
    ours = (peer.ours if peer and not peer.reversed else name for name, peer in peers)
    named = [metric for name in ours for metric in naming.known(name)]
    single = (metric for metric in named if "runs" not in metric.needs)
    return [m for m in single if {part.kind for part in reached([m])} <= allowed]


def check(config: RunConfig, selection: MetricSelection) -> None:
    """Refuses gates of a configuration that no run of it could decide."""
    metrics = {name: (str(m), (m.low, m.high)) for name, m in selection.every.items()}
    resolve(config.fail_under, metrics, [suite.name for suite in selection.suites], config.level)


def results_of(
    result: Result, texts: Sequence[str] | None = None, *, trust_offline: bool = False
) -> tuple[GateResult, ...]:
    """The results of the gates on a finished run: of ``texts`` (see `parse`), or of those that the
    run names. ``trust_offline`` lets any offline judgment decide, as the run's own option does."""
    if texts is None and result.gates:
        return result.gates
    config = result.config
    asked = config.get("fail_under") or () if texts is None else texts
    every = (item for step in result.steps for item in step.summary.metrics.items())
    metrics = {name: (metric.metric, metric.bounds) for name, metric in every}
    resolved = resolve(asked, metrics, config.get("suite") or (), config.get("level", 0.95))
    method = config.get("interval", "auto")
    trusted = trust_offline or bool(config.get("trust_offline"))
    return tuple(
        decide(gate, step.summary.metrics[gate.metric], step.columns, method, trusted)
        for step in result.steps
        for gate in resolved
        if gate.metric in step.summary.metrics
    )


def _number(value: float) -> str:
    """A number in all its digits, without a needless ".0"."""
    return f"{value:.0f}" if value.is_integer() else repr(value)


def decide(
    gate: Gate,
    metric: MetricSummary,
    columns: ScoreColumns,
    method: str = "auto",
    trust_offline: bool = False,
) -> GateResult:
    """Whether a gate on a metric passes.

    A gate is neither passed nor failed by leaving samples unscored: where scores are owed, it is
    decided only where the worst and the best possible values decide alike. A gate on a metric whose
    offline judgments are not known to agree with people is undecided."""
    owed = columns.owed(metric.name)
    n_owed = int(owed.sum())
    observed = _interval(gate, metric, columns, method)
    n, of = metric.n_scored, metric.n_total
    facts = GateResult(
        str(gate), None, None, n_owed, _said("scored", n=n, of=of) if n + n_owed < of else "",
        which=gate.which, level=metric.level, metrics=(metric.name,), threshold=gate.threshold,
    )  # fmt: skip
    if observed.mean is None:
        return replace(facts, why=_said("not_measured" if metric.n_scored else "not_scored"))
    if getattr(observed, gate.which) is None:
        return replace(facts, why=_said("no_interval"))
    # With scores owed: what would have been found had they all been the lowest, and the highest.
    possible, counted, refused = [observed], "", ""
    if n_owed:
        ends = [end for end in metric.bounds if end is not None]
        # Where a score may be anything, nothing is certain.
        closed = metric.aggregate == "mean" and len(ends) == 2
        possible = [_interval(gate, metric, columns, method, end) for end in ends if closed]
        reasons = columns.tally(metric.name, owed).reasons.items()
        why = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in reasons)
        counted = _said("count_at_ends", n=n_owed, why=why)
    judged = judge_agreement(metric)
    if judged is not None and judged.indicative and not trust_offline:
        refused = _said("trust_decides", why=str(judged.note).rstrip("."))
    return conclude(gate, facts, observed, possible, counted, refused)


def _said(kind: str, **counts: float | str) -> str:
    """Why a gate is decided or not, in the words of a note."""
    return str(Note(f"gate_{kind}", counts))


def conclude(
    gate: Gate,
    facts: GateResult,
    observed: Interval,
    possible: Sequence[Interval],
    owed: str,
    refused: str = "",
) -> GateResult:
    """The result of a gate: by what was observed, and by what may be true with the worst and the
    best values for owed scores."""
    decisions = {gate.decision(interval) for interval in possible}
    passed, why = (decisions.pop() if len(decisions) == 1 else None), refused
    if passed is None and not refused and (not owed or gate.decision(observed) is None):
        why = _said("too_few_samples")
    low, high = None, None
    if gate.which != "mean" or owed:
        of_low, of_high = ("mean", "mean") if gate.which == "mean" else ("low", "high")
        lows, highs = ([getattr(interval, of) for interval in possible] for of in (of_low, of_high))
        low = min((end for end in lows if end is not None), default=None)
        high = max((end for end in highs if end is not None), default=None)
    return replace(
        facts,
        value=getattr(observed, gate.which),
        passed=None if refused else passed,
        why="; ".join(filter(None, (facts.why, why, owed))),
        low=low,
        high=high,
    )


def _interval(
    gate: Gate, metric: MetricSummary, columns: ScoreColumns, method: str, owed: float | None = None
) -> Interval:
    """The mean that a gate is decided by, and the one-sided bounds of the true mean; ``owed`` takes
    the place of each score that is owed, where given."""
    chosen = columns.averaged(metric.name)
    values = columns.values(metric.name)
    if owed is not None:
        values = np.where(chosen, values, owed)
        chosen = chosen | columns.owed(metric.name)
    clusters = sample_clusters(columns)
    clusters = None if clusters is None else clusters[chosen]
    if gate.which != "mean":
        metric = replace(metric, level=one_sided(metric.level))
    return interval_of(metric, values[chosen], clusters, method)


_DROP = re.compile(rf"^(?P<metric>.*?[^\s=<>])\s*>\s*(?P<size>{NUMBER})$")


def resolve_drops(
    texts: str | Sequence[str],
    named: Callable[[str], Sequence[str]],
    metrics: Mapping[str, MetricSummary],
) -> list[Gate]:
    """The gates that texts (``METRIC>SIZE``) describe, each metric under the name that it is
    compared by: ``named`` gives the compared metrics that a name means, ``metrics`` are all of
    them. A `UsageError` where a metric has no better direction, or a margin is wider than its
    range."""
    gates = []
    for text in [texts] if isinstance(texts, str) else texts:
        match = _DROP.match(text.strip())
        if match is None or not float(match["size"]) > 0.0:
            raise UsageError(
                f"--fail-if-drop {text!r} is not a margin. Write METRIC>SIZE, with a size above 0, "
                "as in 'nDCG@10>0.03': a larger drop fails."
            )
        size = float(match["size"])
        for name in named(match["metric"]):
            low, high = metrics[name].bounds
            if metrics[name].higher_is_better is None:
                raise UsageError(
                    f"--fail-if-drop {text!r}: neither direction of {name} is better, so it cannot "
                    "drop."
                )
            if low is not None and high is not None and size > high - low:
                raise UsageError(
                    f"--fail-if-drop {text!r}: no two values of {name} are {size:g} apart; "
                    f"it runs from {low:g} to {high:g}."
                )
            falls = metrics[name].higher_is_better is False
            gates.append(
                Gate(name, "high", "<=", size) if falls else Gate(name, "low", ">=", -size)
            )
    return gates


def missing(n_owed: int, n_lacking: int) -> tuple[str, str]:
    """What is missing, empty where nothing is; and what to do about queries that are. ``n_owed``
    counts scores that one run lacks (`MatchedRuns.n_owed`), ``n_lacking`` queries of B that A
    lacks."""
    facts = [_said("scores_owed", n=n_owed)] if n_owed else []
    facts += [_said("queries_lacking", n=n_lacking)] if n_lacking else []
    return " and ".join(facts), _said("of_same_queries") if n_lacking else ""


def decide_drop(
    gate: Gate, difference: Difference, matched: MatchedRuns, options: dict[str, Any]
) -> GateResult:
    """Whether a drop beyond the margin is excluded (passed), shown (failed), or neither.

    The gate rests on the one-sided bounds of the difference, whose level no other metric changes.
    Where one run lacks scores, for whatever reason, it is decided only if the worst and the best
    possible values give the same decision; where A lacks queries of B, only if they do with the
    worst values for these."""
    falls = gate.which == "high"

    def bounds(test: PairedResult) -> Interval:
        # On the side of the drop those that hold although queries that differ were not drawn.
        ends = (test.least, test.safe_most) if falls else (test.safe_least, test.most)
        return Interval(test.diff, *ends, options["level"], "", test.n)

    n_owed = matched.n_owed(gate.metric)
    lacking = matched.lacking([gate.metric])
    why, advice = missing(n_owed, len(lacking))
    observed, owed, refused = bounds(difference), why, ""
    possible = [observed]
    if difference.standing in ("indicative", "not comparable"):
        refused, owed, possible = str(difference.why).rstrip("."), "", []
        if difference.standing == "indicative":
            refused = _said("trust_decides", why=refused)
    elif difference.n < 2:
        refused, owed = _said("fewer_than_two"), ""
    elif why:
        # Queries that A lacks do not save it from a drop that is shown without them.
        ends = (False, True) if n_owed else ()
        tests = [matched.at_worst(gate.metric, options, best=best) for best in ends]
        tests += [matched.at_worst(gate.metric, options, lacking)] if lacking else []
        possible = [bounds(test) for test in tests if test is not None]
        possible += [] if n_owed else [observed]
        if None in tests:
            refused, owed = _said("any_value", why=why, advice=advice), ""
    size = abs(gate.threshold)
    drop = difference.diff if falls or difference.diff is None else 0.0 - difference.diff
    facts = GateResult(
        f"no drop {gate.metric}>{size:g}", None, None, n_owed + len(lacking), which=gate.which,
        level=options["level"], drop=drop, limit=size, metrics=(gate.metric,),
        threshold=gate.threshold,
    )  # fmt: skip
    result = conclude(gate, facts, observed, possible, owed, refused)
    if result.passed is None and owed:
        return replace(result, why=f"{result.why}{advice}")
    seen = difference.most if falls else difference.least
    if result.passed is None and not (owed or refused) and seen is not None and gate.holds(seen):
        few = _said("too_few_for_drop", n=difference.n, differ=difference.n_differ)
        end = abs((observed.high if falls else observed.low) or np.inf)
        if np.isfinite(end):
            unit = 10.0 ** np.floor(np.log10(end) - 1)  # two digits, rounded up
            few += _said("least_margin", margin=f"{np.ceil(end / unit) * unit:.6g}")
        return replace(result, why=few)
    return result


NOT_WORSE = "--fail-if-worse"
"""The gate on all tested metrics."""


def worst_queries(comparison: Comparison, gate: GateResult, most: int) -> list[str]:
    """The queries that fare worst against the old run in the metrics of a gate, a line each; at
    most so many of each metric."""
    if comparison.runs is None:
        return []
    new, old = comparison.runs
    differences = [d for d in comparison.differences if d.name in gate.metrics]
    matched = MatchedRuns.of(new, aligned(old, new))
    (a, mask_a), (b, mask_b) = matched.scores([d.name for d in differences])
    names, change, lines = shown_queries(new, matched.queries), comparison.change, list[str]()
    if change is not None and change.right is not None and change.right.name in gate.metrics:
        broken = [(query, fault.replace("_", " ")) for query, fault in change.broken[:most]]
        lines = [f"{names[query]}: {change.words[0]} ({fault})" for query, fault in broken]
    for at, d in enumerate(differences):
        gain = (a[at] - b[at]) * (-1 if d.higher_is_better is False else 1)
        worst = [k for k in gain.argsort(kind="stable") if mask_a[at, k] and mask_b[at, k]]
        lines += [
            f"{names[matched.queries[k]]}: {d.name} {a[at, k]:.4f}, before {b[at, k]:.4f}"
            for k in worst[:most]
            if gain[k] < 0
        ]
    return lines


def with_not_worse(comparison: Comparison) -> Comparison:
    """The comparison with the gate that no tested metric is worse, and right answers are not, where
    they were looked at: undecided where worse could not have been shown, or may be hidden by what
    is missing."""
    differences = comparison.findings
    passed, why, unscored = None, _said("no_verdict"), 0
    if metrics := [d for d in differences if d.verdict == "worse"]:
        passed, why = False, _said("worse", metrics=_names(metrics))
    elif metrics := [d for d in differences if d.doubtful and d.hint == "worse"]:
        why = _said("hint_of_worse", metrics=_names(metrics))
    elif metrics := [
        d
        for d in differences
        if d.p_adjusted is not None and d.too_few and d.diff and d.direction == "worse"
    ]:
        why = _said("too_few_for_worse", metrics=_names(metrics))
    elif metrics := [d for d in differences if d.hint == "worse"]:
        why = _said("offline_worse", metrics=_names(metrics))
    elif hidden := _hidden(comparison):
        metrics, why, unscored = hidden
    elif only_old := comparison.metrics_only_b:
        why = _said("only_old_has", metrics=", ".join(only_old))
    elif tested := [d for d in differences if d.p_adjusted is not None and not d.doubtful]:
        words = {"better": "better", "different": ""}  # what has no better direction does not drop
        by_word = grouped((words.get(d.verdict, "not_worse"), d) for d in tested)
        said = (_said(word, metrics=_names(by_word[word])) for word in sorted(by_word) if word)
        passed, why = True, "; ".join(said)
        sizes = [d for d in by_word.get("not_worse", ()) if d.detectable is not None]
        for d in sorted(sizes, key=lambda d: _share_of_scale(d, comparison))[-1:]:
            why += _said("may_not_show", metric=d.name, size=f"{d.detectable:.2g}")
        fallen = (note for note in comparison.brought if note.kind.endswith("_fell"))
        why += "".join(str(replace(note, kind="gate_but_fell")) for note in fallen)
    names = tuple(d.name for d in metrics)
    gate = GateResult(NOT_WORSE, None, passed, unscored, why, metrics=names)
    return replace(comparison, gates=(*comparison.gates, gate))


def _share_of_scale(d: Difference, comparison: Comparison) -> float:
    """What could be shown of a metric as a share of its scale, or of its mean."""
    metric = comparison.runs and comparison.runs[0].summary.metrics.get(d.name)
    low, high = metric.bounds if metric else (0.0, 1.0)
    size = abs(d.b_mean or 1.0) if low is None or high is None else high - low
    return (d.detectable or 0.0) / size


def _names(metrics: Sequence[Difference]) -> str:
    return ", ".join(d.name for d in metrics)


def _hidden(comparison: Comparison) -> tuple[list[Difference], str, int] | None:
    """The metrics that could be worse by what is missing (`MatchedRuns.at_worst`), or where
    too few queries could tell; with a sentence on what is missing, and how many scores and queries
    are. ``None`` where none could be."""
    tested = [
        d for d in comparison.differences
        if d.standing in ("tested", "indicative") and d.higher_is_better is not None
    ]  # fmt: skip
    if comparison.runs is None or not tested:
        return None
    a, b = comparison.runs
    matched = MatchedRuns.of(a, aligned(b, a))
    names = ("n_resamples", "seed", "level")
    draws = {name: getattr(comparison, name) for name in names}
    metrics, n_owed, absent = [], 0, list[str]()
    for d in tested:
        lacking, test = list[str](), None
        if comparison.unpaired:
            owed = sum(int(run.columns.owed(d.name).sum()) for run in (a, b))
        else:
            owed = matched.n_owed(d.name)
            lacking = matched.lacking([d.name])
            test = matched.at_worst(d.name, draws, lacking)
        diff = 0.0 if test is None else test.diff or 0.0
        falls = diff != 0.0 and (diff > 0.0) != d.higher_is_better
        # The worst values show that the new run is worse, or too few queries could.
        may_fall = test is None or (
            falls and (test.too_few or (test.p_adjusted or 1.0) <= alpha_of(comparison.level))
        )
        if (owed or lacking) and may_fall:
            metrics.append(d)
            n_owed += owed
            absent += lacking
    if not metrics:
        return None
    what, advice = missing(n_owed, len({*absent}))
    why = _said("may_hide_worse", what=what, metrics=_names(metrics), advice=advice)
    return metrics, why, n_owed + len(absent)
