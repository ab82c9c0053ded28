"""``ragassay golden anchor``: gold spans found again in edited documents."""

from __future__ import annotations

from collections import Counter

from ragassay.base.counts import either, few, plural
from ragassay.base.note import Note
from ragassay.cli.command import Given, command
from ragassay.cli.output import show


@command("golden anchor")
def anchor(given: Given) -> int:
    """Find the gold spans again after the documents were edited.

    A span is found by its text and what stands around it; edited texts by their distance. What
    could be at several places, or at one whose surroundings do not tell that it is the same
    (unsure), or stands nowhere, is listed and stays as it is: exit code 3. A person marks such
    places on the page of 'ragassay golden review', or rejects the items.
    Documents that were added, or were left out and can be read now, are taken into documents.json
    and named.

    ```sh
    ragassay golden anchor golden --dry-run
    ragassay golden anchor golden
    ```
    """
    from ragassay.golden import anchor as find
    from ragassay.golden.alignment.anchoring import save_places
    from ragassay.golden.golden_diff import differing, excerpt
    from ragassay.golden.golden_folder import GoldenSet

    golden = GoldenSet.open(given.folder)
    documents = golden.documents()
    listed = golden.known_documents()
    added = [name for name in documents if listed and name not in listed]
    spans = list(find(golden.items, documents))
    if not given.dry_run:
        save_places(golden, spans)
        golden.save_manifest(documents)
    if added:
        become = "would be" if given.dry_run else either(len(added), "is", "are")
        show.warn([str(Note("documents_taken_in", {"become": become}, tuple(added)))])
    unplaced = [one for one in spans if one.new is None]
    if given.json:
        show.json([one.to_json() for one in spans if one.found != "unchanged"])
    else:
        counts = Counter(one.found for one in spans)
        show.lines(
            f"{given.folder}: {plural(len(spans), 'gold span')}: "
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
                f"Mark the right places on the page of 'ragassay golden review {given.folder}', or "
                "reject the items."
            )
    return show.INCOMPLETE if unplaced else show.OK
