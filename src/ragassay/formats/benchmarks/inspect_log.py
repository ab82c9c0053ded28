"""Logs of Inspect AI in JSON: one sample a sample and epoch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError
from ragassay.base.sample import Sample
from ragassay.formats.format import NO, SURE, Format, Head
from ragassay.formats.records.sample_records import Mapper
from ragassay.formats.records.values import retrieved
from ragassay.formats.sources import json_files, opening

_HOW = "Convert it: inspect log convert LOG --to json --output-dir DIR."


def read(path: Path, mapper: Mapper) -> Iterator[Sample]:
    """The samples of a log. It is read as a whole.

    Args:
        path: the file.
        mapper: makes the samples.

    Raises:
        InputError: the file or a sample cannot be read, it is one of Inspect's archives, or it has
            no samples.
    """
    with opening.opened(path) as stream:
        if stream.read(4) in opening.BINARY:
            raise InputError("this is an archive of Inspect AI", path=path, hint=_HOW)
    log = json_files.parse_json(opening.read_all(path, mapper.encoding), path)
    listed = log.get("samples") if isinstance(log, dict) else None
    if not isinstance(listed, list) or not listed:
        raise InputError("the log has no samples", path=path, field="samples", hint=_HOW)
    about = log.get("eval") or {}
    for number, one in enumerate(listed, 1):
        if not isinstance(one, dict):
            raise InputError("the sample is no object", path=path, line=number, field="samples")
        with opening.shaped("Inspect AI", path, number):
            record = _record(one, about, mapper, number)
        yield mapper.sample(record, number)


def _record(
    one: Mapping[str, Any], about: Mapping[str, Any], mapper: Mapper, line: int
) -> dict[str, Any]:
    output = one.get("output") or {}
    metadata = one.get("metadata") or {}
    choices = output.get("choices") or []
    answer = output.get("completion")
    if answer is None and choices:
        answer = (choices[0].get("message") or {}).get("content")
    error = one.get("error")
    scores = one.get("scores") or {}
    list_name = retrieved.name_of_list(metadata) or _name_of_text(metadata)
    limit = one.get("limit")
    if not error and not answer and isinstance(limit, dict):
        most = str(limit.get("limit")).removesuffix(".0")
        error = f"stopped at its limit of {limit.get('type')}: {most}"
    record = {
        "id": one.get("id"),
        "repeat": (one.get("epoch") or 1) - 1,
        "system": about.get("model"),
        "references": one.get("target") or None,
        "answer": None if error else answer,
        "failure": error.get("message") if isinstance(error, dict) else error,
        "passages": None if list_name is None else retrieved.documents(metadata[list_name]),
        "metadata": {
            **{key: value for key, value in metadata.items() if key != list_name},
            **{f"score.{name}": score.get("value") for name, score in scores.items()},
        },
    }
    asked, turns = one.get("input"), one.get("messages")
    used_tools = isinstance(turns, list) and any(turn.get("role") == "tool" for turn in turns)
    if mapper.from_tools and used_tools:
        asked = turns  # only they hold the results of tools
        del record["answer"]
    elif used_tools:
        mapper.tell_tools(line)
    record["query"] = asked
    return {key: value for key, value in record.items() if value is not None}


_WORDS = 3
"""Words from which a text is rather a passage than a label."""


def _name_of_text(metadata: Mapping[str, Any]) -> str | None:
    """Under which name metadata hold what was retrieved as one text."""
    for name in retrieved.LISTS:
        text = metadata.get(name)
        if isinstance(text, str) and len(text.split()) >= _WORDS:
            return name
    return None


def _sniff(head: Head) -> int:
    is_log = head.has("eval", "status", "samples") and isinstance(head.record.get("eval"), dict)
    return SURE if is_log or (head.container == "archive" and head.suffix == ".eval") else NO


FORMAT = Format(
    name="inspect_log",
    title="Inspect AI log (JSON)",
    suffixes=(".json", ".eval"),
    sniff=_sniff,
    read=read,
)
