"""What the offline judge says of a few texts, as it was approved.

``approved/cases.txt`` holds blocks of passages (P), queries (Q), and statements (S).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from approved import check, number
from ragassay.judges import questions as asked
from ragassay.judges.offline.evidence import score
from ragassay.judges.offline.questions import answer_to, contradicted, supported_share
from ragassay.judges.question import Question

APPROVED = Path(__file__).parent / "approved"


def cases() -> Iterator[dict[str, list[str]]]:
    """The texts of each block, by their letter; ``name`` holds its name."""
    for block in (APPROVED / "cases.txt").read_text(encoding="utf-8").split("== ")[1:]:
        name, *lines = block.removesuffix("\n").split("\n")
        texts = {letter: [one[2:] for one in lines if one[0] == letter] for letter in "PQS"}
        yield {"name": [name], **texts}


def said(question: Question[Any]) -> str:
    """An answer in words."""
    reply = answer_to(question)
    assert reply is not None
    body = question.check(reply).model_dump()
    return " ".join(f"{name}={number(value)}" for name, value in body.items() if name != "lost")


def judgements() -> Iterator[str]:
    """What is said of each case."""
    for case in cases():
        passages, reference = tuple(case["P"]), case["S"][0]
        yield f"== {case['name'][0]}"
        for query in case["Q"]:
            yield f"? {query}"
            for passage in passages:
                grade = said(asked.RelevanceGrade(query, passage))
                yield f"  {passage[:40]}: {number(score(query, passage))} {grade}"
            yield f"  {said(asked.ReportOnContext(query, passages))}"
            yield f"  {said(asked.ExtractNuggets(query, passages))}"
        for statement in case["S"]:
            yield f"- {statement}"
            claims = answer_to(asked.ExtractClaims("", statement))
            assert claims is not None
            support = said(asked.ClaimSupport(claims.claims, passages))
            yield f"  {' / '.join(claims.claims)} {support}"
            share, kind = supported_share(statement, passages), contradicted(statement, passages)
            cited = " ".join(said(asked.CitationSupport(statement, one)) for one in passages)
            yield f"  {number(share)} {kind} {cited}"
            query = case["Q"][0]
            idk = asked.SaysIdk(f"user: {query}", statement)
            attempt = asked.AnswerAttempted(query, statement)
            nugget = asked.AssignNuggets(query, statement, (reference,))
            yield f"  {said(idk)} {said(attempt)} {said(nugget)}"
            yield f"  {said(asked.AnswerMatch(query, statement, (reference,)))}"
            yield f"  {said(asked.ReferenceRating('', query, reference, statement, passages))}"


def test_texts_are_judged_as_it_was_approved(request: pytest.FixtureRequest) -> None:
    check(APPROVED / "cases_approved.txt", judgements(), request.config.getoption("--approve"))
