"""Results and comparisons to show, built straight from the engine's dataclasses."""

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ragassay.base.note import Note
from ragassay.base.sample import Answer, Answerability, GoldPassage, Passage, Sample, Turn
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.result import Result
from ragassay.engine.results.score_columns import ScoreColumns
from ragassay.engine.results.score_rows import ScoreRow
from ragassay.engine.results.summary import MetricSummary, Slice, Summary
from ragassay.engine.results.verdict import Difference


@dataclass(frozen=True)
class Kind:
    """A metric as the examples need it."""

    name: str
    title: str
    family: str
    bounds: tuple[float | None, float | None] = (0.0, 1.0)
    higher: bool | None = True
    aggregate: str = "mean"


KINDS = (
    Kind("nDCG@10", "Normalised discounted cumulative gain at 10", "retrieval"),
    Kind("Recall@5", "Share of the relevant passages among the first 5", "retrieval"),
    Kind("AP", "Average precision", "retrieval"),
    Kind("f1", "Token overlap with the best reference", "answer"),
    Kind("em", "Answer equals a reference", "answer"),
    Kind("rougeL(stem=false).f", "Longest common subsequence, F", "answer"),
    Kind("length.words", "Words in the answer", "answer", (0.0, None), None),
)
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"
TEXT = (
    "the permit is valid for twelve months and must be renewed before it ends unless the council "
    "decides otherwise in which case a written notice explains the reasons and the right to appeal"
)
WORDS = TEXT.split()


def samples(n: int, *, system: str = "hybrid", seed: int = 0) -> list[Sample]:
    """``n`` plausible samples, some unanswerable, some with a history."""
    rng = np.random.default_rng(seed)
    pool = [" ".join(rng.choice(WORDS, size=60)).capitalize() for _ in range(200)]
    found = []
    for i in range(n):
        topic = WORDS[i % len(WORDS)]
        texts = [
            f"{pool[int(k)]} (section {j + 1})." for j, k in enumerate(rng.integers(200, size=5))
        ]
        history = (
            (
                Turn("user", f"Tell me about the {topic} rules."),
                Turn("agent", f"They cover {topic} in three sections. Which one do you mean?"),
            )
            if i % 3 == 2
            else ()
        )
        found.append(
            Sample(
                id=f"q{i:04d}",
                query=f"How long does the {topic} permit number {i} stay valid, and who renews it?",
                system=system,
                history=history,
                passages=tuple(
                    Passage(text, f"doc{(i + j) % 97}#{j}", score=9.0 - j, document=f"doc{i % 97}")
                    for j, text in enumerate(texts)
                ),
                answer=Answer(f"{pool[int(rng.integers(200))][:150]}."),
                references=(" ".join(WORDS[:18]).capitalize() + ".",),
                gold=(GoldPassage(id=f"doc{i % 97}#0", grade=2), GoldPassage(id="doc5#9")),
                answerability=(
                    Answerability.UNANSWERABLE if i % 7 == 3 else Answerability.ANSWERABLE
                ),
                metadata={"domain": ("permits", "taxes", "waste", "parks")[i % 4]},
            )
        )
    return found


def outcomes(
    found: list[Sample], kinds: tuple[Kind, ...] = KINDS, *, lift: float = 0.0, seed: int = 0
) -> dict[str, list[Outcome]]:
    """One outcome a sample and metric; unanswerable samples have no answer scores."""
    table: dict[str, list[Outcome]] = {}
    for at, kind in enumerate(kinds):
        noise = np.random.default_rng(at)
        base = noise.beta(2.2, 1.4, size=len(found))
        shift = np.random.default_rng(seed + 100 + at).normal(lift, 0.12, size=len(found))
        raw = np.clip(base + shift, 0, 1)
        column: list[Outcome] = []
        for i, sample in enumerate(found):
            value = float(raw[i])
            if kind.bounds[1] is None:
                column.append(Score(int(20 + 60 * value)))
            elif kind.name == "em":
                column.append(_answer_only(sample, Score(value > 0.7)))
            elif kind.family == "answer":
                parts = {"precision": round(value, 3), "matched": ["permit", "valid"]}
                score = Score(value, parts, "best against reference 1")
                column.append(_answer_only(sample, score))
            else:
                column.append(Score(round(value, 4), {"ranks": [1, 3]}, "2 of 2 relevant found"))
        table[kind.name] = column
    return table


def _answer_only(sample: Sample, outcome: Outcome) -> Outcome:
    if sample.answerability is Answerability.UNANSWERABLE:
        return Unscored(Reason.NOT_APPLICABLE, "the sample has no reference answer")
    return outcome


def result(
    found: list[Sample],
    table: dict[str, list[Outcome]] | None = None,
    kinds: tuple[Kind, ...] = KINDS,
    *,
    title: str = "permits.jsonl",
    warnings: tuple[str, ...] = (),
    config: dict[str, Any] | None = None,
) -> Result:
    """A result that holds these samples and outcomes, or made-up ones."""
    table = table or outcomes(found)
    columns = ScoreColumns(table)
    columns.identities = [sample.identity for sample in found]
    columns.asked.extend([0] * len(found))
    columns.slices = {
        "answerability": [(str(s.answerability),) if s.answerability else () for s in found],
        "domain": [tuple(filter(None, [s.metadata.get("domain")])) for s in found],
    }
    for name, column in table.items():
        for outcome in column:
            columns.add(name, outcome)
    everything = np.ones(len(found), dtype=np.bool_)
    metrics = {kind.name: metric_summary(columns, kind, everything) for kind in kinds}
    slices = []
    for column_name, values in columns.slices.items():
        for value, n in Counter(label for v in values for label in v).most_common():
            mask = np.array([value in v for v in values])
            chosen = {k.name: metric_summary(columns, k, mask) for k in kinds}
            slices.append(Slice(column_name, value, n, chosen))
    summary = Summary(
        title=title, suite="qa", system=found[0].system if found else "", n_samples=len(found),
        n_queries=len({sample.id for sample in found}), averaged_over="all scored samples",
        metrics=metrics, slices=tuple(slices),
        notes=tuple(Note("text", {"text": one}, severity="warning") for one in warnings),
    )  # fmt: skip
    rows = [
        ScoreRow.of(sample.identity, name, column[i])
        for i, sample in enumerate(found)
        for name, column in table.items()
    ]
    return Result(
        summary=summary,
        columns=columns,
        config=config or {"ragassay": "0.1.0", "suite": ["qa"], "data": title, "seed": 0},
        folder=None,
        _rows=lambda: iter(rows),
        _samples=lambda: iter(found),
    )


