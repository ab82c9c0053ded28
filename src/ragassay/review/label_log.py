"""Labels of answers by people, ``labels.jsonl``: a line a label, never changed.

Each line is one of ``--judge replay:labels.jsonl``: of two lines by a person on a question the
later one counts, one without an answer takes the one before back, and a final one (by somebody who
saw what others said) settles its question.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError
from ragassay.judges import Failure, Question, Verdict
from ragassay.judges.combining import differ
from ragassay.judges.panel import decided
from ragassay.judges.recorded.replay import vote_of
from ragassay.judges.recorded.replay_file import label_of
from ragassay.review.review_log import records_in

LABELS = "labels.jsonl"
RULE = "median"
"""How the labels of several people become one, as `--judge replay:FILE` does by default."""

Record = Mapping[str, Any]


class LabelLog:
    """Which labels count: each person's last one on each question.

    Attributes:
        questions: by key.
        of_question: the independent labels by key, then by person; with the lines that say that a
            person cannot tell.
        final: those by people who saw the others', in the same way.
        seconds: that labels took, by person.
    """

    def __init__(self) -> None:
        self.questions: dict[str, Question[Any]] = {}
        self.of_question: dict[str, dict[str, Record]] = {}
        self.final: dict[str, dict[str, Record]] = {}
        self.seconds: dict[str, list[float]] = {}
        self._stacks: dict[str, list[tuple[str, Record, Record | None]]] = {}
        self._differ: dict[str, bool] = {}

    @classmethod
    def read(cls, path: Path) -> LabelLog:
        """The labels of a file; none where there is no file.

        Args:
            path: of the file.

        Raises:
            InputError: a line is no label; with its number.
        """
        log = cls()
        for number, record in records_in(path):
            try:
                if not isinstance(record, dict):
                    raise InputError("is not a JSON object")
                question, _ = label_of(record)
            except InputError as error:
                raise error.at(path=path, line=number) from error
            log.add(question, {"judge": f"line {number}", **record})
        return log

    def add(self, question: Question[Any], record: Record) -> None:
        """Takes in a line.

        Args:
            question: that it is about.
            record: the line.
        """
        key, who = question.key, str(record["judge"])
        self.questions.setdefault(key, question)
        stack = self._stacks.setdefault(who, [])
        if not record.get("undo"):
            stack.append((key, record, self._group(key, record).get(who)))
            if record.get("seconds"):
                self.seconds.setdefault(who, []).append(float(record["seconds"]))
            self._put(key, who, record, record)
        elif stack:
            key, last, before = stack.pop()
            self._put(key, who, last, before)

    def last(self, who: str) -> tuple[Question[Any], Record | None, str] | None:
        """What a person would take back: the question, their label on it before, and when the
        label was given.

        Args:
            who: the person.
        """
        stack = self._stacks.get(who)
        if not stack:
            return None
        key, record, before = stack[-1]
        if before is None and record.get("final"):
            before = self.of_question.get(key, {}).get(who)
        return self.questions[key], before, str(record.get("at", ""))

    def labels_of(self, key: str) -> list[tuple[str, Record]]:
        """Each person with a label on a question: the independent ones, then the final ones.

        Args:
            key: of the question.
        """
        return [*self.of_question.get(key, {}).items(), *self.final.get(key, {}).items()]

    def settled(self, key: str) -> Record | None:
        """The label that settles a question, where there is one.

        Args:
            key: of the question.
        """
        return next(reversed(self.final.get(key, {}).values()), None)

    def disagree(self, key: str) -> bool:
        """Whether people gave different answers to a question. Who cannot tell does not count.

        Args:
            key: of the question.
        """
        if key not in self._differ:
            labels = self.of_question.get(key, {}).values()
            replies = [label_of(one)[1] for one in labels] if len(labels) > 1 else []
            self._differ[key] = differ([one for one in replies if one is not None])
        return self._differ[key]

    def _group(self, key: str, record: Record) -> dict[str, Record]:
        """The labels of a question among which a line belongs."""
        return (self.final if record.get("final") else self.of_question).setdefault(key, {})

    def _put(self, key: str, who: str, like: Record, record: Record | None) -> None:
        labels = self._group(key, like)
        # The last line stands last, as in the file that a run replays.
        labels.pop(who, None)
        if record is not None and (record.get("answer") is not None or record.get("detail")):
            labels[who] = record
        self._differ.pop(key, None)

    def right(self) -> dict[str, tuple[int, int]]:
        """For each person how many questions with known answers they answered as known, and how
        many they answered; of a file of such answers."""
        counts: dict[str, tuple[int, int]] = {}
        for labels in self.of_question.values():
            for who, one in labels.items():
                n, of = counts.get(who, (0, 0))
                counts[who] = n + bool(one.get("right")), of + 1
        return dict(sorted(counts.items()))

    def verdict(self, question: Question[Any]) -> Verdict[Any] | Failure | None:
        """The answer by all who labelled a question, as a run replays it; ``None`` for no label.

        Args:
            question: that is asked.
        """
        settled = self.settled(question.key)
        independent = self.of_question.get(question.key, {}).values()
        labels = independent if settled is None else [settled]
        votes = [vote_of(one, question, 0, LABELS) for one in labels]
        if len(votes) < 2:
            return votes[0] if votes else None
        return decided(question, votes, RULE, 1, len(votes), LABELS)

    def answers(self) -> Iterable[tuple[Question[Any], dict[str, Record]]]:
        """Each question with the independent labels that hold an answer, by person."""
        for key, labels in self.of_question.items():
            answered = {who: one for who, one in labels.items() if one.get("answer") is not None}
            if answered:
                yield self.questions[key], answered
