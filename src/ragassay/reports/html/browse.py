"""The details of a sample in the list of a page: its texts (clipped to a share of a fixed budget,
so that the file stays shareable), scores and the answers of judges."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Sized
from typing import Any

from ragassay.base.counts import grouped
from ragassay.base.printable import excerpt
from ragassay.base.sample import Answer, GoldPassage, Identity, Passage, Sample
from ragassay.base.score import label_of
from ragassay.base.strict_json import dumps
from ragassay.engine.results.judge_answers import JudgeAnswers
from ragassay.engine.results.score_rows import Rows, ScoreRow
from ragassay.metrics.core.chunk_matching import same_chunks
from ragassay.reports.views import evidence_view
from ragassay.reports.views.evidence_view import answer_pieces
from ragassay.texts.document_names import same_document

HEADLINE = 240
"""Characters of a query in the table."""

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


def _each(limit: int, parts: Sized, least: int = 200) -> int:
    """The characters that each of some parts may have, which share a limit."""
    return max(least, limit // max(len(parts), 1))


def headline(sample: Sample | None) -> str:
    """The query's first words."""
    return "" if sample is None else excerpt(sample.query or "", HEADLINE)


def _texts(sample: Sample, main: int) -> dict[str, Any]:
    """What a sample holds, as the browser shows it."""
    passages, gold = sample.passages or (), sample.gold or ()
    matches = _matches(passages, gold)
    each, each_gold = _each(2 * main, passages, 120), _each(main, gold, 120)
    turn, run = _each(main, sample.history), _each(main, sample.runs)
    labels = {} if sample.answerability is None else {"answerability": str(sample.answerability)}
    return {
        "query": _clip(sample.query or "", main),
        "history": [[one.speaker, _clip(one.text, turn)] for one in sample.history],
        "answer": None if sample.answer is None else _clip(sample.answer.text, main),
        "cited": None if sample.answer is None else _cited(sample.answer, main),
        "runs": [_run(one, run) for one in sample.runs],
        "failure": sample.failure,
        "references": _clip_all(sample.references, main),
        "negatives": _clip_all(sample.negative_references, main),
        "passages": [
            [p.id, p.score, p.document, _clip(p.text or "", each),
             max((gold[at].grade for at in places), default=None)]
            for p, places in zip(passages, matches, strict=True)
        ],
        "gold": [
            [g.id, g.grade, g.document, g.start, g.end, _clip(g.text or "", each_gold)]
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
    folded = evidence_view.searchable(answer.text)
    places: list[list[Any]] = []
    at = 0
    for statement in answer.statements:
        if place := evidence_view.place_of(statement.text, folded, at):
            at = place[1]
            places.append([*place, list(statement.citations)])
        elif statement.citations:
            places.append([None, _clip(statement.text, limit), list(statement.citations)])
    return places if any(ids for *_, ids in places) else []


def _run(run: Sample, limit: int) -> list[Any]:
    """One of the runs that a group holds: its number, its answer, why it has none, and how many
    passages it retrieved."""
    answer = None if run.answer is None else _clip(run.answer.text, limit)
    n_passages = None if run.passages is None else len(run.passages)
    return [run.repeat, answer, run.failure, n_passages]


def _matches(passages: Sequence[Passage], gold: Sequence[GoldPassage]) -> list[set[int]]:
    """The gold passages that each passage is (as the chunk metrics match them) or overlaps."""
    labels = same_chunks([*passages, *gold])
    names = labels[len(passages) :]
    return [
        {at for at, g in enumerate(gold) if names[at] == label or _overlap(passage, g)}
        for passage, label in zip(passages, labels, strict=False)
    ]


def _overlap(passage: Passage, gold: GoldPassage) -> bool:
    """Whether the spans lie in one document and have characters in common."""
    if gold.document is None or passage.document is None:
        return False
    if not same_document(gold.document, passage.document):
        return False
    if gold.start is None or gold.end is None or passage.start is None or passage.end is None:
        return False
    return max(gold.start, passage.start) < min(gold.end, passage.end)


def _shared(rows: Rows, answer: str, limit: int) -> tuple[dict[str, Any], Collection[str]]:
    """What several scores of a sample share and that is shown once: tables of nugget, importance
    and whether the answer holds it, and lists of pieces of the answer with the metrics' names."""
    nuggets = {n: tuple(evidence_view.nugget_table(row.parts)) for n, row in rows.items()}
    tables = {name: table for name, table in nuggets.items() if table}
    pieces = {n: tuple(answer_pieces(r.parts, answer)) for n, r in rows.items() if n not in tables}
    named = grouped((some, name) for name, some in pieces.items() if some)
    each = max(80, limit // max(1, sum(map(len, {*tables.values()}))))
    each_piece = max(80, limit // max(1, sum(map(len, named))))
    shared = {
        "nuggets": [
            [[_clip(nugget, each), *others] for nugget, *others in table]
            for table in dict.fromkeys(tables.values())
        ],
        "pieces": [
            {
                "of": of,
                "list": [
                    # The answer has the text of a piece that has a place in it.
                    [
                        "" if one.start is not None else _clip(one.text, each_piece),
                        one.start,
                        one.end,
                        one.held,
                        one.by,
                    ]
                    for one in some
                ],
            }
            for some, of in named.items()
        ],
    }
    return shared, {*tables, *(name for name, some in pieces.items() if some)}


def _score(row: ScoreRow, limit: int, *, shared: bool) -> list[Any]:
    """Value, reason, explanation and parts: a text, ``None`` where they are too long, or 0 where
    several scores share them."""
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
            "reply": _clip(record.get("reply") or "", limit),
        }
    each = _each(limit, votes)
    entry["votes"] = [_judge_answer(vote, each, ranks, prompt=not shared) for vote in votes]
    return {name: value for name, value in entry.items() if value not in (None, [], "")}


def _clip(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]} … [{len(text) - limit:,} more characters in the run folder]"


def _clip_all(texts: Sequence[str], limit: int) -> list[str]:
    each = _each(limit, texts, 120)
    return [_clip(text, each) for text in texts]
