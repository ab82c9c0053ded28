"""The asker: how it ends where a judge does not, and how it says how far it is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ragassay.base.errors import UsageError
from ragassay.base.score import Reason
from ragassay.engine.run.judge_session import JudgeSession
from ragassay.judges import asking
from ragassay.judges.asking import Asker
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.judges.questions.grading import RelevanceGrade
from ragassay.judges.verdict import Failure, Provenance, Verdict
from scripted_judge import Scripted

GRADE = {"match": 3, "trust": 3, "grade": 3}


class _Lingering(Scripted):
    """A judge whose end never comes."""

    async def close(self) -> None:
        await asyncio.Event().wait()


def test_a_judge_that_does_not_close_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "CLOSING_S", 0.05)
    asker = Asker(_Lingering({"relevance_grade": GRADE}))
    for _ in range(2):  # a closed asker starts again
        asked = asker.submit(asker.scope().verdict(RelevanceGrade("q", "p"), 0)).result(10)
        assert isinstance(asked, Verdict)
        asker.close()
        assert asker._background is None


def test_a_session_says_how_far_the_asking_is() -> None:
    session = JudgeSession(Scripted({"relevance_grade": GRADE}))
    assert session.usage is None and session.doing() == ""
    assert session.costs and not JudgeSession(OfflineJudge()).costs
    with session.asker() as asker:
        assert session.doing() == "0 questions answered, 0 waiting"
        asker.submit(asker.scope().verdict(RelevanceGrade("q", "p"), 0)).result(10)
        assert session.usage is asker.usage
        assert session.doing() == "1 question answered, 0 waiting"
        asker.usage.questions, asker.usage.cached, asker.waiting = 1200, 1000, 2000
        asker.usage.failures["timeout"] = 3
        asker.usage.cost = 1234.567
        assert session.doing() == (
            "1,200 questions answered, 2,000 waiting, 1,000 from the ledger, 3 failed, $1,234.57"
        )
        asker.ending, asker.waiting = True, 1
        assert session.doing() == "waiting for 1 answer in flight; Ctrl-C drops it"
        asker.waiting = 2
        assert session.doing() == "waiting for 2 answers in flight; Ctrl-C drops them"


def test_what_has_no_price_costs_nothing_and_is_counted() -> None:
    usage = asking.Usage()
    for cost in (None, 0.25, None):
        made = Provenance("llm", request="r", attempts=2, input_tokens=5, cost=cost)
        question = RelevanceGrade("q", "p")
        usage.add(Verdict(question, question.reply(**GRADE), made))
    assert (usage.calls, usage.input_tokens, usage.cost, usage.unpriced) == (6, 15, 0.25, 4)


def test_of_failures_alike_the_first_is_told_and_of_unsupported_questions_each_kind() -> None:
    usage = asking.Usage()
    question = RelevanceGrade("q", "p")
    for detail in ("no JSON", "no grade", "no JSON"):
        usage.add(Failure(question, Reason.UNPARSABLE, detail))
    for detail in ("it cannot tell A", "it cannot tell B", "it cannot tell A"):
        usage.add(Failure(question, Reason.UNSUPPORTED, detail))
    assert usage.details["unparsable"] == "no JSON"
    assert usage.details["unsupported"] == "it cannot tell A; it cannot tell B"


def test_an_asker_whose_judge_does_not_open_may_begin_again() -> None:
    class Shut(Scripted):
        shut = True

        async def open(self) -> None:
            if self.shut:
                raise UsageError("no key")

    judge = Shut({"relevance_grade": GRADE})
    asker = Asker(judge)
    with pytest.raises(UsageError, match=r"^no key$"):
        asker.start()
    assert asker._background is None
    judge.shut = False
    with asker:
        asked = asker.submit(asker.scope().verdict(RelevanceGrade("q", "p"), 0)).result(10)
    assert isinstance(asked, Verdict)


def test_windows_of_a_run_share_the_evidence_and_each_verdict_counts_once() -> None:
    class Late(Scripted):
        n_asked = 0

        async def answer(self, question: Any, repeat: int = 0) -> Any:
            self.n_asked += 1
            if question.passage == "late" and self.n_asked == 1:
                return Failure(question, Reason.TIMEOUT, "late", Provenance("late"), repeat)
            return await super().answer(question, repeat)

    judge, kept = Late({"relevance_grade": GRADE}), list[Any]()
    with Asker(judge, keep=kept.append) as asker:
        for passage, kind, n_asked in (("late", Failure, 1), ("p", Verdict, 3)):
            for _ in range(2):  # a window each; an answer is looked up, a failure stays
                question = RelevanceGrade("q", passage)
                found = asker.submit(asker.scope().verdict(question, 0)).result(10)
                assert isinstance(found, kind)
            assert judge.n_asked == n_asked
        assert asker.usage.questions == len(kept) == 2
        assert asker.usage.failures == {"timeout": 1}
