"""What a score shows with the answers that it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from ragassay.base.counts import few, grouped
from ragassay.base.sample import Sample
from ragassay.base.strict_json import dumps
from ragassay.engine.comparison.verdict_rules import OFFLINE, agreements
from ragassay.engine.results.score_rows import ScoreRow
from ragassay.engine.run.rescoring import Evidence, Explained
from ragassay.judges.offline.offline_judge import LABEL
from ragassay.judges.offline.words import LONGEST
from ragassay.reports.model import Block, Cell, Column, Part, Report, Style, lines, part, table
from ragassay.reports.text import wording
from ragassay.reports.views import judge_answer_view
from ragassay.reports.views.judge_answer_view import PIECES, AnswerPiece, answer_pieces
from ragassay.texts.languages import language_in

_HELD: Mapping[str, tuple[str, Style]] = {
    "yes": ("+", "good"),
    "partly": ("~", "doubt"),
    "no": ("-", "bad"),
}
"""The mark and style of a piece of the answer: supported, in part, not."""

CLIP = 400
"""Characters of a reply or text that are shown unless all was asked for."""

_MOST_PIECES = 30
"""Pieces of an answer, or nuggets, that are shown unless all was asked for."""

_MOST_RUNS = 10
_MOST_IN_FULL = 6
"""Up to so many metrics over the runs of a query are shown in full; of more each has a line."""


def evidence_report(explanation: Explained, *, full: bool = False) -> Report:
    """All scores of a sample with their evidence. What several scores share, an answer or a table
    of nuggets, is shown once."""
    limit = None if full else CLIP
    sample = explanation.sample
    fields: list[Cell] = []
    if sample.query:
        fields.append(_field("query", sample.query, limit))
    if sample.answer is not None:
        fields.append(_field("answer", sample.answer.text, limit))
    runs = sample.runs[: _MOST_RUNS if limit is not None else None]
    for run in runs:
        answer_text = f"none ({run.failure})" if run.answer is None else run.answer.text
        fields.append(_field(f"answer, repeat {run.repeat}", answer_text, limit))
    if more := len(sample.runs) - len(runs):
        fields.append(Cell(f"… and {more:,} more runs; --full shows them", style="dim"))
    blocks: list[Block] = [lines(fields, "text")]
    scores = _Scores(sample, limit)
    if sample.runs and limit is not None and len(explanation.scores) > _MOST_IN_FULL:
        blocks += _over_runs(explanation.scores, limit)
    else:
        blocks += map(scores.part, explanation.scores)
    if not explanation.scores:
        blocks.append(lines(["The run keeps no score for this sample."], "text"))
    if limit is not None and scores.seen:
        blocks.append(lines(["--full shows prompts, and all texts in full."]))
    about = [sample.system, f"repeat {sample.repeat}" if sample.repeat else ""]
    return Report(sample.id, tuple(blocks), ", ".join(filter(None, about)))


def _agreement(one: Evidence, sample: Sample) -> Iterator[Cell]:
    """What was measured of the offline judge, for each kind of question that it was asked for this
    score, in the sample's language where that is known."""
    language = language_in(sample)
    judges = {record["question"]: record.get("judge", "") for record in one.judge_answers}
    for kind, rows in agreements(one.metric).items():
        judge = judges.get(kind, "")
        if judge.startswith(OFFLINE):
            here = [row for row in rows if language in ("", row.language) and judge == LABEL]
            where = " in this language" if rows and judge == LABEL else ""
            said = "; ".join(map(str, here)) or f"not measured{where}"
            text = f"agreement of the offline judge, {kind.replace('_', ' ')}: {said}"
            yield Cell(text, style="dim")


def _over_runs(scores: Sequence[Evidence], limit: int) -> Iterator[Block]:
    """The values of a query's runs, a line for each metric of single runs: its figures, and the
    values in each run or of each pair of runs."""
    groups = grouped((_measured(one.row.metric), one.row) for one in scores)
    columns = [Column("metric", "name"), Column("figures", "words"),
               Column("in the runs, or of pairs of runs", "words", style="dim")]  # fmt: skip
    yield table(columns, (_figures(name, rows, limit) for name, rows in groups.items()))
    yield lines(["A metric's name shows it whole; --full shows all."])


