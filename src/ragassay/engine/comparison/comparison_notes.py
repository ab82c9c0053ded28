"""What a comparison says beside its numbers, as facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ragassay.base.note import Note, joined
from ragassay.engine.results.comparison_result import Comparison, Difference
from ragassay.stats.paired import FEW_DIFFER
from ragassay.stats.sign_flip import EXACT_UP_TO


def with_notes(comparison: Comparison, brought: Iterable[Note] = ()) -> Comparison:
    """The comparison with its notes."""
    standing = joined([d.why for d in comparison.differences if d.why is not None])
    beside = (*standing, *brought, *_beside(comparison))
    return replace(comparison, notes=(*_doubts(comparison), *beside, *_method(comparison)))


def _doubts(comparison: Comparison) -> Iterator[Note]:
    """Findings whose test rests on an assumption that is doubtful here."""
    unit = "queries" if comparison.n_clusters is None else "clusters"
    kinds = {"few differ": "few_differ", "skewed": "skewed_differences", "left out": "left_out"}
    for doubt, kind in kinds.items():
        names = _names([d for d in comparison.differences if d.doubtful and d.doubt == doubt])
        if names:
            yield Note(kind, {"most": FEW_DIFFER, "unit": unit}, names, "warning")


def _beside(comparison: Comparison) -> Iterator[Note]:
    """What a reader needs to read the verdicts."""
    if comparison.unpaired:
        counts = {"new": comparison.only_a, "old": comparison.only_b}
        yield Note("unpaired", counts, severity="warning")
    shown = comparison.with_scores
    if too_few := [d for d in shown if d.p_adjusted is not None and d.too_few]:
        yield Note("too_few", {"n": max(d.n for d in too_few)}, _names(too_few))
    unshown = [d for d in shown if d.verdict == "no difference shown" and not d.too_few]
    found = [d for d in shown if d.verdict in ("better", "worse", "different")]
    sizes = sorted(abs(d.detectable) for d in unshown if d.detectable is not None)
    if unshown and not found and sizes:
        kind = "would_find" if sizes[0] < sizes[-1] else "would_find_one"
        yield Note(kind, {"least": sizes[0], "most": sizes[-1]})
    if comparison.n_tested > 1 and comparison.correction != "none":
        yield Note("corrected", {"n": comparison.n_tested})
    empty = [d for d in comparison.differences if d not in shown]
    if empty:
        yield Note("without_common_scores", names=_names(empty))
    exploratory = [
        d for d in shown
        if d.standing == "exploratory" and (d.why is None or d.why.kind != "percentile")
    ]  # fmt: skip
    if exploratory and comparison.primary:
        yield Note("exploratory", names=_names(exploratory))


def _method(comparison: Comparison) -> Iterator[Note]:
    """How the numbers were made."""
    counts: dict[str, float | str] = {
        "common": comparison.n_common,
        "patterns": comparison.n_resamples,
        "seed": comparison.seed,
        "exact": EXACT_UP_TO,
        "level": comparison.level,
        "alpha": round(1 - comparison.level, 12),
    }
    if comparison.unpaired:
        yield Note("welch_test", counts, severity="detail")
    else:
        yield Note("compared_means", counts, severity="detail")
        yield Note("sign_flip_test", counts, severity="detail")
    counts["n"] = comparison.n_tested
    kind = comparison.correction if comparison.n_tested > 1 else "none"
    yield Note(f"correction_{kind}", counts, severity="detail")
    if halved := [d for d in comparison.with_scores if d.halves and d.p_adjusted is not None]:
        yield Note("mid_p", names=_names(halved), severity="detail")
    yield Note("interval_of_test", counts, severity="detail")
    yield Note("detectable", counts, severity="detail")
    if comparison.n_clusters is not None:
        by = comparison.clustered_by or "cluster"
        yield Note("clustered", {"n": comparison.n_clusters, "by": by}, severity="detail")
    if comparison.judged_by:
        yield Note("judged_by", {"judge": comparison.judged_by}, severity="detail")
    if without := [d for d in comparison.with_scores if d.low is None and d.n > 1]:
        yield Note("without_interval", names=_names(without), severity="detail")
    for run in ("a", "b"):
        if names := getattr(comparison, f"metrics_only_{run}"):
            yield Note(f"metrics_only_in_{run}", names=names, severity="detail")


def _names(differences: Sequence[Difference]) -> tuple[str, ...]:
    return tuple(d.name for d in differences)
