import warnings

import pytest
from hypothesis import given, strategies as st
from rouge_score.rouge_scorer import RougeScorer

from ragassay import Reason, Sample, Score, Unscored
from ragassay.base.errors import RagassayWarning, UsageError
from ragassay.metrics.answer.references import ultrarag_normal
from ragassay.metrics.answer.word_overlap import MEASURES, PRF, rouge
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Window
from scored import answered as sample, value

WORDS = ["the", "cats", "cat", "running", "runs", "Ran", "easily", "a2", "北京", "é", "-", "."]
texts = st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join) | st.text(max_size=40)
SCORERS = {stem: RougeScorer(list(MEASURES), use_stemmer=stem) for stem in (False, True)}


@given(texts, texts, st.booleans())
def test_values_have_the_same_bits_as_rouge_score(answer: str, reference: str, stem: bool) -> None:
    theirs = SCORERS[stem].score(reference, answer)
    for measure, ours in rouge(answer, reference, stem=stem).items():
        assert tuple(ours) == tuple(theirs[measure])


@given(texts, st.lists(texts, min_size=1, max_size=4))
def test_the_best_reference_is_that_of_rouge_score(answer: str, references: list[str]) -> None:
    theirs = SCORERS[True].score_multi(references, answer)
    for measure, ours in rouge(answer, references).items():
        assert tuple(ours) == tuple(theirs[measure])


@given(texts, st.lists(texts, min_size=1, max_size=3))
def test_ultrarags_rouge_is_rouge_score_on_its_normal_form(answer, references) -> None:
    golds = [ultrarag_normal(text) for text in references]
    theirs = [SCORERS[True].score(gold, ultrarag_normal(answer)) for gold in golds]
    for ours, measure in (("rouge-1", "rouge1"), ("rouge-2", "rouge2"), ("rouge-l", "rougeL")):
        assert value(ours, sample(answer, *references)) == max(t[measure].fmeasure for t in theirs)


def test_a_reference_given_as_a_text_is_one_reference() -> None:
    assert rouge("a b", "a b")["rouge2"] == rouge("a b", ["a b"])["rouge2"] == PRF(1, 1, 1)
    with pytest.raises(UsageError, match="'rouge9' is no ROUGE measure; there are rouge1, "):
        rouge("a", "a", measures=["rouge9"])  # type: ignore[list-item]


def test_identical_chinese_texts_score_one_with_words_of_any_script() -> None:
    assert value("rougeL", sample("北京是首都", "北京是首都")) == 0.0
    assert value("rougeL(tokens=unicode)", sample("北京是首都", "北京是首都")) == 1.0
    assert value("rouge2(tokens=unicode)", sample("北京大学", "北京")) == pytest.approx(
        2 * (1 / 3) / (4 / 3)
    )
    assert value("rouge1(tokens=unicode)", sample("cats", "cat")) == 1
    assert value("rouge1(tokens=unicode,stem=false)", sample("cats", "cat")) == 0
    by_rules = {name: naming.parse(name).signature for name in ("rouge1(tokens=unicode)", "rougeL")}
    assert ["words=" in one for one in by_rules.values()] == [True, False]
    outcome = naming.parse("rougeL").score(sample("北京", "北京"))
    assert isinstance(outcome, Score) and "unicode" in outcome.explanation


def test_a_reference_without_words_of_any_script_is_unscored_with_a_warning() -> None:
    metric = naming.parse("rouge1(tokens=unicode)")
    with pytest.warns(RagassayWarning, match="no words"):
        bare, good = Window([sample("yes", "?!"), sample("yes", "yes")]).outcomes(metric)
    assert isinstance(bare, Unscored) and bare.reason is Reason.UNDEFINED
    with warnings.catch_warnings():
        warnings.simplefilter("error", RagassayWarning)
        assert metric.score(sample("yes", "yes")) == good


def test_missing_answers_and_references_are_unscored_and_cost_nobody_else() -> None:
    window = Window([Sample(id="1", references=("x",)), sample("x"), sample("x", "x")])
    for name in ("rougeL", "rouge-1", "rouge2(tokens=unicode).p", "BLEU", "em", "token_f1"):
        lost, bare, good = window.outcomes(naming.parse(name))
        assert isinstance(lost, Unscored) and lost.reason is Reason.MISSING_INPUT
        assert isinstance(bare, Unscored) and bare.reason is Reason.NOT_APPLICABLE
        assert isinstance(good, Score)


def test_the_parts_say_which_reference_was_best() -> None:
    references = ("car", "red bus", "red", "red bus")  # of equals the first one
    outcome = naming.parse("rouge1.r").score(sample("big red bus", *references))
    assert outcome.value == outcome.parts["r"] == 1.0
    assert outcome.parts["p"] == 2 / 3 and outcome.parts["reference"] == 1
