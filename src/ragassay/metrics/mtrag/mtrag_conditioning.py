"""Metrics after IDK conditioning: their value corrected by whether the query has an answer
(`ragassay.metrics.mtrag.mtrag_idk_table`).

Where a reply was not understood, there is no verdict and the metrics are `Unscored`: it is unknown
then whether the value, a 0 or a 1 should stand.

The table decides where the metric's value is missing for a reason in the sample (no claims, nothing
retrieved, a reply that was refused or not understood). Where the value could not be computed or
asked for at all (no model, a judge that does not answer such questions, an unreachable server, the
budget spent), the conditioned value is `Unscored` with that reason: otherwise the mean would
consist of the table's 0s and 1s alone.

The verdicts are those of ``idk_eval`` and ``underspecified_eval``, the value is the base metric's;
each is the record's own or a judge's. Where the record brings only ``conditional_idk``, a full "I
don't know" follows from it and the label, and no verdict is needed.

A record may also bring conditioned values (``RB_agg_idk``, ``rb_agg_idk`` and the like), by the
paper's table unless ``metrics_rule`` beside them names the shorter rule. Published
ones are wrong where the label was not found (the benchmark's issue 23). So they count only where
the record's other values do not give them; but they are preferred to asking a judge now, and count
where the value could not be computed. A value that the table cannot give for the record's label and
verdict (0.4 of an unanswerable query) is never taken: it is counted, reported, and computed anew.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from ragassay.base.errors import CountedFact
from ragassay.base.sample import ABSTAINING, Answerability, Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.metrics.core.metric import Metric, missing, register
from ragassay.metrics.core.metric_parameters import param
from ragassay.metrics.core.window import Window
from ragassay.metrics.mtrag.mtrag_aggregate import RBAgg
from ragassay.metrics.mtrag.mtrag_bertscore import ByBertScore
from ragassay.metrics.mtrag.mtrag_given import (
    GIVEN,
    READ,
    ROUNDING,
    given_value,
    givers,
    impossible,
    values_of,
)
from ragassay.metrics.mtrag.mtrag_idk_table import NO_LABEL, Rule, idk_cell
from ragassay.metrics.mtrag.mtrag_judged import (
    IdkEval,
    ReferenceJudge,
    ReferencelessFaithfulness,
    UnderspecifiedEval,
)
from ragassay.models.weights.weight_files import BY_MODEL

METRICS_RULE = "metrics_rule"
"""Beside a record's ``metrics``: the rule of IDK conditioning, where it is not the paper's
table."""

_CONTRADICTED = (
    "{n} given {value contradicts|values contradict} the label or another value of the same "
    "record, as values do that were made without the label. {It was|They were} not taken, "
    "but made anew by the table of IDK conditioning."
)


_SHORTER = (
    "{n} {value after IDK conditioning follows|values after IDK conditioning follow} the shorter "
    "rule of MT-RAG's metrics page (rule=spec)."
)


class _Cell(NamedTuple):
    """The table's entry (``None``: the metric's own value stands), and how it was found.

    ``given``: by a verdict that the record brings; ``by``: who gave that verdict.
    """

    value: float | None
    why: str
    evidence: tuple[str, ...] = ()
    given: bool = False
    by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Conditioned(Metric):
    """A metric after IDK conditioning.

    Formula: 1 or 0 where the table of answerability and "I don't know" decides, else the metric's
        own value
    Misleads where: with many unanswerable queries it measures refusals more than quality
    Source: Katsis et al. 2025, MTRAG; MT-RAG benchmark, step 5
    """

    rule: Rule = param(
        "paper", "paper: the whole table; spec: the shorter rule of the metrics page", beside=True
    )
    given: bool = param(True, GIVEN, beside=True)

    published: ClassVar[tuple[str, ...]]

    family = "mtrag"
    needs = ("answer", "answerability")
    uses = ("query", "history", "passages", "references", "given")
    kind = "judge"
    version = 2

    @property
    @abstractmethod
    def base(self) -> RBAgg | ReferenceJudge | ReferencelessFaithfulness:
        """The metric that is conditioned."""

    @property
    def idk(self) -> IdkEval:
        """The metric with the verdict on "I don't know"."""
        return IdkEval(self.given)

    @property
    def underspecified(self) -> UnderspecifiedEval:
        """The metric with the verdict on underspecified queries."""
        return UnderspecifiedEval(self.given, labelled=True)

    @property
    def inputs(self) -> tuple[Metric, ...]:
        return (self.idk, self.underspecified, self.base)

    def lacks(self, sample: Sample) -> Unscored | None:
        """Unscored without an answer, a label, a verdict, or (unless the table decides) the own
        value.

        An own value that this installation cannot compute is always lacking.
        """
        lacking = missing(sample, ("answer",))
        if lacking is not None or self._stands(sample):
            return lacking
        label = sample.answerability
        if label is None:
            return Unscored(Reason.MISSING_INPUT, NO_LABEL)
        own = self.base.lacks(sample)
        if self._ignores_idk(label) or (own is not None and _at_large(own.reason)):
            return own
        if label is Answerability.UNDERSPECIFIED:
            return unread(self.underspecified, sample)
        idk = idk_of(sample) if self.given else None
        lacking = None if idk is not None else unread(self.idk, sample)
        return lacking if lacking is not None or label in ABSTAINING or idk == 1 else own

    def score_window(self, window: Window) -> Sequence[Outcome]:
        outcomes_of = (window.outcomes(metric) for metric in self.inputs)
        return [
            missing(sample, ("answer",)) or self._condition(sample, *outcomes)
            for sample, *outcomes in zip(window.samples, *outcomes_of, strict=True)
        ]

    def _condition(
        self, sample: Sample, idk: Outcome, underspecified: Outcome, value: Outcome
    ) -> Outcome:
        label = sample.answerability
        if label is None:
            return Unscored(Reason.MISSING_INPUT, NO_LABEL)
        outcome = _by_table(self._cell(sample, label, idk, underspecified), value)
        brought, wrong = self.brought(sample), self.contradicts(sample)
        problem = brought.detail if isinstance(brought, Unscored) else ""
        if wrong is not None:
            problem = f"the given {self.published[0]}, {wrong:g}, contradicts the label or a value"
            problem += " beside it"
        if problem and isinstance(outcome, Score):
            outcome = replace(outcome, explanation=f"{outcome.explanation}; {problem}")
        decided = isinstance(outcome, Score) and not outcome.evidence
        return outcome if decided or brought is None or wrong is not None else brought

    def remarks(self, window: Window) -> Iterable[CountedFact]:
        """How many given values contradict the table, and how many are impossible under any; how
        many values follow the shorter rule."""
        n = sum(self.contradicts(sample) is not None for sample in window.samples)
        wrong = sum(isinstance(self.brought(sample), Unscored) for sample in window.samples)
        shorter = len(window.samples) if self.rule == "spec" else 0
        return [
            CountedFact(_CONTRADICTED, n),
            impossible(self, self.published[0], wrong),
            CountedFact(_SHORTER, shorter),
        ]

    def contradicts(self, sample: Sample) -> float | None:
        """The conditioned value that the record brings, where the table cannot give it; else
        ``None``."""
        brought = self.brought(sample)
        possible = self._possible(sample) if isinstance(brought, Score) else None
        if possible is None or not isinstance(brought, Score):
            return None
        value = brought.number or 0.0
        return None if any(abs(value - one) <= ROUNDING for one in possible) else value

    def _possible(self, sample: Sample) -> tuple[float, ...] | None:
        """The values that the table can give for the record; ``None`` where any value is
        possible."""
        label = sample.answerability
        assert label is not None
        own = self.base.brought(sample)
        stands = (own.number or 0.0,) if isinstance(own, Score) else None
        if label is Answerability.UNDERSPECIFIED:
            verdict = self.underspecified.brought(sample)
        else:
            implied_idk = idk_of(sample)
            verdict = self.idk.brought(sample) if implied_idk is None else Score(implied_idk)
        if isinstance(verdict, Unscored):
            return None
        if verdict is not None:
            cell = idk_cell(verdict.number, label, underspecified=verdict.number)
            return stands if cell is None else (cell,)
        if label in (*ABSTAINING, Answerability.UNDERSPECIFIED):
            return (0.0, 1.0)
        return None if stands is None else (0.0, *stands)

    def _stands(self, sample: Sample) -> bool:
        """Whether the record brings the conditioned value, and nothing contradicts it."""
        return self.brought(sample) is not None and self.contradicts(sample) is None

    def brought(self, sample: Sample) -> Outcome | None:
        """The conditioned value that the record brings, which follows the paper's table; `Unscored`
        where it is not valid, ``None`` where there is none."""
        if sample.answerability is None or self.rule != "paper" or not self.given:
            return None
        if sample.metadata.get(METRICS_RULE, self.rule) != self.rule:
            return None
        return given_value(self, sample, *self.published, self.name, made=self._read)

    def _read(self, value: float, sample: Sample) -> Score:
        by = givers(sample, *self.published, self.name)
        return Score(value, {}, f"the conditioned value, {READ}", given=True, by=by)

    def _ignores_idk(self, label: Answerability) -> bool:
        return self.rule == "spec" and label is not Answerability.UNANSWERABLE

    def _cell(
        self, sample: Sample, label: Answerability, idk: Outcome, underspecified: Outcome
    ) -> _Cell | Unscored:
        if self._ignores_idk(label):
            return _Cell(None, f"{label.upper()}, which the shorter rule leaves alone")
        if label is Answerability.UNDERSPECIFIED:
            if isinstance(underspecified, Unscored):
                return naming_metric("underspecified_eval", underspecified)
            verdict = underspecified.number
            value = idk_cell(None, label, underspecified=verdict)
            return _cell(value, label, f"underspecified_eval {verdict}", underspecified)
        own = idk_of(sample) if self.given else None
        if own is not None:
            why = f"{label.upper()}, idk_eval {own} by the conditional_idk {READ}"
            by = givers(sample, "conditional_idk")
            return _Cell(idk_cell(own, label, self.rule), why, given=True, by=by)
        if isinstance(idk, Unscored):
            return naming_metric("idk_eval", idk)
        value = idk_cell(idk.number, label, self.rule)
        return _cell(value, label, f"idk_eval {idk.number}", idk)


def _cell(value: float | None, label: Answerability, reason: str, verdict: Score) -> _Cell:
    why = f"{label.upper()}, {reason}" + (f" {READ}" if verdict.given else "")
    return _Cell(value, why, verdict.evidence, verdict.given, verdict.by)


def _at_large(reason: Reason) -> bool:
    """Whether a value is missing for a reason that concerns many samples, whatever they hold."""
    return reason.passing or reason in BY_MODEL or reason is Reason.UNSUPPORTED


def _by_table(cell: _Cell | Unscored, value: Outcome) -> Outcome:
    """The conditioned outcome; its evidence is that of the verdict or value that decided it.

    ``by`` names whoever gave the verdict and the value, even where the table decides, because the
    mean depends on both.
    """
    evidence = tuple(dict.fromkeys((*cell.evidence, *value.evidence)))
    by = () if isinstance(cell, Unscored) else cell.by
    if isinstance(value, Score):
        by = tuple(dict.fromkeys((*by, *value.by)))
    if isinstance(value, Unscored) and _at_large(value.reason):
        return replace(value, evidence=evidence)
    if isinstance(cell, Unscored):
        return cell
    if cell.value is not None:
        instead = f": in place of {value.value:.4g}" if isinstance(value, Score) else ""
        given = cell.given and not cell.evidence
        return Score(cell.value, {}, cell.why + instead, cell.evidence, given=given, by=by)
    if isinstance(value, Unscored):
        return replace(value, evidence=evidence)
    given = (cell.given or value.given) and not evidence
    stands = f"own value, {READ}, stands" if value.given else "own value stands"
    explanation = f"{cell.why}: the metric's {stands}"
    return Score(value.value, {}, explanation, evidence, given=given, by=by)


def naming_metric(name: str, outcome: Unscored) -> Unscored:
    """The same outcome with a detail that names the metric it comes from.

    Args:
        name: the metric that is unscored.
        outcome: its outcome.
    """
    return replace(outcome, detail=f"{name} is unscored: {outcome.detail}")


def unread(metric: IdkEval | UnderspecifiedEval, sample: Sample) -> Unscored | None:
    """Why there can be no verdict: the sample lacks something, or brings an invalid value; else
    ``None``.

    Args:
        metric: the metric that gives the verdict.
        sample: the sample.
    """
    brought = metric.brought(sample)
    if isinstance(brought, Unscored):
        return naming_metric(metric.name, brought)
    return metric.lacks(sample)


def idk_of(sample: Sample) -> float | None:
    """The ``idk_eval`` that follows from the record's ``conditional_idk`` and label.

    Only a full "I don't know" follows from them; 0 then stands for 0 or 0.5, which the table treats
    alike. ``None`` where the record has no ``conditional_idk``, or brings an ``idk_eval`` of its
    own.
    """
    right, label = values_of(sample, "conditional_idk"), sample.answerability
    if right is None or right[0] not in (0, 1) or label in (None, Answerability.UNDERSPECIFIED):
        return None
    if values_of(sample, "idk_eval") is not None:
        return None
    return float((label in ABSTAINING) == bool(right[0]))


@register
class RBAggIdk(ByBertScore, Conditioned):
    """RB_agg, 1 for a right 'I don't know' and 0 for a wrong one (MT-RAG RB_agg_idk, RBalg).

    Good for: benchmarks with unanswerable queries, without a judge of quality
    """

    name = "rb_agg_idk"
    published = ("RB_agg_idk", "RB_agg_idk_underspecified")

    @property
    def base(self) -> RBAgg:
        return RBAgg(**self.shared_parameters)


@register
class RBLlmIdk(Conditioned):
    """RB_llm, 1 for a right 'I don't know' and 0 for a wrong one (MT-RAG RB_llm_idk, RBllm).

    Good for: benchmarks with unanswerable queries: MT-RAG's main figure
    """

    name = "rb_llm_idk"
    published = ("RB_llm_idk", "RB_llm_idk_underspecified")

    @property
    def base(self) -> ReferenceJudge:
        return ReferenceJudge(self.given)


@register
class RLFIdk(Conditioned):
    """RL_F, 1 for a right 'I don't know' and 0 for a wrong one (MT-RAG RL_F_idk, RLF).

    Good for: faithfulness where queries may be unanswerable
    """

    name = "rl_f_idk"
    published = ("RL_F_idk", "RL_F_idk_underspecified")

    @property
    def base(self) -> ReferencelessFaithfulness:
        return ReferencelessFaithfulness(self.given)
