"""AutoNuggetizer: making nuggets within its limits, and the six scores."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ragassay import Answer, Passage, Reason, Sample, Score, Unscored
from ragassay.base.score import Outcome
from ragassay.engine.run.scoring import score_stream
from ragassay.judges.asking import Asker
from ragassay.judges.question import Question
from ragassay.metrics.core import naming
from ragassay.metrics.nuggets.nugget_recall import Distinct, NuggetScore, nugget_score
from ragassay.reports.tables.ore_values import published_nugget_score
from scripted_judge import Scripted

ALL: tuple[NuggetScore, ...] = (
    "all", "all_strict", "vital", "vital_strict", "weighted", "weighted_strict",
)  # fmt: skip
FACTS = [f"fact about topic {at}" for at in range(100)]


class Nuggetizer:
    """A judge that says every nugget in ``rounds`` once, round by round."""

    def __init__(
        self,
        *rounds: list[str],
        grade: int = 2,
        vital: Callable[[str], bool] = lambda text: True,
        held: Callable[[str], str] = lambda text: "support",
        fails: str = "",
    ) -> None:
        self.rounds = list(rounds)
        self.grade, self.vital, self.held, self.fails = grade, vital, held, fails
        self.judge = Scripted(self)

    def __call__(self, question: Question[Any]) -> Any:
        data = question.data
        if question.kind == self.fails:
            return Reason.TIMEOUT
        match question.kind:
            case "relevance_grade":
                return {"match": 1, "trust": 1, "grade": self.grade}
            case "extract_nuggets":
                return {"nuggets": self.rounds.pop(0) if self.rounds else []}
            case "nugget_importance":
                return {"labels": ["vital" if self.vital(n) else "okay" for n in data["nuggets"]]}
            case _:
                return {"labels": [self.held(n) for n in data["nuggets"]]}

    def asked(self, kind: str) -> list[dict[str, Any]]:
        return [one.data for one in self.judge.questions if one.kind == kind]


def sample(n: int = 2, **fields: Any) -> Sample:
    passages = tuple(Passage(f"passage {at}") for at in range(n))
    base = {"id": "q", "query": "what?", "answer": Answer("an answer"), "passages": passages}
    return Sample(**(base | fields))


def outcomes(names: str, said: Nuggetizer, one: Sample) -> list[Outcome]:
    with Asker(said.judge) as asker:
        ((_, found),) = score_stream([one], list(naming.metrics_by_name(names).values()), asker)
        return [column[0] for column in found]


def outcome(name: str, said: Nuggetizer, one: Sample | None = None) -> Outcome:
    return outcomes(name, said, one or sample())[0]


def nuggets(name: str, said: Nuggetizer, one: Sample | None = None) -> list[str]:
    found = outcome(name, said, one)
    assert isinstance(found, Score)
    return list(found.parts["nuggets"])


# --- the six scores


def test_the_published_fixture_comes_out_and_no_vital_nugget_is_no_vital_score() -> None:
    labels, held = ("vital", "okay"), ("support", "partial_support")
    found = [nugget_score(which, labels, held) for which in ALL]
    assert found == pytest.approx([0.75, 0.5, 1.0, 1.0, 0.8333, 0.6667], abs=5e-5)
    labels, held = ("okay", "okay"), ("support", "not_support")
    assert nugget_score("vital", labels, held) is None
    assert nugget_score("weighted", labels, held) == 0.5
    assert published_nugget_score("vital", labels, held) == 0.0
    assert published_nugget_score("all", (), ()) == published_nugget_score("vital", (), ()) == 0.0


LABELLED = st.lists(
    st.tuples(
        st.sampled_from(["vital", "okay"]),
        st.sampled_from(["support", "partial_support", "not_support"]),
    ),
    min_size=1,
    max_size=30,
)


@given(LABELLED)
def test_strict_never_exceeds_lenient_and_the_tool_agrees_where_both_kinds_are_there(pairs) -> None:
    labels, held = zip(*pairs, strict=True)
    for which in ("all", "vital", "weighted"):
        lenient = nugget_score(which, labels, held)  # type: ignore[arg-type]
        strict = nugget_score(f"{which}_strict", labels, held)  # type: ignore[arg-type]
        assert (lenient is None) == (strict is None) == (which == "vital" and "vital" not in labels)
        if lenient is not None and strict is not None:
            assert 0 <= strict <= lenient <= 1
    if {*labels} == {"vital", "okay"}:
        for name in ALL:
            ours = nugget_score(name, labels, held)
            assert published_nugget_score(name, labels, held) == pytest.approx(ours)


# --- the limits, kept in code


def test_rounds_end_when_nothing_new_comes_or_after_as_many_as_one_says() -> None:
    said = Nuggetizer(FACTS[:3], FACTS[3:5], [FACTS[0].upper() + "."])
    assert nuggets("nuggets.all", said) == FACTS[:5]
    asked = said.asked("extract_nuggets")
    assert [len(data["known"]) for data in asked] == [0, 3, 5]
    rounds = [[fact] for fact in FACTS[:10]]
    assert len(nuggets("nuggets.all", Nuggetizer(*rounds))) == 5
    assert len(nuggets("nuggets(iterations=2).all", Nuggetizer(*rounds))) == 2


def test_too_many_nuggets_are_cut_at_the_limit_and_those_over_12_words_left_out_whole() -> None:
    said = Nuggetizer(FACTS[:45])
    assert nuggets("nuggets(best=100).all", said) == FACTS[:30]
    assert len(said.asked("extract_nuggets")) == 1, "the list is full after the first round"
    assert nuggets("nuggets(most=7).all", Nuggetizer(FACTS[:45])) == FACTS[:7]
    long = " ".join(["word"] * 13)
    assert nuggets("nuggets.all", Nuggetizer([long, "", " ... ", "Paris is  the capital"])) == [
        "Paris is the capital"
    ]
    found = outcome("nuggets.all", Nuggetizer([long]))
    assert isinstance(found, Unscored) and found.reason is Reason.NOTHING_RETRIEVED
    assert "longer than 12 words" in found.detail
    assert nuggets("nuggets(words=13).all", Nuggetizer([long])) == [long]


def test_the_best_20_are_kept_vital_first_and_labels_come_in_batches_of_10() -> None:
    said = Nuggetizer(FACTS[:30], vital=lambda text: int(text.split()[-1]) % 2 == 1)
    found = nuggets("nuggets.all", said)
    assert found == FACTS[1:30:2] + FACTS[0:10:2]
    assert len(found) == 20
    said = Nuggetizer(FACTS[:23])
    outcome("nuggets.all", said)
    assert [len(d["nuggets"]) for d in said.asked("nugget_importance")] == [10, 10, 3]
    assert [len(d["nuggets"]) for d in said.asked("assign_nuggets")] == [10, 10]
    said = Nuggetizer(FACTS[:23])
    outcome("nuggets(batch=4,best=6).all", said)
    assert [len(d["nuggets"]) for d in said.asked("nugget_importance")] == [4, 4, 4, 4, 4, 3]
    assert [len(d["nuggets"]) for d in said.asked("assign_nuggets")] == [4, 2]


def test_only_passages_of_the_grade_are_read_and_each_window_has_its_share_of_the_room() -> None:
    said = Nuggetizer(FACTS[:1])
    grades = {"a": 0, "b": 1, "aa": 1, "c": 3}
    said.judge.said = lambda q: (
        {"match": 0, "trust": 0, "grade": grades[q.data["passage"]]}
        if q.kind == "relevance_grade"
        else said(q)
    )
    one = sample(passages=tuple(Passage(text) for text in ("a", "b", "c", "b", "aa")))
    outcome("nuggets.all", said, one)
    assert said.asked("extract_nuggets")[0]["passages"] == ("c", "b", "aa"), "best grades first"
    said = Nuggetizer(FACTS[:40], FACTS[40:80], FACTS[80:])
    found = nuggets("nuggets(best=100,most=31).all", said, sample(n=25))
    assert found == FACTS[:11] + FACTS[40:50] + FACTS[80:90]
    assert [len(d["passages"]) for d in said.asked("extract_nuggets")] == [10, 10, 5]
    said = Nuggetizer(FACTS[:1])
    outcome("nuggets(window=9).all", said, sample(n=25))
    assert [len(d["passages"]) for d in said.asked("extract_nuggets")][:3] == [9, 9, 7]
    assert outcome("nuggets(min_grade=3).all", Nuggetizer(FACTS[:1])).reason == "nothing_retrieved"
    outcome("nuggets_ore.all", said := Nuggetizer(FACTS[:1], grade=0))
    assert said.asked("extract_nuggets")[0]["passages"] == ("passage 0", "passage 1")


# --- what is scored, what is not


def test_six_scores_cost_one_set_of_questions() -> None:
    said = Nuggetizer(FACTS[:4], vital=lambda text: "1" in text, held=lambda text: "support")
    found = outcomes(",".join(f"nuggets.{which}" for which in ALL), said, sample())
    assert all(isinstance(one, Score) for one in found)
    kinds = said.judge.asked
    assert kinds.count("relevance_grade") == 2 and kinds.count("extract_nuggets") == 2
    assert kinds.count("nugget_importance") == kinds.count("assign_nuggets") == 1


@pytest.mark.parametrize(
    ("one", "grade"), [(sample(), 0), (sample(passages=()), 3)], ids=["irrelevant", "nothing"]
)
def test_bad_retrieval_and_a_refusal_is_never_a_perfect_score(one: Sample, grade: int) -> None:
    found = outcome("nuggets.vital", Nuggetizer(FACTS[:3], grade=grade), one)
    assert isinstance(found, Unscored) and found.reason is Reason.NOTHING_RETRIEVED


@pytest.mark.parametrize(
    "fails", ["relevance_grade", "extract_nuggets", "nugget_importance", "assign_nuggets"]
)
def test_a_failure_on_the_way_is_never_a_neutral_half(fails: str) -> None:
    assert outcome("nuggets.all", Nuggetizer(FACTS[:3], fails=fails)).reason is Reason.TIMEOUT


def test_an_empty_answer_holds_nothing_and_what_is_missing_is_said() -> None:
    said = Nuggetizer(FACTS[:3])
    assert outcome("nuggets.all", said, sample(answer=Answer(" \n"))).value == 0.0
    assert "assign_nuggets" not in said.judge.asked
    for fields in ({"passages": None}, {"answer": None}, {"passages": (Passage(id="d"),)}):
        found = outcome("nuggets.all", Nuggetizer(FACTS[:1]), sample(**fields))
        assert isinstance(found, Unscored) and found.reason is Reason.MISSING_INPUT


# --- near-duplicates


@pytest.mark.parametrize(
    ("one", "other"),
    [("Seven planets have moons", "seven planets have a moon."),
     ("The sun is a star", "Sun: star"), ("It doesn’t rain", "it doesn't rain!")],
)  # fmt: skip
def test_one_fact_in_two_wordings_is_one_nugget(one: str, other: str) -> None:
    assert Distinct((one, other), words=20).texts == [one]
    assert Distinct((other, one), words=20).texts == [other]


@pytest.mark.parametrize(("one", "other"), [
    ("Founded in 1984", "Founded in 1985"),
    ("Coffee is good for the heart", "Coffee is not good for the heart"),
    ("Mars has two moons", "Mars has two small moons"),
    ("Google acquired YouTube", "YouTube acquired Google"),
    ("The dose is 5 mg", "The dose is 50 mg"),
])  # fmt: skip
def test_two_facts_stay_two(one: str, other: str) -> None:
    assert Distinct((one, other), words=20).texts == [one, other]


# --- the whole list in each reply, as published


def test_a_refined_list_replaces_the_one_before() -> None:
    bridge, opened, trams = "bridge over the harbour", "opened in spring 1968", "carries trams"
    said = Nuggetizer([bridge, trams], [bridge, opened], [bridge, opened])
    assert nuggets("nuggets(refined=true)", said) == [bridge, opened]
    asked = said.asked("extract_nuggets")
    assert [one.get("known") for one in asked] == [(), (bridge, trams), (bridge, opened)]
    assert all(one["refined"] and one["most"] == 30 for one in asked)
    assert said.judge.questions[2].template("") == "extract_nuggets_refined"
    assert nuggets("nuggets(refined=true,most=1)", Nuggetizer([bridge, trams])) == [bridge]
