"""Markdown for a pull request."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given, strategies as st

from ragassay.reports.drawn.markdown import escape, markdown
from ragassay.reports.text import wording
from ragassay.reports.views.summary_view import summary_report
from reports_examples import example, hostile, pair
from terminal_text import full_report


def tables(text: str) -> list[list[str]]:
    """The cells of every table row, split at pipes as Markdown splits them."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [re.split(r"(?<!\\)\|", row)[1:-1] for row in rows]


def test_the_verdict_comes_first_and_the_numbers_follow() -> None:
    comparison, _, _ = pair()
    text = markdown(full_report(comparison))
    better = [d.name for d in comparison.differences if d.verdict == "better"]
    assert text.index(f"**Better on {escape(', '.join(better))}.") < text.index("|")
    for d in comparison.differences:
        assert wording.number(d.diff, sign=True) in text
    rows = [[cell.strip().replace("&lt;", "<") for cell in row] for row in tables(text)]
    half = len(rows) // 2
    first, second = ({row[0]: row[1:] for row in part} for part in (rows[:half], rows[half:]))
    for d in comparison.differences:
        (name,) = [one for one in first if one.split()[0] == escape(d.name)]
        assert first[name][3].endswith(d.verdict)
        tests = [wording.p_value(value) for value in (d.p_value, d.t_p_value, d.p_adjusted)]
        assert second[name][1:4] == tests


def test_an_incomplete_run_says_so_before_its_table() -> None:
    text = markdown(summary_report(replace(example(5).summary, incomplete=4)))
    assert text.index("incomplete") < text.index("| metric")


def test_pipes_newlines_and_tags_in_names_cannot_break_the_table() -> None:
    found = hostile()
    name = "a|b\nc`d`<script>@team#1"
    metric = replace(found.summary.metrics[next(iter(found.summary.metrics))], name=name)
    text = markdown(summary_report(replace(found.summary, metrics={name: metric})))
    assert "<script" not in text and "<img" not in text
    assert len({len(row) for row in tables(text)}) == 1
    assert "a\\|b c\\`d\\`&lt;script&gt;@\u200bteam#1" in text


@given(st.text(max_size=40))
def test_escaped_text_has_no_markup_of_its_own(text: str) -> None:
    found = escape(text)
    assert not re.search(r"[<>\n\r]|&(?!amp;|lt;|gt;)", found)
    assert not re.search(r"[`*_\[\]|~$]", re.sub(r"\\[\\`*_\[\]|~$]", "", found))
