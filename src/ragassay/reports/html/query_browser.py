"""The list of samples or queries in a page. Its data are packed (deflated JSON in base64), each
long text once; a browser unpacks a piece only when a row is opened or all texts are searched."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from ragassay.base import printable
from ragassay.base.counts import grouped
from ragassay.base.sample import Identity, Sample
from ragassay.base.strict_json import dumps
from ragassay.engine.comparison.pairs import query_matrix
from ragassay.engine.diagnosis.diagnosing import Diagnosis
from ragassay.engine.diagnosis.moved_classes import Moved
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.score_rows import Rows, with_samples
from ragassay.engine.results.summary import MetricSummary, Summary
from ragassay.engine.run.scoring import batched
from ragassay.reports.html.browse import Limits, details_of, headline, shown_value
from ragassay.reports.views.diagnosis_view import FAULT_NUMBERS, FAULTS

MAX_ROWS = 20_000
"""Queries that a report lists; its means and plots are over all of them."""

TEXT_BUDGET = 32_000_000
"""Characters of text that one report carries, shared evenly by the samples listed."""

CHUNK = 250
"""Samples whose details are packed together."""

POOLED, AT_ONCE = 1_000, 1_000_000
"""Texts of the pool, and their characters, that make a batch, which is packed as one: many, because
texts repeat parts of others, and not all, because a browser unpacks a batch to show one row."""

LONG = 48
"""Characters from which on a text goes into the pool."""

MARK = "\x00"
"""The beginning of a reference to a text of the pool: the mark, then the text's number."""


