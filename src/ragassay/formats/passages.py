"""Retrieved and gold passages from the shapes that files hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragassay.errors import InputError
from ragassay.formats.aliases import pick
from ragassay.formats.values import (
    identifier,
    kind,
    needed_identifier,
    not_a_list,
    score,
    text,
    whole_number,
)
from ragassay.samples import GoldPassage, Passage

_TEXT = (
    "text", "content", "page_content", "passage", "chunk", "contents", "body", "fact",
)  # fmt: skip
_ID = ("id", "_id", "doc_id", "docid", "document_id", "passage_id", "chunk_id", "segment_id")
_SCORE = ("score", "relevance_score", "similarity")
_DOCUMENT = ("document", "filename", "file_name", "file")
_START = ("start", "start_char_offset", "start_offset", "start_index")
_END = ("end", "end_char_offset", "end_offset", "end_index")
_GRADE = ("grade", "relevance", "rel")
_PASSAGE_PARTS = (_TEXT, _ID, _SCORE, _DOCUMENT, _START, _END)
_GOLD_PARTS = (_TEXT, _ID, _GRADE, _DOCUMENT, _START, _END)
_NESTED_PARTS = ((), _ID, _SCORE, (*_DOCUMENT, "source"), _START, _END)


def passages(value: Any, field: str, separator: str | None) -> tuple[Passage, ...] | None:
    """Passages from a list of texts or objects, a mapping id -> text, or one text.

    Args:
        value: what the record holds.
        field: its name, for errors.
        separator: cuts one text into several passages.
    """
    if value is None:
        return None
    if type(value) is list:
        return tuple([_passage(item, field) for item in value])
    if isinstance(value, dict):
        return tuple(
            _passage({"id": key, **item} if isinstance(item, dict) else (key, item), field)
            for key, item in value.items()
        )
    if isinstance(value, str):
        return tuple(Passage(piece) for piece in _pieces(value, separator))
    raise not_a_list(value, field)


def ranking(value: Any, field: str) -> tuple[Passage, ...] | None:
    """Passages known by id only: a list of ids, best first, or a mapping id -> score, which is
    ranked as TREC does (score descending, then id descending)."""
    if value is None:
        return None
    if isinstance(value, dict):
        scored = [(score(item, field), str(key)) for key, item in value.items()]
        ranked = sorted(scored, key=lambda pair: (pair[0] or 0.0, pair[1]), reverse=True)
        return tuple(Passage(id=key, score=number) for number, key in ranked)
    if isinstance(value, list):
        return tuple(Passage(id=needed_identifier(item, field)) for item in value)
    raise not_a_list(value, field, "ids")


def with_ids(
    found: tuple[Passage, ...] | None, ranked: tuple[Passage, ...] | None, field: str
) -> tuple[Passage, ...] | None:
    """Texts and ids that came in two columns, joined rank by rank."""
    if not ranked:
        return found if found is not None else ranked
    if found is None:
        return ranked
    if len(found) != len(ranked):
        raise InputError(
            f"there are {len(ranked)} ids for {len(found)} passages",
            field=field,
            hint="Give one id for each passage.",
        )
    return tuple(
        Passage(
            p.text, other.id, p.score if other.score is None else other.score, p.document, p.start,
            p.end,
        )
        for p, other in zip(found, ranked, strict=True)
    )  # fmt: skip


def gold(value: Any, field: str, separator: str | None) -> tuple[GoldPassage, ...] | None:
    """Gold passages from a list of texts or objects, a mapping id -> grade or id -> text, or one
    text."""
    if value is None:
        return None
    if isinstance(value, list):
        return tuple(_gold(item, field) for item in value)
    if isinstance(value, dict):
        return tuple(
            GoldPassage(id=str(key), text=item)
            if isinstance(item, str)
            else GoldPassage(id=str(key), grade=_grade(item, field))
            for key, item in value.items()
        )
    if isinstance(value, str):
        return tuple(GoldPassage(text=piece) for piece in _pieces(value, separator))
    raise not_a_list(value, field)


def gold_ids(value: Any, field: str) -> tuple[GoldPassage, ...] | None:
    """Gold passages known by id: a list (nested lists are flattened), one id, or id -> grade."""
    if value is None:
        return None
    if isinstance(value, dict):
        return gold(value, field, None)
    if not isinstance(value, list):
        value = [value]
    flat: Iterable[Any] = (
        one for item in value for one in (item if isinstance(item, list) else (item,))
    )
    return tuple(GoldPassage(id=needed_identifier(item, field)) for item in flat)


def gold_with_ids(
    found: tuple[GoldPassage, ...] | None, named: tuple[GoldPassage, ...] | None, field: str
) -> tuple[GoldPassage, ...] | None:
    """Gold texts and gold ids that came in two columns, joined one by one."""
    if not named:
        return found if found is not None else named
    if found is None:
        return named
    if len(found) != len(named):
        raise InputError(
            f"there are {len(named)} ids for {len(found)} gold passages",
            field=field,
            hint="Give one id for each gold passage.",
        )
    return tuple(
        GoldPassage(other.id, g.text, g.document, g.start, g.end, g.grade)
        for g, other in zip(found, named, strict=True)
    )


def _passage(item: Any, field: str) -> Passage:
    if type(item) is str:
        return Passage(item)
    if isinstance(item, tuple):
        key, words = item
        return Passage(text(words, field), needed_identifier(key, field))
    if not isinstance(item, dict):
        raise InputError(f"{kind(item)} stands where a passage is expected", field=field)
    keys = tuple(item)
    text_key, id_key, score_key, document_key, start_key, end_key = pick(keys, _PASSAGE_PARTS)
    words = item[text_key] if text_key else None
    if type(words) is not str:
        words = text(words, f"{field}.{text_key}")
    name = item[id_key] if id_key else None
    if type(name) is not str:
        name = identifier(name, f"{field}.{id_key}")
    number = score(item[score_key], f"{field}.{score_key}") if score_key else None
    if document_key is start_key is end_key is None and "metadata" not in item:
        made = Passage(words, name, number)
    else:
        document = (
            identifier(item[document_key], f"{field}.{document_key}") if document_key else None
        )
        start = whole_number(item[start_key], f"{field}.{start_key}") if start_key else None
        end = whole_number(item[end_key], f"{field}.{end_key}") if end_key else None
        inner = item.get("metadata")
        if isinstance(inner, dict):
            _, i, s, d, b, e = pick(tuple(inner), _NESTED_PARTS)
            name = identifier(inner[i], field) if name is None and i else name
            number = score(inner[s], field) if number is None and s else number
            document = identifier(inner[d], field) if document is None and d else document
            start = whole_number(inner[b], field) if start is None and b else start
            end = whole_number(inner[e], field) if end is None and e else end
        made = Passage(words, name, number, document, start, end)
    if text_key is id_key is None and made.id is None and made.document is None:
        raise InputError(
            f"a passage has neither text nor id; it has {', '.join(map(repr, keys)) or 'no keys'}",
            field=field,
            hint="Call them 'text' and 'id'.",
        )
    return made


def _gold(item: Any, field: str) -> GoldPassage:
    if type(item) is str:
        return GoldPassage(text=item)
    if not isinstance(item, dict):
        raise InputError(f"{kind(item)} stands where a gold passage is expected", field=field)
    text_key, id_key, grade_key, document_key, start_key, end_key = pick(tuple(item), _GOLD_PARTS)
    return GoldPassage(
        identifier(item[id_key], f"{field}.{id_key}") if id_key else None,
        text(item[text_key], f"{field}.{text_key}") if text_key else None,
        identifier(item[document_key], f"{field}.{document_key}") if document_key else None,
        whole_number(item[start_key], f"{field}.{start_key}") if start_key else None,
        whole_number(item[end_key], f"{field}.{end_key}") if end_key else None,
        1 if grade_key is None else _grade(item[grade_key], f"{field}.{grade_key}", 1),
    )


def _grade(value: Any, field: str, absent: int | None = None) -> int:
    grade = whole_number(value, field)
    if grade is not None:
        return grade
    if absent is None:
        raise InputError("a gold passage has no grade", field=field)
    return absent


def _pieces(value: str, separator: str | None) -> list[str]:
    if not value:
        return []
    return value.split(separator) if separator else [value]
