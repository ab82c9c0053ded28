"""Signal 3: a sentence that nearly equals one of the passages, and what differs.

One negation, opposite, number, unit or name more or other, or two words that change places around a
third one, and the sentences contradict each other; two differences of negation, opposite or order
cancel out ("not open", "closed"). Another ordinary word may be a synonym, and contradicts nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from operator import attrgetter
from typing import Literal

from ragassay.judges.offline.evidence import Evidence
from ragassay.judges.offline.words import (
    LISTS,
    UNITS,
    WHOLE,
    content,
    is_number,
    names,
    pattern,
    spaced,
    stem,
    tokens,
    unfolded,
    weight,
)
from ragassay.texts.languages import listed

Kind = Literal["negation", "opposite", "number", "unit", "name", "roles"]

NEAR = 0.75
"""Share of a sentence's weight that is in the other one, from which they are compared."""
ALIKE = 0.9
"""Share of the words that two sentences have in common, from which a change of places matters."""
LEAST = 13  # weight that two sentences must share for another number, unit or name to contradict
SPREAD = 0.6
"""Share of the other's words, between the first and last in common, that must be in common."""
EXCHANGED = 0.2
"""Largest share of a copy's words that replace others; one word in any case."""
_PLACE = 3  # most words in one place
_LONGEST = 100  # words of a sentence that are compared
_NEGATIONS = listed("negators")
_NEGATED_VERB = re.compile(r"([不没沒无無未])(?:是|有|会|會|曾|能)")
_DENIED = re.compile(
    r"^\W*(?:it(?: is|['’]s| was) (?:not (?:true|correct|the case)|false|untrue|incorrect|a myth)"
    r"|it (?:is|was)n['’]t (?:true|correct|the case)) that\b",
    re.IGNORECASE,
)
_PARTICLE = re.compile(r"^\W*(?:yes|no|ja|nein|oui|non|s[íì]|是的?|不)[,，]", re.IGNORECASE)
_FRONTED = re.compile(
    r"(?is)^\W*((?:after|as|at|because|before|by|during|for|from|if|in|on|once|since|to|unless|until"
    r"|when|while|with|within|without)\b[^,;:]{3,90}),\s(.+?)([.!?]*)$"
)
_SIGNS = {"≤": "at most", "≥": "at least", ">": "above", "<": "below", "1": "one"}
"""The sections of phrases that are written as a sign or digit: "no more than 5" denies nothing that
"at most 5" says."""
_ONLY, _ALSO = (["only"], ["just"]), {"but", "also"}  # "not only ... but also"
_REACH = 6  # words after a verb that are searched for a "by"
_BE = {"is", "are", "was", "were", "be", "been", "being"}


def _sides() -> dict[str, dict[int, int]]:
    """For each word with an opposite: the numbers of the entries that hold it, with its side."""
    found: dict[str, dict[int, int]] = {}
    for at, entry in enumerate(LISTS["opposites"]):
        for side, forms in enumerate(entry.split("/")):
            for form in forms.split(","):
                found.setdefault(stem(form) or form, {})[at] = side
    return found


_OPPOSITES = _sides()


@dataclass(frozen=True)
class Word:
    """A word of a sentence that is compared.

    Attributes:
        stem: what is compared; of a small word with an opposite, itself.
        kind: what other word contradicts it in its place.
        denied: 1 where an odd number of negations precede it, its own affix among them.
        reversed: 1 where its own affix denies it (see `unfolded`).
        voice: 1 where a "by" follows soon, 2 where a form of "be" precedes as well.
    """

    stem: str
    kind: Literal["number", "unit", "name", ""] = ""
    denied: int = 0
    reversed: int = 0
    voice: int = 0

    @property
    def weight(self) -> int:
        """Its weight; 0 of a small word."""
        return weight(self.stem) if " " in self.stem or stem(self.stem) else 0


@lru_cache(maxsize=8192)
def read(sentence: str) -> tuple[Word, ...]:
    """The words of a sentence that are compared: all but small ones without an opposite."""
    text = _NEGATED_VERB.sub(r"\1", _PARTICLE.sub("", sentence))
    for sign, section in _SIGNS.items():
        text = pattern(section).sub(f" {sign} ", text)
    text = unfolded(spaced(text))
    framed = _DENIED.match(text)
    each = tokens(text[framed.end() :] if framed else text)[: 2 * _LONGEST]
    denied, words = int(framed is not None), list[Word]()
    for at, token in enumerate(each):
        if token in _NEGATIONS or token.endswith("n't"):
            denied += each[at + 1 : at + 2] not in _ONLY or not _ALSO.intersection(each[at:])
            continue
        stemmed = stem(token) or (token if token in _OPPOSITES else "")
        if not stemmed:
            continue
        kind: Literal["number", "unit", "name", ""] = "unit" if stemmed in UNITS else ""
        if is_number(stemmed):
            kind = "number"
        elif stemmed in UNITS and words and words[-1].stem == each[at - 1]:
            # A number with its unit is one word: 330 feet are not 330 metres.
            words[-1] = replace(words[-1], stem=f"{words[-1].stem} {stemmed}")
            continue
        elif stemmed in names(text):
            kind = "name"
        by = "by" in each[at + 1 : at + 1 + _REACH]
        passive = by and any(name.removesuffix("n't") in _BE for name in each[max(0, at - 2) : at])
        own = int(each[at - 1 : at] == ["non"])
        words.append(Word(stemmed, kind, denied % 2, own, by + passive))
        denied = 0
    if denied and words:
        words[-1] = replace(words[-1], denied=(words[-1].denied + denied) % 2)
    return tuple(words[:_LONGEST])


