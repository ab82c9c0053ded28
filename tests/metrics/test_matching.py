from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from ragassay import Answer, Passage, Reason, Sample, Score, Unscored
from ragassay.base.errors import RagassayWarning
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Window

MOON = ("14 December 1972 UTC", "December 1972")


def sample(answer: str, *references: str, groups: tuple[tuple[str, ...], ...] = ()) -> Sample:
    flat = references or tuple(alias for group in groups for alias in group)
    return Sample(id="q", answer=Answer(answer), references=flat, reference_groups=groups)


def value(name: str, answer: str, *references: str) -> float:
    outcome = naming.parse(name).score(sample(answer, *references))
    assert isinstance(outcome, Score) and outcome.number is not None
    return outcome.number


@pytest.mark.parametrize(
    ("name", "answer", "reference", "published"),
    [("acc", "London is rainy", "The", 1), ("acc", "a party", "art", 1),
     ("acc", "", "Paris", 0), ("em", "", "A", 1),
     ("coverem", "york has a new bridge", "new york", 1), ("coverem", "", "The", 1),
     ("f1", "", "The", 0), ("f1", "anything", "The", 0), ("rouge-l", "北京", "北京", 0),
     ("em", "True", "yes", 1)],
)  # fmt: skip
def test_ultrarags_degenerate_cases_are_kept_under_its_names(
    name: str, answer: str, reference: str, published: float
) -> None:
    assert value(name, answer, reference) == published


def test_a_degenerate_match_says_so() -> None:
    outcome = naming.parse("acc").score(sample("London", "Paris", "The"))
    assert isinstance(outcome, Score) and outcome.value == 1.0
    assert "reference 2 normalises to nothing" in outcome.explanation
    assert naming.parse("em").score(sample("London", "The")) == Score(0.0)


CORRECTED = ("exact_match", "contains_answer", "covers_answer", "token_f1", "alias_groups")


@pytest.mark.parametrize("name", CORRECTED)
@pytest.mark.parametrize("wordless", ["The", "an", "?!", ""])
def test_a_reference_without_words_is_unscored_with_a_warning(name: str, wordless: str) -> None:
    with pytest.warns(RagassayWarning, match="no words"):
        outcome = naming.parse(name).score(sample("London is rainy", wordless))
    assert isinstance(outcome, Unscored)
    assert outcome.reason is Reason.UNDEFINED and "0" in outcome.detail


@pytest.mark.parametrize("name", CORRECTED)
def test_a_reference_without_words_never_helps_the_others(name: str) -> None:
    with pytest.warns(RagassayWarning):
        assert value(name, "", "The", "Paris") == value(name, "London", "The", "Paris") == 0
    with pytest.warns(RagassayWarning):
        found = naming.parse(name).score(sample("Paris", "The", "Paris", "Paris"))
    assert isinstance(found, Score) and found.value == 1
    if name != "alias_groups":
        assert found.parts["reference"] == 1 and found.explanation.endswith(": reference 0")


@pytest.mark.parametrize("name", CORRECTED[:3])
@pytest.mark.parametrize("signed", ["-5 degrees", "\u22125 degrees"])
def test_a_sign_directly_before_a_number_belongs_to_it(name: str, signed: str) -> None:
    assert value(name, signed, "5 degrees") == value(name, "5 degrees", signed) == 0
    assert value(name, signed, "-5 degrees") == 1
    assert value(name, "COVID-19", "covid 19") == value(name, "5-10", "5 10") == 1
    assert value("acc", signed, "5 degrees") == 1


def test_covering_counts_words_as_often_as_they_occur() -> None:
    assert value("coverem", "New York", "New York New York") == 1
    assert value("covers_answer", "New York", "New York New York") == 0
    assert value("covers_answer", "on the 14th of December 1972", "December 14th 1972") == 1


@pytest.mark.parametrize("name", CORRECTED)
@pytest.mark.parametrize("text", ["北京是中国的首都", "東京タワー", "대한민국", "Ελλάδα", "हिन्दी"])
def test_identical_texts_of_any_script_score_one(name: str, text: str) -> None:
    assert value(name, text, text) == 1


@pytest.mark.parametrize(
    ("answer", "reference", "same"),
    [("价格是3.5元", "价格是5.3元", 0), ("ราคา1.5บาท", "ราคา5.1บาท", 0), ("共1.5万", "5万", 0),
     ("约1,250.50元", "约1250.50元", 1), ("10⁶ cells", "106 cells", 0), ("5¼", "51/4", 0)],
)  # fmt: skip
def test_a_number_beside_letters_without_spaces_and_below_raised_digits_is_one_number(
    answer: str, reference: str, same: int
) -> None:
    for name in ("exact_match", "contains_answer", "covers_answer"):
        assert value(name, answer, reference) == same
    assert (value("token_f1", answer, reference) == 1) is bool(same)
    stated = [replace(sample("1.250", "1250"), language=code) for code in ("de", "en")]
    assert [naming.parse("exact_match").score(one).value for one in stated] == [1, 0]  # type: ignore[union-attr]


