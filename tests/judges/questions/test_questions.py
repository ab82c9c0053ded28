import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from question_examples import ANSWER, EXAMPLES, MODELS, QUERY, fences, name_of
from ragassay.judges.panel import combinable, combine
from ragassay.judges.question import RULE, Question, kinds
from ragassay.judges.questions import NuggetAssignments, ReportOnContext, RubricGrade, Support
from ragassay.judges.questions.answering import Idk
from ragassay.judges.questions.checklists import AssignNuggets, ClaimsSupported, ClaimSupport
from ragassay.judges.questions.grading import Graded, Rating, Relevance, RelevanceGrade
from valid_answers import largest, smallest

each_question = pytest.mark.parametrize("question", EXAMPLES, ids=name_of)
each_model = pytest.mark.parametrize("model", MODELS)


def test_the_examples_cover_every_kind_of_question() -> None:
    assert {question.kind for question in EXAMPLES} == {
        kind for kind, cls in kinds().items() if cls.__module__.startswith("ragassay.")
    }


@each_question
@each_model
def test_a_prompt_is_two_messages_that_state_the_rule_and_all_data(question, model: str) -> None:
    messages = question.messages(model)
    assert [message["role"] for message in messages] == ["system", "user"]
    system, user = (message["content"] for message in messages)
    assert system.count(RULE) == 1
    assert not fences(system)
    held = " ".join(text for _, text in fences(user))
    for field, value in question.data.items():
        texts = [value] if isinstance(value, str) else value if isinstance(value, tuple) else []
        if field not in {"instructions", "criteria", "levels", "shots"}:
            for text in texts:
                text = text[1] if isinstance(text, tuple) else text
                assert text in held, f"{field} is not in the prompt"


@each_question
def test_the_same_question_is_the_same_request(question: Question[Any]) -> None:
    twin = dataclasses.replace(question)
    assert question.messages("gpt-4o") == twin.messages("gpt-4o")
    assert question.key == twin.key
    assert question.prompt_hash("gpt-4o") == twin.prompt_hash("gpt-4o")
    assert hash(question) == hash(twin)
    own = {question.prompt_hash("", f"--- user ---\n{text}") for text in ("Read.", "Read!")}
    assert len(own) == 2 and {len(one) for one in own} == {len("own-") + 12}


@pytest.mark.parametrize(("model", "shape"), [
    ("gpt-4o", ""), ("", ""), ("openai/gpt-oss-120b", "_plain"),
    ("Qwen/Qwen2.5-72B-Instruct", "_plain"),
])  # fmt: skip
def test_relevance_is_asked_in_the_shape_that_the_model_needs(model: str, shape: str) -> None:
    zero, few = RelevanceGrade("q", "p"), RelevanceGrade("q", "p", "few")
    assert zero.template(model) == f"relevance_grade{shape}"
    assert few.template(model) == f"relevance_grade_few{shape}"
    assert zero.prompt_hash(model) != few.prompt_hash(model)
    assert (zero.prompt_hash(model) == zero.prompt_hash("gpt-4o")) == (not shape)
    assert RelevanceGrade.blank({"shots": "few"}).prompt_hash(model) == few.prompt_hash(model)
    system = few.messages(model)[0]["content"]
    for step in ("Intent", "Match", "Trust", "Final"):
        assert step in system
    for grade in range(4):
        assert f"\n{grade}: " in system or f"\n- {grade} = " in system
        assert f"grade {grade}" in system or f'"grade": {grade}}}' in system


def test_umbrela_is_asked_with_the_published_parameters() -> None:
    published = {"temperature": 0.0, "top_p": 1.0, "presence_penalty": 0.5, "seed": 42}
    assert RelevanceGrade("q", "p").sampling() == published | {"frequency_penalty": 0.0}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shots", ["zero", "few"])
def test_a_follow_up_is_graded_with_what_its_user_asked_before(model: str, shots: Any) -> None:
    asked = RelevanceGrade("And PayPal?", "p", shots, ("Do you take Amex?",))
    *same, last = RelevanceGrade("And PayPal?", "p", shots).messages(model)
    *system, sent = asked.messages(model)
    assert system == same and sent["content"].endswith(last["content"])
    assert "1. Do you take Amex?" in sent["content"].removesuffix(last["content"])


def test_the_schema_that_is_sent_knows_how_many_items_there_are() -> None:
    asked = AssignNuggets(QUERY, ANSWER, ("a", "b", "c")).bounded_schema()
    entry = asked["properties"]["verdicts"]["items"]
    assert list(entry["properties"]) == ["number", "reason", "label"], "the reason comes first"
    assert entry["required"] == ["number", "reason", "label"]
    assert entry["properties"]["number"]["maximum"] == 3
    claims = ClaimSupport(("a",), ("p",)).bounded_schema()["properties"]["verdicts"]["items"]
    assert claims["properties"]["number"]["maximum"] == 1
    with pytest.raises(ValueError, match="1 entry"):
        AssignNuggets("q", "a", ("b",)).check(AssignNuggets.reply(labels=("support",) * 2))


