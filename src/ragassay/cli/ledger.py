"""``ragassay ledger``: statistics, export and deletion of stored answers."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from ragassay.base import printable
from ragassay.base.counts import plural
from ragassay.base.errors import UsageError
from ragassay.cli.flags import Output, Switch
from ragassay.cli.output import show

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragassay.judges.ledger.ledger_admin import Row, Stats

LEDGER = ".ragassay/ledger.sqlite"

Place = Annotated[str, Parameter(name="--ledger")]

ledger = App(
    name="ledger",
    help="""Look after the ledger: the file that keeps every answer of an LLM judge, and of the
systems that 'ragassay ask' asked.

Runs that are started in the same folder share one ledger, `.ragassay/ledger.sqlite`. Nothing in it
is asked, or paid for, again: a run that is repeated, resumed or changed sends only what is new.

```sh
ragassay ledger stats
ragassay ledger export -o verdicts.jsonl
ragassay ledger prune --failed
```
""",
    help_format="markdown",
)


@ledger.command
def stats(path: Place = LEDGER, *, json: Switch = False) -> None:
    """Show what a ledger holds: answers, failures, tokens and money, by judge and question; answers
    of systems under test, by system.

    ```sh
    ragassay ledger stats
    ragassay ledger stats ../other-project/.ragassay/ledger.sqlite --json
    ```

    Args:
        path: The ledger: a file, or postgresql://USER@HOST/DATABASE.
        json: Print as JSON.
    """
    from ragassay.judges.ledger import ledger_admin
    from ragassay.judges.ledger.store import Ledger

    with Ledger(path, create=False) as book:
        counted = ledger_admin.stats(book)
    if json:
        show.json(counted.to_json())
        return
    _print(counted)
    refused = (f"{judge} does not take: {', '.join(p)}" for judge, p in counted.rejected.items())
    show.lines(_summary(counted), *refused)


@ledger.command
def export(
    path: Place = LEDGER,
    *,
    output: Output | None = None,
    model: str | None = None,
    kind: str | None = None,
    failed: Switch = False,
    messages: Switch = False,
) -> None:
    """Write the answers as JSON lines, one an answer, the oldest first.

    Each line has the question's kind, version and key, the answer (or the reason why there is
    none), the judge, the raw reply, tokens, cost and latency. A run can replay such a file in place
    of a judge, for instance on a machine that may not reach one.

    ```sh
    ragassay ledger export -o verdicts.jsonl
    ragassay ledger export --kind relevance_grade --model gpt-4o | head -n 3
    ragassay run samples.jsonl --suite trecrag --judge replay:verdicts.jsonl
    ```

    A file that is there already is replaced only where it is an earlier export.

    Args:
        path: The ledger: a file, or postgresql://USER@HOST/DATABASE.
        output: File to write (default: standard output).
        model: Only answers of this model.
        kind: Only answers to this kind of question; 'ragassay ledger stats' lists them.
        failed: Only failures that are kept: refused, unparsable, too long.
        messages: With each answer, everything that was sent.
    """
    from ragassay.base.files import atomic
    from ragassay.judges.ledger import ledger_admin
    from ragassay.judges.ledger.ledger_admin import Selection
    from ragassay.judges.ledger.store import Ledger

    selection = Selection(model=model, kind=kind, failed=failed)
    with Ledger(path, create=False) as book:
        selection.check(book)
        lines = ledger_admin.export(book, selection, messages=messages)
        if output is None:
            sys.stdout.flush()
            sys.stdout.buffer.writelines(map(printable.in_json, lines))
            sys.stdout.buffer.flush()
            return
        if output.is_file() and not _is_export(output):
            raise UsageError(
                f"{output} is there already and is no earlier export, so it stays as it is. Give "
                "another file with -o, or delete it first."
            )
        n = 0
        with atomic(output) as stream:
            for line in lines:
                stream.write(line)
                n += 1
    show.lines(f"{output}: {plural(n, 'answer')}")


def _is_export(file: Path) -> bool:
    """Whether a file is empty, or begins with a line that has the keys of an export."""
    import orjson

    with file.open("rb") as stream:
        first = stream.readline().strip()
    try:
        record = orjson.loads(first) if first else None
    except orjson.JSONDecodeError:
        return False
    keys = {"question", "key", "request", "created"}
    return not first or (isinstance(record, dict) and record.keys() >= keys)


@ledger.command
def prune(
    path: Place = LEDGER,
    *,
    older_than: str | None = None,
    model: str | None = None,
    kind: str | None = None,
    failed: Switch = False,
    system: str | None = None,
    rejected: Switch = False,
    everything: Annotated[bool, Parameter(name="--all", negative=())] = False,
    dry_run: Switch = False,
    json: Switch = False,
) -> None:
    """Throw answers away that all given options describe. Asking them again costs again.

    Run folders keep copies of the answers that they used and are not touched.

    The ledger also remembers which parameters (a temperature, a JSON schema) an endpoint has
    rejected, and does not send them again. After an update of the endpoint, --rejected makes it
    forget them: the next run finds out anew. Answers stay, and are found again.

    ```sh
    ragassay ledger prune --older-than 90d --dry-run
    ragassay ledger prune --model gpt-4o-mini --kind relevance_grade
    ragassay ledger prune --failed
    ragassay ledger prune --system my_rag
    ragassay ledger prune --rejected --model gpt-5-mini
    ```

    Args:
        path: The ledger: a file, or postgresql://USER@HOST/DATABASE.
        older_than: Kept longer ago than that (90d, 12h, 6w) or before a day (2026-01-31).
        model: Answers of this model.
        kind: Answers to this kind of question; 'ragassay ledger stats' lists them.
        failed: Failures that are kept: refused, unparsable, too long.
        system: Answers of this system under test ('ragassay ask'), of all its versions.
        rejected: No answers, but the parameters that endpoints have rejected (goes with --model).
        everything: The whole ledger, with what endpoints have rejected.
        dry_run: Only say what would go.
        json: Print as JSON.
    """
    from ragassay.judges.ledger import ledger_admin
    from ragassay.judges.ledger.ledger_admin import Selection
    from ragassay.judges.ledger.store import Ledger

    before = None if older_than is None else _moment(older_than, datetime.now(UTC))
    selection = Selection(model=model, kind=kind, before=before, failed=failed, system=system)
    if rejected:
        if everything or selection != Selection(model=model):
            raise UsageError("--rejected throws no answers away: it goes with --model only.")
        _forget(path, model, dry_run=dry_run, json=json)
        return
    if selection.all != everything:
        raise UsageError(
            "--all goes with no other option: it throws the whole ledger away."
            if everything
            else "Say what to throw away: --older-than, --model, --kind, --failed or --system "
            "(together: what all of them describe), --rejected, or --all. Try it with --dry-run."
        )
    with Ledger(path, create=False) as book:
        selection.check(book)
        counted = ledger_admin.stats(book, selection)
        chosen = counted.entries + counted.system_answers
        gone = chosen if dry_run else ledger_admin.prune(book, selection)
        if everything and not dry_run:
            ledger_admin.forget_rejections(book)
        after = ledger_admin.stats(book)
    if json:
        body = counted.to_json()
        rows = {"what": body["rows"], "systems": body["systems"]}
        show.json({"pruned": gone, "dry_run": dry_run, **rows})
        return
    _print(counted)
    verb = "would go" if dry_run else "thrown away"
    left = after.entries + after.system_answers - (gone if dry_run else 0)
    show.lines(f"{plural(gone, 'answer')} {verb}, {left:,} left in {path}.")


def _forget(path: str, model: str | None, *, dry_run: bool, json: bool) -> None:
    """Forgets rejected parameters, and prints them."""
    from ragassay.judges.ledger import ledger_admin
    from ragassay.judges.ledger.store import Ledger

    with Ledger(path, create=False) as book:
        rejections = ledger_admin.rejections(book, model)
        if not dry_run:
            ledger_admin.forget_rejections(book, model)
    n = sum(map(len, rejections.values()))
    if json:
        show.json({"forgotten": n, "dry_run": dry_run, "rejected_parameters": rejections})
        return
    verb = "would be forgotten" if dry_run else "forgotten"
    show.lines(
        *(f"{judge} did not take: {', '.join(p)}" for judge, p in rejections.items()),
        f"{plural(n, 'rejected parameter')} {verb}, no answers thrown away from {path}.",
    )


def _print(counted: Stats) -> None:
    """One table a judge, because their names are too long for a column, and one of the systems."""
    heads = ("\nanswers", "\nfailures", "tokens\nin", "tokens\nout", "\ncost", "last\nkept")
    for judge, rows in groupby(counted.rows, key=lambda row: row.judge):
        _print_table(judge, ["\nquestion"], heads, map(_cells, rows))
    if counted.systems:
        of_systems = (
            (one.system, one.fingerprint, f"{one.answers:,}", f"{one.queries:,}", _day(one.last))
            for one in counted.systems
        )
        title, words = "systems under test", ["system", "fingerprint"]
        _print_table(title, words, ("answers", "queries", "last kept"), of_systems)


def _cells(row: Row) -> tuple[str, ...]:
    failures = sum(row.failures.values())
    counts = (row.entries - failures, failures, row.input_tokens, row.output_tokens)
    cost = _cost(row.cost, row.unpriced, row.entries)
    return row.kind, *(f"{n:,}" for n in counts), cost, _day(row.last)


def _print_table(
    title: str, words: Sequence[str], numbers: Sequence[str], rows: Iterable[tuple[str, ...]]
) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        box=SIMPLE_HEAD, title=escape(title), title_justify="left", title_style="bold",
        pad_edge=False, padding=(0, 1, 0, 0),
    )  # fmt: skip
    for head in words:
        table.add_column(head, min_width=10, overflow="fold")
    for head in numbers:
        widest = len("2026-01-31") if "kept" in head else max(map(len, head.split("\n")))
        table.add_column(head, justify="right", overflow="fold", min_width=widest)
    for row in rows:
        table.add_row(*map(escape, row))
    show.console().print(table)


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d")


def _summary(counted: Stats) -> str:
    mib, kib = f"{counted.size / 2**20:,.1f} MiB", f"{counted.size / 2**10:.0f} KiB"
    size = mib if counted.size >= 2**20 else kib
    of_systems = plural(counted.system_answers, "answer") + " of systems"
    if not counted.rows:
        return f"{counted.path}: {of_systems if counted.systems else 'empty'}, {size}."
    cost = sum(row.cost for row in counted.rows)
    unpriced = sum(row.unpriced for row in counted.rows)
    failures = ", ".join(f"{n:,} {reason}" for reason, n in counted.failures.items())
    n = sum(counted.failures.values())
    pieces = [
        plural(counted.entries - n, "answer"),
        f"{plural(n, 'failure')}{f' ({failures})' if failures else ''}",
        _cost(cost, unpriced, counted.entries) if unpriced < counted.entries else "no prices known",
        *[of_systems] * bool(counted.systems),
        size,
    ]
    return f"{counted.path}: {', '.join(pieces)}."


def _cost(cost: float, unpriced: int, entries: int) -> str:
    """Dollars; a plus sign says that the price of some is not known."""
    if unpriced == entries:
        return "?"
    shown = f"${cost:,.2f}" if cost >= 1 or cost == 0 else f"${cost:.4f}"
    return f"{shown}+?" if unpriced else shown


def _moment(text: str, now: datetime) -> float:
    """Seconds since 1970 of ``90d`` (ago) or ``2026-01-31`` (its local midnight).

    Raises:
        UsageError: neither of the two.
    """
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
