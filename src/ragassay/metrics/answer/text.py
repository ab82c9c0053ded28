"""Normalisers and tokenisers: how a text becomes the words that a metric compares.

Five published ways and one of our own, each under its own name, because a metric is only comparable
with a published one when it cuts text in the same places.

==================  ========================================================  =================
function            what it does                                              used by
==================  ========================================================  =================
`ultrarag_normal`   punctuation to spaces, lower case, no English articles    UltraRAG
`squad_normal`      punctuation deleted, lower case, no English articles      MT-RAG ``Recall``
`bare_words`        only word characters and white space stay, lower case     MT-RAG, extractive
`rouge_tokens`      runs of ``a-z0-9``, stemmed or not                        rouge-score
`unicode_tokens`    words of any script; one token a character where a        the corrected ones
                    script puts no spaces between words
`signed_tokens`     the same; a sign directly before a number is part of it   short answers
==================  ========================================================  =================
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import chain, count

ARTICLES = frozenset({"a", "an", "the"})
"""Articles that the SQuAD convention, UltraRAG and MT-RAG leave out."""

_ARTICLE = re.compile(r"\b(a|an|the)\b")
_NEITHER_WORD_NOR_SPACE = re.compile(r"[^\w\s]")
_TO_SPACES = str.maketrans(dict.fromkeys(string.punctuation + "‘’´`", " "))
_NOT_ROUGE_TO_SPACES = bytes(
    byte if chr(byte) in string.ascii_lowercase + string.digits else ord(" ") for byte in range(256)
)
_DELETED = str.maketrans("", "", string.punctuation)
_EAST_ASIAN = {"CJK", "IDEOGRAPHIC", "BOPOMOFO", "HIRAGANA", "KATAKANA", "HANGUL", "YI"}
_UNSPACED = _EAST_ASIAN | {"THAI", "LAO", "KHMER", "MYANMAR"}
_ZERO_WIDTH_SPACE = "\u200b"


def ultrarag_normal(text: str) -> str:
    """UltraRAG's normal form.

    A text that is only ``True`` or ``False`` becomes ``yes`` or ``no``. Then the text is
    lower-cased, ASCII punctuation and ``‘ ’ ´ `` become spaces, English articles are removed and
    white space is collapsed. ``"don't"`` gives ``don t``, ``"A.I."`` gives ``i``, ``"The"`` gives
    nothing.

    Source: UltraRAG, servers/evaluation.
    """
    text = {"True": "yes", "False": "no"}.get(text, text)
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_TO_SPACES)).split())


def squad_normal(text: str) -> str:
    """MT-RAG's normal form for ``Recall`` (the SQuAD convention).

    Lower case, ASCII punctuation deleted (``state-of-the-art`` becomes one word), English articles
    removed, white space collapsed.

    Source: MT-RAG benchmark, scripts/evaluation.
    """
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_DELETED)).split())


def bare_words(text: str) -> str:
    """MT-RAG's normal form for ``Extractiveness_RougeL``.

    Newlines become spaces, everything that is neither a word character nor white space is deleted,
    and the rest is lower-cased. The published code then strips HTML, which finds nothing: the angle
    brackets and ampersands have just been deleted.

    Source: MT-RAG benchmark, scripts/evaluation.
    """
    return _NEITHER_WORD_NOR_SPACE.sub("", text.replace("\n", " ")).lower()


def rouge_tokens(text: str, stem: bool = False) -> list[str]:
    """rouge-score's tokens: runs of ``a-z0-9`` in the lower-cased text.

    A script without Latin letters gives no tokens at all. Source: rouge-score 0.1.2.

    Args:
        text: any text.
        stem: apply nltk's Porter stemmer to words of more than three characters.
    """
    # Bytes have the fastest table lookup, and no byte of a longer UTF-8 character is ASCII.
    ascii_only = text.lower().encode(errors="surrogatepass").translate(_NOT_ROUGE_TO_SPACES)
    words = ascii_only.decode("ascii").split()
    return _stemmed(words) if stem else words


def unicode_tokens(text: str, stem: bool = False) -> list[str]:
    """Words of any script, compatibility-normalised (NFKC) and case-folded.

    Letters, marks and digits form words; punctuation, symbols and white space separate them;
    invisible format characters (soft hyphens, joiners, byte-order marks) are removed. Scripts that
    put no spaces between words (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese) give one
    token a character.

    Args:
        text: any text.
        stem: apply nltk's Porter stemmer to ASCII words of more than three characters.
    """
    if text.isascii():
        return rouge_tokens(text, stem)
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    words = text.translate(_CHARACTERS).split()
    return _stemmed(words) if stem else words


_SIGN = re.compile(r"(?:(?<![\w.,%)\]])(?<!\d ))[-\u2212](?=\d)")


def signed_tokens(text: str, stem: bool = False) -> list[str]:
    """The tokens of `unicode_tokens`, but a sign directly before a number belongs to it: ``-5`` is
    another word than ``5``.

    A hyphen after a word or a number is no sign (``5-10``, ``COVID-19``).

    Args:
        text: any text.
        stem: apply nltk's Porter stemmer to ASCII words of more than three characters.
    """
    return unicode_tokens(_SIGN.sub("minus", text), stem)


def without_articles(tokens: Iterable[str]) -> list[str]:
    """The tokens that are not English articles."""
    return [token for token in tokens if token not in ARTICLES]


def encode(texts: Iterable[Sequence[str]]) -> list[str]:
    """Each list of tokens as a string with one character a token, equal tokens as equal characters.

    A run of tokens is then a substring, and C code for strings compares tokens. All texts that are
    to be compared must be encoded in one call.

    Raises:
        ValueError: more than 1,114,112 different tokens.
    """
    tokens = list(texts)
    vocabulary = dict(
        zip(dict.fromkeys(chain.from_iterable(tokens)), map(chr, count()), strict=False)
    )
    return ["".join(map(vocabulary.__getitem__, words)) for words in tokens]


def _stemmed(words: list[str]) -> list[str]:
    stem = _porter()
    return [word if len(word) < 4 or not word.isascii() else stem(word) for word in words]


@cache
def _porter() -> Callable[[str], str]:
    # nltk takes seconds to import where scipy is installed, so only those who stem pay for it.
    from nltk.stem.porter import PorterStemmer

    remembered: Callable[[str], str] = lru_cache(maxsize=1 << 17)(PorterStemmer().stem)
    return remembered


class _Characters(dict[int, str]):
    """The replacement that `unicode_tokens` makes for a character, computed when it is first
    seen."""

    def __missing__(self, code: int) -> str:
        replacement = self[code] = _replacement(chr(code))
        return replacement


def _replacement(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf":
        return " " if character == _ZERO_WIDTH_SPACE else ""
    if category == "Cc" or category[0] in "ZPS":
        return " "
    script = re.split("[ -]", unicodedata.name(character, ""), maxsplit=1)[0]
    return f" {character} " if script in _UNSPACED else character


_CHARACTERS = _Characters()
