"""How the terminal and the HTML report show answers, and what a score judged: nuggets, and pieces
of the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragassay.base.sample import Sample
from ragassay.judges.judge_answer import short

NUGGETS = ("nuggets", "labels", "assignments")
"""Parts of a score that are the columns of one table."""

_LISTED = re.compile(r"(passages|claims|nuggets) \(\d+\)")
"""What a question is about that the page of its sample lists in full."""


_WORDS = {"explanation", "reasoning", "reason"}
"""Fields of an answer that are not voted on."""


def ranks_of(sample: Sample | None) -> Mapping[str, int]:
    """The first rank of each passage of a sample, from 1, by how its text begins (`short`)."""
    ranks: dict[str, int] = {}
    for rank, passage in enumerate((sample.passages if sample else None) or (), start=1):
        ranks.setdefault(short(passage.text or ""), rank)
    return ranks


def about(record: Mapping[str, Any], ranks: Mapping[str, int], *, quoted: bool = True) -> str:
    """What an answer's question is about: ``passage [2] "Open daily ..."``."""
    pieces = []
    for name, text in (record.get("about") or {}).items():
        place = f" [{ranks[text]}]" if name == "passage" and text in ranks else ""
        bare = not quoted and (place or _LISTED.fullmatch(name))
        pieces.append(f"{name}{place}" if bare else f'{name}{place} "{text}"')
    return ", ".join(pieces)


def spread(record: Mapping[str, Any]) -> str:
    """Whether a panel's votes agree, and what differs: ``2 votes differ: grade 1, 3``. Empty where
    fewer than two judges answered."""
    answers = [vote["answer"] for vote in record.get("votes", ()) if vote.get("answer") is not None]
    if len(answers) < 2:
        return ""
    differences = []
    for name in (one for one in answers[0] if one.rpartition("_")[2] not in _WORDS):
        said = [answer.get(name) for answer in answers]
        if all(isinstance(one, list) for one in said):
            differences += [name] * any(one != said[0] for one in said)
        elif all(isinstance(one, int | float) or str(one).isidentifier() for one in said):
            several = dict.fromkeys(map(str, said))
            differences += [f"{name} {', '.join(several)}"] * (len(several) > 1)
    return f"{len(answers)} votes " + (
        f"differ: {'; '.join(differences)}" if differences else "agree"
    )


Nugget = tuple[str, str, str]
"""A nugget, its importance, and whether the answer holds it (``support``, ``partial``, ``not``)."""


def nugget_table(parts: Mapping[str, Any]) -> list[Nugget]:
    """The nuggets of a score; empty where its parts are of another kind."""
    columns = [parts.get(name) for name in NUGGETS]
    if not all(isinstance(column, list | tuple) and column for column in columns):
        return []
    if len({len(column) for column in columns if column is not None}) != 1:
        return []
    rows = zip(*(column or () for column in columns), strict=True)
    short = {"partial_support": "partial", "not_support": "not"}
    return [(str(n), str(label), short.get(str(held), str(held))) for n, label, held in rows]


def shared_prompt(votes: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, str]]:
    """The messages that several votes sent and all alike; empty where they differ."""
    sent = [vote["messages"] for vote in votes if vote.get("messages")]
    return sent[0] if len(sent) > 1 and all(messages == sent[0] for messages in sent) else ()


Held = Literal["yes", "partly", "no"]

_SUPPORT: Mapping[str, Held] = {"full": "yes", "partial": "partly", "none": "no"}


@dataclass(frozen=True)
class AnswerPiece:
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


def answer_pieces(parts: Mapping[str, Any], answer: str) -> list[AnswerPiece]:
    """The claims in a score's parts with their support, or statements with their citations."""
    folded = searchable(answer)
    if isinstance(parts.get("claims"), list | tuple) and "supported" in parts:
        pairs = zip(parts["claims"], parts["supported"], strict=False)
        return [_piece(claim, folded, "yes" if held else "no") for claim, held in pairs]
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
        pieces.append(_piece(statement["text"], folded, best, by or "cites nothing"))
    return pieces


def _piece(text: str, folded: str, held: Held, by: str = "") -> AnswerPiece:
    start, end = place_of(text, folded) or (None, None)
    return AnswerPiece(text.strip(), start, end, held, by)


def searchable(answer: str) -> str:
    """An answer's text without regard to case; empty where its characters would change places."""
    folded = answer.casefold()
    return folded if len(folded) == len(answer) else ""


def place_of(text: str, folded: str, at: int = 0) -> tuple[int, int] | None:
    """The characters ``[start, end)`` of an answer that are a text, but for case and a full stop;
    ``None`` where it does not stand there."""
    piece = text.strip().rstrip(".").casefold()
    start = folded.find(piece, at) if piece else -1
    return None if start < 0 else (start, start + len(piece))
