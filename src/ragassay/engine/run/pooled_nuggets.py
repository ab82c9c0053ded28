"""A pooled nugget bank: the nuggets of each query, from the passages of all systems.

All passages that any system, in any repeat, retrieved for a query are read together, so that every
answer to it is measured against the same facts.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ragassay.engine.run.scoring import judged_among
from ragassay.errors import InputError, RagassayWarning, UsageError
from ragassay.formats import NuggetBank, QueryNuggets
from ragassay.judges import Asker, Unanswered
from ragassay.metrics.core import Metric
from ragassay.metrics.nuggets import NuggetOptions, Nuggets, make_nuggets
from ragassay.metrics.relevance import earlier_queries
from ragassay.samples import Sample
from ragassay.scores import Reason, Unscored

_TOGETHER = 128
"""Queries whose nuggets are made side by side."""


@dataclass
class _Pool:
    query: str | None
    earlier: tuple[str, ...] = ()
    texts: dict[str, None] = field(default_factory=dict)
    textless: int = 0


def pooled(samples: Iterable[Sample], asker: Asker, metrics: Iterable[Metric] = ()) -> NuggetBank:
    """The bank of all queries of some samples.

    Args:
        samples: read once; the distinct texts of their passages stay in memory until the end.
        asker: who is asked; each passage of a query is graded once.
        metrics: those that the bank is for; it has their limits (see `NuggetOptions`).

    Returns:
        An entry for each query, in the order of the samples. Where a question had no answer the
        entry says so, and answers to that query will be unscored.

    Raises:
        InputError: one query id stands for two different queries.
        UsageError: the metrics have different limits.
    """
    options = _options(metrics)
    pools = list(_pools(samples).items())
    entries: list[QueryNuggets] = []
    for at in range(0, len(pools), _TOGETHER):
        work = _all_made(pools[at : at + _TOGETHER], asker, options)
        entries += asker.submit(work).result()
    return NuggetBank(entries)


def checked(samples: Iterable[Sample], bank: NuggetBank) -> Iterator[Sample]:
    """Passes samples on after checking that each has the query text that the bank has for its id.
    Warns at the end where the bank has no nugget for any of them.

    Args:
        samples: of the run.
        bank: its nuggets.

    Raises:
        InputError: the bank's entry of a sample's id is about another query.
    """
    served = False
    example = None
    for sample in samples:
        bank.check(sample.id, sample.query)
        served = served or bool(sample.id in bank and bank[sample.id].nuggets)
        example = example or sample.id
        yield sample
    if example is not None and not served:
        sentence = (
            f"The nugget bank {bank.path or ''} has no nugget for any query of the data: its first "
            f"id is {next(iter(bank), '')!r}, that of the data is {example!r}."
        )
        warnings.warn(" ".join(sentence.split()), RagassayWarning, stacklevel=2)


def _options(metrics: Iterable[Metric]) -> NuggetOptions:
    wanted = {metric.options for metric in judged_among(metrics) if isinstance(metric, Nuggets)}
    if len(wanted) > 1:
        raise UsageError(
            "The nuggets metrics have different parameters, so no one bank serves them all: give "
            "them the same, or leave out --nuggets pooled."
        )
    return next(iter(wanted), NuggetOptions())


async def _all_made(
    pools: Iterable[tuple[str, _Pool]], asker: Asker, options: NuggetOptions
) -> list[QueryNuggets]:
    return await asyncio.gather(*(_made(name, pool, asker, options) for name, pool in pools))


def _pools(samples: Iterable[Sample]) -> Mapping[str, _Pool]:
    pools: dict[str, _Pool] = {}
    for sample in samples:
        pool = pools.setdefault(sample.id, _Pool(sample.query, earlier_queries(sample)))
        if pool.query is None:
            pool.query = sample.query
        elif sample.query is not None and sample.query.split() != pool.query.split():
            raise InputError(
                f"the query id {sample.id!r} stands for two different queries",
                field="query",
                hint="A nugget bank belongs to a query: give each query an id of its own.",
            )
        for passage in sample.passages or ():
            if passage.text is None:
                pool.textless += 1
            else:
                pool.texts[passage.text] = None
    return pools


async def _made(name: str, pool: _Pool, asker: Asker, options: NuggetOptions) -> QueryNuggets:
    """The entry of one query. Its memory of questions is its own: passages of other queries are no
    help, and a run may have very many."""
    if pool.query is None:
        return QueryNuggets(name, None, (), Unscored(Reason.MISSING_INPUT, "the query has no text"))
    if not pool.texts and pool.textless:
        why = "none of the passages retrieved for the query has a text"
        return QueryNuggets(name, pool.query, (), Unscored(Reason.MISSING_INPUT, why))
    try:
        ask, texts = asker.scope().ask(), tuple(pool.texts)
        made = await make_nuggets(ask, pool.query, texts, options, pool.earlier)
    except Unanswered as unanswered:
        failure = Unscored(unanswered.reason, f"no nuggets were made: {unanswered.detail}")
        return QueryNuggets(name, pool.query, (), failure)
    return QueryNuggets(name, pool.query, () if isinstance(made, Unscored) else made)


__all__ = ["NuggetBank", "NuggetOptions", "checked", "pooled"]
