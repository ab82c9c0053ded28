"""A chunk is of use only where it holds what is asked for, and says of it what is asked."""

from __future__ import annotations

from typing import Any

import pytest

import ragassay
from ragassay import Answer, Passage, Sample
from ragassay.judges.offline.context_report.predicate import predicate
from ragassay.judges.offline.language.wanted import kind_of


def report(query: str, *chunks: str) -> dict[str, Any]:
    """The outcomes of the suite by metric."""
    sample = Sample(id="s", query=query, passages=tuple(map(Passage, chunks)), answer=Answer("x"))
    return {row.metric: row for row in ragassay.evaluate([sample], "ragreport").scores}


ASKED = [
    (
        "Who designed the Aarwyk bridge?",
        "The Aarwyk bridge was opened on 27 May 1937 in San Marcos.",
    ),
    ("How much does a ticket to the zoo cost?", "The zoo sells tickets online and at 12 desks."),
    ("How tall is Mount Orlun?", "Mount Orlun is 100 km from Burgh and last erupted in 1707."),
    ("How deep is Lake Orlun?", "Lake Orlun is 636 km long."),
    ("How long is the river Orl?", "The river Orl flows through 11 countries."),
    ("When was the zoo renovated?", "The zoo was renovated at the harbour and has 12 houses."),
    ("Where was Brandt born?", "Brandt died in Aarwyk in 1791."),
    ("When does the library close?", "The library opens at 9:00."),
    ("What is the capital of Orlunia?", "Orlunia has many large cities such as Burgh and Aarwyk."),
    ("How many people live in Aarwyk?", "Aarwyk is a city that was founded in 1250."),
    ("How many people attended the fair?", "Many people attended the fair of 1985."),
    ("How long did the war of Orlun last?", "The war of Orlun lasted well into 1918."),
]


@pytest.mark.parametrize(("query", "chunk"), ASKED, ids=[query for query, _ in ASKED])
def test_a_value_of_another_thing_than_the_query_asks_for_is_of_no_use(
    query: str, chunk: str
) -> None:
    rows = report(query, chunk)
    assert (rows["usefulness"].value, rows["attribution"].value) == (1, [])
    assert rows["relevance"].value >= 3


TOLD = [
    ("Who designed the Aarwyk bridge?", "Brandt designed the Aarwyk bridge in San Marcos."),
    ("Who wrote Orlun?", "Orlun is a 1965 novel written by Lena Brandt."),
    ("How much does a ticket to the zoo cost?", "A ticket to the zoo is €22 for adults."),
    ("How tall is Mount Orlun?", "Mount Orlun is 3,776 m high."),
    ("How deep is Lake Orlun?", "Lake Orlun is 1,642 metres deep and 636 km long."),
    ("When was the zoo renovated?", "The zoo was last renovated in 1989."),
    ("When did the Orlun sink?", "The Orlun sank on 15 April 1912 near Aarwyk."),
    ("Where was Brandt born?", "Brandt was born in Aarwyk in 1756."),
    ("What is the capital of Orlunia?", "Aarwyk is the capital of Orlunia."),
    ("How many people live in Aarwyk?", "About 522,000 people live in Aarwyk."),
    ("Who built the Orlun tower?", "The company of Lena van der Orlun built the Orlun tower."),
    ("Who wrote Orlun?", "Orlun is a 1965 novel by Lena Brandt."),
    ("Which country won the World Cup?", "Orlunia won the World Cup in 2018."),
    ("Who writes the Orlun Times?", "The Orlun Times is written by Lena Brandt."),
    ("Who makes the Orlun film?", "Lena Brandt made the Orlun film."),
    ("How tall is Mount Orlun?", "Mount Orlun rises to a height of 1900 metres."),
    ("How much did the Orlun bridge cost?", "The Orlun bridge cost a total of 1200 euros."),
    ("How high is the salary of the mayor?", "The mayor has a salary of 1800 euros a month."),
    ("How high is Mount Orlun?", "Mount Orlun has a height of 3,776 metres."),
    ("How many people attended the fair?", "A crowd of 1500 people attended the fair."),
]


@pytest.mark.parametrize(("query", "chunk"), TOLD, ids=[chunk for _, chunk in TOLD])
def test_a_value_of_what_the_query_asks_for_is_of_use(query: str, chunk: str) -> None:
    rows = report(query, chunk)
    assert rows["usefulness"].value >= 4 and rows["attribution"].value == [1]


OTHERWISE = [
    (
        ("When was the Orlun zoo renovated?", "The Orlun zoo opened in 1793 in Aarwyk."),
        'without "renovated"',
    ),
    (("Who designed the Orlun?", "The Orlun was opened by Lena Brandt."), 'without "designed"'),
    (("Who wrote the song Orlun?", "The song Orlun was sung by Lena Brandt."), 'without "wrote"'),
    (("How long did the war of Orlun last?", "The war of Orlun lasted from 1914 to 1918."), "time"),
    (("Who wrote the book Orlun?", "The book Orlun was read by Lena Brandt."), 'without "wrote"'),
    (("How many people live in Aarwyk?", "Aarwyk has 522,000 inhabitants."), 'without "people"'),
    (
        ("What is the capital of Orlunia?", "Aarwyk, the seat of Orlunia, was founded in 1913."),
        'the name of a place without "capital"',
    ),
    (
        (
            "When was the Aarwyk harbour bridge opened?",
            "The Aarwyk harbour bridge is red.",
            "It was opened in May 1937.",
        ),
        'chunk 2 holds what may be a date without "aarwyk", "harbour", "bridge"',
    ),
]


