"""The models that ragassay uses by itself: what they are, their licence and how large they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragassay.base import package_files


@dataclass(frozen=True)
class KnownModel:
    """Facts about a model, by its page.

    Attributes:
        what: one line for people.
        licence: SPDX name; empty where nobody wrote it down here.
        size: bytes of the files that are needed, about; 0 where unknown.
        commit: that is taken where none is named.
        tokenizer: whether only its tokenizer is needed.
        companions: models of which it needs the tokenizer.
        examples: a source, a text and the score that the model's page gives them.
    """

    what: str = ""
    licence: str = ""
    size: int = 0
    commit: str = ""
    tokenizer: bool = False
    companions: Sequence[str] = ()
    examples: Sequence[Sequence[Any]] = ()


KNOWN: Mapping[str, KnownModel] = {
    name: KnownModel(**facts)
    for name, facts in package_files.table("ragassay.models", "known.yaml").items()
}
"""By name on the hub; all that are pinned."""
