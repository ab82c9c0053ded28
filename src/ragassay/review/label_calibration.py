"""Questions with known answers, which each person answers first."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from ragassay.judges import Question, Reply, Verdict
from ragassay.judges.combining import combinable, differ
from ragassay.review.label_log import LABELS, LabelLog
from ragassay.review.review_store import ReviewStore

CALIBRATION = "label-calibration.jsonl"
"""File of the labels of questions with known answers, which are no labels of the set."""


@dataclass(frozen=True)
class Known:
    """A question whose answer is known.

    Attributes:
        question: that is asked.
        answer: that is right.
        query: that the question is about; empty where it is not known.
    """

    question: Question[Any]
    answer: Reply
    query: str

    def is_right(self, reply: Reply | None) -> bool:
        """Whether a person gave the known answer. Explanations do not count.

        Args:
            reply: of the person; ``None``: the person cannot tell.
        """
        return reply is not None and not differ([self.answer, reply])


def known_answers(store: ReviewStore, kinds: Collection[str]) -> dict[str, Known]:
    """The questions with known answers: those that people agree on, or settled, in the labels of
    the calibration set. Lists of texts have no known answer.

    Args:
        store: of the set under review, which names the calibration set.
        kinds: of questions that are asked about the answers under review.

    Raises:
        InputError: the labels of the calibration set are wrong.
    """
    golden = store.calibration()
    if golden is None:
        return {}
    path = golden.folder / LABELS
    log = store.fresh(path, lambda: LabelLog.read(path))
    queries = {item.id: item.query for item in golden.items}
    known = {}
    for key, question in log.questions.items():
        is_open = log.disagree(key) and log.settled(key) is None
        if question.kind not in kinds or is_open or not combinable(question.reply):
            continue
        verdict = log.verdict(question)
        if isinstance(verdict, Verdict):
            names = [str(one["sample"]) for _, one in log.labels_of(key) if one.get("sample")]
            query = next((queries[name] for name in names if name in queries), "")
            known[key] = Known(question, verdict.answer, query)
    return known
