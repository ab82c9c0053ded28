"""Labels of answers by people, ``labels.jsonl``.

Each line is one of ``--judge replay:labels.jsonl``: of two lines by a person on a question the
later one counts, one without an answer takes the one before back, and a final one (by somebody who
saw what others said) settles its question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ragassay.judges import Failure, Question, Reply, Verdict
from ragassay.judges.combining import differ
from ragassay.judges.panel import decided
from ragassay.judges.recorded.replay import vote_of
from ragassay.judges.recorded.replay_file import label_of
from ragassay.review.review_log import Entry, Kind, Standing

CANNOT_TELL = "cannot tell"
RULE = "median"
"""How the labels of several people become one, as `--judge replay:FILE` does by default."""


@dataclass(frozen=True)
class Label:
    """What a person answered.

    Attributes:
        reply: the answer; ``None``: the person cannot tell.
    """

    question: Question[Any]
    reply: Reply | None
    record: Mapping[str, Any]

    @property
    def answer(self) -> Any:
        """As the line has it, or `CANNOT_TELL`."""
        return CANNOT_TELL if self.reply is None else self.record["answer"]


def _entry(record: Mapping[str, Any], number: int) -> Entry:
    question, reply = label_of(record)
    record = {"judge": f"line {number}", **record}
    return Entry(
        question.key,
        str(record["judge"]),
        Label(question, reply, record),
        str(record.get("at", "")),
        float(record.get("seconds") or 0.0),
        undo=bool(record.get("undo")),
        empty=reply is None and not record.get("detail"),
        final=bool(record.get("final")),
        right=bool(record.get("right")),
    )


LABELS = Kind(
    piece="label",
    log="labels.jsonl",
    known_log="label-calibration.jsonl",
    entry=_entry,
    # Who cannot tell does not count.
    differ=lambda labels: differ([one.reply for one in labels if one.reply is not None]),
)


def verdict_of(standing: Standing, question: Question[Any]) -> Verdict[Any] | Failure | None:
    """The answer by all who labelled a question, as a run replays it; ``None`` for no label."""
    settled = standing.settled(question.key)
    entries = [settled] if settled else standing.of.get(question.key, {}).values()
    votes = [vote_of(one.said.record, question, 0, LABELS.log) for one in entries]
    if len(votes) < 2:
        return votes[0] if votes else None
    return decided(question, votes, RULE, 1, len(votes), LABELS.log)


def answered(standing: Standing) -> Iterator[tuple[Question[Any], dict[str, Label]]]:
    """Each question with the independent labels that hold an answer, by person."""
    for entries in standing.of.values():
        labels = {who: one.said for who, one in entries.items() if one.said.reply is not None}
        if labels:
            yield next(iter(labels.values())).question, labels
