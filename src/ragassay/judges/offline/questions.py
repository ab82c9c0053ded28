"""What the judge answers to each kind of question, from the three signals and the classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from ragassay.judges.offline.evidence import Evidence, evidence, share_of, strict
from ragassay.judges.offline.near_copy import Kind, near_copy
from ragassay.judges.offline.refusal import (
    asks_back,
    claims_nothing,
    is_small_talk,
    refuses,
    says_idk,
)
from ragassay.judges.offline.relevance import grade, score
from ragassay.judges.offline.words import (
    Phrases,
    content,
    evidence_sentences,
    is_hostile,
    phrases,
    plain,
    sentences,
    tokens,
)
from ragassay.judges.question import Question
from ragassay.judges.questions import (
    AnswerAttempted,
    AnswerMatch,
    AssignNuggets,
    Attempt,
    CitationSupport,
    Claims,
    ClaimSupport,
    ClaimVerdicts,
    Clarification,
    ContextReport,
    ExtractClaims,
    ExtractNuggets,
    Idk,
    Match,
    NuggetAssignments,
    NuggetImportance,
    NuggetImportances,
    NuggetList,
    Rating,
    ReferenceRating,
    Relevance,
    RelevanceGrade,
    ReportOnContext,
    SaysIdk,
    SaysUnderspecified,
    Support,
)
from ragassay.judges.reply import Lost, Reply
from ragassay.scores import Reason

FULL, PARTIAL = 0.75, 0.4
"""Smallest coverage of a statement for full and for partial support."""
CLAIM = 0.5
"""Coverage and order of a claim's words, together, above which it is supported."""
ORDER = 0.1
"""Part of that for the order of its words."""
NEAR_QUERY = 0.35
"""Share of a query's weight from which a sentence is near it."""
SAME = 0.6
"""Share of the stems of two nuggets that both hold, from which they are one nugget."""
SHORT, FOUND = 5, 0.6
"""Largest number of content words of a reference that must all be found in an answer; share of a
longer one's weight that must be."""
POSITIVE, POSITIVE_STARS = 2, 4
"""From which grade, and how many stars, a passage holds what is asked for."""

Level = Literal["full", "partial", "none"]
_TALK = Phrases("talk")


def held(statement: str, passages: Evidence) -> Level:
    """How far passages hold a statement.

    Args:
        statement: a sentence or a few.
        passages: that may hold it.
    """
    stems = tuple(content(statement))
    if not stems or is_hostile(statement):
        return "none"
    found = near_copy(statement, passages)
    if found is not None and found.kind is not None:
        return "partial" if found.kind in ("number", "unit", "name") else "none"
    share = passages.coverage(stems)
    exact = passages.holds(strict(statement))
    if exact and (share >= FULL or (found is not None and found.copy)):
        return "full"
    return "partial" if share >= PARTIAL else "none"


def contradicted(sentence: str, passages: Sequence[str]) -> Kind | None:
    """How passages contradict a sentence that is a near copy of one of theirs; ``None`` for not.

    Args:
        sentence: its text.
        passages: texts that may contradict it.
    """
    found = near_copy(plain(sentence), evidence(tuple(passages)))
    return None if found is None else found.kind


# --- claims ---


def extract_claims(question: ExtractClaims) -> Claims:
    """The phrases of the answer's sentences; what addresses the judge stays whole."""
    claims: list[str] = []
    for sentence in sentences(plain(question.answer)):
        if is_hostile(sentence):
            claims.append(sentence)
        elif not claims_nothing(sentence):
            talk = _TALK.search(sentence)
            rest = sentence[: talk.start()] + sentence[talk.end() :] if talk else sentence
            claims.extend(phrases(rest.strip()))
    return Claims(claims=tuple(claims))


def claim_support(question: ClaimSupport) -> ClaimVerdicts:
    """Claims of one sentence stand or fall together where it is a near copy. Any other one needs
    its numbers and names in the passages, enough coverage, and the order of its sentence's words.
    """
    passages = evidence(question.passages)
    supported: list[bool] = []
    for claims in _by_sentence(question.claims):
        sentence = " ".join(claims)
        found = near_copy(sentence, passages)
        order = passages.in_order(content(sentence))
        for claim in claims:
            stems = tuple(content(claim))
            strong = (1 - ORDER) * passages.coverage(stems) + ORDER * order > CLAIM
            copied = found is not None and found.copy
            against = found is not None and found.kind is not None
            good = passages.holds(strict(claim)) and (copied or strong)
            supported.append(good and bool(stems) and not against and not is_hostile(claim))
    return ClaimVerdicts(supported=tuple(supported))


