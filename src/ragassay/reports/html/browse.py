"""The details of a sample in the list of a page: its texts (clipped to a share of a fixed budget,
so that the file stays shareable), scores and the answers of judges."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Sized
from typing import Any

from ragassay.base.json_data import dumps
from ragassay.base.printable import excerpt, grouped
from ragassay.base.sample import Answer, GoldPassage, Identity, Passage, Sample
from ragassay.base.score import label_of
from ragassay.engine.results.judge_answers import JudgeAnswers
from ragassay.engine.results.score_rows import Rows, ScoreRow
from ragassay.metrics.core.chunk_matching import same_chunks
from ragassay.reports.views import evidence_view
from ragassay.reports.views.evidence_view import answer_pieces
from ragassay.texts.document_names import same_document

HEADLINE = 240
"""Characters of a query or an answer in the table."""

_MARKUP = ("<", ">", "&", "\u2028", "\u2029")


def script_json(value: Any) -> str:
    """Strict JSON that cannot end the ``<script>`` element that it is in."""
    text = dumps(value).decode()
    for mark in _MARKUP:
        # These stand inside JSON strings only, so their escapes mean the same to a parser.
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def share(budget: int, n: int) -> int:
    """The characters that each of ``n`` samples may have that share a budget."""
    return min(100_000, max(1_200, budget // max(n, 1)))


def details_of(
    identity: Identity, sample: Sample | None, rows: Rows, judge_answers: JudgeAnswers, room: int
) -> dict[str, Any]:
    """A sample's details in so many characters, with the answers that its scores rest on."""
    limit = room // 4
    answer = "" if sample is None or sample.answer is None else sample.answer.text
    shared, names = _shared(rows, answer, limit)
    each = _each(limit, rows, 100)
    scores = {name: _score(row, each, shared=name in names) for name, row in rows.items()}
    entry = {"system": identity[1], "repeat": identity[2], "scores": scores, **shared}
    if sample is not None:
        entry |= _texts(sample, limit)
    evidence = list(dict.fromkeys(one for row in rows.values() for one in row.evidence))
    records = [record for one in evidence if (record := judge_answers.get(one))]
    each, ranks = _each(limit, records), evidence_view.ranks_of(sample if records else None)
    entry["judge_answers"] = [_judge_answer(record, each, ranks) for record in records]
    places = {record["id"]: at for at, record in enumerate(records)}
    entry["evidence"] = {
        name: [places[one] for one in row.evidence if one in places]
        for name, row in rows.items()
        if row.evidence and places
    }
    return {name: value for name, value in entry.items() if value not in (None, [], {}, "")}


def headline(text: str | None) -> str:
    """The first words of a query or an answer."""
    return excerpt(text or "", HEADLINE)


