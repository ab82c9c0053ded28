"""What the judge answers to each kind of question, from the three signals and the classifier."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragassay.base.score import Reason
from ragassay.judges import questions as asked
from ragassay.judges.offline.evidence import Evidence, evidence, grade, score, share_of, strict
from ragassay.judges.offline.near_copy import Kind, near_copy, read
from ragassay.judges.offline.refusal import declines, is_small_talk, refuses, says_idk, stated
from ragassay.judges.offline.words import (
    WHOLE,
    content,
    evidence_sentences,
    is_hostile,
    is_number,
    phrases,
    plain,
    sentences,
    tokens,
    topic,
    unfolded,
)
from ragassay.judges.question import Lost, Question, Reply
from ragassay.texts.languages import held as in_languages, likely_languages
from ragassay.texts.sentence_cutting import ends_sentence

FULL, PARTIAL = 0.75, 0.4  # smallest coverage of a statement for full and for partial support
CLAIM, ORDER = 0.45, 0.2
"""Coverage of a claim and order of its sentence, together, above which it is supported; part of
that for the order."""
STARS = (0.1, 0.2, 0.35, 0.5)
"""Relevance from which the report on a context gives 2, 3, 4 and 5 stars."""
ENCODED = 0.25  # part of the relevance that is the cosine, where there is a sentence encoder
NEAR_QUERY = 0.35  # share of a query's weight from which a sentence is near it
SAME = 0.6  # share of the stems of two nuggets that both hold, from which they are one nugget
SHORT, FOUND = 2, 0.66
"""Largest number of content words of a reference that must all be found in an answer; share of a
longer one's weight that must be."""

_CLAIMS = 40  # most claims that are taken for those of one sentence


def held(statement: str, passages: Evidence) -> str:
    """How far passages hold a statement: ``full``, ``partial`` or ``none``."""
    stems = content(statement)
    if not stems or is_hostile(statement):
        return "none"
    found = near_copy(statement, passages)
    if found.kind is not None:
        return "partial" if found.kind in ("number", "unit", "name") else "none"
    share = passages.coverage(stems)
    if (share >= FULL or found.copy) and passages.holds(strict(statement), stems):
        return "full"
    return "partial" if share >= PARTIAL else "none"


def contradicted(sentence: str, passages: Sequence[str]) -> Kind | None:
    """How passages contradict a sentence that is a near copy of one of theirs; ``None``: not."""
    return near_copy(plain(sentence), evidence(tuple(passages))).kind


def extract_claims(question: asked.ExtractClaims) -> asked.Claims:
    """The phrases of the answer's sentences; what addresses the judge stays whole."""
    topics = map(topic, stated(question.answer))
    claims = ([said] if is_hostile(said) else phrases(said) for said in topics)
    return asked.Claims(claims=tuple(claim for each in claims for claim in each))


def supports(
    all_claims: Sequence[str], texts: Sequence[str], least: float = CLAIM, part: float = ORDER
) -> list[bool]:
    """Which claims passages support. Claims of one sentence have one verdict where it is a near
    copy. Any other one needs its numbers and names in the passages, enough coverage, and the
    order of its sentence's words. ``least`` and ``part`` take the place of `CLAIM` and `ORDER`."""
    passages = evidence(tuple(texts))
    supported: list[bool] = []
    for claims in _by_sentence(all_claims):
        sentence = " ".join(claims)
        found = near_copy(sentence, passages)
        words = content(sentence)
        order = part * passages.in_order(words)
        for claim in claims:
            stems = content(claim)
            strong = found.copy or (1 - part) * passages.coverage(stems) + order > least
            good = strong and passages.holds(strict(claim), words) and not found.kind
            supported.append(good and bool(stems) and not is_hostile(claim))
    return supported


def _by_sentence(claims: Sequence[str]) -> Iterator[list[str]]:
    run: list[str] = []
    for at, claim in enumerate(claims, 1):
        run.append(claim)
        end = ends_sentence(f"{claim} ") or len(run) == _CLAIMS
        if end or at == len(claims):
            yield run
            run = []


def supported_share(
    answer: str, passages: Sequence[str], claim: float = CLAIM, order: float = ORDER
) -> float | None:
    """The share of an answer's claims that passages support (see `supports`), 0 to 1; ``None``
    where it claims nothing."""
    claims = extract_claims(asked.ExtractClaims("", answer)).claims
    return sum(supports(claims, passages, claim, order)) / len(claims) if claims else None


