"""The warnings of a run, as sentences for its summary."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from ragassay.base.errors import CountedFact, RagassayWarning


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
    told: dict[str, Warning | str] = {}
    for fact in facts:
        if isinstance(fact, CountedFact):
            first = told.get(fact.sentence)
            n, example = (
                (first.n, first.example) if isinstance(first, CountedFact) else (0, fact.example)
            )
            told[fact.sentence] = CountedFact(fact.sentence, n + fact.n, example)
        else:
            told.setdefault(str(fact), fact)
    return [str(fact) for fact in told.values()]
