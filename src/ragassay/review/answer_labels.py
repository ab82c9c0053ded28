"""Questions about answers of systems, and the labels that people give, ``labels.jsonl``: lines of
``--judge replay:labels.jsonl``. A person's later line on a question replaces the earlier one, and a
final one (by somebody who saw what others said) settles it."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import InstanceOf

from ragassay.base.errors import InputError, UsageError
from ragassay.base.sample import Sample
from ragassay.engine.config.run_config import make_config
from ragassay.engine.results.folders.run_folder import open_run
from ragassay.engine.run import rescoring
from ragassay.engine.run.prepared_run import prepare
from ragassay.engine.run.scoring import judged_among
from ragassay.judges import Failure, Judge, JudgeAnswer, OfflineJudge, Provenance, Question, Reply
from ragassay.judges.asking import Ask, Asker
from ragassay.judges.panel import combinable, decided, differ
from ragassay.judges.planning_judge import NOT_ASKED
from ragassay.judges.question import R_co
from ragassay.judges.replay import label_of, vote_of
from ragassay.metrics.core.metric import Metric
from ragassay.review.reviewing import Entry, Reviewing, Standing, Thing, now

CANNOT_TELL = "cannot tell"


class Label(Entry):
    """What a person answered; without a ``reply`` the person cannot tell."""

    piece = "label"
    log = "labels.jsonl"

    question: InstanceOf[Question[Any]]
    reply: InstanceOf[Reply] | None
    record: dict[str, Any]

    @classmethod
    def of_record(cls, record: Mapping[str, Any], number: int) -> Self:
        """Reads a line; see `Entry.of_record`."""
        question, reply = label_of(record)
        return cls(
            key=question.key,
            who=str(record.get("judge", f"line {number}")),
            at=str(record.get("at", "")),
            seconds=float(record.get("seconds") or 0.0),
            **{name: bool(record.get(name)) for name in ("undo", "final")},
            question=question,
            reply=reply,
            record=dict(record),
        )

    @classmethod
    def differ(cls, several: Sequence[Label]) -> bool:
        """Whether answers differ; who cannot tell does not count. See `Entry.differ`."""
        return differ([label.reply for label in several if label.reply is not None])

    @property
    def empty(self) -> bool:
        """Whether it neither answers nor says why it does not."""
        return self.reply is None and not self.record.get("detail")

    @property
    def answer(self) -> Any:
        """As the line has it, or `CANNOT_TELL`."""
        return CANNOT_TELL if self.reply is None else self.record["answer"]


def judge_answer_of(
    standing: Standing[Label], question: Question[Any]
) -> JudgeAnswer[Any] | Failure | None:
    """The answer by all who labelled a question, as a run replays it; ``None`` for no label."""
    settled = standing.settled(question.key)
    entries = [settled] if settled else standing.of.get(question.key, {}).values()
    votes = [vote_of(entry.record, question, 0, Label.log) for entry in entries]
    if len(votes) < 2:
        return votes[0] if votes else None
    return decided(question, votes, 1, len(votes), Label.log)


def answered(standing: Standing[Label]) -> Iterator[tuple[Question[Any], dict[str, Label]]]:
    """Each question with the independent labels that hold an answer, by person."""
    for entries in standing.of.values():
        labels = {who: entry for who, entry in entries.items() if entry.reply is not None}
        if labels:
            yield next(iter(labels.values())).question, labels


LABELLED = ("umbrela", "citation_sentences", "answer_match")
"""Metrics whose questions people answer where none are named: relevance of passages, support of
statements, correctness."""

Known = Callable[[Question[Any]], JudgeAnswer[Any] | Failure | None]


class _Known(Judge):
    """Answers with what is known, and keeps what was asked."""

    label = "people"

    def __init__(self, known: Known) -> None:
        self.asked: dict[str, Question[Any]] = {}
        self._known = known

    async def answer(
        self, question: Question[R_co], repeat: int = 0
    ) -> JudgeAnswer[R_co] | Failure:
        self.asked.setdefault(question.key, question)
        made = Provenance(self.label, attempts=0)
        answer = self._known(question)
        return answer or Failure(question, NOT_ASKED, "nobody answered it", made, repeat)


class LabelQuestion(NamedTuple):
    """A question that people answer, the query and the id of the answer that it is about."""

    question: Question[Any]
    query: str
    sample: str


class AnswerLabels(Reviewing[Label]):
    """Questions that people answer in a judge's place, into ``labels.jsonl``. What follows from an
    answer (which claims are supported) is asked once it is there. Systems are not named, and
    answers to one query come in an order that does not tell the system."""

    kind = Label

    def __init__(
        self,
        folder: Path,
        samples: Iterable[Sample],
        metrics: Iterable[Metric],
        context: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(folder)
        self.path = folder / Label.log
        self._metrics, self._context = judged_among(metrics), context
        if not self._metrics:
            raise UsageError(
                "No metric of these asks a judge, so there is nothing for people to answer. "
                f"Name some with --metrics, as in --metrics {','.join(LABELLED)}."
            )
        every = list(samples)
        first = {sample.id: at for at, sample in reversed(list(enumerate(every)))}
        self._samples = sorted(every, key=lambda value: (first[value.id], _hidden(value)))
        self._asked: list[list[Question[Any]]] = [[] for _ in self._samples]
        self._by_key: dict[str, LabelQuestion] = {}
        self._seen: list[Label] | None = None
        # The page asks from several threads.
        self._turn = threading.Lock()
        if not self._questions():
            raise UsageError(
                "The metrics ask nothing about these answers, which lack what is asked about. "
                "'ragassay validate' says what the answers hold, 'ragassay metrics NAME' what a "
                "metric needs."
            )

    @classmethod
    def of(
        cls, folder: Path, path: Path, metrics: Sequence[str] = (), suite: Sequence[str] = ()
    ) -> AnswerLabels:
        """The answers of a run folder with the run's metrics, or of a file with those named."""
        if path.is_dir():
            if metrics or suite:
                raise UsageError(
                    f"{path} is a run and has its own metrics. Leave --metrics and --suite out, or "
                    "name the file of answers."
                )
            run = open_run(path)
            of_run = rescoring.metrics_of(run).values()
            return cls(folder, run.samples, of_run, rescoring.context_of(run))
        config = make_config(
            data=str(path),
            golden=folder,
            metrics=list(metrics) or ([] if suite else list(LABELLED)),
            suite=list(suite),
        )
        prepared = prepare(config, dry=True, judge=OfflineJudge())
        samples = list(prepared.source.samples)
        if not samples:
            raise InputError("holds no answers", path=path)
        return cls(folder, samples, prepared.selection.metrics.values())

    def things(self, where: Sequence[str] = ()) -> list[Thing]:
        """The questions; see `Reviewing.things`."""
        return list(map(self._thing, self._questions().values()))

    def question(self, key: str) -> LabelQuestion:
        """A question that is asked."""
        asked = self._questions().get(key)
        if asked is None:
            raise UsageError("This question is no longer asked: another answer led elsewhere.")
        return asked

    def own_label(self, key: str, reviewer: str) -> Any:
        """A person's own label: its answer, `CANNOT_TELL`, or ``None``."""
        entry = self.current().own(key, reviewer)
        return entry and entry.answer

    def others(self, key: str) -> dict[str, Any]:
        """What people said of a question on which they disagree, or which somebody settled; empty
        for other questions: who still has to answer does not see what others said."""
        standing, asked = self.current(), self._questions().get(key)
        is_shown = standing.settled(key) is not None or (
            asked is not None and self._thing(asked).state("", standing) == "disagreement"
        )
        said = [*standing.of.get(key, {}).values(), *standing.final.get(key, {}).values()]
        return {label.who: label.answer for label in said if is_shown}

    def label(
        self,
        key: str,
        reviewer: str,
        answer: Any,
        seconds: float | None = 0.0,
        *,
        final: bool = False,
    ) -> None:
        """Writes a label: an answer as `replay.label_of` reads it, or ``None`` for a person who
        cannot tell. A ``final`` one, by somebody who saw the others' labels, settles the
        question."""
        with self.deciding(reviewer):
            asked = self.question(key)
            record = {**_line(asked.question, reviewer), "answer": answer, "sample": asked.sample}
            # Who once saw the others' labels has seen them.
            if final or reviewer in self.current().final.get(key, ()):
                record["final"] = True
            if answer is None:
                record["detail"] = f"{reviewer}: {CANNOT_TELL}"
            if seconds is not None:
                record["seconds"] = round(max(seconds, 0.0), 1)
            label_of(record)  # raises where the question takes no such answer
            self.write(record)

    def _restored(self, last: Label, before: Label | None) -> Mapping[str, Any]:
        """What counts again is written again: a run takes each person's last line."""
        old = before.record if before else {}
        names = ("answer", "detail", "final")
        kept: dict[str, Any] = {name: old[name] for name in names if name in old}
        return {**_line(last.question, last.who), "undo": True, **kept}

    def _questions(self) -> dict[str, LabelQuestion]:
        """By key, those about one answer together; what several answers share appears once. What
        follows from new labels is found again."""
        with self._turn:
            entries, seen = self.logged(Label), self._seen
            if entries is not seen:
                standing = Standing(entries)
                places = list(range(len(self._samples)))
                if seen is not None and entries[: len(seen)] == seen:
                    keys = {entry.key for entry in entries[len(seen) :]}
                    places = [
                        at
                        for at in places
                        if any(question.key in keys for question in self._asked[at])
                    ]
                samples = [self._samples[at] for at in places]
                for at, questions in zip(places, self._ask(samples, standing), strict=True):
                    self._asked[at] = questions
                self._by_key = {}
                for sample, questions in zip(self._samples, self._asked, strict=True):
                    for question in questions:
                        asked_of = LabelQuestion(question, sample.query_text, sample.id)
                        self._by_key.setdefault(question.key, asked_of)
                self._seen = entries
            return self._by_key

    def _ask(
        self, samples: Sequence[Sample], standing: Standing[Label]
    ) -> Iterator[list[Question[Any]]]:
        """What the metrics ask about each sample: what follows from it, and what follows from the
        labels that are there."""
        judge = _Known(lambda question: judge_answer_of(standing, question))

        async def walk(sample: Sample, asker: Asker) -> None:
            scope = Ask(asker)
            for metric, users in self._metrics.items():
                await metric.outcome(sample, scope, users)

        with Asker(judge, context=dict(self._context or {})) as asker:
            for sample in samples:
                judge.asked.clear()
                asker.submit(walk(sample, asker)).result()
                yield list(judge.asked.values())

    def _thing(self, asked: LabelQuestion) -> Thing:
        question, standing = asked.question, self.current()
        key, about = question.key, {"kind": question.kind, "sample": asked.sample}
        # Lists of texts cannot be combined: one person writes them.
        needs = self.settings().needs(asked.sample) if combinable(question.reply) else 1
        is_agreed = len(standing.of.get(key, ())) >= needs and not standing.disagree(key)
        return Thing(key, about, needs, is_agreed or standing.settled(key) is not None)


def _line(question: Question[Any], reviewer: str) -> dict[str, Any]:
    return {"question": question.kind, "data": question.data, "judge": reviewer, "at": now()}


def _hidden(sample: Sample) -> str:
    """Orders the answers to a query by what does not tell their system."""
    name = f"{sample.id} {sample.system} {sample.repeat}"
    return hashlib.blake2b(name.encode(), digest_size=8).hexdigest()
