"""Queries by rules, without a model: a value of a sentence is asked for, a sentence is put as a
question of yes or no, a heading is asked about. English only.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ragassay.base import packages
from ragassay.base.errors import UsageError
from ragassay.golden.golden_item import NegativeReference
from ragassay.judges.offline.words import LISTS, stem
from ragassay.synthesis.draft import Draft, Mix, Nearly
from ragassay.synthesis.sections import Corpus, Section

LABEL = "offline-rules/5"
"""The generator and its version, which is raised when it writes anything else."""

CAN = {
    "type": ("factual", "yes-no", "summary"),
    "answerability": ("answerable", "unanswerable"),
    "shape": ("single",),
    "complexity": ("direct",),
    "language": ("en",),
}
"""What it can write, by part of a mix."""

READS = ("en", "")
"""Languages of the documents that it reads; empty: the words do not tell it."""

_WORDS = [
    word for value, word in (numeral.split("=") for numeral in LISTS["numerals"]) if value != "0"
]
"""Numbers in words, in their order."""
_NUMBER = rf"(?:\d+(?:[.,]\d+)*|{'|'.join(_WORDS)})"
_LISTS: dict[str, list[str]] = packages.table("ragassay.synthesis", "data/offline_words.yaml")
_NAMING = "".join(rf"(?<!\b(?i:{word}) )" for word in _LISTS["numbered"])
_VALUE = re.compile(
    rf"(?<![\w.,:-]){_NAMING}(?P<number>{_NUMBER}) "
    r"(?P<unit>(?:[a-z-]+ )??(?:[a-z-]+s|percent|people|children))\b"
)
_RANGE = re.compile(rf"{_NUMBER}(?: [a-z]+)? (?:to|and|or) $|\bbetween $")
_RANGE_ON = re.compile(rf" (?:to|and|or) {_NUMBER}\b")
_NO_UNIT = {"costs", "hours", "always", "perhaps", "is"}
_DEPENDS = re.compile(
    r"(?:It|Its|They|Their|Them|This|That|These|Those|He|She|His|Her|But|And|So|Then|Or|Here|There|"
    r"Both|Such|Also|However|Otherwise|Should|Do|Please|Bring|You then)\b|"
    r".*\b(?:the latter|above)\b"
)
_SUBORDINATE = re.compile(
    r"(?:When|If|After|Until|Before|As|Because|While|For|In|On|At|From|Since|Where|To|With|Once)\b"
)
_CUT = re.compile(r"[,;:] ")
_UNFIT = re.compile(r"[()\[\]{}\"“”|*#?]")
_INSIDE = re.compile(r"(?<=[a-z,] )[A-ZÀ-Þ][\w’'-]*")
_PART = re.compile(r"\b[A-ZÀ-Þ][\w’'-]{2,}\b")
_DETERMINERS = frozenset(_LISTS["determiners"])
_ORDER = re.compile(
    r"(?P<verb>[A-Z][a-z]*(?<!ing)(?<![^s]s)) (?:(?:on|off|up|out|down) )?(?P<next>[a-z]+)\b"
)
"""Words that a request may begin with, such as hang the or switch on the."""


@dataclass(frozen=True)
class _Fact:
    """A value in a sentence: the clause that is asked about, the clause as a question, and another
    value of the same kind (empty where there is none)."""

    section: Section
    clause: str
    asked: str
    answer: str
    wrong: str
    start: int
    end: int


class OfflineGenerator:
    """Writes all that its rules find in the documents."""

    def __init__(self, corpus: Corpus, seed: int = 0) -> None:
        self._corpus = corpus
        self._random = random.Random(seed)
        texts = [section.text for section in corpus.sections]
        self._values: defaultdict[str, list[str]] = defaultdict(list)
        for text in texts:
            for match in _VALUE.finditer(text):
                self._values[match["unit"].split()[-1]].append(match["number"])
        self._named = {word for text in texts for word in _INSIDE.findall(text)}
        self._low = {word for text in texts for word in re.findall(r"\b[a-z][\w’'-]*", text)}

    def drafts(self, mix: Mix) -> Iterator[Draft]:
        """All drafts of the kinds that a mix has, document by document."""
        check(mix)
        parts = mix.parts
        fixed = {part: values[0] for part, values in parts.items() if len(values) == 1}
        for draft in self._answerable():
            own = draft.wanted["type"]
            for answerability in parts["answerability"]:
                item = draft if answerability == "answerable" else self._near_miss(draft)
                if item is not None:
                    wanted = {**fixed, "type": own, "answerability": answerability}
                    item.kind = tuple(sorted(wanted.items()))
                    yield item

    def _answerable(self) -> Iterator[Draft]:
        """All drafts that the documents answer."""
        for section in self._corpus.sections:
            if self._corpus.language(section.document) not in READS:
                continue
            for fact in self._facts(section):
                yield self._factual(fact)
                if not _is_request(fact.clause):
                    yield self._yes_no(fact)
            if (summary := self._summary(section)) is not None:
                yield summary

    def _facts(self, section: Section) -> Iterator[_Fact]:
        for start, end in section.sentences:
            sentence = " ".join(section.between(start, end).split())
            words = len(sentence.split())
            if not 5 <= words <= 40 or not sentence.endswith(".") or not sentence[0].isupper():
                continue
            if _DEPENDS.match(sentence) or _UNFIT.search(sentence):
                continue
            for match in _VALUE.finditer(sentence):
                before, unit = sentence[: match.start()], match["unit"]
                last = unit.split()[-1]
                if last in _NO_UNIT or not stem(last) or _RANGE.search(before):
                    continue
                if _RANGE_ON.match(sentence[match.end("number") :]):
                    continue
                clause = _clause(sentence, match.end())
                asked = f"{before}how many {unit}{clause[match.end() :]}"
                number = match["number"]
                wrong = self._other(number, self._values[last])
                answer = f"{number} {unit}"
                instead = f"{wrong} {unit}" if wrong else ""
                yield _Fact(section, clause, asked, answer, instead, start, end)

    def _other(self, right: str, every: list[str]) -> str:
        """Another one of its kind, else the next number."""
        others = [text for text in dict.fromkeys(every) if _plain(text) != _plain(right)]
        if others:
            return self._random.choice(others)
        if right in _WORDS:
            return _WORDS[(_WORDS.index(right) + 1) % len(_WORDS)]
        return str(int(right) + 1) if right.isdigit() else ""

    def _factual(self, fact: _Fact) -> Draft:
        query = f"{_about(fact.section)}: {self._lowered(fact.asked)}?"
        return self._draft(fact, "factual", query, (fact.answer, f"{fact.clause}."), fact.wrong)

    def _yes_no(self, fact: _Fact) -> Draft:
        clause, true = fact.clause, not fact.wrong or self._random.random() < 0.5
        claim = clause if true else clause.replace(fact.answer, fact.wrong, 1)
        query = f"{_about(fact.section)}: is it true that {self._lowered(claim)}?"
        answers = (f"Yes. {clause}.", "Yes.") if true else (f"No. {clause}.", "No.")
        return self._draft(fact, "yes-no", query, answers, f"{'No' if true else 'Yes'}.")

    def _draft(
        self, fact: _Fact, kind: str, query: str, references: tuple[str, ...], wrong: str
    ) -> Draft:
        return Draft(
            query,
            (("type", kind),),
            (fact.section,),
            references,
            (_negative(wrong, "inaccurate"),) if wrong else (),
            (self._corpus.span(fact.section, fact.start, fact.end),),
        )

    def _summary(self, section: Section) -> Draft | None:
        """A query about what is below a heading; the first half of it is incomplete."""
        places = section.sentences
        if not section.heading or len(places) < 2:
            return None
        negatives = []
        value = _VALUE.search(section.text)
        if value is not None:
            wrong = self._other(value["number"], self._values[value["unit"].split()[-1]])
            if wrong:
                beginning = f"{section.text[: value.start()]}{wrong} {value['unit']}"
                negatives.append(_negative(beginning + section.text[value.end() :], "inaccurate"))
        half = section.between(section.start, places[(len(places) - 1) // 2][1])
        negatives.append(_negative(half, "incomplete"))
        title, heading = _title(section), self._lowered(section.heading)
        is_asked = heading.endswith("?")
        return Draft(
            f"{title}: {heading}" if is_asked else f"What does {title} say about {heading}?",
            (("type", "summary"),),
            (section,),
            (section.text,),
            tuple(negatives),
            (self._corpus.span(section, section.start, section.end),),
        )

    def _near_miss(self, draft: Draft) -> Draft | None:
        """The same query about a name or subject that no document holds."""
        is_summary = draft.wanted["type"] == "summary"
        things = _LISTS["subjects" if is_summary else "names"]
        if not (missing := [thing for thing in things if self._corpus.lacks(thing)]):
            return None
        absent = self._random.choice(missing)
        title = _title(draft.sections[0])
        own = [
            found
            for found in _PART.findall(title)
            if found in self._named and found.casefold() not in self._low and stem(found.casefold())
        ]
        if is_summary:
            query = f"What does {title} say about {absent}?"
        elif own:
            query = draft.query.replace(own[0], absent)
        else:
            query = draft.query.replace(title, f"{title} in {absent}", 1)
        wrong = tuple(_negative(reference, "inaccurate") for reference in draft.references[:1])
        nearly = Nearly(draft.spans, draft.query, draft.references[0])
        return Draft(query, draft.kind, draft.sections, (), wrong, nearly=nearly)

    def _lowered(self, text: str) -> str:
        """The text with a small first letter, unless its first word is a name or a code."""
        first = re.split(r"\W", text, maxsplit=1)[0]
        if _TWO_CAPITALS.match(text) or first == "I" or re.search(r"[A-Z\d]", first[1:]):
            return text
        if first in self._named and first.casefold() not in _DETERMINERS:
            return text
        return text[0].lower() + text[1:]


_TWO_CAPITALS = re.compile(r"[A-Z][a-z]+\.? [A-Z][a-z]")
"""Words that begin a sentence and are a name, such as Anna Keller or Mr. Keller."""


def check(mix: Mix) -> None:
    """Raises where the rules cannot write what a mix wants."""
    for part, values in mix.parts.items():
        for value in values:
            if value not in CAN.get(part, ()):
                can = ", ".join(CAN.get(part, ())) or "nothing of the kind"
                raise UsageError(
                    f"The offline generator cannot write {part}={value} (it can: {can}). "
                    "Name a model with --generator."
                )


def _is_request(clause: str) -> bool:
    """Whether a clause rather asks for something than says it: Hang the cabinet on the rail."""
    order = _ORDER.match(clause)
    return (
        order is not None and order["next"] in _DETERMINERS and bool(stem(order["verb"].casefold()))
    )


def _clause(sentence: str, end: int) -> str:
    """The sentence without its full stop, and without what follows the comma after a place where
    no comma is before it."""
    has_comma = _SUBORDINATE.match(sentence) or _CUT.search(sentence, 0, end)
    cut = None if has_comma else _CUT.search(sentence, end)
    return sentence[: cut.start()] if cut else sentence[:-1]


def _title(section: Section) -> str:
    return section.title.split(":")[0].strip()


def _about(section: Section) -> str:
    heading = section.heading.rstrip("? ")
    return f"{_title(section)} ({heading})" if heading else _title(section)


def _negative(text: str, kind: Any) -> NegativeReference:
    return NegativeReference(text=text, kind=kind, by=LABEL)


def _plain(value: str) -> str:
    return str(_WORDS.index(value) + 2) if value in _WORDS[:19] else value.casefold()