def test_chinese_is_compared_character_by_character() -> None:
    assert value("contains_answer", "答案是北京市。", "北京") == 1
    assert value("token_f1", "北京", "北京市") == pytest.approx(0.8)
    assert value("f1", "北京", "北京市") == 0
    assert value("exact_match", "ＡＩ", "ai") == 1


def test_alias_groups_score_the_share_of_items_named_and_a_flat_list_is_one() -> None:
    groups = (("Barack Obama", "Obama"), ("the Beatles",), ("Lennon", "John Lennon"))
    outcome = naming.parse("alias_groups").score(
        sample("Obama met the Beatles; Lennonism was not discussed", groups=groups)
    )
    assert outcome.value == pytest.approx(2 / 3)
    assert outcome.parts["found"] == [True, True, False]
    assert value("stringem", "December 1972", *MOON) == 0.5
    assert value("alias_groups", "December 1972", *MOON) == 1
    one = sample("Bobby Scott", groups=(("Bobby Scott", "Scott"), ("The", "an")))
    with pytest.warns(RagassayWarning):
        outcome = naming.parse("alias_groups").score(one)
    assert isinstance(outcome, Unscored) and "group 1" in outcome.detail


def test_token_f1_has_its_precision_and_recall_as_parts() -> None:
    outcome = naming.parse("token_f1.r").score(sample("big red bus", "car", "red bus"))
    assert outcome.value == outcome.parts["r"] == 1.0
    assert outcome.parts["p"] == 2 / 3 and outcome.parts["reference"] == 1
    assert str(naming.parse("token_f1")) == "token_f1.f"


words = st.lists(st.sampled_from(["red", "bus", "The", "a", "北", "京", "x"]), max_size=8)


@given(words, st.lists(words, min_size=1, max_size=3))
@pytest.mark.filterwarnings("ignore::ragassay.base.errors.RagassayWarning")
def test_the_corrected_metrics_order_themselves(answer: list[str], golds: list[list[str]]) -> None:
    one = sample(" ".join(answer), *map(" ".join, golds))
    window = Window([one])
    numbers = {}
    for name in CORRECTED:
        outcome = window.outcomes(naming.parse(name))[0]
        if isinstance(outcome, Unscored):
            assert outcome.reason in (Reason.UNDEFINED, Reason.UNSUPPORTED)
            return
        assert outcome.number is not None and 0 <= outcome.number <= 1
        numbers[name] = outcome.number
    assert numbers["exact_match"] <= numbers["contains_answer"] <= numbers["covers_answer"]
    assert numbers["exact_match"] <= numbers["token_f1"]
    assert numbers["contains_answer"] == numbers["alias_groups"]


@pytest.mark.parametrize(
    ("answer", "reference"),
    [("C++", "C"), ("C#", "C"), ("C++", "C#"), ("Vitamin A", "Vitamin"), ("5%", "5"),
     ("$5", "€5"), ("-5", "5"), ("3.14", "314"), ("5.3", "3.5"), ("A+", "A"), ("माता", "मोती"),
     ("Python 3.10", "Python 3.1"), ("1,250", "1.25")],
)  # fmt: skip
def test_answers_that_differ_by_a_sign_or_a_letter_are_not_equal(answer, reference) -> None:
    assert value("exact_match", answer, reference) == 0
    assert value("exact_match", answer, answer) == value("exact_match", reference, reference) == 1
    assert value("token_f1.f", answer, reference) < 1


@pytest.mark.parametrize("name", [*CORRECTED[:3], "token_f1"])
def test_citations_are_no_words_of_an_answer(name: str) -> None:
    def found(answer: str, *references: str, of: str = name) -> object:
        cited = replace(sample(answer, *references), passages=(Passage("x"), Passage("y")))
        outcome = naming.parse(of).score(cited)
        return outcome.value if isinstance(outcome, Score) else outcome

    assert found("Paris [1].", "Paris") == found("Paris【2†source】", "Paris") == 1
    assert found("They say so [1].", "1") == 0
    assert found("[1]", "1") == found("a[1]", "a[1]") == 1
    # A number that names no passage is none.
    assert found("[3]", "3") == found("Rome [1, 3]", "Rome 1, 3") == value(name, "[1]", "1") == 1
    assert found("Paris [1].", "Paris", "a[1]", of="exact_match") == 0
    assert value("contains_answer", "The output is [1].", "1") == 1
    assert found("Paris [1].", "Paris", "1", of="alias_groups") == 1
