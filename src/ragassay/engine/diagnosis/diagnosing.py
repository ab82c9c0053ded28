"""The diagnosis of a run: which samples fail, why, how many, and what each class costs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import inf
from typing import Any

import numpy as np

from ragassay.base.errors import UsageError, did_you_mean
from ragassay.base.note import Displayed, Note, joined
from ragassay.base.printable import excerpt
from ragassay.base.sample import Identity, Sample
from ragassay.base.score import Reason
from ragassay.engine.comparison.offline_agreement import judge_agreement
from ragassay.engine.diagnosis import decision_table as table
from ragassay.engine.results.result import Result
from ragassay.engine.results.score_rows import by_sample, with_samples
from ragassay.engine.results.summary import MetricSummary, sample_clusters
from ragassay.engine.run.scoring import by_reference, record_warnings
from ragassay.judges.offline.questions import match, says_otherwise
from ragassay.judges.offline.refusal import declines, stated
from ragassay.judges.questions.grading import AnswerMatch
from ragassay.stats.intervals import ROUNDING, Interval, mean_interval


@dataclass(frozen=True)
class Example:
    """A failing sample: its query and answer are cut, its headline value is ``None`` where
    unscored. The rank among its signals is infinite where nothing relevant was retrieved; left out
    are one of which only is known that something was, and ``contradicted`` of 0."""

    identity: Identity
    query: str
    answer: str
    headline: float | None
    signals: Mapping[str, float]

    @classmethod
    def of(cls, sample: Sample, headline: float | None, signals: Mapping[str, float]) -> Example:
        """The example of a sample."""
        unsaid = {("rank", table.FOUND_SOMEWHERE), ("contradicted", 0.0)}
        query, answer = excerpt(sample.query_text, EXCERPT), excerpt(sample.answer_text, EXCERPT)
        known = {name: value for name, value in signals.items() if (name, value) not in unsaid}
        return cls(sample.identity, query, answer, headline, known)

    def to_json(self) -> dict[str, Any]:
        """The example as JSON; an infinite rank is null."""
        sample, system, repeat = self.identity
        rest = {key: value for key, value in vars(self).items() if key != "identity"}
        signals = {k: None if v == inf else v for k, v in self.signals.items()}
        return {"sample": sample, "system": system, "repeat": repeat, **rest, "signals": signals}


@dataclass(frozen=True)
class ClassFound:
    """A class of failing samples in a run: its share of all samples with the interval.

    ``cost`` is how much the mean of the headline would rise if those of its samples that lie below
    the threshold had the mean of the samples that do not fail; ``None`` where that is not known.
    The examples have the lowest headline values. ``judged`` says for each judged metric that put
    samples into it how far its judge is known to agree with people; ``only_hint`` that it rests on
    a judge without known agreement."""

    fault: table.FaultClass
    n: int
    share: float
    low: float | None
    high: float | None
    cost: float | None
    examples: tuple[Example, ...]
    samples: tuple[Identity, ...]
    judged: Mapping[str, str] = field(default_factory=dict)
    only_hint: bool = False

    def to_json(self) -> dict[str, Any]:
        """The class as JSON."""
        return {
            "class": self.fault.name,
            "title": self.fault.title,
            **{key: getattr(self, key) for key in ("n", "share", "low", "high", "cost")},
            "says": self.fault.says,
            "advice": self.fault.advice,
            "judged": dict(self.judged),
            "samples": [list(sample) for sample in self.samples],
            "examples": [example.to_json() for example in self.examples],
        }


@dataclass(frozen=True)
class Diagnosis(Displayed):
    """Why the samples of a run fail: those whose ``headline`` lies ``below`` a value, and those
    that show a fault of their own, unless ``headline_only``. ``measures`` says what the headline
    does: whether ``answers`` are right, have the ``words`` of the reference, the ``nuggets`` or
    the ``support`` of the passages, or ``retrieval`` succeeds; ``compares_words`` whether by words
    only, ``match_passes`` whether an answer that matches a reference does not fail by it.

    ``judged`` says how far the judge of the headline is known to agree with people, ``judge_notes``
    the same of all metrics that decided, ``only_hint`` whether its values are only a hint, by that
    or because it compares words. ``mean`` is that of the headline, ``fine_mean`` that of the
    samples that do not fail. ``share_right`` is the share of right answers (no fault was found), or
    else of what the headline measures, among the ``n_rated`` samples of which it is known, from
    ``low`` to ``high``. ``found`` has the classes that occur, most samples first, ``not_looked_at``
    those that no signal could show, ``sources`` by signal the metrics that gave it and for how many
    samples, ``added`` the metrics that the run lacked and that were computed for it, offline. For
    each sample of the run, ``classes`` has the class (``None`` where it does not fail), and
    ``unknown`` why neither the headline nor a label says if it is right: it is ``unscored``, or a
    ``refusal`` (`n_refusals_unknown`) of a query without label, reference and gold; else empty.
    ``right`` has what ``share_right`` is the mean of, and ``doubtful`` whether it fails by a hint
    only: of the headline, or, where that is good, of its class."""

    name: str
    headline: str
    measures: str
    compares_words: bool = field(repr=False)
    match_passes: bool = field(repr=False)
    judged: str
    only_hint: bool
    below: float
    headline_only: bool
    thresholds: table.Thresholds
    n: int
    n_scored: int
    n_rated: int
    n_failing: int
    n_refusals_unknown: int
    mean: float | None
    fine_mean: float | None
    share_right: float | None
    low: float | None
    high: float | None
    level: float
    found: tuple[ClassFound, ...]
    not_looked_at: tuple[table.NotLookedAt, ...]
    sources: Mapping[str, Mapping[str, int]]
    added: tuple[str, ...]
    classes: Sequence[str | None] = field(repr=False)
    unknown: Sequence[str] = field(repr=False)
    right: Sequence[float | None] = field(repr=False)
    doubtful: Sequence[bool] = field(repr=False)
    judge_notes: Sequence[Note] = field(repr=False)

    def __repr__(self) -> str:
        failing = f"failing={self.n_failing} samples={self.n}"
        return f"<Diagnosis {self.name!r}: {failing} headline={self.headline}>"

    @property
    def counts(self) -> list[tuple[str, str, int]]:
        """Name, title and number of samples of each class that occurs."""
        return [(found.fault.name, found.fault.title, found.n) for found in self.found]

    def to_json(self) -> dict[str, Any]:
        """The diagnosis as JSON."""
        body = {item.name: getattr(self, item.name) for item in fields(self) if item.repr} | {
            "thresholds": dict(vars(self.thresholds)),
            "found": [found.to_json() for found in self.found],
            "not_looked_at": [
                {"class": item.fault.name, "why": item.why, "metrics": list(item.metrics)}
                for item in self.not_looked_at
            ],
            "sources": {name: dict(metrics) for name, metrics in self.sources.items()},
        }
        called = {"name": "run", "found": "classes"}
        return {called.get(name, name): value for name, value in body.items()}


HEADLINES: Mapping[str, tuple[str, str]] = {
    name: (measures, rates_by)
    for measures, rates_by, names in (
        ("answers", "judged reference", "answer_match factual_correctness rb_llm rb_llm_idk"),
        ("answers", "same words", "contains_answer covers_answer acc"),
        ("nuggets", "", "nuggets nuggets_ore"),
        ("answers", "", "answer_similarity ragreport_satisfaction rb_agg rb_agg_idk"),
        ("answers", "shared words", "token_f1 f1 rougeL rouge-l"),
        ("words", "", "reference_recall"),
        ("answers", "", "reference_rougeL"),
        ("retrieval", "", "nDCG RR umbrela_nDCG SpanR ChunkR"),
        ("support", "", "faithfulness"),
    )
    for name in names.split()
}
"""Metrics that a diagnosis takes as its headline, the first that a run has: what each measures (see
`Diagnosis`), and by what it rates answers: a judge compares them with a reference, or they have the
``same words``, or ``shared words`` (of right answers in other words few are shared, so that an
answer that matches a reference does not fail). Others measure answers."""

EXCERPT = 160
"""Characters of a query or an answer in an example."""


def headline_of(result: Result, also: Container[str] | None = None) -> str | None:
    """The metric that a diagnosis takes as its headline: the first of `HEADLINES` that has a value
    for at least half of the samples with an answer (refusals claim nothing that could be supported;
    all may be refusals), and that is ``also`` one of these; else ``None``. One by the offline judge
    without known or sufficient agreement is taken where there is no other."""
    metrics = result.summary.metrics
    names = table.names_by_metric(metrics)
    n_silent = sum(sample.answer is None for sample in result.samples)

    def covers(m: MetricSummary) -> bool:
        refused = m.unscored.get(Reason.NOTHING_CLAIMED, 0)
        lack = refused + min(n_silent, m.unscored.get(Reason.MISSING_INPUT, 0))
        is_known = m.mean is not None or refused == m.n_total
        return is_known and 2 * m.n_scored >= m.n_total - lack

    every = (shown for wanted in HEADLINES for shown in names.get(wanted, ()))
    fit = [each for each in every if covers(metrics[each]) and (also is None or each in also)]
    judged = ((shown, judge_agreement(metrics[shown])) for shown in fit)
    trusted = (shown for shown, by in judged if by is None or not by.indicative)
    return next(trusted, fit[0] if fit else None)


def diagnosis_of(
    result: Result,
    *,
    headline: str | None = None,
    below: float | None = None,
    thresholds: table.Thresholds | None = None,
    headline_only: bool = False,
    n_examples: int = 3,
    complete: bool = True,
) -> Diagnosis:
    """Sorts the failing samples of one run into classes; see `ragassay.diagnose`."""
    if gone := result.summary.all_failed:
        raise UsageError(f"{result.name} cannot be diagnosed. {gone}")
    limits = thresholds or table.Thresholds()
    metric = _headline(result, headline)
    bound = _bound(metric, below)
    columns = result.columns
    scored, values = columns.scored(metric.name), columns.values(metric.name)
    # A value that is the threshold up to rounding is not below it.
    low = scored & (values < bound) & ~np.isclose(values, bound, rtol=ROUNDING, atol=ROUNDING)
    added = _added(result) if complete else None
    metrics = {**(added.summary.metrics if added else {}), **result.summary.metrics}
    names = table.names_by_metric(metrics)
    judged = {name: by for name, of in metrics.items() if (by := judge_agreement(of)) is not None}
    agreements = {name: str(found.note) for name, found in judged.items()}
    hints = {name for name, found in judged.items() if found.indicative}
    name = table.canonical_name(metric.metric)
    measures, rates_by = HEADLINES.get(name, ("answers", ""))
    # The offline judge compares words, too.
    offline = metric.name in hints and measures == "answers"
    compares_words = rates_by.endswith(" words") or offline
    match_passes = (rates_by == "shared words" or offline) and not headline_only
    faults: list[table.FaultClass | None] = []
    settled, is_open, is_right, has_reference = np.zeros((4, len(columns)), np.bool_)
    sources: dict[str, Counter[str]] = {name: Counter() for name in table.SIGNALS}
    examples: defaultdict[str, list[Example]] = defaultdict(list)
    judges: defaultdict[str, dict[str, None]] = defaultdict(dict)
    parts, read = set[str](), set[str]()
    by_words = hints | (metrics.keys() - judged.keys())
    for row, (sample, known) in enumerate(_samples(result, names, added)):
        matches, differs = _compared(sample) if match_passes else (False, False)
        differs = differs and bool(scored[row]) and not matches
        low[row] = differs or (low[row] and not matches)
        # A statement that a reference says, too, is not invented, whoever compares them. Of several
        # the reference may have only one: a comparison of words cannot tell, a judge can.
        is_good = scored[row] and not low[row] and measures == "answers"
        agrees = matches if match_passes else is_good
        certain = agrees and bool(rates_by or offline) and len(stated(sample.answer_text)) < 2
        outvoted = {
            "supported": certain or (agrees and not compares_words),
            "contradicted": is_good and not rates_by.endswith(" words"),
        }
        signals = {
            name: found for name, found in known.items()
            if not (outvoted.get(name) and (certain or found.metric in by_words))
        }  # fmt: skip
        parts |= table.parts_of(sample)
        read |= known.keys()
        for name, signal in signals.items():
            sources[name][signal.metric] += 1
        by_name = {name: signal.value for name, signal in signals.items()}
        by_name |= {"contradicted": 1.0, "right": 0.0, "complete": 0.0} if differs else {}
        fault = table.class_of(
            by_name, sample, bool(low[row]), limits, headline_only=headline_only,
            measures=measures, compares_words=compares_words,
        )  # fmt: skip
        faults.append(fault)
        refused = "" if fault else table.refusal(by_name, sample)
        is_open[row], is_right[row] = refused == "open", refused == "right"
        has_reference[row] = bool(sample.references)
        # A label settles what is unanswerable; a refusal claims nothing that could be unsupported.
        by_label = is_right[row] or (fault is not None and fault.labelled)
        settled[row] = by_label or (measures == "support" and bool(by_name.get("refused")))
        if fault is not None:
            causes = (
                next((signals[name].metric for name in group if name in signals), "")
                for group in fault.needs
            )
            judges[fault.name] |= dict.fromkeys(name for name in causes if name in agreements)
            value = float(values[row]) if scored[row] else None
            listed = [*examples[fault.name], Example.of(sample, value, by_name)]
            # The lowest headline values first, those without one last.
            listed.sort(key=lambda each: inf if each.headline is None else each.headline)
            examples[fault.name] = listed[:n_examples]
    given_by = {name: dict(counts) for name, counts in sources.items() if counts}
    fails = np.array([fault is not None for fault in faults], dtype=np.bool_)
    # What the headline cannot rate is unknown, whatever other faults it has: else such samples
    # would count only where they fail. Lost answers count where others like them are rated.
    silent = np.array([fault is not None and fault.name == "no_reply" for fault in faults])
    rated = scored | settled | (silent & np.isin(has_reference, has_reference[scored]))
    unknown = np.where(is_open, "refusal", np.where(rated, "", "unscored"))
    fine = scored & ~fails & (unknown == "")
    fine_mean = float(values[fine].mean()) if fine.any() else None
    level = float(result.config.get("level", 0.95))
    clusters = sample_clusters(columns)

    def share(of: Any, among: Any = slice(None)) -> Interval:
        codes = None if clusters is None else clusters[among]
        return mean_interval(of[among] * 1.0, span=(0.0, 1.0), level=level, clusters=codes)

    # An answer is right where no fault was found; of support the mean counts, not who has half.
    # Of what a headline finds, refusals that are or may be right say nothing.
    by_measure = {"support": (values, scored), "answers": (~fails, unknown == "")}
    right, among = by_measure.get(measures, (~low, scored & ~is_open & ~is_right))
    right_share = share(right, among)
    classes: list[ClassFound] = []
    for fault in (*table.CLASSES, table.UNEXPLAINED):
        member = np.array([fault_class is fault for fault_class in faults], dtype=np.bool_)
        if not member.any():
            continue
        interval = share(member)
        cost = None
        if fine_mean is not None and (member & scored).any():
            gains = (fine_mean - values[member & low]).clip(min=0.0)
            cost = float(gains.sum() / max(1, scored.sum()))
        classes.append(
            ClassFound(
                fault, int(member.sum()), float(member.mean()), interval.low, interval.high, cost,
                tuple(examples[fault.name]),
                tuple(columns.identities[at] for at in np.flatnonzero(member).tolist()),
                {name: agreements[name] for name in judges[fault.name]},
                not hints.isdisjoint(judges[fault.name])
                or (metric.name in hints and not fault.own_fault),
            )
        )  # fmt: skip
    classes.sort(key=lambda found: (found.fault is table.UNEXPLAINED, -found.n))
    only_hint = compares_words or metric.name in hints
    weak = [found.fault for found in classes if found.only_hint]
    decided = dict.fromkeys([*(name for found in classes for name in found.judged), metric.name])
    return Diagnosis(
        name=result.name, headline=metric.name, measures=measures,
        judged=agreements.get(metric.name, ""), compares_words=compares_words,
        match_passes=match_passes, only_hint=only_hint, below=bound, headline_only=headline_only,
        thresholds=limits, n=len(faults), n_scored=int(scored.sum()), n_rated=int(among.sum()),
        n_failing=int(fails.sum()), n_refusals_unknown=int(is_open.sum()),
        mean=float(values[scored].mean()) if scored.any() else None, fine_mean=fine_mean,
        share_right=right_share.mean, low=right_share.low, high=right_share.high, level=level,
        found=tuple(classes), sources=given_by,
        not_looked_at=tuple(table.not_looked_at(metrics, names, read, parts)),
        added=tuple(added.summary.metrics) if added else (),
        classes=[None if fault is None else fault.name for fault in faults],
        unknown=unknown.tolist(),
        right=[float(value) if ok else None for value, ok in zip(right, among, strict=True)],
        doubtful=[
            only_hint if below else fault in weak for fault, below in zip(faults, low, strict=True)
        ],
        judge_notes=joined(judged[name].note for name in decided if name in judged),
    )  # fmt: skip


def _headline(result: Result, name: str | None) -> MetricSummary:
    metrics = result.summary.metrics
    name = headline_of(result) if name is None else name
    if name is None:
        raise UsageError(
            "No metric of the run says whether an answer is right. Name one with --headline "
            f"(headline=...). There are: {', '.join(metrics) or 'none'}."
        )
    if name not in metrics:
        near = did_you_mean(name, metrics)
        there = f"There are: {', '.join(metrics)}."
        raise UsageError(f"The run has no metric {name!r} for --headline. {near} {there}")
    metric = metrics[name]
    if metric.higher_is_better is not True:
        raise UsageError(
            f"{name} cannot be the headline: no higher value of it is better. Name another metric "
            "with --headline."
        )
    return metric


def _bound(metric: MetricSummary, below: float | None) -> float:
    """The threshold of the headline: the given one, or the middle of the metric's range.

    By a threshold of the lowest value or less no sample could fail, by one above the highest all
    would."""
    low, high = metric.bounds
    if below is not None:
        least, most = -inf if low is None else low, inf if high is None else high
        if not least < below <= most:
            raise UsageError(
                f"--below is {below:g}; {metric.name} is from {least:g} to {most:g}. Give a value "
                f"above {least:g} and up to {most:g}."
            )
        return below
    if low is None or high is None:
        raise UsageError(f"{metric.name} has no range: say with --below from where on it is good.")
    return (low + high) / 2


def _added(result: Result) -> Result | None:
    """The metrics that give the signals that a run lacks, of its samples by the offline judge;
    ``None`` where it lacks none or its samples were not kept."""
    names = table.names_by_metric(result.summary.metrics)
    known: Counter[str] = Counter()
    parts: set[str] = set()
    n_answers = 0
    for sample, signals in _samples(result, names):
        known.update(list(signals))
        parts |= table.parts_of(sample)
        n_answers += sample.answer is not None
    # What any answer can show ("") is wanted of all: labels that some have do not tell of others.
    least = {n: n_answers for n, signal in table.SIGNALS.items() if "" in signal.propose}
    of_all = [name for name, n in known.items() if n >= least.get(name, 1)]
    lacking = table.not_looked_at(result.summary.metrics, names, of_all, parts)
    wanted = list(dict.fromkeys(name for item in lacking for name in item.metrics))
    samples = list(result.samples)
    if not wanted or [item.identity for item in samples] != list(result.columns.identities):
        return None
    from ragassay.engine.run.prepared_run import evaluate

    with record_warnings():
        return evaluate(samples, metrics=wanted)


def _compared(sample: Sample) -> tuple[bool, bool]:
    """Whether the answer matches a reference by the offline judge's rules, which see the query, and
    whether it states other numbers, or a no for a yes."""
    references = tuple(text for text in sample.references or () if not declines(text))
    texts = sample.query_text, sample.answer_text, references
    found = match(AnswerMatch(*texts))
    return found is not None and found.is_matching, says_otherwise(*texts)


def _samples(
    result: Result, names: Mapping[str, Sequence[str]], added: Result | None = None
) -> Iterator[tuple[Sample, dict[str, table.SignalValue]]]:
    """Each sample with its known signals by name, which the ``added`` metrics complete."""
    more = by_sample(added) if added else iter(())
    for _, kept, own in with_samples(result):
        sample, rows = by_reference(kept), (own, next(more, ("", {}))[1])
        values = ((key, each.read(rows, names, sample)) for key, each in table.SIGNALS.items())
        yield sample, {signal: value for signal, value in values if value is not None}