def _by_sentence(claims: Sequence[str]) -> Iterator[list[str]]:
    """The claims in runs that end with a sentence's end."""
    run: list[str] = []
    for claim in claims:
        run.append(claim)
        if claim.rstrip("\"'”’)]").endswith((".", "!", "?", "…", "。", "！", "？")):
            yield run
            run = []
    if run:
        yield run


def supported_share(answer: str, passages: Sequence[str]) -> float | None:
    """The share of an answer's claims that passages support; ``None`` where it claims nothing."""
    claims = extract_claims(ExtractClaims("", answer)).claims
    if not claims:
        return None
    verdicts = claim_support(ClaimSupport(claims, tuple(passages))).supported
    return sum(verdicts) / len(verdicts)


# --- passages ---


def relevance(question: RelevanceGrade) -> Relevance:
    """The grade, used for all three steps: words do not show how far a passage can be trusted."""
    found = grade(question.query, question.passage, question.earlier)
    return Relevance(match=found, trust=found, grade=found)


def report(question: ReportOnContext) -> ContextReport:
    """The relevance of the best chunk; the other fields have no signal behind them."""
    best = max((grade(question.query, chunk) for chunk in question.chunks), default=0)
    why = "the offline judge compares words, which do not tell this; name an LLM as the judge"
    lost = Lost(reason=Reason.UNSUPPORTED, detail=why)
    return ContextReport(
        relevance=(1, 2, 4, 5)[best],
        relevance_explanation=f"The best chunk holds words of the query: grade {best} of 3.",
        lost=dict.fromkeys(("usefulness", "utilization", "attribution"), lost),
    )


# --- nuggets ---


def extract_nuggets(question: ExtractNuggets) -> NuggetList:
    """The clauses of the sentences nearest to the query, each of at most ``words`` words."""
    asked = set(content(question.query))
    candidates: list[tuple[float, str]] = []
    for passage in question.passages:
        for sentence in evidence_sentences(passage):
            near = share_of(asked, set(content(sentence)))
            if near >= NEAR_QUERY:
                candidates += [(near, one) for one in _clauses(sentence, question.words)]
    candidates.sort(key=lambda one: -one[0])
    seen = [set(content(one)) for one in question.known]
    chosen: list[str] = []
    for _, clause in candidates:
        stems = set(content(clause))
        new = not any(len(stems & other) >= SAME * len(stems | other) for other in seen)
        if new and len(seen) < question.most and len(stems - asked) > 0:
            seen.append(stems)
            chosen.append(clause)
    return NuggetList(nuggets=tuple(chosen))


def _clauses(sentence: str, most: int) -> list[str]:
    """A sentence in runs of its phrases, none of more words than ``most``."""
    runs: list[list[str]] = [[]]
    for phrase in phrases(sentence):
        words = phrase.split()
        if runs[-1] and len(runs[-1]) + len(words) > most:
            runs.append([])
        runs[-1] += words
    pieces = (run[at : at + most] for run in runs for at in range(0, len(run), most))
    clauses = (" ".join(one).strip(" ,;:.") for one in pieces)
    return [clause for clause in clauses if len(content(clause)) >= 3]


def importance(question: NuggetImportance) -> NuggetImportances:
    """``vital`` where the nugget is near the query."""
    asked = content(question.query)
    near = (share_of(asked, set(content(one))) >= NEAR_QUERY for one in question.nuggets)
    return NuggetImportances(labels=tuple("vital" if one else "okay" for one in near))


def assign(question: AssignNuggets) -> NuggetAssignments:
    """Each nugget as a statement that the answer holds."""
    labels = {"full": "support", "partial": "partial_support", "none": "not_support"}
    answer = evidence((question.answer,))
    return NuggetAssignments(labels=tuple(labels[held(one, answer)] for one in question.nuggets))


# --- answers ---


def attempted(question: AnswerAttempted) -> Attempt:
    """``yes`` for any answer that is no refusal; small talk is an answer to small talk."""
    small = is_small_talk(question.answer) and is_small_talk(question.query)
    return Attempt(answered="yes" if small or not refuses(question.answer) else "no")


def rating(question: ReferenceRating) -> Rating:
    """The mean of the agreement with the reference (F of word weights) and the share of supported
    claims, as 1 to 10; 1 where only one of answer and reference declines, 10 where both do."""
    declines = refuses(question.answer)
    if declines != refuses(question.reference):
        return Rating(explanation="One of answer and reference declines to answer.", rating=1)
    if declines:
        return Rating(explanation="Answer and reference both decline to answer.", rating=10)
    stems, wanted = (
        {stem for part in evidence_sentences(text) for stem in content(part)}
        for text in (question.answer, question.reference)
    )
    precision, recall = share_of(stems, wanted), share_of(wanted, stems)
    agreement = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    support = supported_share(question.answer, (*question.passages, question.reference))
    value = agreement if support is None else (agreement + support) / 2
    says = "no claims" if support is None else f"{support:.0%} of its claims supported"
    return Rating(
        explanation=f"Agreement with the reference {agreement:.0%}; {says}.",
        rating=1 + round(9 * value),
    )


