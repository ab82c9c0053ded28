"""Tables for the terminal, Markdown for a pull request, pieces of an answer, sentences of notes."""

import re
import string
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from rich.cells import cell_len

import ragassay
from ragassay.base.note import Note
from ragassay.base.printable import dollars, plural
from ragassay.base.sample import Sample
from ragassay.base.score import AND, Reason, Score, Unscored
from ragassay.engine.comparison.differences import compare_arrays
from ragassay.engine.results.score_rows import ScoreRow
from ragassay.engine.results.summary import MetricSummary, Slice, Spending, Summary
from ragassay.engine.run.cost_estimate import Amount, CallPlan, Range, Throughput
from ragassay.engine.run.rescoring import Evidence, Explained
from ragassay.reports.charts.boxes import boxplots, overview
from ragassay.reports.drawn.html import cell_html
from ragassay.reports.drawn.markdown import escape, markdown
from ragassay.reports.html import pages
from ragassay.reports.model import Column, Report, lines, part, table
from ragassay.reports.text import wording
from ragassay.reports.views import evidence_view, summary_view
from ragassay.reports.views.comparison_view import comparison_report, reach_of
from ragassay.reports.views.consistency_view import consistency_report
from ragassay.reports.views.diagnosis_view import verdict_of
from ragassay.reports.views.evidence_view import AnswerPiece, answer_pieces, shared_prompt, spread
from ragassay.reports.views.plan_view import _duration, _short, call_part
from ragassay.reports.views.summary_view import slice_parts, summary_notes, summary_report
from reports_examples import HOSTILE, Kind, example, hostile, pair, result, samples
from terminal_text import full_report, said as said_below, shown

ANSI = re.compile(r"\x1b\[")


def slices(summary: Summary) -> Report:
    return Report("", tuple(slice_parts(summary)))


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_tables_fit_the_width_and_show_the_numbers_given(width: int) -> None:
    _, a, _ = pair()
    summary = shown(summary_report(a.summary), width)
    by_slice = shown(slices(a.summary), width)
    for text in (summary, by_slice):
        assert max(cell_len(line) for line in text.splitlines()) <= width
    for metric in a.summary.metrics.values():
        assert wording.number(metric.mean) in summary
        assert wording.coverage(metric) in summary
    assert all(wording.number(piece.metrics["AP"].mean) in by_slice for piece in a.summary.slices)
    named = {"name": "answer_correctness", "judge": "oracle"}
    judged = replace(a.summary.metrics["AP"], n_scored=114, n_total=120, **named)
    one = replace(a.summary, metrics={"answer_correctness": judged})
    assert "114/120" in shown(summary_report(one), width)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("width", [50, 80, 96, 134])
def test_no_width_cuts_a_verdict_or_a_number_of_a_comparison(width: int, full: bool) -> None:
    comparison, _, _ = pair()
    first, *others = comparison.differences
    hinted = replace(first, standing="indicative", low=0.0123, high=0.2345)
    comparison = replace(comparison, differences=(hinted, *others))
    table = full_report if full else comparison_report
    text = shown(table(comparison), width)
    assert max(cell_len(line) for line in text.splitlines()) <= width and "…" not in text
    rows = text.split("answers are right")[0]
    for d in comparison.differences:
        verdict = "only a hint: better" if d is hinted else d.verdict
        said = [wording.verdict(one) for one in (hinted, *others)]
        assert rows.count(verdict) == said.count(verdict) + (verdict == "better")
        assert all(wording.number(number) in rows for number in (d.a_mean, d.b_mean))
        assert wording.number(d.diff, sign=True) in rows
        assert not (full or width >= 96) or wording.bounds(d.low, d.high, sign=True) in rows
        for p in (d.p_value, d.t_p_value, d.p_adjusted):
            assert not full or wording.p_value(p) in rows
        assert not full or wording.number(d.detectable) in rows


