"""References and other expectations of the samples, from another file: questions in any format, or
Open RAG Eval's table of queries (``input_queries``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ragassay import formats
from ragassay.base.counts import either, plural
from ragassay.base.errors import InputError, called, warn_user
from ragassay.base.sample import Sample
from ragassay.formats import opening
from ragassay.formats.sources import delimited

_ID, _QUERY, _EXPECTED = "query_id", "query", "expected_answer"


def with_references(
    samples: Iterable[Sample],
    path: str | Path,
    columns: Mapping[str, Sequence[str]] | None = None,
    encoding: str | None = None,
) -> Iterator[Sample]:
    """The samples with the references that a file holds for them.

    Records of the file (any format) are joined to samples by id, else by their query, if only one
    record has it; they also give gold, labels and wrong answers. Rows of Open RAG Eval's table
    (``expected_answer``, and ``query_id`` or ``query``) are joined by ``query_id``, without that
    column by ``query``. A sample without a record stays unchanged; warnings say how many have one,
    and how many have none.

    Args:
        samples: any.
        path: the file.
        columns: field -> columns of the file, for columns with other names.
        encoding: of the samples; the file has it, too, unless it is UTF-8.

    Raises:
        InputError: the file cannot be read, holds no references, gold or labels, or has two answers
            for one query.
    """
    encoding = _encoding(Path(path), encoding)
    if not columns and _is_table(Path(path), encoding):
        yield from _of_table(samples, path, encoding)
        return
    questions = formats.Questions(Path(path), _questions(Path(path), columns, encoding))
    for sample in samples:
        yield questions.joined(sample)
    _tell_joined(path, questions.n_by_id, questions.n_by_query)
    _tell_lacking(path, questions.n_unknown, "no question in it, by id or by query")
    _tell_lacking(path, questions.n_reworded, "another query than the question of their id in it")


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


def _is_table(path: Path, encoding: str | None) -> bool:
    """Whether a file is Open RAG Eval's table of queries, by all of its own names."""
    if not {".csv", ".tsv"} & {suffix.lower() for suffix in path.suffixes}:
        return False
    columns = delimited.header(path, encoding)
    return _EXPECTED in columns and (_ID in columns or _QUERY in columns)


_KEY_FIELDS = frozenset({"id", "query", "history"})
_EXPECTED_FIELDS = frozenset(
    {"references", "reference_groups", "negative_references", "gold", "gold_ids", "answerability"}
)


def columns_held(
    path: Path, columns: formats.Columns, encoding: str | None = None
) -> formats.SourceColumns:
    """The chosen columns that a file of references has, of those that are read from it.

    Args:
        path: the file.
        columns: the user's choice.
        encoding: as of `with_references`.

    Raises:
        InputError: the file cannot be opened, or no format fits it.
        UsageError: an unknown field.
    """
    encoding = _encoding(path, encoding)
    options: formats.MapperOptions = {"columns": columns, "encoding": encoding}
    looked = formats.source_columns((formats.detect(path, encoding), path), options)
    wanted = _KEY_FIELDS | _EXPECTED_FIELDS
    held = {one: names for one, names in looked.held.items() if one in wanted}
    return replace(looked, held=held)


def _questions(
    path: Path, columns: Mapping[str, Sequence[str]] | None, encoding: str | None
) -> list[Sample]:
    """The records of a file of questions.

    Raises:
        InputError: they cannot be read, expect nothing, or have neither ids nor queries.
    """
    chosen: formats.MapperOptions = {
        "columns": columns or None,
        "encoding": encoding,
        "notes": formats.Notes(),
    }
    try:
        expected = formats.load(path, **chosen)
    except InputError as error:
        if error.problem.startswith("no column is known"):
            raise _nothing_expected(path, chosen) from None
        raise
    if not any(one.references or one.gold or one.answerability is not None for one in expected):
        raise _nothing_expected(path, chosen)
    if all(one.query is None for one in expected):
        placement = formats.place(path, **chosen)
        if placement.placed and "id" not in placement.placed:
            raise InputError(
                "there is no column 'id', 'query' or another known name of what says which sample "
                f"a record belongs to. Found: {_columns_in(placement)}",
                path=path,
                hint=_naming_hint({"query": placement.suggested.get("query", "<your column>")}),
            )
    return expected


