"""The notes below the tables of a run or a comparison: how their numbers were computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields

from ragassay.counts import either, share
from ragassay.engine.comparison import offline_agreement
from ragassay.engine.results import (
    Comparison,
    Spending,
    Summary,
    lacks_no_sample,
    names_in,
    plain,
)
from ragassay.errors import UsageError
from ragassay.metrics.core import naming
from ragassay.reports.text import wording
from ragassay.reports.text.grouping import grouped, sentences
from ragassay.scores import Reason
from ragassay.stats import EXACT_UP_TO
from ragassay.suites import Suite, known

MOST_LABELS = 6
"""Labels of a metric, or names of metrics, that are listed one by one."""


def summary_notes(summary: Summary, *, judged_marked: bool = True) -> list[str]:
    """What a reader must know to read the means; one sentence each.

    Args:
        summary: of a run.
        judged_marked: whether the table itself says which metrics were judged by whom.
    """
    notes = [f"Each mean runs over {summary.averaged_over}."] if summary.averaged_over else []
    bounded = (metric for metric in summary.metrics.values() if metric.low is not None)
    kinds = grouped((metric.interval, metric) for metric in bounded)
    clustered = ""
    if n_clusters := sorted({m.n_clusters for m in summary.metrics.values() if m.n_clusters}):
        # A metric's clusters are those with a scored sample, so they differ between metrics.
        least = f"{n_clusters[0]:,} to " if len(n_clusters) > 1 else ""
        clustered = f", clustered ({least}{wording.plural(n_clusters[-1], 'cluster')})"
    usual = max(kinds, key=lambda kind: len(kinds[kind]), default="")
    for kind, metrics in sorted(kinds.items(), key=lambda item: item[0] != usual):
        of = f" of {', '.join(metric.name for metric in metrics)}" if kind != usual else ""
        level, how = wording.percent(metrics[0].level), wording.interval_name(kind)
        notes.append(f"Intervals{of}: {level}, {how}{clustered}.")
    warnings = " ".join(summary.warnings)
    not_in_warnings = any(why.rstrip(".") not in warnings for why in summary.failures)
    if not_in_warnings and not summary.all_failed:
        notes.append(f"The system failed: {wording.counts(summary.failures).rstrip('.')}.")
    notes += _given_notes(summary)
    notes += _asked_notes(summary, judged_marked)
    notes += _embedded_notes(summary)
    notes += agreement_notes(summary)
    notes += [
        f"{name}: {place}"
        for suite in _suites(summary)
        for name, place in suite.elsewhere.items()
        if name in summary.metrics
    ]
    notes += _total_notes(summary)
    for metric in summary.metrics.values():
        if metric.n_assumed:
            without = (
                "nothing" if metric.mean_measured is None else wording.number(metric.mean_measured)
            )
            notes.append(
                f"{metric.name}: {share(metric.n_assumed, metric.n_scored, 'value')} for a missing "
                f"part, as published; the mean without them is {without}."
            )
    return notes


def agreement_notes(summary: Summary) -> list[str]:
    """Notes on the known agreement of the offline judgments with people."""
    pairs = (
        (", ".join(filter(None, (str(agreement), agreement.caveat))), metric.name)
        for metric in summary.metrics.values()
        if metric.n_scored and (agreement := offline_agreement(metric)) is not None
    )
    return sentences("Offline judge, {}: {}.", pairs)


def _total_notes(summary: Summary) -> list[str]:
    """The figures of the run as a whole: what each is, of which samples, or why there is none."""
    by_name = {plain(metric.metric): metric for metric in summary.metrics.values()}
    totals = {name: total for suite in _suites(summary) for name, total in suite.totals.items()}
    notes = [
        f"{name}: {wording.number(v)}." for name, v in summary.totals.items() if name not in totals
    ]
    for name, total in totals.items():
        means = [by_name[metric] for metric in total.means.values() if metric in by_name]
        if len(means) < len(total.means):
            continue  # the run was asked for fewer
        if name in summary.totals:
            gaps = [f"{m.name} {wording.coverage(m)}" for m in means if m.n_scored < m.n_total]
            tail = f" Not over all samples: {', '.join(gaps)} scored." if gaps else ""
            notes.append(f"{name}: {wording.number(summary.totals[name])}. {total.title}.{tail}")
        else:
            why = [
                f"{m.name}: {wording.reasons(m.unscored)}" for m in means if not lacks_no_sample(m)
            ]
            notes.append(f"{name}: none ({'; '.join(why)}). {total.title}.")
    return notes


def _suites(summary: Summary) -> list[Suite]:
    """The suites that a run used."""
    return [known()[name] for name in summary.suite.split("+") if name in known()]


def judged_by(summary: Summary) -> str:
    """The judges, for the head of a page: the run's judge, or the judges of the values that were
    compared.
    """
    spent = summary.judging
    if spent is not None:
        return spent.judge if spent.questions and _judged(summary, spent) else ""
    judges: dict[str, None] = {}
    for metric in summary.metrics.values():
        if metric.n_scored and "of=" in metric.signature:
            parts = (part.partition("=") for part in metric.signature.split("|"))
            judges.update({name: None for key, _, name in parts if key == "judge"})
    return f"{', '.join(judges)} (the runs looked at)" if judges else ""


def spent_on(summary: Summary) -> str:
    """The cost of judging and embedding, for the head of a page; empty where nothing was asked."""
    judging, embedding = summary.judging, summary.embedding
    asked = judging is not None and judging.questions > 0
    pieces = []
    if asked and judging is not None and judging.by_functions:
        pieces.append(
            f"{wording.plural(judging.calls, 'call')} of Python functions, without a price"
        )
    elif asked and judging is not None and not judging.judge.startswith("offline"):
        pieces.append(wording.cost(judging))
    if embedding is not None:
        pieces.append(f"{wording.cost(embedding)} for embedding")
    if pieces or not asked:
        return ", ".join(pieces)
    here = any(
        metric.n_scored > metric.n_given and "|model=" in metric.signature
        for metric in summary.metrics.values()
    )
    return f"nothing: rules about words{' and models on this machine' if here else ', no model'}"


def _given_notes(summary: Summary) -> list[str]:
    """Notes on the values that came with the records; metrics with the same note share it."""
    pairs = []
    for metric in summary.metrics.values():
        every = metric.n_given == metric.n_scored
        by = f", of {metric.judge}" if every and metric.judge else ""
        how = f"{'all' if every else f'{metric.n_given:,}'} of "
        how += f"{wording.plural(metric.n_scored, 'value')}{by}"
        if metric.n_given:
            pairs.append(((how, _without_given(metric.metric)), metric.name))
    form = "Resting on values read from the records, not on a judge or model here ({}): {}.{}"
    return [
        form.format(how, ", ".join(names), instead)
        for (how, instead), names in grouped(pairs).items()
    ]


def _without_given(metric: str) -> str:
    """How to have a metric, by its canonical name, without the records' values; empty where it is
    computed from those values.
    """
    try:
        (first_match, *_) = naming.find(metric)
    except UsageError:  # a person's own, which only the run knew
        return ""
    if "given" not in (spec.name for spec in fields(first_match[0])):
        return ""
    if first_match[0].kind == "judge":
        return " The parameter given=false asks the judge, where one can tell."
    return " The parameter given=false computes them by a model on this machine."


def _asked_notes(summary: Summary, judged_marked: bool) -> list[str]:
    spent = summary.judging
    if spent is None or not spent.questions:
        return []
    judged = _judged(summary, spent)
    rules = " (rules about words, not a model)" if spent.judge.startswith("offline") else ""
    judge = f"{spent.judge}{rules}"
    which = share(len(judged), len(summary.metrics), "metric")
    if not judged_marked:
        which = _which(judged, list(summary.metrics), which)
    notes = [f"Judged by {judge}: {which}."] if judged else []
    if spent.calls or spent.cached:
        whom = "" if judged else f" of {judge}"
        pieces = _calls(spent, "question")
        if not spent.by_functions:
            tokens = wording.plural(spent.input_tokens, "token")
            pieces += [f"{tokens} in and {spent.output_tokens:,} out", wording.cost(spent)]
        notes.append(f"Asked{whom}: {', '.join(pieces)}, {spent.seconds:,.1f} s.")
    if spent.failures:
        why = wording.reasons(spent.failures)
        notes.append(f"Questions without an answer: {why}.{_advice(spent)}")
    if spent.in_part:
        notes.append(f"Answers without a part: {wording.reasons(spent.in_part)}.")
    if spent.disagreed:
        questions = share(spent.disagreed, spent.questions, "question")
        notes.append(f"The panel's members disagreed on {questions}.")
    if spent.lost_votes:
        why = wording.reasons(spent.lost_votes)
        notes.append(
            f"Votes that the panel went without: {spent.lost} ({why}). Each of these questions "
            "was decided by the votes that came. The same run again asks only the missing ones."
        )
    return notes


def _judged(summary: Summary, spent: Spending) -> list[str]:
    """The metrics with a value that rests on the run's judge. Runs of older versions do not say on
    whom each value rests; theirs are those neither assumed nor given."""
    return [
        metric.name
        for metric in summary.metrics.values()
        if (
            spent.judge in names_in(metric.judges)
            if metric.judges
            else metric.judge and metric.n_scored > metric.n_assumed + metric.n_given
        )
    ]


def _which(judged: Sequence[str], metrics: Sequence[str], many: str) -> str:
    """The judged metrics in few words: their names, or those of the others, or how many."""
    others = [name for name in metrics if name not in judged]
    if not others:
        return "all metrics"
    if len(judged) <= MOST_LABELS:
        return ", ".join(judged)
    return f"all metrics but {', '.join(others)}" if len(others) <= MOST_LABELS else many


def _embedded_notes(summary: Summary) -> list[str]:
    spent = summary.embedding
    if spent is None:
        return []
    pieces = _calls(spent, "text")
    if spent.calls:
        pieces += [wording.plural(spent.input_tokens, "token"), wording.cost(spent)]
    notes = [f"Embedded by {spent.judge}: {', '.join(pieces)}."]
    if spent.failures:
        why = wording.reasons(spent.failures)
        notes.append(f"Texts without a vector: {why}.{_advice(spent, keeps=False)}")
    return notes


def _calls(spent: Spending, what: str) -> list[str]:
    pieces = [wording.plural(spent.questions, what), wording.plural(spent.calls, "call")]
    return [*pieces, f"{spent.cached:,} from the ledger"] if spent.cached else pieces


def _advice(spent: Spending, *, keeps: bool = True) -> str:
    """Advice about questions without an answer, and none that cannot help: the same key is rejected
    again, and a text that was too long stays too long.

    Args:
        spent: what was asked.
        keeps: whether permanent failures are kept, so that the same run does not ask again.
    """
    passing = {one: n for one, n in spent.failures.items() if not keeps or Reason(one).passing}
    reasons_seen = {Reason(reason) for reason in spent.failures}
    permanent: dict[str, int] = {
        one: spent.failures[one]
        for one in (Reason.REFUSED, Reason.UNPARSABLE)
        if one in spent.failures
    }
    these = "these"
    if len(passing) < len(spent.failures):
        these = f"these ({wording.reasons(passing)})"
    advice = ""
    if Reason.AUTH in reasons_seen:
        advice = (
            " Mend the key, the model's name or the account, or name the right address: then only "
            f"{these} are asked."
        )
    elif Reason.BUDGET in reasons_seen:
        advice = " The same run with a larger budget goes on from here."
    elif any(reason.passing for reason in reasons_seen):
        advice = f" The same run again asks only {these}."
    if permanent and not advice:
        advice = " --retry-failed (retry_failed=True) asks them again."
    elif permanent and keeps:
        advice += (
            " --retry-failed (retry_failed=True) asks also those whose failure is kept "
            f"({wording.reasons(permanent)})."
        )
    if Reason.CONTEXT_TOO_LONG in reasons_seen:
        advice += " What is too long needs a model with a longer context, or shorter passages."
    return advice


def unscored_notes(summary: Summary) -> list[str]:
    """Notes on samples without a score, by metric and number; metrics with the same numbers share a
    note.
    """
    metrics = summary.metrics.values()
    return sentences(
        "{}: {}", ((wording.reasons(m.unscored), m.name) for m in metrics if m.unscored)
    )


def label_notes(summary: Summary) -> list[str]:
    """How often each label occurred, for metrics whose values are labels."""
    return [
        f"{m.name}: {wording.counts(_most(m.labels))}" for m in summary.metrics.values() if m.labels
    ]


def _most(labels: Mapping[str, int]) -> Mapping[str, int]:
    """The most frequent labels, and the rest as one."""
    first = dict(list(labels.items())[:MOST_LABELS])
    rest = sum(labels.values()) - sum(first.values())
    return {**first, "others": rest} if rest else first


def verdict_line(comparison: Comparison) -> str:
    """One sentence that says how the comparison ended."""
    tally: Counter[str] = Counter(difference.verdict for difference in comparison.differences)
    words = {"unknown": "not testable", "indicative": "indicative only"}
    order = ("better", "worse", "different", "no difference shown", "unknown", "indicative",
             "exploratory", "not comparable")  # fmt: skip
    pieces = [f"{words.get(one, one)} on {tally[one]}" for one in order if tally[one]]
    if not pieces:
        return "The two runs share no metric."
    total = wording.plural(len(comparison.differences), "metric")
    return f"{comparison.a} against {comparison.b}: {', '.join(pieces)} of {total}."


def empty_rows(comparison: Comparison) -> list[str]:
    """The line in place of the rows that a table leaves out; none where it has them all."""
    empty = [d.name for d in comparison.differences if d not in comparison.with_scores]
    if not empty:
        return []
    has, it_is = either(len(empty), "has", "have"), either(len(empty), "it is", "they are")
    return [
        f"{wording.plural(len(empty), 'metric')} {has} no query that both runs scored, so {it_is} "
        f"not in the table: {', '.join(empty)}."
    ]


def comparison_notes(comparison: Comparison) -> list[str]:
    """Which test, how many resamples, which correction, and what the means run over."""
    n_tested = sum(d.p_adjusted is not None for d in comparison.differences)
    notes = [
        *_nothing_shown(comparison),
        f"A (new) = {comparison.a}; B (old) = {comparison.b}. Each mean runs over the queries that "
        f"both runs scored: n, of {comparison.n_common:,} in common.",
        f"p_value: two-sided paired sign-flip test, {comparison.n_resamples:,} random patterns, "
        f"seed {comparison.seed} (all patterns with at most {EXACT_UP_TO} queries or clusters in "
        "common). significant: whether that p is below 0.05, before any correction. t-test p: "
        "paired Student's t-test, which takes the differences for normal.",
        f"p ({wording.correction_name(comparison.correction)}) and the verdict: "
        f"{_corrected(comparison, n_tested)} at the {wording.percent(1 - comparison.level)} level."
        if n_tested
        else "No metric is tested, so none has a corrected p.",
        f"Interval of the difference: {wording.interval_name(comparison.interval)}, "
        f"{interval_levels(comparison)}.",
        *_widened(comparison),
        "Detectable: the smallest true difference that n queries with this spread find with 80 % "
        f"power, tested by itself at the {wording.percent(1 - comparison.level)} level.",
    ]
    notes += cluster_notes(comparison)
    notes += standing_notes(comparison)
    if comparison.judged_by:
        notes.append(f"Judged by {comparison.judged_by}.")
    only = ((comparison.metrics_only_a, "A"), (comparison.metrics_only_b, "B"))
    if metrics := [f"{', '.join(names)} only in {name}" for names, name in only if names]:
        notes.append(f"Metrics not compared: {'; '.join(metrics)}.")
    counts = ((comparison.only_a, "A"), (comparison.only_b, "B"))
    if queries := [f"{wording.plural(n, 'query')} only in {name}" for n, name in counts if n]:
        notes.append(f"Left out: {' and '.join(queries)}.")
    return notes


def _nothing_shown(comparison: Comparison) -> list[str]:
    """How large a difference may be where no metric shows one: each interval's further end."""
    verdicts = {d.verdict for d in comparison.differences}
    if verdicts & {"better", "worse", "different"} or "no difference shown" not in verdicts:
        return []
    unshown = [d for d in comparison.differences if d.verdict == "no difference shown"]
    margins = [
        (max(-d.low, d.high), d.name) for d in unshown if d.low is not None and d.high is not None
    ]
    limits = ", ".join(f"{wording.number(margin)} in {name}" for margin, name in margins)
    if len(margins) > MOST_LABELS:
        ends = (wording.number(of(margins)[0]) for of in (min, max))
        limits = f"{' to '.join(ends)}, by metric (the further end of its interval)"
    clauses = [f"the intervals exclude only a true difference of more than {limits}"]
    clauses *= bool(margins)
    if without := len(unshown) - len(margins):
        which = wording.plural(without, "metric")
        verb = either(without, "excludes", "exclude")
        clauses.append(f"{which} without an interval {verb} nothing")
    return [f"No difference shown does not mean that there is none: {'; '.join(clauses)}."]


