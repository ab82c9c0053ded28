"""Questions about answers of systems, and the labels that people give."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Collection
from typing import Any

from ragassay.base.errors import UsageError
from ragassay.base.sample import Sample
from ragassay.engine.golden.label_questions import AnswersToLabel
from ragassay.golden.golden_folder import alone
from ragassay.judges import Question
from ragassay.judges.combining import combinable
from ragassay.judges.recorded.replay_file import label_of
from ragassay.review.label_calibration import CALIBRATION, Known, known_answers
from ragassay.review.label_forms import CANNOT_TELL
from ragassay.review.label_log import LABELS, LabelLog, Record
from ragassay.review.review_log import append, now
from ragassay.review.review_settings import ReviewSettings
from ragassay.review.review_store import ReviewStore, State, mark_of, progress_of


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
        # The page asks from several threads: each label is added while none of them reads.
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
            calibrated = self._calibrated().of_question
            entries = []
            for key, known in self.known_questions().items():
                mine = reviewer in calibrated.get(key, ())
                entries.append(_entry(known.question, "", "done" if mine else "todo", mine))
            for key, (question, sample) in self._questions().items():
                state = self._state(question, sample, reviewer, settings)
                mine = self._record(key, reviewer) is not None
                entries.append(_entry(question, sample.id, state, mine))
            return entries

    def known_questions(self) -> dict[str, Known]:
        """The questions with known answers, by key; see `known_answers`."""
        with self._turn:
            return known_answers(self.store, {one.kind for one, _ in self._questions().values()})

    def known_question(self, key: str) -> Known:
        """A question with a known answer.

        Args:
            key: of the question.

        Raises:
            UsageError: there is none.
        """
        known = self.known_questions().get(key)
        if known is None:
            raise UsageError("This question is not among those with known answers.")
        return known

    def question(self, key: str) -> tuple[Question[Any], Sample]:
        """A question, and the answer that it is about.

        Args:
            key: of the question.

        Raises:
            UsageError: there is none.
        """
        with self._turn:
            asked = self._questions().get(key)
        if asked is None:
            raise UsageError("This question is no longer asked: another answer led elsewhere.")
        return asked

    def own_label(self, key: str, reviewer: str, *, calibration: bool = False) -> Any:
        """A person's own label: its answer, `CANNOT_TELL`, or ``None``.

        Args:
            key: of the question.
            reviewer: whose.
            calibration: the question is one with a known answer.
        """
        with self._turn:
            if calibration:
                return _answer(self._calibrated().of_question.get(key, {}).get(reviewer))
            return _answer(self._record(key, reviewer))

    def all_labels(self, key: str) -> list[Any]:
        """The labels of all people on a question, as of `own_label`.

        Args:
            key: of the question.
        """
        with self._turn:
            return [_answer(one) for _, one in self._log.labels_of(key)]

    def others(self, key: str) -> dict[str, Any]:
        """What people said of a question on which they disagree, or which somebody settled; empty
        for other questions: who still has to answer does not see what others said.

        Args:
            key: of the question.
        """
        with self._turn:
            asked = self._questions().get(key)
            is_shown = self._log.settled(key) is not None or (
                asked is not None
                and self._state(*asked, "", self.store.settings()) == "disagreement"
            )
            labels = dict(self._log.labels_of(key)) if is_shown else {}
            return {who: _answer(one) for who, one in labels.items()}

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
            record = {**_label(question, reviewer, answer, seconds), "sample": sample.id}
            # Who once saw the others' labels has seen them.
            if final or reviewer in self._log.final.get(key, ()):
                record["final"] = True
            self._write(question, record)

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
            known = self.known_question(key)
            record = _label(known.question, reviewer, answer, seconds)
            right = known.is_right(label_of(record)[1])
            append(self._calibration_path, {**record, "right": right})
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
            lasts = [(last, kind) for kind, log in logs.items() if (last := log.last(reviewer))]
            if not lasts:
                raise UsageError(f"{reviewer} has no label to take back.")
            (question, before, _), calibration = max(lasts, key=lambda one: one[0][2])
            record = {**_label(question, reviewer, None, None), "undo": True}
            # What stands again is written again: a run takes each person's last line.
            for name in ("answer", "detail", "final"):
                record.pop(name, None)
                if before is not None and name in before:
                    record[name] = before[name]
            if calibration:
                append(self._calibration_path, record)
            else:
                self._write(question, record)
        return question.key, calibration

    def progress(self, reviewer: str) -> dict[str, Any]:
        """How far the labelling is.

        Args:
            reviewer: who asks.

        Returns:
            See `progress_of`: counts of questions and labels; a disagreement takes one more label.
        """
        settings = self.store.settings()
        with self._turn:
            questions = self._questions()
            missing = [self._missing(*one, settings) for one in questions.values()]
            mine = sum(self._record(key, reviewer) is not None for key in questions)
            return progress_of(missing, mine, self._log.seconds)

    def _state(
        self, question: Question[Any], sample: Sample, reviewer: str, settings: ReviewSettings
    ) -> State:
        if not self._missing(question, sample, settings):
            return "done"
        labels = self._log.of_question.get(question.key, {})
        if len(labels) >= _needs(question, sample, settings):
            return "disagreement"
        return "waiting" if reviewer in labels else "todo"

    def _missing(self, question: Question[Any], sample: Sample, settings: ReviewSettings) -> int:
        """How many labels a question waits for."""
        key, log = question.key, self._log
        if log.settled(key) is not None:
            return 0
        n = _needs(question, sample, settings) - len(log.of_question.get(key, ()))
        return n if n > 0 else int(log.disagree(key))

    def _record(self, key: str, reviewer: str) -> Record | None:
        """A person's label on a question: the final one, where there is one."""
        final, independent = self._log.final, self._log.of_question
        return final.get(key, {}).get(reviewer) or independent.get(key, {}).get(reviewer)

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
            self._asked = self._answers.questions(self._samples, self._log.verdict)
            self._by_key = {}

    def _walk(self, keys: Collection[str]) -> None:
        """Finds anew what is asked about the answers that some questions are about."""
        places = [
            at for at, asked in enumerate(self._asked) if any(one.key in keys for one in asked)
        ]
        again = self._answers.questions([self._samples[at] for at in places], self._log.verdict)
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


def _entry(question: Question[Any], sample: str, state: State, mine: bool) -> dict[str, Any]:
    """A question in a few words; one of no sample is of the calibration set."""
    return {
        "key": question.key,
        "kind": question.kind,
        "sample": sample,
        "calibration": not sample,
        "state": state,
        "mine": mine,
    }


def _answer(record: Record | None) -> Any:
    """The answer of a label, `CANNOT_TELL`, or ``None`` where there is no label."""
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
