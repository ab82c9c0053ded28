"""What people are asked about answers of systems, and what they said."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Collection
from typing import Any, Literal

from ragassay.engine.golden import AnswersToLabel
from ragassay.errors import UsageError
from ragassay.golden import alone
from ragassay.judges import Question, combinable, label_of
from ragassay.review.label_calibration import CALIBRATION, Known, known_answers
from ragassay.review.label_forms import CANNOT_TELL
from ragassay.review.label_log import LABELS, LabelLog, Record
from ragassay.review.review_log import append, now
from ragassay.review.review_store import ReviewSettings, ReviewStore, mark_of, time_needed
from ragassay.samples import Sample

LabelState = Literal["todo", "waiting", "disagreement", "done"]


class AnswerLabels:
    """Questions about answers that people answer in a judge's place, into ``labels.jsonl`` of the
    golden set.

    People answer the same questions as judges would; those that follow from answers (which claims
    are supported) are asked once these are there. Systems are not named, and answers to one query
    come one after another, in an order that does not tell the system. Questions of the calibration
    set with known answers come first; what people say of them stands in a file of its own.

    Args:
        store: of the golden set.
        answers: of the systems, with the metrics that ask.

    Raises:
        InputError: the file of labels is wrong.
        UsageError: there is nothing to ask about these answers.
    """

    def __init__(self, store: ReviewStore, answers: AnswersToLabel) -> None:
        self.store = store
        self.path = store.folder / LABELS
        self._answers = answers
        first = {one.id: at for at, one in reversed(list(enumerate(answers.samples)))}
        self._samples = sorted(answers.samples, key=lambda one: (first[one.id], _hidden(one)))
        self._asked: list[list[Question[Any]]] = []
        self._by_key: dict[str, tuple[Question[Any], Sample]] = {}
        self._mark: object = ()
        self._log = LabelLog()
        self._calibration_path = store.folder / CALIBRATION
        # The page asks from several threads: none sees a label that is taken in halfway.
        self._turn = threading.RLock()
        self._refresh()
        if not self._questions():
            raise UsageError(
                "The metrics ask nothing about these answers: they lack what is asked about. "
                "'ragassay validate' says what the answers hold, 'ragassay metrics NAME' what a "
                "metric needs."
            )

    def entries(self, reviewer: str) -> list[dict[str, Any]]:
        """All questions in a few words.

        Args:
            reviewer: who asks.

        Returns:
            For each ``key``, ``kind``, ``sample`` (the query's id), ``calibration`` (its answer is
            known), ``state`` (``todo``: for a label by this person; ``waiting``: for others;
            ``disagreement``: for somebody who settles it; ``done``) and ``mine``.
        """
        settings = self.store.settings()
        with self._turn:
            self._refresh()
            answered = self._calibrated()
            first = [
                {
                    "key": key,
                    "kind": one.question.kind,
                    "sample": "",
                    "calibration": True,
                    "state": "done" if reviewer in answered.of_question.get(key, ()) else "todo",
                    "mine": reviewer in answered.of_question.get(key, ()),
                }
                for key, one in self.known().items()
            ]
            return first + [
                {
                    "key": key,
                    "kind": question.kind,
                    "sample": sample.id,
                    "calibration": False,
                    "state": self._state(question, sample, reviewer, settings),
                    "mine": self._said(key, reviewer) is not None,
                }
                for key, (question, sample) in self._questions().items()
            ]

    def known(self) -> dict[str, Known]:
        """The questions with known answers, by key; see `known_answers`."""
        with self._turn:
            return known_answers(self.store, {one.kind for one, _ in self._questions().values()})

    def question(self, key: str) -> tuple[Question[Any], Sample]:
        """A question, and the answer that it is about.

        Args:
            key: of the question.

        Raises:
            UsageError: there is none.
        """
        with self._turn:
            found = self._questions().get(key)
        if found is None:
            raise UsageError("This question is no longer asked: another answer led elsewhere.")
        return found

    def given(self, key: str, reviewer: str, *, calibration: bool = False) -> Any:
        """A person's own label: its answer, `CANNOT_TELL`, or ``None``.

        Args:
            key: of the question.
            reviewer: whose.
            calibration: the question is one with a known answer.
        """
        with self._turn:
            if calibration:
                return _told(self._calibrated().of_question.get(key, {}).get(reviewer))
            return _told(self._said(key, reviewer))

    def all_given(self, key: str) -> list[Any]:
        """What each person said of a question, as `given` tells it.

        Args:
            key: of the question.
        """
        with self._turn:
            return [_told(one) for _, one in self._log.given(key)]

    def others(self, key: str) -> dict[str, Any]:
        """What people said of a question on which they disagree, or which somebody settled; empty
        for other questions: who still has to answer does not see what others said.

        Args:
            key: of the question.
        """
        with self._turn:
            found = self._questions().get(key)
            log = self._log
            is_shown = log.settled(key) is not None or (
                found is not None
                and self._state(*found, "", self.store.settings()) == "disagreement"
            )
            given = dict(log.given(key)) if is_shown else {}
            return {who: _told(one) for who, one in given.items()}

    def label(
        self,
        key: str,
        reviewer: str,
        answer: Any,
        seconds: float | None = 0.0,
        *,
        final: bool = False,
    ) -> None:
        """Takes a label down.

        Args:
            key: of the question.
            reviewer: whose label it is.
            answer: as `ragassay.judges.label_of` reads it; ``None``: the person cannot tell.
            seconds: that it took; ``None`` where nobody measured it.
            final: the person saw what others had said; the label settles the question.

        Raises:
            InputError: it is no answer to this question; names the field.
            UsageError: there is no such question, or no name.
        """
        _check_name(reviewer)
        with alone(self.store.folder), self._turn:
            self._refresh()
            question, sample = self.question(key)
            told = {**_label(question, reviewer, answer, seconds), "sample": sample.id}
            # Who once saw the others' labels has seen them.
            if final or reviewer in self._log.final.get(key, ()):
                told["final"] = True
            self._write(question, told)

    def calibrate(self, key: str, reviewer: str, answer: Any, seconds: float = 0.0) -> bool:
        """Takes down what a person says of a question with a known answer.

        Args:
            key: of the question.
            reviewer: who answers.
            answer: as of `label`.
            seconds: that it took.

        Returns:
            Whether it is the known answer.

        Raises:
            InputError: it is no answer to this question; names the field.
            UsageError: there is no such question, or no name.
        """
        _check_name(reviewer)
        with alone(self.store.folder), self._turn:
            found = self.known().get(key)
            if found is None:
                raise UsageError("This question is not among those with known answers.")
            told = _label(found.question, reviewer, answer, seconds)
            right = found.is_right(label_of(told)[1])
            append(self._calibration_path, {**told, "right": right})
        return right

    def undo(self, reviewer: str) -> tuple[str, bool]:
        """Takes a person's last label back.

        Args:
            reviewer: whose.

        Returns:
            The key of its question, and whether this is one with a known answer.

        Raises:
            UsageError: there is none.
        """
        with alone(self.store.folder), self._turn:
            self._refresh()
            logs = {False: self._log, True: self._calibrated()}
            found = [(last, kind) for kind, log in logs.items() if (last := log.last(reviewer))]
            if not found:
                raise UsageError(f"{reviewer} has no label to take back.")
            (question, before, _), calibration = max(found, key=lambda one: one[0][2])
            told = {**_label(question, reviewer, None, None), "undo": True}
            # What stands again is said again: a run takes each person's last line.
            for name in ("answer", "detail", "final"):
                told.pop(name, None)
                if before is not None and name in before:
                    told[name] = before[name]
            if calibration:
                append(self._calibration_path, told)
            else:
                self._write(question, told)
        return question.key, calibration

    def progress(self, reviewer: str) -> dict[str, Any]:
        """How far the labelling is.

        Args:
            reviewer: who asks.

        Returns:
            ``done`` and ``total`` questions, ``mine`` (labels by this person), ``left`` (labels
            that are missing, by anybody; a disagreement takes one more), ``seconds`` (median of a
            label; ``None`` before the first) and ``seconds_left``.
        """
        settings = self.store.settings()
        with self._turn:
            questions = self._questions()
            mine = sum(self._said(key, reviewer) is not None for key in questions)
            missing = {key: self._missing(*found, settings) for key, found in questions.items()}
            left = sum(missing.values())
            done = sum(not n for n in missing.values())
            counts = {"done": done, "total": len(questions), "mine": mine, "left": left}
            return {**counts, **time_needed(self._log.seconds, left)}

    def _state(
        self, question: Question[Any], sample: Sample, reviewer: str, settings: ReviewSettings
    ) -> LabelState:
        if not self._missing(question, sample, settings):
            return "done"
        given = self._log.of_question.get(question.key, {})
        if len(given) >= _needs(question, sample, settings):
            return "disagreement"
        return "waiting" if reviewer in given else "todo"

    def _missing(self, question: Question[Any], sample: Sample, settings: ReviewSettings) -> int:
        """How many labels a question waits for."""
        key, log = question.key, self._log
        if log.settled(key) is not None:
            return 0
        n = _needs(question, sample, settings) - len(log.of_question.get(key, ()))
        return n if n > 0 else int(log.disagree(key))

    def _said(self, key: str, reviewer: str) -> Record | None:
        """A person's label on a question."""
        found = (log.get(key, {}).get(reviewer) for log in (self._log.final, self._log.of_question))
        return next(filter(None, found), None)

    def _calibrated(self) -> LabelLog:
        path = self._calibration_path
        return self.store.fresh(path, lambda: LabelLog.read(path))

    def _questions(self) -> dict[str, tuple[Question[Any], Sample]]:
        """By key, those about one answer together; what several answers share stands once."""
        if not self._by_key:
            for sample, asked in zip(self._samples, self._asked, strict=True):
                for question in asked:
                    self._by_key.setdefault(question.key, (question, sample))
        return self._by_key

    def _write(self, question: Question[Any], record: Record) -> None:
        append(self.path, record)
        self._log.add(question, record)
        self._mark = mark_of(self.path)
        self._walk({question.key})

    def _refresh(self) -> None:
        """Reads the labels where somebody else wrote."""
        mark = mark_of(self.path)
        if mark != self._mark:
            self._log, self._mark = LabelLog.read(self.path), mark
            self._asked = self._answers.questions(self._samples, self._log.known)
            self._by_key = {}

    def _walk(self, keys: Collection[str]) -> None:
        """Finds anew what is asked about the answers that some questions are about."""
        places = [
            at for at, asked in enumerate(self._asked) if any(one.key in keys for one in asked)
        ]
        again = self._answers.questions([self._samples[at] for at in places], self._log.known)
        for at, asked in zip(places, again, strict=True):
            self._asked[at] = asked
        self._by_key = {}


