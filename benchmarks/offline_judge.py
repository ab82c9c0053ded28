"""The offline judge against people: MT-RAG's human labels, and the published LLM judges beside it.

``python -m benchmarks.offline_judge [--quick]`` (``--quick``: 200 resamples instead of 2,000, and
no cross-fitting). Needs ``../shared/data/mtrag``.

Every evaluation has up to three annotators; what is compared with is their median. Intervals are
percentile bootstraps over tasks, so that the answers to one task are drawn together. The published
values are those of the same records; the file holds them after IDK conditioning only (1 or 0 for a
right or wrong "I don't know"), so rows are given both ways:

as it is      the score itself, on the answers that have one (rl_f: with passages and claims);
conditioned   after IDK conditioning with the task's label, as the published values are, on all.

The plain baseline is the share of an answer's word weight (inverse document frequency over the
file's passages, no stop words, no stems) that stands in any passage.
"""

from __future__ import annotations

import itertools
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks.perturbations import perturbed
from ragassay import load
from ragassay.base.sample import Answerability, Sample
from ragassay.base.score import Score
from ragassay.judges.offline.questions import supported_share
from ragassay.metrics.core.metric import Metric
from ragassay.metrics.mtrag.mtrag_judged import IdkEval, ReferenceJudge, ReferencelessFaithfulness

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "mtrag"
ASPECTS = ("faithfulness", "appropriateness", "completeness")
RIGHT_TO_DECLINE = (Answerability.UNANSWERABLE, Answerability.CONVERSATIONAL)
Value = Callable[["Record"], float | None]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Record:
    """An evaluation: the sample, the medians of its annotators, and all scores of it.

    Attributes:
        declined: whether the published IDK judge said a full "I don't know", as its published
            verdict on the label ("answerability accuracy") and the label imply.
        scores: ``rl_f``, ``rb_llm``, ``plain``, ``idk`` of the offline judge (``None`` where
            unscored).
    """

    sample: Sample
    people: dict[str, float]
    published: dict[str, float]
    declined: bool
    scores: dict[str, float | None]


def main() -> None:
    """Prints the tables."""
    if not DATA.is_dir():
        print("skipped: the published data (../shared/data/mtrag) is not here")
        return
    quick = "--quick" in sys.argv
    records = read()
    llm = [record for record in records if record.sample.system != "reference"]
    n_resamples = 200 if quick else 2_000
    print("Spearman and Kendall (tau-b) with the median annotator, 95 % intervals by task")
    for name, rows in (("the two LLM systems", llm), ("all three systems", records)):
        print(f"\n{name}: {len(rows)} answers to {len({r.sample.id for r in rows})} tasks")
        table(rows, n_resamples)
    if not quick:
        kept, people = faithfulness(llm)
        held_out, each = cross_fitted([record.sample for record in kept], people)
        print(f"\nrl_f cross-fitted by conversation, {len(GRID)} settings: ", end="")
        print(f"rho {rho(held_out, people):.3f}; each on all: {min(each):.3f} to {max(each):.3f}")
    idk(records)
    perturbed([record.sample for record in records])


def read() -> list[Record]:
    """All evaluations of the file, scored by the offline judge."""
    samples = list(load(DATA / "human_evaluations_half.json"))
    weights = inverse_document_frequency(samples)
    found = []
    for sample in samples:
        given = sample.metadata["annotations"]
        people = {name: median(map(float, given[name].values())) for name in ASPECTS}
        people["overall"] = median(people[name] for name in ASPECTS)
        published = {
            name: float(sample.given[f"{name}_idk"]) for name in ("rl_f", "rb_llm", "rb_agg")
        }
        right = float(sample.given["conditional_idk"]) == 1.0
        declined = right == (sample.answerability in RIGHT_TO_DECLINE)
        scores = {
            "rl_f": value_of(ReferencelessFaithfulness(given=False), sample),
            "rb_llm": value_of(ReferenceJudge(given=False), sample),
            "idk": value_of(IdkEval(given=False), sample),
            "plain": plain_precision(sample, weights),
        }
        found.append(Record(sample, people, published, declined, scores))
    return found


