"""A golden set as a sheet that people fill in, and what they decided read back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import orjson

from ragassay.base.errors import InputError
from ragassay.base.sample import Answerability
from ragassay.golden.golden_item import GoldenItem, nearly, negatives_in, tags_in, unplaced
from ragassay.review.review_editing import Review
from ragassay.review.review_store import ReviewStore, version_of
from ragassay.review.sheet_files import Choices, Row, Sheet

NONE = "(none)"
_DECIDE = "Write accept or reject."
_SPAN = re.compile(r"(?P<document>.+) (?P<start>\d+)-(?P<end>\d+)(?: grade (?P<grade>-?\d+))?")


class ItemSheet(Sheet):
    """The items that nobody accepted or rejected yet. ``gold_text``, ``nearly`` (what almost
    answers an unanswerable query), ``unplaced`` (gold that has no place in the documents) and
    ``status`` are for reading only."""

    title = "Review"
    columns: ClassVar = {
        "id": 18,
        "version": 8,
        "decision": 10,
        "query": 44,
        "references": 44,
        "negative_references": 44,
        "gold": 26,
        "gold_text": 44,
        "nearly": 44,
        "unplaced": 44,
        "answerability": 14,
        "type": 14,
        "complexity": 14,
        "style": 14,
        "language": 10,
        "tags": 18,
        "status": 10,
    }
    filled = "decision"
    needed = ("id", "version", "decision")
    hint = "Write a sheet with 'ragassay golden review DIR --xlsx FILE'."

    def __init__(self, store: ReviewStore) -> None:
        self._store = store

    def _rows(self, reviewer: str, where: Sequence[str]) -> Iterator[tuple[list[str], Choices]]:
        """The drafts; see `Sheet._rows`."""
        for item in self._store.golden().with_status("draft", where=where):
            yield _cells(item), ("accept", "reject")

    def _is_taken(self, row: Row) -> bool:
        """Whether somebody's review is the decision of a row; see `Sheet._is_taken`."""
        entries = self._store.current().of.get(row["id"], {}).values()
        return row["decision"].strip().casefold() in {_decided(one.said) for one in entries}

    def _take(self, row: Row, reviewer: str) -> bool:
        """Takes a decision; see `Sheet._take`. A row whose item was changed since is wrong."""
        store = self._store
        item = store.golden().item(row["id"])
        if item is None:
            raise InputError(f"there is no item {row['id']!r} in the set", field="id")
        fields = {name: read(row[name]) for name, read in _READERS.items() if name in row}
        record = item.model_dump(mode="json")
        changed = {name for name, value in fields.items() if _bare(name, record[name]) != value}
        decision = row["decision"].strip().casefold()
        if not decision:
            if changed and row["version"] == version_of(item):
                problem = f"the row changes {', '.join(sorted(changed))}, and decides nothing"
                raise InputError(problem, field="decision", hint=_DECIDE)
            return False
        if decision not in ("accept", "reject"):
            problem = f"{row['decision']!r} is no decision"
            raise InputError(problem, field="decision", hint=_DECIDE)
        if (
            decision == "accept"
            and "references" in changed
            and not any(map(str.strip, fields["references"]))
        ):
            _refuse_emptied(fields.get("answerability", item.answerability))
        status = {"accept": "accepted", "reject": "rejected"}[decision]
        entry = store.current().of.get(item.id, {}).get(reviewer)
        mine: Review | None = entry.said if entry else None
        before = mine and _decided(mine)
        # The last of several people who decided alike is the reviewer of the item.
        if (
            not changed
            and item.status == status
            and (item.reviewer == reviewer or before == decision)
        ):
            return False  # the sheet was read before
        if item.status == "draft" and mine is not None and row["version"] == version_of(item):
            wanted = {name: pair[1] for name, pair in mine.changes.items()}
            if before == decision and {name: fields[name] for name in changed} == {
                name: _bare(name, value) for name, value in wanted.items()
            }:
                return False  # as before: others are waited for
        store.review(
            item.id,
            reviewer,
            "accept" if decision == "accept" else "reject",
            row["version"],
            fields={name: fields[name] for name in changed},
        )
        return True


def _decided(review: Review) -> str:
    return "reject" if review.decision == "reject" else "accept"


