"""Which drafts become items: what words tell first, then what the checker says, so that nothing is
paid for a draft that words reject."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz, process

from ragassay.base.score import Reason
from ragassay.judges.asking import Ask, Unanswered
from ragassay.judges.offline.refusal import parts, refuses
from ragassay.judges.offline.words import WHOLE, content, n_words, sentences as said, weight
from ragassay.judges.questions import AnswerMatch, ClaimSupport
from ragassay.judges.questions.answering import AnswerFromPassages
from ragassay.synthesis.draft import LENGTHS, WORDS, Draft, Rejection, Why
from ragassay.synthesis.sections import Corpus, with_headings
from ragassay.texts import sentences
from ragassay.texts.languages import code_of, language_of, without_yes_or_no, word_lists

_DECLINES = re.compile(
    r"\W*(?:(?:i|we) (?:(?:must|have to) )?(?:refuse|decline)\b"
    r"|(?:the )?request (?:is |was )?(?:refused|declined))",
    re.IGNORECASE,
)
"""Refusals that state something, which an answer may do, too."""
_MORE = re.compile(
    r"\b(?:provide|give|share|send|paste)\b.*\b(?:more|another|other|text|passages?|documents?"
    r"|details|context|information)\b"
    r"|\b(?:help|assist) (?:you )?with\b|\b(?:anything else|any (?:other|more|further) questions?"
    r"|would you like (?:to know|me to|more|help)|do you have (?:any|other|more)"
    r"|how (?:else )?can i (?:help|assist)|want to know more|more help)\b",
    re.IGNORECASE,
)
"""What somebody who declines asks in return."""


def no_answer(text: str, conversation: str = "") -> bool:
    """Whether a text holds no answer: it is empty, declines, or says that it does not know."""
    if not parts(text, conversation):
        # An apology may lead to an answer: "I'm sorry, the museum is closed on Mondays."
        return len(content(text)) <= 1
    return refuses(text, conversation) or bool(_DECLINES.match(text))


def declined(text: str) -> bool:
    """Whether a text that was to be a query is a refusal to write one. What asks something is a
    query, whatever comes before it ("I cannot log in, what can I do?")."""
    asked = [name for name in said(text) if name.endswith(("?", "？"))]
    return no_answer(text) and all(map(_MORE.search, asked))


ALIKE = 90.0
"""How alike two queries are that count as duplicates, 0 to 100 (words in any order)."""
LENGTH_MARGIN = 1.25
"""By how much a query may be longer or shorter than the length that was wanted."""

FROM_SPANS = "to answer from the spans alone and without them"
ELSEWHERE_BY_WORDS = "to answer from the documents; their words were compared instead"

_SPEAKS_OF_TEXT = re.compile(
    r"\b(?:the|this|that|these|given|provided|above|following) (?:passages?|texts?|documents?|"
    r"excerpts?|paragraphs?|contexts?|sections?)\b|\baccording to the (?:text|passage|document)"
    r"|\b(?:im|laut|dem|der|des|den|diese[mrs]|obige[mnr]) (?:text|textes|textstelle|dokuments?)\b"
    r"|\b(?:diese[mrs]|obige[mnr]) (?:abschnitt|absatz|passage|auszug)\b"
    r"|\b(?:le|ce|du|au|ces|les) (?:texte|document)s?\b|\b(?:ce|cet|ces) (?:passage|extrait)s?\b"
    r"|\b(?:el|este|del|al|los|estos) (?:texto|documento)s?\b|\beste (?:pasaje|fragmento)\b"
    r"|文章中|[这這该該上][篇段]?(?:文章|文档|文檔|文字|段落)|上文中|上述内容|上述內容|文档中|文檔中",
    re.IGNORECASE,
)
"""In English, German, French, Spanish and Chinese."""
_NAMES = re.compile(r"\b(?:[A-ZÀ-Þ][\w’'-]*|\w*\d[\w.,]*)")
_NUMBERING = re.compile(r"(?:\d+[.)]|\d+(?:\.\d+)+)\s+")
"""What precedes the words of a numbered heading."""


@dataclass
class Filters:
    """What words can tell of a draft: its query has so many ``words``, fewest and most."""

    existing: Sequence[str] = ()
    words: tuple[int, int] = WORDS
    _seen: defaultdict[frozenset[str], list[str]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for text in self.existing:
            self._seen[_names_in(text)].append(_normal(text))

    def against(self, draft: Draft) -> Rejection | None:
        """The first reason against a draft; a draft without one counts as seen."""
        reasons: tuple[tuple[Why, str], ...] = (
            ("form", self._form(draft)),
            ("leak", _leak(draft)),
            ("duplicate", self._duplicate(draft)),
        )
        for why, detail in reasons:
            if detail:
                return Rejection(why, detail, draft)
        self._seen[_names_in(draft.conversation)].append(_normal(draft.conversation))
        return None

    def _form(self, draft: Draft) -> str:
        if detail := ill_formed(draft.query, self.words, draft.wanted.get("length")):
            return detail
        if name := draft.wanted.get("language"):
            wanted, actual = code_of(name), language_of(draft.query)
            if actual and actual != wanted and wanted in word_lists():
                return f"the query is in {actual}, not in {wanted}"
        if draft.answerable and not draft.spans:
            return "no span of the documents holds the answer"
        if draft.answerable and any(not reference.strip() for reference in draft.references):
            return "the answer is empty"
        if draft.wanted.get("shape") == "across" and draft.answerable:
            documents = {span.document for span in draft.spans}
            if len(documents) < 2:
                return f"the answer is in {documents.pop()} alone, not across documents"
        return ""

    def _duplicate(self, draft: Draft) -> str:
        # The same words about another name, or with another number, are another query.
        seen, text = self._seen[_names_in(draft.conversation)], _normal(draft.conversation)
        match = process.extractOne(text, seen, scorer=fuzz.token_sort_ratio, score_cutoff=ALIKE)
        return f"the query is like {match[0]!r} ({match[1]:.0f} of 100)" if match else ""


def ill_formed(query: str, words: tuple[int, int], length: str | None = None) -> str:
    """What is wrong with the form of a query; empty for nothing."""
    n = n_words(query)
    if not words[0] <= n <= words[1]:
        return f"the query has {n} words, not {words[0]} to {words[1]}"
    if length is not None:
        low, high = LENGTHS[length]
        if not low / LENGTH_MARGIN <= n <= high * LENGTH_MARGIN:
            return f"the query has {n} words; a {length} one was wanted ({low} to {high})"
    if match := _SPEAKS_OF_TEXT.search(query):
        return f"the query mentions {match.group()!r}, which a user does not see"
    return ""


Found = tuple[Why, str] | None


class Checks:
    """What the checker finds against drafts; ``not_tried`` counts checks that it could not do."""

    def __init__(self, corpus: Corpus) -> None:
        self.not_tried: Counter[str] = Counter()
        self._corpus = corpus

    async def against(self, draft: Draft, ask: Ask) -> Rejection | None:
        """The first reason against a draft. A checker that answers no queries leaves the steps out
        that need it; whether documents answer a query, their words tell instead."""
        steps: tuple[Callable[[Draft, Ask], Awaitable[Found]], ...] = (self._answered,)
        if draft.answerable:
            steps = (self._ungrounded, self._unanswerable)
        for step in steps if draft.references or not draft.answerable else ():
            try:
                found = await step(draft, ask)
            except Unanswered as error:
                if error.failure.reason != Reason.UNSUPPORTED or step == self._ungrounded:
                    return Rejection.of(error.failure, "not-checked", "checker", draft)
                self.not_tried[FROM_SPANS if draft.answerable else ELSEWHERE_BY_WORDS] += 1
                found = None if draft.answerable else self._answered_by_words(draft)
            if found is not None:
                return Rejection(*found, draft)
        return None

    async def _answered(self, draft: Draft, ask: Ask) -> Found:
        """Whether the documents answer a query that they must not."""
        passages = tuple(section.shown for section in self._corpus.search(draft.query))
        found = await ask(AnswerFromPassages(draft.conversation, passages))
        if no_answer(found.answer, draft.conversation):
            return None
        return "answered-elsewhere", f"the checker found an answer: {found.answer!r}"

    def _answered_by_words(self, draft: Draft) -> Found:
        lists = word_lists().get(language_of(draft.query))
        reason = "no spaces part its words"
        if lists is None or lists.has_spaces:
            if self._corpus.lacks(draft.query):
                return None
            reason = "every word of it is in the documents"
        return "answered-elsewhere", f"{reason}, and the checker cannot tell more"

    async def _ungrounded(self, draft: Draft, ask: Ask) -> Found:
        """Whether the answer does not follow from the gold spans."""
        claims = list(filter(None, map(without_yes_or_no, dict.fromkeys(draft.references))))
        if without_yes_or_no(draft.references[0]) != draft.references[0]:
            claims = claims[:1]
        # Several sentences are too long a claim for some checkers, even against the same text.
        same = {span.text for span in draft.spans if len(sentences(span.text)) > 1}
        asked = tuple(text for text in dict.fromkeys(claims) if text not in same)
        supported = (await ask(ClaimSupport(asked, self._spans(draft)))).supported if asked else ()
        if all(supported):
            return None
        wrong = asked[supported.index(False)]
        return "not-grounded", f"the checker found no support for {wrong!r} in the gold spans"

    async def _unanswerable(self, draft: Draft, ask: Ask) -> Found:
        """Whether the gold spans alone do not give the answer, or nothing is needed to give it."""
        wrong = await self._wrong(draft, self._spans(draft), ask)
        if wrong is not None:
            answer = repr(wrong) if wrong else "nothing"
            return "not-answerable", f"from the gold spans alone the checker answered {answer}"
        if draft.wanted.get("type") == "yes-no":
            return None  # half of all guesses are right
        if await self._wrong(draft, (), ask) is not None:
            return None
        return "known-without", "the checker knows the answer without the spans"

    async def _wrong(self, draft: Draft, passages: tuple[str, ...], ask: Ask) -> str | None:
        """The checker's answer where it is wrong, empty for none; ``None`` where it is right."""
        found = await ask(AnswerFromPassages(draft.conversation, passages))
        answer = found.answer.strip()
        if no_answer(answer, draft.conversation):
            return ""
        match = await ask(AnswerMatch(draft.query, answer, draft.references))
        return None if match.is_matching else answer

    def _spans(self, draft: Draft) -> tuple[str, ...]:
        return tuple(
            with_headings(self._corpus.at(span.document, span.start), span.text)
            for span in draft.spans
        )


def _leak(draft: Draft) -> str:
    """That all words of a reference are in the query; the numbers before headings do not count:
    the 3 of ``3. Starting`` answers nothing."""
    if draft.wanted.get("type") == "yes-no":
        return ""
    text = draft.query
    for section in draft.sections:
        for heading in (section.title, section.heading):
            quoted = heading.split(":")[0].strip()
            if (number := _NUMBERING.match(quoted)) is not None:
                text = text.replace(quoted, quoted[number.end() :])
    asked = set(content(text))
    found = (
        reference
        for reference in draft.references
        if (words := set(content(reference))) and words <= asked
    )
    return f"the query holds its answer {name!r}" if (name := next(found, None)) is not None else ""


def _names_in(text: str) -> frozenset[str]:
    stems = (stem for word in _NAMES.findall(text) for stem in content(word))
    return frozenset(stem for stem in stems if weight(stem) == WHOLE)


def _normal(text: str) -> str:
    return " ".join(text.casefold().removeprefix("user: ").split())
