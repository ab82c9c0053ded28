"""What the pages of a report read: its run folder, the parts of its page, and an index of its
samples: an SQLite file, so that searching and sorting 100,000 samples needs no memory."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import orjson

from ragassay.base import files, printable
from ragassay.base.errors import UsageError
from ragassay.base.json_data import dumps
from ragassay.engine.results import Result, open_run
from ragassay.engine.results.folders.run_folder import JUDGE_ANSWERS, SAMPLES, SCORES
from ragassay.engine.results.judge_answers import AnswerFile
from ragassay.engine.results.score_rows import ScoreRow
from ragassay.formats import from_records
from ragassay.reports.html.pages import environment, run_parts
from ragassay.reports.html.query_browser import (
    deciding,
    details_of,
    headline,
    metric_entry,
    run_filters,
    script_json,
    share,
    tag,
)
from ragassay.reports.views.diagnosis_view import FAULTS
from ragassay.service.store.run_archives import as_report

RUN, ROWS, PIECES = "run", "index.sqlite", "page.json"
"""In a view's folder: the run folder, the index, and the parts of the report's page."""

_TEMPLATES = Path(__file__).parent / "templates"

BLOCKS = ("head", "nav", "body", "data")
"""Blocks of the HTML report's template that a page of the service takes."""

TEXT_OF_ONE = 1_000_000
"""Characters of text that the details of one sample may have."""

LONG = 48
"""Characters from which on a text is stored once; the shorter ones of a sample are one text."""


@dataclass(frozen=True)
class RowQuery:
    """Which rows of a report are wanted: those that hold ``words``, are of a ``kind``, have the
    values of ``slices``; sorted by ``order``, ``id``, ``query``, ``answer`` or ``m`` with a
    metric's number, the largest first where ``down``. Kinds are those that fail (``fails``; for one
    reason: ``fault-0-`` and its name), and those unscored (a metric's number, or ``any``)."""

    words: Sequence[str] = ()
    kind: str = ""
    slices: dict[str, str] = field(default_factory=dict)
    sort: str = "order"
    down: bool = False
    first: int = 0
    size: int = 50


class Beside(NamedTuple):
    """Where a row is: its position from 0, of how many, and the rows before and after it."""

    at: int
    n: int
    previous: int | None
    next: int | None


def build_view(folder: str | Path, report: str, facts: Mapping[str, str]) -> None:
    """Makes the index and the parts of the page of a report, beside its run folder."""
    folder = Path(folder)
    result = as_report(open_run(folder / RUN), facts)
    n, slices = len(result.columns.metrics), result.columns.slices
    kept = [f"value{at}" for at in range(n)] + [f"reason{at}" for at in range(n)]
    kept += [f"slice{at}" for at in range(len(slices))]
    names = ["id", "natural_id", "tag", "query", "answer", "n_unscored", "fault"]
    names += ["sample_at", "scores_at", *kept]
    placed = AnswerFile(folder / RUN / JUDGE_ANSWERS).placed()
    with closing(sqlite3.connect(folder / ROWS)) as rows:
        rows.execute("PRAGMA journal_mode = OFF")
        rows.execute(f"CREATE TABLE samples (row INTEGER PRIMARY KEY, {', '.join(names)})")
        rows.execute("CREATE TABLE answers (id PRIMARY KEY, at) WITHOUT ROWID")
        rows.execute("CREATE TABLE slices (name, number)")
        rows.executemany(
            f"INSERT INTO samples VALUES (?{', ?' * len(names)})", _indexed(folder / RUN, result)
        )
        rows.executemany(
            "INSERT OR REPLACE INTO answers VALUES (?, ?)",
            ((record["id"], at) for at, record in placed),
        )
        shown = ((printable.escaped(name), at) for at, name in enumerate(slices))
        rows.executemany("INSERT INTO slices VALUES (?, ?)", shown)
        _write_texts(rows, _texts(folder / RUN, n))
        rows.commit()
    template = environment(_TEMPLATES, served="/assets").get_template("browsed.html.j2")
    browser = _served_browser(result, f"/reports/{report}/samples")
    parts = run_parts(result, in_folder=False)
    # No text of a report holds this mark: all is escaped.
    pieces = template.render(**parts, browser=browser).split("<!--piece-->")
    files.write_bytes(folder / PIECES, dumps(dict(zip(BLOCKS, pieces, strict=True))))


