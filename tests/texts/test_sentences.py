"""Sentences of any script are found on the text as it is written, by one implementation."""

import unicodedata

import pytest
from hypothesis import given, strategies as st

from ragassay.golden.documents import Document
from ragassay.judges.offline import words
from ragassay.synthesis.sections import sections_of
from ragassay.texts import sentences
from ragassay.texts.sentence_cutting import ends_sentence


@pytest.mark.parametrize("text", [
    "泳池几点开门？¦九点！¦周一关闭。¦周日也关；节日开放．¦好｡", "是吗?¦我不知道!¦好",
    "“你好！”¦他说。¦（见上。）¦走了。", "圆周率是３．１４。¦完",
    "क्या यह खुला है? ¦हाँ।¦वह खुला है॥ ¦ठीक", "هل المكتبة مفتوحة؟ ¦نعم۔ ¦تفتح غدا.",
    "Կարմիր։ ¦Կապույտ։", "It costs 3.5 euros. ¦See example.org/a?b=1!",
    "Is it open? ¦No. ¦See No. 5 and Fig. 3. ¦Dr. Smith knows.",
    "Am 5. Mai gibt es z. B. Brot, d.h. Laibe. ¦Nr. 5 kostet 5. ¦Danach nicht.",
    "Mme. Curie dit non. ¦Elle part.", "Dijo que no. ¦Salió de EE.UU. con el Sr. Gil.",
    "**Note.** ¦Open.\n¦- a\n¦- b\n¦A line that\nwraps here.\n\n¦| c | d |\n\n¦below\n\n¦it",
    "1. One. ¦2. Two.", "(Dr. Smith) said so. ¦Take vitamin A. ¦Eat one,\nthen two\n¦a) b\n¦b) c",
])  # fmt: skip
def test_a_sentence_ends_where_its_script_and_language_end_it(text: str) -> None:
    whole, pieces = text.replace("¦", ""), [piece.strip() for piece in text.split("¦")]
    assert [whole[begin:end] for begin, end in sentences(whole)] == pieces


@given(st.text(st.sampled_from('aB5 \n.!?…,;:。！？；｡؟।ＡB１①ﬁ中ก́"”）[]-*')))
def test_spans_are_in_order_and_leave_no_letter_out(text: str) -> None:
    end = 0
    for begin, stop in sentences(text):
        assert end <= begin < stop and text[begin:stop] == text[begin:stop].strip()
        assert not any(map(str.isalnum, text[end:begin]))
        end = stop
    assert not any(map(str.isalnum, text[end:]))


@pytest.mark.parametrize("sign", "։؟۔।॥။።។᠃‼⁇⁉。！？｡︒꓿𑁇𑁈")
def test_each_sign_that_unicode_calls_terminal_ends_a_sentence(sign: str) -> None:
    assert sentences(f"a{sign}b") == [(0, 2), (2, 3)]
    assert ends_sentence(f"a{sign}") and ends_sentence(f"a{sign}”")


@pytest.mark.parametrize("sign", ";,、，；：·؛،")
def test_no_other_sign_does(sign: str) -> None:
    assert len(sentences(f"a{sign} b")) == 1
    assert not ends_sentence(f"a{sign} ")


def test_a_full_stop_at_the_end_needs_white_space_and_all_that_cuts_sentences_agrees() -> None:
    assert ends_sentence("It is. ") and ends_sentence('"It is."\n') and not ends_sentence("3.")
    text = "泳池几点开门？九点！周一关闭。"
    found = [unicodedata.normalize("NFKC", text[a:b]) for a, b in sentences(text)]
    assert words.sentences(text) == found == ["泳池几点开门?", "九点!", "周一关闭。"]
    (section,) = sections_of(Document("a", "a.txt", text, "", ""))
    assert [section.between(*one) for one in section.sentences] == [
        "泳池几点开门？", "九点！", "周一关闭。",
    ]  # fmt: skip


def test_the_offline_judge_reads_a_line_without_its_citations_and_marks() -> None:
    text = "- Dense is good.[1] It **maps**.\n- See [here](https://example.org)."
    assert words.sentences(text) == ["Dense is good.", "It maps.", "See here."]
