"""Documents of which most sentences are equal are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.cli.command_line import call
from ragassay.golden.checks.item_checks import nearly_alike
from ragassay.golden.documents import Document

HANDBOOK = "# Handbook\n\n" + " ".join(
    f"The {name} opens at {hour} in the morning."
    for hour, name in enumerate(("office", "canteen", "store", "garage", "yard", "gate", "gym"), 5)
)
OLDER = HANDBOOK.replace("office opens at 5", "office opens at 4")


def documents(**texts: str) -> dict[str, Document]:
    return {name: Document(name, f"{name}.md", text, name, "utf-8") for name, text in texts.items()}


def test_pairs_from_four_fifths_of_equal_sentences_are_named() -> None:
    other = HANDBOOK.replace("morning", "evening")
    found = nearly_alike(documents(new=HANDBOOK, old=OLDER, other=other))
    assert [(one.first, one.second, round(one.share, 3)) for one in found] == [
        ("new", "old", 0.875)
    ]
    short = "# Prices\n\nA card costs 4 euros."
    assert nearly_alike(documents(a=short, b=short)) == []


def test_many_documents_with_one_sentence_in_common_are_no_pairs() -> None:
    texts = {f"d{n}": f"All rights reserved. {n}a. {n}b. {n}c." for n in range(2000)}
    assert nearly_alike(documents(**texts)) == []
    copies = {f"c{n}": HANDBOOK.replace("gym", f"gym {n}") for n in range(30)}
    assert len(nearly_alike(documents(**copies))) == 29


def test_synthesize_and_check_name_the_pairs(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("docs").mkdir()
    Path("docs/handbook.md").write_text(HANDBOOK)
    Path("docs/handbook-2024.md").write_text(OLDER)
    Path("docs/shop.md").write_text("# Shop\n\n## Prices\n\nA new card costs 4 euros.\n")
    assert call(["golden", "synthesize", "docs", "-o", "golden", "--n", "1"]) == 0
    pair = "handbook-2024 and handbook have 88% of their sentences in common"
    told = " ".join(capsys.readouterr().err.split())
    assert f"1 pair of documents nearly alike: {pair}." in told
    call(["golden", "check", "golden"])
    assert pair in " ".join(capsys.readouterr().out.split())
