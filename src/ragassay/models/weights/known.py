"""The models that ragassay uses by itself: what they are, their licence and how large they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from ragassay.yaml_files import value_of


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


_FILE = files("ragassay.models").joinpath("known.yaml")
KNOWN: Mapping[str, KnownModel] = {
    name: KnownModel(**facts) for name, facts in value_of(_FILE.read_text("utf-8"), _FILE).items()
}
"""By name on the hub; all that are pinned."""
