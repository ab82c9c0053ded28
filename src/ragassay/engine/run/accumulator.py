"""Collects the scores and counts for a run's summary while windows of samples stream past."""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from ragassay.base.counts import either, plural, share
from ragassay.base.errors import CountedFact, UsageError
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.results import fingerprint
from ragassay.engine.results.attribution import Given, given_of, mixed
from ragassay.engine.results.clustering import IN_CLUSTER, cluster_column, cluster_of
from ragassay.engine.results.data_language import DataLanguage
from ragassay.engine.results.score_columns import ScoreColumns
from ragassay.engine.results.slicing import Slicer
from ragassay.engine.results.summarising import (
    IntervalOptions,
    averaged_over,
    count_incomplete,
    crowded,
    describe,
    largest_of_uneven,
    slice_summaries,
    summarise,
    totals,
)
from ragassay.engine.results.summary import MetricSummary, Spending, Summary, all_failed
from ragassay.engine.run.missing_scores import MissingScores
from ragassay.judges.asking import IN_PART
from ragassay.metrics.answer.references import ReferenceMetric
from ragassay.metrics.core.metric import Metric
from ragassay.suites import Suite
from ragassay.texts.conversation_names import (
    CONVERSATION_KEYS,
    conversations_of_ids,
    named_conversation,
)
from ragassay.texts.scripts import UNSPACED

_UNSPACED = re.compile(f"[{UNSPACED}]")


