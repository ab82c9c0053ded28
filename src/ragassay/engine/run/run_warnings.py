"""What is to be said beside a run's numbers: its warnings, and what its scores lack."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragassay.base.errors import CountedFact, RagassayWarning
from ragassay.base.note import Note
from ragassay.base.printable import grouped
from ragassay.base.sample import Sample
from ragassay.base.score import Reason, Unscored
from ragassay.engine.comparison.verdict_rules import OFFLINE
from ragassay.engine.results.summary import MetricSummary, Spending, Summary
from ragassay.judges.asking import IN_PART
from ragassay.metrics.core.metric import Metric, missing
from ragassay.models.weights.weight_files import BY_MODEL, Unavailable

if TYPE_CHECKING:
    from ragassay.engine.run.accumulator import Accumulator


@contextmanager
def record_warnings() -> Iterator[Callable[[], list[str]]]:
    """Records ragassay's own warnings, counted facts of one sentence as one; those of others are
    issued again at the end."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RagassayWarning)

        def ours() -> list[str]:
            found: dict[str, Warning | str] = {}
            for warning in caught:
                fact = warning.message
                if isinstance(fact, CountedFact):
                    first = found.get(fact.sentence)
                    if isinstance(first, CountedFact):
                        fact = CountedFact(fact.sentence, first.n + fact.n, first.example)
                    found[fact.sentence] = fact
                elif issubclass(warning.category, RagassayWarning):
                    found.setdefault(str(fact), fact)
            return [str(fact) for fact in found.values()]

        yield ours
    for one in caught:
        if not issubclass(one.category, RagassayWarning):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


@dataclass
class MissingScores:
    """Why scores are missing: the first reason of all, and by metric the first sample and detail of
    each cause (``failed``, ``model``, ``made of``, ``part``). ``n_without_embedder`` counts scores
    without the vectors of a named embedder."""

    _metrics: Mapping[str, Metric]
    _names_embedder: bool
    first_reason: str = ""
    n_without_embedder: int = 0
    first: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)

    def add(self, name: str, sample: Sample, outcome: Unscored) -> None:
        """Takes in a missing score."""
        metric, cause = self._metrics[name], ""
        self.first_reason = self.first_reason or outcome.detail
        if outcome.reason is Reason.FAILED:
            cause = "failed"
        elif outcome.reason in BY_MODEL and (metric.kind == "model" or metric.embeds):
            cause = "model"
            # A run that names an embedder is incomplete without its vectors.
            is_absent = outcome.reason is Unavailable.reason
            self.n_without_embedder += is_absent and metric.embeds and self._names_embedder
        elif outcome.reason is Unavailable.reason and metric.inputs:
            cause = "made of"
        elif (
            outcome.reason is Reason.MISSING_INPUT
            and name not in self.first.get("part", ())
            and metric.needs
            # The sample has each part, and what is missing lies within one.
            and missing(sample, metric.needs) is None
            and metric.lacks(sample) is not None  # else an answer of the judge is missing
        ):
            cause = "part"
        if cause:
            facts = sample.id, outcome.detail.rstrip(".")
            self.first.setdefault(cause, {}).setdefault(name, facts)

    def notes(self, run: Accumulator, metrics: Mapping[str, MetricSummary]) -> Iterator[Note]:
        """The metrics that lack scores because of a model or a part of the samples."""
        absent = self.first.get("model") or ({} if run.cause else self.first.get("made of", {}))
        for why, names in grouped((why, name) for name, (_, why) in absent.items()).items():
            some = any(metrics[name].n_scored for name in names)
            kind = "some_unscored" if some else "all_unscored"
            yield Note(kind, {"why": why}, tuple(names))
        lacking = (
            (facts, name)
            for name, facts in self.first.get("part", {}).items()
            if not metrics[name].n_scored and name not in absent
        )
        for (sample, why), names in grouped(lacking).items():
            yield Note("part_missing", {"sample": repr(sample), "why": why}, tuple(names))


