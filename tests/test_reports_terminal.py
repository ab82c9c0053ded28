"""Tables for the terminal."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType

from ragassay.reports import terminal, wording
from ragassay.scores import Reason, Score, Unscored
from reports_examples import HOSTILE, Kind, example, hostile, pair, result, samples

ANSI = re.compile(r"\x1b\[")


def shown(
    renderable: RenderableType, width: int = 100, encoding: str = "utf-8", **options: object
) -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=stream, width=width, **options)  # type: ignore[arg-type]
    console.print(renderable)
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_tables_fit_the_width_and_show_the_numbers_given(width: int) -> None:
    comparison, a, _ = pair()
    summary = shown(terminal.summary_table(a.summary), width)
    slices = shown(terminal.slices_table(a.summary), width)
    differences = shown(terminal.comparison_table(comparison), width)
    for text in (summary, slices, differences):
        assert max(cell_len(line) for line in text.splitlines()) <= width
    for metric in a.summary.metrics.values():
        assert wording.number(metric.mean) in summary
        assert wording.coverage(metric) in summary
    for d in comparison.differences:
        assert wording.number(d.diff, sign=True) in differences
        assert wording.p_value(d.p_adjusted) in differences
        assert wording.number(d.detectable) in differences
    for piece in a.summary.slices:
        assert wording.number(piece.metrics["AP"].mean) in slices


def test_every_mean_has_its_coverage_and_unscored_reasons() -> None:
    text = shown(terminal.summary_table(example(20).summary), 80)
    assert re.search(r"f1 ↑ .*\d\.\d{4}.* 17/20", text)
    assert "3 not applicable: f1, em, rougeL(stem=false).f" in text
    assert "3 not applicable" in shown(terminal.summary_table(example(20).summary), 140)


def test_an_incomplete_run_says_so() -> None:
    text = shown(terminal.summary_table(replace(example(5).summary, incomplete=2)))
    assert "2 scores missing by accident" in text


def test_nothing_scored_is_a_dash_and_never_a_number() -> None:
    kind = Kind("f1", "F1", "x")
    outcomes = {"f1": [Unscored(Reason.FAILED, "no")] * 3}
    text = shown(terminal.summary_table(result(samples(3), outcomes, (kind,)).summary))
    assert re.search(r"f1 ↑\s+–\s+–\s+0/3", text)
    assert "nan" not in text.lower()


def test_footers_name_test_resamples_seed_correction_and_population() -> None:
    comparison, _, _ = pair()
    text = " ".join(shown(terminal.comparison_table(comparison), 140).split())
    for said in (
        "two-sided paired permutation test, 10,000 resamples, seed 0",
        "p (Holm)",
        "Each mean runs over the queries that both runs scored: n, of 45 in common",
        "95 %, percentile bootstrap",
        "A_mean (new)",
        "B_mean (old)",
        "Diff(A-B)",
        "p_value",
    ):
        assert said in text


def test_piped_output_has_no_ansi_and_no_color_has_no_colour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    comparison, a, _ = pair(10)
    for renderable in (
        terminal.summary_table(a.summary),
        terminal.slices_table(a.summary),
        terminal.comparison_table(comparison),
    ):
        assert not ANSI.search(shown(renderable))
        colourful = shown(renderable, force_terminal=True, color_system="truecolor")
        assert ANSI.search(colourful)
        monkeypatch.setenv("NO_COLOR", "1")
        assert not re.search(r"\x1b\[[0-9;]*3[0-7]", shown(renderable, force_terminal=True))
        monkeypatch.delenv("NO_COLOR")


def test_a_terminal_without_unicode_gets_ascii() -> None:
    comparison, a, _ = pair(10)
    for renderable in (
        terminal.summary_table(a.summary),
        terminal.slices_table(a.summary),
        terminal.comparison_table(comparison),
    ):
        assert shown(renderable, encoding="ascii").isascii()


def test_data_is_neither_markup_nor_terminal_escapes() -> None:
    found = hostile()
    summary = replace(found.summary, title="[bold red]x[/] \x1b[31mred", warnings=("\x1b]0;owned",))
    text = shown(terminal.summary_table(summary), 200) + shown(terminal.slices_table(summary), 200)
    assert "[bold red]x[/]" in text
    assert "\x1b" not in text
    assert HOSTILE[:20] in text


def test_labels_sums_and_directions_are_shown() -> None:
    kinds = (
        Kind("verdict", "A label", "x", (None, None), None),
        Kind("num_rel", "A count", "x", (0.0, None), True, "sum"),
        Kind("errors", "A rate", "x", (0.0, 1.0), False),
    )
    outcomes = {
        "verdict": [Score("yes"), Score("no"), Score("yes")],
        "num_rel": [Score(3), Score(4), Score(5)],
        "errors": [Score(0.1), Score(0.2), Score(0.3)],
    }
    text = shown(terminal.summary_table(result(samples(3), outcomes, kinds).summary))
    assert "verdict: 2 yes, 1 no" in text
    assert re.search(r"num_rel \(sum\) ↑\s+12 ", text)
    assert "errors ↓" in text


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "–"),
        (0.5, "0.5000"),
        (-0.00001, "0.0000"),
        (12.0, "12"),
        (61.6444, "61.644"),
        (1234.56, "1,234.56"),
        (123456.7, "123,456.7"),
        (1.0, "1.0000"),
    ],
)
def test_numbers_are_spelled_one_way(value: float | None, said: str) -> None:
    assert wording.number(value) == said


def test_a_tiny_p_value_is_not_zero() -> None:
    assert wording.p_value(0.00001) == "<0.0001"
    assert wording.p_value(0.0001) == "0.0001"