def _served_browser(result: Result, address: str) -> SimpleNamespace:
    """What a template takes for the list of samples: their number, and for the page's script where
    their rows are and what can be asked of them. Rows and details come from the server."""
    n, metrics = len(result.columns), result.summary.metrics.values()
    table = {
        "kind": "run",
        "served": address,
        "total": n,
        "runs": [result.name],
        "deciding": deciding(result),
        "metrics": [metric_entry(metric) for metric in metrics],
        "scored": [metric.n_scored > 0 for metric in metrics],
        "faults": {fault.name: {"title": fault.title} for fault in FAULTS},
        "slices": {
            printable.escaped(name): sorted({", ".join(labels) for labels in values if labels})
            for name, values in result.columns.slices.items()
        },
    }
    return SimpleNamespace(
        title="Samples", noun="samples", metrics=(),
        filters=run_filters(result.summary, result.diagnosis), slices=list(result.columns.slices),
        n_rows=n, n_total=n, chunks=lambda: (),
        table=lambda: script_json(table),
    )  # fmt: skip


def _indexed(folder: Path, result: Result) -> Iterator[tuple[Any, ...]]:
    """The rows of the index."""
    columns, names = result.columns, result.columns.metrics
    several = len({identity[1:] for identity in columns.identities}) > 1
    diagnosis = result.diagnosis
    classes = diagnosis.classes if diagnosis is not None else [None] * len(columns)
    at_sample = (at for at, line in _lines(folder / SAMPLES) if line.strip())
    at_score = islice((at for at, _ in _lines(folder / SCORES)), 0, None, max(len(names), 1))
    for row, (sample, identity) in enumerate(zip(result.samples, columns.identities, strict=True)):
        values = [columns.value(name, row) for name in names]
        reasons = [columns.reason(name, row) for name in names]
        yield (
            row, identity[0], _natural(identity[0]), tag(identity) if several else "",
            headline(sample.query), headline(sample.answer_text), values.count(None), classes[row],
            next(at_sample), next(at_score, 0), *values,
            *(None if reason is None else str(reason) for reason in reasons),
            *(", ".join(column[row]) or None for column in columns.slices.values()),
        )  # fmt: skip


def _texts(folder: Path, n_metrics: int) -> Iterator[Iterator[str]]:
    """The texts that a search goes through, by sample."""
    scores = (line for _, line in _lines(folder / SCORES))
    for _, line in _lines(folder / SAMPLES):
        if line.strip():
            record = orjson.loads(line)
            record.pop("given", None)  # what other tools measured, and vectors
            rows = (orjson.loads(score) for score in islice(scores, n_metrics))
            explanations = [[row.get("reason"), row.get("explanation")] for row in rows]
            yield _texts_in([record, explanations])


def _natural(key: str) -> str:
    """A key that sorts ids as people do: numbers by their value."""
    return re.sub(r"[0-9]+", lambda digits: digits[0].zfill(20), key.casefold())


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with the places where they begin."""
    at = 0
    with path.open("rb") as stream:
        for line in stream:
            yield at, line
            at += len(line)


class ReportView:
    """An opened view of a report, in a folder that `build_view` filled."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def pieces(self) -> dict[str, str]:
        """The parts of the page: HTML by the name of the block."""
        pieces = json.loads((self._folder / PIECES).read_bytes())
        return {name: printable.escaped(text) for name, text in pieces.items()}

    @property
    def run(self) -> Path:
        """The run folder."""
        return self._folder / RUN

    def find(self, wanted: RowQuery) -> dict[str, Any]:
        """A page of rows, and how many rows there are (``n``)."""
        with self._index() as index:
            where, values, order, n_metrics = _clauses(index, wanted)
            columns = [f", {kind}{at}" for kind in ("value", "reason") for at in range(n_metrics)]
            (n,) = index.execute(f"SELECT count(*) FROM samples{where}", values).fetchone()
            selected = index.execute(
                f"SELECT row, id, tag, query, answer, fault{''.join(columns)} FROM samples"
                f"{where} ORDER BY {order} LIMIT ? OFFSET ?",
                [*values, wanted.size, wanted.first],
            )
            rows = [
                {
                    "row": row, "id": key, "tag": shown, "query": query, "answer": answer,
                    "faults": [fault],
                    "values": more[:n_metrics], "reasons": more[n_metrics:],
                }
                for row, key, shown, query, answer, fault, *more in selected
            ]  # fmt: skip
        return {"n": n, "rows": rows}

    def beside(self, row: int, wanted: RowQuery) -> Beside | None:
        """The place of a row among those that are wanted; ``None`` where it is not among them."""
        with self._index() as index:
            where, values, order, _ = _clauses(index, wanted)
            place = index.execute(
                "SELECT at, n, previous, next FROM (SELECT row, row_number() OVER w - 1 AS at, "
                "count(*) OVER () AS n, lag(row) OVER w AS previous, lead(row) OVER w AS next "
                f"FROM samples{where} WINDOW w AS (ORDER BY {order})) WHERE row = ?",
                [*values, row],
            ).fetchone()
        return None if place is None else Beside(*place)

    def details(self, row: int) -> dict[str, Any] | None:
        """A sample with its scores and answers, for the page's script; ``None``: no such row."""
        with self._index() as index:
            places = index.execute(
                "SELECT id, sample_at, scores_at FROM samples WHERE row = ?", [row]
            ).fetchone()
            if places is None:
                return None
            key, sample_at, scores_at = places
            n_metrics = len(_metric_columns(index))
            (line,) = self._read(SAMPLES, sample_at, 1)
            (sample,) = from_records([json.loads(line)])
            rows = [
                ScoreRow.from_record(json.loads(line))
                for line in self._read(SCORES, scores_at, n_metrics)
            ]
            of_rows = "SELECT id, at FROM answers WHERE id IN (SELECT value FROM json_each(?))"
            keys = json.dumps([key for score_row in rows for key in score_row.evidence])
            judge_answers = dict(index.execute(of_rows, [keys]))
        details = details_of(
            sample.identity, sample, {score_row.metric: score_row for score_row in rows},
            AnswerFile(self.run / JUDGE_ANSWERS, judge_answers), share(TEXT_OF_ONE, 1),
        )  # fmt: skip
        return {"id": key, **details}

    def _read(self, name: str, at: int, n: int) -> list[bytes]:
        """Lines of a file of the run folder from a place on."""
        with (self.run / name).open("rb") as stream:
            stream.seek(at)
            return list(islice(stream, n))

    def _index(self) -> closing[sqlite3.Connection]:
        path = (self._folder / ROWS).resolve().as_uri()
        return closing(sqlite3.connect(f"{path}?mode=ro&immutable=1", uri=True))


