"""Which columns of a file hold which fields, which hold none, and which may by their names."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Unpack

from ragassay.base.errors import InputError, RagassayError
from ragassay.base.sample import Sample
from ragassay.formats import reading
from ragassay.formats.format import Format
from ragassay.formats.records.chosen_columns import Columns, canonical
from ragassay.formats.records.field_names import Fields, suggestions
from ragassay.formats.records.sample_records import Mapper, MapperOptions, Notes
from ragassay.formats.sources.json_files import MOST_PATHS, all_texts, text_paths, unread
from ragassay.texts.document_names import CONVERSATION_KEYS

_LOOKED_AT = 100
"""Records that are looked at."""


@dataclass(frozen=True)
class Placement:
    """What a look at the first records shows.

    Attributes:
        format: the file's format.
        placed: field -> the column that holds it.
        unplaced: columns that hold no field; they become metadata or are left out.
        suggested: field -> column or path that may hold it, by its name.
    """

    format: str
    placed: Mapping[str, str] = field(default_factory=dict)
    unplaced: tuple[str, ...] = ()
    suggested: Mapping[str, str] = field(default_factory=dict)


def place(
    path: reading.Paths,
    *,
    format: str | None = None,  # noqa: A002  # the name that users know from --format
    **options: Unpack[MapperOptions],
) -> Placement:
    """Looks at the first records of a file. Faults in them are no error here.

    Args:
        path: the file; of several, the first is looked at.
        format: a name from `known`, where detection is not wanted.
        **options: as of `read`.

    Raises:
        InputError: the file cannot be opened, or no format fits it.
        UsageError: an unknown format or field.
    """
    file = reading.files_of(path)[0]
    reader = reading.get(format) if format else reading.detect(file, options.get("encoding"))
    mapper = look(reader, file, options)
    columns = list(dict.fromkeys(key for row in mapper.rows for key in row))
    used = {*mapper.placed.values(), *mapper.columns.used(columns), *CONVERSATION_KEYS}
    unplaced = [key for key in columns if key not in used]
    shown = tuple(path for key in unplaced for path in _paths(mapper.rows, key, used))
    return Placement(reader.name, mapper.placed, shown, suggestions(shown, mapper.placed))


def look(reader: Format, file: Path, options: MapperOptions) -> PlacingMapper:
    """The mapper that read the first records of a file. Reading all of it raises what is wrong."""
    mapper = PlacingMapper(file, **(options | MapperOptions(notes=Notes())))
    with suppress(RagassayError):
        deque(islice(reader.read(file, mapper), _LOOKED_AT), maxlen=0)
    return mapper


def _paths(rows: Sequence[Mapping[str, Any]], key: str, used: Collection[str]) -> list[str]:
    """A column that holds no field, or the paths to the texts in it that hold none."""
    values = [row.get(key) for row in rows]
    paths = text_paths(values, key)
    if not any(isinstance(value, dict) for value in values) and paths in ([], [key]):
        return [key]
    read = {path.replace("[0]", "[*]") for path in used}
    return [path for path in paths if path.replace("[0]", "[*]") not in read][:MOST_PATHS]


class PlacingMapper(Mapper):
    """Keeps the records and which columns were placed, and goes on where a record cannot be read.

    Attributes:
        rows: the records, as they were given.
        placed: column of each field.
        held: those of the chosen columns that the records have.
    """

    def __init__(self, path: Path, **options: Unpack[MapperOptions]) -> None:
        super().__init__(path, **options)
        self.rows: list[Mapping[str, Any]] = []
        self.placed: dict[str, str] = {}
        self.held: dict[str, Sequence[str]] = {}

    def sample(
        self, record: Mapping[str, Any], line: int, beside: Mapping[str, Any] | None = None
    ) -> Sample:
        """The sample of a record, or `unread`. Arguments: as of `Mapper.sample`."""
        others = beside or {}
        self.held |= self.columns.held({**record, **others})
        texts = set(all_texts(record))
        rest = {key: unread(value, texts) for key, value in others.items() if key not in record}
        nested = {key: value for key, value in rest.items() if isinstance(value, dict | list)}
        self.rows.append({**record, **nested})
        try:
            return super().sample(record, line, beside)
        except InputError as error:
            return self.unread(line, error)

    def left_out(self, beside: Mapping[str, Any], line: int) -> None:
        """Keeps what is left out, too. Arguments: as of `Mapper.left_out`."""
        self.rows.append(beside)
        super().left_out(beside, line)

    def unread(self, line: int, error: InputError) -> Sample:
        """What stands for the record of a line that cannot be read, for that reason."""
        return Sample(id=f"line {line}, which cannot be read")

    def fields(self, record: Mapping[str, Any], line: int, beside: Mapping[str, Any]) -> Fields:
        """Where the fields of a record are, which is kept. Arguments as of `Mapper.fields`."""
        fields = super().fields(record, line, beside)
        keys = {field: key for field, (key, _) in fields.values.items()}
        self.placed = {**keys, **self.placed}
        return fields


Held = Mapping[str, Sequence[str]]
"""Those of the chosen columns that a source has, by their fields."""


def source_columns(file: tuple[Format, Path], options: MapperOptions) -> Held:
    """Which of the chosen columns (of the options) a file has, of which the format is given. Faults
    in it are no error here, but an unknown field is one."""
    reader, path = file
    has_columns = options.get("columns") and not path.is_dir()
    return look(reader, path, options).held if has_columns else {}


def columns_of_data(columns: Columns, data: Sequence[Held], questions: Sequence[Held]) -> Held:
    """The chosen columns without those that only the files of questions have. Where it is not known
    what the data has of them, ``data`` is empty, and all columns are its own."""
    elsewhere = {name for source in questions for name in source}.difference(*data)
    chosen = canonical(columns)
    return {name: chosen[name] for name in chosen if not data or name not in elsewhere}
