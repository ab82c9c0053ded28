"""Which samples belong together: the clusters of intervals and tests."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragassay.base.sample import Sample

CONVERSATION_KEYS = ("conversation", "conversation_id")
"""Metadata that tells which samples belong together; intervals are clustered by it."""

_TURN_ID = re.compile(r"(?P<conversation>.+?)(?:<::>|::)\d+", re.S)
"""An id that holds a conversation and a turn, as MT-RAG's tasks have it: ``CONVERSATION<::>3``."""

IN_CLUSTER = "in "
"""Begins the cluster of a sample that has one by its data, not only by its id."""

NO_CLUSTERS = "none"
"""Value of ``cluster_by`` by which only samples of one query belong together."""


def cluster_column(asked: str | None) -> str | None:
    """The column that a run is clustered by; ``None`` where none was asked for.

    Args:
        asked: ``cluster_by`` of the run's configuration.
    """
    return None if asked in (None, "", NO_CLUSTERS) else str(asked)


def cluster_of(sample: Sample, column: str | None) -> str:
    """The cluster that a sample belongs to; its own id where it has none.

    Args:
        sample: of the run.
        column: that the run is clustered by, if it is.
    """
    if column in CONVERSATION_KEYS:
        name = conversation(sample)
    else:
        value = sample.metadata.get(column or "")
        name = None if value is None else str(value)
    return f"id {sample.id}" if name is None else f"{IN_CLUSTER}{name}"


def conversation(sample: Sample) -> str | None:
    """The conversation that a sample belongs to, where its metadata or its id says so."""
    return named_conversation(sample) or conversation_of_id(sample.id)


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
