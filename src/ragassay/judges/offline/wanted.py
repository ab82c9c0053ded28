"""What kind of answer a query wants: a date, a number, a name; and whether a text holds one."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache
from typing import Literal

from ragassay.judges.offline import lists
from ragassay.judges.offline.words import content, visible, weight

Kind = Literal["date", "number", "name", "any"]

_ASKED: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("date", lists.patterns("asks_date")),
    ("number", lists.patterns("asks_number")),
    ("name", lists.patterns("asks_name")),
)
_HOLDS = {"date": lists.patterns("dates"), "number": lists.patterns("numbers")}
_CAPITAL = re.compile(r"\b[^\W\d_a-zß-öø-ÿ][\w’'-]*")


@lru_cache(maxsize=1024)
def kind_of(query: str) -> Kind:
    """What the query asks for; the last question word in it decides."""
    text = visible(query)
    found = [(match.end(), kind) for kind, asked in _ASKED for match in asked.finditer(text)]
    return max(found)[1] if found else "any"


def holds(text: str, kind: Kind, asked: Set[str] = frozenset()) -> bool:
    """Whether a text holds something of the kind.

    Args:
        text: a plain text.
        kind: what is wanted; ``any`` is held by every text.
        asked: stems of the query; what stands there is no answer to it.
    """
    if kind == "any":
        return True
    if kind == "name":
        found = content(" ".join(_CAPITAL.findall(visible(text))))
        return any(stem not in asked and weight(stem) == 1 and len(stem) > 1 for stem in found)
    return any(match.group().casefold() not in asked for match in _HOLDS[kind].finditer(text))
