"""``ragassay golden sample`` and ``golden split``: parts of a golden set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.base.counts import plural
from ragassay.base.errors import UsageError
from ragassay.cli.flags import Output, Where
from ragassay.cli.output import show

if TYPE_CHECKING:
    from ragassay.golden.golden_folder import GoldenSet
    from ragassay.golden.golden_item import GoldenItem


def sample(
    folder: Path,
    n: int,
    /,
    *,
    output: Output,
    by: str = "type",
    seed: int = 0,
    where: Where | None = None,
) -> None:
    """Draw a part of a golden set in which each kind of query has its share.

    Rejected items are left out.

    ```sh
    ragassay golden sample golden 30 -o golden-30 --by type,complexity
    ```

    Args:
        folder: The golden set.
        n: How many items.
        output: Folder for the part.
        by: Fields that tell kinds apart, joined with commas.
        seed: Of the choice.
    """
    from ragassay.golden.golden_folder import GoldenSet
    from ragassay.golden.golden_parts import sampled

    golden = GoldenSet.open(folder)
    among = golden.with_status("accepted", "draft", where=where or ())
    items = sampled(among, n, by.split(","), seed)
    origin = f"{n} items of {folder.name}{_chosen(where)}, by {by}, seed {seed}."
    _save_part(golden, items, output, origin)


def split(
    folder: Path,
    /,
    *,
    into: str = "dev=0.5,test=0.5",
    by: str = "type",
    seed: int = 0,
    where: Where | None = None,
) -> None:
    """Divide a golden set into disjoint parts, beside it, in which each kind has its share.

    Queries that would give each other away stay in one part: those whose gold spans share a
    sentence, those that ask nearly the same, and those of one conversation. So shares may differ a
    little from what was asked for; how far is told. Rejected items are left out.

    ```sh
    ragassay golden split golden --into dev=0.3,test=0.7
    ```

    Args:
        folder: The golden set.
        into: Name and share of each part, joined with commas; the folders are FOLDER-NAME.
        by: Fields that tell kinds apart, joined with commas.
        seed: Of the division.
    """
    from ragassay.golden.golden_folder import GoldenSet
    from ragassay.golden.golden_parts import furthest, groups, split as divide

    golden = GoldenSet.open(folder)
    try:
        shares = {name: float(share) for name, share in (one.split("=") for one in into.split(","))}
    except ValueError as error:
        raise UsageError(f"--into {into!r}: write NAME=SHARE, as in dev=0.3,test=0.7.") from error
    items = golden.with_status("accepted", "draft", where=where or ())
    fields = by.split(",")
    if not items:
        raise UsageError(
            f"{folder} has no items that are not rejected: there is nothing to divide."
        )
    group_of_item = groups(items, golden.documents())
    parts = divide(items, shares, fields, seed, group_of_item)
    sizes = Counter(group_of_item)
    for name, of_part in parts.items():
        if not of_part:
            raise UsageError(
                f"--into {into}: the part {name} would be empty, because the items fall into "
                f"{plural(len(sizes), 'group')} that stay together. Ask for fewer parts."
            )
    show.lines(
        f"{folder}: {plural(len(items), 'item')} in {plural(len(sizes), 'group')} by shared "
        f"sentences, near-duplicates and conversations; the largest has {max(sizes.values())}"
    )
    for name, of_part in parts.items():
        place = folder.with_name(f"{folder.name}-{name}")
        share = f", {len(of_part) / len(items):.1%} for {shares[name]:.1%}"
        _save_part(
            golden,
            of_part,
            place,
            f"the part {name}{_chosen(where)} ({into}, by {by}, seed {seed}).",
            share,
        )
    name, kind, n, wanted = furthest(parts, shares, fields)
    shown = repr(kind) if kind else "not said"
    show.lines(
        f"by {by}, furthest from its share: {shown} in {name}, {plural(n, 'item')} for {wanted:.1f}"
    )


def _chosen(where: Sequence[str] | None) -> str:
    """The conditions of a part in its card."""
    return f" where {' and '.join(where)}" if where else ""


def _save_part(
    golden: GoldenSet, items: list[GoldenItem], place: Path, origin: str, share: str = ""
) -> None:
    """Writes a part of a golden set: ``origin`` stands in its card, ``share`` in the printed line.

    Raises:
        UsageError: the folder is a golden set already.
    """
    from ragassay.golden.golden_folder import GoldenSet, check_output

    if (place / "queries.jsonl").exists():
        raise UsageError(f"{place} is a golden set already. Delete it or choose another folder.")
    check_output(place, golden.folder, golden.documents_folder)
    part = GoldenSet(place, items, golden.documents_folder, golden.left_out)
    part.write(part.documents(), origin, golden.folder)
    show.lines(f"{place}: {plural(len(items), 'item')}{share}")
