"""The pieces of an answer that a score is about, and the judgment on each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Held = Literal["yes", "partly", "no"]

_SUPPORT: Mapping[str, Held] = {"full": "yes", "partial": "partly", "none": "no"}


@dataclass(frozen=True)
class Span:
    """A piece of an answer.

    ``start`` and ``end`` are characters ``[start, end)`` of the answer; ``None`` where the piece
    does not stand there word for word (an LLM rephrases claims). ``by`` names the passages that
    were looked at, where the score says which.
    """

    text: str
    start: int | None
    end: int | None
    held: Held
    by: str = ""


PIECES = ("claims", "supported", "statements")
"""Parts of a score that are shown piece by piece."""


def spans(parts: Mapping[str, Any], answer: str) -> list[Span]:
    """The pieces that a score's parts hold: claims with their support, or statements with their
    citations. Empty for parts of another kind.

    Args:
        parts: of a score.
        answer: its text.
    """
    folded = answer.casefold()
    if len(folded) != len(answer):
        folded = ""  # places in it would not be places in the answer
    if isinstance(parts.get("claims"), list | tuple) and "supported" in parts:
        pairs = zip(parts["claims"], parts["supported"], strict=False)
        return [_span(claim, folded, "yes" if held else "no") for claim, held in pairs]
    pieces = []
    for statement in parts.get("statements") or ():
        cited = statement.get("citations") or [] if isinstance(statement, Mapping) else []
        if not isinstance(statement, Mapping) or "text" not in statement:
            return []
        levels = [_SUPPORT.get(str(one.get("support")), "no") for one in cited]
        best: Held = min(levels, key=("yes", "partly", "no").index, default="no")
        by = ", ".join(
            f"{one.get('citation')}: {one.get('support') or 'not there'}" for one in cited
        )
        pieces.append(_span(statement["text"], folded, best, by or "cites nothing"))
    return pieces


def _span(text: str, folded: str, held: Held, by: str = "") -> Span:
    piece = text.strip().rstrip(".")
    start = folded.find(piece.casefold()) if piece else -1
    if start < 0:
        return Span(text.strip(), None, None, held, by)
    return Span(text.strip(), start, start + len(piece), held, by)
