"""The summary of a run: the values that reports show and ``summary.json`` holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ragassay import suites
from ragassay.base.errors import UsageError, did_you_mean
from ragassay.base.note import Displayed, Note
from ragassay.base.printable import either, plural, share
from ragassay.base.score import Reason
from ragassay.metrics.core import naming
from ragassay.stats.repeats import Components

if TYPE_CHECKING:
    from ragassay.judges.asking import Usage

SCHEMA_VERSION = 1
"""Version of the run folder's contract (docs/run-folder.md)."""

_LONGEST_FAILURE = 200
"""Most characters that a sentence shows of the message of a failed system."""


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """One metric over all samples of a run (or of a slice).

    ``name`` is what the suite calls it (``RougeL_stemFalse``), ``metric`` its canonical spelling
    (``reference_rougeL``), ``signature`` what two runs must share to be comparable.
    ``mean`` is the metric's aggregate (arithmetic mean unless ``aggregate`` says sum, geometric or
    a percentile: ``p95``);
    ``low`` and ``high`` bound it at ``level``. All are ``None`` when nothing was scored; the bounds
    also when the interval is undefined (one value only, a sum).
    ``n_assumed`` of the scored values stand for a missing part of the sample, as the published
    system has it; ``mean_measured`` is the mean without them. ``n_given`` of them came with the
    records, so that nobody was asked. ``group`` is the published heading of its suite. ``judge`` is
    the label of who was asked, or of whoever gave the records' values; empty for arithmetic.
    ``judges`` has the number of values by the label of their judges, ``record`` where the records
    do not name them. ``language`` is the code of the language that the judged samples are in; empty
    where nobody judged, or the language is not known."""

    name: str
    title: str
    family: str
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    interval: str = "none"
    n_scored: int = 0
    n_total: int = 0
    n_clusters: int | None = None
    std: float | None = None
    median: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    aggregate: str = "mean"
    higher_is_better: bool | None = True
    bounds: tuple[float | None, float | None] = (0.0, 1.0)
    unscored: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, int] = field(default_factory=dict)
    metric: str = ""
    signature: str = ""
    judge: str = ""
    n_assumed: int = 0
    mean_measured: float | None = None
    n_given: int = 0
    group: str = ""
    judges: Mapping[str, int] = field(default_factory=dict)
    language: str = ""

    def __repr__(self) -> str:
        mean = "no mean" if self.mean is None else f"mean {self.mean:.4f}"
        if self.low is not None:
            mean += f" [{self.low:.4f}, {self.high:.4f}] at {100 * self.level:g} %"
        return f"<{self.name}: {mean}, {self.n_scored}/{self.n_total} scored>"

    @property
    def percentile(self) -> float | None:
        """Which percentile ``mean`` is, in (0, 100); ``None`` where it is none."""
        match = re.fullmatch(r"p(\d+(?:\.\d+)?)", self.aggregate)
        return float(match[1]) if match else None


@dataclass(frozen=True, slots=True)
class Spending:
    """What a run asked its judge, and what that cost.

    ``questions`` are distinct; ``calls`` are requests that were sent (retries and repairs
    included, those without a connection not), ``cached`` questions that the ledger had. ``cost`` is
    in US dollars, ``unpriced`` the number of calls whose price is not known. ``failures`` counts
    questions without an answer by reason, ``in_part`` answers that lack a part.
    ``votes`` counts what was asked of a panel's members, ``lost_votes`` (by reason) the votes that
    failed for a passing reason while the panel had an answer without them, ``disagreed`` the
    questions on which its members did not agree. ``details`` has the first message for each of
    these reasons. ``seconds`` is the run's wall time."""

    judge: str
    signature: str = ""
    questions: int = 0
    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    votes: int = 0
    lost_votes: Mapping[str, int] = field(default_factory=dict)
    in_part: Mapping[str, int] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    disagreed: int = 0
    seconds: float = 0.0

    @property
    def by_functions(self) -> bool:
        """Whether every judge is a function in Python that counts no tokens: tokens and prices mean
        nothing then."""
        members = self.judge.removeprefix("panel(").removesuffix(")").split(", ")
        counted = self.input_tokens or self.output_tokens or self.cost
        return not counted and all(member.startswith("python:") for member in members)

    @property
    def lost(self) -> str:
        """How many votes a panel went without, of how many: ``11 of 90 votes``."""
        n = sum(self.lost_votes.values())
        # Runs of older versions do not say how many votes there were.
        return share(n, self.votes, "vote") if self.votes else plural(n, "vote")

    @classmethod
    def of(cls, judge: str, signature: str, usage: Usage, seconds: float = 0.0) -> Spending:
        """What was counted while a run went on."""
        counted = dict(vars(usage))
        for name in ("failures", "lost_votes", "in_part"):
            counted[name] = dict(counted[name].most_common())
        counted["details"] = dict(counted["details"])
        counted["cost"] = round(counted["cost"], 6)
        return cls(judge, signature, seconds=round(seconds, 3), **counted)


