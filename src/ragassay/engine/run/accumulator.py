"""Collects what a run's summary needs while windows of scores stream past."""

from __future__ import annotations

import shlex
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property

from ragassay.counts import either, grouped, plural, share
from ragassay.engine.config import RunConfig
from ragassay.engine.results import (
    CONVERSATION_KEYS,
    IN_CLUSTER,
    NO_CLUSTERS,
    Given,
    IntervalOptions,
    MetricSummary,
    ResultSink,
    ScoreColumns,
    Slicer,
    Spending,
    Summary,
    all_failed,
    averaged_over,
    cluster_of,
    conversations_of_ids,
    count_incomplete,
    describe,
    fingerprint,
    given_of,
    mixed,
    named_conversation,
    slice_summaries,
    summarise,
    totals,
)
from ragassay.errors import CountedFact, RagassayWarning, UsageError
from ragassay.judges import IN_PART
from ragassay.metrics.core import Metric, missing
from ragassay.models.weights import BY_MODEL, Unavailable
from ragassay.samples import Sample
from ragassay.scores import Outcome, Reason, Unscored
from ragassay.suites import Suite


class Accumulator:
    """What stays in memory while samples stream past: numbers, ids and counts, no texts.

    Attributes:
        intervals: how they are computed.
        judge: label of the run's judge, to be set before samples are added.
        cause: why scores are missing, where the caller knows better than the scores; a sentence.
        other_suites: gives the suites that could score the data, best first. It is asked where no
            metric applied to a sample.
    """

    def __init__(self, config: RunConfig, metrics: Mapping[str, Metric]) -> None:
        self.config = config
        self.metrics = metrics
        self.columns = ScoreColumns(metrics)
        self.intervals = IntervalOptions(
            config.interval, config.level, config.n_resamples, config.seed
        )
        self.systems: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self._slicer = Slicer(self.config.slice_by)
        self._clusters: list[str] = []
        self._named = False
        self._metadata: set[str] = set()
        self._first_reason = ""
        self._absent: dict[str, dict[str, None]] = {}
        self._made_of: dict[str, str] = {}
        self._broken: dict[str, tuple[str, str]] = {}
        self._lacking: dict[str, tuple[str, str]] = {}
        self._without = 0
        self._unanswered = 0
        self._unlabelled = 0
        self._judged: set[str] = set()
        self._latin = [name for name, metric in metrics.items() if metric.for_all_scripts]
        self._letters = Counter(dict.fromkeys((True, False), 0))
        self.judge = ""
        self.cause = ""
        self.other_suites: Callable[[], Sequence[str]] = tuple

    @cached_property
    def clustered_by(self) -> str | None:
        """The clustering column: the one asked for, or the conversation, where samples name one or
        their ids hold one. To be asked for after the last sample."""
        if self.config.cluster_by is not None:
            return self._column
        if self._named:
            return CONVERSATION_KEYS[0]
        return CONVERSATION_KEYS[1] if self._turns else None

    @cached_property
    def _column(self) -> str | None:
        """The clustering column that was asked for."""
        asked = self.config.cluster_by
        return None if asked == NO_CLUSTERS else asked

    @cached_property
    def _turns(self) -> bool:
        """Whether ids hold conversations."""
        return conversations_of_ids([query for query, _, _ in self.columns.identities]) is not None

    def add(self, samples: Sequence[Sample], outcomes: Sequence[Sequence[Outcome]]) -> None:
        """Takes in a window of scored samples.

        Args:
            samples: of the window.
            outcomes: one list for each metric, in the order of the samples.
        """
        column = self._column or CONVERSATION_KEYS[0]
        for sample in samples:
            self.columns.identities.append(sample.identity)
            self.columns.asked.append(fingerprint.of_sample(sample))
            self.systems[sample.system] += 1
            if sample.failure:
                self.failures[" ".join(sample.failure.split())] += 1
            self._unanswered += sample.answer is None
            self._unlabelled += sample.answerability is None
            if self._latin:
                self._count_letters(sample)
            self._slicer.add(sample)
            self._metadata |= sample.metadata.keys()
            self._clusters.append(cluster_of(sample, column))
            self._named = self._named or named_conversation(sample) is not None
        for name, window in zip(self.metrics, outcomes, strict=True):
            for sample, outcome in zip(samples, window, strict=True):
                self.columns.add(name, outcome, self.judge)
                if outcome.evidence:
                    self._judged.add(name)
                if isinstance(outcome, Unscored):
                    self._first_reason = self._first_reason or outcome.detail
                    if outcome.reason is Reason.FAILED:
                        self._broken.setdefault(name, (sample.id, outcome.detail.rstrip(".")))
                    metric = self.metrics[name]
                    if name not in self._lacking and _lacks_within(metric, sample, outcome):
                        self._lacking[name] = (sample.id, outcome.detail.rstrip("."))
                    absent = outcome.reason is Unavailable.reason
                    if outcome.reason in BY_MODEL and (metric.kind == "model" or metric.embeds):
                        self._absent.setdefault(outcome.detail.rstrip("."), {})[name] = None
                        # Whoever names an embedder counts on its vectors.
                        named = metric.embeds and self.config.embedder is not None
                        self._without += absent and named
                    elif absent and metric.inputs:
                        self._made_of.setdefault(name, outcome.detail.rstrip("."))

    def _count_letters(self, sample: Sample) -> None:
        """Counts letters of answer and references, by whether they are ASCII."""
        texts = list(sample.references or ())
        if sample.answer is not None:
            texts.append(sample.answer.text)
        for text in texts:
            # Few texts have other letters, and to count those of a text takes longer than to ask.
            ascii_letters = sum(map(str.isalpha, text.encode("ascii", "ignore").decode("ascii")))
            every = ascii_letters if text.isascii() else sum(map(str.isalpha, text))
            self._letters[True] += ascii_letters
            self._letters[False] += every - ascii_letters

    def summary(
        self,
        title: str,
        suite: str,
        notes: Sequence[str],
        *,
        sign: Callable[[Metric, Given], str] | None = None,
        judging: Spending | None = None,
        embedding: Spending | None = None,
        nuggets: str = "",
        suites: Sequence[Suite] = (),
    ) -> Summary:
        """Closes the columns and summarises them.

        Args:
            title: of the data.
            suite: title of the suites.
            notes: sentences for the reader.
            sign: gives a metric's signature as it was really computed (judge and prompts included),
                from the metric and how much of it came with the records.
            judging: what was asked of the judge; ``None`` where nobody was asked.
            embedding: what was asked of an embedding endpoint.
            nuggets: hash of the nugget bank.
            suites: of the run, for their totals.

        Raises:
            UsageError: no sample has a column that was asked for, to slice or to cluster by.
        """
        columns, config = self.columns, self.config
        columns.slices = self._slicer.columns()
        columns.clusters = self._clusters if self.clustered_by is not None else None
        for name in config.slice_by or ():
            self._demand(name, "--slice-by", any(columns.slices[name]), self._slicer.seen)
        if self._column is not None:
            known = self._metadata | {CONVERSATION_KEYS[1]} if self._turns else self._metadata
            self._demand(self._column, "--cluster-by", self._clustered > 0, known)
        described = [
            describe(
                name,
                m,
                config.level,
                "" if sign is None else sign(m, self._given(name)),
                judging.judge if judging is not None and name in self._judged else "",
                next((suite.groups[name] for suite in suites if name in suite.groups), ""),
            )
            for name, m in self.metrics.items()
        ]
        families = {metric.family for metric in described}
        summary_of = summarise(columns, described, self.intervals)
        return Summary(
            title=title,
            suite=suite,
            system=next(iter(self.systems)) if len(self.systems) == 1 else "",
            n_samples=len(columns),
            n_queries=columns.n_queries,
            averaged_over=averaged_over(
                columns, families, self.clustered_by, from_ids=not self._named
            ),
            metrics=summary_of,
            slices=slice_summaries(columns, described, self.intervals),
            failures=dict(self.failures),
            incomplete=count_incomplete(columns)
            + self._without
            + self._unlabelled * self._label_metrics
            + (0 if judging is None else sum(judging.lost_votes.values())),
            warnings=(
                *notes,
                *mixed({name: m.judges for name, m in summary_of.items()}, self.judge),
                *self._warnings(summary_of, judging, embedding),
            ),
            judging=judging,
            embedding=embedding,
            fingerprint=fingerprint.of_run(columns.asked),
            nuggets=nuggets,
            totals=totals(suites, summary_of.values()),
        )

    def _given(self, name: str) -> Given:
        """How much of a metric came with the records."""
        columns = self.columns
        n_scored = int(columns.scored(name).sum()) + sum(columns.labels(name).values())
        return given_of(columns.n_given(name), n_scored, columns.judges(name), self.judge)

    @property
    def _label_metrics(self) -> int:
        """How many metrics need the answerability label: where it is missing, the run is
        incomplete.
        """
        return sum("answerability" in metric.needs for metric in self.metrics.values())

    def _demand(self, name: str, flag: str, there: bool, known: Iterable[str]) -> None:
        if not there:
            hint = ""
            if name in CONVERSATION_KEYS:
                hint = (
                    " Name the conversation in each record's metadata, or give ids of the form "
                    "CONVERSATION::TURN."
                )
            raise UsageError(
                f"No sample has the column {name!r} of {flag}. "
                f"There are: {', '.join(sorted(known)) or 'none'}.{hint}"
            )

    @cached_property
    def _clustered(self) -> int:
        """How many samples have a value in the clustering column."""
        return sum(cluster.startswith(IN_CLUSTER) for cluster in self._clusters)

    def _warnings(
        self,
        metrics: Mapping[str, MetricSummary],
        judging: Spending | None,
        embedding: Spending | None,
    ) -> Iterator[str]:
        asked = [spent for spent in (judging, embedding) if spent is not None]
        n = len(self.columns)
        if gone := all_failed(self.failures, n):
            yield gone
        elif metrics and not any(metric.n_scored for metric in metrics.values()):
            why = self._first_reason or "no metric applies"
            failed = any(Reason(one).incomplete for m in metrics.values() for one in m.unscored)
            hint = " 'ragassay validate' shows what the data holds."
            if failed or self._absent:
                hint = ""
            if self.cause:
                why, hint = self.cause, ""
            # What the judge said follows by itself.
            details = [one for spent in asked for one in spent.details.values() if one]
            is_repeated = any(one in why or why.rstrip(". ") in one for one in details)
            cause = "" if is_repeated else f": {why.rstrip('.')}"
            if hint and (others := self.other_suites()):
                data, named = self.config.data, ", ".join(others[:4])
                command = ["ragassay", "run", str(data), "--suite", others[0]]
                run = f" Run: {shlex.join(command)}." if isinstance(data, str) else ""
                hint = f" Suites that can score this data: {named}.{run}{hint}"
            yield f"Nothing was scored{cause}.{hint}"
        elif self.cause:
            yield self.cause
        if any(metric.n_scored for metric in metrics.values()):
            for detail, names in self._absent.items():
                some = any(metrics[name].n_scored for name in names)
                yield f"{', '.join(names)}: unscored, {detail}.{_NEEDED_NONE if some else ''}"
            if self._absent and self._made_of:
                yield f"{', '.join(self._made_of)}: unscored as well, being made of these."
            elif not self.cause:
                for name, detail in self._made_of.items():
                    yield f"{name}: unscored, {detail}."
            absent = {name for names in self._absent.values() for name in names}
            alike = grouped(
                (first, name)
                for name, first in self._lacking.items()
                if not metrics[name].n_scored and name not in absent
            )
            for (sample_id, detail), names_of in alike.items():
                listed = ", ".join(names_of)
                yield f"{listed}: unscored, missing input, first in sample {sample_id!r}: {detail}."
        if self._letters[False] > self._letters[True]:
            told = ", ".join(self._latin)
            wide = dict.fromkeys(self.metrics[name].for_all_scripts for name in self._latin)
            counts = either(len(self._latin), "counts", "count")
            yield (
                f"Most letters of the answers and references are not a-z, and {told} "
                f"{counts} only words of a-z and 0-9, as published. For other scripts: "
                f"{', '.join(wide)}."
            )
        known = {detail.rstrip(".") for spent in asked for detail in spent.details.values()}
        if not any(metric.n_scored for metric in metrics.values()):
            known.add(self._first_reason.rstrip("."))
        known.discard("")
        for name, (sample_id, detail) in self._broken.items():
            if detail and not any(one in detail for one in known):
                known.add(detail)
                yield f"{name} failed, first on sample {sample_id!r}: {detail}."
        if judging is not None:
            said = judging.details
            yield from _unanswered("question", "without an answer", judging.failures, said)
            yield from _unanswered("vote", "lost", judging.lost_votes, said, judging.votes)
            of_parts = {reason: said[f"{reason}{IN_PART}"] for reason in judging.in_part}
            yield from _unanswered("answer", "without a part", judging.in_part, of_parts)
        if embedding is not None:
            failures = embedding.failures
            yield from _unanswered("text", "without a vector", failures, embedding.details)
        if self.clustered_by is not None and n > 1 and len(set(self._clusters)) == 1:
            yield (
                f"All {n} samples belong to one {self.clustered_by}, so there are no intervals; "
                "name another column with --cluster-by, or none (--cluster-by none)."
            )
        # A metric that gives a published value where a part is missing leaves nothing unscored.
        nothing = Sample(id="none")
        strict = [metric for metric in self.metrics.values() if metric.lacks(nothing) is not None]
        needs = {need for metric in strict for need in metric.needs}
        if self._unanswered and "answer" in needs and not gone:
            by_count = self.failures.most_common()
            counts = ", ".join(f"{count:,} {what.rstrip('.')}" for what, count in by_count)
            lacking = self._unanswered
            yield (
                f"{share(lacking, n, 'sample')} {either(lacking, 'has', 'have')} no answer"
                f"{f' ({counts})' if counts else ''}: {either(lacking, 'it is', 'they are')} "
                "unscored, so the means speak only of the others."
            )
        if self._unlabelled and self._label_metrics:
            sentence = (
                "{n} {sample lacks|samples lack} the answerability label that some metrics need; "
                "the run is incomplete. Give 'answerability' (or 'Answerability') in each record."
            )
            yield str(CountedFact(sentence, self._unlabelled))
        if self._column is not None and self._clustered < n:
            alone = n - self._clustered
            yield (
                f"{share(alone, n, 'sample')} {either(alone, 'has', 'have')} no "
                f"{self._column}; {either(alone, 'it', 'each of them')} is a cluster of "
                "its own query."
            )
        if len(self.systems) > 1:
            named = ", ".join(sorted(name or "(none)" for name in self.systems))
            compare = "compare them with 'ragassay compare DIR'"
            if not self.config.output:
                compare = f"keep the run with -o DIR (output='DIR') and {compare}"
            yield (
                f"The data holds {len(self.systems)} systems ({named}); the means mix them. "
                f"See the slices, or {compare}."
            )