def test_a_rubric_score_lies_on_its_scale() -> None:
    question = RubricGrade("c", 2, 4, (), (("answer", "a"),))
    assert question.check(Graded(explanation="", score=4)).score == 4
    for score in (1, 5):
        with pytest.raises(ValueError, match="from 2 to 4"):
            question.check(Graded(explanation="", score=score))


def test_a_label_is_understood_however_it_is_dressed_and_another_word_is_none() -> None:
    for written in ("yes", "Yes", "**Yes**", " YES. ", '"yes"'):
        assert Idk.model_validate_json(json.dumps({"says_idk": written})).says_idk == "yes"
    words = json.dumps({"labels": ["Partial support", "**partial-support**", "not  support."]})
    assert NuggetAssignments.model_validate_json(words).labels == (
        *("partial_support",) * 2, "not_support",
    )  # fmt: skip
    for other in ("maybe", "", "yes and no", "I would say yes", "yes yes", 1, True, None):
        with pytest.raises(ValidationError):
            Idk.model_validate_json(json.dumps({"says_idk": other}))


def test_a_grade_is_a_number_however_it_is_written_and_nothing_else() -> None:
    for written in (3, "3", 3.0, " 3 "):
        body = json.dumps({"match": 0, "trust": 0, "grade": written})
        assert Relevance.model_validate_json(body).grade == 3
    for other in (4, -1, 2.5, "two", "3/3", "3 out of 3", True, None, [3]):
        with pytest.raises(ValidationError):
            Relevance.model_validate_json(json.dumps({"match": 0, "trust": 0, "grade": other}))


def labels(*words: str) -> list[Support]:
    return [Support(support=word) for word in words]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("votes", "median"),
    [((1, 2, 3), 2), ((1, 1, 10), 1), ((4, 9), 4), ((2, 6, 6, 10), 6), ((7, 8, 9, 10), 8)],
)
def test_ratings_become_their_lower_median(votes: tuple[int, ...], median: int) -> None:
    replies = [Rating(explanation=f"e{vote}", rating=vote) for vote in votes]
    for order in (replies, replies[::-1]):
        assert combine(order).rating == median
        assert combine(order).explanation == f"e{median}"


@pytest.mark.parametrize(("votes", "median"), [
    (("full", "none", "none"), "none"), (("full", "partial", "none"), "partial"),
    (("full", "full", "none"), "full"), (("full", "none"), "none"),
    (("full", "full", "partial", "none", "none"), "partial"),
])  # fmt: skip
def test_labels_become_their_lower_median(votes: tuple[str, ...], median: str) -> None:
    assert combine(labels(*votes)).support == median


def test_lists_of_labels_and_flags_are_decided_entry_by_entry() -> None:
    votes = [(True, False), (True, True), (False, False)]
    flags = [ClaimsSupported(supported=vote) for vote in votes]
    assert combine(flags).supported == (True, False)
    assert combine(flags[:2]).supported == (True, False)  # a tie is no
    firsts, seconds = ("support", "support", "partial_support"), ("not_support", *["support"] * 2)
    words = [NuggetAssignments(labels=both) for both in zip(firsts, seconds, strict=True)]
    assert combine(words).labels == ("support", "support")
    with pytest.raises(ValueError):
        combine([*flags, ClaimsSupported(supported=(True,))])


def test_chunks_are_attributed_that_more_than_half_of_the_judges_name() -> None:
    base = smallest(ReportOnContext("q", ("a", "b", "c")))
    votes = [base.model_copy(update={"attribution": chunks}) for chunks in [(3, 1), (1,), (2, 3)]]
    assert combine(votes).attribution == (1, 3)
    assert combine(votes[:2]).attribution == (1,)
    more = [base.model_copy(update={"attribution": chunks}) for chunks in [(1, 2), (2,), ()]]
    assert combine([*votes, *more[:2]]).attribution == (1, 2)
    assert combine([*votes, *more]).attribution == (), "half is not more than half"


@given(st.data(), st.sampled_from(EXAMPLES))
def test_any_votes_combine_into_a_valid_answer_whatever_their_order(data, question) -> None:
    ends = [smallest(question), largest(question)]
    votes = data.draw(st.lists(st.sampled_from(ends), min_size=1, max_size=5))
    combined = combine(votes)
    assert question.check(combined) == combined
    if combinable(question.reply):
        assert combine(votes[::-1]) == combined
    assert combined in votes
