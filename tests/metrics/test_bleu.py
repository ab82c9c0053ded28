import pytest
import sacrebleu
from hypothesis import given, settings, strategies as st

from ragassay import Answer, Reason, Sample, Score, Unscored, UsageError
from ragassay.metrics.answer.word_overlap import corpus_bleu, rouge, sentence_bleu
from ragassay.metrics.core import naming

texts = st.lists(st.sampled_from(["The", "cat", "sat", "on", "mat", ".", "1,000", "北京"])).map(
    " ".join
)


def score(name: str, answer: str, *references: str) -> Score:
    outcome = naming.parse(name).score(Sample(id="q", answer=Answer(answer), references=references))
    assert isinstance(outcome, Score)
    return outcome


@settings(max_examples=60)
@given(texts, st.lists(texts, min_size=1, max_size=3))
def test_sentence_values_and_signatures_are_sacrebleus(answer: str, references: list[str]) -> None:
    peer = sacrebleu.metrics.BLEU(effective_order=True)
    theirs = peer.sentence_score(answer, references)
    ours = sentence_bleu(answer, references)
    assert ours.value == min(theirs.score / 100, 1.0)
    assert ours.signature == peer.get_signature().format()
    if any(references):
        found = score("BLEU", answer, *references)
        assert found.value == ours.value and found.parts["signature"] == ours.signature


def test_corpus_values_are_sacrebleus() -> None:
    answers = ["the cat sat on the mat", "a dog", "北京"]
    references = ["the cat is on the mat", "a dog ran", "北京"]
    theirs = sacrebleu.corpus_bleu(answers, [references])
    assert corpus_bleu(answers, references).value == theirs.score / 100
    theirs = sacrebleu.corpus_bleu(
        ["A b 北是", "c"], [["a b 北京", "d"]], "floor", lowercase=True, tokenize="zh"
    )
    told = {"smooth": "floor", "lowercase": True, "tokenize": "zh"}
    assert corpus_bleu(["A b 北是", "c"], ["a b 北京", "d"], **told).value == theirs.score / 100  # type: ignore[arg-type]
    several = corpus_bleu(answers, [["the cat is on the mat", "cat"], "a dog ran", ["北京"]])
    assert "nrefs:var" in several.signature and 0 < several.value <= 1
    with pytest.raises(UsageError, match="3 hypotheses and 1 references"):
        corpus_bleu(answers, ["x"])
    with pytest.raises(UsageError, match="item 1 has no reference"):
        corpus_bleu(answers, ["x", [], "y"])


def test_chinese_needs_its_tokeniser_and_bleu_of_empty_texts_is_no_accident() -> None:
    assert score("BLEU(tokenize=zh)", "北京是中国的首都", "北京是中国首都").value != (
        score("BLEU", "北京是中国的首都", "北京是中国首都").value
    )
    assert "tok:zh" in naming.parse("BLEU(tokenize=zh)").signature
    assert "|case:lc|" in naming.parse("BLEU(lowercase=true)").signature
    assert naming.parse("BLEU").signature != naming.parse("BLEU(smooth=floor)").signature
    assert score("BLEU", "", "something").value == 0.0
    nothing = naming.parse("BLEU").score(Sample(id="q", answer=Answer("x"), references=("", " ")))
    assert isinstance(nothing, Unscored) and nothing.reason is Reason.UNDEFINED
    with pytest.raises(UsageError, match="at least one reference"):
        sentence_bleu("x", [])
    assert rouge("x", [])["rougeL"].f == 0.0
    assert sentence_bleu("a b c d e", "a b c d e").value == pytest.approx(1.0)
