import asyncio
import math
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import Field

from question_examples import ANSWER, PASSAGE, QUERY
from ragassay.base.errors import LedgerError, UsageError
from ragassay.base.score import Reason
from ragassay.judges.asking import Usage
from ragassay.judges.judge import Failure, Judge, JudgeAnswer, Provenance
from ragassay.judges.llm.messages import keys_wanted, tokens_of, tokens_of_question
from ragassay.judges.panel import Panel, combine, decided, differ, disagreed
from ragassay.judges.planning_judge import PlanningJudge
from ragassay.judges.question import Lost, Question, Reply
from ragassay.judges.questions import RelevanceGrade, ReportOnContext
from ragassay.judges.questions.checklists import Claims, ExtractClaims
from ragassay.judges.questions.grading import ContextReport, Rating, ReferenceRating, Relevance
from ragassay.transport.providers_and_prices import Price
from valid_answers import largest

QUESTION = RelevanceGrade(QUERY, PASSAGE)


class Fixed(Judge):
    """Says one thing, or fails with one reason; writes down what happens to it."""

    def __init__(
        self, name: str, says: Reply | Reason | Exception | Callable[[Question[Any]], Reply],
        cached: bool = False,
    ) -> None:  # fmt: skip
        self.name, self.says, self.cached = name, says, cached
        self.log: list[str] = []
        self.repeats: list[int] = []

    @property
    def label(self) -> str:
        return self.name

    @property
    def signature(self) -> str:
        return f"{self.name}?temperature=0"

    async def answer(self, question: Question[Any], repeat: int = 0) -> Any:
        self.repeats.append(repeat)
        return self._said(question, repeat)

    def _said(self, question: Question[Any], repeat: int) -> Any:
        made = Provenance(self.name, request="r", cached=self.cached)
        if isinstance(self.says, Exception):
            raise self.says
        if isinstance(self.says, Reason):
            return Failure(question, self.says, f"{self.name} would not", made, repeat)
        said = self.says if isinstance(self.says, Reply) else self.says(question)
        return JudgeAnswer(question, said, made, repeat)

    def known(self, question: Question[Any], repeat: int = 0) -> Any:
        return self._said(question, repeat) if self.cached else None

    async def open(self) -> None:
        self.log.append("open")

    async def drain(self) -> None:
        self.log.append("drain")

    async def close(self) -> None:
        self.log.append("close")


def grade(value: int) -> Relevance:
    return Relevance(match=value, trust=value, grade=value)


def ask(judge: Judge, question: Question[Any] = QUESTION, repeat: int = 0) -> Any:
    return asyncio.run(judge.answer(question, repeat))


def test_a_panel_takes_the_median_and_keeps_every_vote() -> None:
    panel = Panel([Fixed("a", grade(0)), Fixed("b", grade(3)), Fixed("c", grade(2))])
    judge_answer = ask(panel)
    assert judge_answer.answer == grade(2)
    votes = [(vote.provenance.judge, vote.answer.grade) for vote in judge_answer.votes]
    assert votes == [("a", 0), ("b", 3), ("c", 2)]
    # What was sent is counted by vote: the panel sends nothing, and waits for its slowest member.
    for cached in (True, False):
        made = [Provenance("a", latency=2.0, cached=cached)]
        made += [Provenance("b", latency=1.5, cached=True)]
        said = [JudgeAnswer(QUESTION, grade(1), one) for one in made]
        found = decided(QUESTION, said, 2, 2, "p", 3)
        assert found.provenance == Provenance("p", latency=2.0, attempts=0, cached=cached)
        assert found.repeat == 3 and found.votes == tuple(said)


def test_below_the_quorum_there_is_no_answer_but_the_most_frequent_reason() -> None:
    lost = [Fixed("a", Reason.REFUSED), Fixed("b", Reason.TIMEOUT), Fixed("c", Reason.TIMEOUT)]
    failure = ask(Panel([*lost, Fixed("d", grade(3))]))
    assert isinstance(failure, Failure)
    assert failure.reason is Reason.TIMEOUT
    assert failure.detail.startswith("1 of 4 judges answered, 3 needed; a: a would not; b:")
    assert len(failure.votes) == 4
    assert ask(Panel([*lost, Fixed("d", grade(3))], quorum=1)).answer.grade == 3
    assert ask(Panel(lost[:2])).reason is Reason.REFUSED  # as frequent: the first member's


