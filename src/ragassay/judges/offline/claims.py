"""What an answer claims, in pieces small enough to be looked up.

A claim here is a phrase: a sentence cut at punctuation, prepositions and conjunctions. The share
of supported phrases then has the resolution of a weighted word precision, and each verdict can be
read as a mark on the answer's own words. Sentences that claim nothing are left out: questions,
greetings, refusals, offers of more help. Words about the documents ("according to ...") are left
out as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragassay.judges.offline.language import (
    LENS,
    Lens,
    PreparedPassages,
    content,
    is_hostile,
    lists,
    phrases,
    piece,
    plain,
    sentences,
)
from ragassay.judges.offline.near_copies import COPY, Nearness, contradiction
from ragassay.judges.offline.refusals import claims_nothing
from ragassay.judges.offline.rules import rule_for
from ragassay.judges.questions import Claims, ClaimSupport, ClaimVerdicts, ExtractClaims

_TALK = lists.patterns("talk")
"""What an answer says about its documents and about itself."""

_COUNTER = re.compile(r"\(?\d{1,2}[.)]")
"""The number of an item in a list that runs on in one line."""


@rule_for(ExtractClaims)
def extract(question: ExtractClaims) -> Claims:
    """The phrases of the answer. A sentence that addresses the judge stays whole, as one claim."""
    claims: list[str] = []
    each = sentences(plain(question.answer))
    for sentence in each:
        if is_hostile(sentence):
            claims.append(sentence)
        elif len(each) > 1 and _COUNTER.fullmatch(sentence):
            continue
        elif not claims_nothing(sentence):
            claims.extend(phrases(_TALK.sub("", sentence).strip()))
    return Claims(claims=tuple(claims))


def _unsupported(question: ClaimSupport, answer: ClaimVerdicts) -> bool:
    """Whether a claim is without support that could have some."""
    pairs = zip(question.claims, answer.supported, strict=True)
    return any(not held and content(claim) and not is_hostile(claim) for claim, held in pairs)


@rule_for(ClaimSupport, "passages", _unsupported)
def support(question: ClaimSupport) -> ClaimVerdicts:
    """Decides on each claim by itself: one window must hold more than half of its weight, and the
    passages all its numbers and names."""
    return ClaimVerdicts(supported=supported(question.claims, question.passages))


def supported(
    claims: Sequence[str], passages: Sequence[str], lens: Lens = LENS, near: Nearness = COPY
) -> tuple[bool, ...]:
    """Whether the passages support each claim. A claim that addresses the judge is not supported.

    Args:
        claims: that an answer makes.
        passages: texts that may support them.
        lens: how evidence is searched for.
        near: how alike two sentences must be to be compared for contradictions.
    """
    evidence = PreparedPassages(passages, lens)
    against = _against(claims, passages, near)
    return tuple(
        not wrong
        and bool(content(claim))
        and not is_hostile(claim)
        and evidence.supports(piece(claim))
        for claim, wrong in zip(claims, against, strict=True)
    )


_END = re.compile(r"[.!?…。！？｡][\"'”’)\]]*$")
_GOES_ON = re.compile(r"[,;:，、；：—]$")


def _against(claims: Sequence[str], passages: Sequence[str], near: Nearness) -> list[bool]:
    """For each claim, whether the passages contradict its sentence.

    A phrase is too short to compare, so neighbouring claims are joined to sentences again: up to a
    full stop, and also (for items of a list, which have none) up to a claim that begins like a
    sentence.
    """
    contradicted = [False] * len(claims)
    for ends in (_ends, _ends_or_begins):
        start = 0
        for at in range(1, len(claims) + 1):
            if at == len(claims) or ends(claims[at - 1], claims[at]):
                if contradiction(" ".join(claims[start:at]), passages, near) is not None:
                    contradicted[start:at] = [True] * (at - start)
                start = at
    return contradicted


def _ends(claim: str, _: str) -> bool:
    return _END.search(claim) is not None


def _ends_or_begins(claim: str, after: str) -> bool:
    return _ends(claim, after) or (after[:1].isupper() and not _GOES_ON.search(claim))


def supported_share(answer: str, passages: tuple[str, ...]) -> float | None:
    """The share of the answer's claims that the passages support, from 0 to 1; ``None`` where it
    makes no claim.

    Args:
        answer: its text.
        passages: texts that may support it.
    """
    claims = extract(ExtractClaims(conversation="", answer=answer)).claims
    if not claims:
        return None
    verdicts = supported(claims, passages)
    return sum(verdicts) / len(verdicts)
