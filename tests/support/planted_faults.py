"""Samples with known faults: the bundled example's passages with an answer that is right, and then
one fault planted at a time."""

import re
from collections.abc import Callable
from dataclasses import replace

import ragassay
from ragassay.base.sample import Answer, Answerability, Passage, Sample, Statement
from ragassay.examples import path_of
from ragassay.metrics.citation.citation_parser import sentences

REFUSAL = "I could not find that in the documents."
INVENTED = (
    "A decree of the regional parliament from 1954 sets this at 317 crowns.",
    "Captain Morrow of the lighthouse decides it by drawing lots every Thursday.",
    "Seven copper tokens are handed to the night watch before the ferry leaves.",
)
_VERB = re.compile(r"\b(is|are|was|were|can|may|must|will|should|has|have|do|does)\b")
_NO = re.compile(r"\b(not|never|no) ")


def said(text: str, *citations: str) -> Answer:
    """An answer of one statement."""
    return Answer(text, (Statement(text, citations),))


def first_sentence(passage: Passage) -> str:
    """How a passage begins."""
    return sentences(passage.text or "")[0].text


def fine() -> list[Sample]:
    """Queries with one gold passage, which stands first and which the answer quotes and cites; and
    queries without an answer, which are refused."""
    made = []
    for sample in ragassay.load(path_of("hybrid")):
        gold = [one for one in sample.gold or () if one.text]
        passages = list(sample.passages or ())
        if sample.answerability is Answerability.UNANSWERABLE:
            made.append(replace(sample, answer=said(REFUSAL), references=(REFUSAL,)))
        held = [one for one in passages if len(gold) == 1 and one.id == gold[0].id]
        if held and sample.answerability is Answerability.ANSWERABLE:
            text = gold[0].text or ""
            rest = [one for one in passages if one is not held[0]]
            made.append(
                replace(
                    sample,
                    passages=tuple(replace(one, score=None) for one in (held[0], *rest)),
                    answer=said(text, held[0].id or ""),
                    references=(text,),
                )
            )
    return made


def answered(sample: Sample) -> Sample | None:
    """Answers a query that has no answer with how the first passage begins."""
    passage = (sample.passages or ())[0]
    return replace(sample, answer=said(first_sentence(passage), passage.id or ""))


def dropped(sample: Sample) -> Sample | None:
    """Takes the gold passage out; the answer is how the passage that is then first begins."""
    rest = (sample.passages or ())[1:]
    return replace(sample, passages=rest, answer=said(first_sentence(rest[0]), rest[0].id or ""))


def moved_last(sample: Sample) -> Sample | None:
    """Moves the gold passage to the end; the answer is how the first passage begins."""
    gold, *rest = sample.passages or ()
    answer = said(first_sentence(rest[0]), rest[0].id or "")
    return replace(sample, passages=(*rest, gold), answer=answer)


def ignored(sample: Sample) -> Sample | None:
    """Answers from the second passage although the first holds the answer."""
    other = (sample.passages or ())[1]
    return replace(sample, answer=said(first_sentence(other), other.id or ""))


def swapped(sample: Sample) -> Sample | None:
    """Cites the last passage in place of the first."""
    return replace(sample, answer=said(sample.answer_text, (sample.passages or ())[-1].id or ""))


def negated(sample: Sample) -> Sample | None:
    """Negates the answer, or takes its negation away; ``None`` where it has no verb for that."""
    text = sample.answer_text
    turned = _NO.sub("", text, count=1)
    if turned == text:
        turned = _VERB.sub(r"\1 not", text, count=1)
    if turned == text:
        return None
    return replace(sample, answer=said(turned, (sample.passages or ())[0].id or ""))


def invented(sample: Sample) -> Sample | None:
    """Answers with something that stands nowhere."""
    return replace(sample, answer=said(INVENTED[len(sample.id) % len(INVENTED)]))


def refused(sample: Sample) -> Sample | None:
    """Refuses."""
    return replace(sample, answer=said(REFUSAL))


def cut(sample: Sample) -> Sample | None:
    """Leaves the first half of the answer."""
    words = sample.answer_text.split()
    half = " ".join(words[: (len(words) + 1) // 2]) + "."
    return replace(sample, answer=said(half, (sample.passages or ())[0].id or ""))


PLANTED: dict[str, Callable[[Sample], Sample | None]] = {
    "answered_unanswerable": answered, "not_retrieved": dropped, "ranked_low": moved_last,
    "refused_answerable": refused, "contradicted": negated, "invented": invented,
    "cited_wrongly": swapped, "incomplete": cut, "ignored": ignored,
}  # fmt: skip
"""What plants each fault."""
IN_CLASS = {"contradicted": "invented"}  # the class of a fault that does not have the name of one


def planted() -> list[tuple[str, Sample]]:
    """Each sample, right and with each fault, under an id of its own; with the name of the
    fault."""
    made = []
    for sample in fine():
        made.append(("fine", sample))
        unanswerable = sample.answerability is Answerability.UNANSWERABLE
        for name, plant in PLANTED.items():
            if (name == "answered_unanswerable") is unanswerable:
                found = plant(sample)
                if found is not None:
                    made.append((name, replace(found, id=f"{sample.id}-{name}")))
    return made
