"""``ragassay golden export``: accepted items as a file for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.base.counts import few, grouped, plural, share
from ragassay.base.errors import InputError, UsageError
from ragassay.cli.flags import Output, Switch, Where
from ragassay.cli.output import show

if TYPE_CHECKING:
    from ragassay.golden.golden_item import Status


def export(
    folder: Path,
    /,
    *,
    output: Output,
    format: str | None = None,  # noqa: A002
    pairs: Switch = False,
    where: Where | None = None,
    drafts: Switch = False,
) -> None:
    """Write the accepted items as a file that 'ragassay run' and other tools read.

    ```sh
    ragassay golden export golden -o questions.jsonl
    ragassay golden export golden -o questions.csv --where 'source=user log'
    ragassay golden export golden -o beir --format beir
    ragassay golden export golden -o qrels.txt --format qrels
    ragassay golden export golden -o pairs.jsonl --pairs
    ```

    Args:
        folder: The golden set.
        output: The file; its name ends as its format does (.jsonl, .csv). For beir a folder.
        format: jsonl, csv, tsv, parquet, xlsx (every field of an item); ragas, deepeval, mtrag,
            ultrarag, ragchecker, open_rag_eval, langsmith, langfuse, mlflow (the fields that they
            have); beir, qrels (documents of gold); pairs. Default: by the end of the file's name.
        pairs: The same as --format pairs: a line for each reference and each wrong answer of a
            query, to train an evaluator.
        drafts: Also the items that nobody accepted yet.
    """
    from ragassay.base.files import write_bytes
    from ragassay.golden.exchange.golden_export import EXPORTS, export_format, exported, left_out
    from ragassay.golden.golden_folder import GoldenSet, check_output

    check_output(output, folder)
    if pairs and format not in (None, "pairs"):
        raise UsageError(f"--pairs and --format {format} exclude each other.")
    kind = export_format(output, "pairs" if pairs else format)
    golden = GoldenSet.open(folder)
    statuses: tuple[Status, ...] = ("accepted", "draft") if drafts else ("accepted",)
    items = golden.with_status(*statuses, where=where or ())
    if not items:
        raise InputError(
            f"none of its {plural(len(golden.items), 'item')} is accepted",
            path=folder,
            hint="Accept some (ragassay golden review)"
            + ("." if drafts else ", or take drafts too: --drafts."),
        )
    try:
        exports = exported(items, kind, golden.documents)
    except InputError as error:
        raise error.at(path=folder) from None
    if "" not in exports.files and output.exists() and any(output.iterdir()):
        raise UsageError(f"{output} is no empty folder. Choose another one with -o.")
    for name, content in exports.files.items():
        write_bytes(output / name, content)
    noun = EXPORTS[kind].noun
    bare = grouped((why, item.id) for item in items if (why := EXPORTS[kind].lacking(item)))
    n_with = len(items) - sum(map(len, bare.values()))
    n_items = share(n_with, len(items), "item") if bare else plural(len(items), "item")
    show.lines(f"{output}: {plural(exports.rows, noun)} of {n_items}")
    for why, names in bare.items():
        show.lines(f"No {noun} of {plural(len(names), 'item')} ({why}): {few(names)}")
    if lacking := left_out(items, kind):
        show.warn([f"The format {kind} has no place for {', '.join(lacking)}: left out."])
