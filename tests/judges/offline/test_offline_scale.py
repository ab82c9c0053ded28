"""Many passages and long texts: the work grows with them, and what is not read is told."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import ragassay
from ragassay.cli import call
from ragassay.judges.offline import OfflineJudge, offline_judge
from ragassay.judges.offline.claims import supported_share
from ragassay.judges.offline.context_report.report_rules import worth
from ragassay.judges.offline.language import PreparedPassages, lists, piece, word_weights
from ragassay.judges.offline.language.word_weights import LONGEST
from ragassay.judges.offline.matching_rules import match
from ragassay.judges.question import Question
from ragassay.judges.questions.answering import AnswerAttempted, SaysIdk, SaysUnderspecified
from ragassay.judges.questions.context_report import Satisfaction
from ragassay.judges.questions.matching import AnswerMatch
from ragassay.judges.questions.nuggets import AssignNuggets, ExtractNuggets
from ragassay.judges.questions.rating import ReferenceRating
from ragassay.judges.verdict import Failure, Verdict
from ragassay.reports import write_reports
from ragassay.scores import Reason


def sample(n: int) -> dict[str, Any]:
    """A sample with so many different passages, on the query and beside it."""
    told = (
        "Bridge {0} of Aarwyk was opened in {1} by the mayor. Tram {0} crosses it every day.",
        "The harbour of Lindholm has {0} boats. Its museum was opened in {1}.",
    )
    texts = [told[at % 2].format(at, 1800 + at % 200) for at in range(n)]
    return {
        "id": "1",
        "query": "When was the Aarwyk bridge opened?",
        "passages": [{"id": str(at), "text": text} for at, text in enumerate(texts, 1)],
        "answer": "Bridge 0 of Aarwyk was opened in 1800 [1]. The museum is older [2] [4].",
    }


def calls(work: Callable[[], object]) -> int:
    """Function calls of some work, in all threads that it starts."""
    counts: dict[int, int] = {}

    def count(frame: FrameType, event: str, arg: object) -> None:
        if event in ("call", "c_call"):
            me = threading.get_ident()
            counts[me] = counts.get(me, 0) + 1

    threading.setprofile(count)
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return sum(counts.values())


def test_twice_the_passages_take_twice_the_work(tmp_path: Path) -> None:
    def run(n: int) -> None:
        """Trecrag with its reports."""
        result = ragassay.evaluate([sample(n)], "trecrag")
        result.save(tmp_path / str(n))
        write_reports(result, tmp_path / str(n))

    run(20)  # what is loaded and compiled once
    once, twice = (calls(lambda n=n: run(n)) for n in (1000, 2000))
    assert twice < 2.4 * once


@pytest.mark.parametrize("beyond", [0, 1])
def test_a_text_that_is_not_read_to_its_end_is_told_once_a_run(beyond: int) -> None:
    said = sample(3)
    said["passages"][1]["text"] = "The bridge is open. ".ljust(LONGEST + beyond, "x")
    result = ragassay.evaluate([said], ["umbrela", "umbrela_MRR", "nuggets.all"])
    told = [note for note in result.summary.warnings if "200,000 characters; " in note]
    assert told == beyond * [
        "1 text was longer than 200,000 characters; the offline judge read no more of it."
    ]


@pytest.mark.parametrize("beyond", [0, 1])
def test_explain_names_the_texts_that_are_not_read_to_their_end(
    beyond: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = sample(3)
    data["passages"][1]["text"] = "The bridge is open. ".ljust(LONGEST + beyond, "x")
    ragassay.evaluate([data], ["umbrela", "rl_f"]).save(tmp_path / "run")
    cuts = []
    for metric in ("umbrela", "rl_f"):
        assert call(["explain", str(tmp_path / "run"), "1", metric, "--json"]) == 0
        (score,) = json.loads(capsys.readouterr().out)["scores"]
        cuts += [record["cut"] for record in score["verdicts"] if "cut" in record]
    assert cuts == beyond * [["passage"], ["passages 2"]]
    assert call(["explain", str(tmp_path / "run"), "1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    told = "the offline judge read no more than 200,000 characters of: "
    assert said.count(told) == 2 * beyond
    assert (f"{told}passages 2" in said) is bool(beyond)


ANSWER = "The bridge in Aarwyk was opened in 1968 by Lena Brandt."


@pytest.fixture(params=[20_000, pytest.param(LONGEST, marks=pytest.mark.heavy)])
def longest(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How much of a text the judge reads, in characters."""
    for module in (word_weights, offline_judge):
        monkeypatch.setattr(module, "LONGEST", request.param)
    return int(request.param)


