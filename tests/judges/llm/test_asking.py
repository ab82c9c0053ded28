"""The asker: how it ends where a judge does not, and how it says how far it is."""

import asyncio
from typing import Any

import pytest

from ragassay.base.errors import UsageError
from ragassay.base.score import Reason
from ragassay.engine.run.judge_session import JudgeSession
from ragassay.engine.run.prepared_run import job_of
from ragassay.judges import asking
from ragassay.judges.asking import Ask, Asker, Unanswered
from ragassay.judges.judge import Failure, JudgeAnswer, Provenance
from ragassay.judges.panel import decided
from ragassay.judges.question import Lost
from ragassay.judges.questions.grading import Relevance, RelevanceGrade, ReportOnContext
from scripted_judge import Scripted
from valid_answers import largest

GRADE = {"match": 3, "trust": 3, "grade": 3}


def test_a_session_says_how_far_the_asking_is() -> None:
    session = JudgeSession(Scripted({"relevance_grade": GRADE}))
    assert session.doing() == ""
    judges = session.judge, None  # the offline one only computes
    jobs = [job_of([{"query": "?"}], "answered", False, judge=judge) for judge in judges]
    assert [job.doing is None for job in jobs] == [False, True]
    with Asker(session.judge) as asker:
        session.asker = asker
        assert session.doing() == "0 questions answered, 0 waiting"
        asker.submit(Ask(asker).judge_answer(RelevanceGrade("q", "p"), 0)).result(10)
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


QUESTION = RelevanceGrade("q", "p")


def said(reason: Reason | None = None, detail: str = "", **origin: Any) -> Any:
    """An answer that a request brought, or a failure for a reason."""
    sent = {"request": "r", "input_tokens": 7, "output_tokens": 2, "cost": 0.25, **origin}
    made = Provenance("a", **sent)
    if reason is not None:
        return Failure(QUESTION, reason, detail, made)
    return JudgeAnswer(QUESTION, Relevance(**GRADE), made)


def test_a_usage_counts_what_was_sent_now_and_each_request_without_a_price() -> None:
    usage = asking.Usage()
    assert usage == asking.Usage(0, 0, 0, 0, 0, 0.0, 0, disagreed=0)
    paid = [said(attempts=3), said(attempts=2, cost=None), said(Reason.REFUSED)]
    free = [said(cached=True), said(cached=True), said(request=""), said(attempts=0)]
    for asked in (*paid, *free, said(Reason.REFUSED, cached=True)):
        usage.add(asked)
    assert (usage.questions, usage.calls, usage.cached) == (8, 6, 3)
    assert (usage.input_tokens, usage.output_tokens) == (21, 6)
    assert (usage.cost, usage.unpriced) == (0.5, 2)
    assert usage.failures == {"refused": 2} and usage.votes == usage.disagreed == 0


def test_of_a_panel_the_votes_count_and_those_lost_that_may_come_another_time() -> None:
    usage, unable = asking.Usage(), said(Reason.UNSUPPORTED, "unable")
    late, later = said(Reason.TIMEOUT, "late"), said(Reason.TIMEOUT, "later")
    for votes in (
        (said(), said(cached=True), late, said(Reason.REFUSED, "no")),
        (said(), later),
        (later, later),  # this failure is shown itself
        (unable, unable, later),
    ):
        usage.add(decided(QUESTION, votes, 1, len(votes), "panel"))
    assert (usage.questions, usage.votes, usage.calls, usage.cached) == (4, 11, 10, 1)
    assert usage.failures == {"timeout": 1, "unsupported": 1}
    assert usage.lost_votes == {"timeout": 3} and usage.details["timeout"] == "late"
    assert "refused" not in usage.details


def test_answers_that_lack_a_part_are_counted_by_the_first_reason() -> None:
    question, usage = ReportOnContext("q", ("a", "b")), asking.Usage()
    whole = largest(question)
    usage.add(JudgeAnswer(question, whole, Provenance("a")))
    for detail in ("no chunk 9", "no chunk 8"):
        lost = {"attribution": Lost(reason=Reason.UNPARSABLE, detail=detail)}
        lost["relevance"] = Lost(reason=Reason.FAILED, detail="no")
        part = whole.model_copy(update={**dict.fromkeys(lost), "lost": lost})
        usage.add(JudgeAnswer(question, part, Provenance("a")))
    assert usage.in_part == {"unparsable": 2} and not usage.failures
    assert usage.details == {"unparsable, in part": "no chunk 9"}


def test_of_failures_alike_the_first_is_told_and_of_unsupported_questions_each_kind() -> None:
    usage = asking.Usage()
    for detail in ("no JSON", "no grade", "no JSON"):
        usage.add(said(Reason.UNPARSABLE, detail))
    for detail in ("it cannot tell A", "it cannot tell B", "it cannot tell A"):
        usage.add(said(Reason.UNSUPPORTED, detail))
    assert usage.details["unparsable"] == "no JSON"
    assert usage.details["unsupported"] == "it cannot tell A; it cannot tell B"
    usage.add(Failure(QUESTION, Reason.UNPARSABLE, "no more are sent", stopped=True))
    assert usage.details["unparsable"] == "no more are sent"


def by_passage(question: Any) -> Any:
    """The grade that a passage names, and nothing else."""
    good = question.passage.isdigit()
    return {**GRADE, "grade": int(question.passage)} if good else Reason.TIMEOUT


def passages(*names: str) -> list[RelevanceGrade]:
    return [RelevanceGrade("q", name) for name in names]


