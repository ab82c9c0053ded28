"""Show and clean the ledger: the file with every answer of LLM judges and of the systems that
'ragassay ask' asked.

Runs in the same folder share one ledger, `.ragassay/ledger.sqlite`. Nothing in it is asked or paid
for again: a repeated, resumed or changed run sends only new questions.

```sh
ragassay ledger stats
ragassay ledger export -o judge_answers.jsonl
ragassay ledger prune --failed
```
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ragassay.base import printable
from ragassay.base.errors import UsageError
from ragassay.base.printable import dollars, grouped, plural
from ragassay.cli import show
from ragassay.cli.command import Given, command

if TYPE_CHECKING:
    from ragassay.judges.ledger.ledger_admin import Row, Stats


@command("ledger stats")
def stats(given: Given) -> None:
    """Show what a ledger holds: answers, failures, tokens and money, by judge and question; answers
    of systems under test, by system.

    ```sh
    ragassay ledger stats
    ragassay ledger stats ../other-project/.ragassay/ledger.sqlite --json
    ```
    """
    from ragassay.judges.ledger import ledger_admin
    from ragassay.judges.ledger.ledger_store import Ledger

    with Ledger(given.path, create=False) as book:
        counted = ledger_admin.stats(book)
    if given.json:
        show.json(counted.to_json())
        return
    refused = (f"{judge} does not take: {', '.join(p)}" for judge, p in counted.rejected.items())
    _print(counted, _summary(counted), *refused)


@command("ledger export")
def export(given: Given) -> None:
    """Write the answers as JSON lines, the oldest first.

    Each line has the question's kind, version and key, the answer (or the reason why there is
    none), the judge, the raw reply, tokens, cost and latency. A run can replay such a file in place
    of a judge, for instance on a machine without a network.

    ```sh
    ragassay ledger export -o judge_answers.jsonl
    ragassay ledger export --kind relevance_grade --model gpt-4o | head -n 3
    ragassay run samples.jsonl --suite trecrag --judge replay:judge_answers.jsonl
    ```
    """
    from ragassay.base.files import atomic
    from ragassay.judges.ledger import ledger_admin
    from ragassay.judges.ledger.ledger_admin import Selection
    from ragassay.judges.ledger.ledger_store import Ledger

    selection = Selection(model=given.model, kind=given.kind, failed=given.failed)
    with Ledger(given.path, create=False) as book:
        selection.check(book)
        lines = ledger_admin.export(book, selection, messages=given.messages)
        if given.output is None:
            sys.stdout.flush()
            sys.stdout.buffer.writelines(map(printable.in_json, lines))
            sys.stdout.buffer.flush()
            return
        n = 0
        with atomic(given.output) as stream:
            for line in lines:
                stream.write(line)
                n += 1
    show.lines(f"{given.output}: {plural(n, 'answer')}")


@command("ledger prune")
def prune(given: Given) -> None:
    """Delete the answers that match all given options. Asking again costs again.

    Run folders keep copies of the answers that they used and are not touched.

    The ledger also remembers parameters (a temperature, a JSON schema) that an endpoint has
    rejected, and does not send them again. After an update of the endpoint, --rejected forgets
    these parameters, but keeps the answers.

    ```sh
    ragassay ledger prune --older-than 90d --dry-run
    ragassay ledger prune --model gpt-4o-mini --kind relevance_grade
    ragassay ledger prune --failed
    ragassay ledger prune --system my_rag
    ragassay ledger prune --rejected --model gpt-5-mini
    ```
    """
    from ragassay.judges.ledger import ledger_admin
    from ragassay.judges.ledger.ledger_admin import Selection
    from ragassay.judges.ledger.ledger_store import Ledger

    before = None if given.older_than is None else _moment(given.older_than, datetime.now(UTC))
    selection = Selection(
        model=given.model, kind=given.kind, before=before, failed=given.failed, system=given.system
    )
    if given.rejected:
        if given.all or selection != Selection(model=given.model):
            raise UsageError("--rejected deletes no answers: it goes with --model only.")
        _forget(given)
        return
    if (selection == Selection()) != given.all:
        raise UsageError(
            "Say what to delete: --older-than, --model, --kind, --failed or --system "
            "(together: what all of them describe), --rejected, or --all alone. Try it with "
            "--dry-run."
        )
    with Ledger(given.path, create=False) as book:
        selection.check(book)
        counted, before_it = ledger_admin.stats(book, selection), ledger_admin.stats(book)
        gone = counted.entries + counted.system_answers
        if not given.dry_run:
            gone = ledger_admin.prune(book, selection)
            if given.all:
                ledger_admin.forget_rejections(book)
    if given.json:
        body = counted.to_json()
        rows = {"what": body["rows"], "systems": body["systems"]}
        show.json({"pruned": gone, "dry_run": given.dry_run, **rows})
        return
    verb = "would go" if given.dry_run else "thrown away"
    left = before_it.entries + before_it.system_answers - gone
    _print(counted, f"{plural(gone, 'answer')} {verb}, {left:,} left in {given.path}.")


def _forget(given: Given) -> None:
    """Forgets rejected parameters, and prints them."""
    from ragassay.judges.ledger import ledger_admin
    from ragassay.judges.ledger.ledger_store import Ledger

    with Ledger(given.path, create=False) as book:
        rejections = ledger_admin.rejections(book, given.model)
        if not given.dry_run:
            ledger_admin.forget_rejections(book, given.model)
    n = sum(map(len, rejections.values()))
    if given.json:
        counts = {"forgotten": n, "dry_run": given.dry_run}
        show.json({**counts, "rejected_parameters": rejections})
        return
    verb = "would be forgotten" if given.dry_run else "forgotten"
    show.lines(
        *(f"{judge} did not take: {', '.join(p)}" for judge, p in rejections.items()),
        f"{plural(n, 'rejected parameter')} {verb}, no answers deleted from {given.path}.",
    )


def _print(counted: Stats, *below: str) -> None:
    """A table for each judge, one of the answers of systems, and sentences below."""
    from ragassay.reports.model import Column, Report, lines, part, table

    heads = ("question", "answers", "failures", "tokens in", "tokens out", "cost", "last kept")
    of_judges = grouped((row.judge, _cells(row)) for row in counted.rows)
    parts = [part(judge, table(map(Column, heads), rows)) for judge, rows in of_judges.items()]
    if counted.systems:
        of_systems = ("system", "fingerprint", "answers", "queries", "last kept")
        rows = [
            (row.system, row.fingerprint, f"{row.answers:,}", f"{row.queries:,}", _day(row.last))
            for row in counted.systems
        ]
        parts.append(part("systems under test", table(map(Column, of_systems), rows)))
    show.report(Report("", (*parts, lines(below, "text"))))


def _cells(row: Row) -> tuple[str, ...]:
    failures = sum(row.failures.values())
    counts = (row.entries - failures, failures, row.input_tokens, row.output_tokens)
    cost = _cost(row.cost, row.unpriced, row.entries)
    return row.kind, *(f"{n:,}" for n in counts), cost, _day(row.last)


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d")


def _summary(counted: Stats) -> str:
    pieces = []
    if counted.rows:
        cost = sum(row.cost for row in counted.rows)
        unpriced = sum(row.unpriced for row in counted.rows)
        failures = ", ".join(f"{n:,} {reason}" for reason, n in counted.failures.items())
        n = sum(counted.failures.values())
        pieces += [
            plural(counted.entries - n, "answer"),
            f"{plural(n, 'failure')}{f' ({failures})' if failures else ''}",
            f"cost {_cost(cost, unpriced, counted.entries)}",
        ]
    if counted.systems:
        pieces.append(plural(counted.system_answers, "answer") + " of systems")
    size = f"{counted.size / 2**10:,.0f} KiB"
    return f"{counted.path}: {', '.join(pieces or ['empty'])}, {size}."


def _cost(cost: float, unpriced: int, entries: int) -> str:
    """Dollars; a plus sign says that the price of some is not known."""
    if unpriced == entries:
        return "?"
    shown = dollars(cost)
    return f"{shown}+?" if unpriced else shown


def _moment(text: str, now: datetime) -> float:
    """Seconds since 1970 of ``90d`` (ago) or ``2026-01-31`` (its local midnight)."""
    match = re.fullmatch(r"(\d{1,6})\s*(h|d|w)\w*", text.strip().casefold())
    try:
        if match is not None:
            hours = {"h": 1, "d": 24, "w": 168}[match[2]] * int(match[1])
            return (now - timedelta(hours=hours)).timestamp()
        return datetime.fromisoformat(text.strip()).astimezone().timestamp()
    except (ValueError, OverflowError):
        raise UsageError(
            f"--older-than {text!r}: write an age (12h, 90d, 6w) or a day (2026-01-31)."
        ) from None
