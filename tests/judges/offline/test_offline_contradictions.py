"""A near copy that says otherwise supports nothing: claims, citations, nuggets, answers."""

from __future__ import annotations

from typing import Any

import pytest

from ragassay.judges.offline.claims import supported_share
from ragassay.judges.offline.near_copies.alignment import compared
from ragassay.judges.offline.near_copies.contradictions import contradiction
from ragassay.judges.offline.near_copies.opposites import class_of, opposed
from ragassay.judges.offline.near_copies.places import parsed
from ragassay.judges.offline.rules import answer_to
from ragassay.judges.question import Question
from ragassay.judges.questions.matching import AnswerMatch
from ragassay.judges.questions.nuggets import AssignNuggets
from ragassay.judges.questions.rating import ReferenceRating
from ragassay.judges.questions.support import CitationSupport, ClaimSupport


def ask(question: Question[Any]) -> Any:
    found = answer_to(question)
    assert found is not None
    return question.check(found)


FALSE = [
    ("The Eiffel Tower was not completed in 1889.", "The Eiffel Tower was completed in 1889."),
    ("The Eiffel Tower wasn't completed in 1889.", "The Eiffel Tower was completed in 1889."),
    ("The Eiffel Tower was never completed.", "The Eiffel Tower was completed."),
    ("The Eiffel Tower was completed in 1889.", "The Eiffel Tower was not completed in 1889."),
    (
        "The Eiffel Tower was not completed in 1889.",
        "The Eiffel Tower, which a company built for a fair, was completed in 1889 in Paris.",
    ),
    ("The Eiffel Tower was completed in 1887.", "The Eiffel Tower was completed in 1889."),
    ("The tower is 330 feet tall.", "The tower is 330 metres tall."),
    ("The lake is -5 degrees in winter.", "The lake is 5 degrees in winter."),
    ("The tower stands in central Berlin.", "The tower stands in central Paris."),
    ("Liverpool beat Madrid in the final.", "Madrid beat Liverpool in the final."),
    ("Real Madrid beat Liverpool.", "Liverpool beat Real Madrid."),
    ("The dog bit the man.", "The man bit the dog."),
    ("Sales of bread increased last year.", "Sales of bread decreased last year."),
    ("The bridge opened before the war.", "The bridge opened after the war."),
    ("Aarwyk lies north of the river.", "Aarwyk lies south of the river."),
    ("The team won the cup twice.", "The team lost the cup twice."),
    ("The hotel has neither a pool nor a gym.", "The hotel has a pool and a gym."),
    ("Many students passed the exam.", "Few students passed the exam."),
    ("Many students passed the exam.", "Only a few students passed the exam."),
    ("The museum is rarely free on Mondays.", "The museum is free on Mondays."),
    ("The runner managed to finish the race.", "The runner failed to finish the race."),
    ("The shop opens at 5 pm and closes at 9 am.", "The shop opens at 9 am and closes at 5 pm."),
    ("The price rose by 5 dollars last year.", "The price rose by 5 percent last year."),
    ("The mission failed to land on the moon.", "The mission landed on the moon."),
    ("The mission landed on the moon.", "The mission was unable to land on the moon."),
    ("The mission managed to land on the moon.", "The mission refused to land on the moon."),
    ("The bridge opened in March 1999.", "The bridge opened in May 1999."),
    ("The bridge opened in May.", "The bridge opened in March."),
    ("The bridge opened in Jul 1999.", "The bridge opened in May 1999."),
    ("Two thirds of the members voted.", "One third of the members voted."),
    ("One third of the members voted.", "Two thirds of the members voted."),
    ("The tower is 330 metres short.", "The tower is 330 metres (1,083 ft) tall, with the mast."),
    ("The soldiers march 4 miles daily.", "The soldiers march 4 kilometres daily."),
    ("Google acquired the site in 2006.", "Microsoft acquired the site in 2006."),
    ("Oxygen makes up 78 % and nitrogen 21 %.", "Nitrogen makes up 78 % and oxygen 21 %."),
    ("It is false that the bridge opened in 1999.", "The bridge opened in 1999."),
    ("It is a myth that the bridge opened in 1999.", "The bridge opened in 1999."),
    ("The first edition appeared in 1955.", "The second edition appeared in 1955."),
    ("The third edition appeared in 1955.", "The second edition appeared in 1955."),
    ("The hotel near the park is cheap.", "The hotel near the park is expensive."),
    ("The company lacks a board of directors.", "The company has a board of directors."),
    ("Curie did not discover radium in 1898.", "Curie discovered radium in 1898."),
    ("Curie didn't discover radium.", "In France, Curie discovered radium."),
    ("Darwin did not write the book.", "Darwin wrote the book."),
    ("Darwin wrote the book.", "Darwin didn't write the book."),
    ("The king did not flee the town.", "The king fled the town."),
]