def _needs(question: Question[Any], sample: Sample, settings: ReviewSettings) -> int:
    """How many people answer a question. Lists of texts cannot be combined: one person does."""
    return settings.needs(sample.id) if combinable(question.reply) else 1


def _label(
    question: Question[Any], reviewer: str, answer: Any, seconds: float | None
) -> dict[str, Any]:
    """The line of a label, checked; without a time where there is none."""
    record = {
        "question": question.kind,
        "data": question.data,
        "judge": reviewer,
        "at": now(),
        "answer": answer,
    }
    if answer is None:
        record["detail"] = f"{reviewer}: {CANNOT_TELL}"
    if seconds is not None:
        record["seconds"] = round(max(seconds, 0.0), 1)
    label_of(record)
    return record


def _told(record: Record | None) -> Any:
    if record is None:
        return None
    return record["answer"] if record.get("answer") is not None else CANNOT_TELL


def _check_name(reviewer: str) -> None:
    if not reviewer.strip():
        raise UsageError("A label needs the name of its reviewer.")


def _hidden(sample: Sample) -> str:
    """Orders the answers to a query by what does not tell their system."""
    name = f"{sample.id} {sample.system} {sample.repeat}"
    return hashlib.blake2b(name.encode(), digest_size=8).hexdigest()
