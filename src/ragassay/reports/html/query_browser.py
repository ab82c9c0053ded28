"""The list of samples or queries in a page. Its data are packed (deflated JSON in base64), each
long text once; a browser unpacks a piece only when a row is opened or all texts are searched."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ragassay.base import printable
from ragassay.base.json_data import dumps
from ragassay.base.sample import Identity
from ragassay.engine.comparison.pairs import query_matrix
from ragassay.engine.diagnosis.diagnosing import Diagnosis
from ragassay.engine.diagnosis.moved_classes import Moved
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.score_rows import with_samples
from ragassay.engine.results.summary import MetricSummary, Summary
from ragassay.engine.run.scoring import batched
from ragassay.reports.html.browse import details_of, headline, share
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


Filters = list[tuple[str, list[tuple[str, str]]]]
"""Choices of the list of samples, in groups: the title of a group, and value and words of each."""


class Browser:
    """The data of a page's list: chunks first, then the table that points to them. The template
    reads the public attributes; ``metrics`` are those of a comparison, of which one is chosen."""

    def __init__(
        self,
        runs: Sequence[Result],
        rows: Sequence[Sequence[Sequence[int]]],
        diagnoses: Sequence[Diagnosis],
        columns: Mapping[str, Any],
    ) -> None:
        """``rows`` are for each run the samples, by their numbers, that each row stands for;
        ``columns`` what the table holds beside what all tables do."""
        self._runs, self._diagnoses, self._columns = runs, diagnoses, columns
        self.n_total = len(rows[0])
        self._rows = [of_run[:MAX_ROWS] for of_run in rows]
        self.n_rows = len(self._rows[0])
        self.slices = list(runs[0].columns.slices)
        self.metrics: Sequence[str] = ()
        self.title, self.noun = "Samples", "samples"
        self.filters = run_filters(runs[0].summary, diagnoses[0] if diagnoses else None)
        self._pool = TextPool()
        self._queries: dict[str, str] = {}
        self._answers: list[str] = []
        self._places: list[dict[int, int]] = []

    def chunks(self) -> Iterator[tuple[str, str]]:
        """Element id and packed content of each chunk of samples and of texts."""
        for number, (run, rows) in enumerate(zip(self._runs, self._rows, strict=True)):
            listed = sorted(at for row in rows for at in row)
            self._places.append({at: place for place, at in enumerate(listed)})
            room = share(TEXT_BUDGET // len(self._runs), len(listed))
            every = islice(enumerate(with_samples(run)), listed[-1] + 1 if listed else 0)
            wanted = (one for at, one in every if at in self._places[number])
            for at, chunk in enumerate(batched(wanted, CHUNK)):
                for identity, sample, _ in chunk:
                    self._queries.setdefault(identity[0], headline(sample.query if sample else ""))
                    if number == 0:
                        self._answers.append(headline(sample.answer_text if sample else ""))
                details = [details_of(*one, run.judge_answers, room) for one in chunk]
                yield f"d{number}-{at}", packed(self._pool.take(details))
                yield from self._pool.drain()
        yield from self._pool.drain(end=True)

    def table(self) -> str:
        """The rows as columns; call it after `chunks`."""
        columns, first = self._runs[0].columns, [row[0] for row in self._rows[0]]
        identities = [columns.identities[at] for at in first]
        several = len({one[1:] for one in identities}) > 1 and not self.metrics
        table = {
            **self._columns,
            "chunk": CHUNK,
            "pooled": self._pool.starts,
            "id": [one[0] for one in identities],
            "tag": [tag(one) if several else "" for one in identities],
            "query": [self._queries.get(one[0], "") for one in identities],
            "answer": [] if self.metrics else self._answers,
            # Their names are spelled as in the page.
            "slices": {
                printable.escaped(name): [values[at] for at in first]
                for name, values in columns.slices.items()
            },
            "detail": [
                [[places[at] for at in row] for places, row in zip(self._places, runs, strict=True)]
                for runs in zip(*self._rows, strict=True)
            ],
        }
        if self._diagnoses:
            table["faults"] = [{"title": one.title, "says": one.says} for one in FAULTS]
            table["faulty"] = []
            for diagnosis, rows in zip(self._diagnoses, self._rows, strict=True):
                of_rows = ((diagnosis.classes[at] for at in row) for row in rows)
                found = (next(filter(None, names), None) for names in of_rows)
                table["faulty"].append([name and FAULT_NUMBERS[name] for name in found])
        return packed(table)


def run_browser(result: Result) -> Browser:
    """One row a sample of a run, with the score that says whether it fails."""
    columns, metrics, diagnosis = result.columns, result.summary.metrics, result.diagnosis
    rows = range(min(len(columns), MAX_ROWS))
    return Browser(
        [result],
        [[[at] for at in range(len(columns))]],
        [] if diagnosis is None else [diagnosis],
        {
            "kind": "run",
            "runs": [result.name],
            "deciding": deciding(result),
            "metrics": [metric_entry(metric) for metric in metrics.values()],
            "values": [[columns.value(name, at) for at in rows] for name in metrics],
            "reasons": [
                {at: str(reason) for at in rows if (reason := columns.reason(name, at)) is not None}
                for name in metrics
            ],
        },
    )


def deciding(result: Result) -> int:
    """The number of the metric that says which samples fail; of the first one where none does."""
    metrics = list(result.summary.metrics)
    return 0 if result.diagnosis is None else metrics.index(result.diagnosis.headline)


def comparison_browser(
    comparison: Comparison, a: Result, b: Result, change: Moved | None
) -> Browser:
    """One row a query of two runs, its repeats averaged as in the comparison."""
    by_query = [run.columns.rows_by_query for run in (a, b)]
    common = [query for query in by_query[0] if query in by_query[1]]
    names = [difference.name for difference in comparison.differences]
    values = []
    for run, rows in zip((a, b), by_query, strict=True):
        means, scored = query_matrix(run, names, rows, common[:MAX_ROWS])
        pairs = zip(means.tolist(), scored.tolist(), strict=True)
        values.append([[v if ok else None for v, ok in zip(*one, strict=True)] for one in pairs])
    diagnoses = () if change is None else (change.new, change.old)
    browser = Browser(
        (a, b),
        [[rows[query] for query in common] for rows in by_query],
        diagnoses,
        {
            "kind": "comparison",
            "runs": [comparison.a, comparison.b],
            "metrics": [
                metric_entry(a.summary.metrics[d.name])
                | {"diff": d.diff, "lowDiff": d.low, "highDiff": d.high}
                for d in comparison.differences
            ],
            "values": values[0],
            "other": values[1],
        },
    )
    browser.title, browser.noun, browser.metrics = "Query by query", "queries", names
    words = {"": "all queries", "differs": "differs", "a": "new higher", "b": "old higher",
             "equal": "equal", "any": "unscored in either"}  # fmt: skip
    browser.filters = [("", list(words.items()))]
    for at, (run_name, one) in enumerate(zip(("new", "old"), diagnoses, strict=False)):
        browser.filters.append((f"failing in the {run_name} run", _faults(one, at)))
    return browser


def run_filters(summary: Summary, diagnosis: Diagnosis | None) -> Filters:
    """The choices of the list of a run's samples; of failing ones only with a diagnosis."""
    gaps = [
        (f"{at}", f"unscored: {name} ({sum(metric.unscored.values()):,})")
        for at, (name, metric) in enumerate(summary.metrics.items())
        if metric.unscored
    ]
    failing = [] if diagnosis is None else _faults(diagnosis, 0)
    every = [("", "all samples"), ("any", "with anything unscored")]
    if failing:
        every.insert(1, ("fails", f"failures ({diagnosis.n_failing:,})"))  # type: ignore[union-attr]
    return [("", every), ("failing", failing), ("unscored", gaps)]


def _faults(diagnosis: Diagnosis, run: int) -> list[tuple[str, str]]:
    return [
        (f"fault-{run}-{FAULT_NUMBERS[name]}", f"{title} ({n:,})")
        for name, title, n in diagnosis.counts
        if n
    ]


def tag(identity: Identity) -> str:
    """The system and the repeat of a sample, in words."""
    _, system, repeat = identity
    return " · ".join(filter(None, (system, f"repeat {repeat}" if repeat else "")))


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
