"""Texts as words: their tokens, stems and weights; sentences, phrases, and what is no evidence.

A word is compared by its stem: NFKC, case folded, light English endings off, and no more than the
first `STEM` letters, which joins the forms of most European languages. Scripts without spaces give
overlapping pairs of characters. ``data/words.txt`` and ``data/phrases.txt`` hold the lists;
refusals and negators are in the languages' files of `ragassay.texts`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import resources
from itertools import takewhile

from ragassay import texts
from ragassay.base import packages
from ragassay.judges.offline import LONGEST
from ragassay.texts.languages import UNSPACED, listed
from ragassay.texts.numbers import SIGNS, folded

LISTS = packages.word_lists("ragassay.judges.offline", "data/words.txt")
STEM = 8  # letters of a word that are compared
WHOLE, LITTLE = 10, 3
"""Weight of a word, and of a common English one; a small word weighs nothing. Whole numbers, so
that sums are exact everywhere."""

_IS_UNSPACED = re.compile(f"[{UNSPACED}]")
_TOKEN = re.compile(
    rf"[{UNSPACED}]+|-?\d+(?:[.:/-]\d+)*|°[cf]?|[%$€£¥<>≤≥]|(?:[^\W\d_{UNSPACED}]\.){{2,}}"
    rf"|[^\W\d_{UNSPACED}](?:[^\W_{UNSPACED}]|['’](?=[^\W\d_]))*(?:\+\+|#)?"
)
_SIGNS = {ord(sign): shown for shown, sign in SIGNS.items()}
_NO_CENTS = re.compile(r"(?<=\d)\.0+$")
_MONEY = re.compile(r"([$€£¥]) ?(\d+(?:\.\d+)?)((?: ?[mb]illion)?)")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_LINE_END = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SPACES = re.compile(r"[^\S\n]{2,}|[^\S\n ]")
_BLANK_LINES = re.compile(r"\n(?: ?\n)+")

_SMALL = frozenset(LISTS["small"])
_SMALL_ENDINGS = ("n't", "'re", "'ve", "'ll", "'m")
_NUMERALS = {word: value for value, word in (numeral.split("=") for numeral in LISTS["numerals"])}
_UNITS = {form: unit.split("=")[0] for unit in LISTS["units"] for form in unit.split("=")}
"""The first form of each unit, by each of its forms."""
_FORMS, _ENDINGS = (
    [(end, new, int(least)) for end, new, least in (text.split("=") for text in LISTS[name])]
    for name in ("forms", "endings")
)
"""Ending, its replacement, and the smallest number of letters before it."""
_LONG_UNITS = {form: unit for form, unit in _UNITS.items() if len(form) > 3 and form.isalpha()}
"""Forms that are units anywhere; short ones are after a number."""


def visible(text: str) -> str:
    """The text in its compatibility form (NFKC), with single spaces and single line ends of one
    kind, and without invisible characters; no more than its first `LONGEST` characters."""
    text = _read(text)
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return _single_spaced(text)


def _read(text: str) -> str:
    return _LINE_END.sub("\n", text[:LONGEST])


def _single_spaced(text: str) -> str:
    # Patterns start again at each place of a run of spaces: their time would grow with its square.
    return _BLANK_LINES.sub("\n", _SPACES.sub(" ", text))


def spaced(text: str) -> str:
    """The text with spaces between the characters of scripts that put none between words."""
    return text if text.isascii() else _IS_UNSPACED.sub(r" \g<0> ", text)


_REVERSED = re.compile(
    r"\b(?:(?:[Uu]n(?!der|ter|cle|anim|i[^dmn])|[Nn]on)([^\W\d_A-Z]{4,})|(\w{3,})less)\b"
)


def unfolded(text: str) -> str:
    """The text with "non" before a word whose affix denies the rest of it: unlimited, nonfatal,
    limitless; German, too: unbegrenzt."""
    return _REVERSED.sub(lambda m: f"non {m[1] or m[2]}" if stem(m[0].casefold()) else m[0], text)


def n_words(text: str) -> int:
    """How many words a text has; two characters of a script without spaces count as one."""
    unspaced = len(_IS_UNSPACED.findall(text))
    return len(_IS_UNSPACED.sub(" ", text).split()) + (unspaced + 1) // 2


def tokens(text: str) -> list[str]:
    """The words of a text, lower case, in their order; numbers in digits, units in one form."""
    text = folded(visible(text), "any").translate(_SIGNS).casefold()
    text = _MONEY.sub(r"\2\3 \1", text)
    found: list[str] = []
    for word in _TOKEN.findall(text):
        if _IS_UNSPACED.match(word):
            found += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        elif is_number(word):
            found.append(_NO_CENTS.sub("", word))
        elif word in _UNITS and found and is_number(found[-1]):
            found.append(_UNITS[word])
        else:
            found.append(_NUMERALS.get(word) or _spelled(word))
    return found


def _spelled(word: str) -> str:
    """A word without the full stops of an abbreviation and without an ending 's."""
    if "." in word:
        return word.replace(".", "")
    word = word.replace("’", "'")
    return word.removesuffix("'s") or word


