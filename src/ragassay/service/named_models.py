"""The judges and embedders that the operator of a service names: clients choose among the names."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ragassay.base.errors import UsageError
from ragassay.engine.models.needed_models import is_endpoint
from ragassay.judges.judge_factory import address_of, hidden_words, kinds, names_object

Role = Literal["judge", "embedder"]

OFFLINE = "offline"
"""The embedded judge, which is always there."""
_NAMED = re.compile(r"\s*(?P<name>[A-Za-z0-9_.-]+)\s*=(?P<word>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NamedModels:
    """The words of ``--judge`` and ``--embedder`` by name. The first judge is the default."""

    judges: Mapping[str, str] = field(default_factory=dict)
    embedders: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, judges: Sequence[str] = (), embedders: Sequence[str] = ()) -> NamedModels:
        """What an operator names: ``NAME=WORD``, or a word that is its own name. A name given
        twice and a word that names nobody, or lacks its key, are refused."""
        return cls(_by_name("judge", judges), _by_name("embedder", embedders))

    @property
    def judge_names(self) -> list[str]:
        """What clients may name."""
        return list(dict.fromkeys([*self.judges, OFFLINE]))

    @property
    def default(self) -> list[str]:
        """The name of the judge where a client names none; nothing: the embedded one judges."""
        return list(self.judges)[:1]

    def chosen(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a run, with judges and endpoints that embed by name, so that no output
        says what these mean. Other names are refused, not repeated: one may be a password."""
        chosen = dict(options)
        if (names := chosen.get("judge")) is not None:
            listed = [names] if isinstance(names, str) else names
            chosen["judge"] = [_known("judge", name, self.judge_names) for name in listed]
        if chosen.get("embedder") is not None:
            name = _known("embedder", chosen["embedder"], list(self.embedders))
            word = self.embedders[name]
            with hidden_words("embedder", name, self.embedders):
                chosen["embedder"] = name if is_endpoint(word) else word
        return chosen

    @property
    def words(self) -> dict[str, dict[str, str]]:
        """The words that the names mean, by role, as `prepared_run.prepare` takes them."""
        return {"judge": dict(self.judges), "embedder": dict(self.embedders)}


def _known(role: Role, name: str, names: Sequence[str]) -> str:
    if name.strip() not in names:
        there = ", ".join(names) or "none"
        raise UsageError(
            f"The service has no {role} of this name. It has: {there}. Its operator can add it."
        )
    return name.strip()


def _by_name(role: Role, texts: Sequence[str]) -> dict[str, str]:
    words: dict[str, str] = {}
    for text in texts:
        found = _NAMED.fullmatch(text)
        name, word = (found["name"], found["word"].strip()) if found else (text.strip(),) * 2
        if found is None and "://" in word:
            raise UsageError(f"--{role} with an address needs a name: --{role} NAME=URL#MODEL.")
        if name in words or (role == "judge" and name == OFFLINE != word):
            raise UsageError(f"Two {role}s of the service are called {name!r}.")
        is_endpoint = role == "judge" and word.partition(":")[0].casefold() not in kinds()
        if is_endpoint and not names_object(word):
            address_of(word, "its published model", os.environ)
        words[name] = word
    return words
