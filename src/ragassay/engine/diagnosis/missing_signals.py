"""Which classes a diagnosis could not look at, and which metrics would tell them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragassay.base.sample import Sample
from ragassay.engine.diagnosis.decision_table import CLASSES, FaultClass
from ragassay.engine.diagnosis.signals import CITED, Signal, canonical_name
from ragassay.engine.results.summary import MetricSummary
from ragassay.metrics.citation import citation_parser


@dataclass(frozen=True)
class NotLookedAt:
    """A class that cannot be told, because the run lacks a metric for it.

    Attributes:
        fault: the class.
        why: what is missing, in words.
        metrics: one metric to compute for each signal that is missing.
    """

    fault: FaultClass
    why: str
    metrics: tuple[str, ...] = ()


class Facts:
    """What the samples of a run hold. It decides which metrics can be proposed."""

    def __init__(self) -> None:
        self.gold_ids = self.gold_spans = self.references = self.labels = False
        self.passages = self.answers = self.citations = False

    def add(self, sample: Sample) -> None:
        """Takes a sample in."""
        gold = sample.gold or ()
        self.passages = self.passages or sample.passages is not None
        self.gold_ids = self.gold_ids or any(one.id is not None for one in gold)
        self.gold_spans = self.gold_spans or any(one.id is None for one in gold)
        self.references = self.references or bool(sample.references)
        self.labels = self.labels or sample.answerability is not None
        self.answers = self.answers or bool(sample.answer_text.strip())
        self.citations = self.citations or _cites(sample)

    def metric_for(self, signal: Signal) -> str | None:
        """A metric that gives a signal for such samples; ``None`` where none can."""
        rank = "RR" if self.gold_ids else "ChunkR@10" if self.gold_spans else "umbrela_MRR"
        metrics: dict[str, str | bool] = {
            "rank": self.passages and rank,
            "refused": "idk_eval",
            "contradicted": (self.passages or self.references) and "contradicted",
            "supported": self.passages and "rl_f",
            "cited": self.passages and "citation_pairs.precision",
            "right": "token_f1.f" if self.references else self.passages and "nuggets.all",
        }
        return str(metrics[signal.name] or "") or None


def not_looked_at(
    metrics: Mapping[str, MetricSummary],
    names: Mapping[str, Sequence[str]],
    sources: Mapping[str, Mapping[str, int]],
    facts: Facts,
) -> Iterator[NotLookedAt]:
    """The classes for which a signal is missing in all samples."""
    for fault in CLASSES:
        if fault.labelled and not facts.labels:
            yield NotLookedAt(
                fault, "no sample has a label of answerability ('answerable', 'unanswerable')"
            )
            continue
        whys, proposed = [], []
        for group in fault.needs:
            if any(sources[signal.name] for signal in group):
                continue
            says = " or ".join(signal.says for signal in group)
            held = [(signal, shown) for signal in group for shown in signal.given_by(names)]
            cites_nothing = CITED in group and facts.answers and not facts.citations
            silent = [(signal, shown) for signal, shown in held if metrics[shown].n_scored]
            metric = facts.metric_for(group[0])
            if silent:
                whys.append(f"{says}: {silent[0][0].lacking} {_names(silent)}")
            elif cites_nothing:
                whys.append(f"{says}: no answer cites anything")
            elif held:
                whys.append(f"{says}: unscored in all samples ({_names(held)})")
                if metric is not None and canonical_name(metric) not in names:
                    proposed.append(metric)
            elif metric is None:
                whys.append(f"{says}: the samples hold nothing that would tell it")
            else:
                whys.append(f"{says}: computed by no metric of the run")
                proposed.append(metric)
        if whys:
            yield NotLookedAt(fault, "; ".join(whys), tuple(proposed))


def _names(held: Sequence[tuple[Signal, str]]) -> str:
    """The metrics, each once: one may give several signals."""
    return ", ".join(dict.fromkeys(shown for _, shown in held))


def _cites(sample: Sample) -> bool:
    """Whether the answer of a sample cites anything."""
    if sample.answer is None:
        return False
    statements = sample.answer.statements or citation_parser.parts(
        sample.answer.text, sample.passages or ()
    )
    return any(one.citations for one in statements)
