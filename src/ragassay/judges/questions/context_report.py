"""ML cube's three relationships: query and context, context and response, query and response.

What looks at the same evidence is asked together: one question a relationship.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Annotated, Any

from typing_extensions import override

from ragassay.judges.question import Question
from ragassay.judges.reply import Reply, ReplyInParts, whole_number


class ContextReport(ReplyInParts):
    """Relevance and usefulness 1 to 5, utilization 0 to 100 (percent), attribution: 1-based chunks;
    each with an explanation."""

    relevance_explanation: str | None = None
    relevance: Annotated[int, *whole_number(1, 5)] | None = None
    usefulness_explanation: str | None = None
    usefulness: Annotated[int, *whole_number(1, 5)] | None = None
    utilization_explanation: str | None = None
    utilization: Annotated[int, *whole_number(0, 100)] | None = None
    attribution_explanation: str | None = None
    attribution: tuple[Annotated[int, *whole_number(1, 1_000_000)], ...] | None = None


@dataclass(frozen=True)
class ReportOnContext(Question[ContextReport]):
    """What the retrieved chunks are worth to the query (ML cube, retrieval evaluation)."""

    query: str
    chunks: tuple[str, ...]

    kind = "report_on_context"
    reply = ContextReport
    output_tokens = 400

    @override
    def faults(self, reply: ContextReport) -> dict[str, str]:
        faults = super().faults(reply)
        chunks = reply.attribution or ()
        beyond = [index for index in chunks if index > len(self.chunks)]
        if beyond:
            faults["attribution"] = f"there is no chunk {beyond[0]}, there are {len(self.chunks)}"
        elif len(set(chunks)) < len(chunks):
            faults["attribution"] = "a chunk is named twice"
        return faults

    @override
    def bounded_schema(self) -> dict[str, Any]:
        schema = deepcopy(self.schema())
        schema["properties"]["attribution"]["items"]["maximum"] = len(self.chunks)
        return schema


class Stars(Reply):
    """An explanation, then 1 (lowest) to 5 (highest)."""

    explanation: str
    stars: Annotated[int, *whole_number(1, 5)]


class _StarsQuestion(Question[Stars]):
    reply = Stars
    output_tokens = 120


@dataclass(frozen=True)
class Contradiction(_StarsQuestion):
    """How far does the response contradict the context (ML cube's faithfulness)?

    5: nothing contradicts it, even where nothing supports it; 1: it contradicts it outright.
    """

    chunks: tuple[str, ...]
    answer: str

    kind = "contradiction"


@dataclass(frozen=True)
class Satisfaction(_StarsQuestion):
    """How satisfied would the user be with the response (ML cube)?"""

    query: str
    answer: str

    kind = "satisfaction"