def test_those_of_a_window_ask_each_question_once_and_each_has_its_evidence() -> None:
    judge = Scripted(by_passage)
    one, two = passages("1", "2")

    async def built(ask: Ask, passage: str) -> int:
        return (await ask(RelevanceGrade("q", passage))).grade

    async def work() -> None:
        memory: dict[Any, Any] = {}
        first, second = Ask(asker, memory), Ask(asker, memory)
        for question, repeat in ((two, 0), (one, 0), (two, 0), (one, 1)):
            await first(question, repeat)
        assert list(first.evidence) == [two.key, one.key, f"{one.key}.1"]
        assert [await ask.once(built, "1") for ask in (second, second)] == [1, 1]
        assert len(judge.questions) == 3 and list(second.evidence) == [one.key]
        assert await second.once(built, "2") == 2
        assert list(second.evidence) == [one.key, two.key]
        with pytest.raises(Unanswered):
            await second.once(built, "x")
        assert len(second.evidence) == 3 and len(judge.questions) == 4
        assert await Ask(asker, memory, "fi").once(built, "2") == 2
        assert len(judge.questions) == 4, "in another language it is built anew, and asked once"
        assert await Ask(asker, {}, "fi")(two) and judge.questions.pop().language == "fi"
        judge.remembered = False
        for _ in range(2):
            await first(one)
        assert len(judge.questions) == 6 and len(first.evidence) == 3

    with Asker(judge) as asker:
        asker.submit(work()).result(10)
        assert (asker.usage.questions, asker.waiting) == (4, 0)


def test_several_questions_are_answered_in_order_or_say_how_many_are_not() -> None:
    async def work() -> None:
        ask = Ask(asker)
        assert [one.grade for one in await ask.each(passages("3", "0", "3"))] == [3, 0, 3]
        for names, begins in {("x",): "", ("x", "1"): "1 of 2", ("x", "1", "y"): "2 of 3"}.items():
            with pytest.raises(Unanswered) as caught:
                await ask.each(passages(*names))
            told, failure = caught.value, caught.value.failure
            assert told.reason is failure.reason is Reason.TIMEOUT
            assert failure.question.passage == "x" and str(told) == told.detail
            assert told.detail.startswith(begins) and told.detail.endswith(failure.detail)
            assert (told.detail == failure.detail) == (not begins)

    with Asker(Scripted(by_passage)) as asker:
        asker.submit(work()).result(10)


def test_as_many_samples_are_open_as_the_judge_takes_questions() -> None:
    judge, done = Scripted({}), list[int]()
    judge.width, n_open, most = 2, 0, 0

    async def sample() -> str:
        nonlocal n_open, most
        n_open += 1
        most = max(most, n_open)
        await asyncio.sleep(0)
        n_open -= 1
        return "its scores"

    async def samples(n: int) -> list[str]:
        return await asyncio.gather(*(asker.finish_sample(sample) for _ in range(n)))

    with Asker(judge, progress=done.append) as asker:
        assert asker.submit(samples(5)).result(10) == ["its scores"] * 5
        assert (most, done, asker.judged) == (2, [1, 2, 3, 4, 5], 5)
        asker.ending = True  # what ends now may lack answers
        assert asker.submit(samples(2)).result(10) == ["its scores"] * 2
        assert asker.judged == len(done) == 5


class Opened(Scripted):
    """Writes down what happens to it; does not open where it is ``shut``."""

    def __init__(self, shut: bool = False) -> None:
        super().__init__({"relevance_grade": GRADE})
        self.log, self.shut = list[str](), shut

    async def open(self) -> None:
        self.log.append("open")
        if self.shut:
            raise UsageError("no key")

    async def drain(self) -> None:
        self.log.append("drain")

    async def close(self) -> None:
        self.log.append("close")


def test_a_judge_is_opened_once_drained_after_an_error_only_and_always_closed() -> None:
    judge, shut = Opened(), Opened(shut=True)
    asker = Asker(judge)
    asker.drain()
    asker.close()
    assert judge.log == [], "nothing was asked"
    with asker:
        for _ in range(2):
            asker.submit(Ask(asker)(QUESTION)).result(10)
    assert judge.log == ["open", "close"]
    with pytest.raises(ZeroDivisionError), asker:
        asker.submit(Ask(asker)(QUESTION)).result(10)
        asker.drain()
        assert asker.ending
        raise ZeroDivisionError
    assert judge.log[2:] == ["open", "drain", "close"]
    asker.submit(Ask(asker)(QUESTION)).result(10)
    assert not asker.ending
    asker.close()
    for n in (1, 2):
        with pytest.raises(UsageError, match="no key"):
            (closed := Asker(shut)).submit(Ask(closed)(QUESTION))
        assert shut.log == ["open", "close"] * n


def test_windows_of_a_run_share_the_evidence_and_each_answer_counts_once() -> None:
    judge, kept = Scripted(lambda one: GRADE if one.passage == "p" else Reason(one.passage)), []
    with Asker(judge, keep=kept.append) as asker:
        for passage, n_asked in (("timeout", 1), ("refused", 3), ("p", 5)):
            for _ in range(2):  # a window each; what is kept is looked up, what may pass stays
                asked = Ask(asker).judge_answer(RelevanceGrade("q", passage), 0)
                assert isinstance(asker.submit(asked).result(10), JudgeAnswer) == (passage == "p")
            assert len(judge.questions) == n_asked
        assert asker.usage.questions == len(kept) == 3
        assert asker.usage.failures == {"timeout": 1, "refused": 1}
