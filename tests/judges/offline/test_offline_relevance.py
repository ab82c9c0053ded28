"""What raises the offline judge's grade of a passage, and what the conversation does to it."""

from __future__ import annotations

import hashlib
import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[3]))

from benchmarks import agreement

import ragassay
from ragassay import Sample, examples
from ragassay.judges.asking import Asker
from ragassay.judges.llm import token_estimate
from ragassay.judges.offline import OfflineJudge
from ragassay.judges.offline.context_report.report_rules import worth
from ragassay.judges.offline.language.wanted import kind_of
from ragassay.judges.offline.relevance_rules import grade, look
from ragassay.judges.question import Question
from ragassay.judges.questions.relevance import RelevanceGrade
from ragassay.judges.verdict import Failure, Verdict
from ragassay.metrics.core import naming
from ragassay.metrics.core.window import Window
from ragassay.samples import Answer, Passage, Turn

OPENED = "The bridge of Aarwyk was opened by the old king of the country on a windy day."
COST = "For the bridge the council paid dearly: the cost was twelve million crowns."
FIRST = "When was the Aarwyk bridge opened?"
SECOND = "What did the bridge of Aarwyk cost?"


def score(query: str, passage: str, *earlier: str) -> float:
    return look(query, passage, earlier).score


def test_the_grade_ranks_passages_as_people_do(shared: Path) -> None:
    grades, n = agreement.graded(True)
    scores, _ = agreement.graded(False)
    assert n == 1674
    assert grades >= 0.76
    assert scores >= 0.77


@pytest.mark.parametrize("part", agreement.PARTS)
def test_the_page_prints_the_agreement_of_relevance(part: str, shared: Path) -> None:
    page = Path(__file__).resolve().parents[3] / "docs" / "offline-judge.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    (line,) = [line for line in lines if line.startswith(f"| {part} |")]
    n, grades, scores = (cell.strip() for cell in line.split("|")[2:5])
    assert int(n.replace(",", "")) == agreement.graded(True, part)[1]
    assert float(grades) == pytest.approx(agreement.graded(True, part)[0], abs=0.0006)
    assert float(scores) == pytest.approx(agreement.graded(False, part)[0], abs=0.0006)


@pytest.mark.parametrize("name", ["umbrela_MRR", "umbrela_AP@5", "umbrela_nDCG@5"])
def test_the_bundled_system_that_ranks_better_by_its_gold_does_so_by_grades(name: str) -> None:
    means = {
        system: ragassay.evaluate(examples.path_of(system), ["nDCG@10", name]).summary.metrics
        for system in ("hybrid", "keyword")
    }
    for metric in ("nDCG@10", name):
        better, worse = (means[system][metric].mean for system in ("hybrid", "keyword"))
        assert better is not None and worse is not None and better > worse


def test_words_together_count_for_more_than_words_apart() -> None:
    together = "The Aarwyk bridge is green and lit. Many tourists of the town come by tram."
    apart = "The town of Aarwyk is green and lit. Many tourists of the bridge come by tram."
    assert score("Aarwyk bridge", together) > score("Aarwyk bridge", apart)


def test_a_word_in_more_sentences_counts_for_more_and_ever_less() -> None:
    said = "The bridge has many green lamps. "
    found = [score("Aarwyk bridge", said * n) for n in (1, 2, 3, 4)]
    steps = [later - sooner for sooner, later in pairwise(found)]
    assert all(step > 0 for step in steps) and steps == sorted(steps, reverse=True)
    assert found[-1] < 0.5


def test_the_best_sentence_of_a_query_counts_and_thanks_do_not() -> None:
    alone = score(SECOND, COST)
    assert score(f"I wonder about the harbour museum of Lindholm. {SECOND}", COST) == alone
    assert score(f"Thanks a lot! {SECOND}", COST) == alone
    assert score(f"Thanks a lot! {SECOND}", "Thanks a lot for coming to our party.") < 0.1


def test_what_the_query_adds_to_the_conversation_counts_for_more() -> None:
    assert score(SECOND, COST, FIRST) > score(SECOND, COST)
    assert score(SECOND, OPENED, FIRST) < score(SECOND, OPENED)


def test_a_query_without_words_of_its_own_takes_those_of_the_latest_turn_with_some() -> None:
    assert grade("And why?", COST) == 0
    assert grade("And why?", COST, (SECOND, "Why?")) == grade(SECOND, COST, (SECOND,)) > 0


def test_earlier_turns_change_no_prompt_and_no_question_without_them() -> None:
    plain, with_earlier = RelevanceGrade("q", "p"), RelevanceGrade("q", "p", earlier=(FIRST,))
    assert plain.data == {"query": "q", "passage": "p", "shots": "zero"}
    body = json.dumps(["relevance_grade", plain.version, plain.data], sort_keys=True)
    assert plain.key == hashlib.sha256(body.encode()).hexdigest()[:32], "as without the field"
    assert with_earlier.key != plain.key
    for model in ("", "gpt-oss-20b"):
        assert with_earlier.messages(model) == plain.messages(model)
        assert token_estimate.of_question(with_earlier, model) == token_estimate.of_question(
            plain, model
        )
    assert token_estimate.of_question(RelevanceGrade("q", "p", earlier=(FIRST * 9,))) == (
        token_estimate.of_question(plain)
    )


class Listening(OfflineJudge):
    """The offline judge, which remembers the questions that it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Question[Any]] = []

    async def answer(self, question: Question[Any], repeat: int = 0) -> Verdict[Any] | Failure:
        self.asked.append(question)
        return await super().answer(question, repeat)


@pytest.mark.parametrize("name", ["umbrela", "umbrela_MRR", "nuggets.all"])
def test_metrics_tell_the_users_earlier_turns(name: str) -> None:
    history = (Turn("user", FIRST), Turn("agent", "In 1968."), Turn("user", "Thanks"))
    judge = Listening()
    with Asker(judge) as asker:
        for turns in (history, ()):
            sample = Sample(
                id="1",
                query=SECOND,
                history=turns,
                passages=(Passage(COST), Passage(OPENED)),
                answer=Answer("Twelve million crowns."),
            )
            Window([sample], asker).outcomes(naming.parse(name))
    told = [one.earlier for one in judge.asked if isinstance(one, RelevanceGrade)]
    assert told == [(FIRST, "Thanks")] * 2 + [()] * 2


@pytest.mark.parametrize(
    ("query", "chunk"),
    [
        ("How long does the flight take?", "The flight does take off on time and is long."),
        ("What does a permit cost?", "A permit does cost money; the office issues the permit."),
        ("How expensive is the ticket?", "The ticket is expensive, say most of the visitors."),
        ("What is the price of a ticket?", "The price of a ticket is on the sign at the gate."),
    ],
)
def test_a_query_for_a_number_finds_a_chunk_without_one_of_little_use(
    query: str, chunk: str
) -> None:
    assert kind_of(query) == "number"
    assert worth(query, chunk).stars == 1
