"""The offline judge's agreement with labels: its table, computed anew and as the file has it.

``python -m benchmarks.agreement [--write]``. Needs ``../shared/data/mtrag``. ``--write`` puts the
figures into ``src/ragassay/engine/comparison/agreement.yaml`` and ``docs/offline-judge.md``.
Without it the exit code is 1 where the file has another number of items, or a figure that differs
by more than 0.005.

The judge is asked as a run asks it. Intervals are percentile bootstraps over conversations (queries
where the answers are to single queries), so that what belongs to one of them is drawn together.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.fit_refusals import trained
from benchmarks.offline_judge import ASPECTS, correlations, cross_fitted
from ragassay import evaluate, load
from ragassay.base.sample import Answer, Passage, Sample, Turn
from ragassay.engine import comparison
from ragassay.engine.comparison.offline_agreement import Agreement, rows
from ragassay.judges import JudgeAnswer
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.judges.questions import CitationSupport, ExtractClaims

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "mtrag"
FILE = Path(comparison.__file__).with_name("agreement.yaml")
PAGE = Path(__file__).resolve().parents[1] / "docs" / "offline-judge.md"
TOLERANCE = 0.005
WEIGHTS = "ragassay.judges.offline.refusal._weights"
RESAMPLES = 2_000
Floats = NDArray[np.float64]


class Pairs(NamedTuple):
    """What the judge says and the labels, of each item that it says something of; and what the item
    belongs to."""

    said: Floats
    labels: Floats
    clusters: Sequence[str]


def main() -> int:
    """Prints the table; 1 where the file is not true."""
    if not DATA.is_dir():
        print("skipped: the published data (../shared/data/mtrag) is not here")
        return 0
    found = {row.name: figures(row, COMPUTED[row.name]()) for row in rows()}
    if "--write" in sys.argv:
        text = FILE.read_text(encoding="utf-8")
        FILE.write_text(written(text, found), encoding="utf-8")
        table = [replace(row, **found[row.name]) for row in rows()]
        PAGE.write_text(on_page(PAGE.read_text(encoding="utf-8"), table), encoding="utf-8")
    print(f"{'row':<18}{'measure':<19}{'n':>6}  {'computed':<22}{'in the file':<22}of")
    wrong = 0
    for row in rows():
        new = found[row.name]
        old = {key: getattr(row, key) for key in new}
        good = all(abs(new[key] - old[key]) <= TOLERANCE for key in new)
        wrong += not good
        cells = [f"{one['value']:.3f} [{one['low']:.3f}, {one['high']:.3f}]" for one in (new, old)]
        print(f"{row.name:<18}{row.measure:<19}{new['n']:>6}  {cells[0]:<22}{cells[1]:<22}{row.of}")
    if wrong and "--write" not in sys.argv:
        print(f"{wrong} rows of agreement.yaml differ from what is computed")
        return 1
    return 0


def figures(row: Agreement, pairs: Pairs) -> dict[str, Any]:
    """The measure of a row with its interval, in three decimals, and the number of items."""
    clusters, at = np.unique(np.array(pairs.clusters), return_inverse=True)
    drawn = np.random.default_rng(0).integers(0, len(clusters), (RESAMPLES, len(clusters)))
    counts = np.stack([np.bincount(one, minlength=len(clusters)) for one in drawn])
    times = np.vstack([np.ones((1, len(at))), counts[:, at]]).T.astype(float)
    values = MEASURES[row.measure](pairs.said, pairs.labels, times)
    low, high = np.nanquantile(values[1:], [0.025, 0.975])
    exact = {"value": values[0], "low": low, "high": high}
    return {name: round(float(one), 3) for name, one in exact.items()} | {"n": len(at)}


def written(text: str, found: Mapping[str, Mapping[str, float]]) -> str:
    """The file with these figures."""
    for name, one in found.items():
        flow = ", ".join(f"{key}: {value}" for key, value in one.items())
        line = re.compile(rf"^({name}:\n(?:  .*\n)*?  found: ).*$", re.M)
        text = line.sub(rf"\g<1>{{{flow}}}", text, count=1)
    return text


def on_page(page: str, table: Sequence[Agreement]) -> str:
    """The page with these rows below the head of its table."""
    lines = [
        f"| {', '.join(f'`{name}`' for name in row.metrics)} | {row.of} | {row.labels} | "
        f"{row.measure} {row.value:.3f} [{row.low:.3f}, {row.high:.3f}] | {row.n:,} | "
        f"{'yes' if row.sufficient else 'no'} |\n"
        for row in table
    ]
    return re.sub(r"(\| used by .*\n\|[-|]+\n)(\|.*\n)*", lambda m: m[1] + "".join(lines), page)


def auc(x: Floats, y: Floats, times: Floats) -> Floats:
    """Share of the pairs of a positive and a negative that are ordered right, ties a half."""
    good, bad = times[y == 1], times[y != 1]
    right = (np.sign(x[y == 1][:, None] - x[y != 1][None, :]) + 1) / 2
    shares: Floats = (good * (right @ bad)).sum(0) / (good.sum(0) * bad.sum(0))
    return shares


def balanced(x: Floats, y: Floats, times: Floats) -> Floats:
    """Mean of the shares of positives and of negatives that are told right."""
    right = (x == y)[:, None]
    shares = [(times * right)[y == one].sum(0) / times[y == one].sum(0) for one in (0, 1)]
    found: Floats = (shares[0] + shares[1]) / 2
    return found


MEASURES = {"Spearman": lambda *of: correlations(*of)[0], "AUC": auc, "balanced accuracy": balanced}


@cache
def answers() -> list[Sample]:
    """The answers of MT-RAG's human evaluation."""
    return list(load(DATA / "human_evaluations_half.json"))


