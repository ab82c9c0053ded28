"""The warnings of a run, as sentences for its summary."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from ragassay.errors import CountedFact, RagassayWarning


@contextmanager
def record_warnings() -> Iterator[Callable[[], list[str]]]:
    """Records ragassay's own warnings; those of others are issued again at the end.

    Yields:
        A function that returns the sentences so far, each once (see `_summed`).
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RagassayWarning)
        yield lambda: _summed(one.message for one in caught if _is_ours(one))
    for one in caught:
        if not _is_ours(one):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def _is_ours(warning: warnings.WarningMessage) -> bool:
    return issubclass(warning.category, RagassayWarning)


def _summed(facts: Iterable[Warning | str]) -> list[str]:
    """Sentences, each once; counted facts of the same sentence become one with the sum."""
    counts: dict[str, int | None] = {}
    for fact in facts:
        if isinstance(fact, CountedFact):
            counts[fact.sentence] = (counts.get(fact.sentence) or 0) + fact.n
        else:
            counts.setdefault(str(fact))
    return [
        sentence if n is None else str(CountedFact(sentence, n)) for sentence, n in counts.items()
    ]
