"""Collects the scores and counts for a run's summary while windows of samples stream past."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from ragassay.base.errors import UsageError
from ragassay.base.note import Note
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Score, Unscored
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.results import fingerprint
from ragassay.engine.results.attribution import Given, given_of, mixed
from ragassay.engine.results.score_columns import ScoreColumns
from ragassay.engine.results.slicing import (
    IN_CLUSTER,
    DataLanguage,
    Slicer,
    cluster_column,
    cluster_of,
)
from ragassay.engine.results.summarising import (
    IntervalOptions,
    averaged_over,
    count_incomplete,
    describe,
    slice_summaries,
    summarise,
    totals,
)
from ragassay.engine.results.summary import Spending, Summary
from ragassay.engine.run.run_warnings import MissingScores, warnings_of
from ragassay.metrics.answer.references import ReferenceMetric
from ragassay.metrics.core.metric import Metric
from ragassay.suites import Suite
from ragassay.texts.document_names import (
    CONVERSATION_KEYS,
    conversations_of_ids,
    named_conversation,
)
from ragassay.texts.languages import UNSPACED

_UNSPACED = re.compile(f"[{UNSPACED}]")


class Accumulator:
    """Scores, ids and counts of a run. The texts of samples do not stay in memory.

    Attributes:
        columns, missing: the scores, and why some are missing.
        systems, failures: samples by system, and by the message of a system that failed.
        column, clusters: the clustering column that was asked for, and each sample's cluster.
        n_unanswered, n_unlabelled: samples without an answer, and without answerability.
        latin, unread: metrics that find words in some scripts only, and how many samples are in
            others, by the name of those scripts.
        intervals: options of the intervals.
        judge: label of the run's judge, to be set before samples are added.
        cause: a sentence that says why scores are missing, where the caller knows it; it takes the
            place of the reasons of the scores.
        other_suites: gives the names of the suites that could score the data, best first. It is
            called where no metric applied to a sample.
    """

    def __init__(self, config: RunConfig, metrics: Mapping[str, Metric]) -> None:
        self.config = config
        self.metrics = metrics
        self.columns = ScoreColumns(metrics)
        self.intervals = IntervalOptions.of(config.model_dump())
        self.systems: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.column = cluster_column(config.cluster_by)
        self.clusters: list[str] = []
        self.missing = MissingScores(metrics, names_embedder=config.embedder is not None)
        self.n_unanswered = self.n_unlabelled = 0
        self.latin = {
            name: metric
            for name, metric in metrics.items()
            if isinstance(metric, ReferenceMetric) and metric.for_all_scripts
        }
        self.unread: Counter[str] = Counter()
        self.judge = ""
        self.cause = ""
        self.other_suites: Callable[[], Sequence[str]] = tuple
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
            return self.column
        if self._names_conversations:
            return CONVERSATION_KEYS[0]
        return CONVERSATION_KEYS[1] if self._ids_hold_conversations else None

    @cached_property
    def _ids_hold_conversations(self) -> bool:
        return conversations_of_ids([query for query, _, _ in self.columns.identities]) is not None

    @cached_property
    def n_clustered(self) -> int:
        """How many samples have a value in the clustering column."""
        return sum(cluster.startswith(IN_CLUSTER) for cluster in self.clusters)

    @property
    def n_without_label(self) -> int:
        """Scores that lack the answerability label: where it is missing, the run is incomplete."""
        needing = sum("answerability" in metric.needs for metric in self.metrics.values())
        return self.n_unlabelled * needing

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
            if self.latin:
                self._note_script(sample)
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

    def _note_script(self, sample: Sample) -> None:
        """Counts the sample where most letters of answer and references are of a script that some
        metric cuts into no words."""
        text = "\n".join([*(sample.references or ()), sample.answer_text])
        if not text.isascii():  # few texts are not, and counting takes longer than this check
            letters = sum(map(str.isalpha, text))
            n_ascii = sum(map(str.isalpha, text.encode("ascii", "ignore").decode("ascii")))
            self.unread["latin"] += 2 * n_ascii < letters
            self.unread["spaced"] += 2 * len(_UNSPACED.findall(text)) > letters

    def summary(
        self,
        title: str,
        suite: str,
        notes: Sequence[Note],
        *,
        sign: Callable[[Metric, Given], str],
        judging: Spending | None = None,
        embedding: Spending | None = None,
        nuggets: str = "",
        suites: Sequence[Suite] = (),
    ) -> Summary:
        """Closes the columns and summarises them.

        Args:
            title: of the data.
            suite: title of the suites.
            notes: that stand first.
            sign: gives a metric's signature as it was computed (with judge and prompts), from the
                metric and the share of its values that came with the records.
            judging: counts and cost of the judge's questions; ``None`` where no judge was asked.
            embedding: the same of an embedding endpoint.
            nuggets: hash of the nugget bank.
            suites: of the run, for their totals.
        """
        columns, config = self.columns, self.config
        columns.slices = self._slicer.columns()
        columns.clusters = self.clusters if self.clustered_by is not None else None
        seen = {"turn", *self._slicer.seen}
        for name in config.slice_by or ():
            _demand(name, "--slice-by", any(columns.slices[name]), seen)
        if self.column is not None:
            of_ids = CONVERSATION_KEYS[1:] if self._ids_hold_conversations else ()
            _demand(self.column, "--cluster-by", self.n_clustered > 0, {*self._metadata, *of_ids})
        described = [
            describe(
                name,
                metric,
                config.level,
                sign(metric, self._given(name)),
                judging.judge if judging is not None and name in self._judged else "",
                next((suite.groups[name] for suite in suites if name in suite.groups), ""),
                self._language.code,
            )
            for name, metric in self.metrics.items()
        ]
        summary_of = summarise(columns, described, self.intervals)
        lost = 0 if judging is None else sum(judging.lost_votes.values())
        return Summary(
            title=title,
            suite=suite,
            system=next(iter(self.systems)) if len(self.systems) == 1 else "",
            n_samples=len(columns),
            n_queries=columns.n_queries,
            averaged_over=averaged_over(
                columns, self.clustered_by, from_ids=not self._names_conversations
            ),
            metrics=summary_of,
            slices=slice_summaries(columns, described, self.intervals),
            failures=dict(self.failures),
            incomplete=count_incomplete(columns)
            + self.missing.n_without_embedder
            + self.n_without_label
            + lost,
            notes=(
                *notes,
                *mixed({name: m.judges for name, m in summary_of.items()}, self.judge),
                *warnings_of(self, summary_of, judging, embedding),
            ),
            judging=judging,
            embedding=embedding,
            fingerprint=fingerprint.of_run(columns.asked),
            nuggets=nuggets,
            totals=totals(suites, summary_of.values()),
            trust_offline=config.trust_offline,
        )

    def _given(self, name: str) -> Given:
        """The values of a metric that came with the records."""
        columns = self.columns
        n_scored = int(columns.scored(name).sum()) + sum(columns.labels(name).values())
        return given_of(columns.n_given(name), n_scored, columns.judges(name), self.judge)


def _demand(name: str, flag: str, has_values: bool, existing: Iterable[str]) -> None:
    """Refuses a column without values."""
    if not has_values:
        hint = ""
        if name in CONVERSATION_KEYS:
            hint = (
                " Name the conversation in each record's metadata, or give ids of the form "
                "CONVERSATION::TURN."
            )
        raise UsageError(
            f"No sample has the column {name!r} of {flag}. "
            f"There are: {', '.join(sorted(existing)) or 'none'}.{hint}"
        )
