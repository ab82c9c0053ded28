"""Does a passage support what is said? For citations and for claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from ragassay.judges.question import Question
from ragassay.judges.questions.keyed import Entry, Form, bounded, in_order
from ragassay.judges.questions.nuggets import as_many
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


class ClaimEntry(Entry):
    """Whether the passages support one claim."""

    supported: bool


class ClaimForm(Form):
    """An entry for each claim."""

    verdicts: tuple[ClaimEntry, ...]


@dataclass(frozen=True)
class ClaimSupport(Question[ClaimVerdicts]):
    """Which claims can be inferred from the passages (RAGAS, second step)?"""

    claims: tuple[str, ...]
    passages: tuple[str, ...]

    kind = "claim_support"
    version = 2
    reply = ClaimVerdicts
    form = ClaimForm
    output_tokens = 350

    def read(self, form: ClaimForm) -> ClaimVerdicts:
        """The verdicts in the order of the claims."""
        entries = in_order(form.verdicts, self.claims)
        return ClaimVerdicts(supported=tuple(entry.supported for entry in entries))

    def bounded_schema(self) -> dict[str, Any]:
        """No number beyond the last claim."""
        return bounded(self.schema(), self.claims)

    def check(self, reply: ClaimVerdicts) -> ClaimVerdicts:
        """As many verdicts as claims."""
        as_many(reply.supported, self.claims)
        return reply
