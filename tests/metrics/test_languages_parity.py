"""Values in other languages beside those of MLQA's evaluation, sacrebleu and rouge-chinese.

MLQA's evaluation is written anew from its published facts: texts are lower-cased, characters of
Unicode's category P removed, articles of the language left out, and words parted at white space, or
at each character in Chinese; F1 counts common words.
"""

import random
import unicodedata
from collections import Counter

import pytest
import sacrebleu

from scored import answered, value

SENTENCES = {
    "en": "the old town hall opens at nine , closes at six and has no lift",
    "de": "Rathaus öffnet um neun Uhr , schließt abends und hat keinen Aufzug",
    "es": "museo municipal abre cada mañana , cierra por tarde y tiene jardín",
    "vi": "thư viện mở cửa buổi sáng , đóng cửa buổi tối và có vườn",
    "ar": "تفتح مكتبة كبيرة في صباح كل يوم ، وتغلق مساء",
    "hi": "पुस्तकालय सुबह नौ बजे खुलता है । माता और मोती शाम को आते हैं",
    "zh": "图 书 馆 早 上 按 时 开 门 ， 晚 上 准 时 关 门 。",
    "ja": "図 書 館 は 朝 早 く に 開 き 、 夕 方 に 閉 ま り ま す 。",
}
ARTICLES = {"en": {"a", "an", "the"}}
"""Of the languages here whose texts hold some."""


def pairs(language: str) -> list[tuple[str, str]]:
    """Answers and references: sentences with words left out, doubled and moved."""
    chance, words = random.Random(language), SENTENCES[language].split()
    joint = "" if language in ("zh", "ja") else " "
    return [
        (joint.join(chance.choices(words, k=8)), joint.join(chance.sample(words, 7)))
        for _ in range(20)
    ]


def mlqa_words(text: str, language: str) -> list[str]:
    plain = "".join(one for one in text.lower() if unicodedata.category(one)[0] != "P")
    if language in ("zh", "ja"):
        return list("".join(plain.split()))
    return [one for one in plain.split() if one not in ARTICLES.get(language, ())]


def mlqa_f1(answer: str, reference: str, language: str) -> float:
    ours, theirs = (Counter(mlqa_words(one, language)) for one in (answer, reference))
    common = (ours & theirs).total()
    return 2 * common / (ours.total() + theirs.total()) if common else 0.0


@pytest.mark.parametrize("language", SENTENCES)
def test_token_f1_is_that_of_mlqa_where_texts_hold_no_numbers(language: str) -> None:
    articles = "(articles=drop)" if language == "en" else ""
    for answer, reference in pairs(language):
        expected = mlqa_f1(answer, reference, language)
        found = value(f"token_f1{articles}", answered(answer, reference))
        assert found == pytest.approx(expected), answer


def test_bleu_of_chinese_is_sacrebleus() -> None:
    peer = sacrebleu.metrics.BLEU(effective_order=True, tokenize="zh")
    for answer, reference in pairs("zh"):
        expected = peer.sentence_score(answer, [reference]).score / 100
        assert value("BLEU(tokenize=zh)", answered(answer, reference)) == pytest.approx(expected)


def test_rouge_of_chinese_is_that_of_rouge_chinese_by_characters() -> None:
    rouge_chinese = pytest.importorskip(
        "rouge_chinese", reason="rouge-chinese is not installed: pip install rouge-chinese"
    )
    peer = rouge_chinese.Rouge(metrics=["rouge-1", "rouge-l"])
    chance, characters = random.Random(7), [*{*SENTENCES["zh"]} - set(" ，。")]
    for _ in range(20):
        # It counts each word once however often it occurs, so that none occurs twice here.
        cut = [" ".join(chance.sample(sorted(characters), n)) for n in (8, 7)]
        answer, reference = ("，".join(one.split()) for one in cut)
        (found,) = peer.get_scores([cut[0]], [cut[1]])
        for ours, theirs in (("rouge1", "rouge-1"), ("rougeL", "rouge-l")):
            mine = value(f"{ours}(tokens=unicode)", answered(answer, reference))
            assert mine == pytest.approx(found[theirs]["f"], abs=1e-4), (ours, answer, reference)
