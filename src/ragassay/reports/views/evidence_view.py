"""What a score shows with the verdicts that it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from ragassay.base.counts import grouped
from ragassay.base.sample import Sample
from ragassay.base.strict_json import dumps
from ragassay.engine.comparison.verdict_rules import OFFLINE, agreements
from ragassay.engine.results.score_rows import ScoreRow
from ragassay.engine.run.rescoring import Evidence, Explained
from ragassay.judges.offline.offline_judge import LABEL
from ragassay.judges.offline.words import LONGEST
from ragassay.reports.model import Block, Cell, Column, Part, Report, Style, lines, part, table
from ragassay.reports.text import wording
from ragassay.reports.views import verdict_view
from ragassay.reports.views.verdict_view import PIECES, AnswerPiece, answer_pieces
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
"""Pieces of an answer, nuggets, or metrics over runs, that are shown unless all was asked for."""

_MOST_RUNS = 10
_MOST_VALUES = 6
_MOST_IN_FULL = 6
"""Up to so many metrics over the runs of a query are shown with parts and signature; more metrics
have a line each."""


def evidence_report(explanation: Explained, *, full: bool = False) -> Report:
    """All scores of a sample with their evidence. What several scores share, a verdict or a table
    of nuggets, is shown once.

    Args:
        explanation: scores with their verdicts.
        full: whether prompts and texts under judgment are shown, and nothing is clipped.
    """
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
        blocks += _over_runs(explanation.scores)
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
    judges = {record["question"]: record.get("judge", "") for record in one.verdicts}
    for kind, rows in agreements(one.metric).items():
        judge = judges.get(kind, "")
        if judge.startswith(OFFLINE):
            here = [row for row in rows if language in ("", row.language) and judge == LABEL]
            where = " in this language" if rows and judge == LABEL else ""
            said = "; ".join(map(str, here)) or f"not measured{where}"
            text = f"agreement of the offline judge, {kind.replace('_', ' ')}: {said}"
            yield Cell(text, style="dim")


def _over_runs(scores: Sequence[Evidence]) -> Iterator[Block]:
    """The values of a query's runs, a line for each metric of single runs: its figures, and the
    values in each run or of each pair of runs."""
    groups = grouped((_measured(one.row.metric), one) for one in scores)
    rows = [_figures(name, [one.row for one in members]) for name, members in groups.items()]
    columns = [Column("metric", "name"), Column("figures", "words"),
               Column("in the runs, or of pairs of runs", "words", style="dim")]  # fmt: skip
    yield table(columns, rows[:_MOST_PIECES])
    more = len(groups) - _MOST_PIECES
    rest = f"… and {more:,} more. " if more > 0 else ""
    yield lines([f"{rest}A metric's name shows it whole; --full shows all."])


def _figures(name: str, rows: Sequence[ScoreRow]) -> list[Cell | str]:
    unscored = all(row.value is None for row in rows)
    figures = ", ".join(f"{_last(row.metric, name)}{_figure(row)}" for row in rows)
    if unscored and len({row.reason for row in rows}) == 1:
        figures = _figure(rows[0])
    with_values = [row for row in rows if "values" in row.parts]
    listed = _listed(with_values[0].parts["values"]) if with_values else ""
    if len({str(row.parts["values"]) for row in with_values}) > 1:
        listed = f"{_last(with_values[0].metric, name)}{listed}"  # each has values of its own
    return [name, Cell(figures, style="doubt" if unscored else ""), listed]


def _measured(metric: str) -> str:
    base, _, last = metric.rpartition(".")
    return base if base and last.isidentifier() else metric


def _figure(row: ScoreRow) -> str:
    return wording.reason(row.reason or "") if row.value is None else wording.value(row.value)


def _last(metric: str, group: str) -> str:
    """``mean `` of ``consistency_f1.mean``; nothing where the metric stands for itself."""
    return f"{metric.removeprefix(group).lstrip('.')} ".lstrip()


def _listed(values: Sequence[Any]) -> str:
    """The first values, in few digits."""
    some = [
        "–" if one is None else one if isinstance(one, str) else wording.number(float(one))
        for one in values[:_MOST_VALUES]
    ]
    more = len(values) - len(some)
    return wording.one_line(" ".join(some)) + (f" … {more:,} more" if more else "")


def labels_to_give(explanation: Explained) -> list[str]:
    """For each question that a file of labels did not answer, the line to add to it, ``answer``
    left empty."""
    lines: dict[str, None] = {}
    for one in explanation.scores:
        for record in one.verdicts:
            if record.get("reason") == "missing_input" and record.get("data"):
                label = {"question": record["question"], "data": record["data"], "answer": None}
                lines[dumps(label).decode()] = None
    return list(lines)


class _Scores:
    """Shows the scores of a sample one by one, and remembers the evidence that was shown."""

    def __init__(self, sample: Sample, limit: int | None) -> None:
        self._sample, self._limit = sample, limit
        self._most = None if limit is None else _MOST_PIECES
        self._ranks = verdict_view.ranks_of(sample)
        self.seen: dict[str, int] = {}
        self._tables: list[Sequence[verdict_view.Nugget]] = []
        self._pieces: list[Sequence[AnswerPiece]] = []

    def part(self, one: Evidence) -> Part:
        """A score with its parts and verdicts."""
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
        numbers = [self.seen[record["id"]] for record in one.verdicts if record["id"] in self.seen]
        several = len(numbers) > 1
        if several:
            blocks.append(lines([f"verdicts {_ranges(numbers)} (above)"], "text", "dim"))
        new = [record for record in one.verdicts if not (several and record["id"] in self.seen)]
        blocks += [self._verdict(record) for record in new[: self._most]]
        for record in new[self._most or len(new) :]:
            self.seen.setdefault(record["id"], len(self.seen) + 1)
        return part(row.metric, *blocks, *self._rest(len(new)))

    def _parts(self, parts: Mapping[str, Any]) -> Iterator[Block]:
        nuggets = verdict_view.nugget_table(parts)
        if nuggets and nuggets in self._tables:
            yield lines(["nuggets: as above"], "text", "dim")
        elif nuggets:
            self._tables.append(nuggets)
            columns = [Column("nugget", "words"), Column("importance", "words"),
                       Column("in the answer", "words")]  # fmt: skip
            yield table(columns, nuggets[: self._most])
            yield from self._rest(len(nuggets))
        answer = "" if self._sample.answer is None else self._sample.answer.text
        pieces = answer_pieces(parts, answer)
        if pieces and pieces in self._pieces:
            yield lines(["pieces of the answer: as above"], "text", "dim")
        elif pieces:
            self._pieces.append(pieces)
            yield lines(map(self._piece, pieces[: self._most]), "text")
            yield from self._rest(len(pieces))
        shown_already = {*(verdict_view.NUGGETS if nuggets else ()), *(PIECES if pieces else ())}
        rest = {n: v for n, v in parts.items() if n not in shown_already}
        if rest:
            yield lines([_field("parts", dumps(rest).decode(), self._limit)], "text")

    def _piece(self, piece: AnswerPiece) -> Cell:
        mark, style = _HELD[piece.held]
        place = "" if piece.start is None else f"  [{piece.start}, {piece.end})"
        by = f"  {piece.by}" if piece.by else ""
        return Cell(f"{mark} {_clip(piece.text, self._limit)}", f"{place}{by}", style=style)

    def _rest(self, n: int) -> Iterator[Block]:
        if self._most is not None and n > self._most:
            yield lines([f"… and {n - self._most:,} more; --full shows them"])

    def _verdict(self, record: Mapping[str, Any]) -> Part:
        again = record["id"] in self.seen
        number = self.seen.setdefault(record["id"], len(self.seen) + 1)
        votes = record.get("votes", ())
        who = f"panel of {len(votes)}" if len(votes) > 1 else record.get("judge", "")
        answered = self._answer_or_failure(record)
        title = replace(
            answered,
            label=f"[{number}] {record['question'].replace('_', ' ')}  ",
            tail=f"  {'(above)' if again else who}",
        )
        if again:
            return part(title)
        said: list[Cell] = []
        if about := verdict_view.about(record, self._ranks):
            said.append(Cell(f"on {about}"))
        if cut := record.get("cut"):
            names = _clip(", ".join(cut), self._limit)
            note = f"the offline judge read no more than {LONGEST:,} characters of: {names}"
            said.append(Cell(note, style="doubt"))
        if self._limit is None and not record.get("messages"):
            for name, value in (record.get("data") or {}).items():
                text = value if isinstance(value, str) else dumps(value).decode()
                said.append(_field(name, text, None))
        if spread := verdict_view.spread(record):
            said.append(Cell(spread, style="dim" if spread.endswith("agree") else "doubt"))
        prompt = verdict_view.shared_prompt(votes)
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
        """The tokens, time and cost of an answer, and the texts that were sent to the judge and
        came back.
        """
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


def _ranges(numbers: Iterable[int]) -> str:
    """``1-3, 7``."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)


def _clip(text: str, limit: int | None) -> str:
    if limit is None or len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()} … [{len(text) - limit:,} more characters]"
