"""Values that the offline judge reads are compared by what they mean."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from ragassay.judges.offline.language.support_of_text import PreparedPassages, piece
from ragassay.judges.offline.language.word_weights import tokens
from ragassay.judges.offline.rules import answer_to
from ragassay.judges.question import Question
from ragassay.judges.questions.matching import AnswerMatch
from ragassay.judges.questions.nuggets import AssignNuggets
from ragassay.judges.questions.support import CitationSupport, ClaimSupport

SAME = [
    ("eleven", "11"),
    ("a quarter of it", "25 %"),
    ("a fifth of them", "20 percent of them"),
    ("two-thirds", "66.7 %"),
    ("one third of it", "33 %"),
    ("one third of it", "33.33 percent"),
    ("three eighths", "37.5 %"),
    ("3k dollars", "$3,000"),
    ("one", "1"),
    ("twenty-one", "21"),
    ("two hundred and five", "205"),
    ("50 %", "half"),
    ("50 percent", "50%"),
    ("fifty per cent", "50 %"),
    ("1.2 million", "1,200,000"),
    ("a million", "1000000"),
    ("half a million", "500,000"),
    ("one and a half", "1.5"),
    ("two dozen", "24"),
    ("$5", "5 dollars"),
    ("US$5", "5 USD"),
    ("$1.2bn", "1.2 billion dollars"),
    ("€5", "five euros"),
    ("1776-07-04", "July 4 1776"),
    ("1776-07-04", "4 July 1776"),
    ("4th of July, 1776", "July 4th, 1776"),
    ("Jul. 4, 1776", "4 July 1776"),
    ("2001-09-11", "Sept 11, 2001"),
    ("-5", "minus 5"),
    ("-5 degrees", "minus five degrees"),
    ("-1", "minus one"),
    ("-2.5 million", "minus two and a half million"),
    ("−5 °C", "-5 degrees Celsius"),
    ("330 ft", "330 feet"),
    ("330 m", "330 meters"),
    ("5 km", "five kilometres"),
    ("20th century", "twentieth century"),
    ("1.200.000", "1,200,000"),
    ("9 am", "9:00 AM"),
    ("9 a.m.", "09:00"),
    ("21:00", "9 pm"),
    ("9.30 p.m.", "21:30"),
    ("12 am", "00:00"),
    ("nine pm", "9 P.M."),
    ("3.10", "3.1"),
    ("$3.10", "3.1 dollars"),
    ("3.10 metres", "3.1 m"),
    ("version 2.0", "version 2"),
]
OTHER = [
    ("-5", "5"),
    ("330 feet", "330 metres"),
    ("5%", "5"),
    ("$5", "5 euros"),
    ("11", "twelve"),
    ("0.5", "0.7"),
    ("1.2 million", "1.2 billion"),
    ("1776-07-04", "July 5 1776"),
    ("4 May 1968", "4 June 1968"),
    ("first", "second"),
    ("20 °C", "20 °F"),
    ("9 am", "9 pm"),
    ("9:00 AM", "9 p.m."),
    ("9 a.m.", "21:00"),
    ("09:30", "9:30 pm"),
    ("version 3.10", "version 3.1"),
    ("Python 3.10", "Python 3.1"),
    ("Section 2.20", "section 2.2"),
]


def ask(question: Question[Any]) -> Any:
    found = answer_to(question)
    assert found is not None
    return question.check(found)


def both_ways(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [*pairs, *((other, one) for one, other in pairs)]


@pytest.mark.parametrize(
    ("answer", "reference", "match"),
    [(*pair, True) for pair in both_ways(SAME)] + [(*pair, False) for pair in both_ways(OTHER)],
)
def test_answers_match_by_value(answer: str, reference: str, match: bool) -> None:
    assert ask(AnswerMatch("", answer, (reference,))).is_matching is match
    sentence = f"According to the report it is {answer} in all."
    assert ask(AnswerMatch("", sentence, (reference,))).is_matching is match


def test_a_word_for_one_is_no_number_that_is_asked_for() -> None:
    assert tokens("one of the bridges") == ["one", "of", "the", "bridges"]
    assert not piece("one of the bridges").strict
    assert PreparedPassages(("It has one bridge.",)).supports(piece("it has 1 bridge"))
    assert ask(AnswerMatch("How many bridges?", "It has 1 bridge.", ("one",))).is_matching
    assert not ask(AnswerMatch("How many bridges?", "It has 2 bridges.", ("one",))).is_matching


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,000.50 and 1000.5", ["1000.5", "and", "1000.5"]),
        ("12,5 %", ["12.5%"]),
        ("0.5 km and -0,50 %", ["0.5", "kilometre", "and", "-0.5%"]),
        ("the 1990s", ["the", "1990", "s"]),
        ("3-5 days", ["3", "5", "day"]),
        ("10 -15", ["10", "15"]),
        ("50-60%", ["50%", "60%"]),
        ("between 50 and 60 percent", ["between", "50%", "and", "60%"]),
        ("in 1990 and 60%", ["in", "1990", "and", "60%"]),
        ("the second half", ["the", "second", "half"]),
        ("in May 1968", ["in", "maymonth", "1968"]),
        ("in May it opened", ["in", "maymonth", "it", "opened"]),
        ("the place they live in may be", ["the", "place", "they", "live", "in", "may", "be"]),
        ("a third bridge of stone", ["a", "third", "bridge", "of", "stone"]),
        ("three quarters later", ["3", "quarters", "later"]),
        ("two three four", ["2", "3", "4"]),
        ("7 minus 2", ["7", "minus", "2"]),
        ("several million", ["several", "million"]),
        ("one mile away", ["1", "mile", "away"]),
        ("one dozen eggs", ["12", "eggs"]),
        ("one percent of it", ["1%", "of", "it"]),
        ("2001-13-45", ["2001-13-45"]),
        ("9:05, 9:60 and 12:00", ["9:05", "9:60", "and", "12"]),
        ("45:30 or 10:20:30", ["45", "30", "or", "10", "20", "30"]),
        ("I am 9", ["i", "am", "9"]),
        ("in 1990 am Rhein", ["in", "1990", "am", "rhein"]),
        ("they march in 5 rows", ["they", "march", "in", "5", "rows"]),
    ],
)
def test_what_stands_beside_a_number_is_read_with_care(text: str, words: list[str]) -> None:
    assert tokens(text) == words


UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
UNITS += " fifteen sixteen seventeen eighteen nineteen"
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"


def in_words(value: int) -> str:
    """A number below a million millions in English words."""
    for size, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand")):
        if value >= size:
            rest = f" {in_words(value % size)}" if value % size else ""
            return f"{in_words(value // size)} {name}{rest}"
    if value >= 100:
        rest = f" and {in_words(value % 100)}" if value % 100 else ""
        return f"{in_words(value // 100)} hundred{rest}"
    if value < 20:
        return UNITS.split()[value]
    rest = f"-{in_words(value % 10)}" if value % 10 else ""
    return TENS.split()[value // 10 - 2] + rest


@given(st.one_of(st.integers(0, 200), st.integers(0, 10**12 - 1)))
@example(1_000_000)
@example(100_100)
def test_a_number_in_words_and_in_digits_is_the_same_value(value: int) -> None:
    written = in_words(value)
    for digits in (str(value), f"{value:,}"):
        assert ask(AnswerMatch("", f"There are {digits}.", (written,))).is_matching
        assert ask(AnswerMatch("", f"There are {written}.", (digits,))).is_matching
    assert not ask(AnswerMatch("", f"There are {value + 1}.", (written,))).is_matching
    if value != 1:
        assert tokens(written) == tokens(str(value)) == [str(value)]


@given(st.integers(1, 10**6), st.sampled_from(["million", "billion", "thousand"]))
def test_a_scale_multiplies(tenths: int, scale: str) -> None:
    sizes = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
    written = f"{tenths / 10:.1f} {scale}"
    assert tokens(written) == tokens(str(tenths * sizes[scale] // 10))


@given(st.dates())
def test_a_date_is_the_same_in_all_orders(date: Any) -> None:
    month = date.strftime("%B")
    forms = (
        date.isoformat(),
        f"{date.day} {month} {date.year}",
        f"{month} {date.day}, {date.year}",
        f"{date.day} {month[:3]} {date.year}",
    )
    assert len({tuple(tokens(form)) for form in forms}) == 1


@given(st.text(st.sampled_from("0123456789-.,$%€ °½milonhaftusd\n"), max_size=60))
def test_any_mixture_of_digits_and_signs_is_read(text: str) -> None:
    found = tokens(text)
    assert all(found)
    assert tokens(f"{text} é")[:-1] == found


PASSAGE = "The tower is 330 metres tall. It opened on 31 March 1889 and half of it is steel."


@pytest.mark.parametrize(
    ("claim", "passage", "held"),
    [
        ("The tower is 330 m tall.", PASSAGE, True),
        ("It opened on 1889-03-31.", PASSAGE, True),
        ("50 % of it is steel.", PASSAGE, True),
        ("The tower is three hundred and thirty metres tall.", PASSAGE, True),
        ("The tower is 330 tall.", PASSAGE, True),
        ("The tower is 330 feet tall.", PASSAGE, False),
        ("The tower is -330 metres tall.", PASSAGE, False),
        ("It opened on 30 March 1889.", PASSAGE, False),
        ("The shop opens at 9 am.", "The shop opens at 9 pm.", False),
        ("The shop opens at 9:00 AM.", "The shop opens at 9 p.m.", False),
        ("The shop opens at 21:00.", "The shop opens at 9 a.m.", False),
        ("The shop closes at 21:00.", "The shop closes at 9 pm.", True),
        ("The shop opens at 9 am.", "The shop opens at 9.", True),
        ("The shop opens at 9.", "The shop opens at 9 a.m.", True),
        ("The module needs version 3.10.", "The module needs version 3.1.", False),
        ("The module needs Python 3.1.", "The module needs Python 3.10.", False),
        ("The module needs version 3.10.", "The module needs version 3.10.", True),
        ("The rope measures 3.10 metres.", "The rope measures 3.1 metres.", True),
        ("The mean of the marks is 3.10.", "The mean of the marks is 3.1.", True),
    ],
)
def test_claims_citations_nuggets_and_references_read_values_alike(
    claim: str, passage: str, held: bool
) -> None:
    assert all(ask(ClaimSupport((claim,), (passage,))).supported) is held
    assert (ask(CitationSupport(claim, passage)).support == "full") is held
    assert (ask(AssignNuggets("", passage, (claim,))).labels == ("support",)) is held
    assert ask(AnswerMatch("", passage, (claim,))).is_matching is held


def test_an_hour_of_the_query_does_not_decide_which_half_of_the_day() -> None:
    for answer, held in (("It opens at 9 am.", True), ("It opens at 9 pm.", False)):
        assert ask(AnswerMatch("Does it open at 9?", answer, ("9 am",))).is_matching is held


def test_another_version_contradicts_the_whole_sentence() -> None:
    passage = "The module was added by the team in version 3.1 of the language."
    claims = ("The module was added by the team", "in version 3.10 of the language.")
    assert ask(ClaimSupport(claims, (passage,))).supported == (False, False)