def test_coverage_reasons_and_labels_are_in_the_readers_words() -> None:
    text = shown(summary_report(example(20).summary), 80)
    assert re.search(r"f1 ↑ .*\d\.\d{4}.* 17/20", text)
    assert re.search(r"f1, em, rougeL\(stem=false\)\.f .* 3 of 20", text)
    data: list[dict[str, Any]] = [
        {"id": f"{at}", "query": "Where is it?", "answer": "By the river.", **more}
        for at, more in enumerate(({"references": ["By it"]}, {"gold": ["x"]}, {}))
    ]
    found = ragassay.evaluate(data, ["em", "no_answer"]).summary
    text = shown(summary_report(found), 140)
    assert "em: 2 of 3 queries have no reference answer." in text
    assert "answered: 3 of 3." in text and "not applicable" not in text
    kind = replace(found.metrics["no_answer"], name="attribution", metric="ragreport_attribution",
                   labels={"[]": 2, "[1]": 1})  # fmt: skip
    text = shown(summary_report(replace(found, metrics={kind.name: kind})), 140)
    assert "attribution: 2 of 3 answers use no passage." in text
    data = [{"id": "1", "answer": "a"}, {"id": "2", "query": "q", "passages": ["p"]}]
    text = shown(summary_report(ragassay.evaluate(data, ["answered", "umbrela"]).summary), 140)
    for lacking in ("umbrela: 1 of 2 queries has no question", "answered: 1 of 2 queries has no a"):
        assert lacking in text  # each part has a line
    # One reason is one sentence, also where a label excuses the system; no label is not said.
    labels = ("answerable", "unanswerable", "underspecified")
    data = [{"id": one, "query": "Who?", "answer": "I don't know.", "passages": ["p"],
             "answerability": one} for one in labels]  # fmt: skip
    found = ragassay.evaluate(data, ["faithfulness", "refusals_right"]).summary
    text = shown(summary_report(found), 140)
    assert "faithfulness: 3 of 3 answers make no claim." in text and "to measure" not in text
    assert "refusals_right: 1 of 3 queries has no label that says whether to answer." in text


def test_the_sentence_of_a_run_says_where_it_is_only_a_hint() -> None:
    data = [{"id": f"{n}", "query": "Where?", "answer": "By it.", "references": ["By it."],
             "given": {"RB_llm": 1.0}} for n in range(3)]  # fmt: skip
    for metric, hinted in (("answer_match", True), ("contains_answer", True), ("rb_llm", False)):
        diagnosis = ragassay.diagnose(ragassay.evaluate(data, [metric]))
        assert diagnosis.only_hint is hinted
        assert (wording.HINT in verdict_of(diagnosis)) is hinted
    # Nothing scored is a dash, and never a number.
    kinds, lost = (Kind("f1", "F1", "x"), Kind("em", "EM", "x")), [Unscored(Reason.FAILED, "no")]
    for em, row in (([Score(1.0)], True), (lost, False)):  # without any value there is no table
        outcomes = {"f1": lost * 3, "em": em * 3}
        text = shown(summary_report(result(samples(3), outcomes, kinds).summary))
        assert bool(re.search(r"f1 ↑\s+–\s+–\s+0/3", text)) is row
        assert "nan" not in text.lower()
    found = result(samples(2), {"f1": [Score(0.63)] * 2}, (Kind("f1", "F1", "x"),))
    for encoding, bar in (("utf-8", "███████▌····"), ("ascii", "########....")):
        assert bar in shown(summary_report(found.summary), encoding=encoding)


def test_a_comparison_by_clusters_says_so_in_every_form(tmp_path: Path) -> None:
    plain, a, _ = pair(20)
    clustered = replace(plain, clustered_by="conversation", n_clusters=7)
    said = "The queries of one conversation are tested together (7 clusters)."
    assert "3 new and 0" in wording.compared_on(replace(plain, unpaired=True, only_a=3, only_b=0))
    for found in (plain, clustered):
        pages.write_comparison(found, tmp_path / "c.html")
        report = full_report(found)
        texts = [shown(report, 200), markdown(report), (tmp_path / "c.html").read_text()]
        for text in (*texts, " ".join(overview(found, a).notes)):
            assert (said in text) is ("tested together" in text) is (found is clustered)


