"""Porter stems, beside NLTK's stemmer."""

import random
import re
from pathlib import Path

import pytest

from ragassay.texts import porter_stem

porter = pytest.importorskip("nltk.stem.porter")
HERE = Path(__file__).parents[2]
SUFFIXES = re.findall(
    r"\w+",
    """
s es ies ed ing eed ied y ational tional enci anci izer bli alli entli eli ousli ization
ation ator alism iveness fulness ousness aliti iviti biliti fulli logi icate ative alize
iciti ical ful ness al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous
ive ize e ll ly
""",
)


def written_words() -> set[str]:
    texts = [*(HERE / "docs").rglob("*.md"), *(HERE / "src").rglob("*.py")]
    return {word for path in texts for word in re.findall(r"[A-Za-z]+", path.read_text("utf-8"))}


def made_words() -> set[str]:
    rng = random.Random(1)
    words = {"".join(rng.choices("aeiouysdglznt'-1", k=rng.randint(0, 8))) for _ in range(20_000)}
    for _ in range(40_000):
        stem = "".join(rng.choices("aeiouybcdlnrstzwx", k=rng.randint(0, 6)))
        words.add(stem + "".join(rng.choices(SUFFIXES, k=rng.randint(1, 2))))
    return words


@pytest.mark.parametrize("words", [written_words, made_words])
def test_stems_are_nltks(words) -> None:
    stem = porter.PorterStemmer().stem
    chosen = words()
    assert len(chosen) > 5_000
    assert {word: porter_stem(word) for word in chosen} == {word: stem(word) for word in chosen}
