"""A score and the words behind it, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from ragassay.engine.evidence import Evidence, Explained
from ragassay.reports import wording
from ragassay.strict import dumps

CLIP = 400
"""Characters of a prompt, reply or text that are shown unless all was asked for."""


def explained(found: Explained, *, full: bool = False) -> RenderableType:
    """All scores of a sample with their evidence. A verdict that several scores share is shown in
    full once, and by its number after that."""
    limit = None if full else CLIP
    sample = found.sample
    tail = [sample.system, f"repeat {sample.repeat}" if sample.repeat else ""]
    head = Text(sample.id, "bold")
    head.append("".join(f", {piece}" for piece in tail if piece), "not bold")
    parts: list[RenderableType] = [Text(""), head]
    if sample.query:
        parts.append(_field("query", sample.query, limit))
    if sample.answer is not None:
        parts.append(_field("answer", sample.answer.text, limit))
    seen: dict[str, int] = {}
    for one in found.scores:
        parts += _score(one, seen, limit)
    if not found.scores:
        parts.append(Text("The run keeps no score for this sample."))
    if limit is not None and seen:
        parts.append(Text("\n--full shows prompts, replies and texts in full.", "dim"))
    return Padding(Group(*parts), (0, 1))


def _score(one: Evidence, seen: dict[str, int], limit: int | None) -> Iterator[RenderableType]:
    row = one.row
    yield Text("")
    yield Rule(Text(wording.one_line(row.metric), "bold"), align="left", style="dim")
    if row.value is None:
        shown = Text(f"unscored: {wording.reason(row.reason or '')}", "yellow")
    else:
        value = row.value
        shown = Text(value if isinstance(value, str) else wording.number(float(value)), "bold cyan")
        if row.status == "assumed":
            shown.append(" (a published value for a missing part)", "yellow")
    yield shown.append(f"  {one.title}", "dim not bold")
    if row.explanation:
        yield Text(row.explanation)
    if row.parts:
        yield _field("parts", dumps(row.parts).decode(), limit)
    yield Text(one.signature, "dim")
    for record in one.verdicts:
        known = seen.get(record["id"])
        number = known or len(seen) + 1
        seen[record["id"]] = number
        yield Padding(Group(*_verdict(record, number, known is not None, limit)), (0, 0, 0, 2))


def _verdict(
    record: Mapping[str, Any], number: int, again: bool, limit: int | None
) -> Iterator[RenderableType]:
    line = Text(f"[{number}] ", "bold")
    line.append(record["question"].replace("_", " "), "bold")
    line.append("  ")
    if record.get("answer") is None:
        failure = f"{wording.reason(record.get('reason', ''))}: {record.get('detail', '')}"
        line.append(failure, "yellow")
    else:
        line.append(_clip(dumps(record["answer"]).decode(), limit), "green")
    if again:
        yield line.append("  (above)", "dim")
        return
    line.append(f"  {record.get('judge', '')}", "dim")
    yield line
    if not record.get("messages"):
        for name, value in (record.get("data") or {}).items():
            text = value if isinstance(value, str) else dumps(value).decode()
            yield Padding(_field(name, text, limit), (0, 0, 0, 4))
    else:
        cost = record.get("cost")
        facts = [
            record.get("model") or "",
            f"{record.get('input_tokens', 0):,} tokens in, {record.get('output_tokens', 0):,} out",
            "price not known" if cost is None else f"${cost:.6f}",
            f"{record.get('latency', 0.0):.2f} s",
            "from the ledger" if record.get("cached") else "",
            f"prompt {record.get('prompt_hash', '')}",
        ]
        yield Padding(Text(" · ".join(fact for fact in facts if fact), "dim"), (0, 0, 0, 4))
        for message in record["messages"]:
            yield Padding(_field(message["role"], message["content"], limit), (0, 0, 0, 4))
        yield Padding(_field("reply", record.get("reply", ""), limit), (0, 0, 0, 4))
    for vote in record.get("votes", ()):
        said = vote.get("answer")
        text = vote.get("reason", "") if said is None else dumps(said).decode()
        yield Padding(_field(f"vote of {vote.get('judge', '')}", text, limit), (0, 0, 0, 4))


def _field(name: str, text: str, limit: int | None) -> Text:
    return Text.assemble((f"{name}: ", "bold dim"), _clip(_printable(text), limit))


def _clip(text: str, limit: int | None) -> str:
    if limit is None or len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()} … [{len(text) - limit:,} more characters]"


def _printable(text: str) -> str:
    """Text whose lines stay lines, and whose control characters do nothing."""
    return "\n".join(wording.one_line(line) for line in text.splitlines())
