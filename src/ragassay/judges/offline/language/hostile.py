"""Recognises text that addresses the judge: it is no evidence.

A passage or an answer may address whoever grades it: "ignore your instructions", an invented system
message, the JSON of a good grade, praise of itself. Where a text serves as evidence (does it hold
the query's answer? does it support the statement?), these sentences are left out, and after an
explicit order to the judge the rest of the text as well. Where a text needs evidence (the claims of
an answer), nothing is left out, so that such words cannot hide an unsupported claim.

An honest text about prompt injection loses sentences by this rule. That can only lower a grade.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ragassay.judges.offline.language import lists
from ragassay.judges.offline.language.texts import plain, sentences
from ragassay.judges.offline.language.word_weights import visible

_ORDERS = lists.Phrases("orders", re.MULTILINE)
_PRAISE = lists.Phrases("praise")


@lru_cache(maxsize=4096)
def is_hostile(sentence: str) -> bool:
    """Whether a sentence addresses the judge: an order, a role, a grade, praise of itself."""
    return bool(_ORDERS.search(sentence) or _PRAISE.search(sentence))


@lru_cache(maxsize=2048)
def evidence_sentences(text: str) -> tuple[str, ...]:
    """The plain sentences of a text that may be used as evidence, in their order."""
    text = visible(text)
    order = _ORDERS.search(text)
    if order is not None:
        cut = max(text.rfind(end, 0, order.start()) for end in ("\n", ". ", "! ", "? ", "。"))
        text = text[: cut + 1]
    return tuple(part for part in sentences(plain(text)) if not _PRAISE.search(part))
