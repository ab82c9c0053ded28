"""What a comparison says below its table: facts, a few lines of them, and how it was made."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import ragassay
from ragassay.base.note import Note
from ragassay.cli.command_line import call
from ragassay.engine.comparison.differences import compare_arrays
from ragassay.reports.text import wording
from ragassay.reports.views.comparison_view import comparison_report
from terminal_text import full_report, said, shown

NAMES = ["better", "same"]


def arrays() -> tuple[np.ndarray, np.ndarray]:
    """Forty queries; only the first metric differs."""
    noise = np.random.default_rng(3).normal(0, 0.1, (2, 40))
    return noise + np.array([[0.3], [0.0]]), np.zeros((2, 40))


def kinds(*args, **options) -> dict[str, ragassay.base.note.Note]:
    """The notes of a comparison of arrays, by kind."""
    return {note.kind: note for note in compare_arrays(*args, **options).notes}


@pytest.mark.parametrize("correction", ["maxt", "holm", "bh"])
def test_one_note_says_for_how_many_metrics_it_is_corrected(correction: str) -> None:
    notes = kinds(NAMES, *arrays(), correction=correction)
    assert notes["corrected"].counts == {"n": 2}
    assert notes[f"correction_{correction}"].severity == "detail"


def test_where_nothing_is_shown_a_note_says_what_would_have_been_found() -> None:
    """ "No difference shown" on few queries is easily read as "equal"."""
    new, old = arrays()
    found = compare_arrays(["same"], new[1:], old[1:])
    (only,) = found.differences
    assert only.verdict == "no difference shown"
    (note,) = [one for one in found.notes if one.kind == "would_find_one"]
    assert note.counts["least"] == only.detectable
    assert "would_find_one" not in kinds(NAMES, new, old)  # one of them is shown
    few = kinds(["few"], new[:1, :2], old[:1, :2])
    assert few["too_few"].names == ("few",) and few["too_few"].counts == {"n": 2}


def doubtful(how_many: int) -> tuple[np.ndarray, np.ndarray]:
    """One graded metric of 60 queries, of which so many are worse."""
    new, old = np.full((1, 60), 0.5), np.full((1, 60), 0.5)
    new[0, :how_many] -= np.linspace(0.1, 0.4, how_many)
    return new, old


def test_a_finding_on_few_differing_queries_is_indicative_with_one_warning() -> None:
    notes = kinds(["m"], *doubtful(8))
    assert notes["few_differ"].names == ("m",) and notes["few_differ"].severity == "warning"
    (difference,) = compare_arrays(["m"], *doubtful(8)).differences
    assert difference.verdict == "indicative" and difference.hint == "worse"
    assert wording.verdict(difference) == "only a hint: worse"
    (firm,) = compare_arrays(["m"], *doubtful(12)).differences
    assert firm.verdict == "worse" and "few_differ" not in kinds(["m"], *doubtful(12))


def run(folder: Path, name: str, values: list[float]) -> str:
    """The folder of a run of judged values."""

    @ragassay.metric
    def graded(metadata):
        return metadata["value"]

    records = [
        {"id": f"q{at}", "query": "Who?", "answer": "Ann.", "metadata": {"value": value}}
        for at, value in enumerate(values)
    ]
    ragassay.evaluate(records, [graded], save=folder / name)
    return str(folder / name)


@pytest.mark.parametrize(
    ("worse", "code"), [(8, 3), (30, 1), (0, 0)], ids=["a hint", "a verdict", "equal"]
)
def test_a_finding_that_is_a_hint_ends_with_3(
    tmp_path: Path, worse: int, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    losses = [0.5 - 0.01 * (at + 1) for at in range(worse)]
    new = run(tmp_path, "new", [*losses, *[0.5] * (60 - worse)])
    old = run(tmp_path, "old", [0.5] * 60)
    assert call(["compare", new, old, "--fail-if-worse"]) == code
    capsys.readouterr()
    assert call(["compare", new, old, "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    kinds = {note["kind"] for note in body["comparisons"][0]["notes"]}
    assert ("few_differ" in kinds) == (code == 3)


@pytest.mark.parametrize("interval", ["t", "bca"])
def test_the_interval_of_a_difference_is_always_that_of_its_test(
    tmp_path: Path, interval: str
) -> None:
    new = ragassay.open_run(run(tmp_path, "new", [0.4, 0.6, 0.3] * 9))
    old = ragassay.open_run(run(tmp_path, "old", [0.5, 0.5, 0.5] * 9))
    plain, asked = ragassay.compare(new, old), ragassay.compare(new, old, interval=interval)
    assert asked.differences == plain.differences
    assert "interval_ignored" in {note.kind for note in asked.notes}


def test_at_most_four_notes_stand_below_a_comparison() -> None:
    rows = np.random.default_rng(3).normal(0.3, 0.1, (10, 40))
    found = compare_arrays(
        [f"m{at}" for at in range(10)],
        rows,
        0 * rows,
        brought=[Note("text", {"text": "A fact."}, severity="warning")] * 6,
    )
    assert "more notes: --full" in said(found)[-1]
    assert len(said(found)) == 4 and said(found, full=True)[:6] == ["A fact."] * 6
    assert "random patterns" not in shown(comparison_report(found))
    assert "random patterns" in shown(full_report(found))


def test_page_and_markdown_say_how_the_comparison_was_made(tmp_path: Path) -> None:
    new, old = run(tmp_path, "new", [0.4, 0.6] * 20), run(tmp_path, "old", [0.5] * 40)
    for name in ("c.html", "c.md"):
        assert call(["compare", new, old, "-o", f"{tmp_path}/{name}"]) == 0
        text = " ".join((tmp_path / name).read_text().split())
        assert "two-sided paired sign flips" in text
