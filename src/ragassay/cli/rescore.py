"""``ragassay rescore``: every score again, from the stored verdicts alone."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from ragassay.cli.flags import Switch
from ragassay.cli.output import show
from ragassay.counts import either, plural

SHOWN = 10


def rescore(
    folder: Path,
    /,
    *,
    ledger: Path | None = None,
    json: Switch = False,
) -> int:
    """Compute every score of a run again from its stored verdicts, and compare. Asks nobody.

    Exit code 0: all are equal; 3: some are not.

    ```sh
    ragassay rescore runs/new
    ragassay rescore runs/new --ledger .ragassay/ledger.sqlite
    ```

    Args:
        folder: A folder that 'ragassay run -o' wrote.
        ledger: Take the answers from this ledger instead of the run's own copies.
        json: Print the outcome as JSON.
    """
    from ragassay.engine.results import open_run
    from ragassay.engine.run import rescoring
    from ragassay.errors import InputError
    from ragassay.judges.ledger import Ledger

    if ledger is not None and not ledger.is_file():
        raise InputError("is not there", path=ledger, hint="Name the --ledger of the run.")
    opened = nullcontext() if ledger is None else Ledger(ledger)
    with opened as store, show.status("computing every score again"):
        rescored = rescoring.rescore(open_run(folder), store)
    if json:
        show.json(rescored.to_json())
    else:
        out = show.console()
        what = f"{plural(rescored.n_scores, 'score')} computed again"
        what += f" from {plural(rescored.n_verdicts, 'verdict')}"
        n_different = len(rescored.different)
        same = (
            either(rescored.n_scores, "it is equal", "all are equal")
            if not n_different
            else f"{n_different:,} {either(n_different, 'differs', 'differ')}"
        )
        out.print(f"{what}: {same}.", markup=False)
        if rescored.unmeasured:
            out.print(
                "Left as they are, because they rest on a model that is not here ('ragassay "
                f"models'), or on vectors of an endpoint: {rescored.unmeasured:,}.",
                markup=False,
            )
        for at, sentence in enumerate(rescoring.differing(rescored.different)):
            if at == SHOWN:
                out.print(f"... and {len(rescored.different) - SHOWN:,} more (--json lists them).")
                break
            out.print(f"  {sentence}", markup=False)
    return show.INCOMPLETE if rescored.different else show.OK