def test_at_most_four_lines_stand_below_a_comparison_and_all_in_full() -> None:
    warnings = tuple(f"warning {n}" for n in range(6))
    brought = tuple(Note("text", {"text": one}, severity="warning") for one in warnings)
    comparison = replace(pair(20)[0], brought=brought)
    assert said_below(comparison) == [
        *warnings[:4],
        "2 more notes: in .notes and .differences, or the HTML page.",
    ]
    assert said_below(replace(comparison, brought=brought[:4])) == [*warnings[:4]]
    new, old = np.full((2, 12, 40), 0.5)
    new[11] += np.linspace(0.1, 0.4, 40)  # of many metrics, those with a verdict are shown
    short = shown(comparison_report(compare_arrays([f"m{at:02}" for at in range(12)], new, old)))
    assert re.findall(r"m\d\d(?= ↑)", short) == [f"m{at:02}" for at in (*range(9), 11)]
    assert "2 more metrics" in short
    everything = said_below(comparison, full=True)
    assert everything[: len(warnings)] == list(warnings)
    text = " ".join(shown(full_report(comparison), 200).split())
    assert all(line in text for line in everything)


def test_slices_that_are_numbers_stand_in_their_order_and_others_as_they_come() -> None:
    metrics = example(10).summary.metrics
    columns = {"turn": ["2", "10", "1", "-1"], "year": ["b", "2025", "a", "2024.5"]}
    every = [Slice(name, v, 5, metrics) for name, values in columns.items() for v in values]
    summary = replace(example(10).summary, slices=tuple(every))
    lines = [line.split() for line in shown(slices(summary), 140).splitlines()]
    for line in ("By turn", "metric -1 1 2 10", "By year", "metric 2024.5 2025 b a"):
        assert line.split() in lines or line.split()[1:] in lines
    bare = {"f1": replace(metrics["f1"], low=None, high=None)}  # of values that are all equal
    text = shown(slices(replace(summary, slices=(Slice("turn", "1", 5, bare),))))
    assert f"{wording.number(bare['f1'].mean)} 9/10" in text and wording.NOTHING not in text


@pytest.mark.parametrize(("columns", "most"), [("80", 80), ("200", 100)])
def test_printed_text_is_as_wide_as_the_terminal_up_to_100(columns, most: int, monkeypatch) -> None:
    comparison, a, _ = pair(20)
    nothing = replace(comparison.differences[0], diff=None, low=None, high=None, p_value=None)
    monkeypatch.setenv("COLUMNS", columns)
    text = str(replace(comparison, differences=(nothing, *comparison.differences[1:])))
    assert max(map(len, text.splitlines())) <= most and "None" not in text
    assert ("interval" in text) is (most >= 97)
    assert repr(a) == "<Result 'hybrid': metrics=7 samples=20>"


def test_no_color_has_no_colour_and_neither_pipes_nor_data_have_ansi(monkeypatch) -> None:
    comparison, a, _ = pair(10)
    for renderable in (summary_report(a.summary), slices(a.summary), comparison_report(comparison)):
        assert not ANSI.search(shown(renderable))
        colourful = shown(renderable, force_terminal=True, color_system="truecolor")
        assert ANSI.search(colourful)
        monkeypatch.setenv("NO_COLOR", "1")
        assert not re.search(r"\x1b\[[0-9;]*3[0-7]", shown(renderable, force_terminal=True))
        monkeypatch.delenv("NO_COLOR")
        assert shown(renderable, encoding="ascii").isascii()
    found = hostile()
    notes = (Note("text", {"text": "\x1b]0;owned"}),)
    summary = replace(found.summary, title="[bold red]x[/] \x1b[31mred", notes=notes)
    text = shown(summary_report(summary), 200) + shown(slices(summary), 200)
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
        "verdict": [Score([1]), Score([]), Score([1])],
        "num_rel": [Score(3), Score(4), Score(5)], "errors": [Score(0.1), Score(0.2), Score(0.3)],
    }  # fmt: skip
    found = result(samples(3), outcomes, kinds)
    text = shown(summary_report(found.summary))
    assert "verdict: 2 [1], 1 []" in text
    assert re.search(r"num_rel \(sum\) ↑\s+12 ", text)
    assert "errors ↓" in text
    below = {panel.title: panel.below for panel in boxplots(found).panels}
    assert (below["num_rel"], below["errors"]) == ("higher is better", "lower is better")


