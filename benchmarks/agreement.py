"""The offline judge's agreement with labels: the file's figures beside those computed anew.

``python -m benchmarks.agreement [--quick]`` (``--quick``: without the figures of `SLOW`). Needs
``../shared/data/mtrag``. Exit code 1 where a figure of
``src/ragassay/judges/offline/data/agreement.yaml`` differs by more than 0.005 from what is computed
here, or goes over another number of items. A figure without a computation is printed and not
compared.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np
from ragassay.judges.offline.language import plain, sentences

from benchmarks.offline_idk import looked_at
from benchmarks.offline_judge import (
    ASPECTS,
    DATA,
    Record,
    Value,
    conditioned,
    correlations,
    cross_validated,
    raw,
    read,
    value_of,
)
from ragassay.judges import Question
from ragassay.judges.offline import Agreement, answer_to, figures, look, relevance
from ragassay.judges.questions import (
    AnswerAttempted,
    CitationSupport,
    RelevanceGrade,
    ReportOnContext,
    SaysIdk,
)
from ragassay.metrics.core import Metric
from ragassay.metrics.rubric import ReportSatisfaction

TOLERANCE = 0.005
"""Largest difference between the file and what is computed: a figure has three decimals."""

Found = tuple[float, int]
"""A value, and over how many items it goes."""


def main() -> int:
    """Prints the figures; 1 where the file is not true."""
    if not DATA.is_dir():
        print("skipped: the published data (../shared/data/mtrag) is not here")
        return 0
    left_out = SLOW if "--quick" in sys.argv else frozenset[str]()
    wrong = 0
    print(f"{'kind':<22}{'measure':<20}{'n':>6}{'file':>8}{'here':>8}")
    for said in dict.fromkeys(one for listed in figures().values() for one in listed):
        known = said.computed and said.computed not in left_out
        found = COMPUTED[said.computed]() if known else None
        good = found is None or agrees(said, found)
        wrong += not good
        print(line(said, found) + ("" if good else "   WRONG"))
    for kind in (kind for kind, listed in figures().items() if not listed):
        print(f"{kind:<22}not measured: no labels are at hand")
    print("\nrelevance, AUC of the grades and of the scores that they are cut from")
    for part in PARTS:
        (grade, n), (score, _) = (graded(of_grades, part) for of_grades in (True, False))
        print(f"{grade:8.3f}{score:8.3f}{n:6} passages, {part}")
    if wrong:
        print(f"{wrong} figures of agreement.yaml differ from what is computed")
    return int(wrong > 0)


def agrees(said: Agreement, found: Found) -> bool:
    """Whether the file says what was computed."""
    assert said.value is not None
    return abs(said.value - found[0]) <= TOLERANCE and said.n == found[1]


def line(said: Agreement, found: Found | None) -> str:
    """One row of the table."""
    begin = f"{said.kind:<22}{said.measure:<20}{said.n:>6}{said.value:>8.3f}"
    if found is None:
        return f"{begin}{'-':>8}   {said.source}"
    n = f" (n = {found[1]})" if found[1] != said.n else ""
    return f"{begin}{found[0]:>8.3f}{n}"


@cache
def records() -> list[Record]:
    """The human evaluation's answers by LLMs, with all scores."""
    return [record for record in read() if record.sample.system != "reference"]


def spearman(scores: Sequence[float | None], aspect: str) -> Found:
    """Spearman's rho of scores of `records` with people's median, where there is a score."""
    rows = [(score, one.people[aspect]) for score, one in zip(scores, records(), strict=True)]
    kept = np.array([row for row in rows if row[0] is not None], dtype=float)
    rho, _ = correlations(kept[:, 0], kept[:, 1], np.ones((len(kept), 1)))
    return float(rho[0]), len(kept)


def by_value(value: Value, aspect: str) -> Found:
    """The same of a value of records."""
    return spearman([value(record) for record in records()], aspect)


@cache
def held_out() -> Found:
    """Spearman's rho of rl_f with people's faithfulness, cross-validated over tasks."""
    found = cross_validated(records())
    return found.held_out, found.n


def by_metric(metric: Metric, aspect: str) -> Found:
    """The same of a metric."""
    return spearman([value_of(metric, record.sample) for record in records()], aspect)


def fully_supported(record: Record) -> float | None:
    """Share of an answer's sentences that one of its passages supports in full."""
    texts = [passage.text for passage in record.sample.passages or () if passage.text]
    said = sentences(plain(record.sample.answer.text)) if record.sample.answer else []
    if not texts or not said:
        return None
    full = [
        any(reply(CitationSupport(one, text)).support == "full" for text in texts) for one in said
    ]
    return sum(full) / len(full)


