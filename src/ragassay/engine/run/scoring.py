"""From samples and metrics to outcomes, a bounded window at a time, and to what a run keeps of them
and its summary. Judged metrics run ahead: while one window's arithmetic is computed, the questions
of the next windows are sent already. Last, what is to be said beside a run's numbers: its warnings,
and what its scores lack."""

from __future__ import annotations

import asyncio
import re
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import compress, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ragassay.base.errors import CountedFact, RagassayWarning, UsageError, warn_user
from ragassay.base.note import Note
from ragassay.base.printable import grouped
from ragassay.base.sample import ABSTAINING, Answerability, Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.engine.comparison.offline_agreement import OFFLINE
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.models.needed_models import identities
from ragassay.engine.results.folders.run_folder import FolderWriter, read_rows, read_samples
from ragassay.engine.results.result import Result
from ragassay.engine.results.score_columns import (
    ALL_GIVEN,
    DataLanguage,
    SampleColumns,
    ScoreColumns,
    given_parts,
    mixed,
)
from ragassay.engine.results.score_rows import ScoreRow
from ragassay.engine.results.summary import (
    MetricSummary,
    Spending,
    Summary,
    describe,
    facts_of,
    slice_summaries,
    totals,
)
from ragassay.formats.records.field_names import suggestions
from ragassay.judges import Question
from ragassay.judges.asking import IN_PART, Ask, Asker
from ragassay.judges.questions import AssignNuggets
from ragassay.metrics.answer.references import ReferenceMetric
from ragassay.metrics.core.judged import JudgedMetric
from ragassay.metrics.core.metric import AllSamples, Metric, Window, missing, reached
from ragassay.models.run_models import Models
from ragassay.models.weights.weight_files import BY_MODEL, Unavailable
from ragassay.suites import Suite
from ragassay.texts.document_names import CONVERSATION_KEYS, conversations_of_ids
from ragassay.texts.languages import UNSPACED

if TYPE_CHECKING:
    from ragassay.formats import NuggetBank

T = TypeVar("T")

WINDOW = 1024
"""Samples that are scored together. Larger windows share more work and hold more text in memory."""

MODELLED_WINDOW = 32
"""Where a neural model measures: enough to fill its batches, small enough to show the progress."""

JUDGED_WINDOW = 128
AHEAD = 4
"""Windows whose questions may be in flight at once: enough to keep every slot of an endpoint busy
while the first window waits for its slowest reply."""

Judged = Mapping[JudgedMetric, Sequence[Outcome]]


def score_stream(
    samples: Iterable[Sample],
    metrics: Sequence[Metric],
    asker: Asker | None = None,
    size: int | None = None,
    models: Models | None = None,
    all_samples: AllSamples | None = None,
) -> Iterator[tuple[Sequence[Sample], list[Sequence[Outcome]]]]:
    """Scores samples, a window at a time."""
    every, judged, remaining = reached(metrics), judged_among(metrics), iter(samples)
    size = size or (JUDGED_WINDOW if judged else WINDOW)
    if models is None and any(metric.weights or metric.embeds for metric in every):
        models = Models()
    waiting: deque[tuple[Sequence[Sample], Future[Judged] | None]] = deque()
    ahead = AHEAD if judged and asker else 1
    while True:
        while len(waiting) < ahead and (batch := tuple(islice(remaining, size))):
            asked = asker.submit(judge_all(batch, judged, asker)) if judged and asker else None
            waiting.append((batch, asked))
        if not waiting:
            return
        taken, asked = waiting.popleft()
        computed = None if asked is None else asked.result()
        window = Window(taken, asker, models, all_samples, computed)
        outcomes: list[Sequence[Outcome]] = [
            [
                excused(sample, outcome) if isinstance(outcome, Unscored) else outcome
                for sample, outcome in zip(window.samples, window.outcomes(metric), strict=True)
            ]
            for metric in metrics
        ]
        remarks = (remark for metric in every for remark in metric.remarks(window))
        for remark in dict.fromkeys(remarks):  # metrics of one family share theirs
            warn_user(remark)
        yield window.samples, outcomes


