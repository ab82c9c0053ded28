"""``ragassay metrics``: what can be measured."""

from __future__ import annotations

from ragassay.base.errors import UsageError, did_you_mean
from ragassay.cli import show
from ragassay.cli.command import Given, command


@command("metrics")
def metrics(given: Given) -> None:
    """List every metric by family, or explain one.

    With a NAME it shows the metric's formula, kind (arithmetic, model or judge), what it needs,
    range, parameters, source, a computed example, and how far the offline judge agrees with people.
    For a kind of question, it shows the prompt, with the placeholders for your own prompt.

    ```sh
    ragassay metrics
    ragassay metrics nDCG@10
    ragassay metrics says_idk
    ragassay metrics --suite mtrag
    ragassay metrics --family chunks
    ```
    """
    name = given.name
    from ragassay import suites
    from ragassay.judges.question import kinds
    from ragassay.metrics.core import naming
    from ragassay.metrics.core.function_metrics import own_names
    from ragassay.reports.views import catalogue_view as catalogue

    if name is not None:
        (name,) = own_names([name])
        asked = name in kinds()
        only_asked = asked and not naming.known(name, suites.every_alias())
        meant = [] if only_asked else catalogue.entries_named(name, given.suite)
        as_json = given.json and not only_asked
        if as_json:
            show.json(meant[0] if len(meant) == 1 else meant)
        for entry in () if as_json else meant:
            show.report(catalogue.metric_report(entry))
        if asked and not as_json:
            show.report(catalogue.question_report(name))
        elif not as_json and given.suite is None and not naming.known(name):
            show.lines("", suites.published_elsewhere(name))
        return
    entries = catalogue.all_entries(given.suite)
    if given.family is not None:
        families = list(dict.fromkeys(entry["family"] for entry in entries))
        if given.family not in families:
            hint = did_you_mean(given.family, families)
            raise UsageError(
                f"No family is called {given.family!r}. {hint} There are: {', '.join(families)}."
            )
        entries = [entry for entry in entries if entry["family"] == given.family]
    if given.json:
        show.json(entries)
    else:
        described = given.long or given.suite is not None or given.family is not None
        listing = catalogue.entries_report if described else catalogue.overview_report
        show.report(listing(entries))
        if given.suite is not None:
            show.report(catalogue.suite_report(given.suite))