def packed(value: Any) -> str:
    """A value as base64 of its deflated JSON (no zlib header). It holds no markup."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.b64encode(deflate.compress(dumps(value)) + deflate.flush()).decode()


class TextPool:
    """The long texts of a page, each once. Only what is not drained yet is held in memory."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._waiting: list[str] = []
        self._length = 0
        self.starts: list[int] = []
        """The number of the first text of each batch that was drained."""

    def take(self, value: Any) -> Any:
        """The value with each long text replaced by its number, in mappings and lists, too."""
        if isinstance(value, str):
            if len(value) < LONG and not value.startswith(MARK):
                return value
            key = hashlib.blake2b(value.encode("utf-8", "replace"), digest_size=16).digest()
            if key not in self._numbers:
                self._numbers[key] = len(self._numbers)
                self._waiting.append(value)
                self._length += len(value)
            return f"{MARK}{self._numbers[key]}"
        if isinstance(value, dict):
            return {name: self.take(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.take(one) for one in value]
        return value

    def drain(self, *, end: bool = False) -> Iterator[tuple[str, str]]:
        """Element id and content of the texts at hand, where they are enough for a batch."""
        enough = len(self._waiting) >= POOLED or self._length >= AT_ONCE
        if enough or (end and self._waiting):
            yield f"t-{len(self.starts)}", packed(self._waiting)
            self.starts.append(len(self._numbers) - len(self._waiting))
            self._waiting, self._length = [], 0


class _Details:
    """The listed samples of a run (of some queries, else all, up to `MAX_ROWS`), gathered while the
    run streams past: complete once `chunks` is exhausted. ``values`` and ``reasons`` are by metric.
    """

    def __init__(
        self, result: Result, queries: Collection[str] | None, budget: int, pool: TextPool
    ) -> None:
        self._result, self._wanted, self._budget = result, queries, budget
        self._pool = pool
        self.identities: list[Identity] = []
        self.queries: list[str] = []
        self.values: dict[str, list[float | str | None]] = {n: [] for n in result.columns.metrics}
        self.reasons: dict[str, dict[int, str]] = {name: {} for name in self.values}

    @property
    def ids(self) -> list[str]:
        """The query id of each sample."""
        return [identity[0] for identity in self.identities]

    def chunks(self) -> Iterator[str]:
        """`CHUNK` samples each, packed."""
        wanted = self._wanted
        identities = self._result.columns.identities
        n_listed = min(len(identities), MAX_ROWS)
        if wanted is not None:
            n_listed = sum(identity[0] in wanted for identity in identities)
        limits = Limits.share(self._budget, n_listed)
        every = with_samples(self._result)
        listed = (one for one in every if wanted is None or one[0][0] in wanted)
        for chunk in batched(islice(listed, n_listed), CHUNK):
            for identity, sample, rows in chunk:
                self._add(identity, sample, rows)
            judge_answers = self._result.judge_answers
            samples = [self._pool.take(details_of(*one, judge_answers, limits)) for one in chunk]
            yield packed(samples)

    def _add(self, identity: Identity, sample: Sample | None, rows: Rows) -> None:
        at = len(self.identities)
        self.identities.append(identity)
        self.queries.append(headline(sample))
        for name, column in self.values.items():
            row = rows.get(name)
            shown = shown_value(None if row is None else row.value)
            column.append(float(shown) if isinstance(shown, int) else shown)
            if row is not None and row.reason is not None:
                self.reasons[name][at] = row.reason


Filters = list[tuple[str, list[tuple[str, str]]]]
"""Choices of the list of samples, in groups: the title of a group, and value and words of each."""


_OF_QUERIES = {
    "": "all queries", "a": "new higher", "b": "old higher", "equal": "equal",
    "any": "unscored in A or B",
}  # fmt: skip


class _Browser:
    """The data of a page's query browser: chunks first, then the table that points to them."""

    def __init__(
        self,
        runs: Sequence[Result],
        queries: Collection[str] | None,
        diagnoses: Sequence[Diagnosis],
    ) -> None:
        self._runs, self._diagnoses, self._pool = runs, diagnoses, TextPool()
        budget = TEXT_BUDGET // len(runs)
        self._details = [_Details(run, queries, budget, self._pool) for run in runs]

    def chunks(self) -> Iterator[tuple[str, str]]:
        """Element id and packed content of each chunk of samples and of texts."""
        for run, details in enumerate(self._details):
            for at, chunk in enumerate(details.chunks()):
                yield f"d{run}-{at}", chunk
                yield from self._pool.drain()
        yield from self._pool.drain(end=True)

    def _packed(self, rows: Sequence[Sequence[Sequence[int]]], **columns: Any) -> str:
        """The table. ``rows`` are for each run the samples that each row stands for: the class of a
        row in a run is that of its first sample that has one."""
        if self._diagnoses:
            columns["faults"] = [{"title": one.title, "says": one.says} for one in FAULTS]
            columns["faulty"] = [
                [
                    next((FAULT_NUMBERS[name] for at in row if (name := one.classes[at])), None)
                    for row in of_run
                ]
                for one, of_run in zip(self._diagnoses, rows, strict=True)
            ]
        return packed({"chunk": CHUNK, "pooled": self._pool.starts, **columns})


class RunBrowser(_Browser):
    """One row a sample of a run."""

    title, noun = "Samples", "samples"
    metrics: Sequence[str] = ()

    def __init__(self, result: Result, diagnosis: Diagnosis | None) -> None:
        super().__init__([result], None, [] if diagnosis is None else [diagnosis])
        self.slices = list(result.columns.slices)
        self.filters = run_filters(result.summary, diagnosis)
        self.n_total = len(result.columns)
        self.n_rows = min(self.n_total, MAX_ROWS)

    def table(self) -> str:
        """The rows as columns; call it after `chunks`."""
        (result,), (details,), n = self._runs, self._details, self.n_rows
        metrics = result.summary.metrics
        several = len({identity[1:] for identity in details.identities}) > 1
        return self._packed(
            [[[at] for at in range(n)]],
            kind="run",
            runs=[result.name],
            metrics=[metric_entry(metric) for metric in metrics.values()],
            id=details.ids,
            tag=[tag(identity) if several else "" for identity in details.identities],
            query=details.queries,
            slices=_slices(result, range(n)),
            values=[details.values[name] for name in metrics],
            reasons=[details.reasons[name] for name in metrics],
            detail=[[[at]] for at in range(n)],
        )


class ComparisonBrowser(_Browser):
    """One row a query of two runs, its repeats averaged as in the comparison."""

    title, noun = "Query by query", "queries"

    def __init__(self, comparison: Comparison, a: Result, b: Result, change: Moved | None) -> None:
        self._comparison = comparison
        self._rows = [run.columns.rows_by_query for run in (a, b)]
        common = [query for query in self._rows[0] if query in self._rows[1]]
        self._queries = common[:MAX_ROWS]
        self.n_total, self.n_rows = len(common), len(self._queries)
        diagnoses = () if change is None else (change.new, change.old)
        self.metrics = [d.name for d in comparison.differences]
        self.slices = list(a.columns.slices)
        self.filters: Filters = [("", list(_OF_QUERIES.items()))]
        for at, (run, one) in enumerate(zip(("A (new)", "B (old)"), diagnoses, strict=False)):
            self.filters.append((f"failing in {run}", _faults(one, at)))
        super().__init__((a, b), frozenset(self._queries), diagnoses)

    def table(self) -> str:
        """The rows as columns; call it after `chunks`."""
        differences = self._comparison.differences
        metrics = self._runs[0].summary.metrics
        a, b = map(self._values, (0, 1))
        texts = [dict(zip(d.ids, d.queries, strict=True)) for d in self._details]
        positions = [grouped((query, at) for at, query in enumerate(d.ids)) for d in self._details]
        first = [self._rows[0][query][0] for query in self._queries]
        rows = [[of_run[query] for query in self._queries] for of_run in self._rows]
        return self._packed(
            rows,
            kind="comparison",
            runs=[self._comparison.a, self._comparison.b],
            metrics=[
                metric_entry(metrics[d.name])
                | {"diff": d.diff, "lowDiff": d.low, "highDiff": d.high}
                for d in differences
            ],
            id=self._queries,
            tag=[""] * len(self._queries),
            query=[texts[0].get(q) or texts[1].get(q, "") for q in self._queries],
            slices=_slices(self._runs[0], first),
            values=a,
            other=b,
            detail=[[of_run.get(q, []) for of_run in positions] for q in self._queries],
        )

    def _values(self, run: int) -> list[list[float | None]]:
        names = [difference.name for difference in self._comparison.differences]
        values, scored = query_matrix(self._runs[run], names, self._rows[run], self._queries)
        return [
            [value if ok else None for value, ok in zip(*pair, strict=True)]
            for pair in zip(values.tolist(), scored.tolist(), strict=True)
        ]


def run_filters(summary: Summary, diagnosis: Diagnosis | None) -> Filters:
    """The choices of the list of a run's samples; without a diagnosis (a server's list does not
    know its classes) none of failing ones."""
    gaps = [
        (f"{at}", f"unscored: {name} ({sum(metric.unscored.values()):,})")
        for at, (name, metric) in enumerate(summary.metrics.items())
        if metric.unscored
    ]
    failing = [] if diagnosis is None else _faults(diagnosis, 0)
    every = [("", "all samples"), ("any", "with anything unscored")]
    return [("", every), ("failing", failing), ("unscored", gaps)]


def _faults(diagnosis: Diagnosis, run: int) -> list[tuple[str, str]]:
    return [
        (f"fault-{run}-{FAULT_NUMBERS[name]}", f"{title} ({n:,})")
        for name, title, n in diagnosis.counts
        if n
    ]


def _slices(run: Result, rows: Iterable[int]) -> dict[str, list[str | None]]:
    """The values of these rows in each slicing column, whose name is spelled as in the page."""
    return {
        printable.escaped(name): [values[at] for at in rows]
        for name, values in run.columns.slices.items()
    }


def tag(identity: Identity) -> str:
    """The system and the repeat of a sample, in words."""
    _, system, repeat = identity
    return " · ".join(filter(None, (system, f"repeat {repeat}" if repeat else "")))


def named(identity: Identity, *, several: bool) -> str:
    """The name of a sample in the list; with its `tag` where a query has several samples."""
    return " · ".join(filter(None, (identity[0], tag(identity) if several else "")))


def metric_entry(metric: MetricSummary) -> dict[str, Any]:
    """A metric as the list of samples needs it."""
    low, high = metric.bounds
    return {
        "name": metric.name,
        "up": metric.higher_is_better,
        "low": low,
        "high": high,
        "labels": bool(metric.labels),
        "judged": bool(metric.judge),
    }
