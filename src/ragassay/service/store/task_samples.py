"""The records of a task as its reports see them, by what is true of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ragassay.samples import Sample, Turn
from ragassay.service.store.projects import TaskOptions

SESSION = "session_id"
"""The metadata that names the session of a turn."""


def samples_of_task(samples: Iterable[Sample], options: TaskOptions) -> Iterator[Sample]:
    """Samples whose answer is none where it is the task's default answer, and whose history is what
    was said before in their session, which is their conversation, where records are turns.

    Args:
        samples: in order of time.
        options: of the task.
    """
    default = _plain(options.default_answer or "")
    sessions: dict[tuple[str, str], tuple[Turn, ...]] = {}
    for sample in samples:
        session = sample.metadata.get(SESSION) if options.multi_turn else None
        if session not in (None, ""):
            key = (sample.system, str(session))
            before = sessions.get(key, ())
            said = (("user", sample.query), ("agent", sample.answer and sample.answer.text))
            sessions[key] = (*before, *(Turn(who, text) for who, text in said if text))
            metadata = {**sample.metadata, "conversation_id": str(session)}
            sample = replace(sample, history=sample.history or before, metadata=metadata)
        if default and sample.answer is not None and _plain(sample.answer.text) == default:
            sample = replace(sample, answer=None)
        yield sample


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".!")