@pytest.mark.parametrize("quorum", [0, -1, 3])
def test_a_quorum_that_cannot_be_is_refused(quorum: int) -> None:
    with pytest.raises(UsageError, match="quorum"):
        Panel([Fixed("a", grade(0)), Fixed("b", grade(0))], quorum=quorum)
    with pytest.raises(UsageError, match="at least one"):
        Panel([])


def test_label_and_signature_name_the_members_and_the_quorum() -> None:
    members = [Fixed("a", grade(0)), Fixed("b", grade(0))]
    panel = Panel(members, quorum=1)
    assert panel.label == "panel(a, b)"
    assert panel.signature == "panel(median, quorum=1: a?temperature=0, b?temperature=0)"
    others = [Panel(members[::-1], 1), Panel(members)]
    assert len({one.signature for one in [panel, *others]}) == 3
    assert panel.leaves() == tuple(members)
    assert Panel([panel, Fixed("c", grade(1))]).leaves()[:2] == tuple(members)


def test_a_judge_that_raises_costs_its_own_vote_and_says_no_secret() -> None:
    panel = Panel([Fixed("a", ValueError("key sk-123")), Fixed("b", grade(2))], quorum=1)
    judge_answer = ask(panel)
    assert judge_answer.answer.grade == 2
    assert judge_answer.votes[0].reason is Reason.FAILED
    assert "sk-123" not in judge_answer.votes[0].detail
    assert judge_answer.votes[0].provenance.judge == "a"
    with pytest.raises(LedgerError):  # which ends a run
        ask(Panel([Fixed("a", LedgerError("full")), Fixed("b", grade(2))], quorum=1))


def test_opening_draining_and_closing_reach_each_member_once() -> None:
    judge, other = Fixed("a", grade(1)), Fixed("b", grade(1))
    panel = Panel([judge, other, judge])

    async def life() -> None:
        await panel.open()
        await panel.drain()
        await panel.close()

    asyncio.run(life())
    assert judge.log == other.log == ["open", "drain", "close"]


def test_the_same_judge_in_several_seats_is_asked_independently() -> None:
    judge, other = Fixed("a", grade(1)), Fixed("b", grade(1))
    panel = Panel([judge, other, judge])
    ask(panel, repeat=0)
    ask(panel, repeat=1)
    assert sorted(judge.repeats) == [0, 1, 2, 3]  # no seat gets another one's recorded answer
    assert other.repeats == [0, 1]
    assert ask(panel, repeat=4).repeat == 4


def test_claims_are_asked_of_one_judge_and_of_the_next_only_where_it_fails() -> None:
    question = ExtractClaims(f"user: {QUERY}", ANSWER)
    first, second = Fixed("a", Claims(claims=("x",))), Fixed("b", Claims(claims=("y", "z")))
    judge_answer = ask(Panel([first, second, Fixed("c", Claims(claims=()))]), question)
    assert judge_answer.answer.claims == ("x",)
    assert len(judge_answer.votes) == 1
    assert second.repeats == []
    broken = Fixed("a", Reason.UNPARSABLE)
    judge_answer = ask(Panel([broken, second]), question)
    assert judge_answer.answer.claims == ("y", "z")
    assert [type(vote) for vote in judge_answer.votes] == [Failure, JudgeAnswer]
    late = Fixed("d", Reason.TIMEOUT)
    assert len(ask(Panel([broken, late, second, first]), question).votes) == 3
    assert ask(Panel([broken, broken]), question).reason is Reason.UNPARSABLE