def _nothing_expected(path: Path, chosen: formats.MapperOptions) -> InputError:
    """The error for a file without a known column of references, gold or labels."""
    placement = formats.place(path, **chosen)
    if not placement.placed.keys().isdisjoint(_EXPECTED_FIELDS):
        return InputError(
            "no record in it has references",
            path=path,
            hint="Name what holds them as 'references', for example "
            '{"id": "q1", "query": "Who?", "references": ["Ann"]}.',
        )
    suggested = placement.suggested
    # A column that looks like an answer is the expected answer here: no system gave it.
    answer = placement.placed.get("answer") or suggested.get("answer")
    columns = {"references": suggested.get("references") or answer or "<your column>"}
    if placement.placed.keys().isdisjoint(_KEY_FIELDS):
        keys = {one: name for one, name in suggested.items() if one in _KEY_FIELDS}
        columns = (keys or {"query": "<your column>"}) | columns
    return InputError(
        f"there is no column {_EXPECTED!r}, 'references' or another known name of what is "
        f"expected, so no record in it has references. Found: {_columns_in(placement)}",
        path=path,
        hint=_naming_hint(columns),
    )


def _columns_in(placement: formats.Placement) -> str:
    return ", ".join(dict.fromkeys((*placement.placed.values(), *placement.unplaced)))


def _naming_hint(columns: Mapping[str, str]) -> str:
    words = formats.OptionWords()
    separator = " " if formats.BY_FLAGS.get() else "; "
    options = separator.join(words.columns(one, column) for one, column in columns.items())
    return f"Name the columns of this file, for example {options}."


def _of_table(
    samples: Iterable[Sample], path: str | Path, encoding: str | None
) -> Iterator[Sample]:
    by_id, answers = _read(Path(path), encoding)
    joined = lacking = 0
    for sample in samples:
        expected = answers.get((sample.id if by_id else sample.query) or "")
        if expected is None:
            lacking += 1
            yield sample
        else:
            joined += 1
            yield replace(sample, references=(expected,), reference_groups=())
    _tell_joined(path, *((joined, 0) if by_id else (0, joined)))
    _tell_lacking(path, lacking, "no expected answer in it")


def _tell_joined(path: str | Path, n_by_id: int, n_by_query: int) -> None:
    if n := n_by_id + n_by_query:
        ways = ((n_by_id, "by id"), (n_by_query, "by query"))
        how = ", ".join(f"{count:,} {way}" for count, way in ways if count)
        warn_user(f"{called(path)}: {plural(n, 'sample')} joined with what it expects: {how}.")


def _tell_lacking(path: str | Path, n: int, what: str) -> None:
    if n:
        warn_user(f"{called(path)}: {n:,} of the samples {either(n, 'has', 'have')} {what}.")


def _read(path: Path, encoding: str | None) -> tuple[bool, dict[str, str]]:
    """Whether rows belong to samples by id, and the expected answers."""
    answers: dict[str, str] = {}
    key = _ID
    for line, row in delimited.rows(path, encoding):
        key = _ID if _ID in row else _QUERY
        delimited.demand(row, (_EXPECTED, key), path, f"{_EXPECTED}, and {_ID} or {_QUERY}")
        name, expected = row[key], row[_EXPECTED]
        if name is None or expected is None:
            continue
        if answers.setdefault(name, expected) != expected:
            raise InputError(
                f"the query {name!r} has another expected answer above",
                path=path,
                line=line,
                field=_EXPECTED,
            )
    return key == _ID, answers
