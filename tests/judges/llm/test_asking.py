"""The asker: how it ends where a judge does not, and how it says how far it is."""

from __future__ import annotations

from typing import Any

from ragassay.base.score import Reason
from ragassay.engine.run.judge_session import JudgeSession
from ragassay.judges import asking
from ragassay.judges.asking import Ask, Asker
from ragassay.judges.judge import Failure, JudgeAnswer, Provenance
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.judges.questions.grading import RelevanceGrade
from scripted_judge import Scripted

GRADE = {"match": 3, "trust": 3, "grade": 3}


def test_a_session_says_how_far_the_asking_is() -> None:
    session = JudgeSession(Scripted({"relevance_grade": GRADE}))
    assert session.usage is None and session.doing() == ""
    assert session.costs and not JudgeSession(OfflineJudge()).costs
    with Asker(session.judge) as asker:
        session.asker = asker
        assert session.doing() == "0 questions answered, 0 waiting"
        asker.submit(Ask(asker).judge_answer(RelevanceGrade("q", "p"), 0)).result(10)
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


def test_of_failures_alike_the_first_is_told_and_of_unsupported_questions_each_kind() -> None:
    usage = asking.Usage()
    question = RelevanceGrade("q", "p")
    for detail in ("no JSON", "no grade", "no JSON"):
        usage.add(Failure(question, Reason.UNPARSABLE, detail))
    for detail in ("it cannot tell A", "it cannot tell B", "it cannot tell A"):
        usage.add(Failure(question, Reason.UNSUPPORTED, detail))
    assert usage.details["unparsable"] == "no JSON"
    assert usage.details["unsupported"] == "it cannot tell A; it cannot tell B"


def test_each_request_without_a_price_is_counted() -> None:
    usage, made = asking.Usage(), Provenance("late", request="1", attempts=3)
    usage.add(Failure(RelevanceGrade("q", "p"), Reason.TIMEOUT, "late", made))
    assert usage.calls == usage.unpriced == 3


def test_what_is_computed_once_a_window_is_computed_for_each_stated_language() -> None:
    async def stated(ask: Ask) -> str:
        return ask.language

    with Asker(Scripted({})) as asker:
        asks = [Ask(asker, memory, code) for memory in ({},) for code in ("de", "fi", "de")]
        assert [asker.submit(ask.once(stated)).result(10) for ask in asks] == ["de", "fi", "de"]


def test_windows_of_a_run_share_the_evidence_and_each_answer_counts_once() -> None:
    class Late(Scripted):
        n_asked = 0

        async def answer(self, question: Any, repeat: int = 0) -> Any:
            self.n_asked += 1
            if question.passage == "late" and self.n_asked == 1:
                return Failure(question, Reason.TIMEOUT, "late", Provenance("late"), repeat)
            return await super().answer(question, repeat)

    judge, kept = Late({"relevance_grade": GRADE}), list[Any]()
    with Asker(judge, keep=kept.append) as asker:
        for passage, kind, n_asked in (("late", Failure, 1), ("p", JudgeAnswer, 3)):
            for _ in range(2):  # a window each; an answer is looked up, a failure stays
                question = RelevanceGrade("q", passage)
                found = asker.submit(Ask(asker).judge_answer(question, 0)).result(10)
                assert isinstance(found, kind)
            assert judge.n_asked == n_asked
        assert asker.usage.questions == len(kept) == 2
        assert asker.usage.failures == {"timeout": 1}