def _metric_columns(index: sqlite3.Connection) -> list[str]:
    """The columns of the metrics' values."""
    names = (name for _, name, *_ in index.execute("PRAGMA table_info(samples)"))
    return [name for name in names if name.startswith("value")]


def _clauses(index: sqlite3.Connection, wanted: RowQuery) -> tuple[str, list[Any], str, int]:
    """The WHERE clause of a query with its values, the terms of its ORDER BY (unscored samples
    last, equal ones in their order), and the number of metrics."""
    known, slices = _metric_columns(index), dict(index.execute("SELECT * FROM slices"))

    def metric(number: str) -> str:
        """The column of a metric. No text of a request goes into a statement unchecked."""
        if (column := f"value{number}") not in known:
            raise UsageError(f"The report has no metric number {number!r}.")
        return column

    conditions = ["row IN (SELECT value FROM json_each(?))"] * len(wanted.words)
    values: list[Any] = [json.dumps(_rows_with(index, word)) for word in wanted.words]
    if condition := {"any": "n_unscored > 0", "fails": "fault IS NOT NULL"}.get(wanted.kind):
        conditions.append(condition)
    elif wanted.kind.startswith("fault"):
        conditions.append("'fault-0-' || fault = ?")
        values.append(wanted.kind)
    elif wanted.kind:
        conditions.append(f"{metric(wanted.kind)} IS NULL")
    for name, value in wanted.slices.items():
        if name not in slices:
            raise UsageError(f"The report has no slices by {name!r}.")
        conditions.append(f"slice{slices[name]} = ?")
        values.append(value)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    direction = " DESC" if wanted.down else ""
    terms = {"order": "fault IS NULL", "id": "natural_id", "query": "lower(query)"}
    terms["answer"] = "lower(answer)"
    column = terms.get(wanted.sort) or metric(wanted.sort.removeprefix("m"))
    last = "" if wanted.sort in terms else f"{column} IS NULL, "
    return where, values, f"{last}{column}{direction}, row", len(known)


def _write_texts(index: sqlite3.Connection, samples: Iterable[Iterable[str]]) -> None:
    """Writes the texts of samples in small letters, each long one once, and which rows have it."""
    index.executescript("CREATE TABLE texts (body BLOB); CREATE TABLE holders (row, text)")
    numbers: dict[bytes, int | None] = {}
    for row, texts in enumerate(samples):
        found = list(texts)
        short = "\n".join(text for text in found if len(text) < LONG)
        bodies = {_folded(text) for text in (short, *found) if text is short or len(text) >= LONG}
        for body in bodies:
            key = hashlib.blake2b(body, digest_size=16).digest()
            if key not in numbers:
                inserted = index.execute("INSERT INTO texts VALUES (?)", (body,))
                numbers[key] = inserted.lastrowid
            index.execute("INSERT INTO holders VALUES (?, ?)", (row, numbers[key]))


def _rows_with(index: sqlite3.Connection, word: str) -> list[int]:
    """The rows that hold a word anywhere, also within other words, upper and lower case alike."""
    holding = "SELECT rowid FROM texts WHERE instr(body, ?)"
    rows = f"SELECT DISTINCT row FROM holders WHERE text IN ({holding}) ORDER BY row"
    return [row for (row,) in index.execute(rows, (_folded(word),))]


def _folded(text: str) -> bytes:
    return text.lower().encode("utf-8", "replace")


def _texts_in(value: Any) -> Iterator[str]:
    """All texts in a value of JSON, but the keys of its objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts_in(item)
