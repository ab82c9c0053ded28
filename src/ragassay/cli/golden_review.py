"""``ragassay golden review`` and ``golden agreement``: people look at a golden set."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.cli import show
from ragassay.cli.flags import Switch
from ragassay.cli.golden import golden
from ragassay.cli.serve import listening, needs_service
from ragassay.counts import plural
from ragassay.errors import InputError, UsageError

if TYPE_CHECKING:
    from ragassay.review import Agreement


@golden.command
def review(
    folder: Path,
    /,
    *,
    reviewer: str | None = None,
    port: int = 8766,
    overlap: float | None = None,
    people: int | None = None,
    calibration: Path | None = None,
    xlsx: Path | None = None,
    csv: Path | None = None,
    read: Path | None = None,
) -> int:
    """Review a golden set on a page of this machine, or by a sheet.

    The page is worked with the keyboard: a accepts, e edits, r rejects, t tags, n and p move, u
    takes back, ? helps. Each review is kept in reviews.jsonl of the folder. What stands in
    instructions.md of the folder is shown.

    ```sh
    ragassay golden review golden --reviewer ann
    ragassay golden review golden --overlap 0.2 --people 2 --calibration known
    ragassay golden review golden --xlsx sheet.xlsx
    ragassay golden review golden --read sheet.xlsx --reviewer ann
    ```

    Args:
        folder: The golden set.
        reviewer: Who reviews; else the page asks.
        port: Port of the page.
        overlap: Share of the items that several people review, from 0 to 1; kept for all.
        people: How many people review each of those (default: 2); kept for all.
        calibration: A golden set with known answers, whose items each reviewer gets first; kept
            for all.
        xlsx: Write the items to review as an Excel workbook.
        csv: Write them as a CSV file.
        read: Take the decisions of such a file.
    """
    from ragassay.golden import GoldenSet
    from ragassay.review import ReviewStore, read_sheet, relative_folder, write_sheet

    store = ReviewStore(folder)
    given: dict[str, object] = {"overlap": overlap, "people": people}
    if calibration is not None:
        known = GoldenSet.open(calibration)
        if not known.with_status("accepted", "rejected"):
            raise InputError(
                "holds no accepted and no rejected item: it has no known answers", path=calibration
            )
        given["calibration"] = relative_folder(calibration, folder)
    if given := {name: value for name, value in given.items() if value is not None}:
        store.change_settings(**given)
    sheets = [path for path in (xlsx, csv) if path is not None]
    for path, suffix in ((xlsx, ".xlsx"), (csv, ".csv")):
        if path is not None and path.suffix.casefold() != suffix:
            raise UsageError(f"--{suffix[1:]} {path}: give the file a name that ends in {suffix}.")
    for path in sheets:
        show.lines(f"{path}: {plural(write_sheet(store, path), 'item')} to review")
    if read is not None:
        if not reviewer:
            raise UsageError("--read needs --reviewer NAME: whose decisions they are.")
        taken, troubles = read_sheet(store, read, reviewer)
        show.lines(f"{read}: {plural(taken, 'review')} taken, {len(troubles)} not", *troubles)
        return show.INCOMPLETE if troubles else show.OK
    if not sheets:
        _serve(store.folder, reviewer or "", port)
    return show.OK


@golden.command
def agreement(folder: Path, /, *, json: Switch = False) -> int:
    """Say how far the reviewers agree, and list what they do not agree on.

    Krippendorff's alpha, Fleiss' kappa and Cohen's kappa of each two people, over independent
    decisions (accept, edit, reject), with intervals by bootstrap over items. The disagreements are
    written to adjudication.jsonl, which the page shows, too, and alpha into the card. Exit code 3:
    no item has two reviews.

    ```sh
    ragassay golden agreement golden
    ```

    Args:
        folder: The reviewed golden set.
        json: Print as JSON.
    """
    from ragassay.review import (
        ReviewStore,
        agreement as measured,
        disagreements,
        save_adjudication,
        tell_card,
    )

    store = ReviewStore(folder)
    found, differ = measured(store), disagreements(store)
    path = save_adjudication(store, differ)
    if found:
        tell_card(store, f"{_in_words(found[0])}.")
    known = {
        name: (sum(bool(one.right) for one in given.values()), len(given))
        for name, given in sorted(store.standing().calibration.items())
    }
    if json:
        body = [
            {
                "name": one.name, "people": one.people, "n_items": one.n_items, "share": one.share,
                "value": one.value, "interval": one.interval,
            }
            for one in found
        ]  # fmt: skip
        right = {name: {"right": n, "of": of} for name, (n, of) in known.items()}
        show.json({"agreement": body, "calibration": right, "disagreements": differ})
        return show.OK if found else show.INCOMPLETE
    show.lines(*map(_in_words, found))
    show.lines(*(f"calibration: {name}: {n} of {of} as known" for name, (n, of) in known.items()))
    if not found:
        show.lines(
            f"{folder}: no item has reviews by two people. 'ragassay golden review {folder} "
            "--overlap 0.2' gives a share of the items to several."
        )
        return show.INCOMPLETE
    left = sum(one["status"] == "draft" for one in differ)
    show.lines(f"{path}: {plural(len(differ), 'disagreement')}, {left} to settle")
    return show.OK


def _in_words(one: Agreement) -> str:
    value = "undefined (one decision throughout)" if one.value is None else f"{one.value:.3f}"
    if one.interval is not None:
        value += f" [{one.interval[0]:.3f}, {one.interval[1]:.3f}]"
    return (
        f"{one.name}: {value}, {plural(one.n_items, 'item')}, {one.share:.0%} alike: "
        f"{', '.join(one.people)}"
    )


def _serve(folder: Path, reviewer: str, port: int) -> None:
    needs_service()
    import uvicorn

    from ragassay.review import ReviewStore, create_review_app

    app = create_review_app(ReviewStore(folder), reviewer)
    with listening("127.0.0.1", port) as socket:
        url = f"http://127.0.0.1:{socket.getsockname()[1]}"
        show.lines(f"The review of {folder} is at {url}. Ctrl-C ends it.")
        config = uvicorn.Config(
            app, log_level="warning", server_header=False, timeout_graceful_shutdown=5
        )
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run([socket])
