"""What a notebook shows: small, without scripts, escaped, readable on light and dark."""

import html
import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import polars
import pytest

import ragassay
from ragassay.base.errors import UsageError
from ragassay.engine.diagnosis.moved_classes import Moved
from ragassay.engine.run import prepared_run
from ragassay.reports.text import wording
from ragassay.reports.views.diagnosis_view import right_moved, verdict_of

TOWN = Path(ragassay.__file__).parent / "examples" / "town"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def run() -> ragassay.Result:
    return ragassay.evaluate(TOWN / "hybrid.jsonl", ["em", "token_f1.f", "faithfulness"])


@pytest.fixture(scope="module")
def old() -> ragassay.Result:
    return ragassay.evaluate(TOWN / "keyword.jsonl", ["em", "token_f1.f", "faithfulness"])


def words(markup: str) -> str:
    plain = re.sub(r"<style>.*?</style>|<[^>]+>", " ", markup, flags=re.S)
    return " ".join(html.unescape(plain).split())


def test_a_result_shows_its_table(run: ragassay.Result) -> None:
    shown = run._repr_html_()
    assert len(shown) < 8_000 and "<script" not in shown
    em, faithfulness = run.summary.metrics["em"], run.summary.metrics["faithfulness"]
    told = words(shown)
    assert f"em ↑ {em.mean:.4f} [{em.low:.4f}, {em.high:.4f}]" in told
    assert faithfulness.unscored
    assert (
        f"faithfulness: {sum(faithfulness.unscored.values())} of 72 answers make no claim" in told
    )
    assert f"{faithfulness.n_scored}/72" in told
    assert shown.count("<svg") == 3
    verdict = verdict_of(ragassay.diagnose(run))
    assert verdict in told
    assert words(run.summary._repr_html_()) == told.replace(f" {verdict}", "")


def test_a_table_fits_a_narrow_cell_in_rows_of_two_lines(chromium: Any) -> None:
    metrics = ["contains_answer", "faithfulness", "idk_eval"]
    shown = ragassay.evaluate(TOWN / "hybrid.jsonl", metrics)
    page = chromium.new_page(viewport={"width": 580, "height": 800})
    page.set_content(f"<!doctype html><body style='margin:0'>{shown._repr_html_()}")
    width, room = page.evaluate(
        "(box => [box.scrollWidth, box.clientWidth])(document.querySelector('.scroll'))"
    )
    assert width <= room
    heights = page.evaluate("[...document.querySelectorAll('tr')].map(row => row.clientHeight)")
    assert max(heights) < 60
    told = words(shown._repr_html_())
    assert "faithfulness: 8 of 72" in told and "offline" in told
    page.close()


def test_gates_warnings_and_labels_stand_there_and_are_escaped() -> None:
    data = [{"id": "1", "system": HOSTILE, "answer": "a", "references": ["a"]}]
    result = ragassay.evaluate(data, ["em", "BLEU"], fail_under="em>=0.5")
    shown = result._repr_html_()
    assert HOSTILE not in shown and html.escape(HOSTILE) in shown
    assert "gate em>=0.5: passed" in words(shown)
    judged = ragassay.evaluate(data, "answer_match", judge=lambda prompt: "no")
    assert "are not kept in the ledger" in words(judged._repr_html_())
    assert re.search("⚠ The answers of .*lambda are not kept", str(judged.summary))
    # No text of the data commands the terminal that prints a notebook.
    command = "\x1b]0;owned\x07\x9b2J"
    data = [{"id": "1", "system": command, "query": command, "answer": "a", "references": ["b"]}]
    result = ragassay.evaluate(data, ["em"])
    for shown in (result, ragassay.diagnose(result, headline="em")):
        assert not set("\x1b\x07\x9b") & set(shown._repr_html_())


def test_a_comparison_shows_differences_and_verdicts_once(run, old, monkeypatch) -> None:
    comparison = run.compare(old)
    shown = comparison._repr_html_()
    assert len(shown) < 8_000 and "<script" not in shown
    told = words(shown)
    for d in comparison.differences:
        interval = wording.bounds(d.low, d.high, sign=True)
        assert f"{d.diff:+.4f} {interval} {wording.verdict(d)}" in told
    assert repr(comparison) == str(comparison)
    assert "runs" not in comparison.to_json()
    again = pickle.loads(pickle.dumps(comparison))
    assert again == comparison
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    twice: list[object] = []
    monkeypatch.setattr("rich.jupyter.display", lambda *each: twice.append(each))
    assert "faithfulness" in repr(run.compare(old)) and not twice


