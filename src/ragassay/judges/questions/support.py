"""Does a passage support a statement? For citations and for claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from ragassay.judges.question import Question
from ragassay.judges.questions.numbered_items import ItemsQuestion
from ragassay.judges.reply import WORD, Reply

SupportLevel = Literal["full", "partial", "none"]


class Support(Reply):
    """Full: all information of the statement is in the passage; partial: some; none: none."""

    support: Annotated[SupportLevel, WORD]


@dataclass(frozen=True)
class CitationSupport(Question[Support]):
    """Does the cited passage support the statement (TREC RAG support evaluation)?"""

    statement: str
    passage: str

    kind = "citation_support"
    reply = Support
    output_tokens = 20


class Claims(Reply):
    """Self-contained factual claims; none where the answer claims nothing."""

    claims: tuple[str, ...]


@dataclass(frozen=True)
class ExtractClaims(Question[Claims]):
    """The factual claims of an answer, each understandable on its own (RAGAS, first step).

    ``conversation`` is the query with its earlier turns, as lines ``speaker: text``.
    """

    conversation: str
    answer: str

    kind = "extract_claims"
    reply = Claims
    output_tokens = 600


class ClaimVerdicts(Reply):
    """For each claim, in order: do the passages support it?"""

    supported: tuple[bool, ...]


@dataclass(frozen=True)
class ClaimSupport(ItemsQuestion[ClaimVerdicts]):
    """Which claims can be inferred from the passages (RAGAS, second step)?"""

    claims: tuple[str, ...]
    passages: tuple[str, ...]

    kind = "claim_support"
    version = 2
    items = "claims"
    reply = ClaimVerdicts
    entry = "Whether the passages support one claim."
    output_tokens = 350
