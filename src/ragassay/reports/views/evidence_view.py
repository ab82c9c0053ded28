"""What a score shows with the answers that it rests on: nuggets, pieces of the answer, and what a
judge was asked and said; for the terminal and for the pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ragassay.base.json_data import dumps
from ragassay.base.printable import dollars, few
from ragassay.base.sample import Sample
from ragassay.engine.run.rescoring import Evidence, Explained
from ragassay.judges.judge import short
from ragassay.judges.offline import LONGEST
from ragassay.reports.model import Block, Cell, Column, Part, Report, Style, lines, part, table
from ragassay.reports.text import wording

CLIP, _MOST = 400, 30
"""Characters of a text, and pieces of an answer or nuggets, shown unless all was asked for."""

_NUGGETS, _PIECES = ("nuggets", "labels", "assignments"), ("claims", "supported", "statements")
"""Parts of a score that are the columns of one table, and those that are shown piece by piece."""

_LISTED = re.compile(r"(passages|claims|nuggets) \(\d+\)")
"""What a question is about that the page of its sample lists in full."""

_WORDS = {"explanation", "reasoning", "reason"}
"""Fields of an answer that are not voted on."""

Held = Literal["yes", "partly", "no"]

_SUPPORT: Mapping[str, Held] = {"full": "yes", "partial": "partly", "none": "no"}
_MARKS: Mapping[Held, tuple[str, Style]] = {
    "yes": ("+", "good"),
    "partly": ("~", "doubt"),
    "no": ("-", "bad"),
}


@dataclass(frozen=True)
class AnswerPiece:
    """A piece of an answer, its characters ``[start, end)`` (``None`` where it is not there word
    for word: an LLM rephrases claims), whether it is supported, and by which passages."""

    text: str
    start: int | None
    end: int | None
    held: Held
    by: str = ""


def answer_pieces(parts: Mapping[str, Any], answer: str) -> list[AnswerPiece]:
    """The claims in a score's parts with their support, or statements with their citations."""

    def piece(text: str, held: Held, by: str = "") -> AnswerPiece:
        start, end = place_of(text, answer) or (None, None)
        return AnswerPiece(text.strip(), start, end, held, by)

    if isinstance(parts.get("claims"), list | tuple) and "supported" in parts:
        pairs = zip(parts["claims"], parts["supported"], strict=False)
        return [piece(claim, "yes" if held else "no") for claim, held in pairs]
    pieces = []
    for statement in parts.get("statements") or ():
        if not isinstance(statement, Mapping) or "text" not in statement:
            return []
        cited = statement.get("citations") or []
        levels = [_SUPPORT.get(str(value.get("support")), "no") for value in cited]
        best: Held = min(levels, key=("yes", "partly", "no").index, default="no")
        by = [f"{value.get('citation')}: {value.get('support') or 'not there'}" for value in cited]
        pieces.append(piece(statement["text"], best, ", ".join(by) or "cites nothing"))
    return pieces


def place_of(text: str, answer: str, at: int = 0) -> tuple[int, int] | None:
    """The characters ``[start, end)`` of an answer that are a text but for case and a full stop."""
    piece, folded = text.strip().rstrip(".").casefold(), answer.casefold()
    same_places = len(folded) == len(answer)
    start = folded.find(piece, at) if piece and same_places else -1
    return None if start < 0 else (start, start + len(piece))