def excused(sample: Sample, outcome: Unscored) -> Unscored:
    """An outcome, not the system's doing where it need not have given what a metric looks at: the
    query is labelled unanswerable or conversational, or the data set gave it no passages."""
    reason = outcome.reason
    is_prescribed = reason is Reason.NOTHING_RETRIEVED and sample.passages_prescribed
    if (sample.answerability in ABSTAINING or is_prescribed) and reason.by_system:
        return replace(outcome, reason=reason.excused, lacks=reason)
    return outcome


def by_reference(sample: Sample) -> Sample:
    """The sample, unanswerable and without a reference where it has no label and all its references
    decline ("N/A"), so that a system that declines, too, is right."""
    texts = [text for text in sample.references if text.strip()]
    if sample.answerability is None and texts:
        from ragassay.judges.offline.refusal import declines

        if all(map(declines, texts)):
            return replace(sample, answerability=Answerability.UNANSWERABLE, references=())
    return sample


def judged_among(metrics: Iterable[Metric]) -> dict[JudgedMetric, list[Metric]]:
    """The metrics that ask a judge, inputs included, each with the metrics that it is asked for."""
    return grouped((p, m) for m in metrics for p in reached([m]) if isinstance(p, JudgedMetric))


async def judge_all(
    samples: Sequence[Sample], judged: Mapping[JudgedMetric, Sequence[Metric]], asker: Asker
) -> Judged:
    """Computes all judged metrics of a window. A question that several ask is asked once."""
    scope = Ask(asker)

    async def every(sample: Sample) -> Sequence[Outcome]:
        outcomes = (metric.outcome(sample, scope, users) for metric, users in judged.items())
        return await asyncio.gather(*outcomes)

    finished = (asker.finish_sample(partial(every, sample)) for sample in samples)
    rows = await asyncio.gather(*finished)
    return {metric: [row[at] for row in rows] for at, metric in enumerate(judged)}


