"""``ragassay golden diff``: what changed between two golden sets, and what that does to scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.base.counts import plural
from ragassay.base.errors import UsageError
from ragassay.cli.command import Given, command
from ragassay.cli.output import show

if TYPE_CHECKING:
    from ragassay.base.note import Note
    from ragassay.engine.results.summary import MetricSummary
    from ragassay.golden.golden_folder import GoldenSet


@command("golden diff")
def diff(given: Given) -> None:
    """Say what changed from one golden set to another, and what that does to a run's scores.

    ```sh
    ragassay golden diff golden-2025 golden
    ragassay golden diff golden-2025 golden --run runs/new
    ```
    """
    from ragassay.golden.golden_diff import difference, differing
    from ragassay.golden.golden_folder import GoldenSet

    sets = GoldenSet.open(given.old), GoldenSet.open(given.new)
    changes = list(difference(sets[0].items, sets[1].items))
    effects = {} if given.run is None else _effects(given.run, given.old, given.new)
    if given.run is not None:
        show.warn(str(note) for one in sets for note in _misplaced(one))
    if given.json:
        listed = [
            {"id": one.id, "kind": one.kind, "fields": one.fields}
            | ({"gold": one.texts} if one.texts else {})
            for one in changes
        ]
        means = {name: (before.mean, after.mean) for name, (before, after) in effects.items()}
        scored = {name: [one.n_scored for one in both] for name, both in effects.items()}
        show.json({"changes": listed, "means": means, "scored": scored})
        return
    counts = Counter(one.kind for one in changes)
    show.lines(", ".join(f"{n} {name}" for name, n in counts.most_common()) or "nothing changed")
    for one in changes:
        fields = f" ({', '.join(one.fields)})" if one.fields else ""
        texts = "; ".join(" is ".join(differing(*pair)) for pair in one.texts)
        show.wrapped(f"{one.kind}: {one.id}{fields}" + (texts and f": {texts}"))
    for name, (before, after) in effects.items():
        show.lines(f"{name}: {_mean(before)} by {given.old}, {_mean(after)} by {given.new}")


def _misplaced(golden: GoldenSet) -> Iterator[Note]:
    """The warnings of `run` about spans whose text does not stand at their place."""
    from ragassay.golden.golden_join import misplaced

    items = golden.with_status("accepted", "draft")
    if golden.documents_folder.is_dir() and any(item.gold for item in items):
        yield from misplaced(golden, items, golden.documents())


def _effects(run: Path, old: Path, new: Path) -> dict[str, tuple[MetricSummary, MetricSummary]]:
    """By metric its scores of a run's answers with the old set and with the new one."""
    from ragassay import evaluate, open_run

    opened = open_run(run)
    metrics = [name for name, one in opened.summary.metrics.items() if not one.judge]
    if not metrics:
        raise UsageError(
            f"Each metric of {run} asks a judge. Score the answers anew with each set."
        )
    samples = list(opened.samples)
    before, after = (
        evaluate(samples, metrics=metrics, golden=one, golden_drafts=True).summary.metrics
        for one in (old, new)
    )
    return {name: (before[name], after[name]) for name in metrics}


def _mean(metric: MetricSummary) -> str:
    mean = "not scored" if metric.mean is None else f"{metric.mean:.4f}"
    return f"{mean} ({plural(metric.n_scored, 'sample')})"