def nugget_table(parts: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Each nugget of a score, its importance, and whether the answer holds it (``support``,
    ``partial``, ``not``); empty where its parts are of another kind."""
    columns = [parts.get(name) or () for name in _NUGGETS]
    if not all(isinstance(column, list | tuple) and column for column in columns):
        return []
    if len({*map(len, columns)}) != 1:
        return []
    said = {"partial_support": "partial", "not_support": "not"}
    rows = zip(*columns, strict=True)
    return [(str(n), str(label), said.get(str(held), str(held))) for n, label, held in rows]


def ranks_of(sample: Sample) -> Mapping[str, int]:
    """The first rank of each passage of a sample, from 1, by how its text begins (`short`)."""
    ranks: dict[str, int] = {}
    for rank, passage in enumerate(sample.passages or (), start=1):
        ranks.setdefault(short(passage.text or ""), rank)
    return ranks


def about(record: Mapping[str, Any], ranks: Mapping[str, int], *, quoted: bool = True) -> str:
    """What an answer's question is about: ``passage [2] "Open daily ..."``."""
    pieces = []
    for name, text in (record.get("about") or {}).items():
        place = f" [{ranks[text]}]" if name == "passage" and text in ranks else ""
        bare = not quoted and (place or _LISTED.fullmatch(name))
        pieces.append(f"{name}{place}" if bare else f'{name}{place} "{text}"')
    return ", ".join(pieces)


def spread(record: Mapping[str, Any]) -> str:
    """Whether the votes of a panel (two answers or more) agree: ``2 votes differ: grade 1, 3``."""
    answers = [vote["answer"] for vote in record.get("votes", ()) if vote.get("answer") is not None]
    if len(answers) < 2:
        return ""
    differences = []
    for name in (answer for answer in answers[0] if answer.rpartition("_")[2] not in _WORDS):
        said = [answer.get(name) for answer in answers]
        if all(isinstance(value, list) for value in said):
            differences += [name] * any(value != said[0] for value in said)
        elif all(isinstance(value, int | float) or str(value).isidentifier() for value in said):
            several = dict.fromkeys(map(str, said))
            differences += [f"{name} {', '.join(several)}"] * (len(several) > 1)
    words = f"differ: {'; '.join(differences)}" if differences else "agree"
    return f"{len(answers)} votes {words}"


def shared_prompt(votes: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, str]]:
    """The messages that several votes sent and all alike; empty where they differ."""
    sent = [vote["messages"] for vote in votes if vote.get("messages")]
    return sent[0] if len(sent) > 1 and all(messages == sent[0] for messages in sent) else ()


def evidence_report(explanation: Explained, *, full: bool = False) -> Report:
    """All scores of a sample with their evidence. What several scores share, an answer or a table
    of nuggets, is shown once; texts are cut unless all is asked for."""
    sample, scores = explanation.sample, _Scores(explanation.sample, full)
    fields = [scores.field("query", sample.query)] if sample.query else []
    if sample.answer is not None:
        fields.append(scores.field("answer", sample.answer.text))
    for run in sample.runs:
        said = f"none ({run.failure})" if run.answer is None else run.answer.text
        fields.append(scores.field(f"answer, repeat {run.repeat}", said))
    blocks: list[Block] = [lines(fields, "text"), *map(scores.part, explanation.scores)]
    if not explanation.scores:
        blocks.append(lines(["The run keeps no score for this sample."], "text"))
    if scores.seen and not full:
        blocks.append(lines(["--full shows prompts, and all texts in full."]))
    of = [sample.system, f"repeat {sample.repeat}" if sample.repeat else ""]
    return Report(sample.id, tuple(blocks), ", ".join(filter(None, of)))


def labels_to_give(explanation: Explained) -> list[str]:
    """For each question that a file of labels did not answer, the line to add to it."""
    lines: dict[str, None] = {}
    for score in explanation.scores:
        for record in score.judge_answers:
            if record.get("reason") == "missing_input" and record.get("data"):
                label = {"question": record["question"], "data": record["data"], "answer": None}
                lines[dumps(label).decode()] = None
    return list(lines)