def filled(longest: int) -> str:
    """A text that fills what is read, and more."""
    return " ".join(f"Rice grew in field {at}." for at in range(longest // 20))


def about_a_long_text(*texts: str) -> dict[str, Any]:
    """The scores of the metrics that examine texts, by name."""
    passages = [{"id": str(at), "text": text} for at, text in enumerate(texts, 1)]
    said = {"id": "1", "query": "When was the bridge in Aarwyk opened?", "answer": f"{ANSWER} [1]"}
    names = ["umbrela", "rl_f", "citation.recall", "nuggets.all"]
    names += [f"ragreport_{name}" for name in REPORTED]
    result = ragassay.evaluate([{**said, "passages": passages}], names)
    return {row.metric: row for row in result.scores}


REPORTED = ("relevance", "usefulness", "utilization", "attribution")


def test_what_stands_behind_the_part_that_is_read_is_not_said_to_be_absent(longest: int) -> None:
    for row in about_a_long_text(filled(longest) + ANSWER).values():
        assert row.value is None and row.reason == "context_too_long", row
        assert f"{longest:,} characters" in row.explanation


def test_what_stands_in_the_part_that_is_read_is_said_to_be_there(longest: int) -> None:
    rows = about_a_long_text(f"{ANSWER} {filled(longest)}")
    assert rows["umbrela"].value >= 2 and rows["rl_f"].value == 1.0
    assert rows["citation.recall"].value == 1.0 and rows["nuggets.all"].value == 1.0
    assert rows["ragreport_usefulness"].value >= 4 and rows["ragreport_relevance"].value >= 4
    assert rows["ragreport_attribution"].value == [1]
    assert rows["ragreport_utilization"].reason == "context_too_long", "a share of what was read"


def test_a_long_text_beside_one_that_holds_it_all_costs_nothing_but_what_rests_on_it(
    longest: int,
) -> None:
    rows = about_a_long_text(ANSWER, filled(longest))
    assert rows["rl_f"].value == 1.0 and rows["citation.recall"].value == 1.0
    assert rows["ragreport_usefulness"].value >= 4
    assert rows["ragreport_attribution"].reason == "context_too_long"


CUT: dict[str, Callable[[str], Question[Any]]] = {
    "nuggets": lambda text: ExtractNuggets("When was the bridge opened?", (text,)),
    "assigned": lambda text: AssignNuggets(
        "When was the bridge opened?", text, ("bridge opened in 1968",)
    ),
    "match": lambda text: AnswerMatch("Where is the bridge?", text, ("In Aarwyk.",)),
    "rating": lambda text: ReferenceRating(
        "", "When was it opened?", "In 1968.", "By Lena Brandt.", (text,)
    ),
    "satisfaction": lambda text: Satisfaction("Is the bridge in Aarwyk closed?", text),
    "attempted": lambda text: AnswerAttempted("When was it opened?", declined(text)),
    "declined": lambda text: SaysIdk("user: When was it opened?", declined(text)),
    "says idk": lambda text: SaysIdk("user: When was it opened?", text),
    "underspecified": lambda text: SaysUnderspecified("user: When?", text),
}
"""Questions about a text."""


def declined(text: str) -> str:
    """A refusal of the same length."""
    return "I do not know. ".ljust(len(text))


@pytest.mark.parametrize("name", CUT)
def test_no_answer_says_what_a_text_lacks_that_was_cut(name: str, longest: int) -> None:
    question = CUT[name](filled(longest))
    found = OfflineJudge().known(question)
    assert isinstance(found, Failure) and found.reason == "context_too_long"
    short = {
        name: tuple(one[:longest] for one in value) if isinstance(value, tuple) else value[:longest]
        for name in ("passages", "answer")
        if isinstance(value := getattr(question, name, None), str | tuple)
    }
    assert isinstance(OfflineJudge().known(dataclasses.replace(question, **short)), Verdict)


LONG: dict[str, Callable[[int], tuple[Any, ...]]] = {
    "an answer of many claims": lambda n: (
        supported_share,
        said := " ".join(f"Tower{at} was built by Smith{at} in Aarwyk." for at in range(2 * n)),
        (said,),
    ),
    "a sentence": lambda n: (
        supported_share,
        said := " ".join(f"Name{at}" for at in range(4 * n)),
        (f"{said} x",),
    ),
    "a query": lambda n: (
        worth,
        " ".join(f"word{at}" for at in range(4 * n)),
        " ".join(f"The word{at} is a word{at + 1} of the text." for at in range(n)),
    ),
    "a query for a name and a title": lambda n: (
        worth,
        "Who built the " + " ".join(f"word{at}" for at in range(4 * n)),
        " ".join(f"Word{at}" for at in range(4 * n))
        + "\n"
        + " ".join(f"The word{at} is by Name{at} Brandt in Aarwyk." for at in range(n)),
    ),
    "numbers": lambda n: (
        worth,
        "How tall is the tower?",
        "The tower has " + " ".join(f"{at} metres from Aarwyk," for at in range(4 * n)),
    ),
    "a reference": lambda n: (
        match,
        AnswerMatch(
            "How tall?",
            said := " ".join(f"The tower {at} is {at} metres tall." for at in range(n)),
            (f"{said} It is red.",),
        ),
    ),
}
"""The function that reads a text of a length, and what it gets."""


def work_of(name: str, n: int) -> int:
    """Function calls for a text, with no answer kept from before."""
    for name_of, module in list(sys.modules.items()):
        if name_of.startswith("ragassay.judges.offline"):
            for cached in list(vars(module).values()):
                if hasattr(cached, "cache_clear") and cached.__module__ != lists.__name__:
                    cached.cache_clear()
    function, *given = LONG[name](n)
    return calls(lambda: function(*given))


SLOW = ("an answer of many claims", "a reference")
"""Texts whose work takes seconds to count."""


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.heavy] * (one in SLOW)) for one in LONG]
)
def test_four_times_the_length_takes_four_times_the_work(name: str) -> None:
    work_of(name, 50)  # what is loaded and compiled once
    once, four = (work_of(name, n) for n in (250, 1000))
    assert four < 5 * once


