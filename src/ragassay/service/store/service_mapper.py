"""From a record to a sample, as the service does it: one without an id is known by its content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Unpack

import orjson

from ragassay.base.errors import InputError
from ragassay.base.sample import Sample, Turn
from ragassay.formats import Mapper, MapperOptions, OptionWords
from ragassay.service.store.schema import LONGEST_NAME


class BatchWords(OptionWords):
    """Words for who sends records, which are read under their own names."""

    def columns(self, field: str, column: str) -> str:
        """How a value comes under the name of its field."""
        return f"send {column!r} as {field!r}"

    def separator(self, mark: str) -> str:
        """What names the text between the chunks."""
        return f"Name what separates the chunks as the separator of the task, {mark!r}"

    def single_chunk(self) -> str:
        """What says that a context is one chunk."""
        return "give each as a list of chunks, or say that each is one (single_chunk of the task)"


class FileWords(BatchWords):
    """Words for who uploads a file, whose columns can be chosen."""

    def columns(self, field: str, column: str) -> str:
        """What says that a column holds a field."""
        return f"the field {field!r} for the column {column!r} (columns)"


class ServiceMapper(Mapper):
    """Makes samples of the records of a file or batch. The content of a record without an id is its
    id. Contexts of several chunks are refused without a separator or ``single_chunk``."""

    def __init__(
        self, path: Any = None, *, cells: bool = False, **options: Unpack[MapperOptions]
    ) -> None:
        options["words"] = BatchWords() if path is None else FileWords()
        refuses = options.get("refuse_joined", True)
        options["refuse_joined"] = not options.get("separator") and refuses
        super().__init__(path, cells=cells, **options)
        self.line: int | None = None
        self.lacks_ids = self.lacks_zone = False
        self._record: Mapping[str, Any] | None = None
        self._is_made = False

    def sample(
        self, record: Mapping[str, Any], line: int, beside: Mapping[str, Any] | None = None
    ) -> Sample:
        """The sample that a record holds."""
        self.line, self._record, self._is_made = line, record, False
        return super().sample(record, line, beside)

    def made_id(self, query: str | None, history: tuple[Turn, ...], line: int) -> str:
        """The id of a record that has none: a hash of its content."""
        self.lacks_ids = True
        if self._record is None:  # the format makes the sample itself
            return super().made_id(query, history, line)
        self._is_made = True
        content = orjson.dumps(self._record, option=orjson.OPT_SORT_KEYS, default=str)
        return hashlib.blake2b(content, digest_size=12).hexdigest()

    def without_zone(self, key: str, line: int) -> None:
        """Refuses a time without a zone in a batch: nobody would read a note on it."""
        self.lacks_zone = True
        if self.path is not None:
            super().without_zone(key, line)
            return
        raise InputError("the time names no zone", field=key, hint="End it with Z, or with +01:00.")

    def claim(self, sample: Sample, line: int) -> None:
        """Refuses an identity that an earlier record has, or that no address or column can hold."""
        try:
            _check_identity(sample)
        except InputError as error:
            raise error.at(path=self.path, line=line) from None
        if not self._is_made:
            super().claim(sample, line)


def _check_identity(sample: Sample) -> None:
    """Refuses an id or system that no address or column can hold."""
    if sample.id.strip() in ("", ".", ".."):
        hint = "Give each record an id, or none at all; '.' and '..' mean another page."
        raise InputError(f"{sample.id!r} cannot be the id of a record", field="id", hint=hint)
    for field, value in (("id", sample.id), ("system", sample.system or "")):
        if len(value) > LONGEST_NAME:
            problem = f"{len(value):,} characters are too long for it; {LONGEST_NAME} are the most"
            raise InputError(problem, field=field)
        check_values(value, field)


def check_values(value: Any, field: str = "", line: int | None = None) -> None:
    """Refuses NUL, and integers beyond 64 bits, which not every database keeps, in a record or a
    part of one, with its path within the record as the field."""
    for path, one in _leaves(field, value):
        path = path.replace("\0", "")
        if isinstance(one, str) and "\0" in one:
            problem = "holds the character NUL, which no database keeps"
            raise InputError(problem, field=path, line=line)
        if isinstance(one, int) and not -(2**63) <= one < 2**63:
            problem, hint = "is an integer beyond 64 bits", "Send it as text."
            raise InputError(problem, field=path, line=line, hint=hint)


def _leaves(field: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Every name and value in a value, with its path. A recursion would end where a body is nested
    deeply."""
    left = [(field, value)]
    while left:
        path, found = left.pop()
        if isinstance(found, Mapping):
            for name, one in found.items():
                inner = f"{path}.{name}" if path else str(name)
                left += [(inner, one), (inner, name)]
        elif isinstance(found, list | tuple):
            left += [(path, one) for one in found]
        else:
            yield path, found