def _each(limit: int, parts: Sized, least: int = 200) -> int:
    """The characters that each of some parts may have, which share a limit."""
    return max(least, limit // max(len(parts), 1))


def _clip(text: str | None, limit: int) -> str:
    if text is None or len(text) <= limit:
        return text or ""
    return f"{text[:limit]} … [{len(text) - limit:,} more characters in the run folder]"


def _texts(sample: Sample, main: int) -> dict[str, Any]:
    """What a sample holds, as the browser shows it."""
    passages, gold = sample.passages or (), sample.gold or ()
    matches = _matches(passages, gold)
    each, each_gold = _each(2 * main, passages, 120), _each(main, gold, 120)
    turn, run = _each(main, sample.history), _each(main, sample.runs)
    right, wrong = sample.references, sample.negative_references
    answer = sample.answer
    labels = {} if sample.answerability is None else {"answerability": str(sample.answerability)}
    return {
        "query": _clip(sample.query, main),
        "history": [[one.speaker, _clip(one.text, turn)] for one in sample.history],
        "answer": None if answer is None else _clip(answer.text, main),
        "cited": None if answer is None else _cited(answer, main),
        "runs": [
            [one.repeat, None if one.answer is None else _clip(one.answer.text, run), one.failure,
             None if one.passages is None else len(one.passages)]
            for one in sample.runs
        ],
        "failure": sample.failure,
        "references": [_clip(text, _each(main, right, 120)) for text in right],
        "negatives": [_clip(text, _each(main, wrong, 120)) for text in wrong],
        "passages": [
            [p.id, p.score, p.document, _clip(p.text, each),
             max((gold[at].grade for at in places), default=None)]
            for p, places in zip(passages, matches, strict=True)
        ],
        "gold": [
            [g.id, g.grade, g.document, g.start, g.end, _clip(g.text, each_gold)]
            for at, g in enumerate(gold)
            if g.grade > 0 and not any(at in places for places in matches)
        ],
        "labels": labels | {
            str(name): _clip(value if isinstance(value, str) else dumps(value).decode(), main)
            for name, value in sample.metadata.items()
        },
    }  # fmt: skip


def _cited(answer: Answer, limit: int) -> list[list[Any]]:
    """Where each statement that cites stands in the answer's text, and the ids that it cites:
    ``[start, end, ids]``, or ``[None, text, ids]`` where it does not stand there."""
    places: list[list[Any]] = []
    at = 0
    for statement in answer.statements:
        if place := evidence_view.place_of(statement.text, answer.text, at):
            at = place[1]
            places.append([*place, list(statement.citations)])
        elif statement.citations:
            places.append([None, _clip(statement.text, limit), list(statement.citations)])
    return places if any(ids for *_, ids in places) else []


def _matches(passages: Sequence[Passage], gold: Sequence[GoldPassage]) -> list[set[int]]:
    """The gold passages that each passage is (as the chunk metrics match them), or with whose span
    of the same document it has characters in common."""
    labels = same_chunks([*passages, *gold])
    names = labels[len(passages) :]

    def overlap(one: Passage, two: GoldPassage) -> bool:
        if one.document is None or two.document is None or one.start is None or two.start is None:
            return False
        if one.end is None or two.end is None or not same_document(two.document, one.document):
            return False
        return max(two.start, one.start) < min(two.end, one.end)

    return [
        {at for at, g in enumerate(gold) if names[at] == label or overlap(passage, g)}
        for passage, label in zip(passages, labels, strict=False)
    ]


def _shared(rows: Rows, answer: str, limit: int) -> tuple[dict[str, Any], Collection[str]]:
    """What several scores of a sample share and that is shown once: tables of nugget, importance
    and whether the answer holds it, and lists of pieces of the answer with the metrics' names."""
    tables = {name: tuple(evidence_view.nugget_table(row.parts)) for name, row in rows.items()}
    pieces = {
        name: tuple(answer_pieces(row.parts, answer))
        for name, row in rows.items()
        if not tables[name]
    }
    named = grouped((some, name) for name, some in pieces.items() if some)
    different = [one for one in dict.fromkeys(tables.values()) if one]
    each = _each(limit, [row for one in different for row in one], 80)
    each_piece = _each(limit, [piece for some in named for piece in some], 80)
    shared = {
        "nuggets": [
            [[_clip(nugget, each), *others] for nugget, *others in table] for table in different
        ],
        "pieces": [
            {
                "of": of,
                "list": [
                    # The answer has the text of a piece that has a place in it.
                    ["" if one.start is not None else _clip(one.text, each_piece), one.start,
                     one.end, one.held, one.by]
                    for one in some
                ],
            }
            for some, of in named.items()
        ],
    }  # fmt: skip
    return shared, {name for name in rows if tables[name] or pieces.get(name)}


def _score(row: ScoreRow, limit: int, *, shared: bool) -> list[Any]:
    """Value, reason, explanation and parts: text, ``None`` if too long, 0 if scores share them."""
    text = dumps(row.parts).decode() if row.parts and not shared else ""
    parts = 0 if shared else text if len(text) <= limit else None
    value = label_of(row.value) if isinstance(row.value, list) else row.value
    return [value, row.reason, _clip(row.explanation, max(limit, 300)), parts]


def _judge_answer(
    record: Mapping[str, Any], limit: int, ranks: Mapping[str, int], *, prompt: bool = True
) -> dict[str, Any]:
    """An answer of a judge as the browser shows it; votes with the same prompt do not repeat it."""
    votes = record.get("votes", ())
    shared = evidence_view.shared_prompt(votes)
    answer = record.get("answer")
    entry: dict[str, Any] = {
        "question": record["question"],
        "answer": None if answer is None else _clip(dumps(answer).decode(), limit),
        "failure": record.get("reason") and f"{record['reason']}: {record.get('detail', '')}",
        "judge": record.get("judge"),
        # The passages stand in the page.
        "about": evidence_view.about(record, ranks, quoted=False),
        "spread": evidence_view.spread(record),
    }
    sent = shared or record.get("messages")
    if prompt and sent:
        entry["messages"] = [[one["role"], _clip(one["content"], limit)] for one in sent]
    if record.get("model") or record.get("messages"):
        entry |= {
            "model": record.get("model"),
            "tokens": [record.get("input_tokens", 0), record.get("output_tokens", 0)],
            "cost": record.get("cost"),
            "reply": _clip(record.get("reply"), limit),
        }
    each = _each(limit, votes)
    entry["votes"] = [_judge_answer(vote, each, ranks, prompt=not shared) for vote in votes]
    return {name: value for name, value in entry.items() if value not in (None, [], "")}
