"""How the offline judge reads texts and what it says of them, as it was approved.

``approved/cases.txt`` holds blocks of passages (P), queries (Q), and statements and answers (S);
``approved/values.txt`` lines of values and words. See `approved`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from approved import check, number
from ragassay.judges.offline.claims import supported_share
from ragassay.judges.offline.context_report.asked_value import asked_value, settles, tells
from ragassay.judges.offline.context_report.predicate import predicate
from ragassay.judges.offline.context_report.quantities import numbers, quantity_of
from ragassay.judges.offline.context_report.report_rules import topic_of, worth
from ragassay.judges.offline.language import (
    PreparedPassages,
    asked_thing,
    content,
    evidence_sentences,
    is_hostile,
    kind_of,
    names,
    phrases,
    piece,
    plain,
    sentences,
    subject,
    tokens,
    versions,
    weight,
)
from ragassay.judges.offline.near_copies.alignment import compared, replaced
from ragassay.judges.offline.near_copies.contradictions import clauses, contradiction
from ragassay.judges.offline.near_copies.nearest import nearest
from ragassay.judges.offline.near_copies.places import Word, parsed
from ragassay.judges.offline.offline_judge import as_far_as_read
from ragassay.judges.offline.refusals import asks_back, claims_nothing, is_small_talk, shape
from ragassay.judges.offline.relevance_rules import look
from ragassay.judges.offline.rules import answer_to
from ragassay.judges.offline.support_rules import FREE, contradicted
from ragassay.judges.question import Question
from ragassay.judges.questions import (
    AnswerAttempted,
    AnswerMatch,
    AssignNuggets,
    CitationSupport,
    ClaimSupport,
    ExtractClaims,
    ExtractNuggets,
    NuggetImportance,
    ReferenceRating,
    RelevanceGrade,
    ReportOnContext,
    Satisfaction,
    SaysIdk,
    SaysUnderspecified,
)

APPROVED = Path(__file__).parent / "approved"


class Case(NamedTuple):
    """A block of texts."""

    name: str
    passages: list[str]
    queries: list[str]
    statements: list[str]


def cases() -> Iterator[Case]:
    blocks = (APPROVED / "cases.txt").read_text(encoding="utf-8").split("== ")
    for block in blocks[1:]:
        name, *lines = block.removesuffix("\n").split("\n")
        case = Case(name, [], [], [])
        texts = {"P": case.passages, "Q": case.queries, "S": case.statements}
        kept: list[str] = []
        for line in lines:
            if line[:1] in texts and line[1:2] in (" ", ""):
                kept = texts[line[0]]
                kept.append(line[2:])
            else:
                kept[-1] += f"\n{line}"
        yield case


def shown(word: Word) -> str:
    """A word of a parsed sentence with what is unusual about it."""
    marks = {
        "+": word.follows,
        "&": word.listed,
        "?": word.denied is None,
        "not": word.denied,
        "~": not word.direct,
    }
    told = "".join(mark for mark, holds in marks.items() if holds)
    place = f"/{word.place}={word.filler}" if word.place else ""
    return f"{word.stem}{place}:{word.weight}{told}"


def values() -> Iterator[str]:
    """How values and words are read."""
    for line in (APPROVED / "values.txt").read_text(encoding="utf-8").splitlines():
        yield f"{line} ->"
        yield f"  {' '.join(tokens(line))}"
        for part in line.split(", "):
            yield f"  {part} = {' '.join(tokens(part))} | {' '.join(content(part))}"
        weights = [weight(stem) for stem in content(line)]
        read = piece(line)
        yield f"  {weights} {number(read.strict)} {number(read.measured)} {number(read.versions)}"
        yield f"  {number(names(line))} {[tuple(one) for one in numbers(line)]}"
        yield f"  {' / '.join(phrases(line))}"


def readings(case: Case) -> Iterator[str]:
    """What is seen in each text."""
    for text in [*case.passages, *case.statements]:
        yield " ".join(plain(text).split())
        yield f"  {number(versions(text))} {evidence_sentences(text)} {tuple(shape(text))}"
        for sentence in sentences(plain(text)):
            read = parsed(sentence)
            flags = {
                "hostile": is_hostile(sentence),
                "nothing": claims_nothing(sentence),
                "talk": is_small_talk(sentence),
                "asks": asks_back(sentence),
                "framed": read.framed,
            }
            yield f"  {sentence} {[flag for flag, holds in flags.items() if holds]}"
            yield f"    {' / '.join(phrases(sentence))} // {' / '.join(clauses(sentence))}"
            yield f"    {' '.join(map(shown, read.words))}"
            yield f"    {read.denied} {read.by} {number(read.agents)} {read.opening!r}"
    for query in case.queries:
        asked = quantity_of(query)
        yield f"? {query}"
        yield f"  {kind_of(query)} {asked_value(query)!r} {asked_thing(query)!r}"
        yield f"  {predicate(query)!r} {number(subject(query))} {number(topic_of(query))}"
        yield f"  {asked.name} {number(asked.units)} {number(asked.asked)} {asked.dates}"
        yield f"  {number(asked.thing)} {number(asked.words)}"


def said(question: Question[Any]) -> str:
    """A verdict in words."""
    reply = answer_to(question)
    if reply is None:
        return "no answer"
    stands = as_far_as_read(question, question.check(reply))
    return " ".join(f"{name}={number(value)}" for name, value in stands.model_dump().items())


def relevances(case: Case) -> Iterator[str]:
    """What passages are worth to queries."""
    for at, query in enumerate(case.queries):
        earlier = tuple(case.queries[:at][-2:])
        yield f"? {query}"
        for passage in case.passages:
            seen = look(query, passage)
            later = look(query, passage, earlier)
            yield f"  {' '.join(passage.split())[:60]}"
            yield f"    {number(tuple(seen))} {number(later.score)}"
            yield f"    {said(RelevanceGrade(query, passage))}"
            yield f"    {said(RelevanceGrade(query, passage, earlier=earlier))}"
            yield f"    {number(tuple(worth(query, passage)))}"
            told = [
                f"{tells(query, sentence)} {settles(query, sentence)}"
                for sentence in evidence_sentences(passage)
            ]
            yield f"    {told}"
            yield f"    {said(ReportOnContext(query, (passage,)))}"
        yield f"  {said(ReportOnContext(query, tuple(case.passages)))}"
        found = answer_to(ExtractNuggets(query, tuple(case.passages)))
        assert found is not None
        yield f"  {number(found.nuggets)}"
        yield f"  {said(ExtractNuggets(query, tuple(case.passages), found.nuggets[1:2], 3, 6))}"
        if found.nuggets:
            yield f"  {said(NuggetImportance(query, found.nuggets))}"


def supports(case: Case) -> Iterator[str]:
    """What passages say of statements, and what kind of answers these are."""
    passages = tuple(case.passages)
    for statement in case.statements:
        yield " ".join(statement.split())
        found = answer_to(ExtractClaims("", statement))
        assert found is not None
        yield f"  {' / '.join(found.claims)}"
        if found.claims:
            yield f"  {said(ClaimSupport(found.claims, passages))}"
        yield f"  {number(supported_share(statement, passages))}"
        whole = PreparedPassages(passages)
        wanted = piece(statement)
        share, exact = whole.coverage(wanted), whole.exact(wanted)
        kinds = contradiction(statement, passages), contradiction(statement, passages, FREE)
        yield f"  {number(share)} {exact} {whole.supports(wanted)} {kinds}"
        yield f"  {nearest(statement, passages, either=True)}"
        for passage in case.passages:
            how = said(CitationSupport(statement, passage)), contradicted(statement, (passage,))
            yield f"  {how}"
            for sentence in evidence_sentences(passage):
                pair = parsed(statement), parsed(sentence)
                kind, back = compared(*pair), compared(*reversed(pair), FREE)
                word = replaced(*pair)
                if kind or back or word:
                    yield f"    {sentence[:40]}: {kind} {back} {word and word.stem}"


def answers(case: Case) -> Iterator[str]:
    """How good statements are as answers to queries and beside other answers."""
    for at, query in enumerate(case.queries):
        for statement in case.statements[at % 3 :: 3]:
            yield f"{query} {' '.join(statement.split())}"
            yield f"  {said(Satisfaction(query, statement))}"
            short = (
                SaysIdk(f"user: {query}", statement),
                AnswerAttempted(query, statement),
                SaysUnderspecified(f"user: {query}", statement),
            )
            yield f"  {' '.join(map(said, short))}"
            reference = case.statements[at % len(case.statements)]
            others = tuple(case.statements[at + 1 :][:2])
            yield f"  {said(AnswerMatch(query, statement, (reference, *others[:1]), others))}"
            rated = ReferenceRating("", query, reference, statement, tuple(case.passages[:2]))
            yield f"  {said(rated)}"
            nuggets = AssignNuggets(query, statement, tuple(case.statements[:4]))
            yield f"  {said(nuggets)}"


CASES = {case.name: case for case in cases()}


def test_values_are_read_as_it_was_approved(request: pytest.FixtureRequest) -> None:
    approve = request.config.getoption("--approve")
    check(APPROVED / "values_approved.txt", values(), approve)


@pytest.mark.parametrize("name", CASES)
def test_texts_are_read_and_judged_as_it_was_approved(
    name: str, request: pytest.FixtureRequest
) -> None:
    case = CASES[name]
    made = chain(readings(case), relevances(case), supports(case), answers(case))
    approve = request.config.getoption("--approve")
    check(APPROVED / f"case_{name}.txt", made, approve)
