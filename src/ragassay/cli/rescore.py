"""``ragassay rescore``: every score again, from the stored verdicts alone."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import islice

from ragassay.base.counts import either, plural
from ragassay.cli.command import Given, command
from ragassay.cli.output import show

SHOWN = 10


@command("rescore")
def rescore(given: Given) -> int:
    """Compute every score of a run again from its stored verdicts, and compare. Asks nobody.

    Exit code 0: all are equal; 3: some are not.

    ```sh
    ragassay rescore runs/new
    ragassay rescore runs/new --ledger .ragassay/ledger.sqlite
    ```
    """
    from ragassay.base.errors import InputError
    from ragassay.engine.results import open_run
    from ragassay.engine.run import rescoring
    from ragassay.judges.ledger.ledger_store import Ledger

    if given.ledger is not None and not given.ledger.is_file():
        raise InputError("is not there", path=given.ledger, hint="Name the --ledger of the run.")
    book = nullcontext() if given.ledger is None else Ledger(given.ledger)
    with book as store, show.status("computing every score again"):
        rescored = rescoring.rescore(open_run(given.folder), store)
    if given.json:
        show.json(rescored.to_json())
    else:
        out = show.console()
        scores = plural(rescored.n_scores, "score")
        verdicts = plural(rescored.n_verdicts, "verdict")
        n_different = len(rescored.different)
        same = (
            either(rescored.n_scores, "it is equal", "all are equal")
            if not n_different
            else f"{n_different:,} {either(n_different, 'differs', 'differ')}"
        )
        out.print(f"{scores} computed again from {verdicts}: {same}.", markup=False)
        if rescored.unmeasured:
            out.print(
                "Left as they are, because they rest on a model that is not here ('ragassay "
                f"models'), or on vectors of an endpoint: {rescored.unmeasured:,}.",
                markup=False,
            )
        for sentence in islice(rescoring.differing(rescored.different), SHOWN):
            out.print(f"  {sentence}", markup=False)
        if n_different > SHOWN:
            out.print(f"... and {n_different - SHOWN:,} more (--json lists them).")
    return show.INCOMPLETE if rescored.different else show.OK
