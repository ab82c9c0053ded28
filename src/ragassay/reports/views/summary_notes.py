"""The notes below the table of a run: how its numbers were computed, and who was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from ragassay.base.counts import grouped, share
from ragassay.base.errors import UsageError
from ragassay.base.note import joined
from ragassay.base.score import Reason
from ragassay.engine.comparison.verdict_rules import judge_agreement, trusted
from ragassay.engine.results.score_columns import names_in
from ragassay.engine.results.summarising import lacks_no_sample, plain
from ragassay.engine.results.summary import Spending, Summary
from ragassay.metrics.core import naming
from ragassay.reports.text import wording
from ragassay.reports.text.note_sentences import all_said
from ragassay.suites import Suite, all_suites

MOST_LABELS = 6
"""Labels of a metric, or names of metrics, that are listed one by one."""


def summary_notes(summary: Summary) -> list[str]:
    """What a reader must know to read the means of a run; one sentence each."""
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
    notes += _asked_notes(summary)
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
            without = "there is no mean"
            if metric.mean_measured is not None:
                without = f"the mean without them is {wording.number(metric.mean_measured)}"
            notes.append(
                f"{metric.name}: {share(metric.n_assumed, metric.n_scored, 'value')} for a missing "
                f"part, as published; {without}."
            )
    return notes


def agreement_notes(summary: Summary) -> list[str]:
    """Notes on how far the offline judge is known to agree with people."""
    found = [judge_agreement(metric) for metric in summary.metrics.values()]
    offline = [one for one in found if one is not None and one.offline]
    return all_said(joined(trusted(one) if summary.trust_offline else one.note for one in offline))


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
    return [all_suites()[name] for name in summary.suite.split("+") if name in all_suites()]


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
    """How to compute a metric, by its canonical name, without the records' values; empty where it
    has no parameter for that.
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


def _asked_notes(summary: Summary) -> list[str]:
    spent = summary.judging
    if spent is None or not spent.questions:
        return []
    judged = _judged(summary, spent)
    rules = " (rules about words, not a model)" if spent.judge.startswith("offline") else ""
    judge = f"{spent.judge}{rules}"
    which = _which(judged, list(summary.metrics))
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
    """The metrics with a value that rests on the run's judge. Runs of older versions do not store
    who judged each value; their judged values are those neither assumed nor given."""
    return [
        metric.name
        for metric in summary.metrics.values()
        if (
            spent.judge in names_in(metric.judges)
            if metric.judges
            else metric.judge and metric.n_scored > metric.n_assumed + metric.n_given
        )
    ]


def _which(judged: Sequence[str], metrics: Sequence[str]) -> str:
    """The judged metrics in few words: their names, or those of the others, or how many."""
    others = [name for name in metrics if name not in judged]
    if not others:
        return "all metrics"
    if len(judged) <= MOST_LABELS:
        return ", ".join(judged)
    if len(others) <= MOST_LABELS:
        return f"all metrics but {', '.join(others)}"
    return share(len(judged), len(metrics), "metric")


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


def _calls(spent: Spending, noun: str) -> list[str]:
    pieces = [wording.plural(spent.questions, noun), wording.plural(spent.calls, "call")]
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
        advice = " A retry (option retry_failed, --retry-failed) asks them again."
    elif permanent and keeps:
        advice += (
            " A retry (option retry_failed, --retry-failed) asks also those whose failure is kept "
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
    return wording.sentences(
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