def test_a_plan_knows_whom_a_panel_would_ask_and_what_is_known() -> None:
    new, other = Fixed("new", grade(1)), Fixed("other", grade(1))
    kept, lost = Fixed("kept", grade(2), cached=True), Fixed("lost", Reason.REFUSED, cached=True)
    panel = Panel([new, other, new])
    assert panel.requests(QUESTION, 1) == ((new, 2), (other, 1), (new, 3))
    assert panel.known(QUESTION) is Panel([kept, new]).known(QUESTION) is None
    known = Panel([kept, lost, kept], 1).known(QUESTION)
    assert isinstance(known, JudgeAnswer) and len(known.votes) == 3 and known.provenance.cached
    claims = ExtractClaims(f"user: {QUERY}", ANSWER)
    said = Fixed("said", Claims(claims=("x",)), cached=True)
    for members, requests, is_known in (
        ([new, other], [new], False), ([said, new], [said], True),
        ([lost, said, new], [lost, said], True), ([lost, new, said], [lost, new], False),
        ([lost, lost], [lost, lost], True),
    ):  # fmt: skip
        panel = Panel(members)
        assert [judge for judge, _ in panel.requests(claims)] == requests
        assert (panel.known(claims) is not None) == is_known


def test_a_plan_takes_what_no_member_has_answered_yet() -> None:
    kept, new = Fixed("kept", grade(2), cached=True), Fixed("new", grade(1))
    other, dear = Fixed("other", grade(1)), Price(10.0, 20.0)
    other.price, other.model = Price(1.0, 2.0), "qwen-3"
    other.prompts = {QUESTION.kind: "--- user ---\nGrade {{ passage }} for {{ query }}."}
    plan = PlanningJudge(Panel([kept, new, other]), None)
    assert ask(plan).reason is ask(plan, repeat=1).reason is Reason.BUDGET
    assert list(plan.demands) == [QUESTION.key, f"{QUESTION.key}.1"]
    found, most = plan.demands[QUESTION.key], QUESTION.output_tokens
    form = tokens_of("\n\n" + keys_wanted(RelevanceGrade))
    put = (tokens_of_question(QUESTION), tokens_of_question(QUESTION, "", *other.prompts.values()))
    size, own_size = (math.ceil(one + form) for one in put)
    assert (found.kind, found.known, found.calls, found.held) == (QUESTION.kind, None, 2, 1)
    assert (found.input_tokens, found.output_tokens) == (size + own_size, 2 * most)
    assert (found.cost, found.unpriced) == (other.price.cost(own_size, most), 1)
    own = PlanningJudge(Panel([kept, new]), dear)
    assert [ask(own.at(largest=end)).answer.grade for end in (False, True)] == [0, 3]
    priced = own.demands[QUESTION.key]
    assert (priced.cost, priced.unpriced) == (dear.cost(size, most), 0)
    for judge in (kept, Panel([kept, kept])):
        known = PlanningJudge(judge, None)
        assert ask(known).answer == grade(2)
        demand = known.demands[QUESTION.key]
        assert (demand.held, demand.calls, demand.cost) == (len(judge.leaves()), 0, 0)
    assert plan.leaves() == () and not plan.remembered and new.repeats == []
    few = RelevanceGrade(QUERY, PASSAGE, "few")
    new.model, size = "qwen-3", tokens_of_question(few, "qwen-3")
    ask(plan := PlanningJudge(new, None), few)
    assert plan.demands[few.key].input_tokens == math.ceil(size + form)

    class Odd(Reply):
        word: Annotated[str, Field(pattern="odd")]

    odd: Any = type("OddGrade", (RelevanceGrade,), {"reply": Odd})(QUERY, PASSAGE)
    assert ask(plan.at(largest=True), odd).reason is Reason.BUDGET, "no stand-in is known for it"


def test_a_panel_speaks_for_each_member_once() -> None:
    class Remarking(Fixed):
        def remarks(self) -> tuple[str, ...]:
            return (f"of {self.name}",)

        def without(self, names: Any) -> tuple[str, ...]:
            return tuple(name for name in names if name in (self.name, "seed"))

    a, b = Remarking("a", grade(1)), Remarking("b", grade(1))
    a.width = 3
    panel = Panel([b, a, b])
    assert panel.remarks() == ("of b", "of a") and panel.width == b.width == 64
    assert panel.without(iter(["b", "c", "seed", "a"])) == ("a", "b", "seed")
    plain = Fixed("plain", grade(1))
    assert (plain.known(QUESTION), plain.remarks(), plain.without(["seed"])) == (None, (), ())
    assert plain.remembered and plain.requests(QUESTION, 2) == ((plain, 2),)