@pytest.mark.parametrize(("value", "said"), [
    (None, "–"), (0.5, "0.5000"), (-1e-17, "0.0000"), (12.0, "12"), (61.6444, "61.644"),
    (1234.56, "1,234.56"), (123456.7, "123,456.7"), (1.0, "1.0000"), (-10.0, "-10"),
    (10.5, "10.500"), (100.25, "100.25"), (10_000.5, "10,000.5"), (-3.114e-5, "-0.0000311"),
])  # fmt: skip
def test_numbers_are_spelled_one_way(value: float | None, said: str) -> None:
    assert wording.number(value) == said
    assert wording.bounds(0.00001, 0.2) == "[0.0000, 0.2000]"
    ps = {None: "–", 0.0: "<0.0001", 0.000049: "<0.0001", 0.00005: "0.0001", 1.0: "1.0000"}
    assert [*map(wording.p_value, ps)] == [*ps.values()]


@pytest.mark.parametrize(("title", "system", "said"), [
    ("places.v2.jsonl", "", "Evaluation of places.v2"), ("places.jsonl", "rag", "rag on places"),
    ("rag", "rag", "rag"), ("v1.0", "", "v1.0"), ("", "rag", "Evaluation"),
])  # fmt: skip
def test_a_page_is_called_after_the_system_and_the_data(title: str, system: str, said) -> None:
    found = ragassay.evaluate([{"id": "1", "answer": "a b"}], ["em", "answer_words"])
    summary = replace(found.summary, title=title, system=system)
    page = summary_view.written_report(replace(found, summary=summary))
    assert page.title == said and page.verdict.startswith("answer_words is 2.0000")


def test_a_total_says_of_which_samples_it_is_or_why_there_is_none() -> None:
    names = ("rl_f_idk", "rb_llm_idk", "rb_agg_idk")
    one = MetricSummary("", "", "", 0.5, n_scored=1, n_total=2, unscored={"not_applicable": 1})
    metrics = {name: replace(one, name=name, metric=name) for name in names}
    metrics["rb_llm_idk"] = replace(one, name="rb_llm_idk", metric="rb_llm_idk", n_scored=2)
    whole = Summary("t", "mtrag", "", 2, 2, "", metrics, totals={"ranking_score": 0.25})
    (said,) = [line for line in summary_notes(whole) if line.startswith("ranking_score")]
    assert "0.2500" in said and "samples: rl_f_idk 1/2, rb_agg_idk 1/2 scored" in said
    metrics["rl_f_idk"] = replace(metrics["rl_f_idk"], unscored={"timeout": 1})
    (said,) = [line for line in summary_notes(replace(whole, totals={})) if "ranking_s" in line]
    assert "none (rl_f_idk: 1 timeout)" in said
    del metrics["rl_f_idk"]  # the run was asked for fewer
    assert "ranking_score" not in " ".join(summary_notes(replace(whole, totals={})))


def test_costs_times_and_tokens_are_short_and_said_as_far_as_they_are_known() -> None:
    some = Spending("j", cost=0.5, unpriced=2, input_tokens=9)
    assert all(one in wording.cost(some) for one in ("$0.50", "2 calls", "--price"))
    none = wording.cost(replace(some, cost=0.0, input_tokens=0))
    assert "2 calls" in none and "$" not in none and "--price" not in none
    assert wording.cost(replace(some, unpriced=0)) == "$0.50"
    ways = [wording.direction(way).split()[0] for way in (True, False, None)]
    assert ways == ["higher", "lower", "neither"]
    spent = {0: "$0.00", 0.0099: "<$0.01", 0.01: "$0.01", 0.1234: "$0.12", 1250: "$1,250.00"}
    times = {1.2: "2 s", 60: "1 min", 100: "1 min 40 s", 5_999: "99 min 59 s", 6_000: "1 h 40 min",
             11_040: "3 h 4 min", 11_040.5: "3 h 5 min", 14_399.5: "4 h"}  # fmt: skip
    tokens = {950: "950", 999.6: "1.00k", 12_345: "12.3k", 999_600: "1.00M", 4_560_000: "4.56M"}
    assert [*map(dollars, spent)] == [*spent.values()]
    assert [*map(_duration, times)] == [*times.values()], "rounded up"
    assert [*map(_short, tokens)] == [*tokens.values()]