@lru_cache(maxsize=1 << 16)
def stem(token: str) -> str:
    """The part of one of the `tokens` that is compared with others; empty for a small word."""
    if token in _SMALL or token.endswith(_SMALL_ENDINGS):
        return ""
    if not token[0].isalpha() or _IS_UNSPACED.match(token):
        return token
    return _stem(_LONG_UNITS.get(_singular(token), token))


def _stem(token: str) -> str:
    if len(token) > 3 and token.isascii():
        token = _without(_without(_singular(token), _FORMS), _ENDINGS)
        if len(token) > 3:
            if token[-1] == token[-2] and token[-1] not in "aeiouls0123456789":
                token = token[:-1]
            token = re.sub("y$", "i", token.removesuffix("e"))
    return token[:STEM]


def _without(token: str, endings: Iterable[tuple[str, str, int]]) -> str:
    for ending, instead, least in endings:
        rest = token[: -len(ending)]
        if token.endswith(ending) and len(rest) >= least and set(rest) & set("aeiouy"):
            return rest + instead
    return token


def _singular(token: str) -> str:
    if token.endswith("ies") and len(token) > 4:
        return token[:-3] + "y"
    if token.endswith(("sses", "shes", "ches", "xes")):
        return token[:-2]
    return token[:-1] if re.search("[^sui]s$", token) else token


@lru_cache(maxsize=4096)
def content(text: str) -> tuple[str, ...]:
    """Stems of the words that are not small, in their order; the last ones are remembered."""
    return tuple(filter(None, map(stem, tokens(text))))


_COMMON = frozenset(map(_stem, LISTS["common"]))


def weight(stemmed: str) -> int:
    """The weight of a `stem`: `WHOLE`, or `LITTLE` where it is a common English word."""
    return LITTLE if stemmed in _COMMON else WHOLE


def weigh(stems: Iterable[str]) -> int:
    """Sum of the weights."""
    return sum(map(weight, stems))


def is_number(stemmed: str) -> bool:
    """Whether a token or stem is a number."""
    return stemmed.lstrip("-")[:1].isdigit()


UNITS = frozenset(map(stem, _UNITS.values()))  # stems of units of measure and money


_NAME = re.compile(
    r"(?<![\w.@+-])[\w.+-]{1,64}@\w[\w.-]*"
    r"|(?<=[\w,;:)\"'’”] )[A-ZÀ-ÖØ-Þ][\w’'+#-]*|\b[A-Z]{2}[A-Z0-9]*\b"
)
_FIRST_NAME = re.compile(r"^[A-ZÀ-ÖØ-Þ]\w+(?= [A-ZÀ-ÖØ-Þ])")
_MID = re.compile(r"(?<=[\w,;:)\"'’”] )[^\W\d_][\w’'-]*")


@lru_cache(maxsize=8192)
def names(text: str) -> frozenset[str]:
    """Stems of capitalised words inside sentences, also of one before the first of them (none where
    most words are capitalised: a title, German nouns), of words in capitals, of addresses."""
    text = visible(text)
    each = _NAME.findall(text)
    words = [word for word in _MID.findall(text) if stem(word.casefold())]
    if len(each) > 2 and 4 * len(each) > 3 * len(words) + 1:
        each = [word for word in each if word.isupper() or "@" in word]
    each += _FIRST_NAME.findall(text) * bool(each)
    return frozenset(stemmed for name in each for stemmed in content(name))


@cache
def pattern(section: str) -> re.Pattern[str]:
    """What any line of a section of ``data/phrases.txt`` matches; case is ignored."""
    source = resources.files("ragassay.judges.offline").joinpath("data/phrases.txt")
    _, _, rest = source.read_text(encoding="utf-8").partition(f"[{section}]\n")
    return any_of(rest.partition("\n[")[0])