class _Scores:
    """Shows the scores of a sample one by one, and remembers the evidence that was shown."""

    def __init__(self, sample: Sample, full: bool) -> None:
        self._sample, self._full = sample, full
        self._ranks = ranks_of(sample)
        self.seen: dict[str, int] = {}
        self._drawn: list[Sequence[Any]] = []

    def field(self, name: str, text: str) -> Cell:
        """A text with its name."""
        return Cell(self._clip(text), label=f"{name}: ")

    def part(self, evidence: Evidence) -> Part:
        """A score with its parts and answers."""
        row = evidence.row
        if row.value is None:
            shown = Cell(f"unscored: {wording.reason(row.reason or '')}", style="doubt")
        else:
            assumed = " (a published value for a missing part)" if row.status == "assumed" else ""
            shown = Cell(wording.value(row.value), assumed, style="strong")
        said = [replace(shown, tail=f"{shown.tail}  {evidence.metric.title}")]
        said += [Cell(row.explanation)] if row.explanation else []
        blocks: list[Block] = [lines(said, "text"), *self._parts(row.parts)]
        blocks.append(lines([evidence.metric.signature], "text", "dim"))
        above = [str(self.seen[r["id"]]) for r in evidence.judge_answers if r["id"] in self.seen]
        if above:
            text = f"answer{'s' if above[1:] else ''} {few(above)} (above)"
            blocks.append(lines([text], "text", "dim"))
        for record in evidence.judge_answers:
            if record["id"] not in self.seen:
                self.seen[record["id"]] = len(self.seen) + 1
                blocks.append(self._judge_answer(record))
        return part(row.metric, *blocks)

    def _parts(self, parts: Mapping[str, Any]) -> Iterator[Block]:
        answer = "" if self._sample.answer is None else self._sample.answer.text
        nuggets, pieces = nugget_table(parts), answer_pieces(parts, answer)
        for name, rows in (("nuggets", nuggets), ("pieces of the answer", pieces)):
            if rows in self._drawn:
                yield lines([f"{name}: as above"], "text", "dim")
            elif rows:
                self._drawn.append(rows)
                heads = ("nugget", "importance", "in the answer")
                few_rows = rows if self._full else rows[:_MOST]
                if rows is nuggets:
                    yield table((Column(head, "words") for head in heads), few_rows)  # type: ignore[arg-type]
                else:
                    yield lines(map(self._piece, few_rows), "text")  # type: ignore[arg-type]
                if more := len(rows) - len(few_rows):
                    yield lines([f"… and {more:,} more; --full shows them"])
        shown = {*(_NUGGETS if nuggets else ()), *(_PIECES if pieces else ())}
        if rest := {name: value for name, value in parts.items() if name not in shown}:
            yield lines([self.field("parts", dumps(rest).decode())], "text")

    def _piece(self, piece: AnswerPiece) -> Cell:
        mark, style = _MARKS[piece.held]
        place = "" if piece.start is None else f"  [{piece.start}, {piece.end})"
        by = f"  {piece.by}" if piece.by else ""
        return Cell(f"{mark} {self._clip(piece.text)}", f"{place}{by}", style=style)

    def _judge_answer(self, record: Mapping[str, Any]) -> Part:
        votes = record.get("votes", ())
        who = f"panel of {len(votes)}" if len(votes) > 1 else record.get("judge", "")
        label = f"[{self.seen[record['id']]}] {record['question'].replace('_', ' ')}  "
        title = replace(self._said(record), label=label, tail=f"  {who}")
        said: list[Cell] = []
        if subject := about(record, self._ranks):
            said.append(Cell(f"on {subject}"))
        if cut := record.get("cut"):
            names = self._clip(", ".join(cut))
            note = f"the offline judge read no more than {LONGEST:,} characters of: {names}"
            said.append(Cell(note, style="doubt"))
        if self._full and not record.get("messages"):
            for name, value in (record.get("data") or {}).items():
                said.append(self.field(name, value if isinstance(value, str) else _json(value)))
        if differing := spread(record):
            said.append(Cell(differing, style="dim" if differing.endswith("agree") else "doubt"))
        prompt = shared_prompt(votes)
        said += self._sent({"messages": prompt} if prompt else {}, facts=False)
        said += self._sent(record)
        of_votes = (
            part(
                replace(self._said(vote), label=f"vote of {vote.get('judge', '')}  "),
                lines(self._sent(vote, prompt=not prompt), "text"),
            )
            for vote in votes
        )
        return part(title, lines(said, "text"), *of_votes)

    def _said(self, record: Mapping[str, Any]) -> Cell:
        if record.get("answer") is None:
            failure = f"{wording.reason(record.get('reason') or '')}: {record.get('detail', '')}"
            return Cell(failure, style="doubt")
        return Cell(self._clip(_json(record["answer"])), style="good")

    def _sent(
        self, record: Mapping[str, Any], *, prompt: bool = True, facts: bool = True
    ) -> Iterator[Cell]:
        """Tokens, time and cost of an answer; its texts in full, or where there is no answer."""
        if not (record.get("messages") or record.get("model")):
            return
        if facts:
            cost = record.get("cost")
            earlier = record.get("attempts") == 0 and record.get("answer") is not None
            whence = "from the ledger" if record.get("cached") else "recorded earlier" * earlier
            n_in, n_out = record.get("input_tokens", 0), record.get("output_tokens", 0)
            known = [
                record.get("model") or "",
                f"{n_in:,} tokens in, {n_out:,} out",
                "price not known" if cost is None else dollars(cost),
                f"{record.get('latency', 0.0):.2f} s",
                whence,
                f"prompt {record.get('prompt_hash', '')}",
            ]
            yield Cell(" · ".join(filter(None, known)), style="dim")
        if self._full and prompt:
            yield from (
                self.field(said["role"], said["content"]) for said in record.get("messages", ())
            )
        if facts and (self._full or record.get("answer") is None):
            yield self.field("reply", record.get("reply") or "")

    def _clip(self, text: str) -> str:
        if self._full or len(text) <= CLIP:
            return text
        return f"{text[:CLIP].rstrip()} … [{len(text) - CLIP:,} more characters]"


def _json(value: Any) -> str:
    return dumps(value).decode()
