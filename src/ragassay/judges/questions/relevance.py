"""How relevant is a passage to a query? UMBRELA's grades."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from typing_extensions import override

from ragassay.judges.question import Question
from ragassay.judges.reply import Reply, whole_number


class Relevance(Reply):
    """UMBRELA's steps: what the searcher wants, in a sentence; content match, trustworthiness and
    final grade, each 0 to 3."""

    implied: ClassVar[Mapping[str, str]] = {"match": "grade", "trust": "grade"}
    intent: str = ""
    match: Annotated[int, *whole_number(0, 3)]
    trust: Annotated[int, *whole_number(0, 3)]
    grade: Annotated[int, *whole_number(0, 3)]


@dataclass(frozen=True)
class RelevanceGrade(Question[Relevance]):
    """UMBRELA (Upadhyay et al. 2024): 0 nothing to do with the query, 1 related but no answer,
    2 some answer, unclear or hidden, 3 dedicated to the query and holds the exact answer.

    ``shots`` chooses the zero-shot or the few-shot prompt. Models of the GPT-OSS and Qwen families
    are asked in a shape of their own (Open RAG Eval). ``earlier`` are the user's earlier turns in
    the conversation, oldest first; UMBRELA's prompts do not show them.
    """

    query: str
    passage: str
    shots: Literal["zero", "few"] = "zero"
    earlier: tuple[str, ...] = ()

    kind = "relevance_grade"
    version = 2
    reply = Relevance
    parameters: ClassVar[Mapping[str, Any]] = {
        "temperature": 0.0,
        "top_p": 1.0,
        "presence_penalty": 0.5,
        "frequency_penalty": 0.0,
        "seed": 42,
    }
    output_tokens = 80
    unsent = frozenset({"earlier"})

    @override
    def template(self, model: str) -> str:
        plain = any(family in model.casefold() for family in ("gpt-oss", "qwen"))
        return f"relevance_grade{'_few' if self.shots == 'few' else ''}{'_plain' if plain else ''}"