def gate_notes(comparison: Comparison) -> list[str]:
    """What each gate of a comparison found."""
    return [f"{gate.sentence[:1].upper()}{gate.sentence[1:]}." for gate in comparison.gates]


def _widened(comparison: Comparison) -> list[str]:
    """Notes on metrics for which the test alone would be too sure, or on verdicts and intervals
    that come from different procedures.
    """
    if comparison.interval != "auto":
        return [
            "The verdict follows the sign-flip test, not this interval: near its ends they may "
            "differ. --interval auto shows the test's own."
        ]
    words = {
        "ties": "most differences are equal, and others may have been missed",
        "skewness": "a few differences are much larger than the others",
    }
    causes = (
        (words[cause], d.name)
        for d in comparison.differences
        if d.low is not None and (cause := d.interval.partition(" and ")[2])
    )
    return sentences("Interval and corrected p are wider than the test's where {}: {}.", causes)


def interval_levels(comparison: Comparison) -> str:
    """The confidence levels of the intervals of the differences: ``at 95 %``, or, where the
    correction asks for more, ``at 97.5 % for em, 95 % for f1``."""
    falling = sorted(comparison.differences, key=lambda d: d.level, reverse=True)
    metrics = grouped((wording.confidence(d.level), d.name) for d in falling if d.low is not None)
    levels = list(metrics) or [wording.confidence(comparison.level)]
    if levels == [wording.confidence(comparison.level)]:
        return f"at {levels[0]}"
    listed = ", ".join(f"{level} for {', '.join(names)}" for level, names in metrics.items())
    if len(levels) == 1:
        listed = levels[0]
    elif len(levels) > MOST_LABELS:
        listed = f"{levels[-1]} to {levels[0]}"
    return f"at {listed} (each metric's is what the correction leaves it)"


