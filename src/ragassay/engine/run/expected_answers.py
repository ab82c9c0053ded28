"""References and other expectations of the samples, from another file: questions in any format,
Open RAG Eval's table of queries (``input_queries``) among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ragassay import formats
from ragassay.base.errors import InputError, called, warn_user
from ragassay.base.note import Note
from ragassay.base.sample import Sample
from ragassay.formats.sources import opening

_KEY_FIELDS = frozenset({"id", "query", "history"})
_EXPECTED_FIELDS = frozenset(
    {"references", "reference_groups", "negative_references", "gold", "gold_ids", "answerability"}
)


def with_references(
    samples: Iterable[Sample],
    path: str | Path,
    columns: Mapping[str, Sequence[str]] | None = None,
    encoding: str | None = None,
) -> Iterator[Sample]:
    """The samples with the references that a file holds for them.

    Records of the file (any format) are joined to samples by id, else by their query, if only one
    record has it; they also give gold, labels and wrong answers. A sample without a record stays
    unchanged; warnings say how many have one, and how many have none.

    Args:
        samples: any.
        path: the file.
        columns: field -> columns of the file, for columns with other names.
        encoding: of the samples; the file has it, too, unless it is UTF-8.
    """
    path = Path(path)
    questions = formats.Questions(path, _questions(path, columns, _encoding(path, encoding)))
    for sample in samples:
        yield questions.joined(sample)
    counts = ((questions.n_by_id, "by id"), (questions.n_by_query, "by query"))
    how = ", ".join(f"{n:,} {way}" for n, way in counts if n)
    for kind, n in (
        ("joined_references", questions.n_by_id + questions.n_by_query),
        ("references_lacking", questions.n_unknown),
        ("references_reworded", questions.n_reworded),
    ):
        if n:
            warn_user(str(Note(kind, {"file": called(path), "n": n, "how": how})))


def _encoding(path: Path, encoding: str | None) -> str | None:
    """The encoding to read a file of references in, where the samples' is ``encoding``.

    The two files may come from two programs: text beyond ASCII that is UTF-8 is read as that, since
    text in another encoding is hardly ever UTF-8 by chance.
    """
    if encoding is None:
        return None
    try:
        text = opening.read_all(path).decode()
    except (InputError, UnicodeDecodeError):
        return encoding
    return encoding if text.isascii() else None


def columns_held(
    path: Path, columns: formats.Columns, encoding: str | None = None
) -> formats.SourceColumns:
    """The chosen columns that a file of references has, of those that are read from it."""
    encoding = _encoding(path, encoding)
    options: formats.MapperOptions = {"columns": columns, "encoding": encoding}
    looked = formats.source_columns((formats.detect(path, encoding), path), options)
    wanted = _KEY_FIELDS | _EXPECTED_FIELDS
    held = {one: names for one, names in looked.held.items() if one in wanted}
    return looked._replace(held=held)


def _questions(
    path: Path, columns: Mapping[str, Sequence[str]] | None, encoding: str | None
) -> list[Sample]:
    """The records of a file of questions; an error where they expect nothing, or where nothing says
    which sample they belong to."""
    chosen: formats.MapperOptions = {
        "columns": columns or None,
        "encoding": encoding,
        "notes": formats.Notes(),
    }
    expected: list[Sample] = []
    try:
        expected = formats.load(path, **chosen)
    except InputError as error:
        if not error.problem.startswith("no column is known"):
            raise
    if not any(one.references or one.gold or one.answerability is not None for one in expected):
        placement = formats.place(path, **chosen)
        placed, suggested = placement.placed, placement.suggested
        if not placed.keys().isdisjoint(_EXPECTED_FIELDS):
            raise InputError(
                "no record in it has references",
                path=path,
                hint="Name what holds them as 'references', for example "
                '{"id": "q1", "query": "Who?", "references": ["Ann"]}.',
            )
        # A column that looks like an answer is the expected answer here: no system gave it.
        answer = suggested.get("references") or placed.get("answer") or suggested.get("answer")
        columns_of = {"references": answer or _YOURS}
        if placed.keys().isdisjoint(_KEY_FIELDS):
            keys = {one: name for one, name in suggested.items() if one in _KEY_FIELDS}
            columns_of = (keys or {"query": _YOURS}) | columns_of
        names = "'expected_answer', 'references' or another known name of what is expected"
        raise _without(names, columns_of, path, placement)
    if all(one.query is None for one in expected):
        placement = formats.place(path, **chosen)
        if placement.placed and "id" not in placement.placed:
            names = "'id', 'query' or another known name of what says which sample a record"
            query = placement.suggested.get("query", _YOURS)
            raise _without(f"{names} belongs to", {"query": query}, path, placement)
    return expected


_YOURS = "<your column>"


def _without(
    names: str, columns: Mapping[str, str], path: Path, placement: formats.Placement
) -> InputError:
    """The error for a file without a column of these names, with how to name the columns."""
    found = ", ".join(dict.fromkeys((*placement.placed.values(), *placement.unplaced)))
    words = formats.OptionWords()
    separator = " " if formats.BY_FLAGS.get() else "; "
    options = separator.join(words.columns(one, column) for one, column in columns.items())
    return InputError(
        f"there is no column {names}. Found: {found}",
        path=path,
        hint=f"Name the columns of this file, for example {options}.",
    )
