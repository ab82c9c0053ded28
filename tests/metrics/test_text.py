import pytest
from hypothesis import given, strategies as st
from rouge_score import tokenize
from rouge_score.tokenizers import porter

from ragassay.metrics.answer import references as text

STEMMER = porter.PorterStemmer()


@pytest.mark.parametrize(
    ("given_text", "normal"),
    [("A.I.", "i"), ("vitamin A", "vitamin"), ("don't", "don t"), ("$1,000.50", "1 000 50"),
     ("The", ""), ("True", "yes"), ("False", "no"), ("True story", "true story"),
     ("snake_case", "snake case"), ("‘quoted´`", "quoted"), ("北京，中国", "北京，中国")],
)  # fmt: skip
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