@dataclass(frozen=True)
class Comparison:
    """What a sentence has in common with another one.

    Attributes:
        near: the share of its weight that is in the other one in the same order, 0 to 1; what
            replaces another number, unit, name or an opposite is left out.
        kind: how they contradict each other.
        copy: whether all of it is in the other one, but for replaced words.
        exchanged: of a copy, in how many places, unless only common words are exchanged.
    """

    near: float
    kind: Kind | None = None
    copy: bool = False
    exchanged: int = 0


def compared(own: tuple[Word, ...], other: tuple[Word, ...]) -> Comparison:
    """Lays a sentence beside another one."""
    matcher = SequenceMatcher(None, [w.stem for w in own], [w.stem for w in other], autojunk=False)
    same: list[Word] = []
    instead: list[tuple[Word, Kind]] = []
    flips = added = exchanged = heavy = reached = places = turned = beside = 0
    both = {*own} & {*other}
    span: list[int] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        here, there = own[a:b], other[c:d]
        # What a word of its own denies is part of its sense, as of "rare" and "unusual".
        alone = sum(word.denied ^ word.reversed for word in {*here, *there} - both)
        if tag == "equal":
            same += here
            flips += sum(x.denied != y.denied for x, y in zip(here, there, strict=True))
            span += [c, d]
        elif tag == "replace":
            few = len(here) <= _PLACE and len(there) <= _PLACE
            differ = [(w, kind) for w in here if few and (kind := _against(w, there))]
            instead += differ
            places += bool(differ)
            reached += min(len(here), len(there))
            exchanged += sum(word.weight > 0 for word in here) - len(differ)
            heavy += not differ and any(word.weight >= WHOLE for word in (*here, *there))
            turned += alone
        else:
            added += sum(word.weight > 0 for word in here)
            beside += alone
    swapped = {word.stem for word, _ in instead} <= {word.stem for word in other}
    total = sum(word.weight for word in own) - sum(word.weight for word, _ in instead)
    held = sum(word.weight for word in same)
    whole = len(own) == len(other) == len(same) + len(instead)
    near = held / total if total else float(whole)
    kinds = [kind for _, kind in instead]
    # A denial in other words may be the one that is in another place ("not served", "we do not").
    odd = (flips + (0 if beside else turned) + kinds.count("opposite")) % 2
    if _turned(own, other):
        return Comparison(1.0, None if odd else "roles")
    dense = len(same) + reached >= SPREAD * (max(span, default=0) - min(span, default=0))
    alike = near >= NEAR and len(same) >= 2 and dense and (held >= LEAST or not places)
    if not (alike or whole) or places > 1 + swapped:
        return Comparison(near)
    flipped: Kind | None = ("opposite" if kinds else "negation") if odd else None
    kind = "roles" if places == 2 else next((k for k in kinds if k != "opposite"), flipped)
    n = len(same) + exchanged
    copy = not kind and not added and len(same) >= 2 and exchanged <= max(1, EXCHANGED * n)
    return Comparison(near, kind, copy, heavy if copy else 0)


def _against(word: Word, there: tuple[Word, ...]) -> Kind | None:
    """How a word is contradicted by those in its place."""
    if any(_opposed(word, element) for element in there):
        return "opposite"
    alike = [element for element in there if word.kind and element.kind == word.kind]
    number, _, unit = word.stem.partition(" ")
    for item in alike:
        if word.kind == "number" and item.stem.partition(" ")[0] == number:
            return "unit" if unit and " " in item.stem else None
    return word.kind or None if alike else None


def _opposed(word: Word, other: Word) -> bool:
    ones, others = _OPPOSITES.get(word.stem, {}), _OPPOSITES.get(other.stem, {})
    differ = word.reversed ^ other.reversed
    return any(ones[entry] ^ others[entry] != differ for entry in ones.keys() & others.keys())


def _turned(own: tuple[Word, ...], other: tuple[Word, ...]) -> bool:
    """Whether two sentences of the same words have exchanged what is before and after one of
    them, or only one is passive and they have not."""
    mine = {word.stem: at for at, word in enumerate(own)}
    theirs = {word.stem: at for at, word in enumerate(other)}
    common = [text for text in mine if text in theirs]
    if len(common) < 3 or len(common) < ALIKE * max(len(mine), len(theirs)):
        return False
    for word in common:
        a, b = mine[word], theirs[word]
        if own[a].kind:
            continue
        before = [theirs[text] < b for text in common if mine[text] < a]
        after = [theirs[text] > b for text in common if mine[text] > a]
        turned = False in before and False in after
        voice = {own[a].voice, other[b].voice} == {0, 2}
        if turned != voice and (turned or (True in before and True in after)):
            return True
    return False


@lru_cache(maxsize=256)
def near_copy(sentence: str, passages: Evidence) -> Comparison:
    """The comparison with the nearest sentence of the passages; among those about as near, one
    that does not contradict it counts. Where words change places, a clause before the first
    comma is moved to the end ("After five attempts, the account is locked")."""
    texts = [sentence, *passages.nearest(content(sentence))]
    own, *others = map(read, texts)
    every = [compared(own, other) for other in others]
    if "roles" in map(attrgetter("kind"), every):
        own, *others = (read(_FRONTED.sub(r"\2 \1\3", text)) for text in texts)
        every = [
            compared(own, other) if one.kind == "roles" else one
            for one, other in zip(every, others, strict=True)
        ]
    found = [one for one in every if one.kind or one.copy] or [Comparison(0.0)]
    best = max(one.near for one in found)
    return max(found, key=lambda one: (one.near >= best - 0.1, one.copy, one.near))