def _corrected(comparison: Comparison, n_tested: int) -> str:
    """What the p-values are corrected for; one alone needs no correction."""
    if n_tested == 1:
        return "of the one metric tested between these two runs,"
    how = "not corrected for" if comparison.correction == "none" else "corrected across"
    return f"{how} the {wording.plural(n_tested, 'metric')} tested between these two runs,"


def standing_notes(comparison: Comparison) -> list[str]:
    """Notes on metrics that have no verdict, or whose judge was never measured; one sentence for
    each reason.
    """
    untested = (d for d in comparison.differences if d.standing != "tested" or d.why)
    reasons = grouped(((d.standing, d.why), d.name) for d in untested)
    words = {
        "tested": "{why}",
        "exploratory": "exploratory, because other metrics were named as the primary ones{why}"
        if comparison.primary
        else "exploratory{why}",
        "indicative": "indicative: {why}",
        "not comparable": "no verdict: {why}",
    }
    sentences = []
    for (standing, why), names in reasons.items():
        because = why.rstrip(".")
        if standing == "exploratory" and because:
            because = f" ({because})"
        sentences.append(f"{', '.join(names)}: {words[standing].format(why=because)}.")
    return sentences


def cluster_notes(comparison: Comparison) -> list[str]:
    """What belongs together in the test; nothing where queries stand alone."""
    if comparison.n_clusters is None:
        return []
    together = comparison.clustered_by or "cluster"
    return [
        f"Test and intervals keep the queries of one {together} together "
        f"({wording.plural(comparison.n_clusters, 'cluster')})."
    ]