def people(sample: Sample, aspect: str) -> float:
    """The median of the annotators, of all aspects for ``overall``."""
    given = sample.metadata["annotations"]
    medians = {name: median(map(float, given[name].values())) for name in ASPECTS}
    return median(medians.values()) if aspect == "overall" else medians[aspect]


def by_people(metric: str, aspect: str) -> Pairs:
    """A metric of the LLMs' answers, and people's labels."""
    chosen = [one for one in answers() if one.system != "reference"]
    return compared(
        scores(chosen, metric),
        [people(one, aspect) for one in chosen],
        [one.id.partition("<")[0] for one in chosen],
    )


def faithful(*, references: bool = False) -> Pairs:
    """rl_f of the LLMs' answers, and of the references where asked for, and people's faithfulness.

    The two numbers that decide on a claim are chosen on nine tenths of the conversations, and the
    last tenth has its values from them.
    """
    chosen = [one for one in answers() if references or one.system != "reference"]
    said = scores(chosen, "rl_f(given=false)")
    kept = [one for one, value in zip(chosen, said, strict=True) if value is not None]
    labels = np.array([people(one, "faithfulness") for one in kept])
    held_out, _ = cross_fitted(kept, labels)
    return Pairs(held_out, labels, [one.id.partition("<")[0] for one in kept])


def compared(
    said: Sequence[float | None], labels: Sequence[float], clusters: Sequence[str]
) -> Pairs:
    """The items that the judge says something of."""
    kept = [row for row in zip(said, labels, clusters, strict=True) if row[0] is not None]
    return Pairs(
        np.array([row[0] for row in kept], dtype=float),
        np.array([row[1] for row in kept], dtype=float),
        [row[2] for row in kept],
    )


def scores(samples: Sequence[Sample], metric: str) -> list[float | None]:
    """A metric of each sample by the offline judge."""
    columns = evaluate(samples, [metric]).columns
    (name,) = columns.metrics
    rows = zip(columns.values(name).tolist(), columns.scored(name).tolist(), strict=True)
    return [value if scored else None for value, scored in rows]


def cited() -> Pairs:
    """Share of the claims of an answer that one of its passages supports in full."""
    chosen = [one for one in answers() if one.system != "reference"]
    return compared(
        [full_support(one) for one in chosen],
        [people(one, "faithfulness") for one in chosen],
        [one.id.partition("<")[0] for one in chosen],
    )


def full_support(sample: Sample) -> float | None:
    """The share for one answer; ``None`` without claims or passages."""
    texts = [passage.text for passage in sample.passages or () if passage.text]
    claims = reply(ExtractClaims("", sample.answer.text)).claims if sample.answer else ()
    if not texts or not claims:
        return None
    full = [
        any(reply(CitationSupport(claim, text)).support == "full" for text in texts)
        for claim in claims
    ]
    return sum(full) / len(full)


def reply(question: Any) -> Any:
    """The offline judge's answer."""
    found = OfflineJudge().known(question)
    assert isinstance(found, JudgeAnswer)
    return found.answer


def passages(metric: str) -> Pairs:
    """A metric of single passages, and people's yes or no on their relevance."""
    records = lines("passage_relevance_half.jsonl")
    samples = [
        Sample(
            id=str(at),
            query=one["query"],
            history=tuple(Turn("user", text) for text in one["earlier_user_turns"]),
            passages=(Passage(one["passage"]),),
        )
        for at, one in enumerate(records)
    ]
    return compared(
        scores(samples, metric),
        [float(one["relevant"]) for one in records],
        [str(one["conversation"]) for one in records],
    )


def declined(metric: str, value: float) -> Pairs:
    """Whether a metric of an answer has the value that means "declined", and whether GPT-4o-mini
    saw a full "I don't know". Each system is judged by weights fitted to the others."""
    records = lines("idk_585.jsonl")
    samples = [
        Sample(
            id=str(at),
            query=one["conversation"][-1]["text"],
            history=tuple(Turn(turn["speaker"], turn["text"]) for turn in one["conversation"][:-1]),
            answer=Answer(one["response"]),
        )
        for at, one in enumerate(records)
    ]
    said: list[float | None] = [None] * len(records)
    for system in {one["system"] for one in records}:
        there = [at for at, one in enumerate(records) if one["system"] == system]
        weights = trained([one for one in records if one["system"] != system])
        with patch(WEIGHTS, lambda weights=weights: tuple(weights)):
            for at, one in zip(there, scores([samples[at] for at in there], metric), strict=True):
                said[at] = one
    return compared(
        [None if one is None else float(one == value) for one in said],
        [float(one["idk_eval"] == 1.0) for one in records],
        [one["task_id"] for one in records],
    )


def lines(name: str) -> list[dict[str, Any]]:
    """The records of a JSON Lines file."""
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


COMPUTED: Mapping[str, Callable[[], Pairs]] = {
    "rl_f": faithful,
    "rl_f_with_people": lambda: faithful(references=True),
    "relevance": lambda: passages("umbrela"),
    "report_relevance": lambda: passages("ragreport_relevance"),
    "citations": cited,
    "rb_llm": lambda: by_people("rb_llm(given=false)", "overall"),
    "idk": lambda: declined("idk_eval(given=false)", 1.0),
    "answered": lambda: declined("answered", 0.0),
}
"""How the figures of each row are computed."""


if __name__ == "__main__":
    sys.exit(main())