def batched(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """The items in tuples of `size`; the last may be shorter."""
    iterator = iter(items)
    while batch := tuple(islice(iterator, size)):
        yield batch


_UNSPACED = re.compile(f"[{UNSPACED}]")

Scored = tuple[Sequence[Sample], Sequence[Sequence[Outcome]]]
"""A window's samples and, metric by metric, their outcomes."""


def rows_of(window: Scored, names: Sequence[str], judge: str) -> Iterator[ScoreRow]:
    """The scores of a window, sample by sample."""
    samples, outcomes = window
    for at, sample in enumerate(samples):
        for name, column in zip(names, outcomes, strict=True):
            yield ScoreRow.of(sample.identity, name, column[at], judge)


class Accumulator:
    """Collects what a run keeps while windows of samples stream past: scores, rows, and counts for
    its summary. Texts of samples stay in memory only where they are kept.

    ``samples`` counts their clusters; ``clustered_by``, known after the last of them, is the
    clustering column: the one asked for, or the conversation, where samples name one or their ids
    hold one. ``latin`` and ``unread`` are the metrics that find words in some scripts only, and how
    many samples are in others. ``cause`` says why scores are missing, where the caller knows it.
    ``metadata`` are the columns without a field. ``strict``: a column of slices or clusters without
    a value is refused."""

    def __init__(
        self,
        config: RunConfig,
        metrics: Mapping[str, Metric],
        writer: FolderWriter | None = None,
        *,
        keep: bool = False,
        judge: str = "",
        strict: bool = True,
    ) -> None:
        self.config, self.metrics, self.judge = config, metrics, judge
        self.columns = ScoreColumns(metrics)
        self.systems: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.samples = SampleColumns(self.columns, config.slice_by, config.cluster_by)
        self.clustered_by = self.samples.column
        self.missing = MissingScores(metrics, config.embedder is not None)
        self.n_unanswered = self.n_unasked = self.n_declining = self.n_earlier = 0
        self.latin = {
            name: metric
            for name, metric in metrics.items()
            if isinstance(metric, ReferenceMetric) and metric.wider
        }
        self.unread: Counter[str] = Counter()
        self.cause = ""
        self._strict = strict
        self._begun = time.monotonic()
        self._writer = writer
        self._kept: list[Scored] | None = [] if keep and writer is None else None
        self.metadata: set[str] = set()
        self._judged: set[str] = set()  # metrics of which the judge answered a question
        self._language = DataLanguage()

    def scored(
        self, samples: Iterator[Sample], asker: Asker | None = None, **options: Any
    ) -> Iterator[Sequence[Sample]]:
        """Scores samples, takes them in and writes them; gives each window of them.
        ``options`` are those of `score_stream`."""
        samples = (self._newest(s) if "asked" in s.metadata else s for s in samples)
        for window, outcomes in score_stream(samples, [*self.metrics.values()], asker, **options):
            self.add(window, outcomes)
            if self._writer is not None:
                rows = rows_of((window, outcomes), self.columns.metrics, self.judge)
                self._writer.add(window, rows)
            if self._kept is not None:
                self._kept.append((window, outcomes))
            yield window

    def _newest(self, sample: Sample) -> Sample:
        """The sample, without an answer that is older than a failure of the system; counts it."""
        asked = sample.metadata["asked"]
        if sample.answer is None or not (isinstance(asked, dict) and "failure" in asked):
            return sample
        self.n_earlier += 1
        why = f"{asked['failure']}: {asked.get('detail', 'asked again')}"
        return replace(sample, answer=None, passages=None, failure=why)

    def understood(self, sample: Sample) -> Sample:
        """The sample `by_reference`; counts those whose references decline."""
        self.n_declining += (read := by_reference(sample)) is not sample
        return read

    def add(self, samples: Sequence[Sample], outcomes: Sequence[Sequence[Outcome]]) -> None:
        """Takes in a window of scored samples, with a list of outcomes for each metric."""
        for sample in samples:
            self.samples.add(sample)
            self.systems[sample.system] += 1
            if sample.failure:
                self.failures[" ".join(sample.failure.split())] += 1
            self.n_unanswered += sample.answer is None
            self.n_unasked += sample.query is None
            text = "\n".join([*(sample.references or ()), sample.answer_text]) if self.latin else ""
            if not text.isascii():  # few texts are not, and counting takes longer than this check
                letters = sum(map(str.isalpha, text))
                n_ascii = sum(map(str.isalpha, text.encode("ascii", "ignore").decode("ascii")))
                self.unread["latin"] += 2 * n_ascii < letters
                self.unread["spaced"] += 2 * len(_UNSPACED.findall(text)) > letters
            self.metadata |= sample.metadata.keys()
        judged = [False] * len(samples)
        for name, window in zip(self.metrics, outcomes, strict=True):
            for at, outcome in enumerate(window):
                self.columns.add(name, outcome, self.judge)
                lost = isinstance(outcome, Unscored) and outcome.reason.incomplete
                if outcome.evidence and not lost:
                    self._judged.add(name)
                judged[at] |= bool(outcome.evidence or (isinstance(outcome, Score) and outcome.by))
                if isinstance(outcome, Unscored):
                    self.missing.add(name, samples[at], outcome)
        for sample in compress(samples, judged):
            self._language.add(sample)

    def summary(
        self,
        title: str,
        suite: str,
        notes: Sequence[Note],
        *,
        asker: Asker | None = None,
        models: Models | None = None,
        bank: NuggetBank | None = None,
        suites: Sequence[Suite] = (),
    ) -> Summary:
        """Closes the columns and summarises them."""
        columns, config, collected = self.columns, self.config, self.samples
        if config.cluster_by is not None:
            if not (self._strict or collected.n_clustered):
                self.clustered_by = None
        elif collected.names_conversations:
            self.clustered_by = CONVERSATION_KEYS[0]
        elif conversations_of_ids([query for query, *_ in columns.identities]) is not None:
            self.clustered_by = CONVERSATION_KEYS[1]
        collected.close(clustered=self.clustered_by is not None)
        if self._strict and (config.slice_by or collected.column is not None):
            self._check_columns()
        judging = embedding = None
        if asker is not None:
            label, seconds = asker.judge.label, time.monotonic() - self._begun
            judging = Spending.of(label, asker.judge.signature, asker.usage, seconds)
        embedder = None if models is None else models.embedder_used
        if embedder is not None and embedder.usage is not None and embedder.usage.questions:
            embedding = Spending.of(embedder.label, embedder.identity, embedder.usage)
        language = self._language.code if self._language.samples else ""
        groups = {name: group for suite in reversed(suites) for name, group in suite.groups.items()}
        described = []
        for name, metric in self.metrics.items():
            judge = self.judge * (name in self._judged)
            about = {"group": groups.get(name, ""), "language": language, "judge": judge}
            tally = columns.tally(name)
            given = given_parts(tally, self.judge) if tally.n_given else ()
            if given or asker is not None or models is not None:
                about["signature"] = signature(metric, asker, bank, given, models)
            described.append(describe(name, metric, config.level, **about))
        facts, crowded = facts_of(columns, described, config.interval, self.clustered_by)
        metrics = facts["metrics"]
        facts["incomplete"] += self.missing.n_owed
        facts["incomplete"] += 0 if judging is None else sum(judging.lost_votes.values())
        summary = Summary(
            title=title,
            suite=suite,
            system=next(iter(self.systems)) if len(self.systems) == 1 else "",
            **facts,
            slices=slice_summaries(columns, described, config.interval) if columns.slices else (),
            failures=dict(self.failures),
            judging=judging,
            embedding=embedding,
            nuggets="" if bank is None else bank.hash,
            totals=totals(suites, metrics.values()) if any(s.totals for s in suites) else {},
            trust_offline=config.trust_offline,
        )
        judges = {name: value.judges for name, value in metrics.items() if len(value.judges) > 1}
        own = *(mixed(judges, self.judge) if judges else ()), *warnings_of(self, summary, crowded)
        return replace(summary, notes=(*notes, *own))

    def _check_columns(self) -> None:
        """Refuses columns of slices or clusters without a value."""
        missing = [
            ("--slice-by", name, {"turn", *self.samples.seen})
            for name in self.config.slice_by or ()
            if not any(self.columns.slices[name])
        ]
        if self.samples.column is not None and not self.samples.n_clustered:
            missing.append(("--cluster-by", self.samples.column, self.metadata))
        for flag, name, existing in missing:
            raise UsageError(
                f"No sample has the column {name!r} of {flag}. "
                f"There are: {', '.join(sorted(existing)) or 'none'}."
            )

    def result(
        self, summary: Summary, resolved: Mapping[str, Any], folder: Path | None, **more: Any
    ) -> Result:
        """The run's result, whose rows are in its folder or else in memory."""
        rows: Callable[[], Iterator[ScoreRow]] | None = None
        kept: Callable[[], Iterator[Sample]] | None = None
        if folder is not None:
            rows, kept = partial(read_rows, folder), partial(read_samples, folder)
        elif self._kept is not None:
            rows = partial(_kept_rows, self._kept, self.columns.metrics, self.judge)
            kept = partial(_kept_samples, self._kept)
        return Result(summary, self.columns, resolved, folder, rows, kept, **more)


def _kept_rows(kept: Sequence[Scored], names: Sequence[str], judge: str) -> Iterator[ScoreRow]:
    return (row for window in kept for row in rows_of(window, names, judge))


def _kept_samples(kept: Sequence[Scored]) -> Iterator[Sample]:
    return (sample for samples, _ in kept for sample in samples)


def signature(
    metric: Metric,
    asker: Asker | None,
    bank: NuggetBank | None = None,
    given: Sequence[str] = (),
    models: Models | None = None,
) -> str:
    """A metric's signature as it was computed: with its judge, prompts and nugget bank, and with
    the weights of its models.

    Two scores compare only where these agree; ``ragassay compare`` refuses otherwise. It depends on
    metric and judge, not on the questions that a run asked."""
    judged = judged_among([metric])
    parts = [metric.signature]
    measured = any(item.weights or item.embeds for item in reached([metric]))
    if measured and models is not None and ALL_GIVEN not in given:
        parts += [f"model={name}" for name in identities(metric, models)]
    if judged and asker is not None and ALL_GIVEN not in given:
        judge = asker.judge
        kinds: dict[type[Question[Any]], Question[Any]] = {}
        for item in judged:
            options = {spec.name: getattr(item, spec.name) for spec in fields(item)}
            kinds.update({kind: kind.blank(options) for kind in item.asks})
        for question in kinds.values():
            hashes = sorted({leaf.prompt_hash(question) for leaf in judge.leaves()})
            # Which of the parameters an endpoint rejects.
            without = "".join(f"-{name}" for name in judge.without(question.sampling()))
            prompts = "+".join(hashes) or f"v{question.version}"
            parts.append(f"{question.kind}:{prompts}{without}")
        parts.append(f"judge={judge.signature}")
        if AssignNuggets in kinds:
            parts.append(f"nuggets={'own' if bank is None else bank.hash}")
    return "|".join([*parts, *given])


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
    for other in caught:
        if not issubclass(other.category, RagassayWarning):
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)


