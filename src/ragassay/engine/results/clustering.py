"""Which samples belong together: the clusters of intervals and tests."""

from __future__ import annotations

from ragassay.base.sample import Sample
from ragassay.texts.conversation_names import (
    CONVERSATION_KEYS,
    conversation_of_id,
    named_conversation,
)

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