def test_a_plan_says_its_limits_its_prices_and_what_was_left_out() -> None:
    some, none = Range(2, 4), Range(0, 0)
    asked = Amount(some, none, some, some, None)
    metrics, kinds = {("a", "b", "c", "d"): asked}, {"grade": Range(0, 4), "idk": none}
    speed = Throughput(2.0, True, 3, 60, 900)
    plan = CallPlan("llm", True, metrics, asked, kinds, speed, some, n_samples=9, n_walked=9)

    def said(**changes: Any) -> str:
        return " ".join(shown(Report("", (call_part(replace(plan, **changes)),)), 300).split())

    text = said(budget="5.00", fit="no price known", failed={"It broke": 2})
    for one in ("3 at once, 2 s a call as in the ledger's last answers, 60 requests per minute, 9",
                "a, b, c", "depends on the answers", "No price",
                "Budget 5.00: no price", "2 samples could not be planned: It"):  # fmt: skip
        assert one in text
    assert "Extrapolated" not in text and "the first 5 of 9 samples" in said(n_walked=5)
    exact = replace(asked, calls=Range(2, 2), cost=some)
    text = said(total=exact, listed_prices=True, throughput=Throughput(2.0))
    assert "list prices" in text and "at once, assuming 2 s a call)" in text
    assert "depends" not in text and "No price" not in text
    held = replace(asked, calls=none, held=Range(0, 3))
    assert "ledger holds every answer" in said(total=held)
    assert "no sample has what" in said(total=replace(held, held=none))
    record = {"id": "r", "question": "grade", "answer": {"grade": 1}, "model": "m", "attempts": 0}
    row = ScoreRow("q", "", 0, "f1", 1.0, "assumed", evidence=("r",))
    sample = Sample(id="q", repeat=2, runs=(Sample(id="q", failure="down"),))
    scores = (Evidence(row, example(2).summary.metrics["f1"], (record,)),)
    text = shown(evidence_view.evidence_report(Explained(sample, scores)), 300)
    for said in ("q, repeat 2", "answer, repeat 0: none (down)", "recorded earlier", "--full shows",
                 "price not known", "1.0000 (a published value for a missing part)"):  # fmt: skip
        assert said in text
    text = shown(evidence_view.evidence_report(Explained(sample, ())))
    assert "keeps no score" in text and "--full" not in text
    parts = {"nuggets": ["a", "b"], "labels": ["vital"], "assignments": ["support"]}
    assert not evidence_view.nugget_table(parts), "nobody knows which has the label"
    # A statistic of fewer queries than its row says of how many.
    metrics = [MetricSummary(stat, "", "", 0.5, n_scored=n, n_total=4, metric=f"runs_{stat}(of=em)")
               for stat, n in (("mean", 4), ("cv", 3))]  # fmt: skip
    summary = Summary("t", "consistency", "", 4, 2, "", {one.name: one for one in metrics})
    report = consistency_report(summary)
    assert re.search(r"em +0\.5000 +0\.5000 \(3/4\) +4/4", shown(report))
    assert report.about.endswith("of 2 queries by several systems, 4 groups")


def test_an_axis_reaches_as_far_as_the_interval_on_either_side_of_zero() -> None:
    comparison = pair()[0]
    fell = replace(comparison.differences[0], name="m", diff=-0.2, low=-0.5, high=0.1)
    assert reach_of([fell], {"m": "scale"}) == {"scale": 0.5}
    for equal in (fell, replace(fell, diff=0.0, low=0.0, high=0.0)):
        text = cell_html(comparison_report(replace(comparison, differences=(equal,))))
        assert '<line class="zero" x1="90.0"' in text


def test_values_that_came_with_the_records_and_metrics_without_scores_have_a_line() -> None:
    data = [{"id": f"q{n}", "query": "Who?", "answer": f"Frank {n}"} for n in range(5)]
    run = ragassay.evaluate(data, ["answer_words", "exact_match", "P@5"])
    text = markdown(full_report(ragassay.compare(run, run)))
    assert text.count("exact\\_match") == 1 and "exact\\_match, P@5: no query has" in text
    assert "| answer\\_words" in text
    given = {"id": "1", "query": "Who?", "answer": "Ann", "given": {"idk_eval": 0.0}}
    judged, by = {"id": "2", "query": "Who?", "answer": "Ann"}, {"given_by": {"idk_eval": "people"}}
    for data, how in (([given], "all of 1 value)"), ([given, judged], "1 of 2 values)"),
                      ([given | by], "all of 1 value, of people)")):  # fmt: skip
        said = " ".join(summary_notes(ragassay.evaluate(data, ["idk_eval"]).summary))
        assert f"idk_eval: values from the file are kept ({how}" in said


