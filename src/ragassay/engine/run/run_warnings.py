"""The sentences that stand beside a run's numbers: its warnings, and what its scores lack."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragassay.base.counts import grouped
from ragassay.base.errors import CountedFact, RagassayWarning
from ragassay.base.note import Note
from ragassay.base.sample import Sample
from ragassay.base.score import Reason, Unscored
from ragassay.engine.results.summarising import crowded
from ragassay.engine.results.summary import MetricSummary, Spending, all_failed
from ragassay.judges.asking import IN_PART
from ragassay.metrics.core.metric import Metric, missing
from ragassay.models.weights.weight_files import BY_MODEL, Unavailable

if TYPE_CHECKING:
    from ragassay.engine.run.accumulator import Accumulator


@contextmanager
def record_warnings() -> Iterator[Callable[[], list[str]]]:
    """Records ragassay's own warnings; those of others are issued again at the end."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RagassayWarning)
        yield lambda: _summed(one.message for one in caught if _is_ours(one))
    for one in caught:
        if not _is_ours(one):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def _is_ours(warning: warnings.WarningMessage) -> bool:
    return issubclass(warning.category, RagassayWarning)


def _summed(facts: Iterable[Warning | str]) -> list[str]:
    told: dict[str, Warning | str] = {}
    for fact in facts:
        if isinstance(fact, CountedFact):
            first = told.get(fact.sentence)
            if isinstance(first, CountedFact):
                fact = CountedFact(fact.sentence, first.n + fact.n, first.example)
            told[fact.sentence] = fact
        else:
            told.setdefault(str(fact), fact)
    return [str(fact) for fact in told.values()]


class MissingScores:
    """The first reason of each kind why scores are missing: of all, and the metrics that lack a
    model by what is missing. ``n_without_embedder`` counts scores without the vectors of a named
    embedder."""

    def __init__(self, metrics: Mapping[str, Metric], *, names_embedder: bool) -> None:
        self._metrics, self._names_embedder = metrics, names_embedder
        self.first_reason = ""
        self.without_model: dict[str, dict[str, None]] = {}
        self.n_without_embedder = 0
        self._derived: dict[str, str] = {}
        self._failed: dict[str, tuple[str, str]] = {}
        self._lacking: dict[str, tuple[str, str]] = {}

    def add(self, name: str, sample: Sample, outcome: Unscored) -> None:
        """Takes in a missing score."""
        metric, detail = self._metrics[name], outcome.detail.rstrip(".")
        self.first_reason = self.first_reason or outcome.detail
        if outcome.reason is Reason.FAILED:
            self._failed.setdefault(name, (sample.id, detail))
        if name not in self._lacking and _lacks_within(metric, sample, outcome):
            self._lacking[name] = (sample.id, detail)
        is_absent = outcome.reason is Unavailable.reason
        if outcome.reason in BY_MODEL and (metric.kind == "model" or metric.embeds):
            self.without_model.setdefault(detail, {})[name] = None
            # A run that names an embedder is incomplete without its vectors.
            self.n_without_embedder += is_absent and metric.embeds and self._names_embedder
        elif is_absent and metric.inputs:
            self._derived.setdefault(name, detail)

    def of_models_and_parts(
        self, metrics: Mapping[str, MetricSummary], *, derived: bool
    ) -> Iterator[Note]:
        """The metrics that lack scores because of a model or a part of the samples; those that
        derive from others, too, where that is wanted or a model is missing."""
        absent = {name for names in self.without_model.values() for name in names}
        for detail, names in self.without_model.items():
            some = any(metrics[name].n_scored for name in names)
            kind = "some_unscored" if some else "all_unscored"
            yield Note(kind, {"why": detail}, tuple(names))
        if absent and self._derived:
            yield Note("made_of_unscored", names=tuple(self._derived))
        elif derived:
            for name, detail in self._derived.items():
                yield Note("all_unscored", {"why": detail}, (name,))
        alike = grouped(
            (first, name)
            for name, first in self._lacking.items()
            if not metrics[name].n_scored and name not in absent
        )
        for (sample, detail), of_part in alike.items():
            yield Note("part_missing", {"sample": repr(sample), "why": detail}, tuple(of_part))

    def of_failures(self, explained: Iterable[str]) -> Iterator[Note]:
        """The first failure of each metric, without those that other notes explain."""
        known = {detail.rstrip(".") for detail in explained} - {""}
        for name, (sample, detail) in self._failed.items():
            if detail and not any(one in detail for one in known):
                known.add(detail)
                yield Note("metric_failed", {"sample": repr(sample), "why": detail}, (name,))


def _lacks_within(metric: Metric, sample: Sample, outcome: Unscored) -> bool:
    """Whether a sample has each part that a metric needs, and what is missing lies within one."""
    return (
        outcome.reason is Reason.MISSING_INPUT
        and bool(metric.needs)
        and missing(sample, metric.needs) is None
        and metric.lacks(sample) is not None  # else an answer of the judge is missing
    )