Cosine = Callable[[str, str], float | None]
"""Cosine of two texts' vectors by a sentence encoder, -1 to 1; ``None`` where one has no vector."""


def relevance(question: asked.RelevanceGrade, cosine: Cosine | None = None) -> asked.Relevance:
    """The grade, used for all three steps: words do not show how far a passage can be trusted."""
    found = grade(_relevance(question.query, question.passage, question.earlier, cosine))
    return asked.Relevance(match=found, trust=found, grade=found)


def _relevance(query: str, text: str, earlier: tuple[str, ...], cosine: Cosine | None) -> float:
    words = score(query, text, earlier)
    near = cosine(query, text) if cosine else None
    return words if near is None else (1 - ENCODED) * words + ENCODED * max(near, 0)


def report(question: asked.ReportOnContext, cosine: Cosine | None = None) -> asked.ContextReport:
    """The relevance of the best chunk; the other fields have no signal behind them."""
    found = (_relevance(question.query, chunk, (), cosine) for chunk in question.chunks)
    best = max(found, default=0.0)
    why = "words alone do not tell this, which needs an LLM judge"
    lost = Lost(reason=Reason.UNSUPPORTED, detail=why)
    return asked.ContextReport(
        relevance=1 + sum(best >= least for least in STARS),
        relevance_explanation=f"Words of the query in the best chunk: {best:.2f} of 1.",
        lost=dict.fromkeys(("usefulness", "utilization", "attribution"), lost),
    )


def extract_nuggets(question: asked.ExtractNuggets) -> asked.NuggetList:
    """The clauses of the sentences nearest to the query, each of at most ``words`` words."""
    query = set(content(question.query))
    near = [
        (share_of(query, set(content(sentence))), sentence)
        for passage in question.passages
        for sentence in evidence_sentences(passage)
    ]
    seen = [set(content(text)) for text in question.known]
    chosen = list(question.known) if question.refined else []
    for share, sentence in sorted(near, key=lambda value: -value[0]):
        for clause in _clauses(sentence, question.words) if share >= NEAR_QUERY else ():
            stems = set(content(clause))
            known = any(len(stems & other) >= SAME * len(stems | other) for other in seen)
            if not known and len(seen) < question.most and stems - query:
                seen.append(stems)
                chosen.append(clause)
    return asked.NuggetList(nuggets=tuple(chosen))


def _clauses(sentence: str, most: int) -> list[str]:
    """A sentence in runs of its phrases, none of more words than ``most``."""
    runs: list[list[str]] = [[]]
    for words in map(str.split, phrases(sentence)):
        if runs[-1] and len(runs[-1]) + len(words) > most:
            runs.append([])
        runs[-1] += words
    pieces = (run[at : at + most] for run in runs for at in range(0, len(run), most))
    clauses = (" ".join(piece).strip(" ,;:.") for piece in pieces)
    return [clause for clause in clauses if len(content(clause)) >= 3]


def importance(question: asked.NuggetImportance) -> asked.NuggetImportances:
    """``vital`` where the nugget is near the query."""
    query = content(question.query)
    near = (share_of(query, set(content(nugget))) >= NEAR_QUERY for nugget in question.nuggets)
    return asked.NuggetImportances(labels=tuple("vital" if flag else "okay" for flag in near))


def assign(question: asked.AssignNuggets) -> asked.NuggetAssignments:
    """Each nugget as a statement that the answer holds."""
    label = {"full": "support", "partial": "partial_support", "none": "not_support"}
    answer = evidence((question.answer,))
    labels = tuple(label[held(nugget, answer)] for nugget in question.nuggets)
    return asked.NuggetAssignments.model_validate({"labels": labels})


def attempted(question: asked.AnswerAttempted) -> asked.Attempt:
    """``yes`` for any answer that is no refusal, small talk included."""
    answers = is_small_talk(question.answer) or not refuses(question.answer, question.query)
    return asked.Attempt(answered="yes" if answers else "no")


def content_of(question: asked.AnswerContent) -> asked.Content:
    """``small_talk`` where it meets small talk, ``nothing`` for another answer that refuses or is
    small talk, ``part`` beside a refusal, else ``answer``."""
    query = question.conversation.rpartition("user: ")[2]
    if is_small_talk(question.answer) and is_small_talk(query):
        return asked.Content(holds="small_talk")
    if refuses(question.answer, question.conversation):
        return asked.Content(holds="nothing")
    partial = says_idk(question.answer, question.conversation) == "partial"
    return asked.Content(holds="part" if partial else "answer")