class Accumulator:
    """Scores, ids and counts of a run. The texts of samples do not stay in memory.

    Attributes:
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
        self._slicer = Slicer(config.slice_by)
        self._column = cluster_column(config.cluster_by)
        self._clusters: list[str] = []
        self._names_conversations = False
        self._metadata: set[str] = set()
        self._missing = MissingScores(metrics, names_embedder=config.embedder is not None)
        self._n_unanswered = self._n_unlabelled = 0
        self._judged: set[str] = set()
        self._language = DataLanguage()
        self._latin = {
            name: metric
            for name, metric in metrics.items()
            if isinstance(metric, ReferenceMetric) and metric.for_all_scripts
        }
        self._unread: Counter[str] = Counter()
        self.judge = ""
        self.cause = ""
        self.other_suites: Callable[[], Sequence[str]] = tuple

    @cached_property
    def clustered_by(self) -> str | None:
        """The clustering column: the one asked for, or the conversation, where samples name one or
        their ids hold one. To be asked for after the last sample."""
        if self.config.cluster_by is not None:
            return self._column
        if self._names_conversations:
            return CONVERSATION_KEYS[0]
        return CONVERSATION_KEYS[1] if self._ids_hold_conversations else None

    @cached_property
    def _ids_hold_conversations(self) -> bool:
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
            self.columns.replies.append(fingerprint.of_reply(sample))
            self.systems[sample.system] += 1
            if sample.failure:
                self.failures[" ".join(sample.failure.split())] += 1
            self._n_unanswered += sample.answer is None
            self._n_unlabelled += sample.answerability is None
            if self._latin:
                self._note_script(sample)
            self._slicer.add(sample)
            self._metadata |= sample.metadata.keys()
            self._clusters.append(cluster_of(sample, column))
            self._names_conversations |= named_conversation(sample) is not None
        for name, window in zip(self.metrics, outcomes, strict=True):
            for sample, outcome in zip(samples, window, strict=True):
                self.columns.add(name, outcome, self.judge)
                if outcome.evidence:
                    self._judged.add(name)
                if isinstance(outcome, Unscored):
                    self._missing.add(name, sample, outcome)
        for sample, each in zip(samples, zip(*outcomes, strict=True), strict=False):
            if any(one.evidence or (isinstance(one, Score) and one.by) for one in each):
                self._language.add(sample)

    def _note_script(self, sample: Sample) -> None:
        """Counts the sample where most letters of answer and references are of a script that some
        metric cuts into no words."""
        text = "\n".join([*(sample.references or ()), sample.answer_text])
        if not text.isascii():  # few texts are not, and counting takes longer than this check
            letters = sum(map(str.isalpha, text))
            n_ascii = sum(map(str.isalpha, text.encode("ascii", "ignore").decode("ascii")))
            self._unread["latin"] += 2 * n_ascii < letters
            self._unread["spaced"] += 2 * len(_UNSPACED.findall(text)) > letters

    def summary(
        self,
        title: str,
        suite: str,
        notes: Sequence[str],
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
            notes: sentences for the reader.
            sign: gives a metric's signature as it was computed (with judge and prompts), from the
                metric and the share of its values that came with the records.
            judging: counts and cost of the judge's questions; ``None`` where no judge was asked.
            embedding: the same of an embedding endpoint.
            nuggets: hash of the nugget bank.
            suites: of the run, for their totals.

        Raises:
            UsageError: no sample has a column that was asked for, to slice or to cluster by.
        """
        columns, config = self.columns, self.config
        columns.slices = self._slicer.columns()
        columns.clusters = self._clusters if self.clustered_by is not None else None
        seen = {"turn", *self._slicer.seen}
        for name in config.slice_by or ():
            self._demand(name, "--slice-by", any(columns.slices[name]), seen)
        if self._column is not None:
            of_ids = CONVERSATION_KEYS[1:] if self._ids_hold_conversations else ()
            existing = {*self._metadata, *of_ids}
            self._demand(self._column, "--cluster-by", self._n_clustered > 0, existing)
        described = [
            describe(
                name,
                m,
                config.level,
                sign(m, self._given(name)),
                judging.judge if judging is not None and name in self._judged else "",
                next((suite.groups[name] for suite in suites if name in suite.groups), ""),
                self._language.code,
            )
            for name, m in self.metrics.items()
        ]
        summary_of = summarise(columns, described, self.intervals)
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
            + self._missing.n_without_embedder
            + self._n_unlabelled * self._n_label_metrics
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
            trust_offline=config.trust_offline,
        )

    def _given(self, name: str) -> Given:
        """The values of a metric that came with the records."""
        columns = self.columns
        n_scored = int(columns.scored(name).sum()) + sum(columns.labels(name).values())
        return given_of(columns.n_given(name), n_scored, columns.judges(name), self.judge)

    @property
    def _n_label_metrics(self) -> int:
        """How many metrics need the answerability label: where it is missing, the run is
        incomplete.
        """
        return sum("answerability" in metric.needs for metric in self.metrics.values())

    def _demand(self, name: str, flag: str, has_values: bool, existing: Iterable[str]) -> None:
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

    def _blind_to_the_script(self) -> Mapping[int, list[str]]:
        """The metrics that find no words in some samples, by the number of these."""
        names: defaultdict[int, list[str]] = defaultdict(list)
        for name, metric in self._latin.items():
            names[self._unread[metric.scripts]].append(name)
        names.pop(0, None)
        return names

    @cached_property
    def _n_clustered(self) -> int:
        """How many samples have a value in the clustering column."""
        return sum(cluster.startswith(IN_CLUSTER) for cluster in self._clusters)

    def _warnings(
        self,
        metrics: Mapping[str, MetricSummary],
        judging: Spending | None,
        embedding: Spending | None,
    ) -> Iterator[str]:
        n = len(self.columns)
        asked = [spent for spent in (judging, embedding) if spent is not None]
        details = [detail for spent in asked for detail in spent.details.values() if detail]
        has_scores = any(metric.n_scored for metric in metrics.values())
        if failure := all_failed(self.failures, n):
            yield failure
        elif metrics and not has_scores:
            yield self._nothing_scored(metrics, details)
        elif self.cause:
            yield self.cause
        if has_scores:
            yield from self._missing.of_models_and_parts(metrics, derived=not self.cause)
        for n_unread, names in self._blind_to_the_script().items():
            wide = dict.fromkeys(self._latin[name].for_all_scripts for name in names)
            yield (
                f"{', '.join(names)} {either(len(names), 'does', 'do')} not find words in the "
                f"script of {n_unread} of {plural(n, 'sample')}, as published. For other scripts: "
                f"{', '.join(wide)}."
            )
        yield from self._missing.of_failures(details, has_scores=has_scores)
        if judging is not None:
            first = judging.details
            yield from _unanswered("question", "without an answer", judging.failures, first)
            yield from _unanswered("vote", "lost", judging.lost_votes, first, judging.votes)
            of_parts = {reason: first[f"{reason}{IN_PART}"] for reason in judging.in_part}
            yield from _unanswered("answer", "without a part", judging.in_part, of_parts)
        if embedding is not None:
            failures = embedding.failures
            yield from _unanswered("text", "without a vector", failures, embedding.details)
        if self.clustered_by is not None and n > 1 and len(set(self._clusters)) == 1:
            yield (
                f"All {n} samples belong to one {self.clustered_by}, so there are no intervals; "
                "name another column with --cluster-by, or none (--cluster-by none)."
            )
        if largest := largest_of_uneven(self.columns):
            cluster = (self.clustered_by or "query").removesuffix("_id")
            yield (
                f"{largest:,} of {n:,} samples belong to one {cluster}. "
                "The intervals are wide for that reason."
            )
        if names := crowded(self.columns, metrics.values()):
            yield (
                f"Nearly all scores of {', '.join(names)} lie close to one end of the range. "
                f"{either(len(names), 'The interval', 'Their intervals')} may be too narrow."
            )
        # A metric that gives a published value where a part is missing leaves nothing unscored.
        empty = Sample(id="none")
        strict = [metric for metric in self.metrics.values() if metric.lacks(empty) is not None]
        n_lacking = self._n_unanswered
        if n_lacking and any("answer" in metric.needs for metric in strict) and not failure:
            by_count = self.failures.most_common()
            counts = ", ".join(f"{count:,} {what.rstrip('.')}" for what, count in by_count)
            yield (
                f"{share(n_lacking, n, 'sample')} {either(n_lacking, 'has', 'have')} no answer"
                f"{f' ({counts})' if counts else ''}: {either(n_lacking, 'it is', 'they are')} "
                "unscored, so the means speak only of the others."
            )
        if self._n_unlabelled and self._n_label_metrics:
            sentence = (
                "{n} {sample lacks|samples lack} the answerability label that some metrics need; "
                "the run is incomplete. Give 'answerability' (or 'Answerability') in each record."
            )
            yield str(CountedFact(sentence, self._n_unlabelled))
        if self._column is not None and self._n_clustered < n:
            alone = n - self._n_clustered
            yield (
                f"{share(alone, n, 'sample')} {either(alone, 'has', 'have')} no "
                f"{self._column}; {either(alone, 'it', 'each of them')} is a cluster of "
                "its own query."
            )
        if len(self.systems) > 1:
            systems = ", ".join(sorted(name or "(none)" for name in self.systems))
            compare = (
                f"compare runs of one system each (where: system={min(filter(None, self.systems))})"
            )
            if not self.config.output:
                compare = (
                    "keep the run with -o DIR (output='DIR') and compare them with 'ragassay "
                    "compare DIR'"
                )
            yield (
                f"The data holds {len(self.systems)} systems ({systems}); the means mix them. "
                f"See the slices, or {compare}."
            )

    def _nothing_scored(self, metrics: Mapping[str, MetricSummary], details: Iterable[str]) -> str:
        """Says that no metric has a score, why, and which suites could score the data."""
        why, hint = self._missing.first_reason or "no metric applies", ""
        failed = any(Reason(one).incomplete for m in metrics.values() for one in m.unscored)
        if self.cause:
            why = self.cause
        elif not failed and not self._missing.without_model:
            data = self.config.data
            hint = "" if data is None else " 'ragassay validate' shows what the data holds."
            if others := self.other_suites():
                names = ", ".join(others[:4])
                command = ["ragassay", "run", str(data), "--suite", others[0]]
                run = f" Run: {shlex.join(command)}." if isinstance(data, str) else ""
                hint = f" Suites that can score this data: {names}.{run}{hint}"
        # A reason that the judge gave has a warning of its own.
        is_repeated = any(one in why or why.rstrip(". ") in one for one in details)
        cause = "" if is_repeated else f": {why.rstrip('.')}"
        return f"Nothing was scored{cause}.{hint}"


def _unanswered(
    noun: str, what: str, counts: Mapping[str, int], details: Mapping[str, str], total: int = 0
) -> Iterator[str]:
    """A sentence for each reason: how many, of how many (if that is known), and the detail of the
    first."""
    for reason, n in counts.items():
        why = details.get(reason, "").strip()
        count = share(n, total, noun) if total else plural(n, noun)
        sentence = f"{count} {what} ({reason.replace('_', ' ')})" + (f": {why}" if why else "")
        yield sentence if sentence.endswith((".", "!", "?", "…")) else f"{sentence}."
