"""Texts that stand where a query or an answer is wanted and are none: refusals, "I do not know",
statements."""

from __future__ import annotations

import re

from ragassay.judges.offline.refusal import TURN, parts
from ragassay.judges.offline.words import content, sentences
from ragassay.texts.languages import language_of

_SORRY = r"(?:(?:i['\u2019]?m|i am) )?(?:very |so |really )?(?:sorry|afraid)\W+(?:but )?"
_REFUSES = re.compile(
    rf"\W*(?:{_SORRY}|unfortunately,? |i apologi[sz]e\b[^.]*\W+)*"
    r"(?:as an ai\b|(?:i|we) (?:can['\u2019]?t|cannot|won['\u2019]?t|will not|refuse\b|decline\b"
    r"|must (?:decline|refuse)|have to decline)|(?:i['\u2019]?m|i am) (?:unable|not able)\b"
    r"|(?:the )?request (?:is |was )?(?:refused|declined))",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\b(?:provide|give|share|send|paste)\b.*\b(?:more|another|other|text|passages?|documents?"
    r"|details|context|information)\b"
    r"|\b(?:help|assist) (?:you )?with\b|\b(?:anything else|any (?:other|more|further) questions?"
    r"|would you like (?:to know|me to|more|help)|do you have (?:any|other|more)"
    r"|how (?:else )?can i (?:help|assist)|want to know more|more help)\b",
    re.IGNORECASE,
)
"""What somebody who declines asks in return."""
_STATES = re.compile(
    r"\W*(?:the|an?|this|these|those|it|there|he|she|they|here|sure|okay|certainly|of course)\b",
    re.IGNORECASE,
)
"""How English sentences begin that ask for nothing."""
_REQUESTS = re.compile(
    r"\b(?:who|whom|whose|what|which|when|where|why|how|whether|please|tell|i|me|my|we|us|our)\b",
    re.IGNORECASE,
)
_ENDS = (".", "!")


def no_answer(text: str, conversation: str = "") -> bool:
    """Whether a text holds no answer: it is empty, declines, or says that it does not know."""
    kinds = {kind for kind, _ in parts(text, conversation)}
    if "statement" in kinds:
        # "I refuse" states something; "I cannot say for sure, but it is 5 euros" does not refuse.
        return "refusal" not in kinds and bool(_REFUSES.match(text)) and not TURN.search(text)
    if kinds & {"refusal", "small talk"} or _REFUSES.match(text):
        return True
    # An apology may lead to an answer: "I'm sorry, the museum is closed on Mondays."
    return len(content(text)) <= 1


def declined(text: str) -> bool:
    """Whether a text that was to be a query is a refusal to write one.

    What asks something is a query, whatever stands before it ("I cannot log in, what can I do?").
    """
    kinds = {kind for kind, _ in parts(text)}
    if not (_REFUSES.match(text) or ("refusal" in kinds and "statement" not in kinds)):
        return False
    asked = [one for one in sentences(text) if one.endswith(("?", "？"))]
    return all(_MORE.search(one) for one in asked)


def states(text: str) -> bool:
    """Whether a text in English is a statement and asks for nothing.

    Only sure cases count: sentences that end with a full stop, begin as statements do ("The pool
    opens at nine."), and have no question word and no word of the user about himself.
    """
    if "?" in text or not text.rstrip().endswith(_ENDS) or _REQUESTS.search(text):
        return False
    return _STATES.match(text) is not None and language_of(text) in ("en", "")
