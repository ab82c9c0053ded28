"""Parameters that endpoints do not take for a model, as a ledger remembers them."""

from __future__ import annotations

import time
from collections.abc import Iterable, KeysView

from ragassay.judges.ledger.paid import REJECTED, rejection, source_of
from ragassay.judges.ledger.store import Ledger


def rejected(ledger: Ledger, endpoint: str, model: str) -> KeysView[str]:
    """The parameters that an endpoint is known not to take for a model, in the order in which they
    were rejected.

    Args:
        ledger: of the run.
        endpoint: its URL.
        model: its name there.
    """
    rows = ledger.rows(REJECTED, source=source_of(endpoint, model))
    return dict.fromkeys(str(paid.facts["parameter"]) for paid in rows).keys()


async def reject(ledger: Ledger, endpoint: str, model: str, parameters: Iterable[str]) -> None:
    """Remembers, for this run and later ones, that an endpoint does not take parameters for a
    model.

    Args:
        ledger: of the run.
        endpoint: its URL.
        model: its name there.
        parameters: their names.
    """
    source, now = source_of(endpoint, model), time.time()
    rows = [rejection(source, name, now) for name in parameters]
    await ledger.keep(lambda: rows)
