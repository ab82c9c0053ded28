"""Verdicts as records: a line of ``verdicts.jsonl`` in a run folder."""

from __future__ import annotations

from typing import Any

from ragassay.judges.verdict import Failure, Provenance, Verdict


def to_record(asked: Verdict[Any] | Failure) -> dict[str, Any]:
    """The whole evidence as plain values.

    ``id`` is what a score's ``evidence`` names, ``key`` identifies the question; ``answer`` is
    ``None`` for a failure, which has ``reason`` and ``detail``.
    """
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
        record["votes"] = [to_record(vote) for vote in asked.votes]
    return record


def _provenance(made: Provenance) -> dict[str, Any]:
    record: dict[str, Any] = {"judge": made.judge}
    if made.messages or made.request:
        record |= {
            "model": made.model,
            "prompt_hash": made.prompt_hash,
            "request": made.request,
            "messages": [dict(message) for message in made.messages],
            "reply": made.reply,
            "input_tokens": made.input_tokens,
            "output_tokens": made.output_tokens,
            "cost": made.cost,
            "latency": made.latency,
            "attempts": made.attempts,
            "cached": made.cached,
            "dropped": list(made.dropped),
        }
    return record
