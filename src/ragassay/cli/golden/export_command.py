"""``ragassay golden export``: accepted items as a file for other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragassay.base.counts import few, grouped, plural, share
from ragassay.base.errors import InputError, UsageError
from ragassay.cli.command import Given, command
from ragassay.cli.output import show

if TYPE_CHECKING:
    from ragassay.golden.golden_item import Status


@command("golden export")
def export(given: Given) -> None:
    """Write the accepted items as a file that 'ragassay run' and other tools read.

    ```sh
    ragassay golden export golden -o questions.jsonl
    ragassay golden export golden -o questions.csv --where 'source=user log'
    ragassay golden export golden -o beir --format beir
    ragassay golden export golden -o qrels.txt --format qrels
    ragassay golden export golden -o pairs.jsonl --pairs
    ```
    """
    from ragassay.base.files import write_bytes
    from ragassay.golden.exchange.golden_export import EXPORTS, export_format, exported, left_out
    from ragassay.golden.golden_folder import GoldenSet, check_output

    check_output(given.output, given.folder)
    if given.pairs and given.format not in (None, "pairs"):
        raise UsageError(f"--pairs and --format {given.format} exclude each other.")
    kind = export_format(given.output, "pairs" if given.pairs else given.format)
    golden = GoldenSet.open(given.folder)
    statuses: tuple[Status, ...] = ("accepted", "draft") if given.drafts else ("accepted",)
    items = golden.with_status(*statuses, where=given.where or ())
    if not items:
        raise InputError(
            f"none of its {plural(len(golden.items), 'item')} is accepted",
            path=given.folder,
            hint="Accept some (ragassay golden review)"
            + ("." if given.drafts else ", or take drafts too: --drafts."),
        )
    try:
        exports = exported(items, kind, golden.documents)
    except InputError as error:
        raise error.at(path=given.folder) from None
    if "" not in exports.files and given.output.exists() and any(given.output.iterdir()):
        raise UsageError(f"{given.output} is no empty folder. Choose another one with -o.")
    for name, content in exports.files.items():
        write_bytes(given.output / name, content)
    noun = EXPORTS[kind].noun
    bare = grouped((why, item.id) for item in items if (why := EXPORTS[kind].lacking(item)))
    n_with = len(items) - sum(map(len, bare.values()))
    n_items = share(n_with, len(items), "item") if bare else plural(len(items), "item")
    show.lines(f"{given.output}: {plural(exports.rows, noun)} of {n_items}")
    for why, names in bare.items():
        show.lines(f"No {noun} of {plural(len(names), 'item')} ({why}): {few(names)}")
    if lacking := left_out(items, kind):
        show.warn([f"The format {kind} has no place for {', '.join(lacking)}: left out."])
