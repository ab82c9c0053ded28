"""The list of samples or queries in a page, and the details of each: its texts (clipped to a share
of a fixed budget, so that the file stays shareable), scores and the answers of judges.

The data of a page are packed (deflated JSON in base64), each long text once; a browser unpacks a
piece only when a row is opened or all texts are searched."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence, Sized
from itertools import islice
from typing import Any

from ragassay.base import printable
from ragassay.base.json_data import dumps
from ragassay.base.printable import excerpt, grouped
from ragassay.base.sample import Answer, GoldPassage, Identity, Passage, Sample
from ragassay.base.score import label_of
from ragassay.engine.comparison.differences import query_matrix
from ragassay.engine.diagnosis.diagnosing import Diagnosis
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import Comparison
from ragassay.engine.results.judge_answers import JudgeAnswers
from ragassay.engine.results.score_rows import Rows, ScoreRow, with_samples
from ragassay.engine.results.summary import MetricSummary, Summary
from ragassay.engine.run.scoring import batched
from ragassay.metrics.core.chunk_matching import same_chunks
from ragassay.reports.views import evidence_view
from ragassay.reports.views.diagnosis_view import FAULTS
from ragassay.reports.views.evidence_view import answer_pieces
from ragassay.texts.document_names import same_document

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
            return {name: self.take(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.take(item) for item in value]
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
    reads the public attributes; ``metrics`` are those of a comparison, of which one is chosen
    (``deciding`` is the number of the first choice)."""

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
        self.deciding = columns["deciding"]
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
            wanted = (pair for at, pair in every if at in self._places[number])
            for at, chunk in enumerate(batched(wanted, CHUNK)):
                for identity, sample, _ in chunk:
                    self._queries.setdefault(identity[0], headline(sample.query))
                    if number == 0:
                        self._answers.append(headline(sample.answer_text))
                details = [details_of(*pair, run.judge_answers, room) for pair in chunk]
                yield f"d{number}-{at}", packed(self._pool.take(details))
                yield from self._pool.drain()
        yield from self._pool.drain(end=True)

    def table(self) -> str:
        """The rows as columns; call it after `chunks`."""
        columns, first = self._runs[0].columns, [row[0] for row in self._rows[0]]
        identities = [columns.identities[at] for at in first]
        several = len({identity[1:] for identity in identities}) > 1 and not self.metrics
        table = {
            **self._columns,
            "chunk": CHUNK,
            "pooled": self._pool.starts,
            "id": [identity[0] for identity in identities],
            "tag": [tag(identity) if several else "" for identity in identities],
            "query": [self._queries.get(identity[0], "") for identity in identities],
            "answer": [] if self.metrics else self._answers,
            # Their names are spelled as in the page.
            "slices": {
                printable.escaped(name): [", ".join(values[at]) or None for at in first]
                for name, values in columns.slices.items()
            },
            "detail": [
                [[places[at] for at in row] for places, row in zip(self._places, runs, strict=True)]
                for runs in zip(*self._rows, strict=True)
            ],
        }
        if self._diagnoses:
            table["faults"] = {
                each.name: {"title": each.title, "says": each.says} for each in FAULTS
            }
            table["faulty"] = [
                [next(filter(None, (diagnosis.classes[at] for at in row)), None) for row in rows]
                for diagnosis, rows in zip(self._diagnoses, self._rows, strict=True)
            ]
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


def comparison_browser(comparison: Comparison, a: Result, b: Result) -> Browser:
    """One row a query of two runs, its repeats averaged as in the comparison."""
    change = comparison.change
    by_query = [run.columns.rows_by_query for run in (a, b)]
    common = [query for query in by_query[0] if query in by_query[1]]
    names = [difference.name for difference in comparison.differences]
    values = []
    for run, rows in zip((a, b), by_query, strict=True):
        means, scored = query_matrix(run, names, rows, common[:MAX_ROWS])
        pairs = zip(means.tolist(), scored.tolist(), strict=True)
        values.append([[v if ok else None for v, ok in zip(*pair, strict=True)] for pair in pairs])
    diagnoses = () if change is None else (change.new, change.old)
    moved: dict[str, list[str]] = {}
    if change is not None:
        moved = dict(zip(change.words, ([*dict(change.broken)], [*change.mended]), strict=True))
    browser = Browser(
        (a, b),
        [[rows[query] for query in common] for rows in by_query],
        diagnoses,
        {
            "kind": "comparison",
            "runs": [comparison.a, comparison.b],
            "deciding": _first_shown(comparison),
            "metrics": [
                metric_entry(a.summary.metrics[d.name])
                | {"diff": d.diff, "lowDiff": d.low, "highDiff": d.high}
                for d in comparison.differences
            ],
            "values": values[0],
            "other": values[1],
            "moved": moved,
        },
    )
    browser.title, browser.noun, browser.metrics = "Query by query", "queries", names
    words = {name: f"{name} ({len(queries):,})" for name, queries in moved.items()}
    words |= {"a": "new higher", "b": "old higher", "any": "unscored in either"}
    browser.filters = [("", [("", "all queries"), *words.items()])]
    for at, (run_name, diagnosis) in enumerate(zip(("new", "old"), diagnoses, strict=False)):
        browser.filters.append((f"failing in the {run_name} run", _faults(diagnosis, at)))
    return browser