def _lacks_within(metric: Metric, sample: Sample, outcome: Unscored) -> bool:
    """Whether a sample has each part that a metric needs, and what is missing lies within one."""
    return (
        outcome.reason is Reason.MISSING_INPUT
        and bool(metric.needs)
        and missing(sample, metric.needs) is None
        and metric.lacks(sample) is not None  # else an answer of the judge is missing
    )


_NEEDED_NONE = " The values that are there needed no model; they tell nothing of the others."


def _unanswered(
    noun: str, what: str, counts: Mapping[str, int], details: Mapping[str, str], of: int = 0
) -> Iterator[str]:
    """A sentence for each reason: how many, where told of how many, and the detail of the first."""
    for reason, n in counts.items():
        why = details.get(reason, "").strip()
        these = share(n, of, noun) if of else plural(n, noun)
        many = f"{these} {what} ({reason.replace('_', ' ')})"
        ended = why.endswith((".", "!", "?", "…"))
        yield f"{many}: {why}{'' if ended else '.'}" if why else f"{many}."


@contextmanager
def noted() -> Iterator[Callable[[], list[str]]]:
    """Keeps our own warnings for the summary; those of others are passed on in the end.

    Yields:
        What gives the sentences so far, each once (see `_summed`).
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RagassayWarning)
        yield lambda: _summed(one.message for one in caught if _is_ours(one))
    for one in caught:
        if not _is_ours(one):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def _is_ours(warning: warnings.WarningMessage) -> bool:
    return issubclass(warning.category, RagassayWarning)


def _summed(told: Iterable[Warning | str]) -> list[str]:
    """Sentences, each once; tallies of the same sentence become one with the sum."""
    counts: dict[str, int | None] = {}
    for one in told:
        if isinstance(one, CountedFact):
            counts[one.sentence] = (counts.get(one.sentence) or 0) + one.n
        else:
            counts.setdefault(str(one))
    return [
        sentence if n is None else str(CountedFact(sentence, n)) for sentence, n in counts.items()
    ]


def collect(
    windows: Iterable[tuple[Sequence[Sample], Sequence[Sequence[Outcome]]]],
    accumulator: Accumulator,
    sink: ResultSink,
    takers: Iterable[Callable[[Sequence[Sample]], None]] = (),
) -> None:
    """Takes in what is scored: the one loop for samples and for the repeated runs of queries.

    Args:
        windows: samples, with a list of outcomes for each metric.
        accumulator: adds it up.
        sink: keeps it.
        takers: called with the samples of each window, after both.
    """
    for samples, outcomes in windows:
        accumulator.add(samples, outcomes)
        sink.add(samples, outcomes)
        for take in takers:
            take(samples)
