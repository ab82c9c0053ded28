"""Retrieved and gold passages from the shapes that files hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from ragassay.base.counts import either, plural
from ragassay.base.errors import InputError
from ragassay.base.sample import GoldPassage, Passage
from ragassay.formats.records.aliases import pick
from ragassay.formats.records.option_words import OptionWords
from ragassay.formats.records.values.field_values import (
    identifier,
    is_number,
    needed_identifier,
    not_a_list,
    passage_text,
    score,
    text,
    whole_number,
)
from ragassay.formats.sources.kinds import kind, unexpected

P = TypeVar("P", Passage, GoldPassage)
Read = Callable[[Any, str], Any]

SCORES = ("score", "relevance_score", "similarity")
"""What the score of a passage is called."""

_PARTS: Mapping[str, tuple[Read, tuple[str, ...]]] = {
    "text": (
        passage_text,
        ("text", "content", "page_content", "passage", "chunk", "contents", "body", "fact"),
    ),
    "id": (
        identifier,
        ("id", "_id", "doc_id", "docid", "document_id", "passage_id", "chunk_id", "segment_id"),
    ),
    "score": (score, SCORES),
    "rank": (whole_number, ("rank",)),
    "grade": (whole_number, ("grade", "relevance", "rel")),
    "document": (identifier, ("document", "filename", "file_name", "file", "doc_uri", "source")),
    "start": (whole_number, ("start", "start_char_offset", "start_offset", "start_index")),
    "end": (whole_number, ("end", "end_char_offset", "end_offset", "end_index")),
}
"""How a part of a passage is read, and its names; ``source`` names a document in metadata only."""

_PLACE = frozenset({"document", "start", "end"})
_NESTED = _PLACE | {"id", "score"}
_PASSAGE = _NESTED | {"text"}
_GOLD_NESTED = _PLACE | {"id"}
_GOLD = _GOLD_NESTED | {"text", "grade"}
_RANK = frozenset({"rank"})


def passages(value: Any, field: str) -> tuple[Passage, ...] | None:
    """Passages from a list of texts or objects, from one object, or from a mapping id -> text.

    Args:
        value: what the record holds.
        field: its name, for errors.

    Returns:
        The passages, in the order of their ``rank`` where they have one; ``None`` where the value
        is ``None``.

    Raises:
        InputError: the value has another shape, a passage has neither text nor id, or the ranks are
            no different whole numbers, one for each passage.
    """
    if value is None:
        return None
    made = _each(value, field, _passage, _passage_of_entry)
    items = value
    if isinstance(value, dict):
        items = [value] if _is_one(value) else value.values()
    ranks = [_rank(item, field) for item in items]
    return made if ranks.count(None) == len(ranks) else _in_order(made, ranks, f"{field}.rank")


def _in_order(
    listed: tuple[Passage, ...], ranks: Sequence[int | None], field: str
) -> tuple[Passage, ...]:
    """The passages in the order of their ranks.

    Raises:
        InputError: a passage has none, or two have the same.
    """
    by_rank: dict[int, Passage] = {}
    for at, (passage, rank) in enumerate(zip(listed, ranks, strict=True), 1):
        if rank is None:
            problem = f"passage {at} of {len(ranks)} has no rank, and others have one"
        elif rank in by_rank:
            problem = f"passages {ranks.index(rank) + 1} and {at} both have the rank {rank}"
        else:
            by_rank[rank] = passage
            continue
        raise InputError(problem, field=field, hint=_HOW_RANKED)
    return tuple(by_rank[rank] for rank in sorted(by_rank))


_HOW_RANKED = (
    "Give each passage a whole number of its own as rank, or leave out all ranks: then the order "
    "given counts."
)


def _rank(item: Any, field: str) -> int | None:
    try:
        return _parts(item, _RANK, field).get("rank") if isinstance(item, dict) else None
    except InputError as error:
        raise error.but(hint=_HOW_RANKED) from None


def _each(
    value: Any, field: str, of_item: Callable[[Any, str], P], of_entry: Callable[[Any, Any, str], P]
) -> tuple[P, ...]:
    """The passages of a list, of one object, or of a mapping with an entry for each passage."""
    if isinstance(value, list):
        return tuple([of_item(item, field) for item in value])
    if not isinstance(value, dict):
        raise not_a_list(value, field)
    if _is_one(value):
        return (of_item(value, field),)
    return tuple([of_entry(key, item, field) for key, item in value.items()])


def _passage_of_entry(key: Any, item: Any, field: str) -> Passage:
    if isinstance(item, dict):
        return _passage({"id": key, **item}, field)
    return Passage(passage_text(item, field), needed_identifier(key, field))


def with_ids(
    listed: tuple[Passage, ...] | None, ids: Any, field: str
) -> tuple[Passage, ...] | None:
    """Passages from texts and ids in two columns, joined by rank; by id only where there are no
    texts.

    A list has ids, best first. A mapping from id to score is ranked as in TREC: score descending,
    then id descending.

    Args:
        listed: the passages of the column of texts; ``None`` where there is none.
        ids: what the column of ids holds.
        field: the name of the column of ids, for errors.

    Raises:
        InputError: the ids have another shape, a score is missing, the numbers differ, the order
            cannot be known, or a passage has two ids.
    """
    if ids is None:
        return listed
    if isinstance(ids, list):
        ranked = [Passage(id=needed_identifier(item, field)) for item in ids]
    elif isinstance(ids, dict):
        scored = [(score(item, field), str(key)) for key, item in ids.items()]
        lacking = next((key for number, key in scored if number is None), None)
        if lacking is not None:
            raise InputError(f"the passage {lacking!r} has no score", field=field)
        ranked = [Passage(id=key, score=number) for number, key in sorted(scored, reverse=True)]
    else:
        raise not_a_list(ids, field, "ids")
    made = _joined(listed, ranked, ("id", "score"), "passage", field)
    if listed is not None and isinstance(ids, dict) and [*map(str, ids)] != [p.id for p in ranked]:
        raise InputError(
            "the ids stand in another order than their scores, so nobody can tell which passage "
            "each is of",
            field=field,
            hint="Put 'id' and 'score' into each passage.",
        )
    return made


def with_scores(
    listed: tuple[Passage, ...] | None, scores: Any, field: str
) -> tuple[Passage, ...] | None:
    """Passages with the scores of another column, joined by rank.

    Args:
        listed: the passages; ``None`` where there are none.
        scores: what the column of scores holds.
        field: its name, for errors.

    Raises:
        InputError: it is no list of numbers, the numbers differ, or a passage has another score.
    """
    if scores is None or listed is None:
        return listed
    if not isinstance(scores, list):
        raise not_a_list(scores, field, "scores")
    scored = [Passage(id="", score=score(one, field)) for one in scores]
    return _joined(listed, scored, ("score",), "passage", field, of="score")


def gold(value: Any, field: str) -> tuple[GoldPassage, ...] | None:
    """Gold passages from a list of texts or objects, from one object, or from a mapping id -> grade
    or id -> text.

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
    if is_number(value):
        value = [text(value, field)]
    return _without_conflicts(_each(value, field, _gold, _gold_of_entry), field)


