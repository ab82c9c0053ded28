"""Lists that a judge fills as it likes: at once, one entry at a time, or anything between."""

from __future__ import annotations

import random
from typing import Any

import pytest
from test_plan import Oracle, make, run

from planned import plan_calls
from ragassay.judges.question import Question
from ragassay.judges.questions.checklists import ExtractNuggets, NuggetList
from ragassay.judges.questions.grading import RelevanceGrade
from ragassay.metrics.core import naming
from valid_answers import largest, smallest

METRICS = ["nuggets.all", "nuggets.vital", "umbrela", "nuggets(window=3,batch=4,iterations=7).all"]


class Lister(Oracle):
    """Finds most passages relevant, and names as many new nuggets as its habit is."""

    def __init__(self, seed: int, habit: str) -> None:
        super().__init__(seed)
        self.habit = habit

    def _answer(self, question: Question[Any], draw: random.Random) -> Any:
        if isinstance(question, RelevanceGrade):
            return largest(question) if draw.random() < 0.9 else smallest(question)
        if not isinstance(question, ExtractNuggets):
            return super()._answer(question, draw)
        room = max(0, question.most - len(question.known))
        habits = {"one": 1, "all": room, "some": draw.randint(1, 3), "any": draw.randint(0, room)}
        new = range(min(room, habits[self.habit]))
        return NuggetList(nuggets=tuple(f"n{draw.random()}" for _ in new))


@pytest.mark.parametrize("habit", ["one", "all", "some", "any"])
@pytest.mark.parametrize("depth", [1, 10, 11, 25, 40])
def test_however_a_judge_fills_a_list_the_interval_holds_its_questions(
    habit: str, depth: int
) -> None:
    metrics = {name: naming.parse(name) for name in METRICS}
    for names in (METRICS[:3], METRICS):
        chosen = {name: metrics[name] for name in names}
        samples, judge = make(2, systems=2, depth=depth), Lister(depth, habit)
        plan = plan_calls(samples, chosen, judge)
        run(samples, chosen, judge)
        assert plan.total.calls.low <= len(judge.asked) <= plan.total.calls.high
        assert not plan.failed
