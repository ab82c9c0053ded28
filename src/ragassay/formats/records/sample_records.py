"""From one record (a JSON object, a CSV row, a row of a frame) to one `Sample`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

import orjson

from ragassay.errors import InputError, UsageError
from ragassay.formats.records import aliases, answer_values, field_values, passages
from ragassay.formats.records.aliases import ALIASES, Plan, folded
from ragassay.formats.records.joined_chunks import Joined
from ragassay.formats.records.notes import Notes
from ragassay.samples import Answer, Answerability, GoldPassage, Passage, Sample, Turn

Record = Mapping[str, Any]
_MAX_PLANS = 1000
_ABOUT_GIVEN = ("given_by", "given_unscored")
"""Fields that hold a text for each given value: see `mtrag_records`."""


class MapperOptions(TypedDict, total=False):
    """What a caller may choose for a source: see `Mapper`."""

    columns: Mapping[str, str] | None
    separator: str | None
    single_chunk: bool
    refuse_joined: bool
    system: str | None
    notes: Notes | None


class Mapper:
    """Makes the samples of one source: knows the user's columns, and what was read so far.

    Args:
        path: where the records come from, for errors; ``None`` for records in memory.
        columns: field -> key, for names that are not known.
        separator, single_chunk, refuse_joined: see `Joined`, which cuts texts of several passages.
        system: the name of the system where a record gives none.
        notes: collects remarks about the data; without it they are warnings, once all is read.
        cells: whether lists may be text in a cell (CSV, frames). JSON has lists of its own.

    Raises:
        UsageError: an unknown field, or ``single_chunk`` beside a separator.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        columns: Mapping[str, str] | None = None,
        separator: str | None = None,
        single_chunk: bool = False,
        refuse_joined: bool = False,
        system: str | None = None,
        notes: Notes | None = None,
        cells: bool = False,
    ) -> None:
        self.path = path
        self.columns = aliases.canonical(columns)
        self.system = system or ""
        self._warns = notes is None
        self._notes = Notes() if notes is None else notes
        self.joined = Joined(separator, self._notes, single=single_chunk, refused=refuse_joined)
        self.cells = cells
        self._plans: dict[tuple[str, ...], Plan] = {}
        self._has_begun = False
        self._lines: dict[int, int] = {}
        self._dotted = [
            (name, *name.split(".", 1))
            for name in {*aliases.FIELD_OF, *self.columns.values()}
            if "." in name
        ]
        self._roots = frozenset(root for _, root, _ in self._dotted)

    def sample(self, record: Record, line: int) -> Sample:
        """The sample that a record holds.

        Args:
            record: plain values; a missing value is ``None``.
            line: 1-based line or record number.

        Raises:
            InputError: the record cannot be read as a sample, or repeats an earlier one.
        """
        try:
            sample = self._map(record, line)
        except InputError as error:
            raise error.at(path=self.path, line=line) from None
        self.claim(sample, line)
        return sample

    def claim(self, sample: Sample, line: int) -> None:
        """Registers a sample and its line, so that a later sample with the same identity is
        refused.

        Args:
            sample: the sample.
            line: 1-based line or record number.

        Raises:
            InputError: an earlier line has the same id, system and repeat.
        """
        key = hash((sample.id, sample.system, sample.repeat))
        if key in self._lines:
            of = f" of system {sample.system!r}" if sample.system else ""
            raise InputError(
                f"the sample {sample.id!r}{of}, repeat {sample.repeat}, was already given in line "
                f"{self._lines[key]}",
                path=self.path,
                line=line,
                field="id",
                hint="Give each record its own id, system or repeat (0, 1, 2 ...).",
            )
        self._lines[key] = line

    def refuse_columns(self, name: str) -> None:
        """Refuses chosen columns, for formats whose names are fixed.

        Raises:
            UsageError: the user named columns.
        """
        if self.columns:
            raise UsageError(
                f"The format {name} has names of its own, so columns cannot be chosen. "
                "Another format can be forced, for example csv or jsonl."
            )

    def note(self, what: str, then: str, line: int | None = None) -> None:
        """Adds a remark about the data that is no error (see `Notes.add`).

        Args:
            what: what occurs, in the plural.
            then: the consequence, as a sentence.
            line: where it occurs.
        """
        self._notes.add(what, then, line=line)

    def finish(self, about: object) -> None:
        """Adds what is known after the last record, and issues all remarks as warnings where the
        caller gave no notes of their own.

        Args:
            about: the source, for the warnings.
        """
        self.joined.finish()
        if self._warns:
            self._notes.warn(about)

    def plan(self, record: Record) -> Plan:
        """The key of the record that holds each field. Decided once for each set of keys."""
        keys = tuple(record)
        known = self._plans.get(keys)
        if known is None:
            wrong = None if self._has_begun else aliases.missing_column(self.columns, keys)
            if wrong is not None:
                raise wrong
            self._has_begun = True
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            known = self._plans[keys] = aliases.plan(keys, self.columns)
        return known

    def made_id(self, query: str | None, history: tuple[Turn, ...], line: int) -> str:
        """An id for a record that has none.

        It is a hash of the query and the turns before it, so that the same query asked of two
        systems has the same id. Without a query it is the record's number, and two files can only
        be compared if their records are in the same order.

        Args:
            query: the record's query.
            history: the turns before it.
            line: 1-based line or record number.
        """
        if query is None:
            self.note(
                "records with neither an id nor a query",
                "They are numbered, so two files agree only if their records stand in one order.",
                line,
            )
            return f"row-{line}"
        self.note(
            "records without an id",
            "Their ids are a hash of the query and the turns before it.",
            line,
        )
        content = orjson.dumps([query, [[turn.speaker, turn.text] for turn in history]])
        return f"q-{hashlib.blake2b(content, digest_size=8).hexdigest()}"

    def _map(self, record: Record, line: int) -> Sample:
        if not self._roots.isdisjoint(record):
            record = self._with_dotted(record)
        plan = self.plan(record)
        if self.cells:
            record = _unpacked(record, plan)
        for column in plan.missing:
            self.note(f"records without the column {column!r}", "It counts as not given.", line)
        parts: dict[str, Any] = {}  # only what the record holds; the rest are Sample's defaults
        if plan.system is not None:
            parts["system"] = (
                field_values.identifier(record[plan.system], plan.system) or self.system
            )
        elif self.system:
            parts["system"] = self.system
        if plan.repeat is not None or plan.query_run is not None:
            parts["repeat"] = _repeat(record, plan)
        if plan.passages is not None or plan.passage_ids is not None:
            parts["passages"] = self._passages(record, plan, line)
        if plan.references is not None or plan.reference_groups is not None:
            parts["references"], groups = _references(record, plan)
            if groups:
                parts["reference_groups"] = groups
        if (key := plan.negative_references) is not None:
            parts["negative_references"], _ = answer_values.references(record[key], key)
        if plan.gold is not None or plan.gold_ids is not None:
            parts["gold"] = self._gold(record, plan)
        if (key := plan.timestamp) is not None:
            parts["timestamp"] = field_values.timestamp(record[key], key)
        metadata = self._metadata(record, plan, line)
        query, history, answer_after, label = self._conversation(record, plan, metadata)
        if history:
            parts["history"] = history
        if metadata:
            parts["metadata"] = field_values.checked_depth(metadata, plan.metadata)
        if plan.given is not None and record[plan.given]:
            parts["given"] = record[plan.given] if isinstance(record[plan.given], dict) else {}
        if plan.passage_embeddings is not None or plan.gold_embeddings is not None:
            self._embeddings(record, plan, parts)
        for name in _ABOUT_GIVEN:
            key = getattr(plan, name)
            if key is not None and record[key] and isinstance(record[key], dict):
                parts[name] = _texts(record[key])
        if plan.runs is not None and _are_runs(record[plan.runs]):
            parts["runs"] = tuple(self._map(run, line) for run in record[plan.runs])
        for key in plan.answerability:
            label = _agreed(label, answer_values.answerability(record[key], key), key)
        if label is not None:
            parts["answerability"] = label
        if plan.failure is not None:
            parts["failure"] = field_values.failure(record[plan.failure], plan.failure)
        answer = self._answer(record, plan, answer_after, line)
        if answer is not None and not answer.text and plan.failure not in (None, "failure"):
            # An empty answer beside an error message is none.
            answer = None if parts["failure"] else answer
        own_id = None if plan.id is None else field_values.identifier(record[plan.id], plan.id)
        return Sample(
            id=own_id or self.made_id(query, history, line), query=query, answer=answer, **parts
        )

    def _with_dotted(self, record: Record) -> Record:
        """The record with those nested values at the top that have a name of their own
        (``inputs.question``)."""
        flat = dict(record)
        for name, root, key in self._dotted:
            inner = flat.get(root)
            if name not in record and isinstance(inner, dict) and key in inner:
                flat[name] = inner[key]
                flat[root] = {other: value for other, value in inner.items() if other != key}
                if not flat[root]:
                    del flat[root]
        return flat

    def _metadata(self, record: Record, plan: Plan, line: int) -> dict[str, Any]:
        metadata: dict[str, Any] = {}
        if plan.metadata is not None:
            given = record[plan.metadata]
            if isinstance(given, dict):
                metadata.update(given)
            elif given is not None:
                metadata[plan.metadata] = given
        rest = plan.rest
        if plan.runs is not None and not _are_runs(record[plan.runs]):
            rest = (*rest, plan.runs)  # somebody else's word
        for name in _ABOUT_GIVEN:
            column = getattr(plan, name)
            if column is not None and not isinstance(record[column], dict | None):
                rest = (*rest, column)
        for key in rest:
            if metadata.get(key, record[key]) != record[key]:
                self.note(
                    f"records whose {key!r} differs from that in their {plan.metadata!r}",
                    "The record's own is kept.",
                    line,
                )
            if field_values.is_small(record[key]):
                metadata[key] = record[key]
            else:
                self.note(
                    f"values of the unknown field {key!r} that are large or nested",
                    "They were left out of the metadata.",
                    line,
                )
        if plan.given is not None and not isinstance(record[plan.given], dict | None):
            metadata[plan.given] = record[plan.given]
        return metadata

    def _conversation(
        self, record: Record, plan: Plan, metadata: dict[str, Any]
    ) -> tuple[str | None, tuple[Turn, ...], Answer | None, Answerability | None]:
        """The query, the turns before it, the answer after it, and the label inside its turn."""
        query = record[plan.query] if plan.query is not None else None
        history = record[plan.history] if plan.history is not None else None
        if plan.history is None and (query is None or type(query) is str):
            return query, (), None, None
        if not isinstance(query, list):
            query = field_values.text(query, plan.query or "query")
            if history is None:
                return query, (), None, None
            raw, key = history, plan.history or ""
            if key == "turns" and isinstance(raw, int):
                metadata["turns"] = raw
                return query, (), None, None
        elif history is not None:
            raise InputError(
                "the record has two conversations", field=plan.history, hint="Keep one of them."
            )
        else:
            raw, key, query = query, plan.query or "", None
        turns, rules = answer_values.turns(raw, key)
        if rules:
            metadata.setdefault("system_prompt", "\n".join(rules))
        if folded(key) == "history":  # our own field holds earlier turns only
            return query, tuple(turns), None, None
        asked, before, after = answer_values.split_at_query(turns, query, key)
        label = None
        enrichments = answer_values.enrichments(raw)
        for name, value in enrichments.items():
            if aliases.FIELD_OF.get(folded(name)) == "answerability":
                label = _agreed(
                    label, answer_values.answerability(value, f"{key}.enrichments"), name
                )
            elif field_values.is_small(value):
                metadata.setdefault(name, value)
        return asked, before, after, label

    def _answer(
        self, record: Record, plan: Plan, answer_after: Answer | None, line: int
    ) -> Answer | None:
        if plan.answer is None:
            return answer_after
        value = record[plan.answer]
        if isinstance(value, list) and folded(plan.answer) == "predictions":
            if len(value) > 1:
                self.note("records with several predictions", "The first one is used.", line)
            value = value[0] if value else None
        own = answer_values.answer(value, plan.answer)
        for name in answer_values.unknown(value):
            self.note(f"answers with {name!r} in them", "It was left out.", line)
        if own is None or answer_after is None or own.text == answer_after.text:
            return answer_after if own is None else own
        raise InputError(
            "the record's answer differs from the turn after its query",
            field=plan.answer,
            hint="Keep one of them.",
        )

    def _passages(self, record: Record, plan: Plan, line: int) -> tuple[Any, ...] | None:
        listed = None
        if plan.passages is not None:
            value = record[plan.passages]
            if isinstance(value, str):
                value = self.joined.cut(value, plan.passages, line)
            listed = passages.passages(value, plan.passages)
        if plan.passage_ids is not None:
            return passages.with_ids(listed, record[plan.passage_ids], plan.passage_ids)
        return listed

    def _embeddings(self, record: Record, plan: Plan, parts: dict[str, Any]) -> None:
        """Puts vectors under ``given``. Where the record has no texts, each vector makes a
        chunk."""
        chunks = (("passages", Passage()), ("gold", GoldPassage(text="")))
        for name, (field, chunk) in zip(aliases.EMBEDDINGS, chunks, strict=True):
            key = getattr(plan, name)
            if key is None or record[key] is None:
                continue
            rows = field_values.vectors(record[key], key)
            parts["given"] = {name: rows, **parts.get("given", {})}
            if parts.get(field) is None:
                parts[field] = (chunk,) * len(rows)

    def _gold(self, record: Record, plan: Plan) -> tuple[Any, ...] | None:
        listed = None
        if plan.gold is not None:
            value = record[plan.gold]
            if isinstance(value, str):
                value = self.joined.pieces(value)
            listed = passages.gold(value, plan.gold)
        if plan.gold_ids is not None:
            return passages.gold_with_ids(listed, record[plan.gold_ids], plan.gold_ids)
        return listed


