"""Collects what a run keeps while windows of samples stream past: scores, rows, and counts for its
summary."""

from __future__ import annotations

import dataclasses
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.base.errors import UsageError
from ragassay.base.note import Note
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Score, Unscored
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.models.needed_models import identities
from ragassay.engine.results import summarising
from ragassay.engine.results.folders.run_folder import FolderWriter, read_rows, read_samples
from ragassay.engine.results.result import Result
from ragassay.engine.results.score_columns import ALL_GIVEN, ScoreColumns, given_parts, mixed
from ragassay.engine.results.score_rows import ScoreRow
from ragassay.engine.results.slicing import (
    IN_CLUSTER,
    DataLanguage,
    Slicer,
    asked_hash,
    cluster_column,
    cluster_of,
)
from ragassay.engine.results.summary import Spending, Summary
from ragassay.engine.run.run_warnings import MissingScores, warnings_of
from ragassay.engine.run.scoring import judged_among, score_stream
from ragassay.judges import Question
from ragassay.judges.asking import Asker
from ragassay.judges.questions import AssignNuggets
from ragassay.metrics.answer.references import ReferenceMetric
from ragassay.metrics.core.metric import Metric, reached
from ragassay.models.run_models import Models
from ragassay.suites import Suite
from ragassay.texts.document_names import (
    CONVERSATION_KEYS,
    conversations_of_ids,
    named_conversation,
)
from ragassay.texts.languages import UNSPACED

