"""``ragassay golden review`` and ``golden agreement``: people look at a golden set."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from ragassay.base.errors import InputError, UsageError
from ragassay.base.note import Note
from ragassay.base.printable import plural
from ragassay.cli import show
from ragassay.cli.command import Given, command
from ragassay.cli.serve_commands import listening, needs_service, run_server

if TYPE_CHECKING:
    from ragassay.review.answer_labels import AnswerLabels


@command("golden review")
def review(given: Given) -> int:
    """Review a golden set on a local page or in a sheet, or label answers to it.

    Keys on the page: a accepts, e edits, r rejects, t tags, n and p move, u undoes, ? helps. Each
    review is kept in reviews.jsonl of the folder. The page shows instructions.md of the folder.

    ```sh
    ragassay golden review golden --reviewer ann
    ragassay golden review golden --overlap 0.2 --people 2 --calibration known
    ragassay golden review golden --xlsx sheet.xlsx
    ragassay golden review golden --read sheet.xlsx --reviewer ann
    ragassay golden review golden --answers answers.jsonl --reviewer ann
    ```

    With --answers, people answer the questions that metrics ask a judge (is the passage relevant,
    does it support the statement). 'ragassay run ANSWERS --golden DIR --judge
    replay:DIR/labels.jsonl' scores by these labels. --overlap and --people apply to them, too.
    """
    from ragassay.golden.golden_folder import GoldenSet, relative_folder
    from ragassay.review.review_sheets import read_sheet, write_sheet
    from ragassay.review.review_store import ReviewStore

    store = ReviewStore(given.folder)
    labels: AnswerLabels | None = None
    if given.answers is not None:
        from ragassay.review.answer_labels import AnswerLabels

        metrics, suite = (each.split(",") if each else () for each in (given.metrics, given.suite))
        labels = AnswerLabels.of(given.folder, given.answers, metrics, suite)
        if given.where or given.xlsx or given.read:
            raise UsageError(
                "--where, --xlsx and --read are for items to review: leave --answers out."
            )
    elif given.metrics or given.suite:
        raise UsageError("--metrics and --suite need --answers FILE.")
    if given.read is not None and (given.where or not given.reviewer):
        raise UsageError(
            "--read needs --reviewer NAME (who made the decisions), and takes no --where."
        )
    settings: dict[str, object] = {"overlap": given.overlap, "people": given.people}
    if given.calibration is not None:
        known = GoldenSet.open(given.calibration)
        if not known.with_status("accepted", "rejected"):
            problem = "has no accepted or rejected item, so no known answers"
            raise InputError(problem, path=given.calibration)
        settings["calibration"] = relative_folder(given.calibration, given.folder)
    if settings := {name: value for name, value in settings.items() if value is not None}:
        store.change_settings(**settings)
    if given.xlsx is not None:
        n = write_sheet(store, given.xlsx, overwrite=given.overwrite, where=given.where or ())
        show.lines(f"{given.xlsx}: {plural(n, 'item')} to review")
    if given.read is not None:
        n, problems = read_sheet(store, given.read, given.reviewer)
        decisions = plural(n, "review")
        show.lines(f"{given.read}: {decisions} taken, {len(problems)} not", *problems)
        return show.INCOMPLETE if problems else show.OK
    if given.xlsx is None:
        needs_service()
        from ragassay.review.review_page import create_review_app

        app = create_review_app(store, given.reviewer or "", labels, given.where or ())
        with listening("127.0.0.1", given.port) as socket:
            url = f"http://127.0.0.1:{socket.getsockname()[1]}"
            if labels is not None:
                asked = plural(labels.progress(given.reviewer or "")["total"], "question")
                show.lines(f"{asked} about answers: labels go into {labels.path}.")
                url += "/answers"
            show.lines(f"The review of {store.folder} is at {url}. Ctrl-C ends it.")
            run_server(app, socket)
    return show.OK


@command("golden agreement")
def agreement(given: Given) -> int:
    """Show how far the reviewers agree, and list their disagreements.

    Krippendorff's alpha, Fleiss' kappa and Cohen's kappa of each pair of people, over independent
    decisions (accept, edit, reject), with intervals by bootstrap over items. The same for labels of
    answers (labels.jsonl), by kind of question. Disagreements are written to adjudication.jsonl; a
    person settles them on the page. Exit code 3: nothing has labels by two people.

    ```sh
    ragassay golden agreement golden
    ```
    """
    from ragassay.review.review_agreement import item_agreement, keep, label_agreement
    from ragassay.review.review_store import ReviewStore

    reviewed = ReviewStore(given.folder)
    items, labels = item_agreement(reviewed), label_agreement(reviewed)
    path = keep(given.folder, items, labels)
    both = {"reviews": items, "labels": labels}
    if given.json:
        body: dict[str, object] = {"labels": {}}
        for prefix, found in (("", items), ("labels_", labels)):
            by_kind = {kind: [*map(asdict, ones)] for kind, ones in found.measures.items()}
            body |= {"labels": by_kind} if prefix else {"agreement": by_kind.get("", [])}
            body[f"{prefix}disagreements"] = found.differ
        body["calibration"] = {who: {"right": n, "of": of} for who, (n, of) in items.known.items()}
        body["seconds"] = {
            what: {name: sum(each) for name, each in agreements.seconds.items()}
            for what, agreements in both.items()
        }
        show.json(body)
        return show.OK if items.measures or labels.measures else show.INCOMPLETE
    for found in both.values():
        for kind, ones in found.measures.items():
            show.lines(*(f"{kind}: {item}" if kind else item for item in ones))
    for name, (n, of) in items.known.items():
        show.lines(f"calibration: {name}: {n} of {of} as known")
    for what, found in both.items():
        for name, seconds in found.seconds.items():
            minutes = f"{sum(seconds) / 60:.1f} minutes for {len(seconds)}"
            show.lines(f"time spent on {what}: {name}: {minutes}")
    if not items.measures and not labels.measures:
        show.lines(str(Note("no_two_reviews", {"folder": str(given.folder)})))
        return show.INCOMPLETE
    differ = [*items.differ, *labels.differ]
    left = sum(record["settled_by"] is None for record in differ)
    of_labels = f" ({len(labels.differ)} of labels)" if labels.differ else ""
    show.lines(f"{path}: {plural(len(differ), 'disagreement')}{of_labels}, {left} to settle")
    return show.OK