def rating(question: asked.ReferenceRating) -> asked.Rating:
    """The mean of the agreement with the reference (F of word weights) and the share of supported
    claims, as 1 to 10; 1 where only one of answer and reference declines, 10 where both do."""
    declines = refuses(question.answer)
    if declines != refuses(question.reference):
        return asked.Rating(explanation="One of answer and reference declines.", rating=1)
    if declines:
        return asked.Rating(explanation="Answer and reference both decline.", rating=10)
    stems, wanted = (
        {stem for part in evidence_sentences(text) for stem in content(part)}
        for text in (question.answer, question.reference)
    )
    precision, recall = share_of(stems, wanted), share_of(wanted, stems)
    agreement = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    support = supported_share(question.answer, (*question.passages, question.reference))
    value = agreement if support is None else (agreement + support) / 2
    says = "no claims" if support is None else f"{support:.0%} of its claims supported"
    explanation = f"Agreement with the reference {agreement:.0%}; {says}."
    return asked.Rating(explanation=explanation, rating=1 + round(9 * value))


def match(question: asked.AnswerMatch) -> asked.Match | None:
    """Whether the answer holds one of the references, and no wrong answer as well as this one;
    ``None`` where the question has instructions, which rules cannot follow."""
    if question.instructions:
        return None
    answer = " ".join(evidence_sentences(question.answer))
    best, worst = (
        max((_matched(question.query, answer, text) for text in texts), default=0.0)
        for texts in (question.references, question.wrong)
    )
    why = "a reference" if best > worst else "a wrong answer as well" if best else "no reference"
    return asked.Match(reasoning=f"The answer matches {why}.", is_matching=best > worst)


def says_otherwise(query: str, answer: str, references: Sequence[str]) -> bool:
    """Whether each reference has numbers (not the query's) or begins with a yes or no, and the
    answer has others only (unless both state several things), or begins with the other."""
    alone = len(stated(answer)) < 2 or all(len(stated(text)) < 2 for text in references)
    texts = [plain(text) for text in (answer, *references)]
    numbers = [set(filter(is_number, content(text))) - set(content(query)) for text in texts]
    says = [{_YES_NO[word] for word in tokens(text)[:1] if word in _YES_NO} for text in texts]
    return bool(references) and any(
        bool(of[0]) and all(each and of[0].isdisjoint(each) for each in of[1:])
        for of in (says, numbers)[: 1 + alone]
    )


_YES_NO = dict.fromkeys(("yes", "true", "ja", "oui", "sí", "sì", "是"), True)
_YES_NO |= dict.fromkeys(("no", "false", "nein", "non", "否", "不是"), False)


def _denied(text: str, stems: Iterable[str]) -> bool:
    """Whether one of the stems is denied in each sentence that holds it: what a near copy tells of
    whole sentences, of references of a word or two. What denies a common word before one of them
    ("don't use it") denies that."""
    found: dict[str, bool] = {}
    for sentence in sentences(text):
        held_back = False
        for word in read(sentence):
            for stem in set(stems).intersection(word.stem.split()):
                found[stem] = found.get(stem, True) and bool(word.denied or held_back)
            held_back = bool(word.denied) and word.weight < WHOLE
    return any(found.values())


def _affirms(query: str, answer: str) -> bool | None:
    """Whether an answer without a yes or no affirms what the query asks; ``None``: it says neither,
    or something else."""
    stems, text = content(query), evidence((answer,))
    if near_copy(query, text).kind in ("negation", "opposite") or _denied(answer, stems):
        return False
    return True if text.coverage(stems) >= FULL and text.holds(strict(query), ()) else None