def reply(question: Question[Any]) -> Any:
    """The offline judge's answer."""
    found = answer_to(question)
    assert found is not None
    return found


def rows_of(name: str) -> Iterator[Mapping[str, Any]]:
    """The records of a JSON Lines file."""
    with (DATA / name).open(encoding="utf-8") as file:
        yield from map(json.loads, file)


@cache
def passages() -> list[Mapping[str, Any]]:
    """Passages with people's yes or no on their relevance."""
    return list(rows_of("passage_relevance_half.jsonl"))


def auc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Share of the pairs of a positive and a negative that the scores order right, ties a half."""
    values, positive = np.array(scores, dtype=float), np.array(labels, dtype=bool)
    high, low = values[positive], np.sort(values[~positive])
    below = np.searchsorted(low, high, "left") + np.searchsorted(low, high, "right")
    return float(below.sum() / 2 / len(high) / len(low))


PARTS: Mapping[str, Callable[[int], bool]] = {
    "all conversations": lambda number: True,
    "odd numbers, on which the rule's numbers were chosen": lambda number: number % 2 == 1,
    "even numbers": lambda number: number % 2 == 0,
}
"""The conversations with labelled passages, by their number."""


def graded(of_grades: bool, part: str = "all conversations") -> Found:
    """AUC of the grades, or of the scores that they are cut from, over one of `PARTS`."""
    rows = [row for row in passages() if PARTS[part](int(row["conversation"]))]
    values = [float(relevance(asked(row)).grade) if of_grades else score_of(row) for row in rows]
    return auc(values, [bool(row["relevant"]) for row in rows]), len(rows)


def asked(row: Mapping[str, Any]) -> RelevanceGrade:
    """The question on a labelled passage."""
    return RelevanceGrade(row["query"], row["passage"], earlier=tuple(row["earlier_user_turns"]))


def score_of(row: Mapping[str, Any]) -> float:
    """The number that a grade is cut from."""
    question = asked(row)
    return look(question.query, question.passage, question.earlier).score


def reported(field: Literal["relevance", "usefulness"]) -> Found:
    """AUC of a field of the report on a context of one passage, where it has a value."""
    told = [
        (float(stars), bool(row["relevant"]))
        for row in passages()
        if (stars := getattr(reply(ReportOnContext(row["query"], (row["passage"],))), field))
        is not None
    ]
    return auc([stars for stars, _ in told], [label for _, label in told]), len(told)


def balanced(said: Sequence[bool], labels: Sequence[bool]) -> Found:
    """Mean of the shares of positives and of negatives that are told right."""
    pairs = list(zip(said, labels, strict=True))
    shares = [
        sum(one == wanted for one, label in pairs if label is wanted) / labels.count(wanted)
        for wanted in (True, False)
    ]
    return sum(shares) / 2, len(pairs)


def idk(says: Callable[[Mapping[str, Any]], bool], *, unseen: bool = False) -> Found:
    """Balanced accuracy against a full "I don't know" by GPT-4o-mini; ``unseen``: on the queries
    that nobody looked at."""
    rows = [row for row in rows_of("idk_585.jsonl") if not (unseen and looked_at(row))]
    return balanced([says(row) for row in rows], [row["idk_eval"] == 1.0 for row in rows])


def says_idk(row: Mapping[str, Any]) -> bool:
    """Whether the answer says in full that it does not know."""
    turns = "\n".join(f"{turn['speaker']}: {turn['text']}" for turn in row["conversation"])
    return bool(reply(SaysIdk(turns, row["response"])).says_idk == "yes")


def attempts_none(row: Mapping[str, Any]) -> bool:
    """Whether the answer attempts none."""
    query = row["conversation"][-1]["text"]
    return bool(reply(AnswerAttempted(query, row["response"])).answered == "no")


COMPUTED: Mapping[str, Callable[[], Found]] = {
    "relevance": lambda: graded(True),
    "rl_f_cross_validated": held_out,
    "rl_f": lambda: by_value(raw("rl_f"), ASPECTS[0]),
    "idk": lambda: idk(says_idk),
    "idk_unseen": lambda: idk(says_idk, unseen=True),
    "attempted": lambda: idk(attempts_none),
    "rb_llm_idk": lambda: by_value(conditioned("rb_llm"), "overall"),
    "fully_supported": lambda: spearman([fully_supported(one) for one in records()], ASPECTS[0]),
    "report_relevance": lambda: reported("relevance"),
    "usefulness": lambda: reported("usefulness"),
    "ragreport_satisfaction": lambda: by_metric(ReportSatisfaction(), "overall"),
}
"""How the figures are computed, by the name that the file calls it (``computed``)."""

SLOW = frozenset({"rl_f_cross_validated"})
"""Computations of more than a few seconds."""


if __name__ == "__main__":
    sys.exit(main())
