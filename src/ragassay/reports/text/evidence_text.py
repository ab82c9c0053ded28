"""A score and the verdicts that it rests on, for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Column, Table
from rich.text import Text

from ragassay.base.sample import Sample
from ragassay.base.strict_json import dumps
from ragassay.engine.comparison.standing import OFFLINE, agreements
from ragassay.engine.results.score_rows import ScoreRow
from ragassay.engine.run.rescoring import Evidence, Explained
from ragassay.judges.offline.offline_judge import LABEL
from ragassay.judges.offline.words import LONGEST
from ragassay.reports.text import verdict_text, wording
from ragassay.reports.text.grouping import grouped
from ragassay.reports.text.verdict_text import PIECES, AnswerPiece, answer_pieces
from ragassay.texts.languages import language_in

_HELD = {"yes": ("+", "green"), "partly": ("~", "yellow"), "no": ("-", "red")}
"""The mark and colour of a piece of the answer: supported, in part, not."""

CLIP = 400
"""Characters of a reply or text that are shown unless all was asked for."""

_MOST_PIECES = 30
"""Pieces of an answer, nuggets, or metrics over runs, that are shown unless all was asked for."""

_MOST_RUNS = 10
_MOST_VALUES = 6
_MOST_IN_FULL = 6
"""Up to so many metrics over the runs of a query are shown with parts and signature; more metrics
have a line each."""


def explained(explanation: Explained, *, full: bool = False) -> RenderableType:
    """All scores of a sample with their evidence. What several scores share, a verdict or a table
    of nuggets, is shown once.

    Args:
        explanation: scores with their verdicts.
        full: whether prompts and texts under judgment are shown, and nothing is clipped.
    """
    limit = None if full else CLIP
    sample = explanation.sample
    tail = [sample.system, f"repeat {sample.repeat}" if sample.repeat else ""]
    head = Text(sample.id, "bold")
    head.append("".join(f", {piece}" for piece in tail if piece), "not bold")
    parts: list[RenderableType] = [Text(""), head]
    if sample.query:
        parts.append(_field("query", sample.query, limit))
    if sample.answer is not None:
        parts.append(_field("answer", sample.answer.text, limit))
    runs = sample.runs[: _MOST_RUNS if limit is not None else None]
    for run in runs:
        answer_text = f"none ({run.failure})" if run.answer is None else run.answer.text
        parts.append(_field(f"answer, repeat {run.repeat}", answer_text, limit))
    if more := len(sample.runs) - len(runs):
        parts.append(Text(f"… and {more:,} more runs; --full shows them", "dim"))
    pages = _ScorePages(sample, limit)
    if sample.runs and limit is not None and len(explanation.scores) > _MOST_IN_FULL:
        parts += _over_runs(explanation.scores)
    else:
        for one in explanation.scores:
            parts += pages.score(one)
    if not explanation.scores:
        parts.append(Text("The run keeps no score for this sample."))
    if limit is not None and pages.seen:
        parts.append(Text("\n--full shows prompts, and all texts in full.", "dim"))
    return Padding(Group(*parts), (0, 1))


def _agreement(one: Evidence, sample: Sample) -> Iterator[RenderableType]:
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
            yield Text(f"agreement of the offline judge, {kind.replace('_', ' ')}: {said}", "dim")


def _over_runs(scores: Sequence[Evidence]) -> Iterator[RenderableType]:
    """The values of a query's runs, a line for each metric of single runs: its figures, and the
    values in each run or of each pair of runs."""
    groups = grouped((_measured(one.row.metric), one) for one in scores)
    titles = ("metric", "figures", "in the runs, or of pairs of runs")
    columns = (Column(title, overflow="fold") for title in titles)
    shown = Table(*columns, box=None, pad_edge=False, header_style="bold dim")
    for name, members in list(groups.items())[:_MOST_PIECES]:
        rows = [one.row for one in members]
        reasons = {row.reason for row in rows}
        unscored = all(row.value is None for row in rows)
        figures = ", ".join(f"{_last(row.metric, name)}{_figure(row)}" for row in rows)
        if unscored and len(reasons) == 1:
            figures = _figure(rows[0])
        with_values = [row for row in rows if "values" in row.parts]
        listed = _listed(with_values[0].parts["values"]) if with_values else ""
        if len({str(row.parts["values"]) for row in with_values}) > 1:
            listed = f"{_last(with_values[0].metric, name)}{listed}"  # each has values of its own
        style = "yellow" if unscored else ""
        shown.add_row(Text(wording.one_line(name)), Text(figures, style), Text(listed, "dim"))
    yield Text("")
    yield shown
    more = len(groups) - _MOST_PIECES
    rest = f"… and {more:,} more. " if more > 0 else ""
    yield Text(f"\n{rest}A metric's name shows it whole; --full shows all.", "dim")


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


class _ScorePages:
    """Shows the scores of a sample one by one, and remembers the evidence that was shown."""

    def __init__(self, sample: Sample, limit: int | None) -> None:
        self._sample, self._limit = sample, limit
        self._ranks = verdict_text.ranks_of(sample)
        self.seen: dict[str, int] = {}
        self._tables: list[Sequence[verdict_text.Nugget]] = []
        self._pieces: list[Sequence[AnswerPiece]] = []

    def score(self, one: Evidence) -> Iterator[RenderableType]:
        """A score with its parts and verdicts."""
        row = one.row
        yield Text("")
        yield Rule(Text(wording.one_line(row.metric), "bold"), align="left", style="dim")
        if row.value is None:
            shown = Text(f"unscored: {wording.reason(row.reason or '')}", "yellow")
        else:
            shown = Text(wording.value(row.value), "bold cyan")
            if row.status == "assumed":
                shown.append(" (a published value for a missing part)", "yellow")
        yield shown.append(f"  {one.title}", "dim not bold")
        if row.explanation:
            yield Text(_printable(row.explanation))
        yield from self._parts(row.parts)
        yield Text(one.signature, "dim")
        yield from _agreement(one, self._sample)
        numbers = [self.seen[record["id"]] for record in one.verdicts if record["id"] in self.seen]
        several = len(numbers) > 1
        if several:
            yield Padding(Text(f"verdicts {_ranges(numbers)} (above)", "dim"), (0, 0, 0, 2))
        new = [record for record in one.verdicts if not (several and record["id"] in self.seen)]
        for record in new[: self._most]:
            yield Padding(Group(*self._verdict(record)), (0, 0, 0, 2))
        for record in new[self._most or len(new) :]:
            self.seen.setdefault(record["id"], len(self.seen) + 1)
        yield from self._rest(len(new))

    def _parts(self, parts: Mapping[str, Any]) -> Iterator[RenderableType]:
        table = verdict_text.nugget_table(parts)
        if table and table in self._tables:
            yield Text("nuggets: as above", "dim")
        elif table:
            self._tables.append(table)
            titles = ("nugget", "importance", "in the answer")
            shown = Table(*titles, box=None, pad_edge=False, header_style="bold dim")
            for nugget, label, held in table[: self._most]:
                style = {"support": "green", "partial": "yellow"}.get(held, "dim")
                shown.add_row(Text(wording.one_line(nugget)), label, Text(held, style))
            yield shown
            yield from self._rest(len(table))
        answer = "" if self._sample.answer is None else self._sample.answer.text
        pieces = answer_pieces(parts, answer)
        if pieces and pieces in self._pieces:
            yield Text("pieces of the answer: as above", "dim")
        elif pieces:
            self._pieces.append(pieces)
            yield from self._marked(pieces)
        shown_already = {*(verdict_text.NUGGETS if table else ()), *(PIECES if pieces else ())}
        rest = {n: v for n, v in parts.items() if n not in shown_already}
        if rest:
            yield _field("parts", dumps(rest).decode(), self._limit)

    def _marked(self, pieces: Sequence[AnswerPiece]) -> Iterator[RenderableType]:
        for piece in pieces[: self._most]:
            mark, style = _HELD[piece.held]
            line = Text(f"{mark} ", style)
            line.append(_clip(_printable(piece.text), self._limit), "default")
            if piece.start is not None:
                line.append(f"  [{piece.start}, {piece.end})", "dim")
            yield line.append(f"  {wording.one_line(piece.by)}" if piece.by else "", "dim")
        yield from self._rest(len(pieces))

    @property
    def _most(self) -> int | None:
        return None if self._limit is None else _MOST_PIECES

    def _rest(self, n: int) -> Iterator[RenderableType]:
        if self._most is not None and n > self._most:
            yield Text(f"  … and {n - self._most:,} more; --full shows them", "dim")

    def _verdict(self, record: Mapping[str, Any]) -> Iterator[RenderableType]:
        again = record["id"] in self.seen
        number = self.seen.setdefault(record["id"], len(self.seen) + 1)
        line = Text(f"[{number}] ", "bold")
        line.append(record["question"].replace("_", " "), "bold")
        line.append("  ").append_text(self._answer_or_failure(record))
        if again:
            yield line.append("  (above)", "dim")
            return
        votes = record.get("votes", ())
        who = f"panel of {len(votes)}" if len(votes) > 1 else record.get("judge", "")
        yield line.append(f"  {who}", "dim")
        if about := verdict_text.about(record, self._ranks):
            yield _indented(Text(f"on {wording.one_line(about)}", "italic"))
        if cut := record.get("cut"):
            names = _clip(", ".join(cut), self._limit)
            note = f"the offline judge read no more than {LONGEST:,} characters of: {names}"
            yield _indented(Text(note, "yellow"))
        if self._limit is None and not record.get("messages"):
            for name, value in (record.get("data") or {}).items():
                text = value if isinstance(value, str) else dumps(value).decode()
                yield _indented(_field(name, text, None))
        if spread := verdict_text.spread(record):
            style = "dim" if spread.endswith("agree") else "yellow"
            yield _indented(Text(spread, style))
        prompt = verdict_text.shared_prompt(votes)
        if self._limit is None and prompt:
            yield _indented(*_messages(prompt))
        yield _indented(*self._sent(record))
        for vote in votes:
            vote_line = Text("vote of ", "bold dim").append(f"{vote.get('judge', '')}  ", "bold")
            yield _indented(vote_line.append_text(self._answer_or_failure(vote)))
            yield Padding(Group(*self._sent(vote, prompt=not prompt)), (0, 0, 0, 6))

    def _answer_or_failure(self, record: Mapping[str, Any]) -> Text:
        if record.get("answer") is None:
            failure = f"{wording.reason(record.get('reason') or '')}: {record.get('detail', '')}"
            return Text(_printable(failure), "yellow")
        return Text(_clip(dumps(record["answer"]).decode(), self._limit), "green")

    def _sent(self, record: Mapping[str, Any], *, prompt: bool = True) -> Iterator[RenderableType]:
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
        yield Text(" · ".join(fact for fact in facts if fact), "dim")
        if self._limit is None and prompt:
            yield from _messages(record.get("messages", ()))
        reply = record.get("reply") or ""
        if self._limit is None or not _is_answer(reply, record.get("answer")):
            yield _field("reply", reply, self._limit)


def _indented(*lines: RenderableType) -> RenderableType:
    return Padding(Group(*lines), (0, 0, 0, 4))


def _messages(messages: Iterable[Mapping[str, str]]) -> Iterator[RenderableType]:
    return (_field(message["role"], message["content"], None) for message in messages)


def _is_answer(reply: str, answer: Any) -> bool:
    """Whether a raw reply is the typed answer, which is shown already."""
    try:
        return bool(orjson.loads(reply) == answer)
    except ValueError:
        return False


def _field(name: str, text: str, limit: int | None) -> Text:
    return Text.assemble((f"{name}: ", "bold dim"), _clip(_printable(text), limit))


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


def _printable(text: str) -> str:
    """A text that keeps its line ends, and whose control characters have no effect."""
    return "\n".join(wording.one_line(line) for line in text.splitlines())
