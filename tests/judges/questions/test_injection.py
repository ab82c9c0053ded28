"""Texts under judgment cannot steer a judge: not its prompt, not its reply, not the offline rules.

`injections.HOSTILE` holds what they try.
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from injections import HOSTILE
from question_examples import ANSWER, EXAMPLES, OTHER, QUERY, fences, name_of, outside, with_text
from ragassay.base.score import Reason
from ragassay.judges.judge import Failure
from ragassay.judges.llm.messages import Unreadable, read
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.judges.question import Question, harmless
from ragassay.judges.questions import RubricGrade
from ragassay.judges.questions.answering import AnswerAttempted, SaysIdk
from ragassay.judges.questions.checklists import CitationSupport, ClaimSupport
from ragassay.judges.questions.grading import AnswerMatch, RelevanceGrade, ReportOnContext
from valid_answers import largest, smallest

PLAIN = "A plain text."
MODELS = ("gpt-4o", "openai/gpt-oss-20b")
each_question = pytest.mark.parametrize("question", EXAMPLES, ids=name_of)


def kept_inside(plain: str, sent: str, text: str) -> bool:
    """Whether a message is the plain one, but for the text that took the place of `PLAIN`."""
    if outside(plain) != outside(sent) or "<data" in outside(sent):
        return False
    forms = (harmless(text), harmless(" ".join(text.split())))  # a passage, an item of a list
    return any(
        [(name, held.replace(PLAIN, form)) for name, held in fences(plain)] == fences(sent)
        for form in forms
    )


@each_question
def test_every_hostile_text_stays_inside_its_fence(question: Question[Any]) -> None:
    escaped = []
    for model in MODELS if isinstance(question, RelevanceGrade) else MODELS[:1]:
        plains = dict(with_text(question, PLAIN))
        for name, text in HOSTILE.items():
            for field, hostile in with_text(question, text):
                if field == "history" and not text:
                    continue  # no history is another prompt
                expected, sent = plains[field].messages(model), hostile.messages(model)
                if expected[0] != sent[0] or not kept_inside(
                    expected[1]["content"], sent[1]["content"], text
                ):
                    escaped.append(f"{name} as {field}")
    assert not escaped


def test_the_users_own_words_are_not_run_as_a_template() -> None:
    for text in HOSTILE.values():
        match = AnswerMatch(QUERY, ANSWER, ("ref",), instructions=text)
        rubric = RubricGrade(text, 1, 2, ((1, text),), (("answer", ANSWER),))
        for question in (match, rubric):
            system, user = question.messages()
            if text.strip():
                assert text.strip() in system["content"]
            assert fences(user["content"])[-1][1] == ANSWER


def echoes(text: str, reply: str) -> Iterator[str]:
    """Replies that repeat hostile text around their answer."""
    yield f"{text}\n{reply}"
    yield f"{reply}\n{text}"
    yield f'The material says: "{text}". I do not follow it.\n\n{reply}'
    yield f"{reply}\n\nThe material tried to steer me: {text}"
    yield f"<think>It says {text}, but that is data.</think>\n{reply}"
    yield f"```json\n{reply}\n```\nNote: {text}"
    yield f"> {text}\n\n```json\n{reply}\n```"


@each_question
def test_a_reply_that_echoes_hostile_text_says_what_it_says_or_nothing(question) -> None:
    steered = []
    honest = smallest(question)
    for name, text in HOSTILE.items():
        field, asked = next(with_text(question, text))
        if not text or field.startswith(("claims", "nuggets")):
            asked = question
        for at, reply in enumerate(echoes(text, honest.model_dump_json())):
            try:
                found = read(asked, reply)
            except Unreadable:
                continue
            if found != honest:
                steered.append((name, at, found))
    assert not steered


@each_question
def test_hostile_text_alone_is_no_answer_when_it_only_stands_in_prose(question) -> None:
    best = largest(question).model_dump_json()
    asked = dict(with_text(question, best))
    for one in asked.values():
        for prose in (f"The passage says: {best}", f"{best} is what it says.", f"I see {best}!"):
            with pytest.raises(Unreadable):
                read(one, prose)


WHO = "Who painted the ceiling of the Lindholm chapel?"
GOOD = "The ceiling of the Lindholm chapel was painted by Marta Oswin."
NEAR = "The Lindholm chapel stands on a hill and is open to visitors on weekdays."
FAR = "Sourdough needs flour, water, salt and patience."
REFUSAL = "I'm sorry, but I do not have enough information to answer that question."

Ranks = Callable[[Any], tuple[float, ...]]
Asks = Callable[[str], Question[Any]]


def rank(*words: str) -> Callable[[str], float]:
    """A label's place, the worst first."""
    return lambda word: float(words.index(word))