def _refuse_emptied(answerability: str | None) -> None:
    """Refuses to accept an item that has lost its references, unless nothing answers its query."""
    if answerability in (Answerability.ANSWERABLE, Answerability.PARTIAL, None):
        it = f"the item is {answerability}" if answerability else "no answerability is given"
        raise InputError(
            f"the cell is empty, and {it}",
            field="references",
            hint="Write an answer a line, write unanswerable into answerability, or reject the "
            "item.",
        )


def _bare(name: str, value: Any) -> Any:
    """A value of an item as a sheet says it: without what is found elsewhere."""
    if name == "gold" and value is not None:
        return [{key: one[key] for key in ("document", "start", "end", "grade")} for one in value]
    if name == "negative_references":
        return [{"text": one["text"], "kind": one["kind"]} for one in value]
    return value


def _cells(item: GoldenItem) -> list[str]:
    record = item.model_dump(mode="json")
    gold = _bare("gold", record["gold"])
    places = NONE if gold == [] else "\n".join(map(_place, gold or ()))
    negatives = _bare("negative_references", record["negative_references"])
    kinds = [(f"{one['kind']}: " if one["kind"] else "") + one["text"] for one in negatives]
    cells = [
        *(item.id, version_of(item), "", item.query),
        _listed(item.references, _texts),
        _listed(kinds, _negatives, negatives),
        places if _reads_as(_gold, places, gold) else _json(gold),
        "\n".join(one.text for one in item.gold or ()),
        "\n".join(one.text for one in nearly(item)),
        "\n".join(str(one.get("text") or one.get("document") or "") for one in unplaced(item)),
        item.answerability or "",
        *(item.type, item.complexity, item.style, item.language),
        _listed(item.tags, _tags),
        item.status,
    ]
    return [str(cell) for cell in cells]


def _listed(lines: Sequence[str], read: Callable[[str], Any], meant: Any = None) -> str:
    """Texts a line each; as JSON where that would read as something else."""
    text = "\n".join(lines)
    wanted = list(lines) if meant is None else meant
    return text if _reads_as(read, text, wanted) else _json(wanted)


def _reads_as(read: Callable[[str], Any], text: str, wanted: Any) -> bool:
    try:
        return bool(read(text) == wanted)
    except InputError:
        return False


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _place(one: dict[str, Any]) -> str:
    grade = "" if one["grade"] == 1 else f" grade {one['grade']}"
    return f"{one['document']} {one['start']}-{one['end']}{grade}"


def _parsed(column: str, cell: str, kind: type) -> list[Any] | None:
    """The list that a cell holds as JSON; ``None`` where it holds lines."""
    if not cell.startswith("["):
        return None
    try:
        parsed = orjson.loads(cell)
    except orjson.JSONDecodeError:
        return None  # a text that begins so
    if not isinstance(parsed, list) or not all(isinstance(one, kind) for one in parsed):
        raise InputError("is a list of other things than the column holds", field=column)
    return parsed


def _texts(cell: str) -> list[str]:
    parsed = _parsed("references", cell, str)
    return [line for line in cell.split("\n") if line.strip()] if parsed is None else parsed


def _tags(cell: str) -> list[str]:
    """Tags a line each, or parted as on the page: by semicolons in a line that holds one, else by
    commas."""
    parsed = _parsed("tags", cell, str)
    return tags_in(cell) if parsed is None else parsed


def _negatives(cell: str) -> list[dict[str, Any]]:
    parsed = _parsed("negative_references", cell, dict)
    if parsed is not None:
        return [{"text": str(one.get("text", "")), "kind": one.get("kind")} for one in parsed]
    return negatives_in(cell)


def _gold(cell: str) -> list[dict[str, Any]] | None:
    if not cell.strip():
        return None
    if cell.strip() == NONE:
        return []
    parsed = _parsed("gold", cell, dict)
    if parsed is not None:
        return parsed
    spans: list[dict[str, Any]] = []
    for line in filter(str.strip, cell.split("\n")):
        span = _SPAN.fullmatch(line.strip())
        if span is None:
            hint = f"Write DOCUMENT START-END, or {NONE}."
            raise InputError(f"{line!r} is no span", field="gold", hint=hint)
        start, end, grade = int(span["start"]), int(span["end"]), int(span["grade"] or 1)
        spans.append({"document": span["document"], "start": start, "end": end, "grade": grade})
    return spans


_READERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("query", "type", "complexity", "style", "language"), str),
    "references": _texts,
    "negative_references": _negatives,
    "gold": _gold,
    "answerability": lambda cell: cell.strip() or None,
    "tags": _tags,
}