@pytest.mark.parametrize(("false", "true"), FALSE)
def test_a_near_copy_that_says_otherwise_is_never_supported(false: str, true: str) -> None:
    assert supported_share(false, (true,)) == 0.0
    assert supported_share(true, (true,)) == 1.0
    assert ask(CitationSupport(false, true)).support != "full"
    assert ask(CitationSupport(true, true)).support == "full"
    assert ask(AssignNuggets("", false, (true,))).labels != ("support",)
    assert ask(AssignNuggets("", true, (true,))).labels == ("support",)
    assert not ask(AnswerMatch("", false, (true,))).is_matching
    assert ask(AnswerMatch("", true, (true,))).is_matching


@pytest.mark.parametrize(
    ("claim", "passage", "share"),
    [
        ("All members may vote.", "Some members may vote.", 0.0),
        ("All members may vote.", "Only a few members may vote.", 0.0),
        ("Every member may vote.", "A few members may vote.", 0.0),
        ("Few members may vote.", "All members may vote.", 0.0),
        ("No members may vote.", "All members may vote.", 0.0),
        ("The bus always stops here.", "The bus sometimes stops here.", 0.0),
        ("Every member may vote.", "All members may vote.", 1.0),
        ("Some members may vote.", "All members may vote.", 1.0),
    ],
)
def test_a_claim_about_all_is_not_supported_by_one_about_some(
    claim: str, passage: str, share: float
) -> None:
    assert supported_share(claim, (passage,)) == share


def test_a_rating_counts_contradicted_sentences_as_unsupported() -> None:
    true = "The Eiffel Tower was completed in 1889."
    false = "The Eiffel Tower was not completed in 1889."
    good, bad = (ask(ReferenceRating("", "When?", true, said, (true,))) for said in (true, false))
    assert good.rating == 10 and bad.rating <= 6


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("YouTube was acquired by Google in 2006.", "Google acquired YouTube in 2006."),
        ("Paris and London are large cities.", "London and Paris are large cities."),
        ("Cats and dogs eat meat.", "Dogs and cats eat meat."),
        ("Smith opened the bridge in 1968.", "John Smith opened the bridge in 1968."),
        ("No, images are not scanned by default.", "Images aren't scanned by default."),
        ("Yes. The river is thirteenth in length.", "The river is thirteenth in length."),
        ("The show won in June of 2013.", "The show won on June 10, 2013."),
        ("In 1889, the tower was completed.", "The tower was completed in 1889."),
        ("It has 30 rooms in 3 houses.", "There are 3 houses with 30 rooms."),
        ("Many students passed the exam.", "A few students passed the exam."),
        ("A few students passed the exam.", "Many students passed the exam."),
        ("Some members may vote.", "All members may vote."),
        ("Every member may vote.", "All members may vote."),
        ("The mission failed to land on the moon.", "The mission did not land on the moon."),
        ("The mission did not fail to land on the moon.", "The mission landed on the moon."),
        ("The mission was able to land on the moon.", "The mission landed on the moon."),
        ("The tower is 1,083 ft tall.", "The tower is 330 metres (1,083 ft) tall."),
        ("One third of the members voted.", "33 % of the members voted."),
        ("Scientists saw the comet in 1995.", "Researchers saw the comet in 1995."),
        ("Modern bridges in Rome are long.", "Bridges in Rome are long."),
        ("Obama won the election in 2008.", "Barack Obama won the election in 2008."),
        ("The bridge has been opened in 1999.", "The bridge was opened in 1999."),
        ("The company lacks a board.", "The company has no board."),
        ("It is not false that the bridge opened in 1999.", "The bridge opened in 1999."),
    ],
)
def test_other_wordings_of_the_same_contradict_nothing(claim: str, passage: str) -> None:
    assert contradiction(claim, (passage,)) is None


def test_a_sentence_that_agrees_goes_before_one_that_differs() -> None:
    passage = "Sales increased in Oslo in 2019. Sales decreased in Oslo in 2020."
    for claim in ("Sales increased in Oslo in 2019.", "Sales decreased in Oslo in 2020."):
        assert supported_share(claim, (passage,)) == 1.0
    assert supported_share("Sales increased in Oslo in 2020.", (passage,)) == 0.0


