"""Every report of a comparison states the confidence level that its intervals have."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import ragassay
from ragassay.cli import call
from ragassay.engine.comparison.compared_arrays import compare_arrays
from ragassay.reports.text import footnotes, markdown, terminal, wording

NAMES = ["better", "same"]


def arrays() -> tuple[np.ndarray, np.ndarray]:
    """Forty queries; only the first metric differs."""
    noise = np.random.default_rng(3).normal(0, 0.1, (2, 40))
    return noise + np.array([[0.3], [0.0]]), np.zeros((2, 40))


@pytest.mark.parametrize(
    ("correction", "level", "said"),
    [
        ("holm", 0.95, "at 97.5 % for better, 95 % for same"),
        ("none", 0.95, "at 95 %."),
        ("none", 0.9, "at 90 %."),
    ],
)
def test_the_notes_state_the_level_of_each_interval(
    correction: str, level: float, said: str
) -> None:
    found = compare_arrays(NAMES, *arrays(), correction=correction, level=level)
    notes = footnotes.comparison_notes(found)
    assert said in next(note for note in notes if note.startswith("Interval of the difference"))
    (detectable,) = (note for note in notes if note.startswith("Detectable"))
    assert f"at the {wording.percent(1 - level)} level" in detectable


def test_many_levels_are_told_by_their_ends() -> None:
    generator = np.random.default_rng(3)
    rows = generator.normal(0.3, 0.1, (10, 40))
    found = compare_arrays([f"m{at}" for at in range(10)], rows, 0 * rows, correction="holm")
    levels = sorted(d.level for d in found.differences)
    said = f"at {wording.confidence(levels[0])} to {wording.confidence(levels[-1])} "
    assert (wording.confidence(levels[0]), wording.confidence(levels[-1])) == ("95 %", "99.5 %")
    assert said in " ".join(footnotes.comparison_notes(found))


def test_where_nothing_is_shown_the_notes_say_what_the_intervals_exclude() -> None:
    """ "No difference shown" on few queries is easily read as "equal"."""
    new, old = arrays()
    found = compare_arrays(["same"], new[1:], old[1:])
    (only,) = found.differences
    assert only.verdict == "no difference shown" and only.low is not None and only.high is not None
    margin = wording.number(max(-only.low, only.high))
    said = f"the intervals exclude only a true difference of more than {margin} in same."
    assert footnotes.comparison_notes(found)[0].endswith(said)
    many = np.concatenate([new[1:] * factor for factor in range(1, 20_001, 2_500)])
    told = footnotes.comparison_notes(compare_arrays([f"m{at}" for at in range(8)], many, 0 * many))
    assert re.search(r"more than 0\.0\d+ to \d[\d,.]+, by metric", told[0])
    few = footnotes.comparison_notes(compare_arrays(["few"], new[:1, :2], old[:1, :2]))
    assert few[0].endswith("there is none: 1 metric without an interval excludes nothing.")
    for with_one in (compare_arrays(NAMES, new, old), compare_arrays(["better"], new[:1], old[:1])):
        assert not any("exclude only" in note for note in footnotes.comparison_notes(with_one))


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_no_heading_of_a_table_states_one_level_for_all(width: int) -> None:
    found = compare_arrays(NAMES, *arrays(), correction="holm")
    console = Console(width=width, record=True, file=None, force_terminal=False)
    with console.capture() as shown:
        console.print(terminal.comparison_table(found))
    for text in (shown.get(), markdown.comparison(found)):
        words = " ".join(text.split())
        assert not re.search(r"95\s?% interval", words)
        assert "97.5 % for better, 95 % for same" in words


def test_page_and_picture_state_the_levels(tmp_path: Path) -> None:
    def run(name: str, right: int) -> str:
        records = [
            {"id": f"q{at}", "query": "Who?", "answer": said, "references": ["Ann Lee"]}
            for at, said in enumerate(["Ann Lee"] * right + ["Bob"] * (30 - right))
        ]
        ragassay.evaluate(records, ["em", "contains_answer", "rougeL.f"], save=tmp_path / name)
        return str(tmp_path / name)

    runs = [run("new", 28), run("old", 4)]
    said = footnotes.interval_levels(ragassay.compare(*runs, correction="holm"))
    assert said.startswith("at 98.33 % for em, 97.5 % for contains_answer, 95 % for")
    for name in ("c.html", "c.svg"):
        assert call(["compare", *runs, "--correction", "holm", "-o", f"{tmp_path}/{name}"]) == 0
        words = " ".join(re.sub(r"<[^>]*>", " ", (tmp_path / name).read_text()).split())
        assert not re.search(r"95\s?% interval", words)
        assert said[:47] in words


@pytest.mark.parametrize(
    ("level", "said"), [(0.95, "95 %"), (0.975, "97.5 %"), (1 - 1e-5, "99.999 %"), (0.5, "50 %")]
)
def test_a_level_is_never_rounded_to_certainty(level: float, said: str) -> None:
    assert wording.confidence(level) == said
