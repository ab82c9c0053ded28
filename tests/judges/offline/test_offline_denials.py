"""Denials, replaced words and exchanged roles in near copies of the passages."""

from __future__ import annotations

import pytest

from ragassay.judges.offline.claims import supported_share
from ragassay.judges.offline.near_copies.alignment import compared, replaced
from ragassay.judges.offline.near_copies.contradictions import clauses, contradiction
from ragassay.judges.offline.near_copies.places import parsed

HOTEL = "The hotel has a swimming pool and free parking."
CAPITALS = "Paris is the capital of France. Berlin is the capital of Germany."


@pytest.mark.parametrize(
    ("false", "true"),
    [
        ("The hotel has no swimming pool and no free parking.", HOTEL),
        ("The hotel does not have a swimming pool and does not have free parking.", HOTEL),
        ("The hotel lacks a swimming pool and free parking.", HOTEL),
        ("The hotel has no pool but has parking.", "The hotel has no pool and no parking."),
        ("The hotel has no pool and has parking.", "The hotel has no pool and no parking."),
        ("The hotel has a pool but no parking.", "The hotel has no pool but has parking."),
        ("It is not true that coffee cures cancer.", "Coffee cures cancer."),
        ("It isn't true that coffee cures cancer.", "Coffee cures cancer."),
        ("It is false that coffee cures cancer.", "Coffee cures cancer."),
        ("It's not the case that coffee cures cancer.", "Coffee cures cancer."),
        ("Coffee cures cancer.", "It is a myth that coffee cures cancer."),
    ],
)
def test_denials_are_told_from_affirmations(false: str, true: str) -> None:
    assert supported_share(false, (true,)) == 0.0
    assert supported_share(true, (true,)) == 1.0


@pytest.mark.parametrize(
    ("false", "true"),
    [
        ("Pierre Curie discovered radium in 1898.", "Marie Curie discovered radium in 1898."),
        (
            "Pierre Curie discovered radium.",
            "Marie Curie discovered radium. Pierre Curie was a physicist.",
        ),
        ("Marie Curie discovered polonium in 1898.", "Marie Curie discovered radium in 1898."),
        ("Einstein described the comet in 1687.", "In May, Newton described the comet in 1687."),
        ("Berlin is the capital of France and Paris is the capital of Germany.", CAPITALS),
        ("Alice is 30 years old.", "Alice is 40 years old and Bob is 30 years old."),
    ],
)
def test_names_and_words_in_the_place_of_others_are_not_supported(false: str, true: str) -> None:
    assert supported_share(false, (true,)) == 0.0
    assert supported_share(true, (true,)) == 1.0


@pytest.mark.parametrize(
    ("false", "true"),
    [
        ("Germany was defeated by France in 1974.", "Germany defeated France in 1974."),
        ("Germany defeated France in 1974.", "Germany was defeated by France in 1974."),
        ("Eiffel's company was built by the tower.", "Eiffel's company built the tower."),
        ("The tower built Gustave Eiffel's company.", "Gustave Eiffel's company built the tower."),
        ("The film lost 25 million dollars.", "The film earned 25 million dollars."),
        ("Amazon sold Twitch in 2014.", "Amazon acquired Twitch in 2014."),
    ],
)
def test_exchanged_roles_and_opposites_are_not_supported(false: str, true: str) -> None:
    assert supported_share(false, (true,)) == 0.0
    assert supported_share(true, (true,)) == 1.0


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The hotel has neither a pool nor a gym.", "The hotel has no pool and no gym."),
        ("The hotel has no pool and no gym.", "The hotel does not have a pool or a gym."),
        ("The hotel has no pool, no gym and no bar.", "The hotel has no pool, gym or bar."),
        ("The hotel has a pool and no gym.", "The hotel has no gym and a pool."),
        ("It is false that the tower was open.", "The tower was not open."),
        ("It is not true that the tower was not built in 1889.", "The tower was built in 1889."),
        ("Germany was beaten by France in 1974.", "France beat Germany in 1974."),
        ("The tower was built by Eiffel's company.", "Eiffel's company built the tower."),
        ("The company was founded by Smith in 1990.", "The company founded by Smith in 1990."),
        ("The work was completed by noon in May.", "The work was completed at noon in May."),
        ("The price was increased by 5 percent in May.", "The price increased 5 percent in May."),
        ("Amazon purchased Twitch in 2014.", "Amazon acquired Twitch in 2014."),
        ("Bob is 30 years old.", "Alice is 40 years old and Bob is 30 years old."),
        ("In Oslo sales fell in 2020.", "In Oslo sales rose in 2019 and fell in 2020."),
        ("Marie Curie found radium and polonium.", "Marie Curie found polonium and radium."),
    ],
)
def test_the_same_in_other_words_contradicts_nothing(claim: str, passage: str) -> None:
    assert contradiction(claim, (passage,)) is None


def test_a_word_that_stands_in_the_passages_replaces_none() -> None:
    claim, passage = "The old plant makes bricks.", "The old plant makes tiles."
    assert contradiction(claim, (passage,)) == "word"
    assert contradiction(claim, (passage, "Bricks are made there as well.")) is None
    assert contradiction("Website: bricks.example", ("Website: tiles.example",)) is None
    word = replaced(parsed(claim), parsed(passage))
    assert word is not None and word.stem == "brick"
    assert replaced(parsed(passage), parsed(passage)) is None
    assert replaced(parsed("Many old bricks."), parsed(passage)) is None


def test_clauses_have_a_verb_each() -> None:
    assert len(clauses("Alice is 40 years old and Bob is 30 years old.")) == 2
    assert clauses("He saw Paris, Rome and Madrid in May 1990.") == ()
    assert clauses("The tower was built by Smith and Jones.") == ()


def test_by_and_a_participle_name_who_did_it() -> None:
    active = parsed("Germany beat France.")
    assert compared(parsed("Germany was beaten by France."), active) == "roles"
    assert compared(parsed("France was beaten by Germany."), active) != "roles"
    assert not parsed("They went by train.").agents
