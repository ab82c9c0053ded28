"""What the offline judge and its rules read of a language, as metrics ask them."""

import pytest

import ragassay
from ragassay.judges.offline.questions import contradicted, supported_share
from ragassay.judges.offline.words import content


@pytest.mark.parametrize(
    ("language", "answer"),
    [("pl", "Nie wiem."), ("tr", "Bilmiyorum."), ("sv-SE", "Vet inte."), ("Polish", "Nie wiem.")],
)
def test_a_language_that_the_sample_states_is_believed(language: str, answer: str) -> None:
    record = {"id": "1", "query": "?", "answer": answer, "passages": ["Lund har en park."]}
    names = ["idk_eval", "faithfulness", "contradicted"]
    rows = ragassay.evaluate([{**record, "language": language}], names).scores
    assert {row.reason for row in rows} == {"unsupported"}
    rows = ragassay.evaluate([{**record, "language": "en"}], names).scores
    assert "unsupported" not in {row.reason for row in rows}


@pytest.mark.parametrize(("passage", "answer"), [
    ("公園は九時に開く。", "公園は九時に開かない。"),
    ("Парк открыт в девять часов утра.", "Парк не открыт в девять часов утра."),
    ("공원은 아홉 시에 연다.", "공원은 아홉 시에 열지 않는다."), ("สวนเปิดเก้าโมง", "สวนไม่เปิดเก้าโมง"),
    ("पार्क नौ बजे खुलता है।", "पार्क नौ बजे नहीं खुलता है।"),
])  # fmt: skip
def test_contradicted_says_nothing_of_what_it_cannot_read(passage: str, answer: str) -> None:
    record = {"id": "1", "query": "?", "answer": answer, "passages": [passage]}
    (row,) = ragassay.evaluate([record], ["contradicted"]).scores
    assert row.reason == "unsupported"


def test_a_sentence_is_contradicted_once_by_a_reference_before_a_passage() -> None:
    said = "The depot of Leeds opens at nine in the morning. It is a big one."
    other = [said.replace("nine", "ten")]
    record = {"id": "1", "query": "?", "answer": said, "references": other, "passages": other}
    bare = [{"id": "2", "answer": said, "passages": []}, {"id": "3", "answer": said}]
    found, *lost = ragassay.evaluate([record, *bare], ["contradicted"]).scores
    against = [one["against"] for one in found.parts["sentences"]]
    assert (found.value, against) == (0.5, ["references"])
    assert [row.reason for row in lost] == ["nothing_retrieved", "not_applicable"]


def test_a_number_is_the_same_one_as_in_all_metrics() -> None:
    assert content("1.250") == content("1,250") == content("1 250") == content("1250") == ("1250",)
    assert content("十二月") == content("12月") != content("二月")
    pairs = [("-5", "5"), ("12:10", "10:12"), ("3/4", "4/3"), ("C++", "C")]
    for one, other in pairs:
        assert content(one) != content(other)
        said = f"The station of Ostmoor reported {one} in the early morning."
        held = f"The station of Ostmoor reported {other} in the early morning."
        assert supported_share(said, [held]) == 0.0 < supported_share(said, [said])
    effect = "The effect of the drug had p{}0.05 in the second trial."
    assert contradicted(effect.format(">"), [effect.format("<")]) == "opposite"
