"""A pooled nugget bank: the nuggets of each query, from the passages that any system retrieved for
it, so that every answer to it is measured against the same facts."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ragassay.base.errors import InputError, UsageError, warn_user
from ragassay.base.note import Note
from ragassay.base.sample import Answer, Passage, Sample
from ragassay.base.score import Reason, Unscored
from ragassay.engine.run.scoring import JUDGED_WINDOW, batched, judged_among
from ragassay.formats import NuggetBank
from ragassay.formats.nugget_bank_file import QueryNuggets
from ragassay.judges.asking import Ask, Asker, Unanswered
from ragassay.metrics.core.metric import Metric, passage_texts, textless_passage
from ragassay.metrics.nuggets.nugget_recall import NuggetOptions, Nuggets, make_nuggets


def pooled(samples: Iterable[Sample], asker: Asker, metrics: Iterable[Metric] = ()) -> NuggetBank:
    """The bank of all queries of some samples, in their order, with the limits that the metrics
    have. Where a question had no answer the entry says so, and answers to that query will be
    unscored. The distinct texts of the passages stay in memory until the end."""
    options, pools = bank_metric(metrics).options, pools_of(samples)

    async def made(batch: Iterable[Sample]) -> list[QueryNuggets]:
        return await asyncio.gather(*(_made(pool, asker, options) for pool in batch))

    batches = (asker.submit(made(batch)).result() for batch in batched(pools, JUDGED_WINDOW))
    return NuggetBank(entry for batch in batches for entry in batch)


def checked(samples: Iterable[Sample], bank: NuggetBank) -> Iterator[Sample]:
    """Passes samples on after checking that each has the query text that the bank has for its id.
    Warns at the end where the bank has no nugget for any of them."""
    has_nuggets = False
    for sample in samples:
        bank.check(sample.id, sample.query)
        has_nuggets = has_nuggets or bool(sample.id in bank and bank[sample.id].nuggets)
        yield sample
    if not has_nuggets:
        first = next(iter(bank), "")
        warn_user(
            str(Note("bank_of_other_queries", {"bank": str(bank.path or ""), "first": first}))
        )


def bank_metric(metrics: Iterable[Metric]) -> Nuggets:
    """The metric among some whose limits a bank for them has."""
    by_options = {m.options: m for m in judged_among(metrics) if isinstance(m, Nuggets)}
    if len(by_options) > 1:
        raise UsageError(
            "The nuggets metrics have different parameters, so no bank serves them all. Give "
            "them the same, or leave out the option nuggets."
        )
    return next(iter(by_options.values()), Nuggets())


def pools_of(samples: Iterable[Sample]) -> list[Sample]:
    """One sample for each query, with all its distinct passages and an empty answer."""
    pools: dict[str, Sample] = {}
    texts: defaultdict[str, dict[str | None, None]] = defaultdict(dict)
    for sample in samples:
        own = Sample(id=sample.id, query=sample.query, history=sample.history)
        pool = pools.setdefault(sample.id, own)
        if pool.query is None:
            pools[sample.id] = replace(pool, query=sample.query)
        elif sample.query is not None and sample.query.split() != pool.query.split():
            raise InputError(
                f"two different queries have the id {sample.id!r}",
                field="query",
                hint="A nugget bank belongs to a query: give each query an id of its own.",
            )
        texts[sample.id] |= dict.fromkeys(passage.text for passage in sample.passages or ())
    for name in pools:
        if len(texts[name]) > 1:
            texts[name].pop(None, None)  # those with a text are enough
    return [
        replace(pool, passages=tuple(map(Passage, texts[name])), answer=Answer(""))
        for name, pool in pools.items()
    ]


async def _made(pool: Sample, asker: Asker, options: NuggetOptions) -> QueryNuggets:
    """The entry of one query. Its questions have a scope of their own: those of other queries are
    never the same, and a run may have very many."""
    if pool.query is None or textless_passage(pool):
        no_texts = "none of the passages retrieved for the query has a text"
        why = "the query has no text" if pool.query is None else no_texts
        return QueryNuggets(pool.id, pool.query, (), Unscored(Reason.MISSING_INPUT, why))
    ask, texts = Ask(asker), passage_texts(pool)
    try:
        made = await make_nuggets(ask, pool.query, texts, options, pool.earlier_queries)
    except Unanswered as unanswered:
        failure = Unscored(unanswered.reason, f"no nuggets were made: {unanswered.detail}")
        return QueryNuggets(pool.id, pool.query, (), failure)
    return QueryNuggets(pool.id, pool.query, () if isinstance(made, Unscored) else made)