def _first_shown(comparison: Comparison) -> int:
    """The number of the metric that the first sentence speaks of: that which says which answers are
    right, else the first one that is better, worse or different."""
    change, verdicts = comparison.change, ("better", "worse", "different")
    headline = change.new.headline if change is not None and change.right else ""
    ranks = [(d.name == headline, d.verdict in verdicts) for d in comparison.differences]
    return ranks.index(max(ranks)) if ranks else 0


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
    return [(f"fault-{run}-{name}", f"{title} ({n:,})") for name, title, n in diagnosis.counts]


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


HEADLINE = 240
"""Characters of a query or an answer in the table."""

_MARKUP = ("<", ">", "&", "\u2028", "\u2029")


def script_json(value: Any) -> str:
    """Strict JSON that cannot end the ``<script>`` element that it is in."""
    text = dumps(value).decode()
    for mark in _MARKUP:
        # These stand inside JSON strings only, so their escapes mean the same to a parser.
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def share(budget: int, n: int) -> int:
    """The characters that each of ``n`` samples may have that share a budget."""
    return min(100_000, max(1_200, budget // max(n, 1)))


def details_of(
    identity: Identity, sample: Sample, rows: Rows, judge_answers: JudgeAnswers, room: int
) -> dict[str, Any]:
    """A sample's details in so many characters, with the answers that its scores rest on."""
    limit = room // 4
    shared, names = _shared(rows, sample.answer_text, limit)
    each = _each(limit, rows, 100)
    scores = {name: _score(row, each, shared=name in names) for name, row in rows.items()}
    entry = {"system": identity[1], "repeat": identity[2], "scores": scores, **shared}
    entry |= _texts(sample, limit)
    evidence = list(dict.fromkeys(text for row in rows.values() for text in row.evidence))
    records = [record for text in evidence if (record := judge_answers.get(text))]
    each, ranks = _each(limit, records), evidence_view.ranks_of(sample)
    entry["judge_answers"] = [_judge_answer(record, each, ranks) for record in records]
    places = {record["id"]: at for at, record in enumerate(records)}
    entry["evidence"] = {
        name: [places[text] for text in row.evidence if text in places]
        for name, row in rows.items()
        if row.evidence and places
    }
    return {name: value for name, value in entry.items() if value not in (None, [], {}, "")}


def headline(text: str | None) -> str:
    """The first words of a query or an answer."""
    return excerpt(text or "", HEADLINE)


def _each(limit: int, parts: Sized, least: int = 200) -> int:
    """The characters that each of some parts may have, which share a limit."""
    return max(least, limit // max(len(parts), 1))


def _clip(text: str | None, limit: int) -> str:
    if text is None or len(text) <= limit:
        return text or ""
    return f"{text[:limit]} … [{len(text) - limit:,} more characters in the run folder]"


def _texts(sample: Sample, main: int) -> dict[str, Any]:
    """What a sample holds, as the browser shows it."""
    passages, gold = sample.passages or (), sample.gold or ()
    matches = _matches(passages, gold)
    each, each_gold = _each(2 * main, passages, 120), _each(main, gold, 120)
    turn, run = _each(main, sample.history), _each(main, sample.runs)
    right, wrong = sample.references, sample.negative_references
    answer = sample.answer
    labels = {} if sample.answerability is None else {"answerability": str(sample.answerability)}
    return {
        "query": _clip(sample.query, main),
        "history": [[item.speaker, _clip(item.text, turn)] for item in sample.history],
        "answer": None if answer is None else _clip(answer.text, main),
        "cited": None if answer is None else _cited(answer, main),
        "runs": [
            [each.repeat, None if each.answer is None else _clip(each.answer.text, run),
             each.failure, None if each.passages is None else len(each.passages)]
            for each in sample.runs
        ],
        "failure": sample.failure,
        "references": [_clip(text, _each(main, right, 120)) for text in right],
        "negatives": [_clip(text, _each(main, wrong, 120)) for text in wrong],
        "passages": [
            [p.id, p.score, p.document, _clip(p.text, each),
             max((gold[at].grade for at in places), default=None)]
            for p, places in zip(passages, matches, strict=True)
        ],
        "gold": [
            [g.id, g.grade, g.document, g.start, g.end, _clip(g.text, each_gold)]
            for at, g in enumerate(gold)
            if g.grade > 0 and not any(at in places for places in matches)
        ],
        "labels": labels | {
            str(name): _clip(value if isinstance(value, str) else dumps(value).decode(), main)
            for name, value in sample.metadata.items()
        },
    }  # fmt: skip


def _cited(answer: Answer, limit: int) -> list[list[Any]]:
    """Where each statement that cites stands in the answer's text, and the ids that it cites:
    ``[start, end, ids]``, or ``[None, text, ids]`` where it does not stand there."""
    places: list[list[Any]] = []
    at = 0
    for statement in answer.statements:
        if place := evidence_view.place_of(statement.text, answer.text, at):
            at = place[1]
            places.append([*place, list(statement.citations)])
        elif statement.citations:
            places.append([None, _clip(statement.text, limit), list(statement.citations)])
    return places if any(ids for *_, ids in places) else []


def _matches(passages: Sequence[Passage], gold: Sequence[GoldPassage]) -> list[set[int]]:
    """The gold passages that each passage is (as the chunk metrics match them), or with whose span
    of the same document it has characters in common."""
    labels = same_chunks([*passages, *gold])
    names = labels[len(passages) :]

    def overlap(one: Passage, two: GoldPassage) -> bool:
        if one.start is None or one.end is None or two.start is None or two.end is None:
            return False
        named = one.document and two.document and same_document(two.document, one.document)
        return bool(named) and max(one.start, two.start) < min(one.end, two.end)

    return [
        {at for at, g in enumerate(gold) if names[at] == label or overlap(passage, g)}
        for passage, label in zip(passages, labels, strict=False)
    ]


def _shared(rows: Rows, answer: str, limit: int) -> tuple[dict[str, Any], Collection[str]]:
    """What several scores of a sample share and that is shown once: tables of nugget, importance
    and whether the answer holds it, and lists of pieces of the answer with the metrics' names."""
    tables = {name: tuple(evidence_view.nugget_table(row.parts)) for name, row in rows.items()}
    pieces = {
        name: tuple(answer_pieces(row.parts, answer))
        for name, row in rows.items()
        if not tables[name]
    }
    named = grouped((some, name) for name, some in pieces.items() if some)
    different = [pair for pair in dict.fromkeys(tables.values()) if pair]
    each = _each(limit, [row for pair in different for row in pair], 80)
    each_piece = _each(limit, [piece for some in named for piece in some], 80)
    shared = {
        "nuggets": [
            [[_clip(nugget, each), *others] for nugget, *others in table] for table in different
        ],
        "pieces": [
            {
                "of": of,
                "list": [
                    # The answer has the text of a piece that has a place in it.
                    ["" if piece.start is not None else _clip(piece.text, each_piece), piece.start,
                     piece.end, piece.held, piece.by]
                    for piece in some
                ],
            }
            for some, of in named.items()
        ],
    }  # fmt: skip
    return shared, {name for name in rows if tables[name] or pieces.get(name)}


def _score(row: ScoreRow, limit: int, *, shared: bool) -> list[Any]:
    """Value, reason, explanation and parts: text, ``None`` if too long, 0 if scores share them."""
    text = dumps(row.parts).decode() if row.parts and not shared else ""
    parts = 0 if shared else text if len(text) <= limit else None
    value = label_of(row.value) if isinstance(row.value, list) else row.value
    return [value, row.reason, _clip(row.explanation, max(limit, 300)), parts]


def _judge_answer(
    record: Mapping[str, Any], limit: int, ranks: Mapping[str, int], *, prompt: bool = True
) -> dict[str, Any]:
    """An answer of a judge as the browser shows it; votes with the same prompt do not repeat it."""
    votes = record.get("votes", ())
    shared = evidence_view.shared_prompt(votes)
    answer = record.get("answer")
    entry: dict[str, Any] = {
        "question": record["question"],
        "answer": None if answer is None else _clip(dumps(answer).decode(), limit),
        "failure": record.get("reason") and f"{record['reason']}: {record.get('detail', '')}",
        "judge": record.get("judge"),
        # The passages stand in the page.
        "about": evidence_view.about(record, ranks, quoted=False),
        "spread": evidence_view.spread(record),
    }
    sent = shared or record.get("messages")
    if prompt and sent:
        entry["messages"] = [[value["role"], _clip(value["content"], limit)] for value in sent]
    if record.get("model") or record.get("messages"):
        entry |= {
            "model": record.get("model"),
            "tokens": [record.get("input_tokens", 0), record.get("output_tokens", 0)],
            "cost": record.get("cost"),
            "reply": _clip(record.get("reply"), limit),
        }
    each = _each(limit, votes)
    entry["votes"] = [_judge_answer(vote, each, ranks, prompt=not shared) for vote in votes]
    return {name: value for name, value in entry.items() if value not in (None, [], "")}