def value_of(metric: Metric, sample: Sample) -> float | None:
    """What ragassay computes with the offline judge."""
    outcome = metric.score(sample)
    return outcome.number if isinstance(outcome, Score) else None


WORD = re.compile(r"[a-z0-9]+")


def inverse_document_frequency(samples: Sequence[Sample]) -> Callable[[str], float]:
    """Weight of a word, from the passages of the whole file."""
    texts = {passage.text for sample in samples for passage in sample.passages or ()}
    documents = [set(WORD.findall(text.lower())) for text in texts if text]
    frequency = Counter(word for document in documents for word in document)
    return lambda word: math.log((len(documents) + 1) / (frequency[word] + 1))


def plain_precision(sample: Sample, weight: Callable[[str], float]) -> float:
    """The baseline; 0 for an answer without words."""
    held = {
        w for passage in sample.passages or () for w in WORD.findall((passage.text or "").lower())
    }
    said = WORD.findall(sample.answer.text.lower()) if sample.answer else []
    whole = math.fsum(map(weight, said))
    return math.fsum(weight(word) for word in said if word in held) / whole if whole else 0.0


def raw(name: str) -> Value:
    """The offline judge's score itself."""
    return lambda record: record.scores[name]


def published(name: str) -> Value:
    """The published judge's conditioned value."""
    return lambda record: record.published[name]


def on(value: Value, scored: Value) -> Value:
    """A value on the records that have another one."""
    return lambda record: value(record) if scored(record) is not None else None


def conditioned(name: str) -> Value:
    """A score after IDK conditioning, with the offline judge's own "I don't know"."""

    def value(record: Record) -> float | None:
        declined = record.scores["idk"] == 1.0
        if record.sample.answerability in RIGHT_TO_DECLINE:
            return float(declined)
        return 0.0 if declined else record.scores[name]

    return value


ROWS: tuple[tuple[str, Value], ...] = (
    ("offline rl_f, as it is", raw("rl_f")),
    ("plain precision, same records", on(raw("plain"), raw("rl_f"))),
    ("published RL_F, same records", on(published("rl_f"), raw("rl_f"))),
    ("plain precision, all records", raw("plain")),
    ("offline rl_f_idk, conditioned", conditioned("rl_f")),
    ("plain precision, conditioned", conditioned("plain")),
    ("published RL_F (GPT-4o-mini), cond.", published("rl_f")),
    ("offline rb_llm, as it is", raw("rb_llm")),
    ("offline rb_llm_idk, conditioned", conditioned("rb_llm")),
    ("published RB_llm (4 LLMs), cond.", published("rb_llm")),
    ("published RB_agg (no judge), cond.", published("rb_agg")),
)


def table(records: Sequence[Record], n_resamples: int) -> None:
    """One row a score, one column an aspect."""
    columns = (*ASPECTS, "overall")
    print(f"{'':36}{'n':>4}  " + "".join(f"{name:<44}" for name in columns))
    for title, value in ROWS:
        kept = [record for record in records if value(record) is not None]
        scores = np.array([value(record) for record in kept], dtype=float)
        cells = []
        for name in columns:
            people = np.array([record.people[name] for record in kept])
            rho, tau = correlations(scores, people, draws(kept, n_resamples))
            cells.append(f"rho {interval(rho)}  tau {interval(tau)}  ")
        print(f"{title:<36}{len(kept):>4}  " + "".join(f"{cell:<44}" for cell in cells))


def draws(records: Sequence[Record], n_resamples: int) -> Floats:
    """How often each record stands in each resample of tasks; the first column is all ones."""
    tasks = sorted({record.sample.id for record in records})
    place = {task: at for at, task in enumerate(tasks)}
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(tasks), size=(n_resamples, len(tasks)))
    counts = np.stack([np.bincount(row, minlength=len(tasks)) for row in drawn])
    rows = counts[:, [place[record.sample.id] for record in records]].T
    return np.hstack([np.ones((len(records), 1)), rows]).astype(float)