@pytest.mark.parametrize(("texts", "missing"), OTHERWISE, ids=[one[1] for one in OTHERWISE])
def test_where_the_kind_is_right_and_the_word_for_it_is_missing_words_do_not_tell(
    texts: tuple[str, ...], missing: str
) -> None:
    query, *chunks = texts
    rows = report(query, *chunks)
    for name in ("usefulness", "utilization", "attribution"):
        assert (rows[name].value, rows[name].reason) == (None, "unsupported")
        assert missing in rows[name].explanation
    assert rows["relevance"].value >= 3


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("When was the Louvre renovated?", "renovated"),
        ("How many people live in Lyon?", "live"),
        ("Who first wrote dune?", "wrote"),
        ("Who is the Patriot's coach?", "coach"),
        ("When did the war in Europe end?", "end"),
        ("When did the company move to Berlin?", "move"),
        ("where do guinea pigs sleep in the wild", "sleep"),
        ("How many members has the chess club?", ""),
        ("How many goals has the team from Lyon scored?", "scored"),
        ("How tall is Mount Fuji?", ""),
        ("Where is Berlin?", ""),
        ("What is the capital of Australia?", "capital"),
        ("Wann wurde die Brücke von Lyon eröffnet?", "eröffnet"),
        ("Why?", ""),
    ],
)
def test_the_word_that_says_what_is_asked_is_found_by_its_place(query: str, word: str) -> None:
    assert predicate(query) == word


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("What should I consider when buying a house?", "any"),
        ("What happens when the first user logs in?", "any"),
        ("When I say America, I mean the continent.", "any"),
        ("Do people who pay rent also pay tax?", "any"),
        ("When did it begin?", "date"),
        ("Do you have information when the first plant was built?", "date"),
        ("We live in different counties, where do I sue?", "name"),
        ("Do you know who built it?", "name"),
        ("What is the population of Iceland?", "number"),
    ],
)
def test_a_clause_with_when_or_who_asks_for_nothing(query: str, kind: str) -> None:
    assert kind_of(query) == kind


@pytest.mark.parametrize(
    ("query", "chunks"),
    [
        ("How many ECTS has the programme?", ["The master has 180 ECTS."]),
        ("How many ECTS has the programme?", ["Parking is free.", "The master has 180 ECTS."]),
        ("How tall is the tower?", ["Parking is free.", "Rice grows.", "The tower is 30 m tall."]),
    ],
)
def test_a_context_that_holds_the_answer_is_on_the_topic(query: str, chunks: list[str]) -> None:
    rows = report(query, *chunks)
    assert rows["usefulness"].value >= 4
    assert rows["relevance"].value >= rows["usefulness"].value
    assert f"Chunk {len(chunks)} holds what answers it" in rows["relevance"].explanation


@pytest.mark.parametrize(
    ("query", "chunk"),
    [
        ("Is the pool open on Sunday?", "The pool is closed on Sundays."),
        ("Is the pool open on Sunday?", "The pool is open on Sundays."),
        ("Is the pool open on Sunday?", "The pool is not open on Sundays."),
        ("Is the pool open on Sunday?", "The pool is open on Sundays if the sun shines."),
        ("Are dogs allowed in the park?", "Dogs are prohibited in the park."),
        ("We go on foot. Is smoking permitted in the hut?", "Smoking in the hut is forbidden."),
    ],
)
def test_a_yes_or_no_question_is_answered_by_its_words_or_their_opposite(
    query: str, chunk: str
) -> None:
    assert report(query, chunk)["usefulness"].value >= 4


@pytest.mark.parametrize(
    ("query", "chunk"),
    [
        ("Is the pool open on Sunday?", "The sauna is closed on Sundays."),
        ("Is the pool open on Sunday?", "The pool is closed in winter."),
        ("Is the pool open on Sunday?", "Is the pool closed on Sunday?"),
        ("Is the pool open on Sunday?", "Ask whether the pool is open on Sunday."),
        ("Is the pool open on Sunday?", "It is unclear if the pool is closed on Sunday."),
        ("Is the pool open on Sunday?", "Pool open Sunday. Pool open Sunday."),
        ("When is the pool open on Sunday?", "The pool is closed on Sundays."),
    ],
)
def test_what_does_not_settle_a_yes_or_no_question(query: str, chunk: str) -> None:
    value = report(query, chunk)["usefulness"].value
    assert value is None or value <= 2


AGENTS = [
    ("Who runs the canteen?", "The canteen is run by the faculty of law.", True),
    ("Who runs the canteen?", "The canteen is run by volunteers.", True),
    ("Who wrote the report?", "The report was written by a committee of experts.", True),
    ("Who runs the canteen?", "The canteen is run by selling lunches.", False),
    ("Who runs the canteen?", "The canteen has run for years by the river.", False),
    ("Who runs the canteen?", "It is unclear whether the canteen is run by volunteers.", False),
    ("Who runs the canteen?", "The library is run by the faculty of law.", False),
    ("Who built the canteen?", "The canteen was built by the end of May.", False),
    ("Who built the canteen?", "The canteen was built by hand.", False),
    ("Who built the canteen?", "The canteen was cleaned by the staff.", False),
]


@pytest.mark.parametrize(("query", "chunk", "told"), AGENTS)
def test_an_agent_needs_no_capitals(query: str, chunk: str, told: bool) -> None:
    value = report(query, chunk)["usefulness"].value
    assert (value is not None and value >= 4) is told