def test_neighbouring_sentences_share_a_window_in_passages_of_any_length() -> None:
    letters = str.maketrans("0123456789", "bcdfghjklm")
    words = [f"z{at:04}".translate(letters) for at in range(2500)]
    for n in (999, 1000, 2000, 2500):
        evidence = PreparedPassages((" ".join(f"{word.capitalize()}." for word in words[:n]),))
        for at in (0, 1, 500, n - 4, n - 3):
            three = piece(" ".join(words[at : at + 3]))
            assert len(three.stems) == 3 and evidence.coverage(three) == 1, (n, at)
    evidence = PreparedPassages((" ".join(f"{word.capitalize()}." for word in words[:999]),))
    assert evidence.coverage(piece(" ".join(words[:4]))) == 0.75


@pytest.mark.parametrize(
    ("answer", "reference", "rating"),
    [
        ("I do not know.", "It was opened in 1901.", 1),
        ("It was opened in 1901.", "I do not know.", 1),
        ("I do not know.", "I do not know.", 10),
        ("It was opened in 1950.", "It was opened in 1901.", None),
    ],
)
def test_who_declines_is_rated_also_where_passages_are_not_read_to_their_end(
    answer: str, reference: str, rating: int | None
) -> None:
    passage = "The bridge is open. ".ljust(LONGEST + 1, "x")
    question = ReferenceRating("", "When was the bridge opened?", reference, answer, (passage,))
    said = asyncio.run(OfflineJudge().answer(question))
    if rating is None:
        assert isinstance(said, Failure) and said.reason is Reason.CONTEXT_TOO_LONG
    else:
        assert isinstance(said, Verdict) and said.answer.rating == rating