if TYPE_CHECKING:
    from ragassay.formats import NuggetBank

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
    """Scores, ids and counts of a run. Texts of samples stay in memory only where they are kept.

    ``latin`` and ``unread`` are the metrics that find words in some scripts only, and how many
    samples are in others. ``cause`` says why scores are missing, where the caller knows it.
    ``strict``: a column of slices or clusters without a value is refused."""

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
        self.column = cluster_column(config.cluster_by)
        self.clusters: list[str] = []
        self.missing = MissingScores(metrics, config.embedder is not None)
        self.n_unanswered = self.n_unlabelled = 0
        self._n_labelled_metrics = sum("answerability" in one.needs for one in metrics.values())
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
        self._slicer = Slicer(config.slice_by)
        self._names_conversations = False
        self._metadata: set[str] = set()
        self._judged: set[str] = set()
        self._language = DataLanguage()

    @cached_property
    def clustered_by(self) -> str | None:
        """The clustering column: the one asked for, or the conversation, where samples name one or
        their ids hold one. To be asked for after the last sample."""
        if self.config.cluster_by is not None:
            return self.column if self._strict or self.n_clustered else None
        if self._names_conversations:
            return CONVERSATION_KEYS[0]
        queries = [query for query, _, _ in self.columns.identities]
        return None if conversations_of_ids(queries) is None else CONVERSATION_KEYS[1]

    @property
    def n_clustered(self) -> int:
        """How many samples have a value in the clustering column."""
        return sum(cluster.startswith(IN_CLUSTER) for cluster in self.clusters)

    def scored(
        self, samples: Iterator[Sample], asker: Asker | None = None, **options: Any
    ) -> Iterator[Sequence[Sample]]:
        """Scores samples, takes them in and writes them; gives each window of them.
        ``options`` are those of `score_stream`."""
        for window, outcomes in score_stream(
            samples, list(self.metrics.values()), asker, **options
        ):
            self.add(window, outcomes)
            if self._writer is not None:
                rows = rows_of((window, outcomes), self.columns.metrics, self.judge)
                self._writer.add(window, rows)
            if self._kept is not None:
                self._kept.append((window, outcomes))
            yield window

    def add(self, samples: Sequence[Sample], outcomes: Sequence[Sequence[Outcome]]) -> None:
        """Takes in a window of scored samples, with a list of outcomes for each metric."""
        column = self.column or CONVERSATION_KEYS[0]
        for sample in samples:
            self.columns.add_sample(sample)
            self.systems[sample.system] += 1
            if sample.failure:
                self.failures[" ".join(sample.failure.split())] += 1
            self.n_unanswered += sample.answer is None
            self.n_unlabelled += sample.answerability is None
            text = "\n".join([*(sample.references or ()), sample.answer_text]) if self.latin else ""
            if not text.isascii():  # few texts are not, and counting takes longer than this check
                letters = sum(map(str.isalpha, text))
                n_ascii = sum(map(str.isalpha, text.encode("ascii", "ignore").decode("ascii")))
                self.unread["latin"] += 2 * n_ascii < letters
                self.unread["spaced"] += 2 * len(_UNSPACED.findall(text)) > letters
            self._slicer.add(sample)
            self._metadata |= sample.metadata.keys()
            self.clusters.append(cluster_of(sample, column))
            self._names_conversations |= named_conversation(sample) is not None
        judged = [False] * len(samples)
        for name, window in zip(self.metrics, outcomes, strict=True):
            for at, outcome in enumerate(window):
                self.columns.add(name, outcome, self.judge)
                if outcome.evidence:
                    self._judged.add(name)
                judged[at] |= bool(outcome.evidence or (isinstance(outcome, Score) and outcome.by))
                if isinstance(outcome, Unscored):
                    self.missing.add(name, samples[at], outcome)
        for sample, by_judge in zip(samples, judged, strict=True):
            if by_judge:
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
        columns, config, clustered_by = self.columns, self.config, self.clustered_by
        columns.slices = self._slicer.columns()
        columns.clusters = self.clusters if clustered_by is not None else None
        if self._strict and (config.slice_by or self.column is not None):
            self._check_columns()
        judging = embedding = None
        if asker is not None:
            label, seconds = asker.judge.label, time.monotonic() - self._begun
            judging = Spending.of(label, asker.judge.signature, asker.usage, seconds)
        embedder = None if models is None else models.embedder_used
        if embedder is not None and embedder.usage is not None and embedder.usage.questions:
            embedding = Spending.of(embedder.label, embedder.identity, embedder.usage)
        described = []
        for name, metric in self.metrics.items():
            tally = columns.tally(name)
            given = given_parts(tally, self.judge) if tally.n_given else ()
            described.append(
                summarising.describe(
                    name,
                    metric,
                    config.level,
                    signature=signature(metric, asker, bank, given, models),
                    judge=judging.judge if judging is not None and name in self._judged else "",
                    group=next(
                        (suite.groups[name] for suite in suites if name in suite.groups), ""
                    ),
                    language=self._language.code,
                )
            )
        intervals = summarising.IntervalOptions(config.interval, config.level)
        crowded: list[str] = []
        metrics = summarising.summarise(columns, described, intervals, crowded)
        self.n_without_label = self.n_unlabelled * self._n_labelled_metrics
        summary = Summary(
            title=title,
            suite=suite,
            system=next(iter(self.systems)) if len(self.systems) == 1 else "",
            n_samples=len(columns),
            n_queries=columns.n_queries,
            averaged_over=summarising.averaged_over(
                columns, clustered_by, from_ids=not self._names_conversations
            ),
            metrics=metrics,
            slices=summarising.slice_summaries(columns, described, intervals)
            if columns.slices
            else (),
            failures=dict(self.failures),
            # Scores without their label, or the vectors of a named embedder, are missing, too.
            incomplete=summarising.n_incomplete(metrics.values())
            + self.missing.n_without_embedder
            + self.n_without_label
            + (0 if judging is None else sum(judging.lost_votes.values())),
            judging=judging,
            embedding=embedding,
            fingerprint=asked_hash(columns.asked),
            nuggets="" if bank is None else bank.hash,
            totals=summarising.totals(suites, metrics.values()),
            trust_offline=config.trust_offline,
        )
        judges = {name: one.judges for name, one in metrics.items()}
        own = *mixed(judges, self.judge), *warnings_of(self, summary, crowded)
        return dataclasses.replace(summary, notes=(*notes, *own))

    def _check_columns(self) -> None:
        """Refuses columns of slices or clusters without a value."""
        missing = [
            ("--slice-by", name, {"turn", *self._slicer.seen})
            for name in self.config.slice_by or ()
            if not any(self.columns.slices[name])
        ]
        if self.column is not None and not self.n_clustered:
            missing.append(("--cluster-by", self.column, self._metadata))
        for flag, name, existing in missing:
            raise UsageError(
                f"No sample has the column {name!r} of {flag}. "
                f"There are: {', '.join(sorted(existing)) or 'none'}."
            )

    def result(
        self, summary: Summary, resolved: Mapping[str, Any], folder: Path | None, **more: Any
    ) -> Result:
        """The run's result, whose rows are in its folder or else in memory."""
        rows: Callable[[], Iterator[ScoreRow]] = _not_kept
        samples: Callable[[], Iterator[Sample]] = _not_kept
        if folder is not None:
            rows, samples = partial(read_rows, folder), partial(read_samples, folder)
        elif self._kept is not None:
            rows = partial(_kept_rows, self._kept, self.columns.metrics, self.judge)
            samples = partial(_kept_samples, self._kept)
        return Result(summary, self.columns, resolved, folder, rows, samples, **more)


def _kept_rows(kept: Sequence[Scored], names: Sequence[str], judge: str) -> Iterator[ScoreRow]:
    return (row for window in kept for row in rows_of(window, names, judge))


def _kept_samples(kept: Sequence[Scored]) -> Iterator[Sample]:
    return (sample for samples, _ in kept for sample in samples)


def _not_kept() -> Iterator[Any]:
    raise UsageError("This result kept its summary only; evaluate with save=FOLDER.")


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
    measured = any(one.weights or one.embeds for one in reached([metric]))
    if measured and models is not None and ALL_GIVEN not in given:
        parts += [f"model={name}" for name in identities(metric, models)]
    if judged and asker is not None and ALL_GIVEN not in given:
        judge = asker.judge
        kinds: dict[type[Question[Any]], Question[Any]] = {}
        for one in judged:
            options = {spec.name: getattr(one, spec.name) for spec in dataclasses.fields(one)}
            kinds.update({kind: kind.blank(options) for kind in one.asks})
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
