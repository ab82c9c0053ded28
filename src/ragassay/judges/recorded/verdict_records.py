"""Verdicts as records: a line of ``verdicts.jsonl`` in a run folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ragassay.judges.verdict import Failure, Provenance, Verdict

ABOUT = 80
"""Characters that tell one question of a sample from another."""

_SHARED = {
    *("query", "answer", "conversation", "history", "reference", "references", "wrong"),
    *("instructions", "criteria", "shots", "earlier"),
}
"""Fields that are the same in all questions of a kind about one sample."""


def to_record(asked: Verdict[Any] | Failure) -> dict[str, Any]:
    """The whole evidence as plain values.

    ``id`` is what a score's ``evidence`` names, ``key`` identifies the question; ``answer`` is
    ``None`` for a failure, which has ``reason`` and ``detail``; ``about`` says in short which of a
    sample's questions it is.
    """
    record = _record(asked)
    if about := about_of(asked.question.data):
        record["about"] = about
    return record


def about_of(data: Mapping[str, Any]) -> dict[str, str]:
    """The first words of what a question is about besides what all questions of a sample share:
    the passage, the statement, the nuggets. By field; a list's field says how many there are."""
    about = {}
    for name, value in data.items():
        if name in _SHARED or not value:
            continue
        if isinstance(value, str):
            about[name] = short(value)
        elif isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
            about[f"{name} ({len(value)})"] = short(" | ".join(short(one) for one in value[:9]))
    return about


def short(text: str) -> str:
    """The first `ABOUT` characters of a text, on one line."""
    line = " ".join(text[: 4 * ABOUT].split())
    return line if len(line) <= ABOUT else f"{line[:ABOUT].rstrip()} …"


def _record(asked: Verdict[Any] | Failure) -> dict[str, Any]:
    question = asked.question
    record: dict[str, Any] = {
        "id": asked.id,
        "question": question.kind,
        "version": question.version,
        "key": question.key,
        "repeat": asked.repeat,
    }
    if isinstance(asked, Failure):
        record |= {"answer": None, "reason": str(asked.reason), "detail": asked.detail}
    else:
        record["answer"] = asked.answer.model_dump(mode="json")
    record |= _provenance(asked.provenance)
    if asked.votes:
        record["votes"] = [_record(vote) for vote in asked.votes]
    return record


def _provenance(provenance: Provenance) -> dict[str, Any]:
    if not (provenance.messages or provenance.request or provenance.model):
        return {"judge": provenance.judge}
    record = {field.name: getattr(provenance, field.name) for field in fields(provenance)}
    messages = [dict(message) for message in provenance.messages]
    return {**record, "messages": messages, "dropped": list(provenance.dropped)}


def provenance_of(record: Mapping[str, Any]) -> Provenance:
    """The origin that a record states, as far as it does."""
    texts = ("judge", "model", "prompt_hash", "request", "reply")
    values: dict[str, Any] = {name: str(record.get(name) or "") for name in texts}
    for name in ("input_tokens", "output_tokens", "attempts"):
        values[name] = int(record.get(name) or 0)
    return Provenance(
        **values,
        messages=list(record.get("messages") or ()),
        cost=record.get("cost"),
        latency=float(record.get("latency") or 0.0),
        cached=bool(record.get("cached")),
        dropped=tuple(record.get("dropped") or ()),
    )
