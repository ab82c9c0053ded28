"""Faults planted into the bundled example are told apart."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import approved
import ragassay
from planted_faults import IN_CLASS, PLANTED, planted
from ragassay.engine.diagnosis.decision_table import CLASSES
from ragassay.engine.diagnosis.moved_classes import diagnose

METRICS = ["contains_answer", "token_f1.f", "RR", "faithfulness", "citation.f1"]
METRICS += ["idk_eval", "contradicted"]
APPROVED = Path(__file__).parents[1] / "approved" / "diagnosis.txt"
PAGE = Path(__file__).parents[3] / "docs" / "diagnose.md"


@pytest.fixture(scope="module")
def counts() -> Counter[tuple[str, str]]:
    """How many samples of each planted fault were put into each class."""
    faults, samples = zip(*planted(), strict=True)
    result = ragassay.evaluate(list(samples), METRICS)
    faults = tuple(IN_CLASS.get(fault, fault) for fault in faults)
    found = diagnose(result)
    assert found.headline == "contains_answer" and not found.not_looked_at
    return Counter(zip(faults, (one or "fine" for one in found.classes), strict=True))


def lines(counts: Counter[tuple[str, str]]) -> Iterator[str]:
    """The confusion matrix as a table in Markdown."""
    numbered = {one.name: f"{at}" for at, one in enumerate(CLASSES, 1) if one.name in PLANTED}
    heads = {"fine": "fine", **numbered, "unexplained": "not told apart"}
    yield f"| planted | n | {' | '.join(heads.values())} |"
    yield f"|---|{'--:|' * (len(heads) + 1)}"
    for planted_name in ("fine", *numbered):
        row = [counts[planted_name, name] for name in heads]
        cells = " | ".join(str(n) if n else "" for n in row)
        head = f"{numbered.get(planted_name, '')} {planted_name}".strip()
        yield f"| {head} | {sum(row)} | {cells} |"


def test_the_decision_table_of_the_page_has_the_rows_in_order() -> None:
    rows = re.findall(r"^\| (\d+) \| \*\*.+?\*\* \(`(\w+)`\)", PAGE.read_text("utf-8"), re.M)
    assert rows == [(f"{at}", one.name) for at, one in enumerate(CLASSES, 1)]


def test_each_planted_fault_is_found_in_most_samples(counts, request) -> None:
    for name in ("fine", *(PLANTED.keys() - IN_CLASS)):
        n = sum(m for (planted_name, _), m in counts.items() if planted_name == name)
        assert n >= 8 and counts[name, name] >= 0.8 * n, (name, counts)
    approved.check(APPROVED, lines(counts), request.config.getoption("--approve"))
    found = sum(n for (planted_name, name), n in counts.items() if planted_name == name)
    assert f"{found} of {sum(counts.values())} samples" in PAGE.read_text(encoding="utf-8")