def _gold_of_entry(key: Any, item: Any, field: str) -> GoldPassage:
    if isinstance(item, dict | list):
        raise _no_gold(str(key), item, field)
    if isinstance(item, str):
        return GoldPassage(id=str(key), text=passage_text(item, field))
    grade = whole_number(item, field)
    if grade is None:
        raise InputError("a gold passage has no grade", field=field)
    return GoldPassage(id=str(key), grade=grade)


def _no_gold(key: str, item: Any, field: str) -> InputError:
    """The error for an object that is no gold, by one of its keys and what it holds."""
    words = OptionWords()
    inner = f"{field}.{key}"
    return InputError(
        f"{kind(item)} stands in {key!r}, where a gold passage's grade or text is expected",
        field=field,
        hint="Gold is a list of passages (texts, or objects with id, text and grade), one of them, "
        "or an object from id to grade or to text. If that holds accepted answers, say so: "
        f"{words.columns('references', inner)}; if it holds gold passages: "
        f"{words.columns('gold', inner)}.",
    )


def gold_with_ids(
    listed: tuple[GoldPassage, ...] | None, ids: Any, field: str
) -> tuple[GoldPassage, ...] | None:
    """Gold passages from texts and ids in two columns, joined one by one; by id only where there
    are no texts.

    The ids are a list (nested lists are flattened), one id, or id -> grade; then the grades are
    used.

    Args:
        listed: the passages of the column of texts; ``None`` where there is none.
        ids: what the column of ids holds.
        field: the name of the column of ids, for errors.

    Raises:
        InputError: the ids have another shape, the numbers differ, or a passage has two ids, texts
            or grades.
    """
    if ids is None:
        return listed
    if isinstance(ids, dict):
        return _joined(listed, gold(ids, field) or (), ("id", "text", "grade"), _CALLED, field)
    listed_ids = ids if isinstance(ids, list) else [ids]
    rows = [one if isinstance(one, list) else [one] for one in listed_ids]
    from_ids = [GoldPassage(id=needed_identifier(item, field)) for row in rows for item in row]
    return _joined(listed, from_ids, ("id",), _CALLED, field)


_CALLED = "gold passage"


def _joined(
    listed: tuple[P, ...] | None,
    others: Sequence[P],
    parts: Sequence[str],
    called: str,
    field: str,
    of: str = "id",
) -> tuple[P, ...]:
    """The passages of one column with those parts that another column has for them, one by one.

    Raises:
        InputError: the numbers differ, or a passage has another value of its own.
    """
    if listed is None:
        return tuple(others)
    if len(listed) != len(others):
        raise InputError(
            f"there {either(len(others), 'is', 'are')} {plural(len(others), of)} for "
            f"{plural(len(listed), called)}",
            field=field,
            hint=f"Give one {of} for each {called}.",
        )
    joined: list[P] = []
    for passage, other in zip(listed, others, strict=True):
        values = {part: getattr(other, part) for part in parts}
        for part, value in values.items():
            own = getattr(passage, part)
            if part == "grade" and own == 1:  # also the grade of a passage that was given none
                continue
            if value is None:
                values[part] = own
            elif own not in (None, value):
                raise InputError(
                    f"a passage has the {part} {own!r}, and {value!r} stands for it in this list",
                    field=field,
                    hint="Keep the one that is right.",
                )
        joined.append(replace(passage, **values))
    return tuple(joined)


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


