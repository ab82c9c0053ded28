"""The card of a golden set, ``card.md``: what it holds and how it was made, for people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragassay.base.files import write_text
from ragassay.golden.golden_item import GoldenItem

CARD = "card.md"
_LINES = (
    re.compile(r"^Items: \d+(?: \(.*\))?\.$", re.M),
    re.compile(r"^Types: (?:\d+ .*|none|)\.$", re.M),
    re.compile(r"^Documents left out, because they cannot be (?:read|taken): .*\n(?:\n|\Z)", re.M),
)
"""The lines that follow from the set, as they were written: its counts, and the files that could
not be read, with the empty line after it."""


def write_card(
    folder: Path, items: Sequence[GoldenItem], left_out: Mapping[str, str], made: str
) -> None:
    """Writes ``card.md``, unless the folder has one."""
    path = folder / CARD
    if path.exists():
        return
    counts, types, unread = _lines(items, left_out)
    text = f"""# {folder.resolve().name}

What it is for: (write it here)

How it was made: {made}

{counts}

{types}

{unread}Agreement of reviewers: not measured.

Licence: (write it here)
"""
    write_text(path, text)


def refresh_card(folder: Path, items: Sequence[GoldenItem], left_out: Mapping[str, str]) -> None:
    """Writes the lines anew that follow from the set, where they still stand as we wrote them."""
    change_card(folder, zip(_LINES, _lines(items, left_out), strict=True))


def change_card(folder: Path, lines: Iterable[tuple[re.Pattern[str], str]]) -> None:
    """Replaces lines of the card, where there is a card that has them."""
    path = folder / CARD
    if not path.is_file():
        return
    text = path.read_text(encoding="utf-8")
    changed = text
    for pattern, line in lines:
        # A function, because a line may hold what a replacement gives a meaning.
        changed = pattern.sub(lambda _, line=line: line, changed, count=1)  # type: ignore[misc]
    if changed != text:
        write_text(path, changed)


def _lines(items: Sequence[GoldenItem], left_out: Mapping[str, str]) -> tuple[str, str, str]:
    """The texts of `_LINES`."""
    counts, types = "Items: 0.", "Types: none."
    if items:
        counts = f"Items: {len(items)} ({_counted(item.status for item in items)})."
        types = f"Types: {_counted(item.type or 'no type' for item in items)}."
    files = "; ".join(f"{name} ({why})" for name, why in left_out.items())
    unread = f"Documents left out, because they cannot be taken: {len(left_out)}: {files}.\n\n"
    return counts, types, unread if left_out else ""


def _counted(kinds: Iterable[Any]) -> str:
    return ", ".join(f"{n} {name}" for name, n in Counter(kinds).most_common())
