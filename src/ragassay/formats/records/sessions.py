"""Turns that are records of their own, with the name of their session."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ragassay.base.errors import CountedFact, warn_user
from ragassay.base.sample import Sample, Turn
from ragassay.formats.records.aliases import pick

_UNSORTED = (
    "Histories are incomplete: {n} {turn stands|turns stand} behind a later one of the same "
    "session_id. Sort the records by time."
)


def with_earlier_turns(samples: Iterable[Sample]) -> Iterator[Sample]:
    """Samples with what was said before in their session as history, where they have none, and
    their session as conversation. Those whose metadata has no ``session_id`` stay unchanged.

    A turn that is earlier than one before it in its session gets no history; a `CountedFact` says
    how many do not.

    Args:
        samples: in order of time. The turns of several systems are several sessions.
    """
    n_late = 0
    said: dict[tuple[str, str], tuple[Turn, ...]] = {}
    times: dict[tuple[str, str], float] = {}
    for sample in samples:
        (key,) = pick(tuple(sample.metadata), (("session_id",),))
        session = sample.metadata.get(key or "")
        if session in (None, ""):
            yield sample
            continue
        of = (sample.system, str(session))
        last = times.get(of, -math.inf)
        time = last if sample.timestamp is None else sample.timestamp
        times[of] = max(time, last)
        n_late += time < last
        before = said.get(of, ()) if time >= last else ()
        turns = (("user", sample.query), ("agent", sample.answer and sample.answer.text))
        said[of] = (*said.get(of, ()), *(Turn(who, text) for who, text in turns if text))
        metadata = {**sample.metadata, "conversation_id": str(session)}
        yield replace(sample, history=sample.history or before, metadata=metadata)
    if n_late:
        warn_user(CountedFact(_UNSORTED, n_late))
