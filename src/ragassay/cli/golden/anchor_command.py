"""``ragassay golden anchor``: gold spans found again in edited documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.base.counts import either, few, plural
from ragassay.cli.flags import Switch
from ragassay.cli.output import show

if TYPE_CHECKING:
    from ragassay.golden.alignment.anchoring import Anchored
    from ragassay.golden.golden_folder import GoldenSet
    from ragassay.golden.golden_item import GoldenItem, GoldSpan


def anchor(folder: Path, /, *, dry_run: Switch = False, json: Switch = False) -> int:
    """Find the gold spans again after the documents were edited.

    A span is found by its text and what stands around it; edited texts by their distance. What
    could be at several places, or at one whose surroundings do not tell that it is the same
    (unsure), or stands nowhere, is listed and stays as it is: exit code 3. A person marks such
    places on the page of 'ragassay golden review', or rejects the items.
    Documents that were added, or were left out as unreadable and can be read now, are taken into
    documents.json and named.

    ```sh
    ragassay golden anchor golden --dry-run
    ragassay golden anchor golden
    ```

    Args:
        folder: The golden set.
        dry_run: Change nothing.
        json: Print what was found as JSON.
    """
    from ragassay.golden import anchor as find
    from ragassay.golden.golden_diff import differing, excerpt
    from ragassay.golden.golden_folder import GoldenSet

    golden = GoldenSet.open(folder)
    documents = golden.documents()
    listed = golden.known_documents()
    added = [name for name in documents if listed and name not in listed]
    readable = golden.readable_again(documents)
    if readable:
        golden.take_in(readable)
        documents = golden.documents()
    spans = list(find(golden.items, documents))
    if not dry_run:
        _save_places(golden, spans)
        golden.save_manifest(documents)
    show.warn(_about_documents(added, [one.path for one in readable], dry_run=dry_run))
    unplaced = [one for one in spans if one.new is None]
    if json:
        show.json([_to_json(one) for one in spans if one.found != "unchanged"])
    else:
        counts = Counter(one.found for one in spans)
        show.lines(
            f"{folder}: {plural(len(spans), 'gold span')}: "
            + ", ".join(f"{n} {name}" for name, n in counts.most_common())
        )
        for one in spans:
            if one.found == "changed" and one.new is not None:
                before, now = differing(one.old.text, one.new.text)
                look = " (other numbers: look at its references)" if one.has_other_numbers else ""
                show.wrapped(
                    f"changed: {one.item}, distance {one.distance:.2f}: {before} is {now}{look}"
                )
            elif one.new is not None and one.new.document != one.old.document:
                show.wrapped(f"moved: {one.item}: from {one.old.document} to {one.new.document}")
        for one in unplaced:
            where = few([f"{name}:{at}" for name, at in one.places])
            if one.found == "unsure":
                where = f"one place, {where}, whose surroundings do not tell that it is the same"
            old = excerpt(one.old.text)
            show.wrapped(f"{one.found}: {one.item}: {old}" + (where and f" ({where})"))
        if unplaced:
            show.lines(
                f"Mark the right places on the page of 'ragassay golden review {folder}', or "
                "reject the items."
            )
    return show.INCOMPLETE if unplaced else show.OK


def _save_places(golden: GoldenSet, spans: Sequence[Anchored]) -> None:
    """Writes spans at their new places. What people reviewed since the set was read stays."""
    from ragassay.golden.golden_folder import GoldenSet, alone

    if not any(one.found in ("moved", "changed") for one in spans):
        return
    anchored = {(one.item, one.number): one for one in spans}

    def placed(item: GoldenItem, number: int, span: GoldSpan) -> GoldSpan:
        one = anchored.get((item.id, number))
        # A span that a person set meanwhile is not the one that was looked for.
        return span if one is None or one.new is None or one.old != span else one.new

    with alone(golden.folder):
        golden.items = GoldenSet.open(golden.folder).items
        for item in golden.items:
            item.gold = item.gold and [placed(item, n, one) for n, one in enumerate(item.gold)]
        golden.save()


def _about_documents(
    added: Sequence[str], readable: Sequence[str], *, dry_run: bool
) -> Iterator[str]:
    """Sentences about documents that ``documents.json`` did not list."""
    for names, kind in ((added, "added"), (readable, "left out as unreadable and can be read now")):
        if not names:
            continue
        verb = either(len(names), "was", "were")
        become = "would be" if dry_run else either(len(names), "is", "are")
        they = either(len(names), "It", "They")
        yield (
            f"{plural(len(names), 'document')} {verb} {kind}: {few(names)}. {they} {become} taken "
            "into documents.json. What stands there may answer what is unanswerable: "
            "'ragassay golden check' tries it."
        )


def _to_json(one: Anchored) -> dict[str, Any]:
    return {
        "id": one.item,
        "span": one.number,
        "found": one.found,
        "old": one.old.model_dump(),
        "new": None if one.new is None else one.new.model_dump(),
        "distance": one.distance,
        "places": one.places,
    }
