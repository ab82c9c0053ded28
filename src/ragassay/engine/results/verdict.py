"""Whether the difference of a metric between two runs is better or worse, and if that counts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from ragassay.base.note import Note
from ragassay.stats.paired import PairedResult

Standing = Literal["tested", "exploratory", "indicative", "not comparable"]
"""``tested``: the verdict counts. ``exploratory``: the metric is not among the primary ones.
``indicative``: it is judged offline, and no labels of people confirm these judgments. ``not
comparable``: the two runs did not compute it alike."""

Verdict = Literal[
    "better", "worse", "different", "no difference shown", "unknown", "indicative", "exploratory",
    "not comparable",
]  # fmt: skip


HINT = "only a hint"
"""What readers see in place of ``indicative``: nothing may be concluded from it."""

RAW_ALPHA = 0.05
"""Level of `Difference.significant`, which UltraRAG fixes."""


@dataclass(frozen=True, kw_only=True)
class Difference(PairedResult):
    """One metric of a comparison: A is the new system, B the old one (UltraRAG's letters).

    Attributes:
        name: of the metric.
        higher_is_better: ``None`` where neither direction is better.
        significant_adjusted: whether the test finds it after the correction across the tested
            metrics.
        standing: whether the verdict counts.
        why: why it does not, or how far the judge is known to agree with people."""

    name: str
    higher_is_better: bool | None = True
    significant_adjusted: bool | None = None
    standing: Standing = "tested"
    why: Note | None = None

    @property
    def significant(self) -> bool | None:
        """Whether the test finds it at `RAW_ALPHA`, without any correction."""
        return None if self.p_value is None else self.p_value < RAW_ALPHA

    @property
    def verdict(self) -> Verdict:
        """The corrected test in words, seen from A; where it does not count, why not."""
        if self.diff is None:
            return "unknown"
        if self.standing != "tested":
            return self.standing
        if self.significant_adjusted is None:
            return "unknown"
        if not self.significant_adjusted:
            return "no difference shown"
        return "indicative" if self.doubt else self.direction

    @property
    def doubtful(self) -> bool:
        """Whether its corrected test finds a difference that is doubtful."""
        tested = self.standing == "tested" and self.significant_adjusted
        return bool(tested and self.doubt)

    @property
    def hint(self) -> Verdict | None:
        """Of an indicative verdict: its direction, where the test finds one (its interval excludes
        zero; there is none where all differences are equal); else ``None``."""
        found = self.significant
        if self.low is not None and self.high is not None:
            found = not self.low <= 0.0 <= self.high
        return self.direction if self.verdict == "indicative" and found else None

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values; with UltraRAG's field names beside ours."""
        return {
            "name": self.name,
            **asdict(self),
            "significant": self.significant,
            "why": "" if self.why is None else str(self.why),
            "verdict": self.verdict,
            "hint": self.hint,
            "A_mean": self.a_mean,
            "B_mean": self.b_mean,
            "Diff(A-B)": self.diff,
        }

    @property
    def direction(self) -> Verdict:
        """What the means alone say of A."""
        if self.higher_is_better is None or self.diff is None:
            return "different"
        return "better" if (self.diff > 0) == self.higher_is_better else "worse"
