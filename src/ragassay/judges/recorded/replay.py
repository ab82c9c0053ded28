"""A judge that repeats recorded answers: of other runs, or labels of people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from typing_extensions import override

from ragassay.base.errors import InputError, UsageError
from ragassay.base.score import Reason
from ragassay.judges.judge import Judge
from ragassay.judges.judge_answer import Failure, JudgeAnswer, Provenance, provenance_of
from ragassay.judges.panel import RULES, Vote, decided
from ragassay.judges.question import Question
from ragassay.judges.recorded.replay_file import Line, ReplayFile, example, latest, reply_of
from ragassay.judges.reply import R_co

_NAMED = 3  # judges of recorded answers that a label names


class Replay(Judge):
    """Answers from a file (see `ReplayFile`). It asks nobody and costs nothing. Several lines on
    one question are votes, and become one answer as those of a panel do; a recorded failure comes
    back as it was. With ``accept_older``, answers to an older version of a question count where
    there is none to this.

    An `InputError` where the file cannot be read or a line is no answer; a `UsageError` for no file
    or an unknown rule."""

    def __init__(
        self, path: str | Path, rule: str = "median", *, accept_older: bool = False
    ) -> None:
        if not str(path).strip():
            raise UsageError(
                "replay: names no file. Write replay:FILE, a file of recorded or human answers."
            )
        if rule not in RULES:
            raise UsageError(f"Votes are combined by {' or '.join(RULES)}, not by {rule!r}.")
        self.rule, self._accepts_older = rule, accept_older
        self._file = ReplayFile(path)
        self._used: set[int] = set()
        self._older: Counter[tuple[str, int]] = Counter()

    @property
    @override
    def label(self) -> str:
        judges = list(self._file.judges)
        more = f" and {len(judges) - _NAMED} more" if len(judges) > _NAMED else ""
        of = f" of {', '.join(judges[:_NAMED])}{more}" if judges else ""
        return f"replay:{self._file.path.name}{of}"

    @property
    @override
    def signature(self) -> str:
        older = ", older" if self._accepts_older else ""
        return f"{self.label}#{self._file.hash}({self.rule}{older})"

    @override
    def leaves(self) -> tuple[Judge, ...]:
        return ()

    @override
    def known(self, question: Question[Any], repeat: int = 0) -> Vote:
        version, lines = self._file.matching(question, repeat)
        if not lines or (version != question.version and not self._accepts_older):
            return self._missing(question, repeat, version, lines)
        votes = [self._vote(line, question, repeat) for line in latest(lines)]
        if len(votes) == 1:
            return votes[0]
        return decided(question, votes, self.rule, 1, len(votes), self.label, repeat)

    @override
    async def answer(
        self, question: Question[R_co], repeat: int = 0
    ) -> JudgeAnswer[R_co] | Failure:
        version, lines = self._file.matching(question, repeat)
        if self._accepts_older and version != question.version:
            self._older[question.kind, version] += 1
        self._used.update(line.number for line in lines)
        return self.known(question, repeat)

    @override
    def remarks(self) -> tuple[str, ...]:
        remarks = []
        for (kind, version), n in self._older.items():
            answers = "1 answer is" if n == 1 else f"{n:,} answers are"
            remarks.append(
                f"{self._file.path.name}: {answers} to version {version} of {kind}, as "
                "--accept-older allows"
            )
        unused = self.unused()
        if unused:
            n = len(self._file.labels)
            noun = "label" if n == 1 else "labels"
            remarks.append(
                f"{self._file.path.name}: {len(unused):,} of {n:,} {noun} matched no question of "
                f"the run; the first is in line {unused[0].number:,}"
            )
        return tuple(remarks)

    def unused(self) -> tuple[Line, ...]:
        """The labels of people that no question so far has matched. Recorded answers are not
        counted: an export holds what other runs asked, too."""
        return tuple(line for line in self._file.labels if line.number not in self._used)

    def _vote(self, line: Line, question: Question[Any], repeat: int) -> Vote:
        where = f"replay:{self._file.path.name}, line {line.number}"
        try:
            return vote_of(self._file.record(line), question, repeat, where)
        except (OSError, ValueError, InputError) as error:
            detail = f"{where}: the file has changed since it was read ({error})"
            return Failure(question, Reason.FAILED, detail, Provenance(where, attempts=0), repeat)

    def _missing(
        self, question: Question[Any], repeat: int, version: int, lines: Sequence[Line]
    ) -> Failure:
        n, name = self._file.counts[question.kind], self._file.path.name
        asked = f"{question.kind} question" + (f", repeat {repeat}" if repeat else "")
        detail = (
            f"{name} has no answer to this {asked} ({n:,} to others of its kind); "
            "'ragassay explain' prints the line to add, which has the form "
            f"{example(type(question))}"
        )
        if version != question.version:
            detail = (
                f"{name}, line {lines[-1].number:,}, answers version {version} of {question.kind}; "
                f"this is version {question.version}. Add --accept-older, or judge again"
            )
        provenance = Provenance(self.label, attempts=0)
        return Failure(question, Reason.MISSING_INPUT, detail, provenance, repeat)


def vote_of(record: Mapping[str, Any], question: Question[Any], repeat: int, where: str) -> Vote:
    """A record (of `to_record`, or a person's label) as the answer or failure that was recorded;
    ``where`` names the line. An `InputError` says that it has no valid answer."""
    # Nothing is sent now, and no ledger is used.
    now = {"judge": record.get("judge") or where, "request": "", "attempts": 0, "cached": False}
    provenance = provenance_of({**record, **(record.get("sent") or {}), **now})
    votes = tuple(
        vote_of(vote, question, int(vote.get("repeat", repeat)), where)
        for vote in record.get("votes", ())
    )
    if record.get("answer") is None:
        reason = Reason(record.get("reason") or Reason.MISSING_INPUT)
        detail = str(record.get("detail") or f"{where}: the question is left unanswered there")
        return Failure(question, reason, detail, provenance, repeat, votes)
    try:
        answer = question.check(reply_of(type(question), record["answer"]))
    except ValueError as error:
        detail = f"{where}: {error}"
        return Failure(question, Reason.UNPARSABLE, detail, provenance, repeat, votes)
    return JudgeAnswer(question, answer, provenance, repeat, votes)
