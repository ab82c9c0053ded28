import math
from typing import Any

import pytest

from ragassay import Turn
from ragassay.base.errors import InputError
from ragassay.base.sample import Answer, Answerability, GoldPassage, Passage, Sample, Statement


@pytest.mark.parametrize(("made", "said"), [
    (lambda: Passage(text="x", score=math.nan), r"passages\.score.*finite"),
    (lambda: Passage(text="x", score=math.inf), r"passages\.score.*finite"),
    (lambda: GoldPassage(document="d", start=5, end=3), r"gold\.end"),
    (lambda: Passage(start=-1, end=3), r"passages\.start"),
    (lambda: GoldPassage(grade=2), "neither an id, a text nor a document"),
    (lambda: Sample(id=""), "no id"), (lambda: Sample(id="q", repeat=-1), "repeat is -1"),
    (lambda: Sample(id="q", timestamp=math.nan), "timestamp"), (lambda: Passage(end=-3), r"\.end"),
    (lambda: Sample(id="q", query=5), "query"),  # type: ignore[arg-type]
    (lambda: Statement("x", (1,)), "citations"),  # type: ignore[arg-type]
    (lambda: Answer("x", ("y",)), "statements"),  # type: ignore[arg-type]
])  # fmt: skip
def test_an_impossible_part_is_refused(made: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        made()


def test_an_error_says_where_what_and_what_to_do() -> None:
    error = InputError("is not a number", path="a.csv", line=3, field="score", hint="Mend it.")
    assert str(error) == "a.csv, line 3, field 'score': is not a number. Mend it."
    assert str(InputError("bad").at(path="x", line=2)) == "x, line 2: bad."


def test_a_plain_text_is_one_answer_or_one_reference_and_never_its_characters() -> None:
    sample = Sample(id="q", answer="Rome", references="Rome")  # type: ignore[arg-type]
    assert sample.answer is not None and sample.answer.text == "Rome"
    assert sample.references == ("Rome",) == Passage(names="Rome").names  # type: ignore[arg-type]


def test_lists_are_tuples_so_that_nothing_empty_passes_for_something() -> None:
    listed: dict[str, Any] = {
        "history": [Turn("user", "a")], "passages": [], "references": ["a", "b"],
        "reference_groups": [["a"], ["b"]], "negative_references": ["c"],
        "gold": [GoldPassage(id="g")], "runs": [Sample(id="q")],
    }  # fmt: skip
    answer = Answer("x", [Statement("x", ["1"])])  # type: ignore[arg-type]
    sample = Sample(id="q", answer=answer, **listed)
    assert sample == Sample(
        id="q", answer=Answer("x", (Statement("x", ("1",)),)), history=(Turn("user", "a"),),
        passages=(), references=("a", "b"), reference_groups=(("a",), ("b",)),
        negative_references=("c",), gold=(GoldPassage(id="g"),), runs=(Sample(id="q"),),
    )  # fmt: skip
    assert {type(getattr(sample, name)) for name in listed} == {tuple}
    hash(sample.answer)


def test_absent_lists_stay_absent_only_where_that_means_something() -> None:
    sample = Sample(id="q", passages=None, gold=None, references=None)  # type: ignore[arg-type]
    assert sample.passages is None and sample.gold is None and sample.references == ()


@pytest.mark.parametrize("text", ["UNANSWERABLE", "unanswerable", "Unanswerable"])
def test_the_text_of_a_label_is_the_label(text: Any) -> None:
    assert Sample(id="q", answerability=text).answerability is Answerability.UNANSWERABLE


def test_what_is_possible_is_kept_as_it_is() -> None:
    sample = Sample(id="q", timestamp=0.0, language="de", runs=[Sample(id="q")])  # type: ignore[arg-type]
    assert (sample.timestamp, sample.language, sample.identity) == (0.0, "de", ("q", "", 0))
    assert (sample.query_text, sample.answer_text, sample.runs[0].id) == ("", "", "q")
    assert not sample.passages_prescribed and Sample(id="q", repeat=2).identity[2] == 2
    assert Passage(start=0, end=0).end == 0 and GoldPassage(text="t").text == "t"
    assert GoldPassage(document="d", start=3).grade == 1
    texts = Sample(id="q", references=["a"], history=(Turn("user", "b"),))  # type: ignore[arg-type]
    assert texts.references == ("a",) and texts.history[0].text == "b"
    for parts, words in {"references": ([1], "Give texts"), "history": ([1], "Give Turn")}.items():
        with pytest.raises(InputError, match=words[1]):
            Sample(id="q", **{parts: words[0]})  # type: ignore[arg-type]


def test_references_left_out_are_those_of_the_groups() -> None:
    groups: Any = [["a", "b"], "c"]
    sample = Sample(id="q", reference_groups=groups)
    assert sample.reference_groups == (("a", "b"), ("c",))
    assert sample.references == ("a", "b", "c")


@pytest.mark.parametrize(("parts", "said"), [
    ({"passages": ("x",)}, "field 'passages': an item is of the type str, not Passage"),
    ({"passages": "x"}, "field 'passages': a list is expected, not str"),
    ({"passages": [GoldPassage(id="x")]}, "is of the type GoldPassage, not Passage"),
    ({"gold": ["g"]}, "field 'gold': an item is of the type str, not GoldPassage"),
    ({"gold": {"g": 1}}, "field 'gold': a list is expected, not dict"),
    ({"history": ["hi"]}, "field 'history': an item is of the type str, not Turn"),
    ({"references": [None]}, "field 'references': an item is of the type NoneType, not str"),
    ({"references": 3}, "field 'references': a list is expected, not int"),
    ({"reference_groups": "ab"}, "field 'reference_groups': a list is expected, not str"),
    ({"reference_groups": [[1]]}, "field 'reference_groups': an item is of the type int"),
    ({"answer": 3}, "field 'answer': the answer is of the type int"),
    ({"language": 3}, "'language': the language is of the type int"),
    ({"answerability": "UNANSWERABEL"}, "'UNANSWERABEL' is not a label. Did you mean 'unansw"),
])  # fmt: skip
def test_a_part_of_the_wrong_type_is_refused_and_named(parts: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Sample(id="q", **parts)
