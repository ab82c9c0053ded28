"""Retrieved and gold passages from the shapes that files hold, and contexts that are one text: cut
into chunks, or checked for several. ``field`` is their name in the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, Literal, TypeVar

from ragassay.base.errors import InputError
from ragassay.base.printable import either, plural
from ragassay.base.sample import GoldPassage, Passage
from ragassay.formats.format_words import OptionWords, kind, unexpected, wrong
from ragassay.formats.records.field_names import NAMES, pick
from ragassay.formats.records.field_values import (
    identifier,
    is_number,
    needed_identifier,
    not_a_list,
    refuse_printed,
    score,
    text,
    whole_number,
)

P = TypeVar("P", Passage, GoldPassage)
Read = Callable[[Any, str], Any]

_READ: Mapping[str, Read] = {
    "text": partial(text, any_object=True),
    "score": score,
    **dict.fromkeys(("id", "document"), identifier),
    **dict.fromkeys(("rank", "grade", "start", "end"), whole_number),
}
"""How a part of a passage is read."""

_IN_METADATA = frozenset({"id", "document", "start", "end"})
"""Parts that may also be in the metadata of a passage."""
_OF_PASSAGE = _IN_METADATA | {"text", "score"}
_OF_GOLD = _IN_METADATA | {"text", "grade"}
_TEXT, _RANK = frozenset({"text"}), frozenset({"rank"})


def passages(value: Any, field: str) -> tuple[Passage, ...] | None:
    """Passages, in the order of their ``rank`` where they have one, from a list of texts or
    objects, from one object, or from a mapping id -> text; ``None`` where the value is ``None``."""
    if value is None:
        return None
    items = value if isinstance(value, list) else _items(value, field, _entry)
    if {*map(type, items)} == {str}:
        return tuple([Passage(text(item, field, any_object=True)) for item in items])
    made = tuple([_passage(item, field) for item in items])
    try:
        ranks_of = (_parts(item, _RANK, field) if isinstance(item, dict) else {} for item in items)
        ranks = [parts.get("rank") for parts in ranks_of]
    except InputError as error:
        raise error.but(hint=wrong("no_rank", at=0, n=0).hint) from None
    if ranks.count(None) == len(ranks):
        return made
    by_rank: dict[int, Passage] = {}
    for at, (passage, rank) in enumerate(zip(made, ranks, strict=True), 1):
        if rank is None:
            raise wrong("no_rank", field=f"{field}.rank", at=at, n=len(ranks))
        if rank in by_rank:
            facts = {"at": at, "first": ranks.index(rank) + 1, "rank": rank}
            raise wrong("same_rank", field=f"{field}.rank", **facts)
        by_rank[rank] = passage
    return tuple(by_rank[rank] for rank in sorted(by_rank))


def _items(
    value: Any, field: str, of_entry: Callable[[str, Any, str], dict[str, Any]]
) -> Sequence[Any]:
    """The passages of one object, or of a mapping with an entry for each passage."""
    if not isinstance(value, dict):
        raise not_a_list(value, field)
    text_key, id_key = pick(tuple(value), (NAMES["passage.text"], NAMES["passage.id"]))
    name = value.get(id_key or "")
    if isinstance(value.get(text_key or ""), str) or isinstance(name, str | int):
        return [value]  # its keys name the parts of one passage
    return [of_entry(key, item, field) for key, item in value.items()]


def _entry(key: str, item: Any, field: str) -> dict[str, Any]:
    return {"id": key, **item} if isinstance(item, dict) else {"id": key, "text": item}


def gold(value: Any, field: str) -> tuple[GoldPassage, ...] | None:
    """Gold passages from a list of texts or objects, from one object, or from a mapping id -> grade
    or id -> text; ``None`` where the value is ``None``. A passage with two grades is an error."""
    if value is None:
        return None
    if is_number(value):
        value = [text(value, field)]
    items = value if isinstance(value, list) else _items(value, field, _gold_entry)
    listed = tuple([_gold(item, field) for item in items])
    grades: dict[str, int] = {}
    for passage in listed:
        if passage.id is None or passage.text is not None or passage.document is not None:
            continue
        if (first := grades.setdefault(passage.id, passage.grade)) != passage.grade:
            raise wrong("two_grades", field=field, id=passage.id, first=first, second=passage.grade)
    return listed


IN_QUERIES = "name that field gold_ids in the queries"


def refuse_ids(
    listed: Sequence[GoldPassage] | None, retrieved: Sequence[Passage] | None, field: str, do: str
) -> None:
    """An error where the text of gold is the id of a retrieved passage; ``do`` says they are ids.
    Where nothing of the gold was retrieved, nobody could tell an id from a text."""
    ids = {passage.id for passage in retrieved or () if passage.id not in (None, passage.text)}
    if any(item.id is None and item.text in ids for item in listed or ()):
        raise wrong("gold_of_ids", field=field, do=do)


def _gold_entry(key: str, item: Any, field: str) -> dict[str, Any]:
    if isinstance(item, dict | list):
        columns, inner = OptionWords().columns, f"{field}.{key}"
        ways = {name: columns(name, inner) for name in ("references", "gold")}
        raise wrong("no_gold", field=field, value=kind(item), key=str(key), **ways)
    if item is None:
        raise wrong("no_grade", field=field)
    return {"id": key, "text" if isinstance(item, str) else "grade": item}


def with_column(
    listed: tuple[P, ...] | None, column: str, field: str, value: Any
) -> tuple[P, ...] | None:
    """Passages with what another column holds for them (``passage_ids``, ``passage_scores``,
    ``gold_ids``), joined one by one; by id only where there are no texts."""
    of = "score" if column == "passage_scores" else "id"
    if value is None or (of == "score" and listed is None):
        return listed
    parts, others = _COLUMNS[column](value, field)
    if listed is None:
        return tuple(others)
    if len(listed) != (n := len(others)):
        called = "gold passage" if column == "gold_ids" else "passage"
        facts = {"of": of, "are": either(n, "is", "are"), "n": plural(n, of), "called": called}
        raise wrong("other_number", field=field, there=plural(len(listed), called), **facts)
    joined: list[P] = []
    for passage, other in zip(listed, others, strict=True):
        values = {part: element for part in parts if (element := getattr(other, part)) is not None}
        for part, item in values.items():
            own = getattr(passage, part)
            # The grade 1 is also that of a passage that was given none.
            if own not in (None, item) and (part, own) != ("grade", 1):
                raise wrong("other_part", field=field, part=part, own=own, value=item)
        joined.append(replace(passage, **values))
    in_order = not isinstance(value, dict) or [*map(str, value)] == [other.id for other in others]
    if column == "passage_ids" and not in_order:
        raise wrong("ids_in_another_order", field=field)
    return tuple(joined)


def _retrieved_ids(ids: Any, field: str) -> tuple[Sequence[str], list[Passage]]:
    """Passages from a list of ids, best first, or from a mapping from id to score, ranked as in
    TREC: score descending, then id descending."""
    refuse_printed(ids, field)
    if isinstance(ids, list):
        return ("id",), [Passage(id=needed_identifier(item, field)) for item in ids]
    if not isinstance(ids, dict):
        raise not_a_list(ids, field, "ids")
    scored = [(score(item, field), str(key)) for key, item in ids.items()]
    lacking = next((key for number, key in scored if number is None), None)
    if lacking is not None:
        raise wrong("id_without_score", field=field, id=lacking)
    ranked = sorted(scored, reverse=True)
    return ("id", "score"), [Passage(id=key, score=number) for number, key in ranked]


def _scores(scores: Any, field: str) -> tuple[Sequence[str], list[Passage]]:
    if not isinstance(scores, list):
        raise not_a_list(scores, field, "scores")
    return ("score",), [Passage(id="", score=score(value, field)) for value in scores]


def _gold_ids(ids: Any, field: str) -> tuple[Sequence[str], Sequence[GoldPassage]]:
    refuse_printed(ids, field)
    if isinstance(ids, dict):
        return ("id", "text", "grade"), gold(ids, field) or ()
    listed = ids if isinstance(ids, list) else [ids]
    rows = [group if isinstance(group, list) else [group] for group in listed]
    names = [needed_identifier(item, field) for row in rows for item in row]
    return ("id",), [GoldPassage(id=name) for name in names]


_COLUMNS: Mapping[str, Callable[[Any, str], tuple[Sequence[str], Sequence[Any]]]] = {
    "passage_ids": _retrieved_ids, "passage_scores": _scores, "gold_ids": _gold_ids,
}  # fmt: skip
"""Columns beside those of texts: which parts they give, and the passages that have them."""


@lru_cache(maxsize=512)
def _entries(
    keys: tuple[str, ...], wanted: frozenset[str], field: str
) -> tuple[tuple[str, str, Read, str], ...]:
    """The parts that an object has: each with its key, its reader, and its name for errors."""
    parts = [part for part in _READ if part in wanted]
    names = {part: NAMES[f"passage.{part}"] for part in parts}
    if {"text", "document"} <= wanted:  # `source`, its last name, names one in metadata only
        names["document"] = names["document"][:-1]
    found = zip(parts, pick(keys, tuple(names.values())), strict=True)
    return tuple((part, key, _READ[part], f"{field}.{key}") for part, key in found if key)


def _parts(item: Mapping[str, Any], wanted: frozenset[str], field: str) -> dict[str, Any]:
    entries = _entries(tuple(item), wanted, field)
    return {part: read(item[key], where) for part, key, read, where in entries}


def _with_metadata(
    item: Mapping[str, Any], parts: dict[str, Any], wanted: frozenset[str], field: str
) -> dict[str, Any]:
    """The parts of an object, with those that it lacks and its metadata has."""
    if not isinstance(item.get("metadata"), dict):
        return parts
    lacking = wanted.difference(part for part in parts if parts[part] is not None)
    return parts | _parts(item["metadata"], lacking, f"{field}.metadata")


def _passage(item: Any, field: str) -> Passage:
    if type(item) is str:
        return Passage(text(item, field, any_object=True))
    if not isinstance(item, dict):
        raise unexpected(item, "a passage", field)
    parts = _parts(item, _OF_PASSAGE, field)
    has_name = "text" in parts or "id" in parts
    if has_name and parts.get("text", "") is None:  # another name may hold it
        others = {key: part for key, part in item.items() if part is not None}
        parts["text"] = _parts(others, _TEXT, field).get("text")
    parts = _with_metadata(item, parts, _IN_METADATA | {"score"}, field)
    if not has_name and parts.get("id") is None and parts.get("document") is None:
        raise wrong("bare_passage", field=field, names=", ".join(map(repr, item)) or "no keys")
    return Passage(**parts, names=_names(item, parts))


def _names(item: Mapping[str, Any], parts: Mapping[str, Any]) -> tuple[str, ...]:
    """The title and the address of a passage."""
    own, metadata = item.get("names"), item.get("metadata")
    found = [name for name in own if isinstance(name, str)] if isinstance(own, list) else []
    for place in (item, metadata if isinstance(metadata, dict) else {}):
        found += [place[key] for key in NAMES["passage.names"] if isinstance(place.get(key), str)]
    others = (parts.get("id"), parts.get("document"), "")
    return tuple(dict.fromkeys(name for name in found if name not in others))


def _gold(item: Any, field: str) -> GoldPassage:
    if type(item) is str:
        return GoldPassage(text=text(item, field, any_object=True))
    if not isinstance(item, dict):
        raise unexpected(item, "a gold passage", field)
    parts = _parts(item, _OF_GOLD, field)
    if parts.get("grade", 1) is None:
        del parts["grade"]
    if "grade" not in parts:
        # Read without, its grade would be 1, also where it was judged not relevant.
        (key,) = pick(tuple(item), (NAMES["passage.like_grades"],))
        if key is not None and isinstance(item[key], int) and item[key] != 1:
            raise wrong("other_grade", field=f"{field}.{key}", key=key, value=item[key])
    return GoldPassage(**_with_metadata(item, parts, _IN_METADATA, field))


_WORDS = "sep|separator|chunk|passage|break|split"
_AFTER_SENTENCE = r"(?<=[.!?…\"'”’)\]])"

_MARK = re.compile(
    rf"<<\s*/?\s*(?:{_WORDS})\s*>>|<\|?\s*/?\s*(?:{_WORDS})\s*/?\s*\|?>|\[\[?(?:{_WORDS})\]\]?"
    r"|\|{3,}|(?:(?:\\r)?\\n){2,}"
    rf"|{_AFTER_SENTENCE}[ \t]*([#@~;^$])\1{{2,}}[ \t]*(?=\S)"
    rf"|{_AFTER_SENTENCE}[ \t]+(?:([|#@~;^$%&+/\\<>:])\2+|([-=*])\3{{3,}})[ \t]+(?=\S)"
    rf"|{_AFTER_SENTENCE}[ \t]*\r?\n[-=*_~+#]{{3,}}[ \t]*\r?\n(?=\S)",
    re.IGNORECASE,
)
"""Separators of chunks that hardly ever occur inside one: a word such as "chunk" in brackets;
escaped line ends; after a sentence a run of one sign, the commoner the sign, the longer the run."""

_BLANK_LINE = re.compile(r"\n[ \t\r]*(?:[-=*_#~+]{3,}[ \t\r]*)?\n")
"""A separator of chunks that also separates the paragraphs of one."""


@dataclass
class ContextSplitter:
    """Cuts the contexts of a source at its separator; with ``single``, each is one chunk. One that
    seems to hold several chunks, which nothing cuts, is a note (by ``tell``), or where that is
    refused an error with the options that mend it (``marks``: blank lines alone are no sign).
    ``uncut`` counts contexts without the separator, ``has_cut`` says whether any had it."""

    separator: str | None
    single: bool
    refused: bool | Literal["marks"]
    words: OptionWords
    tell: Callable[..., None]
    uncut: int = 0
    has_cut: bool = False

    def cut(self, text: str, field: str, line: int) -> list[str]:
        """The chunks of a context, including empty ones; an empty text has none. One that seems to
        hold several chunks, which nothing cuts, is an error where that is refused."""
        pieces = self.pieces(text)
        self.has_cut = self.has_cut or len(pieces) > 1
        if len(pieces) != 1 or self.single:
            return pieces
        self.uncut += 1
        mark = _between(_MARK, text)
        how = f"joined by '{mark}'"
        if mark is None and self.refused is True and not self.separator:
            # A task with a separator may retrieve one chunk, with paragraphs of its own.
            mark = None if _between(_BLANK_LINE, text) is None else r"\n\n"
            how = "joined by blank lines"
        if mark is None:
            return pieces
        how += f", not by the separator {self.separator!r}" if self.separator else ""
        if not self.refused:
            self.tell("joined_chunks", line, how=how, mark=mark)
            return pieces
        ways = (self.words.separator(mark), self.words.single_chunk(), _AS_LIST)
        raise wrong("joined_chunks", field=field, how=how, ways=", or ".join(filter(None, ways)))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """The separator as it is written, and with line ends and tabs in place of their escapes."""
        written = self.separator or ""
        read = written.replace(r"\n", "\n").replace(r"\r", "\r").replace(r"\t", "\t")
        return re.compile("|".join(map(re.escape, (written, read))))

    def pieces(self, text: str) -> list[str]:
        """The chunks of a text, without any check (gold, whose chunks no metric numbers)."""
        if not text:
            return []
        return self._pattern.split(text) if self.separator else [text]


_AS_LIST = 'give each as a list of chunks (in a cell as JSON, ["first", "second"]).'


def _between(pattern: re.Pattern[str], text: str) -> str | None:
    """The text that the pattern matches between two pieces of text, line ends as they are written
    in a separator; ``None`` where there is none."""
    match = pattern.search(text)
    pieces = [piece for piece in pattern.sub("\0", text).split("\0") if piece.strip()]
    if match is None or len(pieces) < 2:
        return None
    return match[0].strip(" \t").replace("\r", "\\r").replace("\n", "\\n")