def warnings_of(run: Accumulator, summary: Summary, crowded: Sequence[str]) -> Iterator[Note]:
    """What is to be said of a run whose samples are all taken in; ``crowded`` is as of
    `ragassay.engine.results.summarising.summarise`."""
    total, missing_scores, metrics = summary.n_samples, run.missing, summary.metrics
    spent = [one for one in (summary.judging, summary.embedding) if one is not None]
    known = {detail.rstrip(". ") for one in spent for detail in one.details.values() if detail}
    has_scores = any(metric.n_scored for metric in metrics.values())
    if summary.all_failed:
        yield as_note(summary.all_failed)
    elif metrics and not has_scores:
        why = (run.cause or missing_scores.first_reason or "no metric applies").rstrip(". ")
        if any(one in why or why in one for one in known):
            why = ""  # it has a note of its own
        reasons = {Reason(one) for metric in metrics.values() for one in metric.unscored}
        has_cause = run.cause or any(one.incomplete or one in BY_MODEL for one in reasons)
        kind = "nothing_scored" if has_cause else "nothing_scored_look"
        yield Note(kind, {"cause": f": {why}" if why else ""})
    elif run.cause:
        yield as_note(run.cause)
    if not has_scores and missing_scores.first_reason:
        known.add(missing_scores.first_reason.rstrip(". "))
    if has_scores and missing_scores.first:
        yield from missing_scores.notes(run, metrics)
    unread = grouped((run.unread[metric.scripts], name) for name, metric in run.latin.items())
    for n, names in unread.items():
        if n:
            wide = ", ".join(dict.fromkeys(run.latin[name].wider for name in names))
            yield Note("script_not_read", {"n": n, "total": total, "wide": wide}, tuple(names))
    for name, (sample, detail) in missing_scores.first.get("failed", {}).items():
        if detail and not any(one in detail for one in known):
            known.add(detail)
            yield Note("metric_failed", {"sample": repr(sample), "why": detail}, (name,))
    if spent:
        yield from _unanswered(summary.judging, summary.embedding, metrics)
    if run.clustered_by is not None and total > 1 and len(set(run.clusters)) == 1:
        yield Note("one_cluster", {"n": total, "by": run.clustered_by})
    if crowded:
        yield Note("crowded", names=tuple(crowded))
    # A metric that gives a published value where a part is missing leaves nothing unscored.
    n, empty = run.n_unanswered, Sample(id="none")
    strict = (metric for metric in run.metrics.values() if metric.lacks(empty) is not None)
    if n and not summary.all_failed and any("answer" in metric.needs for metric in strict):
        by_count = run.failures.most_common()
        why = ", ".join(f"{count:,} {what.rstrip('.')}" for what, count in by_count)
        yield Note("without_answer", {"n": n, "total": total, "why": f" ({why})" if why else ""})
    if run.n_without_label:
        yield Note("without_label", {"n": run.n_unlabelled})
    if run.column is not None and run.n_clustered < total:
        n_without = total - run.n_clustered
        yield Note("without_cluster", {"n": n_without, "total": total, "by": run.column})
    if len(run.systems) > 1:
        listed = ", ".join(sorted(name or "(none)" for name in run.systems))
        kind = "mixed_systems" if run.config.output else "mixed_systems_not_kept"
        first = min(filter(None, run.systems))
        yield Note(kind, {"n": len(run.systems), "systems": listed, "one": first})


def as_note(sentence: str) -> Note:
    """A sentence that comes as it is: a warning of a reader, or what a system says of itself."""
    return Note("text", {"text": sentence}, severity="warning")


_ADVICE: Mapping[str, str] = {
    Reason.AUTH: "",  # the detail says what to do
    Reason.BUDGET: "The same run with a larger budget goes on from here",
    Reason.REFUSED: "--retry-failed asks again",
    Reason.UNPARSABLE: "--retry-failed asks again",
    Reason.CONTEXT_TOO_LONG: "It needs a longer context, or shorter passages",
}
"""What to do about questions without an answer; after other passing failures: run again."""


def _unanswered(
    judging: Spending | None, embedding: Spending | None, metrics: Mapping[str, MetricSummary]
) -> Iterator[Note]:
    """A note for each reason why answers are missing: how many, and the detail of the first. What
    the offline judge cannot answer are scores that need an LLM."""
    offline = judging is not None and judging.judge.startswith(OFFLINE)
    without = Reason.UNSUPPORTED.value if offline else ""
    lacking = ((m.unscored[without], m.name) for m in metrics.values() if without in m.unscored)
    for n, names in grouped(lacking).items():
        yield Note("needs_judge_for", {"n": n}, tuple(names))
    judging, embedding = judging or Spending(""), embedding or Spending("")
    rows = (
        ("questions_unanswered", judging, judging.failures, ""),
        ("votes_lost", judging, judging.lost_votes, ""),
        ("answers_in_part", judging, judging.in_part, IN_PART),
        ("texts_without_vector", embedding, embedding.failures, ""),
    )
    for kind, spent, found, suffix in rows:
        for reason, n in found.items():
            if reason == without:
                continue
            why = spent.details.get(f"{reason}{suffix}", "").strip().rstrip(".")
            why = f": {why}" if why else ""
            again = "Run again to ask these" if Reason(reason).passing else ""
            advice = _ADVICE.get(reason, again)
            if advice and "again" not in why:
                why += f". {advice}"
            counts: dict[str, float | str] = {"n": n, "total": spent.votes}
            yield Note(kind, counts | {"reason": reason.replace("_", " "), "why": why})
