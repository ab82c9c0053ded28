"""Nugget banks: the facts that a good answer to each query holds. JSON Lines as castorini's
nuggetizer writes them: ``{"qid": "q1", "query": "...", "nuggets": [{"text": "...", "importance":
"vital"}]}``; a ``failure`` in place of nuggets says why they could not be made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

from ragassay.base.files import atomic
from ragassay.base.json_data import dumps
from ragassay.base.score import Reason, Unscored
from ragassay.formats.format_words import unexpected, wrong
from ragassay.formats.records import field_values
from ragassay.formats.records.field_names import pick
from ragassay.formats.records.field_values import folded_text
from ragassay.formats.sources import json_files, opening

Importance = Literal["vital", "okay"]
_KEYS = (("qid", "query_id", "id", "topic_id"), ("query", "topic", "question"), ("nuggets",))


@dataclass(frozen=True, slots=True)
class Nugget:
    """A fact in a few words, and whether a good answer must hold it."""

    text: str
    importance: Importance


@dataclass(frozen=True, slots=True)
class QueryNuggets:
    """The nuggets of one query; none where nothing retrieved holds one.

    ``failure`` says why they could not be made: every answer to that query is then unscored.
    """

    id: str
    query: str | None
    nuggets: tuple[Nugget, ...] = ()
    failure: Unscored | None = None

    def to_record(self) -> dict[str, Any]:
        """The JSON object of the line."""
        record: dict[str, Any] = {"qid": self.id, "query": self.query}
        record["nuggets"] = list(map(asdict, self.nuggets))
        if (why := self.failure) is not None:
            record["failure"] = {"reason": str(why.reason), "detail": why.detail}
        return record


class NuggetBank(Mapping[str, QueryNuggets]):
    """The nuggets of many queries, by query id, in their order.

    Args:
        entries: one for each query; of several with one id the last counts.
        path: the file that they come from.
        lines: where in it each is, by query id.
    """

    def __init__(
        self,
        entries: Iterable[QueryNuggets] = (),
        path: Path | None = None,
        lines: Mapping[str, int] | None = None,
    ) -> None:
        self._entries = {entry.id: entry for entry in entries}
        self.path = path
        self._lines = dict(lines or {})

    def __getitem__(self, name: str) -> QueryNuggets:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<NuggetBank {self.hash}: {len(self)} queries>"

    @cached_property
    def hash(self) -> str:
        """Sixteen digits that change with any query or nugget, not with the order of queries."""
        body = [self._entries[name].to_record() for name in sorted(self._entries)]
        text = json.dumps(body, ensure_ascii=True, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def check(self, name: str, query: str | None) -> None:
        """Refuses an entry of a query id that is about another query than the data's (white space
        and case do not matter), as far as both name it."""
        own = self._entries[name].query if name in self._entries else None
        if not own or not query or folded_text(own) == folded_text(query):
            return
        place = {"path": self.path, "line": self._lines.get(name)}
        raise wrong("other_query", field="query", name=name, own=own, query=query, **place)

    def write(self, path: str | Path) -> None:
        """Writes the bank as JSON Lines."""
        with atomic(path) as stream:
            for entry in self._entries.values():
                stream.write(dumps(entry.to_record()) + b"\n")

    @classmethod
    def read(cls, path: str | Path) -> NuggetBank:
        """The bank of a file. Raises `InputError`, with line and field, where that is none."""
        source = Path(path)
        entries: dict[str, QueryNuggets] = {}
        lines: dict[str, int] = {}
        for line, record in json_files.json_records(source):
            with opening.placed(source, line):
                entry = _entry(record)
                if entry.id in entries:
                    raise wrong("query_twice", field="qid", id=entry.id)
            entries[entry.id] = entry
            lines[entry.id] = line
        if not entries:
            raise wrong("empty_bank", path=source)
        return cls(entries.values(), source, lines)


def _entry(record: dict[str, Any]) -> QueryNuggets:
    name_key, query_key, nuggets_key = pick(tuple(record), _KEYS)
    name = field_values.identifier(record[name_key], name_key) if name_key else None
    if not name:
        raise wrong("no_qid", field="qid")
    listed = record[nuggets_key] if nuggets_key else None
    if not isinstance(listed, list):
        raise field_values.not_a_list(listed, "nuggets", "{'text': ..., 'importance': 'vital'}")
    nuggets = tuple(map(_nugget, listed))
    seen: set[str] = set()
    for nugget in nuggets:
        if nugget.text.casefold() in seen:
            raise wrong("nugget_twice", field="nuggets", nugget=nugget.text)
        seen.add(nugget.text.casefold())
    query = field_values.text(record[query_key], query_key) if query_key else None
    return QueryNuggets(name, query, nuggets, _failure(record.get("failure")))


def _nugget(item: Any) -> Nugget:
    if not isinstance(item, dict):
        raise unexpected(item, "a nugget", "nuggets")
    (key,) = pick(tuple(item), (("text", "nugget"),))
    words = field_values.text(item[key], "nuggets.text") if key else None
    if not words or not words.strip():
        raise wrong("nugget_without_text", field="nuggets.text")
    label = str(item.get("importance")).strip().casefold()
    if label not in ("vital", "okay"):
        facts = {"nugget": words, "importance": item.get("importance")}
        raise wrong("no_importance", field="nuggets.importance", **facts)
    return Nugget(" ".join(words.split()), cast(Importance, label))


def _failure(value: Any) -> Unscored | None:
    if value is None:
        return None
    try:
        return Unscored(Reason(value["reason"]), str(value.get("detail") or ""))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise wrong("no_failure", field="failure") from None