def match(question: AnswerMatch) -> Match | None:
    """Whether the answer holds one of the references, and no wrong answer as well as this one;
    ``None`` where the question has instructions, which rules cannot follow."""
    if question.instructions:
        return None
    answer = " ".join(evidence_sentences(question.answer))
    best, worst = (
        max((_matched(question.query, answer, one) for one in texts), default=0.0)
        for texts in (question.references, question.wrong)
    )
    if not best:
        why = "The answer matches no reference."
    elif worst >= best:
        why = "The answer matches a wrong answer as well as a reference."
    else:
        why = "The answer matches a reference."
    return Match(reasoning=why, is_matching=best > worst)


_YES_NO = {"yes": True, "ja": True, "oui": True, "sí": True, "sì": True, "是": True, "true": True}
_YES_NO |= dict.fromkeys(("no", "nein", "non", "否", "不是", "false"), False)


def _matched(query: str, answer: str, reference: str) -> float:
    """How well the answer matches the reference, 0 (not at all) to 1."""
    own, wanted = tokens(answer), tokens(plain(reference))
    if not own or not wanted:
        return 0.0
    if own == wanted or (refuses(answer) and refuses(reference)):
        return 1.0
    says = [_YES_NO.get(each[0]) for each in (own, wanted)]
    if refuses(answer) or refuses(reference) or (None not in says and says[0] != says[1]):
        return 0.0
    asked = set(content(query))
    stems = content(reference)
    new = [one for one in stems if one not in asked] or stems
    if not new:
        return float(says[1] is not None and says[0] == says[1])
    text = evidence((answer,))
    found = near_copy(reference, text)
    share = text.coverage(tuple(new)) if len(new) <= SHORT else share_of(new, set(content(answer)))
    if (found is not None and found.kind) or not text.holds(strict(reference) & set(new)):
        return 0.0
    return share if share >= (1.0 if len(new) <= SHORT else FOUND) else 0.0


# --- which function answers which question ---


class Rule(NamedTuple):
    """How a type of question is answered.

    Attributes:
        answer: gives the answer, or ``None``.
        field: the field of the question whose texts the answer says something about.
        absent: whether an answer to a question says that something is absent from these texts.
    """

    answer: Callable[[Any], Reply | None]
    field: str = ""
    absent: Callable[[Any, Any], bool] = lambda question, answer: False


def _unsupported(question: ClaimSupport, answer: ClaimVerdicts) -> bool:
    pairs = zip(question.claims, answer.supported, strict=True)
    return any(not good and content(claim) and not is_hostile(claim) for claim, good in pairs)


RULES: dict[type[Question[Any]], Rule] = {
    AnswerAttempted: Rule(attempted, "answer", lambda _, a: a.answered == "no"),
    AnswerMatch: Rule(match, "answer", lambda _, a: not a.is_matching),
    AssignNuggets: Rule(assign, "answer", lambda _, a: {*a.labels} != {"support"}),
    CitationSupport: Rule(
        lambda q: Support(support=held(plain(q.statement), evidence((q.passage,)))),
        "passage",
        lambda q, a: a.support != "full" and not is_hostile(q.statement),
    ),
    ClaimSupport: Rule(claim_support, "passages", _unsupported),
    ExtractClaims: Rule(extract_claims),
    ExtractNuggets: Rule(extract_nuggets, "passages", lambda q, a: not a.nuggets and not q.known),
    NuggetImportance: Rule(importance),
    ReferenceRating: Rule(rating, "passages", lambda _, a: 1 < a.rating < 10),
    RelevanceGrade: Rule(relevance, "passage", lambda _, a: a.grade < POSITIVE),
    ReportOnContext: Rule(report),
    SaysIdk: Rule(
        lambda q: Idk(says_idk=says_idk(q.answer)), "answer", lambda _, a: a.says_idk != "partial"
    ),
    SaysUnderspecified: Rule(
        lambda q: Clarification(asks="yes" if asks_back(q.answer) else "no"),
        "answer",
        lambda _, a: a.asks == "no",
    ),
}


def answer_to(question: Question[Any]) -> Any | None:
    """The answer, or ``None`` where the judge has none to this question."""
    rule = RULES.get(type(question))
    return None if rule is None else rule.answer(question)
