"""A small golden set to review, and the bundled one."""

import shutil
from pathlib import Path
from typing import Any

from ragassay.cli.command_line import call
from ragassay.examples import path_of
from ragassay.golden.golden_folder import GoldenSet, with_contexts
from ragassay.golden.golden_item import GoldenItem, GoldSpan
from ragassay.review.review_store import ReviewStore, version_of

TEXT = "The library opens at nine. 🙂 It closes at six. Cards cost five euros."


def small(folder: Path, n: int = 3, **fields: Any) -> ReviewStore:
    """A store over items i0, i1, … and one document."""
    documents = folder / "documents"
    documents.mkdir(parents=True)
    (documents / "library.md").write_text(TEXT, encoding="utf-8")
    span = GoldSpan(document="library", start=0, end=26, text=TEXT[:26])
    items = [GoldenItem(id=f"i{n}", query=f"When does it open? {n}", references=["nine"],
                        gold=[span], negative_references=[{"text": "ten", "by": "eve"}], **fields)
             for n in range(n)]  # fmt: skip
    made = GoldenSet(folder, items)
    with_contexts(items, made.documents())
    made.save()
    return ReviewStore(folder)


def bundled(folder: Path) -> Path:
    """The bundled queries as a golden set of drafts."""
    town = path_of("hybrid").parent
    shutil.copytree(town / "documents", folder.parent / "docs")
    words = ["--documents", str(folder.parent / "docs"), "-o", str(folder)]
    assert call(["golden", "import", str(town / "queries.jsonl"), *words]) == 0
    return folder


def item_of(store: ReviewStore, name: str) -> GoldenItem:
    """The item as the folder has it now."""
    return next(one for one in GoldenSet.open(store.folder).items if one.id == name)


def version(store: ReviewStore, name: str) -> str:
    """Its version."""
    return version_of(item_of(store, name))
