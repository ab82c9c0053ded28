"""Turns that are records of their own, with the name of their session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ragassay.errors import InputError
from ragassay.formats.records.aliases import pick
from ragassay.samples import Sample, Turn


def with_earlier_turns(samples: Iterable[Sample]) -> Iterator[Sample]:
    """Samples with what was said before in their session as history, where they have none, and
    their session as conversation. Those whose metadata has no ``session_id`` stay unchanged.

    Args:
        samples: in order of time. The turns of several systems are several sessions.

    Raises:
        InputError: a turn is earlier than the one before it in its session.
    """
    said: dict[tuple[str, str], tuple[Turn, ...]] = {}
    times: dict[tuple[str, str], float] = {}
    for sample in samples:
        (key,) = pick(tuple(sample.metadata), (("session_id",),))
        session = sample.metadata.get(key or "")
        if session in (None, ""):
            yield sample
            continue
        of = (sample.system, str(session))
        time, before = sample.timestamp, said.get(of, ())
        if time is not None and time < times.get(of, time):
            raise InputError(
                f"the turn {sample.id!r} is earlier than the one before it in session {session!r}",
                field=key,
                hint="Sort the records by time.",
            )
        if time is not None:
            times[of] = time
        turns = (("user", sample.query), ("agent", sample.answer and sample.answer.text))
        said[of] = (*before, *(Turn(who, text) for who, text in turns if text))
        metadata = {**sample.metadata, "conversation_id": str(session)}
        yield replace(sample, history=sample.history or before, metadata=metadata)
