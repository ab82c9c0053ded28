"""``ragassay golden anchor``, ``diff`` and ``isolate``: what changed, and what fails."""

from __future__ import annotations

from collections import Counter

from ragassay.base.note import Note
from ragassay.base.printable import either, few, plural
from ragassay.cli import show
from ragassay.cli.command import Given, command


@command("golden anchor")
def anchor(given: Given) -> int:
    """Find the gold spans again after the documents were edited.

    A span is found by its text and the text around it; edited texts by their distance. A span that
    could be at several places, at an unsure place, or nowhere is listed and not changed: exit code
    3. A person marks such places on the page of 'ragassay golden review', or rejects the items. New
    documents are named and added to documents.json.

    ```sh
    ragassay golden anchor golden --dry-run
    ragassay golden anchor golden
    ```
    """
    from ragassay.golden import anchor as find
    from ragassay.golden.anchoring import save_places
    from ragassay.golden.golden_folder import GoldenSet
    from ragassay.golden.golden_item import differing, excerpt

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


@command("golden diff")
def diff(given: Given) -> None:
    """Say what changed from one golden set to another.

    ```sh
    ragassay golden diff golden-2025 golden
    ```
    """
    from ragassay.golden.golden_folder import GoldenSet
    from ragassay.golden.golden_item import difference, differing

    old, new = (GoldenSet.open(one).items for one in (given.old, given.new))
    changes = list(difference(old, new))
    if given.json:
        listed = [
            {"id": one.id, "kind": one.kind, "fields": one.fields}
            | ({"gold": one.texts} if one.texts else {})
            for one in changes
        ]
        show.json({"changes": listed})
        return
    counts = Counter(one.kind for one in changes)
    show.lines(", ".join(f"{n} {name}" for name, n in counts.most_common()) or "nothing changed")
    for one in changes:
        fields = f" ({', '.join(one.fields)})" if one.fields else ""
        texts = "; ".join(" is ".join(differing(*pair)) for pair in one.texts)
        show.wrapped(f"{one.kind}: {one.id}{fields}" + (texts and f": {texts}"))


@command("golden isolate")
def isolate(given: Given) -> None:
    """Separate failures of retrieval from failures of generation: the full run, then the isolated
    run.

    In the isolated run the generator was given the gold passages ('ragassay ask --gold-passages').
    An answer that is right only with them fails by retrieval. An answer that is wrong with them
    fails by generation. The difference of the two runs, with its test, is the cost of retrieval.
    Swapped runs, and runs without the gold passages, are refused.

    ```sh
    ragassay golden isolate runs/full runs/isolated -m contains_answer
    ```
    """
    from ragassay.engine.diagnosis.isolated_run import CLASSES, isolated
    from ragassay.engine.results import open_run
    from ragassay.reports.views.comparison_view import comparison_report

    result = isolated(open_run(given.full), open_run(given.alone), given.metric, given.threshold)
    if given.json:
        keys = ("queries", "unscored", "unknown")
        body = {key: getattr(result, key) for key in keys}
        show.json({**body, "comparison": result.comparison.to_json()})
        return
    n = sum(map(len, result.queries.values()))
    for kind, sentence in CLASSES.items():
        names = result.queries[kind]
        head = f"{len(names):>5} of {n}  "
        listed = f"  ({few(names)})" if names else ""
        show.wrapped(f"{head}{sentence}{listed}", " " * len(head))
    if result.unscored:
        show.lines(f"{result.unscored:>5}       unscored in either run")
    if result.unknown:
        head = f"{len(result.unknown):>5}       "
        left_out = f"left out: the gold passages are not known  ({few(result.unknown)})"
        show.wrapped(f"{head}{left_out}", " " * len(head))
    show.report(comparison_report(result.comparison))