def _matched(query: str, answer: str, reference: str) -> float:
    """How well the answer matches the reference, 0 (not at all) to 1."""
    own, wanted = tokens(answer), tokens(plain(reference))
    none = declines(answer), declines(reference)
    if own == wanted or not own or not wanted or any(none):
        return float(bool(own) and (own == wanted or all(none)))
    says = [_YES_NO.get(each[0]) for each in (own, wanted)]
    query, answer, reference = map(unfolded, (query, answer, reference))
    stems = content(reference)
    if not stems and says[0] is None:
        says[0] = _affirms(query, answer)
    if not stems and says[1] is None:  # common words, such as the code of a country
        return float(re.search(rf"(?<!\w){re.escape(plain(reference))}(?!\w)", answer) is not None)
    if not stems or (None not in says and says[0] != says[1]):
        return float(says[1] is not None and says[0] == says[1])
    # What the query says, too, tells nothing; but a part of an address is no word of it.
    known = set(content(query))
    joined = [part for word in reference.split() if len(part := content(word)) > 1]
    whole = {stem for part in joined if not known.issuperset(part) for stem in part}
    new = [stem for stem in stems if stem not in known or stem in whole] or stems
    text = evidence((answer,))
    found = near_copy(reference, text)
    contradicts = found.kind or _denied(answer, new) != _denied(reference, new)
    if contradicts or found.exchanged or not text.holds(strict(reference) & set(new), ()):
        return 0.0
    said = {s for part in stated(answer) for s in content(topic(part))} - known
    if len(new) < len(stems) and 0 < len(said) <= SHORT and said.issubset(stems):
        return 1.0  # a short answer, of a reference that repeats the question
    short = len(new) <= SHORT
    share = text.coverage(new) if short else share_of(new, set(content(answer)))
    return share if share >= (1.0 if short else FOUND) else 0.0


_ANSWERS: Mapping[type[Question[Any]], Callable[[Any], Reply | None]] = {
    asked.AnswerAttempted: attempted,
    asked.AnswerContent: content_of,
    asked.AnswerMatch: match,
    asked.AssignNuggets: assign,
    asked.CitationSupport: lambda q: asked.Support.model_validate(
        {"support": held(plain(q.statement), evidence((q.passage,)))}
    ),
    asked.ClaimSupport: lambda q: asked.ClaimsSupported(
        supported=tuple(supports(q.claims, q.passages))
    ),
    asked.ExtractClaims: extract_claims,
    asked.ExtractNuggets: extract_nuggets,
    asked.NuggetImportance: importance,
    asked.ReferenceRating: rating,
    asked.SaysIdk: lambda q: asked.Idk(says_idk=says_idk(q.answer, q.conversation)),
}
"""The function that answers each type of question that no encoder has a part in."""

_ANY = (asked.RelevanceGrade, asked.ReportOnContext, asked.ExtractNuggets, asked.NuggetImportance)
"""Questions that words alone answer, in any language."""
_KNOWN = in_languages("refusals").keys() & in_languages("negators").keys()
_SCRIPTS = re.compile(r"[A-Za-z\u00c0-\u024f\u3400-\u9fff]")
"""Letters of the scripts of these languages."""
_SURE = 3  # different small words that tell a language for sure


def unknown_language(question: Question[Any]) -> str:
    """Words for the language of what is judged, where refusals and negators of it are not known;
    empty where they are, and where texts in their scripts are too short to tell a language."""
    if isinstance(question, _ANY):
        return ""
    judged = _joined(question, ("answer", "statement", "claims"))
    return unread(judged, _joined(question, question.data), question.language)


def unread(text: str, beside: str, language: str) -> str:
    """Words for the language of a text that is judged; see `unknown_language`. All texts of the
    question, ``beside``, tell it where this one does not; ``language`` is the stated one's code."""
    if 2 * len(_SCRIPTS.findall(text)) < sum(map(str.isalpha, text)):
        return "this script"
    codes = [language] if language else likely_languages(text, _SURE)
    codes = codes or likely_languages(beside, _SURE)
    return "" if not codes or _KNOWN.intersection(codes) else f"the language {codes[0]!r}"


def _joined(question: Question[Any], names: Iterable[str]) -> str:
    values = (question.data.get(name) for name in names)
    lists = ([value] if isinstance(value, str) else value for value in values)
    every = (text for value in lists if isinstance(value, list | tuple) for text in value)
    return " ".join(text for text in every if type(text) is str)


def is_answered(kind: type[Question[Any]]) -> bool:
    """Whether the rules answer questions of a kind."""
    return kind in (asked.RelevanceGrade, asked.ReportOnContext, *_ANSWERS)


def answer_to(question: Question[Any], cosine: Cosine | None = None) -> Any | None:
    """The answer, or ``None`` where the judge has none to this question. ``cosine`` is of query and
    passage, and joins the words in questions about relevance."""
    if isinstance(question, asked.RelevanceGrade):
        return relevance(question, cosine)
    if isinstance(question, asked.ReportOnContext):
        return report(question, cosine)
    answer = _ANSWERS.get(type(question))
    return None if answer is None else answer(question)