def test_only_the_sentence_that_is_contradicted_falls() -> None:
    passage = "The bridge was opened by the mayor in 1968. Trams cross it every ten minutes."
    claims = ("The bridge was not opened by the mayor", "in 1968.", "Trams cross it", "every day")
    found = ask(ClaimSupport(claims, (passage,))).supported
    assert found == (False, False, True, False)


def test_items_of_a_list_without_full_stops_are_sentences() -> None:
    passage = "The bridge was opened in 1968. Trams cross the harbour every ten minutes."
    claims = ("The bridge was not opened in 1968", "Trams cross the harbour every ten minutes")
    assert ask(ClaimSupport(claims, (passage,))).supported == (False, True)
    alone = ("Trams cross the harbour every ten minutes", "The bridge was opened in 1968")
    assert ask(ClaimSupport(alone, (passage,))).supported == (True, True)


def test_what_differs_is_named() -> None:
    true = parsed("Liverpool beat Madrid in 2018 before 40 guests.")

    def kind(false: str) -> str | None:
        return compared(parsed(false), true)

    assert kind("Liverpool never beat Madrid in 2018 before 40 guests.") == "negation"
    assert kind("Liverpool beat Madrid in 2019 before 40 guests.") == "number"
    assert kind("Liverpool beat Arsenal in 2018 before 40 guests.") == "name"
    assert kind("Liverpool beat Madrid in 2018 after 40 guests.") == "opposite"
    assert kind("Liverpool beat Madrid in 2018 before 40 guests.") == "same"
    assert kind("Bread needs flour, salt, water and much patience.") is None
    assert compared(parsed("The dog bit the man."), parsed("The man bit the dog.")) == "roles"
    assert (
        compared(parsed("It is 5 feet long there."), parsed("It is 5 metres long there.")) == "unit"
    )


def test_a_word_may_have_several_opposites() -> None:
    assert opposed("short", "long") and opposed("short", "tall") and opposed("lost", "won")
    assert opposed("increase", "rise") is False and opposed("tall", "won") is None
    assert class_of("bridge") is None


def test_long_sentences_take_no_long_time() -> None:
    one, other = "a1 b1 " * 20_000, "b1 a1 c1 " * 15_000
    assert contradiction(one, (other,)) is None


FREE = "It is not free for adults. It is free for children under six."


@pytest.mark.parametrize(
    ("answer", "reference", "says"),
    [
        (f"{FREE} Ask the office.", FREE, True),
        ("It is free for adults. It is free for children under six. Ask there.", FREE, False),
        ("It is free for adults. Ask the office.", FREE.split(". ")[0], False),
    ],
)
def test_a_reference_of_several_sentences_is_compared_one_by_one(
    answer: str, reference: str, says: bool
) -> None:
    assert ask(AnswerMatch("Is the museum free?", answer, (reference,))).is_matching is says


def test_each_sentence_of_a_statement_is_compared() -> None:
    passage = "The bridge was opened by the mayor in 1968. Trams cross it every ten minutes."
    false = "Trams cross it every ten minutes. The bridge was not opened by the mayor in 1968."
    assert contradiction(false, (passage,)) == "negation"
    assert contradiction(passage, (passage,)) is None
    assert ask(CitationSupport(false, passage)).support == "none"


def test_three_quarters_of_something_are_a_percentage() -> None:
    told = ("Three quarters of the students passed.", "75 % of the students passed.")
    assert supported_share(told[0], (told[1],)) == supported_share(told[1], (told[0],)) == 1.0
    assert contradiction("It fell for three quarters.", ("It fell for 3 quarters.",)) is None


def test_what_stands_before_a_percentage_parts_no_later_words() -> None:
    words = parsed("A loss of 5% hit firms.").words
    assert [word.stem for word in words if not word.direct] == ["5"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The museum is closed on Mondays.", "The museum is not open on Mondays."),
        ("The museum is closed on Mondays.", "It is false that the museum is open on Mondays."),
        ("The team never lost in Orlun.", "The team won in Orlun."),
        ("The committee did not reject the plan.", "The committee accepted the plan."),
    ],
)
def test_a_denied_opposite_contradicts_nothing(one: str, other: str) -> None:
    assert contradiction(one, [other]) is None
    assert contradiction(other, [one]) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The museum is not closed on Mondays.", "The museum is not open on Mondays."),
        ("The committee did not accept the plan.", "The committee accepted the plan."),
        ("All members may enter the club.", "Some members may not enter the club."),
    ],
)
def test_an_opposite_that_both_deny_or_neither_does_contradicts(one: str, other: str) -> None:
    assert contradiction(one, [other]) is not None
    assert contradiction(other, [one]) is not None
