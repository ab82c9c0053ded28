"""``ragassay metrics``: what can be measured."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from ragassay.cli import show
from ragassay.cli.flags import Switch


def metrics(
    name: str | None = None,
    /,
    *,
    suite: Annotated[str | None, Parameter(name=["--suite", "-s"])] = None,
    json: Switch = False,
) -> None:
    """List every metric, or explain one.

    For each: the suites (and published step) that it belongs to, its kind (arithmetic, model or
    judge), the parts of a sample that it needs and uses, range, direction, parameters, what it is
    recommended for, and its source. Of one that rests on a judge's answers also how far the offline
    judge agrees with labels on these kinds of question.

    ```sh
    ragassay metrics
    ragassay metrics nDCG@10
    ragassay metrics --suite mtrag
    ```

    Args:
        name: A metric, with or without its parameters.
        suite: Only the metrics of this suite, and what to know about its numbers.
        json: Print as JSON.
    """
    from ragassay.reports.text import catalogue

    if name is not None:
        meant = catalogue.entries_named(name, suite)
        if json:
            show.json(meant[0] if len(meant) == 1 else meant)
        for entry in () if json else meant:
            show.console().print(catalogue.page(entry))
        return
    entries = catalogue.all_entries(suite)
    if json:
        show.json(entries)
    else:
        out = show.console()
        out.print(catalogue.table(entries))
        if suite is not None:
            out.print()
            out.print(catalogue.about(suite))