def any_of(patterns: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    """What any of several patterns, one a line, matches. ``{name}`` means what a line
    ``name = pattern`` above it says."""
    defined: dict[str, str] = {}
    lines: list[str] = []
    for line in patterns.splitlines():
        line = re.sub(r"\{([a-z]+)\}", lambda use: defined[use[1]], line)
        if begins := re.fullmatch(r"([a-z]+) = (.*)", line):
            defined[begins[1]] = begins[2]
        else:
            lines.append(line)
    return re.compile("|".join(lines), flags | re.MULTILINE)


_CITATION = re.compile(
    r"[ \t]*(?:\[\^?\d{1,3}(?:\s*[,;–-]\s*\^?\d{1,3})*\]|【[^】]{0,40}】"
    r"|[(\[](?:doc(?:ument)?|passage|source|ref)s?\.?:?\s*\d{1,3}(?:\s*(?:,|and|&)\s*\d{1,3})*[)\]])",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\(\s*(?:https?:|www\.|/)[^)\s]{0,1000}+\s*\)")
_MARKS = re.compile(
    r"^[ \t]*(?:```|~~~)[ \t]*[\w+#-]*[ \t]*$"
    r"|^[ \t>]*(?:#{1,6}\s+|[-*+•◦▪–]\s+|\(?\d{1,3}[.)]\s+)+"
    r"|\*\*|__|`|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)|</?(?:answer|b|br|em|i|li|p|strong|ul)\s?/?>",
    re.MULTILINE,
)
_CUT = re.compile(
    r"(?<=[,;:，、；：—])(?<!\d[,:](?=\d))\s*|\s+[–—-]+\s+|\s*[()（）]\s*"
    r"|\s+(?=(?:and|or|but|because|although|though|while|whereas|which|where|when|if|unless|that|who"
    r"|whose|by|for|with|without|in|on|to|from|of|as|at|into|than|through|such|during|before|after"
    r"|between|under|over|about|und|oder|aber|dass|mit|von|für|et|ou|mais|pour|avec|pero|para|por)\s)"
)


def plain(text: str) -> str:
    """The text without citations, link targets, Markdown marks and bullets."""
    return _single_spaced(_MARKS.sub("", _uncited(visible(text))))


def _uncited(text: str) -> str:
    return _CITATION.sub("", _LINK.sub(r"\1", text))


def sentences(text: str) -> list[str]:
    """The sentences of a text as it was written, each `plain`; a line end is an end."""
    lines = _uncited(_single_spaced(_read(text))).split("\n")
    pieces = (
        plain(line[start:end]).strip() for line in lines for start, end in texts.sentences(line)
    )
    return [piece for piece in pieces if piece]


def phrases(sentence: str) -> list[str]:
    """The phrases of one of the `sentences`, cut at punctuation, prepositions and conjunctions; a
    piece that weighs less than a word and a common one is joined to the next, the last to the one
    before it."""
    found: list[str] = []
    piece, heavy = "", 0
    for cut in filter(None, _CUT.split(sentence)):
        piece = f"{piece} {cut.strip()}".strip()
        heavy += weigh(content(cut))
        if heavy >= WHOLE + LITTLE:
            found.append(piece)
            piece, heavy = "", 0
    if piece and found:
        found[-1] += f" {piece}"
    return found or [piece] * bool(heavy)


# Chat is known by its words and not by its phrases, of which there is no end: an answer that talks
# about itself ("Based on the documents above, here is what I found:") has few words to do it with.
_TALK = frozenset(map(stem, LISTS["talk"]))
_LONGEST_TALK = 200  # characters before what a sentence says
_TURN = re.compile(r"(?<=[,;:，；：])(?!\d)\s*|\s+[–—-]+\s+|\s+(?=(?:that|dass)\s)")
_OFFERS = _TALK.union(map(stem, LISTS["offers"]))
_INVITATIONS, _GREETINGS, _SOURCES = map(pattern, ("invitations", "greetings", "sources"))
_SAYS = {*listed("negators"), "yes", "ja", "oui", "sí", "sì"}


@lru_cache(maxsize=8192)
def is_talk(text: str) -> bool:
    """Whether a text is about the conversation alone: a greeting, or no content words but those of
    ``talk`` (and ``offers``, where it invites), of which none affirms or denies."""
    stems = content(rest := _GREETINGS.sub(" ", text))
    invites = _OFFERS.issuperset(stems) and bool(_INVITATIONS.search(text))
    is_idle = (invites or _TALK.issuperset(stems)) and bool(stems or rest != text)
    return is_idle and not any(word in _SAYS or word.endswith("n't") for word in tokens(rest))


def topic(sentence: str) -> str:
    """One of the `sentences` without the talk before what it says, and without its source, where
    that has no number ("According to our policy, ...")."""
    turns = [turn.span() for turn in _TURN.finditer(sentence[:_LONGEST_TALK])]
    return sentence[max((end for at, end in turns if _is_before(sentence[:at])), default=0) :]


def _is_before(text: str) -> bool:
    return is_talk(text) or bool(_SOURCES.search(text) and not any(map(is_number, tokens(text))))


_ORDERS, _PRAISE = pattern("orders"), pattern("praise")


@lru_cache(maxsize=4096)
def is_hostile(sentence: str) -> bool:
    """Whether a sentence addresses the judge: an order, a role, a grade, praise of itself."""
    return bool(_ORDERS.search(sentence) or _PRAISE.search(sentence))


@lru_cache(maxsize=2048)
def evidence_sentences(text: str) -> tuple[str, ...]:
    """The plain sentences of a text that may be evidence: none that addresses the judge, nothing
    after an explicit order."""
    before_orders = takewhile(lambda name: not _ORDERS.search(name), sentences(text))
    return tuple(part for part in before_orders if not _PRAISE.search(part))