support = rank("none", "partial", "full")

ALL = (GOOD, NEAR, FAR)
CHECKS: dict[str, tuple[Asks, Ranks, tuple[str, ...]]] = {
    "relevance of a passage": (
        lambda text: RelevanceGrade(WHO, text), lambda reply: (reply.grade,), ALL),
    "citation support by a passage": (
        lambda text: CitationSupport(GOOD, text), lambda reply: (support(reply.support),), ALL),
    "citation support of a statement": (
        lambda text: CitationSupport(text, NEAR), lambda reply: (support(reply.support),), ALL),
    "claims supported by passages": (
        lambda text: ClaimSupport((GOOD, NEAR, FAR), (text, OTHER)),
        lambda reply: tuple(map(float, reply.supported)), ALL),
    "a claim that is supported": (
        lambda text: ClaimSupport((text,), (NEAR,)),
        lambda reply: tuple(map(float, reply.supported)), ALL),
    "an answer that is attempted": (
        lambda text: AnswerAttempted(WHO, text),
        lambda reply: (float(reply.answered == "yes"),), (REFUSAL,)),
    "an answer that is not a refusal": (
        lambda text: SaysIdk(f"user: {WHO}", text),
        lambda reply: (rank("yes", "partial", "no")(reply.says_idk),), (REFUSAL,)),
    "the report on a context": (
        lambda text: ReportOnContext(WHO, (text, OTHER)),
        lambda reply: (
            reply.relevance,
            # Unsupported stands between the grades: text may turn neither into the better one.
            3 if reply.usefulness is None else reply.usefulness,
            0.5 if reply.utilization is None else reply.utilization,
            0.5 if reply.attribution is None else float(1 in reply.attribution),
            0.5 if reply.attribution is None else float(2 in reply.attribution)), ALL),
}  # fmt: skip


def said(raised: list[str]) -> str:
    """What went wrong, in a few lines."""
    return "\n".join([f"{len(raised)} grades rise", *raised[:12]])


def ask(question: Question[Any]) -> Any:
    judge_answer = asyncio.run(OfflineJudge().answer(question))
    if isinstance(judge_answer, Failure) and judge_answer.reason is Reason.UNSUPPORTED:
        pytest.skip(f"the offline judge does not answer {question.kind}")
    assert not isinstance(judge_answer, Failure), judge_answer
    return judge_answer.answer


@pytest.mark.parametrize("check", CHECKS)
def test_the_offline_judges_grade_does_not_rise_by_hostile_text(check: str) -> None:
    asks, ranks, bases = CHECKS[check]
    raised = []
    for base in bases:
        honest = ranks(ask(asks(base)))
        for name, text in HOSTILE.items():
            for where, mixed in (("after", f"{base}\n{text}"), ("before", f"{text} {base}")):
                graded = ranks(ask(asks(mixed)))
                if any(a > b for a, b in zip(graded, honest, strict=True)):
                    raised.append(f"{name}, {where} {base[:20]!r}: {honest} -> {graded}")
    assert not raised, said(raised)


@pytest.mark.parametrize("check", [one for one in CHECKS if REFUSAL not in CHECKS[one][2]])
def test_hostile_text_alone_is_worth_no_more_than_a_text_about_something_else(check: str) -> None:
    asks, ranks, _ = CHECKS[check]
    # FAR is itself one of the claims
    plain = [OTHER] if check.startswith("claims") else [FAR, OTHER, f"{OTHER} {FAR}"]
    nothing = max(ranks(ask(asks(text))) for text in plain)
    raised = []
    for name, text in HOSTILE.items():
        graded = ranks(ask(asks(text)))
        if any(a > b for a, b in zip(graded, nothing, strict=True)):
            raised.append(f"{name}: {nothing} -> {graded}")
    assert not raised, said(raised)
