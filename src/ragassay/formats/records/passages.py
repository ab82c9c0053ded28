"""Retrieved and gold passages from the shapes that files hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragassay.counts import either, plural
from ragassay.errors import InputError
from ragassay.formats.records.aliases import pick
from ragassay.formats.records.field_values import (
    identifier,
    is_number,
    needed_identifier,
    not_a_list,
    score,
    text,
    whole_number,
)
from ragassay.formats.records.kinds import kind
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


def passages(value: Any, field: str) -> tuple[Passage, ...] | None:
    """Passages from a list of texts or objects, or a mapping id -> text.

    Args:
        value: what the record holds.
        field: its name, for errors.

    Returns:
        The passages; ``None`` where the value is ``None``.

    Raises:
        InputError: the value has another shape, or a passage has neither text nor id.
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
    raise not_a_list(value, field)


def ranking(value: Any, field: str) -> tuple[Passage, ...] | None:
    """Passages known by id only.

    A list has ids, best first. A mapping from id to score is ranked as in TREC: score descending,
    then id descending.

    Args:
        value: what the record holds.
        field: its name, for errors.

    Returns:
        The passages; ``None`` where the value is ``None``.

    Raises:
        InputError: the value has another shape, or a score is missing.
    """
    if value is None:
        return None
    if isinstance(value, dict):
        scored = []
        for key, item in value.items():
            number = score(item, field)
            if number is None:
                raise InputError(f"the passage {key!r} has no score", field=field)
            scored.append((number, str(key)))
        return tuple(Passage(id=key, score=number) for number, key in sorted(scored, reverse=True))
    if isinstance(value, list):
        return tuple(Passage(id=needed_identifier(item, field)) for item in value)
    raise not_a_list(value, field, "ids")


def with_ids(
    listed: tuple[Passage, ...] | None, ids: Any, field: str
) -> tuple[Passage, ...] | None:
    """Passages from texts and ids (see `ranking`) in two columns, joined by rank.

    Args:
        listed: the passages of the column of texts; ``None`` where there is none.
        ids: what the column of ids holds.
        field: the name of the column of ids, for errors.

    Raises:
        InputError: the numbers differ, the order cannot be known, or a passage has two ids.
    """
    ranked = ranking(ids, field)
    if ranked is None or listed is None:
        return listed if ranked is None else ranked
    if len(listed) != len(ranked):
        raise InputError(
            f"there {either(len(ranked), 'is', 'are')} {plural(len(ranked), 'id')} for "
            f"{plural(len(listed), 'passage')}",
            field=field,
            hint="Give one id for each passage.",
        )
    if isinstance(ids, dict) and [str(key) for key in ids] != [one.id for one in ranked]:
        raise InputError(
            "the ids stand in another order than their scores, so nobody can tell which passage "
            "each is of",
            field=field,
            hint="Put 'id' and 'score' into each passage.",
        )
    return tuple(
        Passage(
            p.text, _either(p.id, other.id, "id", field),
            _either(p.score, other.score, "score", field), p.document, p.start, p.end,
        )
        for p, other in zip(listed, ranked, strict=True)
    )  # fmt: skip


def gold(value: Any, field: str) -> tuple[GoldPassage, ...] | None:
    """Gold passages from a list of texts or objects, or a mapping id -> grade or id -> text.

    Args:
        value: what the record holds.
        field: its name, for errors.

    Returns:
        The gold passages; ``None`` where the value is ``None``.

    Raises:
        InputError: the value has another shape, or a passage has two grades.
    """
    if value is None:
        return None
    if isinstance(value, list):
        return _without_conflicts(tuple(_gold(item, field) for item in value), field)
    if isinstance(value, dict):
        return tuple(
            GoldPassage(id=str(key), text=item)
            if isinstance(item, str)
            else GoldPassage(id=str(key), grade=_grade(item, field))
            for key, item in value.items()
        )
    if is_number(value):
        return (GoldPassage(text=text(value, field)),)
    raise not_a_list(value, field)


def gold_ids(value: Any, field: str) -> tuple[GoldPassage, ...] | None:
    """Gold passages known by id: a list (nested lists are flattened), one id, or id -> grade.

    Args:
        value: what the record holds.
        field: its name, for errors.

    Returns:
        The gold passages; ``None`` where the value is ``None``.

    Raises:
        InputError: the value has another shape, or an id is missing.
    """
    if value is None:
        return None
    if isinstance(value, dict):
        return gold(value, field)
    if not isinstance(value, list):
        value = [value]
    flat: Iterable[Any] = (
        one for item in value for one in (item if isinstance(item, list) else (item,))
    )
    return tuple(GoldPassage(id=needed_identifier(item, field)) for item in flat)


def gold_with_ids(
    listed: tuple[GoldPassage, ...] | None, ids: Any, field: str
) -> tuple[GoldPassage, ...] | None:
    """Gold passages from texts and ids (see `gold_ids`) in two columns, joined one by one. Where
    the ids are a mapping, its grades are used.

    Args:
        listed: the passages of the column of texts; ``None`` where there is none.
        ids: what the column of ids holds.
        field: the name of the column of ids, for errors.

    Raises:
        InputError: the numbers differ, or a passage has two ids, texts or grades.
    """
    named = gold_ids(ids, field)
    if named is None or listed is None:
        return listed if named is None else named
    if len(listed) != len(named):
        raise InputError(
            f"there are {len(named)} ids for {len(listed)} gold passages",
            field=field,
            hint="Give one id for each gold passage.",
        )
    graded = isinstance(ids, dict)
    return tuple(
        GoldPassage(
            _either(g.id, other.id, "id", field), _either(g.text, other.text, "text", field),
            g.document, g.start, g.end,
            # 1 is also the grade of a passage that was given none.
            _either(None if g.grade == 1 else g.grade, other.grade, "grade", field)
            if graded else g.grade,
        )
        for g, other in zip(listed, named, strict=True)
    )  # fmt: skip


def _either(own: Any, named: Any, what: str, field: str) -> Any:
    """A value that a passage or the list beside it may have.

    Raises:
        InputError: they differ.
    """
    if own is not None and named is not None and own != named:
        raise InputError(
            f"a passage has the {what} {own!r}, and {named!r} stands for it in this list",
            field=field,
            hint="Keep the one that is right.",
        )
    return own if named is None else named


def _without_conflicts(listed: tuple[GoldPassage, ...], field: str) -> tuple[GoldPassage, ...]:
    """The gold passages, after a check that none of them has two grades."""
    grades: dict[str, int] = {}
    for one in listed:
        if one.id is None or one.text is not None or one.document is not None:
            continue
        if grades.setdefault(one.id, one.grade) != one.grade:
            raise InputError(
                f"the gold passage {one.id!r} has the grades {grades[one.id]} and {one.grade}",
                field=field,
                hint="Keep the one that is right.",
            )
    return listed


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
        raise InputError(
            f"{kind(item)} stands where a gold passage is expected",
            field=field,
            hint="Put ids into gold_ids, and texts in quotes.",
        )
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