def _measured(metric: str) -> str:
    """``consistency_f1`` of ``consistency_f1.mean``."""
    base, _, last = metric.rpartition(".")
    return base if base and last.isidentifier() else metric


def _figures(name: str, rows: Sequence[ScoreRow], limit: int) -> list[Cell | str]:
    figures = {
        row.metric.removeprefix(name).lstrip("."): wording.reason(row.reason or "")
        if row.value is None
        else wording.value(row.value)
        for row in rows
    }
    shown = ", ".join(f"{last} {figure}".lstrip() for last, figure in figures.items())
    if rows[0].value is None and len({*figures.values()}) == 1:
        shown = wording.reason(rows[0].reason or "")
    values = next((row.parts["values"] for row in rows if "values" in row.parts), ())
    listed = (one if isinstance(one, str) else wording.number(one) for one in values)
    return [name, shown, _clip(" ".join(listed), limit // 10)]


def labels_to_give(explanation: Explained) -> list[str]:
    """For each question that a file of labels did not answer, the line to add to it, ``answer``
    left empty."""
    lines: dict[str, None] = {}
    for one in explanation.scores:
        for record in one.judge_answers:
            if record.get("reason") == "missing_input" and record.get("data"):
                label = {"question": record["question"], "data": record["data"], "answer": None}
                lines[dumps(label).decode()] = None
    return list(lines)


class _Scores:
    """Shows the scores of a sample one by one, and remembers the evidence that was shown."""

    def __init__(self, sample: Sample, limit: int | None) -> None:
        self._sample, self._limit = sample, limit
        self._most = None if limit is None else _MOST_PIECES
        self._ranks = judge_answer_view.ranks_of(sample)
        self.seen: dict[str, int] = {}
        self._drawn: list[Sequence[Any]] = []

    def part(self, one: Evidence) -> Part:
        """A score with its parts and answers."""
        row = one.row
        if row.value is None:
            shown = Cell(f"unscored: {wording.reason(row.reason or '')}", style="doubt")
        else:
            assumed = " (a published value for a missing part)" if row.status == "assumed" else ""
            shown = Cell(wording.value(row.value), assumed, style="strong")
        said = [replace(shown, tail=f"{shown.tail}  {one.title}")]
        said += [Cell(row.explanation)] if row.explanation else []
        blocks: list[Block] = [lines(said, "text"), *self._parts(row.parts)]
        blocks.append(lines([one.signature, *_agreement(one, self._sample)], "text", "dim"))
        above = [
            self.seen[record["id"]] for record in one.judge_answers if record["id"] in self.seen
        ]
        if above:
            text = f"answer{'s' if above[1:] else ''} {few(list(map(str, above)))} (above)"
            blocks.append(lines([text], "text", "dim"))
        new = [record for record in one.judge_answers if record["id"] not in self.seen]
        for record in new:
            self.seen.setdefault(record["id"], len(self.seen) + 1)
        blocks += map(self._judge_answer, new[: self._most])
        return part(row.metric, *blocks, *self._rest(len(new)))

    def _parts(self, parts: Mapping[str, Any]) -> Iterator[Block]:
        answer = "" if self._sample.answer is None else self._sample.answer.text
        nuggets = judge_answer_view.nugget_table(parts)
        pieces = answer_pieces(parts, answer)
        heads = (Column(one, "words") for one in ("nugget", "importance", "in the answer"))
        yield from self._once("nuggets", nuggets, lambda rows: table(heads, rows))
        yield from self._once(
            "pieces of the answer", pieces, lambda some: lines(map(self._piece, some), "text")
        )
        shown_already = {
            *(judge_answer_view.NUGGETS if nuggets else ()),
            *(PIECES if pieces else ()),
        }
        rest = {n: v for n, v in parts.items() if n not in shown_already}
        if rest:
            yield lines([_field("parts", dumps(rest).decode(), self._limit)], "text")

    def _once(
        self, name: str, rows: Sequence[Any], draw: Callable[[Sequence[Any]], Block]
    ) -> Iterator[Block]:
        """Rows that several scores may share: drawn with the first of them."""
        if rows and rows in self._drawn:
            yield lines([f"{name}: as above"], "text", "dim")
        elif rows:
            self._drawn.append(rows)
            yield draw(rows[: self._most])
            yield from self._rest(len(rows))

    def _piece(self, piece: AnswerPiece) -> Cell:
        mark, style = _HELD[piece.held]
        place = "" if piece.start is None else f"  [{piece.start}, {piece.end})"
        by = f"  {piece.by}" if piece.by else ""
        return Cell(f"{mark} {_clip(piece.text, self._limit)}", f"{place}{by}", style=style)

    def _rest(self, n: int) -> Iterator[Block]:
        if self._most is not None and n > self._most:
            yield lines([f"… and {n - self._most:,} more; --full shows them"])

    def _judge_answer(self, record: Mapping[str, Any]) -> Part:
        votes = record.get("votes", ())
        who = f"panel of {len(votes)}" if len(votes) > 1 else record.get("judge", "")
        title = replace(
            self._answer_or_failure(record),
            label=f"[{self.seen[record['id']]}] {record['question'].replace('_', ' ')}  ",
            tail=f"  {who}",
        )
        said: list[Cell] = []
        if about := judge_answer_view.about(record, self._ranks):
            said.append(Cell(f"on {about}"))
        if cut := record.get("cut"):
            names = _clip(", ".join(cut), self._limit)
            note = f"the offline judge read no more than {LONGEST:,} characters of: {names}"
            said.append(Cell(note, style="doubt"))
        if self._limit is None and not record.get("messages"):
            for name, value in (record.get("data") or {}).items():
                text = value if isinstance(value, str) else dumps(value).decode()
                said.append(_field(name, text, None))
        if spread := judge_answer_view.spread(record):
            said.append(Cell(spread, style="dim" if spread.endswith("agree") else "doubt"))
        prompt = judge_answer_view.shared_prompt(votes)
        if self._limit is None and prompt:
            said += _messages(prompt)
        said += self._sent(record)
        return part(title, lines(said, "text"), *(self._vote(one, not prompt) for one in votes))

    def _vote(self, vote: Mapping[str, Any], prompt: bool) -> Part:
        title = replace(self._answer_or_failure(vote), label=f"vote of {vote.get('judge', '')}  ")
        return part(title, lines(self._sent(vote, prompt=prompt), "text"))

    def _answer_or_failure(self, record: Mapping[str, Any]) -> Cell:
        if record.get("answer") is None:
            failure = f"{wording.reason(record.get('reason') or '')}: {record.get('detail', '')}"
            return Cell(failure, style="doubt")
        return Cell(_clip(dumps(record["answer"]).decode(), self._limit), style="good")

    def _sent(self, record: Mapping[str, Any], *, prompt: bool = True) -> Iterator[Cell]:
        """Tokens, time and cost of an answer, and the texts that were sent and came back."""
        if not (record.get("messages") or record.get("model")):
            return
        cost = record.get("cost")
        earlier = record.get("attempts") == 0 and record.get("answer") is not None
        facts = [
            record.get("model") or "",
            f"{record.get('input_tokens', 0):,} tokens in, {record.get('output_tokens', 0):,} out",
            "price not known" if cost is None else f"${cost:.6f}",
            f"{record.get('latency', 0.0):.2f} s",
            "from the ledger" if record.get("cached") else "recorded earlier" if earlier else "",
            f"prompt {record.get('prompt_hash', '')}",
        ]
        yield Cell(" · ".join(fact for fact in facts if fact), style="dim")
        if self._limit is None and prompt:
            yield from _messages(record.get("messages", ()))
        reply = record.get("reply") or ""
        if self._limit is None or not _is_answer(reply, record.get("answer")):
            yield _field("reply", reply, self._limit)


def _messages(messages: Iterable[Mapping[str, str]]) -> Iterator[Cell]:
    return (_field(message["role"], message["content"], None) for message in messages)


def _is_answer(reply: str, answer: Any) -> bool:
    """Whether a raw reply is the typed answer, which is shown already."""
    try:
        return bool(orjson.loads(reply) == answer)
    except ValueError:
        return False


def _field(name: str, text: str, limit: int | None) -> Cell:
    return Cell(_clip(text, limit), label=f"{name}: ")


def _clip(text: str, limit: int | None) -> str:
    if limit is None or len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()} … [{len(text) - limit:,} more characters]"
