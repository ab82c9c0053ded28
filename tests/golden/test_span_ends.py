"""An edited span begins and ends with its own words, whatever is inserted beside it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from rapidfuzz.distance import Levenshtein

from ragassay.golden import anchor
from ragassay.golden.anchoring import MOST_CHANGED, Anchored
from ragassay.golden.documents import Document
from ragassay.golden.golden_item import GoldenItem, GoldSpan

GOLD = "A solar panel of 20 watts feeds the station. The battery lasts 9 days without sun."
POWER = f"# Power\n\n{GOLD} In winter the panel is cleaned of snow every week.\n"
SHORT = "New first paragraph here.\n\n"
LONG = "This page was last edited by Ann in 2026. It replaces the older page.\n\n"


def found_in(text: str, old: str = POWER, gold: str = GOLD) -> Anchored:
    start = old.index(gold)
    item = GoldenItem(id="q", query="q?", gold=[GoldSpan.of("d", old, start, start + len(gold))])
    [one] = anchor([item], {"d": Document("d", "d.md", text, "", "")})
    return one


@pytest.mark.parametrize("above", ["", SHORT, LONG, LONG.strip() + " "])
@pytest.mark.parametrize("below", ["", "\n\nThe parts are listed below.\n\n", "\n\nThe sun.\n\n"])
@pytest.mark.parametrize("now", ["12 days", "nine full days"])
def test_new_text_beside_an_edited_span_is_no_part_of_it(above: str, below: str, now: str) -> None:
    edited = GOLD.replace("9 days", now)
    one = found_in(POWER.replace(GOLD, f"{above}{edited}{below}"))
    assert (one.found, one.new and one.new.text) == ("changed", edited)


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ("A solar", "One solar"),
        ("A solar", "Our big solar"),
        ("A solar panel", "Solar panel"),
        ("sun.", "light."),
        ("sun.", "any sunlight."),
        ("days without", "days, which we tested in the dark, without"),
    ],
)
def test_edited_first_and_last_words_stay_within_their_sentence(then: str, now: str) -> None:
    edited = GOLD.replace(then, now)
    one = found_in(POWER.replace(GOLD, LONG.strip() + " " + edited))
    assert (one.found, one.new and one.new.text) == ("changed", edited)


def test_a_span_within_a_sentence_ends_at_what_stood_around_it() -> None:
    old = "The pool opens at nine in the morning on every day but Monday. Bring a towel."
    one = found_in(old.replace("opens", "closes"), old, "opens at nine in the morning")
    assert one.new is not None
    assert one.new.text == "closes at nine in the morning"


def test_characters_without_spaces_between_words_are_aligned_one_by_one() -> None:
    old = "# 电源\n\n一块二十瓦的太阳能板为站点供电。电池在没有阳光时可以用九天。冬天每周清雪。\n"
    gold = "电池在没有阳光时可以用九天。"
    one = found_in(old.replace(gold, "新的一句话在这里。" + gold.replace("九", "十二")), old, gold)
    assert (one.found, one.new and one.new.text) == ("changed", gold.replace("九", "十二"))


def test_white_space_at_the_ends_stays_with_the_span() -> None:
    one = found_in(POWER.replace("9 days", "12 days"), gold=GOLD + " ")
    assert one.new is not None
    assert one.new.text == GOLD.replace("9 days", "12 days") + " "


def station(n: int, days: str = "9") -> str:
    return f"The battery of station {n} lasts {days} days without sun, and is changed in autumn."


def test_an_edited_sentence_is_not_taken_for_its_neighbour_that_reads_alike() -> None:
    old = "# Power\n\n" + "\n\n".join(station(n) for n in range(5)) + "\n"
    for n in range(1, 4):
        one = found_in(old.replace(station(n), station(n, "twelve")), old, station(n))
        assert (one.found, one.new and one.new.text) == ("changed", station(n, "twelve"))
    beside = f"New words here.\n\n{station(2, 'twelve')}\n\nAnd here, too."
    one = found_in(old.replace(station(2), beside), old, station(2))
    assert one.new is None or one.new.text == station(2, "twelve")
    # Nothing tells which of the others it was.
    one = found_in(old.replace(station(2) + "\n\n", ""), old, station(2))
    assert (one.found, one.new) == ("ambiguous", None)
    assert len(one.places) > 1


INSERTED = st.lists(
    st.sampled_from(
        ["the", "a", "of", "solar", "battery", "Ann", "edited", "sun", "9", "days", "new"]
    ),
    min_size=3,
    max_size=14,
).map(lambda words: " ".join(words).capitalize() + ".")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    above=st.lists(INSERTED, max_size=2),
    below=st.lists(INSERTED, max_size=2),
    edits=st.dictionaries(
        st.integers(2, len(GOLD.split()) - 3),
        st.sampled_from(["", "12", "nine full", "the", "a new", "of"]),
        min_size=1,
        max_size=3,
    ),
)
def test_inserted_paragraphs_never_move_the_ends_of_an_edited_span(
    above: list[str], below: list[str], edits: dict[int, str]
) -> None:
    words = [edits.get(at, word) for at, word in enumerate(GOLD.split())]
    edited = " ".join(filter(None, words))
    upper, lower = ("".join(f"{one}\n\n" for one in ones) for ones in (above, below))
    text = POWER.replace(GOLD + " ", f"{upper}{edited}\n\n{lower}")
    one = found_in(text)
    if Levenshtein.normalized_distance(GOLD, edited) <= MOST_CHANGED / 2:
        assert one.new is not None
    if one.new is not None:
        assert one.new.text == edited


@pytest.mark.parametrize("n", [0, 3, 5])
def test_a_row_that_was_taken_out_is_not_taken_for_another_row(n: int) -> None:
    n_seats = (4, 2, 9, 3, 3, 8)
    rows = [f"| Room {at} | {seats} seats | heated |" for at, seats in enumerate(n_seats)]
    old = "\n".join(rows)
    one = found_in("\n".join(rows[:n] + rows[n + 1 :]), old, rows[n])
    assert one.new is None
    edited = [*rows[:n], rows[n].replace("heated", "cold"), *rows[n + 1 :]]
    one = found_in("\n".join(edited), old, rows[n])
    assert (one.found, one.new and one.new.text) == ("changed", edited[n])