_LISTS = (
    "history", "passages", "passage_ids", "references", "reference_groups", "negative_references",
    "gold", "gold_ids", "metadata", "given", *_ABOUT_GIVEN,
)  # fmt: skip


def _texts(entries: Mapping[str, Any]) -> dict[str, str]:
    """The entries whose values are texts."""
    return {str(name): value for name, value in entries.items() if isinstance(value, str)}


def _are_runs(value: Any) -> bool:
    """Whether a value is what our own writer puts under ``runs``: a list of full records that have
    only fields of ours."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(run, dict) and isinstance(run.get("id"), str) for run in value)
        and all(run.keys() <= ALIASES.keys() for run in value)
    )


def _unpacked(record: Record, plan: Plan) -> Record:
    """The record with lists and objects in place of their text in cells."""
    keys = [getattr(plan, name) for name in _LISTS] + list(plan.answerability)
    if plan.query is not None and str(record[plan.query])[:2] == "[{":
        keys.append(plan.query)
    return {
        **record,
        **{key: field_values.unpack(record[key], key) for key in keys if key is not None},
    }


def _references(record: Record, plan: Plan) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    flat: tuple[str, ...] = ()
    groups: tuple[Any, ...] = ()
    if plan.references is not None:
        flat, groups = answer_values.references(record[plan.references], plan.references)
    if plan.reference_groups is not None:
        inner, groups = answer_values.references(
            record[plan.reference_groups], plan.reference_groups
        )
        flat = flat or inner
    return flat, groups


def _repeat(record: Record, plan: Plan) -> int:
    repeat = run = None
    if plan.repeat is not None:
        repeat = field_values.whole_number(record[plan.repeat], plan.repeat)
    if plan.query_run is not None:
        run = field_values.whole_number(record[plan.query_run], plan.query_run)
        if run is not None and run < 1:
            raise InputError(
                f"the run number is {run}", field=plan.query_run, hint="Runs count from 1."
            )
    if run is None:
        return repeat or 0
    if repeat not in (None, run - 1):
        raise InputError(
            f"the run number is {run}, but {plan.repeat} is {repeat}",
            field=plan.query_run,
            hint="Runs count from 1 and repeats from 0; keep one of them.",
        )
    return run - 1


def _agreed(
    one: Answerability | None, other: Answerability | None, key: str
) -> Answerability | None:
    if one is not None and other is not None and one is not other:
        raise InputError(
            f"the record is labelled {one.name} in one place and {other.name} in another",
            field=key,
            hint="Keep the label that is right.",
        )
    return other if one is None else one