def test_the_metrics_that_rest_on_the_judge_are_named() -> None:
    data = [{"id": "1", "query": "Who?", "answer": "Ann", "references": ["Ann"]}]
    summary = ragassay.evaluate(data, ["em", "answer_match"]).summary
    (note,) = [line for line in summary_notes(summary) if "only a hint" in line]
    assert "answer_match" in note and "em" not in note.replace(".", " ").split()
    old = replace(summary.metrics["answer_match"], judges=())
    older = replace(summary, metrics={**summary.metrics, "answer_match": old})
    assert note in summary_notes(older), "runs of older versions do not store who judged"
    both = replace(old, judges={f"people{AND}llm": 1})  # a value that rests on several judges
    asked = replace(summary, metrics={"m": both}, judging=Spending("llm", questions=1))
    assert any(line.startswith("Judged by llm") for line in summary_notes(asked))
    spent = Spending("llm", "", 9, 7, 2, 1_000, 5, cost=0.5, disagreed=3, seconds=1.25)
    six = {f"m{at}": replace(both, name=f"m{at}") for at in range(6)}
    said = [*summary_notes(replace(summary, metrics=summary.metrics | six, judging=spent,
                                   embedding=Spending("e", "", 3, 2, 0, 7, cost=0.5)))]  # fmt: skip
    paid = "2 from the ledger, 1,000 tokens in and 5 out, $0.50, 1.2 s."
    assert {"Judged by llm: m0, m1, m2, m3, m4, m5.", f"Asked: 9 questions, 7 calls, {paid}",
            "The panel's members disagreed on 3 of 9 questions.",
            "Embedded by e: 3 texts, 2 calls, 7 tokens, $0.50."} < {*said}  # fmt: skip
    assert wording.judge_of(replace(old, judge="panel(openai:a, b)")) == "panel"
    assert not wording.judge_of(replace(old, n_scored=2, n_assumed=2)), "nobody was asked"


def test_the_verdict_stands_below_tables_and_only_asides_with_a_table_are_open() -> None:
    numbers, below = table([Column("", "name"), Column("n")], [["em", "7"]]), lines(["a note"])
    told = shown(Report("", (lines(["careful"], "warning"), numbers, below), verdict="better"))
    assert re.findall("careful|em|better|a note", told) == ["careful", "em", "better", "a note"]
    asides = (part("One", numbers, aside=True), part("Two", below, aside=True))
    text = cell_html(Report("", (part("Of both", *asides),)))
    assert text.count("<details open>") == text.count("<details>") == 1