def rate(rating: int, explanation: str) -> Rating:
    return Rating(explanation=explanation, rating=rating)


RATING = ReferenceRating("", QUERY, "1968", ANSWER, (PASSAGE,))


def report(relevance: int, usefulness: int, who: str) -> ContextReport:
    return ContextReport(
        relevance_explanation=f"{who} on relevance", relevance=relevance,
        usefulness_explanation=f"{who} on usefulness", usefulness=usefulness,
        utilization_explanation=f"{who} on utilization", utilization=50,
        attribution_explanation=f"{who} on attribution",
        attribution={"a": (1,), "b": (2,), "c": (1, 2)}[who],
    )  # fmt: skip


def test_each_field_is_explained_by_a_vote_for_that_field() -> None:
    question = ReportOnContext(QUERY, (PASSAGE, PASSAGE))
    said = [report(5, 1, "a"), report(1, 3, "b"), report(3, 5, "c")]
    combined = ask(Panel([Fixed(str(at), one) for at, one in enumerate(said)]), question).answer
    assert (combined.relevance, combined.relevance_explanation) == (3, "c on relevance")
    assert (combined.usefulness, combined.usefulness_explanation) == (3, "b on usefulness")
    assert (combined.attribution, combined.attribution_explanation) == ((1, 2), "c on attribution")
    whole = combine([report(3, 1, "a"), report(5, 5, "b"), report(3, 3, "c")])
    assert whole.relevance_explanation == "c on relevance", "who voted for the whole outcome"
    named = [said[0].model_copy(update={"attribution": one}) for one in ((1, 2), (2, 3), (1, 3))]
    assert combine(named).attribution_explanation == "votes: [1, 2], [2, 3], [1, 3]"
    votes = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    steps = [Relevance(intent="x", match=m, trust=t, grade=g) for m, t, g in votes]
    assert combine(steps) == grade(1).model_copy(update={"intent": f"votes: {str(votes)[1:-1]}"})


def test_a_part_that_most_members_lost_is_lost_and_the_others_are_voted_on() -> None:
    question = ReportOnContext(QUERY, (PASSAGE, PASSAGE))
    lost = {"attribution": Lost(reason=Reason.UNPARSABLE, detail="there is no chunk 9")}
    whole = largest(question)
    part = whole.model_copy(update={"relevance": 3, "attribution": None, "lost": lost})
    found = combine([part, part, whole])
    assert (found.relevance, found.attribution, found.lost) == (3, None, lost)
    assert found.attribution_explanation is None and question.check(found) is found
    other = combine([part, whole, whole])
    assert (other.relevance, other.attribution, other.lost) == (5, (2,), {})
    assert combine([part, whole]).attribution is None
    same = whole.model_copy(update={"attribution": None, "lost": lost})
    vote = JudgeAnswer(question, whole, Provenance("a"))
    lesser = JudgeAnswer(question, same, Provenance("b"))
    assert not disagreed(JudgeAnswer(question, whole, Provenance("p"), votes=(vote, lesser)))


def test_disagreement_is_counted_by_answers_and_not_by_words() -> None:
    usage = Usage()
    for votes in [
        (rate(3, "x"), rate(3, "y")), (rate(3, "x"), rate(4, "x")), (Reason.TIMEOUT,) * 2,
    ]:  # fmt: skip
        usage.add(ask(Panel([Fixed(str(at), vote) for at, vote in enumerate(votes)]), RATING))
    usage.add(ask(Panel([Fixed("a", rate(3, "x")), Fixed("b", Reason.TIMEOUT)], quorum=1), RATING))
    assert (usage.questions, usage.disagreed) == (4, 1)
    assert differ([grade(3), grade(3).model_copy(update={"trust": 2})]) and not differ([grade(3)])


def test_where_a_member_does_not_open_the_others_are_closed_and_its_error_is_told() -> None:
    class Shut(Fixed):
        async def open(self) -> None:
            raise UsageError("no key")

    judge, shut = Fixed("b", grade(1)), Shut("a", grade(1))
    with pytest.raises(UsageError, match=r"^no key$"):
        asyncio.run(Panel([judge, shut]).open())
    assert judge.log == ["open", "close"] and shut.log == ["close"]
