"""Nuggets by words: the clauses of passages that are about the query, and those an answer holds."""

from __future__ import annotations

import re

from ragassay.judges.offline.language import (
    PreparedPassages,
    Window,
    content,
    evidence_sentences,
    holds,
    kind_of,
    phrases,
    piece,
    share_of,
)
from ragassay.judges.offline.near_copies import contradiction
from ragassay.judges.offline.relevance_rules import RELATED
from ragassay.judges.offline.rules import rule_for
from ragassay.judges.questions import (
    Assignment,
    AssignNuggets,
    ExtractNuggets,
    Importance,
    NuggetAssignments,
    NuggetImportance,
    NuggetImportances,
    NuggetList,
)

SAME = 0.6
"""Share of the stems of two nuggets that both hold, from which they are one nugget."""

HELD, PARTLY_HELD = 0.7, 0.45
"""Share of a nugget's weight that two neighbouring sentences of an answer must hold."""


@rule_for(
    ExtractNuggets,
    "passages",
    lambda question, answer: not answer.nuggets and not question.known,
)
def extract(question: ExtractNuggets) -> NuggetList:
    """The clauses nearest to the query, each of at most ``words`` words, best first."""
    asked = frozenset(content(question.query))
    candidates: list[tuple[float, str]] = []
    for passage in question.passages:
        for sentence in evidence_sentences(passage):
            near = share_of(asked, set(content(sentence)))
            if near >= RELATED:
                for clause in _clauses(sentence, question.words):
                    if not asked.issuperset(content(clause)):
                        candidates.append((near, clause))
    candidates.sort(key=lambda candidate: -candidate[0])
    seen: list[Window] = [frozenset(content(nugget)) for nugget in question.known]
    chosen: list[str] = []
    for _, clause in candidates:
        stems = frozenset(content(clause))
        if len(seen) >= question.most:
            break
        if not any(len(stems & other) >= SAME * len(stems | other) for other in seen):
            seen.append(stems)
            chosen.append(clause)
    return NuggetList(nuggets=tuple(chosen))


_LEAST = 3
"""Content words in a nugget at least."""

_JOINT = re.compile(r"^\W*(?:and|or|but|which|who|that|und|oder|et|y|e)\s+", re.IGNORECASE)


def _clauses(sentence: str, most: int) -> list[str]:
    """A sentence as runs of its phrases, none of more words than ``most``."""
    clauses: list[str] = []
    run: list[str] = []
    for phrase in phrases(sentence):
        words = (phrase if run else _JOINT.sub("", phrase)).split()
        if run and len(run) + len(words) > most:
            clauses.append(" ".join(run))
            run = []
            words = _JOINT.sub("", phrase).split()
        run.extend(words)
        while len(run) > most:
            clauses.append(" ".join(run[:most]))
            run = run[most:]
    if run:
        clauses.append(" ".join(run))
    clean = (clause.strip(" ,;:.") for clause in clauses)
    return [clause for clause in clean if len(content(clause)) >= _LEAST]


@rule_for(NuggetImportance)
def importance(question: NuggetImportance) -> NuggetImportances:
    """``vital`` where it is near the query, or has a word of it and the kind that it asks for."""
    return NuggetImportances(
        labels=tuple(_important(question.query, nugget) for nugget in question.nuggets)
    )


def _important(query: str, nugget: str) -> Importance:
    kind = kind_of(query)
    near = share_of(content(query), set(content(nugget)))
    fits = kind != "any" and holds(nugget, kind, frozenset(content(query)))
    return "vital" if near >= RELATED or (fits and near > 0) else "okay"


@rule_for(
    AssignNuggets, "answer", lambda _, answer: any(label != "support" for label in answer.labels)
)
def assign(question: AssignNuggets) -> NuggetAssignments:
    """``support`` where neighbouring sentences of the answer hold its words, numbers and names."""
    evidence = PreparedPassages((question.answer,))
    return NuggetAssignments(
        labels=tuple(_held(nugget, question.answer, evidence) for nugget in question.nuggets)
    )


def _held(nugget: str, answer: str, evidence: PreparedPassages) -> Assignment:
    wanted = piece(nugget)
    share = evidence.coverage(wanted)
    against = contradiction(nugget, (answer,))
    if against in ("negation", "opposite", "roles"):
        return "not_support"
    if share >= HELD and evidence.exact(wanted) and not against:
        return "support"
    return "partial_support" if share >= PARTLY_HELD else "not_support"