def tables(text: str) -> list[list[str]]:
    """The cells of every table row, split at pipes as Markdown splits them."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [re.split(r"(?<!\\)\|", row)[1:-1] for row in rows]


def test_the_verdict_comes_first_and_the_numbers_follow() -> None:
    comparison = replace(pair()[0], runs=None)
    text = markdown(full_report(comparison))
    better = [d.name for d in comparison.differences if d.verdict == "better"]
    assert text.startswith("### hybrid (new) against bm25 (old)\n")
    assert text.index(f"**Better on {escape(', '.join(better))}.") < text.index("|")
    assert all(wording.number(d.diff, sign=True) in text for d in comparison.differences)
    rows = [[cell.strip().replace("&lt;", "<") for cell in row] for row in tables(text)]
    hint = replace(comparison.differences[0], standing="indicative", low=0.1, high=0.2)
    hinted = comparison_report(replace(comparison, differences=(hint,)))
    assert "| ⚠ only a hint: better |" in markdown(hinted)
    half = len(rows) // 2
    first, second = ({row[0]: row[1:] for row in part} for part in (rows[:half], rows[half:]))
    for d in comparison.differences:
        (name,) = [one for one in first if one.split()[0] == escape(d.name)]
        assert first[name][3].endswith(d.verdict)
        tests = [wording.p_value(value) for value in (d.p_value, d.t_p_value, d.p_adjusted)]
        assert second[name][1:4] == tests


def test_an_incomplete_run_says_so_before_its_table_which_no_name_breaks() -> None:
    summary = example(5).summary
    metrics = {"f1": replace(summary.metrics["f1"], group="Answer (a suite's)")}
    text = markdown(summary_report(replace(summary, incomplete=4, metrics=metrics)))
    assert text.index("incomplete") < text.index("| metric") < text.index("| Answer: f1 ↑ |")
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


ANSWER = "It opened in 1968. Entry is free [2]."


def test_claims_stand_where_the_answer_has_them_and_rephrased_ones_nowhere() -> None:
    parts = {"claims": ["it opened in 1968.", "There is no fee."], "supported": [True, False]}
    assert answer_pieces(parts, ANSWER) == [
        AnswerPiece("it opened in 1968.", 0, 17, "yes"),
        AnswerPiece("There is no fee.", None, None, "no"),
    ]
    first = answer_pieces(parts, ANSWER)[0]
    assert ANSWER[first.start : first.end] == "It opened in 1968"
    (longer,) = answer_pieces({"claims": ["Open"], "supported": [True]}, "Straße. Open.")
    assert longer.start is None, "in lower case ß is two letters, and places would be others'"
    for others in ({"values": [1.0]}, {"statements": [3]}):
        assert answer_pieces(others, ANSWER) == []
    cited = [{"citation": "2", "support": "none"}, {"citation": "3", "support": "partial"}]
    statements = [{"text": "It opened in 1968.", "citations": []},
                  {"text": "Entry is free", "citations": cited}]  # fmt: skip
    one, two = answer_pieces({"statements": statements}, ANSWER)
    assert (one.held, one.by) == ("no", "cites nothing")
    assert (two.held, two.by) == ("partly", "2: none, 3: partial")
    assert ANSWER[two.start : two.end] == "Entry is free"
    # Votes differ in what is voted on, and share a prompt that all were sent.
    sent = [{"role": "user", "content": "How good is it?"}]
    first = {"answer": {"grade": 1, "of": [1], "reason": "low"}, "messages": sent}
    for said, answer, prompt in (
        ("2 votes agree", {"grade": 1, "of": [1]}, sent), ("2 votes differ: of", {"of": [2]}, []),
        ("2 votes differ: grade 1, 3", {"grade": 3, "of": [1]}, sent),
    ):  # fmt: skip
        answer = {"grade": 1, "reason": "weak", **answer}
        votes = [first, {"answer": answer, "messages": prompt or [*sent, *sent]}]
        assert spread({"votes": votes}) == said and not spread({"votes": votes[:1]})
        assert [*shared_prompt(votes)] == prompt and not shared_prompt(votes[:1])


SOURCES = Path(ragassay.__file__).parent
BUILT = ("correction_", "metrics_only_in_", "offline_", "judge_", "labels_", "lacks_", "unscored_",
         "answers_", "words_", "support_", "retrieval_", "nuggets_", "gate_", "share_", "fine_",
         "interval_")  # fmt: skip
"""How kinds begin that are put together from parts."""
CLAUSES = ("slices_also", "tested_alone", "gate_", "advice_", "share_", "fine_", "interval_")
"""How kinds begin that are a part of a sentence."""


def placeholders(text: str) -> dict[str, str]:
    """The places of a sentence, and how each is filled in."""
    return {name: form or "" for _, name, form, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("kind", sorted(wording.words()))
@pytest.mark.parametrize("n", [1, 3])
def test_each_kind_reads_as_a_sentence(kind: str, n: int) -> None:
    text = wording.words()[kind]
    counts = {name: n for name in re.findall(r"\{(\w+)", text) if name != "names"}
    counts.pop("advice", None)  # as in runs of older versions
    said = wording.said(Note(kind, counts, tuple("abc"[:n])))
    assert "{" not in re.sub("={'.*?'}", "", said) and "  " not in said  # but columns={'a': 'b'}
    if kind != "text" and not kind.endswith("_short") and not kind.startswith(CLAUSES):
        assert said[-1] == "."
    for noun in filter(str.isalpha, {*placeholders(text).values()} - {"said"}):
        assert plural(n, noun) in said


def test_every_kind_with_words_is_made_somewhere() -> None:
    code = "\n".join(path.read_text() for path in SOURCES.rglob("*.py"))
    for kind in wording.words():
        kind = kind.removesuffix("_short")
        assert f'"{kind}"' in code or kind.startswith(BUILT), kind
