"""``ragassay golden sample`` and ``golden split``: parts of a golden set."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.base.counts import plural
from ragassay.base.errors import UsageError
from ragassay.cli.command import Given, command
from ragassay.cli.output import show

if TYPE_CHECKING:
    from ragassay.golden.golden_folder import GoldenSet
    from ragassay.golden.golden_item import GoldenItem


@command("golden sample")
def sample(given: Given) -> None:
    """Draw a part of a golden set in which each kind of query has its share.

    Rejected items are left out.

    ```sh
    ragassay golden sample golden 30 -o golden-30 --by type,complexity
    ```
    """
    from ragassay.golden.golden_folder import GoldenSet
    from ragassay.golden.golden_parts import sampled

    golden = GoldenSet.open(given.folder)
    among = golden.with_status("accepted", "draft", where=given.where or ())
    items = sampled(among, given.n, given.by.split(","), given.seed)
    origin = f"{given.n} items of {given.folder.name}{_drawn(given)}."
    _save_part(golden, items, given.output, origin)


@command("golden split")
def split(given: Given) -> None:
    """Divide a golden set into disjoint parts, beside it, in which each kind has its share.

    Queries that would give each other away stay in one part: those whose gold spans share a
    sentence, those that ask nearly the same, and those of one conversation. So shares may differ a
    little from what was asked for; how far is told. Rejected items are left out.

    ```sh
    ragassay golden split golden --into dev=0.3,test=0.7
    ```
    """
    from ragassay.golden.golden_folder import GoldenSet
    from ragassay.golden.golden_parts import furthest, groups, split as divide

    golden = GoldenSet.open(given.folder)
    try:
        shares = {
            name: float(share) for name, share in (one.split("=") for one in given.into.split(","))
        }
    except ValueError as error:
        raise UsageError(
            f"--into {given.into!r}: write NAME=SHARE, as in dev=0.3,test=0.7."
        ) from error
    items = golden.with_status("accepted", "draft", where=given.where or ())
    fields = given.by.split(",")
    if not items:
        raise UsageError(
            f"{given.folder} has no items that are not rejected: there is nothing to divide."
        )
    group_of_item = groups(items, golden.documents())
    parts = divide(items, shares, fields, given.seed, group_of_item)
    sizes = Counter(group_of_item)
    for name, of_part in parts.items():
        if not of_part:
            raise UsageError(
                f"--into {given.into}: the part {name} would be empty, because the items fall into "
                f"{plural(len(sizes), 'group')} that stay together. Ask for fewer parts."
            )
    show.lines(
        f"{given.folder}: {plural(len(items), 'item')} in {plural(len(sizes), 'group')} by shared "
        f"sentences, near-duplicates and conversations; the largest has {max(sizes.values())}"
    )
    for name, of_part in parts.items():
        place = given.folder.with_name(f"{given.folder.name}-{name}")
        share = f", {len(of_part) / len(items):.1%} for {shares[name]:.1%}"
        _save_part(
            golden,
            of_part,
            place,
            f"the part {name}{_drawn(given, given.into)}.",
            share,
        )
    name, kind, n, wanted = furthest(parts, shares, fields)
    shown = repr(kind) if kind else "not said"
    show.lines(
        f"by {given.by}, furthest from its share: {shown} in {name}, {plural(n, 'item')} "
        f"for {wanted:.1f}"
    )


def _drawn(given: Given, parts: str = "") -> str:
    """How a part was drawn, for its card."""
    where = f" where {' and '.join(given.where)}" if given.where else ""
    how = f"by {given.by}, seed {given.seed}"
    return f"{where} ({parts}, {how})" if parts else f"{where}, {how}"


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
