from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, strategies as st
from rouge_score import tokenize
from rouge_score.tokenizers import porter

from ragassay.metrics.answer import text

STEMMER = porter.PorterStemmer()


@pytest.mark.parametrize(
    ("given_text", "normal"),
    [
        ("A.I.", "i"),
        ("vitamin A", "vitamin"),
        ("don't", "don t"),
        ("$1,000.50", "1 000 50"),
        ("The", ""),
        ("True", "yes"),
        ("False", "no"),
        ("True story", "true story"),
        ("snake_case", "snake case"),
        ("‘quoted´`", "quoted"),
        ("北京，中国", "北京，中国"),
    ],
)
def test_ultrarag_normal_form_is_the_published_one(given_text: str, normal: str) -> None:
    assert text.ultrarag_normal(given_text) == normal


@pytest.mark.parametrize(
    ("given_text", "normal"),
    [("state-of-the-art", "stateoftheart"), ("The U.S.", "us"), ("a  b", "b"), ("Don't", "dont")],
)
def test_squad_normal_form_deletes_punctuation(given_text: str, normal: str) -> None:
    assert text.squad_normal(given_text) == normal


def test_bare_words_leave_html_behind_as_published() -> None:
    assert text.bare_words("<b>Bold</b>\nline") == "bboldb line"


@given(st.text() | st.text(alphabet="abzABZ019 .,-'İKſé\n\t"), st.booleans())
def test_rouge_tokens_are_those_of_rouge_score(sample: str, stem: bool) -> None:
    assert text.rouge_tokens(sample, stem) == tokenize.tokenize(sample, STEMMER if stem else None)


def test_stems_are_those_of_rouge_score_word_by_word() -> None:
    words = "running flies happily nationalization generously university was cats a2b 1234567"
    assert text.rouge_tokens(words, True) == tokenize.tokenize(words, STEMMER)
    assert "run" in text.rouge_tokens(words, True)


@pytest.mark.parametrize(
    ("given_text", "tokens"),
    [
        ("北京在中国", ["北", "京", "在", "中", "国"]),
        ("カタカナとひらがな", list("カタカナとひらがな")),
        ("서울은", ["서", "울", "은"]),
        ("GPT-4模型", ["gpt", "4", "模", "型"]),
        ("ＡＢＣ１２", ["abc12"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Ñandú café cafe\u0301", ["ñandú", "café", "café"]),
        ("soft\u00adhyphen \ufeffmark", ["softhyphen", "mark"]),
        ("zero\u200bwidth", ["zero", "width"]),
        ("don’t don't", ["don", "t", "don", "t"]),
        ("， 。！ + €", []),
    ],
)
def test_unicode_tokens_are_words_of_any_script(given_text: str, tokens: list[str]) -> None:
    assert text.unicode_tokens(given_text) == tokens


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_unicode_and_rouge_tokens_agree_on_ascii(sample: str) -> None:
    longer = sample + " é"
    assert text.unicode_tokens(sample) == text.rouge_tokens(sample)
    assert text.unicode_tokens(longer) == [*text.rouge_tokens(sample), "é"]


@given(st.text())
def test_unicode_tokens_survive_a_second_pass(sample: str) -> None:
    once = text.unicode_tokens(sample)
    assert text.unicode_tokens(" ".join(once)) == once


@given(st.lists(st.lists(st.sampled_from(["a", "b", "ab", "é", "北"]))))
def test_codes_are_equal_exactly_where_tokens_are(texts: list[list[str]]) -> None:
    codes = text.encode(texts)
    assert list(map(len, codes)) == list(map(len, texts))
    flat = [token for tokens in texts for token in tokens]
    coded = "".join(codes)
    assert all((flat[i] == flat[0]) == (coded[i] == coded[0]) for i in range(len(flat)))


def test_reading_words_needs_no_stemmer_library() -> None:
    code = (
        "import sys; from ragassay.metrics.answer import bleu, rouge_metrics, string_matching; "
        "from ragassay.metrics.mtrag import mtrag_conditioning; "
        "assert rouge_metrics.rouge('a b', 'a c', stem=False)['rougeL'].f == 0.5; "
        "print({'nltk', 'sacrebleu', 'polars'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
