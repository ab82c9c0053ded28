"""Which conversation a sample belongs to, by its metadata or its id."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragassay.base.sample import Sample

CONVERSATION_KEYS = ("conversation", "conversation_id")
"""Metadata that tells which samples belong together; intervals are clustered by it."""

_TURN_ID = re.compile(r"(?P<conversation>.+?)(?:<::>|::)\d+", re.S)
"""An id that holds a conversation and a turn, as MT-RAG's tasks have it: ``CONVERSATION<::>3``."""


def named_conversation(sample: Sample) -> str | None:
    """The conversation that a sample's metadata names."""
    for key in CONVERSATION_KEYS:
        value = sample.metadata.get(key)
        if isinstance(value, str | int) and value != "":
            return str(value)
    return None


def conversation_of_id(name: str) -> str | None:
    """The conversation in an id of the form ``CONVERSATION<::>TURN`` or ``CONVERSATION::TURN``."""
    match = _TURN_ID.fullmatch(name)
    return None if match is None else match["conversation"]


def conversations_of_ids(names: Sequence[str]) -> list[str] | None:
    """Each id's conversation, or an id that holds none itself; ``None`` unless there are two
    conversations or more, and one of them has two turns."""
    turns = {name: one for name in names if (one := conversation_of_id(name)) is not None}
    if not 1 < len({*turns.values()}) < len(turns):
        return None
    return [turns.get(name, f"id {name}") for name in names]