@dataclass
class MissingScores:
    """Why scores are missing: the first reason of all, and by metric the first sample and detail of
    each cause (``failed``, ``model``, ``made of``, ``part``). ``n_owed`` counts scores without the
    vectors of a named embedder, or without the label that decides a published condition."""

    _metrics: Mapping[str, Metric]
    _names_embedder: bool
    first_reason: str = ""
    n_owed: int = 0
    first: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)

    def add(self, name: str, sample: Sample, outcome: Unscored) -> None:
        """Takes in a missing score."""
        metric, cause = self._metrics[name], ""
        self.first_reason = self.first_reason or outcome.detail
        lacks_part = outcome.reason is Reason.MISSING_INPUT
        lacks_label = sample.answerability is None and "answerability" in metric.needs
        self.n_owed += (owes := lacks_part and lacks_label and sample.answer is not None)
        if outcome.reason is Reason.FAILED:
            cause = "failed"
        elif outcome.reason in BY_MODEL and (metric.kind == "model" or metric.embeds):
            cause = "model"
            is_absent = outcome.reason is Unavailable.reason
            self.n_owed += is_absent and metric.embeds and self._names_embedder
        elif outcome.reason is Unavailable.reason and metric.inputs:
            cause = "made of"
        elif (
            lacks_part
            and name not in self.first.get("part", ())
            and metric.needs
            # The sample has each part, and what is missing lies within one.
            and (owes or missing(sample, metric.needs) is None)
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
    """What is to be said of a run whose samples are all taken in; ``crowded``: see `summarise`."""
    total, missing_scores, metrics = summary.n_samples, run.missing, summary.metrics
    spent = [spending for spending in (summary.judging, summary.embedding) if spending is not None]
    known = {detail.rstrip(". ") for s in spent for detail in s.details.values() if detail}
    has_scores = any(metric.n_scored for metric in metrics.values())
    gone = summary.all_failed if summary.failures else ""
    if gone:
        yield as_note(gone)
    elif metrics and not has_scores:
        why = (run.cause or missing_scores.first_reason or "no metric applies").rstrip(". ")
        if any(text in why or why in text for text in known):
            why = ""  # it has a note of its own
        reasons = {Reason(text) for metric in metrics.values() for text in metric.unscored}
        has_cause = run.cause or any(reason.incomplete or reason in BY_MODEL for reason in reasons)
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
        if detail and not any(text in detail for text in known):
            known.add(detail)
            yield Note("metric_failed", {"sample": repr(sample), "why": detail}, (name,))
    has_lost = any(s.failures or s.lost_votes or s.in_part for s in spent)
    if spent and (has_lost or any(metric.unscored for metric in metrics.values())):
        yield from _unanswered(summary.judging, summary.embedding, metrics)
    if run.clustered_by is not None and total > 1 and len(set(run.samples.clusters)) == 1:
        yield Note("one_cluster", {"n": total, "by": run.clustered_by})
    if crowded:
        yield Note("crowded", names=tuple(crowded))
    by_gold = (m for m in metrics.values() if "gold" in run.metrics[m.name].needs)
    tops = {m.name: m.maximum for m in by_gold if m.higher_is_better and m.n_scored > 1}
    if tops and not any(tops.values()):
        yield Note("no_gold_found", {}, tuple(tops), "warning")
    # A metric that gives a published value where a part is missing leaves nothing unscored.
    n, empty = run.n_unanswered, Sample(id="none")
    strict = (metric for metric in run.metrics.values() if metric.lacks(empty) is not None)
    needed = {need for metric in strict for need in metric.needs}
    if 0 < n < total and not gone and "answer" in needed:
        by_count = run.failures.most_common()
        why = ", ".join(f"{count:,} with {what.rstrip('.')}" for what, count in by_count)
        yield Note("without_answer", {"n": n, "total": total, "why": f" ({why})" if why else ""})
    absent = [part for part, n in (("query", run.n_unasked), ("answer", n)) if n == total]
    others = {"query", "answer", "passages", "references"}.difference(absent)
    columns = tuple(sorted(run.metadata))
    near = suggestions(columns, others) if absent and columns else {}
    lost = [part for part in absent if part in needed or part in near]
    if lost and columns and not run.failures:
        flags = ",".join(f"{part}={near.get(part, 'COLUMN')}" for part in lost)
        yield Note("columns_without_field", {"flags": flags}, columns, "headline")
    if run.n_earlier:
        yield Note("earlier_answers", {"n": run.n_earlier, "total": total}, severity="warning")
    if run.n_declining:
        yield Note("references_decline", {"n": run.n_declining})
    if run.samples.column is not None and run.samples.n_clustered < total:
        n_without = total - run.samples.n_clustered
        yield Note("without_cluster", {"n": n_without, "total": total, "by": run.samples.column})
    if len(run.systems) > 1:
        listed = ", ".join(sorted(name or "(none)" for name in run.systems))
        yield Note("mixed_systems", {"n": len(run.systems), "systems": listed})


def as_note(sentence: str) -> Note:
    """A sentence that comes as it is: a warning of a reader, or what a system says of itself."""
    return Note("text", {"text": sentence}, severity="warning")


_ADVICE: Mapping[str, str] = {
    Reason.AUTH: "",  # the detail says what to do
    Reason.BUDGET: "advice_larger_budget",
    Reason.REFUSED: "advice_retry_failed",
    Reason.UNPARSABLE: "advice_retry_failed",
    Reason.CONTEXT_TOO_LONG: "advice_longer_context",
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
            again = "advice_run_again" if Reason(reason).passing else ""
            facts: dict[str, float | str] = {"n": n, "total": spent.votes, "why": why}
            unread = reason == Reason.UNPARSABLE
            facts["reason"] = "a reply could not be read" if unread else reason.replace("_", " ")
            facts["advice"] = "" if "un again" in why else _ADVICE.get(reason, again)
            yield Note(kind, facts)