def _is_one(value: Mapping[str, Any]) -> bool:
    """Whether an object is one passage, not several by their ids: its keys name its parts."""
    text_key, id_key = pick(tuple(value), (_PARTS["text"][1], _PARTS["id"][1]))
    return isinstance(value.get(text_key or ""), str) or isinstance(
        value.get(id_key or ""), str | int
    )


@lru_cache(maxsize=512)
def _entries(
    keys: tuple[str, ...], wanted: frozenset[str], field: str
) -> tuple[tuple[str, str, Read, str], ...]:
    """The parts that an object has: each with its key, how it is read, and the name of the value
    for errors."""
    parts = {part: entry for part, entry in _PARTS.items() if part in wanted}
    names = tuple(
        names if "text" not in wanted or part != "document" else names[:-1]
        for part, (_, names) in parts.items()
    )
    return tuple(
        (part, key, read, f"{field}.{key}")
        for (part, (read, _)), key in zip(parts.items(), pick(keys, names), strict=True)
        if key is not None
    )


_FLAT = (
    "A record has one flat list of its passages, as texts or as objects with text and id: "
    '["first", "second"]. Of lists within a list, make one list, or one record of each.'
)


def _parts(item: Mapping[str, Any], wanted: frozenset[str], field: str) -> dict[str, Any]:
    entries = _entries(tuple(item), wanted, field)
    return {part: read(item[key], where) for part, key, read, where in entries}


def _passage(item: Any, field: str) -> Passage:
    if type(item) is str:
        return Passage(passage_text(item, field))
    if not isinstance(item, dict):
        raise unexpected(item, "a passage", field, _FLAT)
    parts = _parts(item, _PASSAGE, field)
    has_name = "text" in parts or "id" in parts
    if has_name and parts.get("text", "") is None:  # another name may hold it
        others = {key: part for key, part in item.items() if part is not None}
        parts["text"] = _parts(others, frozenset({"text"}), field).get("text")
    parts |= _in_metadata(item, parts, _NESTED, field)
    if not has_name and parts.get("id") is None and parts.get("document") is None:
        raise InputError(
            f"a passage has neither text nor id; it has {', '.join(map(repr, item)) or 'no keys'}",
            field=field,
            hint="Call them 'text' and 'id'.",
        )
    return Passage(**parts, names=_names(item, parts))


def _in_metadata(
    item: Mapping[str, Any], parts: Mapping[str, Any], wanted: frozenset[str], field: str
) -> dict[str, Any]:
    """The parts that an object lacks and that its metadata has."""
    if not isinstance(item.get("metadata"), dict):
        return {}
    lacking = wanted.difference(part for part in parts if parts[part] is not None)
    return _parts(item["metadata"], lacking, f"{field}.metadata")


_NAMES = ("title", "url", "uri", "link", "address", "source_url", "web_url", "file_path", "path")


def _names(item: Mapping[str, Any], parts: Mapping[str, Any]) -> tuple[str, ...]:
    """The title and the address of a passage."""
    own = item.get("names")
    found = [one for one in own if isinstance(one, str)] if isinstance(own, list) else []
    metadata = item.get("metadata")
    for place in (item, metadata if isinstance(metadata, dict) else {}):
        found += [place[key] for key in _NAMES if isinstance(place.get(key), str)]
    others = (parts.get("id"), parts.get("document"), "")
    return tuple(dict.fromkeys(name for name in found if name not in others))


def _gold(item: Any, field: str) -> GoldPassage:
    if type(item) is str:
        return GoldPassage(text=passage_text(item, field))
    if not isinstance(item, dict):
        hint = "Gold is one flat list: put ids into gold_ids, and texts in quotes."
        raise unexpected(item, "a gold passage", field, hint)
    parts = _parts(item, _GOLD, field)
    if parts.get("grade", 1) is None:
        del parts["grade"]
    if "grade" not in parts:
        _refuse_other_grade(item, field)
    parts |= _in_metadata(item, parts, _GOLD_NESTED, field)
    return GoldPassage(**parts)


_LIKE_GRADES = ("label", "score", "relevant", "is_relevant", "judgement", "judgment")


def _refuse_other_grade(item: Mapping[str, Any], field: str) -> None:
    """Refuses a gold passage without a grade that may have one by another name: without it, the
    grade is 1, also of what was judged not relevant. Scores of systems are seldom whole."""
    (key,) = pick(tuple(item), (_LIKE_GRADES,))
    if key is not None and isinstance(item[key], int) and item[key] != 1:
        raise InputError(
            f"a gold passage has the {key} {item[key]}, and no grade",
            field=f"{field}.{key}",
            hint=f"If it is its grade (0: not relevant), call it 'grade'; else remove {key!r}.",
        )
