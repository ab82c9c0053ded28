"""What a task says of all its records reaches its reports."""

from __future__ import annotations

from ragassay.base.sample import Answer, Sample, Turn
from ragassay.service.store.projects import TaskOptions
from ragassay.service.store.records import samples_of_task


def turn(name: str, session: str, query: str, answer: str | None, system: str = "") -> Sample:
    said = None if answer is None else Answer(answer)
    about = {"session_id": session}
    return Sample(id=name, system=system, query=query, answer=said, metadata=about)


TURNS = [
    turn("1", "a", "Where is the depot?", "In Leeds."),
    turn("2", "b", "Hello", "Hi."),
    turn("3", "a", "Who runs it?", "I do not know"),
    turn("4", "a", "And before?", "Mo."),
    turn("5", "a", "Who?", "Ann.", system="other"),
]


def test_the_default_answer_counts_as_no_answer() -> None:
    options = TaskOptions(default_answer="I do not  KNOW.")
    found = list(samples_of_task(TURNS, options))
    assert [one.id for one in found if one.answer is None] == ["3"]
    assert all(not one.history for one in found)


def test_turns_of_a_session_are_a_conversation_in_order_of_time() -> None:
    options = TaskOptions(multi_turn=True, default_answer="I do not know.")
    found = {one.id: one for one in samples_of_task(TURNS, options)}
    assert found["1"].history == found["2"].history == found["5"].history == ()
    assert found["3"].history == (Turn("user", "Where is the depot?"), Turn("agent", "In Leeds."))
    assert found["4"].history[2:] == (Turn("user", "Who runs it?"), Turn("agent", "I do not know"))
    assert found["4"].metadata["conversation_id"] == "a" and found["3"].answer is None
    assert list(samples_of_task(TURNS, TaskOptions())) == TURNS