def test_a_plan_shows_what_would_be_asked_and_needs_no_key(monkeypatch: Any) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    plan = ragassay.plan(TOWN / "hybrid.jsonl", ["em", "answer_match"], judge="openai:gpt-4o")
    assert plan.calls is not None and plan.calls.total.calls.low == 72
    assert "judge openai:gpt-4o" in str(plan)
    shown = plan._repr_html_()
    assert len(shown) < 6_000 and shown.count("<table") == 3 and "<pre" not in shown
    assert "answer_match 72 0 " in words(shown) and "em 72 of 72" in words(shown)


def test_what_a_diagnosis_and_asking_gave_is_readable(run, old, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    found = ragassay.diagnose(run)
    assert repr(found).startswith("<Diagnosis 'hybrid': failing=")
    (first, *_) = found.found
    for shown in (str(found), words(found._repr_html_())):
        assert first.fault.title in shown and f"{found.n_failing} of 72 samples fail" in shown
    change = ragassay.diagnose(run, old)
    assert isinstance(change, Moved) and str(change)
    assert f"the {change.n:,} samples rated in both" in words(change._repr_html_())
    first = change.classes[0]
    for p, level in ((0.01, 0.95), (0.2, 0.95), (0.06, 0.9), (0.03, 0.99)):
        found = p < 1 - level  # only what is shown is said
        rows = (replace(first, p_adjusted=p),)
        said = right_moved(replace(change, level=level, classes=rows), not found)
        assert (len(said) == 2, ": " in said[0]) == (found, found)
    # Of several, the one that moved furthest, and the furthest of those that moved the other way.
    moves = [replace(first, title=name, diff=diff, p_adjusted=0.01)
             for name, diff in (("A", -0.5), ("B", -0.4), ("C", 0.3), ("D", 0.2))]  # fmt: skip
    for rows, names in ((moves, ["A", "C"]), (moves[:2], ["A", "B"]), (moves[2:], ["C", "D"])):
        said = right_moved(replace(change, classes=tuple(rows)), False)
        assert [text.partition(":")[0] for text in said[1:]] == names
    queries = [{"id": str(n), "query": HOSTILE} for n in range(3)]

    def one_fails(query: str, metadata: dict[str, str]) -> str:
        raise ValueError("no index")

    answers = ragassay.ask(queries, target={"good": lambda query: "yes", "bad": one_fails})
    assert repr(answers) == "<Answers: systems=2 samples=6>"
    printed = str(answers)
    assert "bad: 3 failed: query '0'" in printed and max(map(len, printed.splitlines())) <= 80
    assert "bad 3 0 0 0 3" in words(answers._repr_html_())
    for text in (found, change, run.compare(old), answers):
        assert max(map(len, str(text).splitlines())) <= 80


def test_pictures_show_themselves_and_a_comparison_is_a_frame_and_a_file(run, old, tmp_path):
    for chart in (run.plot(), run.compare(old).plot()):
        assert chart._repr_html_().startswith('<img style="max-width:100%"')
        assert chart.save(tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
        with pytest.raises(UsageError, match="cannot be written as"):
            chart.save(tmp_path / "a.gif")
    with pytest.raises(UsageError, match="does not hold its runs"):
        replace(run.compare(old), runs=None).plot()
    nothing = ragassay.evaluate([{"id": "1"}], "em")
    with pytest.raises(UsageError, match="no metric has a number"):
        nothing.plot()
    found = run.compare(old)
    names = ["metric", "new", "old", "difference", "p_adjusted", "n", "verdict"]
    for d, row in zip(found.differences, found.to_polars()[names].rows(), strict=True):
        said = d.verdict.replace("indicative", "only a hint")
        assert row == (d.name, d.a_mean, d.b_mean, d.diff, d.p_adjusted, d.n, said)
    assert found.to_pandas()["metric"].tolist() == [d.name for d in found.differences]
    begin = {"c.html": "<!doctype", "c.md": "### Release 4\n", "c.json": "{", "c.svg": "<svg"}
    for name, begins in begin.items():
        found.save(tmp_path / name, "Release 4")
        assert (tmp_path / name).read_text(encoding="utf-8").lstrip().startswith(begins)
    with pytest.raises(UsageError, match="ends in"):
        found.save(str(tmp_path / "c.gif"))


def test_a_frame_says_which_answers_are_right_and_why_the_others_are_not() -> None:
    result = ragassay.evaluate(TOWN / "hybrid.jsonl", ["contains_answer", "em"])
    found, frame = ragassay.diagnose(result), result.to_polars()
    assert frame["cause"].to_list() == found.classes and found.n_failing > 9
    right = frame["right"].to_list()
    assert [right.count(False), right.count(None)] == [
        found.n_failing,
        sum(map(bool, found.unknown)),
    ]
    only = ragassay.evaluate(TOWN / "hybrid.jsonl", "faithfulness")
    assert only.to_polars()["cause"].to_list() == ragassay.diagnose(only).classes
    found = only.to_pandas()["right"]
    assert found.isna().all() and found.dtype == "boolean", "support does not tell what is right"


@pytest.mark.parametrize("saved", [True, False])
def test_scores_are_a_sequence(saved: bool, tmp_path: Path) -> None:
    data = [{"id": str(n), "answer": "a b"[: n + 1], "references": ["a"]} for n in range(3)]
    save = tmp_path / "run" if saved else None
    scores = ragassay.evaluate(data, ["em", "token_f1.f"], save=save).scores
    every = list(scores)
    assert len(scores) == len(every) == 6 and list(scores) == every
    assert all(scores[place] == every[place] for place in (0, 3, -1, -6))
    for cut in (slice(1, 4), slice(None, None, 2), slice(-2, None), slice(4, 1), slice(5, 1, -2)):
        assert scores[cut] == every[cut]
    for place in (6, -7):
        with pytest.raises(IndexError):
            scores[place]
    assert every[2] in scores and "6 scores" in repr(scores)


def test_frames_carry_query_answer_and_metadata(tmp_path: Path) -> None:
    data = [
        {"id": "1", "query": "Who?", "answer": "Ann", "references": ["Ann"], "topic": "a", "n": 1},
        {"id": "2", "query": "When?", "failure": "down", "references": ["1965"]}
        | {"em": "clash", "n": 2.5, "x": [1], "cause": "heat"},
        {"id": "3", "answer": "b", "answerability": "UNANSWERABLE", "references": ["b"]}
        | {"n": None, "mixed": True},
        {"id": "4", "answer": "b", "references": ["b"], "mixed": "yes", "sample": "clash, too"}
        | {"metadata": {"answer": "clash"}},
    ]
    for save in (None, tmp_path / "run"):
        result = ragassay.evaluate(data, ["em"], save=save)
        frame = result.to_polars()
        assert frame.columns == [
            *("sample", "system", "repeat", "query", "answer", "reference"),
            *("answerability", "language", "failure"),
            *("topic", "n", "metadata.em", "metadata.cause", "mixed"),
            *("metadata.answer", "metadata.sample", "em"),
        ]
        assert frame["query"].to_list() == ["Who?", "When?", None, None]
        assert frame["answer"].to_list() == ["Ann", None, "b", "b"]
        assert frame["answerability"].to_list() == [None, None, "unanswerable", None]
        assert frame["failure"].to_list() == [None, "down", None, None]
        assert frame["n"].to_list() == [1.0, 2.5, None, None]
        assert frame["mixed"].to_list() == [None, None, "True", "yes"]
        assert frame["em"].to_list() == [1.0, None, 1.0, 1.0]
        assert frame["em"].dtype == polars.Float64
        assert result.to_pandas()["topic"].tolist()[0] == "a"


def test_the_progress_shows_where_it_is_wanted(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(prepared_run, "PATIENCE_S", 0.0)
    data = [{"id": str(n), "answer": "a", "references": ["a"]} for n in range(3)]

    def said(progress: Any) -> str:
        ragassay.evaluate(data, "em", progress=progress)
        return capsys.readouterr().err

    assert said(None) == said(False) == ""  # a script, no notebook
    counted: list[int] = []
    assert said(counted.append) == "" and counted == [3]
    assert said(True) == "scoring: 3 of 3 samples\n"
    write = prepared_run._lines(Mock(doing=None, **{"source.count": lambda: 3}))
    for n in (1, 2, 3):
        write(n)  # what was begun ends
    assert capsys.readouterr().err == "scoring: 1 of 3 samples\nscoring: 3 of 3 samples\n"
    monkeypatch.setitem(prepared_run.sys.modules, "IPython", Mock())
    assert said(None) == "scoring: 3 of 3 samples\n" and said(False) == ""