def metric_summary(columns: ScoreColumns, kind: Kind, mask: Any) -> MetricSummary:
    """A summary with a normal interval (the engine's own are tested elsewhere)."""
    chosen = mask & columns.scored(kind.name)
    values = columns.values(kind.name)[chosen]
    labels = columns.tally(kind.name, mask).labels
    mean = low = high = std = None
    if values.size:
        mean = float(values.sum() if kind.aggregate == "sum" else values.mean())
    if values.size > 1 and kind.aggregate == "mean":
        std = float(values.std(ddof=1))
        half = 1.96 * std / math.sqrt(values.size)
        low, high = float(values.mean()) - half, float(values.mean()) + half
    return MetricSummary(
        name=kind.name, title=kind.title, family=kind.family, mean=mean, low=low, high=high,
        level=0.95, interval="t" if low is not None else "none",
        n_scored=int(values.size) + sum(labels.values()), n_total=int(mask.sum()), std=std,
        median=float(np.median(values)) if values.size else None,
        minimum=float(values.min()) if values.size else None,
        maximum=float(values.max()) if values.size else None, aggregate=kind.aggregate,
        higher_is_better=kind.higher, bounds=kind.bounds,
        unscored=columns.tally(kind.name, mask).reasons, labels=labels, signature=f"{kind.name}|v1",
    )  # fmt: skip


def example(n: int = 45, *, system: str = "hybrid", lift: float = 0.0, seed: int = 0) -> Result:
    """A whole result of ``n`` samples."""
    found = samples(n, system=system, seed=seed)
    return result(found, outcomes(found, lift=lift, seed=seed))


def comparison(a: Result, b: Result, *, warnings: tuple[str, ...] = ()) -> Comparison:
    """The differences of two results on the same queries, with plausible p-values."""
    differences = []
    for name, metric in a.summary.metrics.items():
        both = a.columns.scored(name) & b.columns.scored(name)
        va, vb = a.columns.values(name)[both], b.columns.values(name)[both]
        n = int(both.sum())
        if n < 2:
            continue
        diffs = va - vb
        diff, se = float(diffs.mean()), float(diffs.std(ddof=1)) / math.sqrt(n)
        p = math.erfc(abs(diff) / max(se, 1e-12) / math.sqrt(2))
        adjusted = min(1.0, p * len(a.summary.metrics))
        differences.append(
            Difference(
                name=name, a_mean=float(va.mean()), b_mean=float(vb.mean()), diff=diff,
                low=diff - 1.96 * se, high=diff + 1.96 * se, p_value=p, p_adjusted=adjusted,
                significant_adjusted=adjusted < 0.05, t_p_value=p,
                cohens_d=diff / max(float(diffs.std(ddof=1)), 1e-12), detectable=2.8 * se, n=n,
                wins=int((diffs > 0).sum()), losses=int((diffs < 0).sum()),
                ties=int((diffs == 0).sum()), higher_is_better=metric.higher_is_better,
            )
        )  # fmt: skip
    return Comparison(
        a=a.summary.system, b=b.summary.system, differences=tuple(differences),
        n_common=len(a.columns), only_a=0, only_b=0, n_resamples=10_000, seed=0, level=0.95,
        correction="holm", n_tested=len(differences),
        brought=tuple(Note("text", {"text": one}, severity="warning") for one in warnings),
    )  # fmt: skip


def pair(n: int = 45) -> tuple[Comparison, Result, Result]:
    """A comparison with its two results."""
    a = example(n, system="hybrid", lift=0.06, seed=1)
    b = example(n, system="bm25", lift=0.0, seed=2)
    return replace(comparison(a, b), runs=(a, b)), a, b


def hostile(n: int = 12) -> Result:
    """A result whose every text tries to break out of where it is shown."""
    kinds = (
        Kind(f"a.b[0]'\"{HOSTILE}", HOSTILE, "x.y[1]"),
        Kind("=cmd|' /C calc'!A0", "a|b\nc", "x.y[1]"),
    )
    found = [
        replace(
            sample, id=f"{i}{HOSTILE}", query=f"{HOSTILE} \u2028 & <b>bold</b>",
            answer=Answer(f"=1+1 {HOSTILE}"), metadata={"domain": HOSTILE if i % 2 else "=2+2"},
        )
        for i, sample in enumerate(samples(n))
    ]  # fmt: skip
    table: dict[str, list[Outcome]] = {
        kinds[0].name: [Score(i / n, {HOSTILE: [HOSTILE]}, HOSTILE) for i in range(n)],
        kinds[1].name: [Unscored(Reason.FAILED, f"@broken {HOSTILE}") for _ in range(n)],
    }
    return result(
        found, table, kinds, title=f"=title {HOSTILE}", warnings=(HOSTILE,), config={HOSTILE: 1}
    )
