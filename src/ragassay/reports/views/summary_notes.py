"""The notes below the table of a run: how its numbers were computed, and who was asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ragassay.base.counts import few, grouped, share
from ragassay.base.note import joined
from ragassay.base.score import Reason
from ragassay.engine.comparison.verdict_rules import judge_agreement, trusted
from ragassay.engine.results.score_columns import names_in
from ragassay.engine.results.summarising import lacks_no_sample, plain
from ragassay.engine.results.summary import Spending, Summary
from ragassay.reports.text import wording
from ragassay.reports.text.wording import sentence
from ragassay.suites import Suite, all_suites

MOST_LABELS = 6
"""Labels of a metric, or names of metrics, that are listed one by one."""

_JUDGE = re.compile(r"(?:^|\|)judge=([^|]*)")

_ADVICE: Mapping[Reason, str] = {
    Reason.AUTH: " (mend the key, the model's name or the address, then run again)",
    Reason.BUDGET: " (the same run with a larger budget goes on from here)",
    Reason.REFUSED: " (--retry-failed asks again)",
    Reason.UNPARSABLE: " (--retry-failed asks again)",
    Reason.CONTEXT_TOO_LONG: " (it needs a longer context, or shorter passages)",
}
"""What to do about questions without an answer; after other passing failures: run again."""


def summary_notes(summary: Summary) -> list[str]:
    """What a reader must know to read the means of a run; one sentence each."""
    return list(_notes(summary))


def _notes(summary: Summary) -> Iterator[str]:
    metrics = summary.metrics.values()
    if summary.averaged_over:
        yield sentence("means_over", what=summary.averaged_over)
    yield from _interval_notes(summary)
    warnings = " ".join(summary.warnings)
    not_said = any(why.rstrip(".") not in warnings for why in summary.failures)
    if not_said and not summary.all_failed:
        yield sentence("system_failed", why=wording.counts(summary.failures).rstrip("."))
    yield from _given_notes(summary)
    yield from _asked_notes(summary)
    # How far the offline judge is known to agree with people.
    found = [judge_agreement(metric) for metric in metrics]
    offline = [one for one in found if one is not None and one.offline]
    agreement = (trusted(one) if summary.trust_offline else one.note for one in offline)
    yield from wording.all_said(joined(agreement))
    for suite in _suites(summary):
        places = suite.elsewhere.items()
        yield from (f"{name}: {place}" for name, place in places if name in summary.metrics)
    yield from _total_notes(summary)
    for metric in metrics:
        if metric.n_assumed:
            assumed = share(metric.n_assumed, metric.n_scored, "value")
            without = "there is no mean"
            if metric.mean_measured is not None:
                without = f"the mean without them is {wording.number(metric.mean_measured)}"
            yield sentence("assumed", names=(metric.name,), share=assumed, without=without)


def _interval_notes(summary: Summary) -> Iterator[str]:
    metrics = summary.metrics.values()
    clustered = ""
    if n_clusters := sorted({m.n_clusters for m in metrics if m.n_clusters}):
        # A metric's clusters are those with a scored sample, so they differ between metrics.
        least = f"{n_clusters[0]:,} to " if len(n_clusters) > 1 else ""
        clustered = f", clustered ({least}{wording.plural(n_clusters[-1], 'cluster')})"
    kinds = grouped((m.interval, m) for m in metrics if m.low is not None)
    usual_first = sorted(kinds.items(), key=lambda kind: -len(kind[1]))
    for at, (kind, members) in enumerate(usual_first):
        of = f" of {', '.join(one.name for one in members)}" if at else ""
        level, how = members[0].level, wording.interval_name(kind)
        yield sentence("intervals", of=of, level=level, how=how, clustered=clustered)


def _total_notes(summary: Summary) -> Iterator[str]:
    """The figures of the run as a whole: what each is, of which samples, or why there is none."""
    by_name = {plain(metric.metric): metric for metric in summary.metrics.values()}
    totals = {name: total for suite in _suites(summary) for name, total in suite.totals.items()}
    for name, value in summary.totals.items():
        if name not in totals:
            yield f"{name}: {wording.number(value)}."
    for name, total in totals.items():
        means = [by_name[metric] for metric in total.means.values() if metric in by_name]
        if len(means) < len(total.means):
            continue  # the run was asked for fewer
        if name in summary.totals:
            gaps = [f"{m.name} {wording.coverage(m)}" for m in means if m.n_scored < m.n_total]
            tail = f" Not over all samples: {', '.join(gaps)} scored." if gaps else ""
            yield f"{name}: {wording.number(summary.totals[name])}. {total.title}.{tail}"
        else:
            lacking = [one for one in means if not lacks_no_sample(one)]
            why = "; ".join(f"{one.name}: {wording.reasons(one.unscored)}" for one in lacking)
            yield f"{name}: none ({why}). {total.title}."


def _suites(summary: Summary) -> list[Suite]:
    """The suites that a run used."""
    return [all_suites()[name] for name in summary.suite.split("+") if name in all_suites()]


def judged_by(summary: Summary) -> str:
    """The judges, for the head of a page: of the run, or of the values that were compared."""
    spent = summary.judging
    if spent is not None:
        return spent.judge if spent.questions and _judged(summary, spent) else ""
    metrics = summary.metrics.values()
    compared = [one.signature for one in metrics if one.n_scored and "of=" in one.signature]
    judges = dict.fromkeys(name for signature in compared for name in _JUDGE.findall(signature))
    return f"{', '.join(judges)} (the runs looked at)" if judges else ""


def spent_on(summary: Summary) -> str:
    """The cost of judging and embedding, for the head of a page; empty where nothing was asked."""
    judging, embedding = summary.judging, summary.embedding
    pieces = [] if embedding is None else [f"{wording.cost(embedding)} for embedding"]
    if judging is None or not judging.questions:
        return ", ".join(pieces)
    if judging.by_functions:
        calls = wording.plural(judging.calls, "call")
        pieces.insert(0, f"{calls} of Python functions, without a price")
    elif not judging.judge.startswith("offline"):
        pieces.insert(0, wording.cost(judging))
    metrics = summary.metrics.values()
    here = any(one.n_scored > one.n_given and "|model=" in one.signature for one in metrics)
    nothing = f"nothing: rules about words{' and models on this machine' if here else ', no model'}"
    return ", ".join(pieces) or nothing


def _given_notes(summary: Summary) -> list[str]:
    """Notes on the values that came with the records; metrics with the same note share it."""
    pairs = []
    for metric in summary.metrics.values():
        every = metric.n_given == metric.n_scored
        by = f", of {metric.judge}" if every and metric.judge else ""
        values = wording.plural(metric.n_scored, "value")
        if metric.n_given:
            how = f"{'all' if every else f'{metric.n_given:,}'} of {values}{by}"
            pairs.append((how, metric.name))
    return [
        sentence("given", how=how, metrics=", ".join(names))
        for how, names in grouped(pairs).items()
    ]


def _asked_notes(summary: Summary) -> Iterator[str]:
    """What the judge and the embedder were asked, and what came back."""
    if summary.judging is not None and summary.judging.questions:
        yield from _judge_notes(summary, summary.judging)
    spent = summary.embedding
    if spent is not None:
        pieces = _calls(spent, "text")
        if spent.calls:
            pieces += [wording.plural(spent.input_tokens, "token"), wording.cost(spent)]
        yield f"Embedded by {spent.judge}: {', '.join(pieces)}."
        if spent.failures:
            yield sentence("no_vectors", why=_advised(spent, kept=False))


def _judge_notes(summary: Summary, spent: Spending) -> Iterator[str]:
    judged = _judged(summary, spent)
    rules = " (rules about words, not a model)" if spent.judge.startswith("offline") else ""
    judge = f"{spent.judge}{rules}"
    if judged:
        every = len(judged) == len(summary.metrics)
        named = len(judged) <= MOST_LABELS
        some = ", ".join(judged) if named else share(len(judged), len(summary.metrics), "metric")
        which = "all metrics" if every else some
        yield sentence("judged", judge=judge, which=which)
    if spent.calls or spent.cached:
        pieces = _calls(spent, "question")
        if not spent.by_functions:
            tokens = wording.plural(spent.input_tokens, "token")
            pieces += [f"{tokens} in and {spent.output_tokens:,} out", wording.cost(spent)]
        whom = "" if judged else f" of {judge}"
        yield f"Asked{whom}: {', '.join(pieces)}, {spent.seconds:,.1f} s."
    if spent.failures:
        yield sentence("no_answers", why=_advised(spent))
    if spent.in_part:
        yield sentence("partial_answers", why=wording.reasons(spent.in_part))
    if spent.disagreed:
        questions = share(spent.disagreed, spent.questions, "question")
        yield sentence("panel_disagreed", questions=questions)
    if spent.lost_votes:
        yield sentence("panel_lost", lost=spent.lost, why=wording.reasons(spent.lost_votes))


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


def _calls(spent: Spending, noun: str) -> list[str]:
    pieces = [wording.plural(spent.questions, noun), wording.plural(spent.calls, "call")]
    return [*pieces, f"{spent.cached:,} from the ledger"] if spent.cached else pieces


def _advised(spent: Spending, *, kept: bool = True) -> str:
    """How many questions have no answer for each reason, with what helps."""
    pieces = []
    for name, n in spent.failures.items():
        reason = Reason(name)
        again = " (run again to ask these)" if reason.passing or not kept else ""
        pieces.append(f"{n:,} {wording.reason(name)}{_ADVICE.get(reason, again)}")
    return ", ".join(pieces)


def unscored_notes(summary: Summary) -> list[str]:
    """Samples without a score, by metric and number; equal numbers share a note."""
    metrics = summary.metrics.values()
    return wording.sentences(
        "{}: {}", ((wording.reasons(m.unscored), m.name) for m in metrics if m.unscored)
    )


def label_notes(summary: Summary) -> list[str]:
    """How often each label occurred, for metrics whose values are labels."""
    counted = {m.name: m.labels for m in summary.metrics.values() if m.labels}
    return [
        f"{name}: {few([f'{n:,} {label}' for label, n in labels.items()], MOST_LABELS)}"
        for name, labels in counted.items()
    ]