def correlations(x: Floats, y: Floats, times: Floats) -> tuple[Floats, Floats]:
    """Spearman's rho and Kendall's tau-b for each column of multiplicities."""
    above = [np.sign(value[:, None] - value[None, :]) for value in (x, y)]
    ranks = [(sign > 0) @ times + ((sign == 0) @ times) / 2 for sign in above]
    centred = [rank - (rank * times).sum(0) / times.sum(0) for rank in ranks]
    a, b = centred
    rho = (a * b * times).sum(0) / np.sqrt((a * a * times).sum(0) * (b * b * times).sum(0))
    one, two = above

    def paired(signs: Floats) -> Floats:
        found: Floats = ((signs @ times) * times).sum(0)
        return found

    tau = paired(one * two) / np.sqrt(paired(one * one) * paired(two * two))
    return rho, tau


def interval(values: Floats) -> str:
    """The first value, with the middle 95 % of the others."""
    low, high = np.nanquantile(values[1:], [0.025, 0.975])
    return f"{values[0]:.3f} [{low:.2f}, {high:.2f}]"


GRID = tuple(itertools.product((0.35, 0.4, 0.45, 0.5, 0.55), (0.0, 0.1, 0.2, 0.3)))
"""Values of `questions.CLAIM` and `questions.ORDER` that are tried."""


def cross_fitted(samples: Sequence[Sample], people: Floats) -> tuple[Floats, Floats]:
    """rl_f by settings chosen without the conversation, in ten folds of conversations."""
    values = np.array([[share(sample, *setting) for setting in GRID] for sample in samples]).T
    talks = [sample.id.partition("<")[0] for sample in samples]
    order = list(dict.fromkeys(talks))
    folds = np.array([order.index(talk) % 10 for talk in talks])
    held_out = np.empty(len(samples))
    for fold in range(10):
        others = folds != fold
        best = max(range(len(GRID)), key=lambda at: rho(values[at][others], people[others]))
        held_out[~others] = values[best][~others]
    return held_out, np.array([rho(row, people) for row in values])


def share(sample: Sample, claim: float, order: float) -> float:
    """rl_f with another setting."""
    texts = tuple(passage.text or "" for passage in sample.passages or ())
    found = supported_share(sample.answer_text, texts, claim, order)
    assert found is not None
    return found


def faithfulness(records: Sequence[Record]) -> tuple[list[Record], Floats]:
    """The records that rl_f scores, with people's faithfulness."""
    kept = [record for record in records if record.scores["rl_f"] is not None]
    people = np.array([record.people["faithfulness"] for record in kept])
    return kept, people


def rho(scores: Floats, people: Floats) -> float:
    """Spearman's rho."""
    return float(correlations(scores, people, np.ones((len(scores), 1)))[0][0])


def idk(records: Sequence[Record]) -> None:
    """Full "I don't know" against the published judge's."""
    found = Counter((record.declined, record.scores["idk"]) for record in records)
    print(f'\n"I don\'t know": balanced accuracy {balanced_accuracy(records):.3f}')
    print("  published judge says   offline: full, partial, none")
    for said, name in ((True, "full"), (False, "anything else")):
        print(f"  {name:<22} " + ", ".join(f"{found[said, value]:>4}" for value in (1.0, 0.5, 0.0)))


def balanced_accuracy(records: Sequence[Record]) -> float:
    """Mean of the shares of full and of other answers that are told right."""
    right: dict[bool, list[bool]] = {True: [], False: []}
    for record in records:
        right[record.declined].append((record.scores["idk"] == 1.0) == record.declined)
    return sum(sum(found) / len(found) for found in right.values()) / 2


if __name__ == "__main__":
    main()
