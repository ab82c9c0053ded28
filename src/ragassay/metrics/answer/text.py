"""Normalisers and tokenisers of published tools, each under its own name, because a metric is only
comparable with a published one when it cuts text in the same places. The corrected metrics compare
`ragassay.texts.words`.

==================  ========================================================  =================
function            what it does                                              used by
==================  ========================================================  =================
`ultrarag_normal`   punctuation to spaces, lower case, no English articles    UltraRAG
`squad_normal`      punctuation deleted, lower case, no English articles      MT-RAG ``Recall``
`bare_words`        only word characters and white space stay, lower case     MT-RAG, extractive
`rouge_tokens`      runs of ``a-z0-9``, stemmed or not                        rouge-score
==================  ========================================================  =================
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Sequence
from itertools import chain, count

from ragassay.texts.word_cutting import stemmed

_ARTICLE = re.compile(r"\b(a|an|the)\b")
_NEITHER_WORD_NOR_SPACE = re.compile(r"[^\w\s]")
_TO_SPACES = str.maketrans(dict.fromkeys(string.punctuation + "‘’´`", " "))
_NOT_ROUGE_TO_SPACES = bytes(
    byte if chr(byte) in string.ascii_lowercase + string.digits else ord(" ") for byte in range(256)
)
_DELETED = str.maketrans("", "", string.punctuation)


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
        stem: apply the Porter stemmer to words of more than three characters.
    """
    # Bytes have the fastest table lookup, and no byte of a longer UTF-8 character is ASCII.
    ascii_only = text.lower().encode(errors="surrogatepass").translate(_NOT_ROUGE_TO_SPACES)
    words = ascii_only.decode("ascii").split()
    return stemmed(words) if stem else words


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