@dataclass(frozen=True, slots=True)
class Slice:
    """The same metrics over the samples that share one metadata value."""

    column: str
    value: str
    n: int
    metrics: Mapping[str, MetricSummary]


@dataclass(frozen=True, slots=True, repr=False)
class Summary(Displayed):
    """One run.

    ``averaged_over`` says in words what the mean runs over; ``incomplete`` counts scores that are
    missing because the judge or a metric failed, and votes that a panel lost so (exit code 3).
    ``judging`` is
    ``None`` where nobody was asked, ``embedding`` (its questions are texts) where no endpoint
    embedded any; ``fingerprint`` names what was asked and expected, ``nuggets`` the nugget bank's
    hash, and ``totals`` are values of the run as a whole that a suite publishes. In the summary of
    a run's consistency, ``variances`` tells of each metric of the run where its variance comes
    from. ``trust_offline``: offline judgments decide its gates, whatever their agreement."""

    title: str
    suite: str
    system: str
    n_samples: int
    n_queries: int
    averaged_over: str
    metrics: Mapping[str, MetricSummary]
    slices: tuple[Slice, ...] = ()
    failures: Mapping[str, int] = field(default_factory=dict)
    incomplete: int = 0
    notes: tuple[Note, ...] = ()
    judging: Spending | None = None
    embedding: Spending | None = None
    fingerprint: str = ""
    nuggets: str = ""
    totals: Mapping[str, float] = field(default_factory=dict)
    variances: Mapping[str, Components] = field(default_factory=dict)
    trust_offline: bool = False
    schema_version: int = SCHEMA_VERSION

    def __getitem__(self, name: str) -> MetricSummary:
        """The summary of one metric.

        Args:
            name: as it is shown, its canonical name, or an alias of the suites of the run.

        Raises:
            UsageError: the run has no such metric, or the name means several.
        """
        canonical = {one: entry.metric for one, entry in self.metrics.items()}
        used = self.suite.split("+")
        names = shown(str(name), canonical, used, "this run", "'metrics' lists them")
        if len(names) != 1:
            raise UsageError(
                f"{name!r} means several metrics: {', '.join(names)}. Name it in full."
            )
        return self.metrics[names[0]]

    def __iter__(self) -> Iterator[str]:
        """The names of the metrics, as they are shown."""
        return iter(self.metrics)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The sentences of its notes."""
        return tuple(map(str, self.notes))

    @property
    def all_failed(self) -> str:
        """A sentence that says that the system failed for every sample, and what to do; empty where
        it answered one."""
        n = sum(self.failures.values())
        if not n or n < self.n_samples:
            return ""
        why, most = max(self.failures.items(), key=lambda item: item[1])
        why = why.rstrip(". ")
        why = why if len(why) <= _LONGEST_FAILURE else f"{why[:_LONGEST_FAILURE]}…"
        counts: dict[str, float | str] = {"n": n, "most": most, "why": why}
        counts["failed"] = share(n, self.n_samples, "sample")
        counts["rest"] = f"; {n - most:,} failed otherwise" if n > most else ""
        return str(Note("system_gone", counts))

    @property
    def lost_votes(self) -> int:
        """Votes that a panel lost by a failure and had an answer all the same."""
        return 0 if self.judging is None else sum(self.judging.lost_votes.values())

    @property
    def n_missing(self) -> int:
        """Scores that are missing by a failure: `incomplete` without votes."""
        return self.incomplete - self.lost_votes

    @property
    def is_empty(self) -> bool:
        """Whether nothing could be scored, because the system gave no answer at all."""
        return bool(self.all_failed) and not any(m.n_scored for m in self.metrics.values())

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values, ready for strict JSON."""
        return asdict(self) | {"warnings": list(self.warnings)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Summary:
        """The summary that `to_json` wrote; fields that this version does not know are left out."""
        from pydantic import TypeAdapter

        sentences, facts = data.get("warnings", ()), data.get("notes", ())
        notes = [Note(**{**one, "names": tuple(one["names"])}) for one in facts]
        if len(notes) != len(sentences):  # an older run
            notes = [Note("text", {"text": one}, severity="warning") for one in sentences]
        return TypeAdapter(cls).validate_python({**data, "notes": notes})


def is_incomplete(*summaries: Summary) -> bool:
    """Whether nothing could be scored, or something went unscored that should not have, or the
    recorded answers named as the judge answer fewer than half of the questions."""
    metrics = [one for summary in summaries for one in summary.metrics.values()]
    judges = [one.judging for one in summaries if one.judging is not None]
    return (
        not any(one.n_scored for one in metrics)
        or any(2 * j.failures.get(Reason.MISSING_INPUT, 0) > j.questions for j in judges)
        or any(one.incomplete for one in summaries)
    )


FAILURES = ("questions_unanswered", "votes_lost", "answers_in_part", "texts_without_vector")
"""The kinds of notes that say why scores are missing."""


def missing_by_failure(*summaries: Summary) -> str:
    """The numbers of scores and votes that runs lack by a failure, in words without a full stop;
    empty where they lack nothing. Votes that a panel lost are no scores: there is an answer."""
    n = sum(one.n_missing for one in summaries)
    missing = [plural(n, "score")] if n else []
    missing += [
        f"{one.judging.lost} of the panel" for one in summaries if one.judging and one.lost_votes
    ]
    if not missing:
        return ""
    return f"{' and '.join(missing)} {either(n, 'is', 'are')} missing"


def left_out(summary: Summary, used: Sequence[str]) -> list[str]:
    """The metrics beside the headline of their suite, where all of the suite were computed."""
    by_canonical = {one.metric: name for name, one in summary.metrics.items()}
    shown: set[str] = set()
    own_metrics: dict[str, None] = {}
    for suite in filter(None, map(suites.all_suites().get, used)):
        own = [str(metric) for metric in suite.resolve()]
        if suite.headline and by_canonical.keys() >= set(own):
            own_metrics |= dict.fromkeys(own)
            shown.update(suite.headline)
        else:
            shown.update(own)
    return [by_canonical[one] for one in own_metrics if one not in shown]


def shown(
    wanted: str | Sequence[str],
    metrics: Mapping[str, str],
    used: Iterable[str],
    what: str,
    listed: str = "'ragassay report RUN' lists them",
) -> list[str]:
    """The shown names of the metrics that ``wanted`` lists, in order, each once."""
    known = (suites.get(name) for name in used if name in suites.all_suites())
    local = {**suites.general_aliases(), **suites.aliases_of(known)}
    by_canonical = {canonical: name for name, canonical in metrics.items()}
    by_folded = {name.casefold(): name for name in reversed(list(metrics))}
    names: dict[str, None] = {}
    for word in naming.split(wanted):
        name = word if word in metrics else by_folded.get(word.casefold())
        if name is not None:
            names.setdefault(name)
            continue
        peer = suites.peer_of(word, local)
        # A condition on a metric that is low where ours is high would mean the opposite.
        ours = peer.ours if peer and not peer.reversed else word
        canonical = [str(metric) for metric in naming.known(ours, local)]
        existing = [by_canonical[name] for name in canonical if name in by_canonical]
        existing = existing or [ours] * (ours in metrics)
        if not existing:
            elsewhere = "" if canonical else suites.advice_on(word)
            near = did_you_mean(word, metrics) or elsewhere
            few = f"There are: {', '.join(metrics)}."
            there = few if len(metrics) <= _MOST else f"There are {len(metrics)}; {listed}."
            raise UsageError(f"{word!r} is not in {what}. {near} {there}")
        names.update(dict.fromkeys(existing))
    return list(names)


_MOST = 20
"""Most names that an error lists; of more it has only the nearest."""