def warnings_of(
    run: Accumulator,
    metrics: Mapping[str, MetricSummary],
    judging: Spending | None,
    embedding: Spending | None,
) -> Iterator[Note]:
    """What is to be said of a run whose samples are all taken in."""
    asked = [spent for spent in (judging, embedding) if spent is not None]
    details = [detail for spent in asked for detail in spent.details.values() if detail]
    has_scores = any(metric.n_scored for metric in metrics.values())
    failure = all_failed(run.failures, len(run.columns))
    if failure:
        yield as_note(failure)
    elif metrics and not has_scores:
        yield _nothing_scored(run, metrics, details)
    elif run.cause:
        yield as_note(run.cause)
    if has_scores:
        yield from run.missing.of_models_and_parts(metrics, derived=not run.cause)
    yield from _of_scripts(run)
    first_reason = [] if has_scores else [run.missing.first_reason]  # another sentence has it
    yield from run.missing.of_failures([*details, *first_reason])
    yield from _unanswered(judging, embedding)
    yield from _of_clusters(run, metrics)
    yield from _of_parts(run, failed=bool(failure))


def as_note(sentence: str) -> Note:
    """A sentence that comes as it is: a warning of a reader, or what a system says of itself."""
    return Note("text", {"text": sentence}, severity="warning")


def _nothing_scored(
    run: Accumulator, metrics: Mapping[str, MetricSummary], details: Iterable[str]
) -> Note:
    """Says that no metric has a score, why, and which suites could score the data."""
    why = run.cause or run.missing.first_reason or "no metric applies"
    # A reason that the judge gave has a warning of its own.
    is_repeated = any(one in why or why.rstrip(". ") in one for one in details)
    counts = {"cause": "" if is_repeated else f": {why.rstrip('.')}"}
    failed = any(Reason(one).incomplete for m in metrics.values() for one in m.unscored)
    data = run.config.data
    if run.cause or failed or run.missing.without_model:
        return Note("nothing_scored", counts)
    if others := run.other_suites():
        command = shlex.join(["ragassay", "run", str(data), "--suite", others[0]])
        counts["run"] = f" Run: {command}." if isinstance(data, str) else ""
        kind = "nothing_scored_in_memory" if data is None else "nothing_scored_other_suites"
        return Note(kind, counts, tuple(others[:4]))
    return Note("nothing_scored" if data is None else "nothing_scored_look", counts)


def _of_scripts(run: Accumulator) -> Iterator[Note]:
    """The metrics that find no words in the script of some samples."""
    unread = grouped((run.unread[metric.scripts], name) for name, metric in run.latin.items())
    unread.pop(0, None)
    for n, names in unread.items():
        wide = dict.fromkeys(run.latin[name].for_all_scripts for name in names)
        total = len(run.columns)
        yield Note(
            "script_not_read", {"n": n, "total": total, "wide": ", ".join(wide)}, tuple(names)
        )


def _unanswered(judging: Spending | None, embedding: Spending | None) -> Iterator[Note]:
    """A note for each reason why answers are missing: how many, and the detail of the first."""
    rows: list[tuple[str, Spending, Mapping[str, int], str]] = []
    if judging is not None:
        votes = "votes_lost" if judging.votes else "votes_lost_of_unknown"
        rows = [
            ("questions_unanswered", judging, judging.failures, ""),
            (votes, judging, judging.lost_votes, ""),
            ("answers_in_part", judging, judging.in_part, IN_PART),
        ]
    if embedding is not None:
        rows.append(("texts_without_vector", embedding, embedding.failures, ""))
    for kind, spent, found, suffix in rows:
        for reason, n in found.items():
            why = spent.details.get(f"{reason}{suffix}", "").strip().rstrip(".")
            counts: dict[str, float | str] = {"n": n, "total": spent.votes}
            counts |= {"reason": reason.replace("_", " "), "why": f": {why}" if why else ""}
            yield Note(kind, counts)


def _of_clusters(run: Accumulator, metrics: Mapping[str, MetricSummary]) -> Iterator[Note]:
    """What makes the intervals wide, narrow or impossible."""
    n = len(run.columns)
    if run.clustered_by is not None and n > 1 and len(set(run.clusters)) == 1:
        yield Note("one_cluster", {"n": n, "by": run.clustered_by})
    if names := crowded(run.columns, metrics.values()):
        yield Note("crowded", names=tuple(names))


def _of_parts(run: Accumulator, *, failed: bool) -> Iterator[Note]:
    """The parts that samples lack (answers, labels, a cluster), and the systems that are mixed."""
    total, n = len(run.columns), run.n_unanswered
    # A metric that gives a published value where a part is missing leaves nothing unscored.
    empty = Sample(id="none")
    strict = [metric for metric in run.metrics.values() if metric.lacks(empty) is not None]
    if n and any("answer" in metric.needs for metric in strict) and not failed:
        by_count = run.failures.most_common()
        why = ", ".join(f"{count:,} {what.rstrip('.')}" for what, count in by_count)
        why = f" ({why})" if why else ""
        yield Note("without_answer", {"n": n, "total": total, "why": why})
    if run.n_without_label:
        yield Note("without_label", {"n": run.n_unlabelled})
    if run.column is not None and run.n_clustered < total:
        yield Note(
            "without_cluster", {"n": total - run.n_clustered, "total": total, "by": run.column}
        )
    if len(run.systems) > 1:
        listed = ", ".join(sorted(name or "(none)" for name in run.systems))
        kind = "mixed_systems" if run.config.output else "mixed_systems_not_kept"
        one = min(filter(None, run.systems))
        yield Note(kind, {"n": len(run.systems), "systems": listed, "one": one})
