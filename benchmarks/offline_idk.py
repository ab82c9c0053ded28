"""The offline judge's "I don't know" against verdicts of LLM judges, on records of other systems.

Called by ``python -m benchmarks.offline_judge``. ``idk_585.jsonl`` holds nine systems' answers to
65 queries with the verdicts of GPT-4o-mini by MT-RAG's prompt. Its queries are split in two: the
rules were improved with the first part in view, and nobody looked at the second. All ten
CONVERSATIONAL queries are in the first part, because all were looked at for the reading of small
talk.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ragassay.judges.offline import is_small_talk, says_idk

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "mtrag"
VALUES = {"yes": 1.0, "partial": 0.5, "no": 0.0}
RESAMPLES = 2_000


class Verdict(NamedTuple):
    """A record's verdicts, 1, 0.5 or 0; ``talk``: the answer is small talk alone."""

    query: str
    published: float
    offline: float
    looked_at: bool
    talk: bool


def report() -> None:
    """Prints balanced accuracies and the verdicts against one another."""
    found = verdicts()
    rest = [one for one in found if not one.talk]
    print("  full verdicts of GPT-4o-mini on 585 answers of nine other systems (idk_585)")
    for name, rows in (
        ("all", found),
        ("all but small talk alone", rest),
        ("the part that was looked at", [one for one in found if one.looked_at]),
        ("the part that nobody looked at", [one for one in found if not one.looked_at]),
    ):
        low, high = interval(rows)
        queries = len({one.query for one in rows})
        print(
            f"    {name:<31}{len(rows):>4} answers to {queries} queries: balanced accuracy "
            f"{balanced_accuracy(rows):.3f} [{low:.2f}, {high:.2f}]"
        )
        counts = Counter((one.published, one.offline) for one in rows)
        for said, word in ((1.0, "full"), (0.5, "partial"), (0.0, "none")):
            row = ", ".join(f"{counts[said, value]:>4}" for value in (1.0, 0.5, 0.0))
            print(f"      published {word:<8} offline full, partial, none: {row}")
    talk = Counter(one.published for one in found if one.talk)
    print(f"    small talk alone: published verdicts {dict(talk)}")
    print("  42 records of another system and judge: (published, offline) count")
    other = Counter(judged_42())
    print("    " + ", ".join(f"({a:g}, {b:g}) {n}" for (a, b), n in sorted(other.items())))


def verdicts() -> list[Verdict]:
    """The 585 records, each with both verdicts."""
    found = []
    for line in (DATA / "idk_585.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        turns = "\n".join(f"{turn['speaker']}: {turn['text']}" for turn in record["conversation"])
        query, answer = record["task_id"], record["response"]
        offline = VALUES[says_idk(answer, turns)]
        published = float(record["idk_eval"])
        found.append(Verdict(query, published, offline, looked_at(record), is_small_talk(answer)))
    return found


def looked_at(record: Mapping[str, Any]) -> bool:
    """Whether a record lies in the part that was looked at while the rules were written."""
    first = hashlib.sha256(record["task_id"].encode()).digest()[0] % 2 == 0
    return first or record["answerability"] == "CONVERSATIONAL"


def judged_42() -> list[tuple[float, float]]:
    """Published and offline verdicts of the 42 records."""
    from ragassay import load
    from ragassay.metrics.mtrag import conversation

    found = []
    for sample in load(DATA / "judged_42.jsonl"):
        (value,) = sample.given["idk_eval"]
        answer = sample.answer.text if sample.answer else ""
        found.append((float(value), VALUES[says_idk(answer, conversation(sample))]))
    return found


def balanced_accuracy(rows: Sequence[Verdict]) -> float:
    """Mean of the shares of full and of other verdicts that are told right."""
    right: dict[bool, list[bool]] = {True: [], False: []}
    for one in rows:
        full = one.published == 1.0
        right[full].append((one.offline == 1.0) == full)
    return sum(sum(found) / len(found) for found in right.values()) / 2


def interval(rows: Sequence[Verdict]) -> tuple[float, float]:
    """The middle 95 % of the balanced accuracy over resamples of queries."""
    queries = sorted({one.query for one in rows})
    counts = np.zeros((len(queries), 4))
    for one in rows:
        full = one.published == 1.0
        right = (one.offline == 1.0) == full
        counts[queries.index(one.query), 2 * full + right] += 1
    drawn = np.random.default_rng(0).integers(0, len(queries), (RESAMPLES, len(queries)))
    sums = counts[drawn].sum(1)
    values = (sums[:, 1] / (sums[:, 0] + sums[:, 1]) + sums[:, 3] / (sums[:, 2] + sums[:, 3])) / 2
    low, high = np.nanquantile(values, [0.025, 0.975])
    return float(low), float(high)
