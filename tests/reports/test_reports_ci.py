"""JUnit XML, GitHub's annotations and step summary: all tell of the gates of a run."""

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

import ragassay
from json_lines import jsonl
from ragassay.base.errors import UsageError
from ragassay.base.note import Note
from ragassay.base.score import Score
from ragassay.cli.command_line import call
from ragassay.engine.results import Result
from ragassay.engine.results.comparison_result import GateResult
from ragassay.reports import ci_reports
from ragassay.reports.ci_reports import write_junit
from ragassay.reports.run_reports import write_reports

ANSWERS = ["red fox", "a red fox", "fox", "blue", "red fox", "red foxes"]
GATES = ["em>=0.2", "em>=0.9", "low(f1)>=0.5"]


def records() -> list[dict[str, object]]:
    return [
        {"id": f"q{n}", "query": f"query {n}?", "answer": text, "references": ["red fox"]}
        for n, text in enumerate(ANSWERS)
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with a gate that passes, one that fails, and one that is undecided."""
    place = tmp_path_factory.mktemp("run")
    data = jsonl(place / "answers.jsonl", *records())
    words = [str(data), "-m", "em,f1", "-o", str(place / "out")]
    words += [word for gate in GATES for word in ("--fail-under", gate)]
    assert call(["run", *words]) == 1
    return place / "out"


def cases(path: Path) -> dict[str, ElementTree.Element]:
    return {str(one.get("name")): one for one in ElementTree.parse(path).iter("testcase")}


def test_a_run_with_gates_leaves_a_test_case_for_each(run: Path) -> None:
    found = cases(run / "junit.xml")
    assert list(found) == [*GATES, "the run is complete"]
    tags = [[child.tag for child in one] for one in list(found.values())[:3]]
    assert tags == [[], ["failure"], ["error"]]
    failure = found["em>=0.9"].find("failure")
    assert failure is not None and failure.get("message") == "gate em>=0.9: FAILED, mean 0.5000"
    assert failure.text is not None and "q3: 0.0000" in failure.text
    error = found["low(f1)>=0.5"].find("error")
    assert error is not None and "too few samples to tell" in str(error.get("message"))
    assert (failure.get("type"), error.get("type")) == ("gate", "undecided")
    root = ElementTree.parse(run / "junit.xml").getroot()
    for one in (root, root[0]):
        assert (one.get("tests"), one.get("failures"), one.get("errors")) == ("4", "1", "1")


def test_a_gate_that_is_not_passed_names_five_samples_the_worst_first(tmp_path: Path) -> None:
    @ragassay.metric(name="tenths")
    def tenths(answer: str) -> Score:
        return Score(int(answer) / 10, explanation=f"{answer} tenths" if answer != "8" else "")

    data = [{"id": f"q{n}", "system": "s" * (n == 0), "answer": a} for n, a in enumerate("0129877")]
    gated = ["tenths>=0.5", "tenths<0.1", "tenths<0.9"]
    result = ragassay.evaluate(data, [tenths, "answer_words", "P@5"], fail_under=gated)
    write_junit(result, tmp_path / "x.xml")
    low, high, passed, whole = cases(tmp_path / "x.xml").values()
    assert low.findtext("failure").splitlines()[1:] == [
        "q0 (s): 0.0000, 0 tenths", "q1: 0.1000, 1 tenths", "q2: 0.2000, 2 tenths"
    ]  # fmt: skip
    assert high.findtext("failure").splitlines()[1:3] == ["q3: 0.9000, 9 tenths", "q4: 0.8000"]
    assert len(high.findtext("failure").splitlines()) == 6 and not [*passed, *whole]


def test_a_run_that_is_incomplete_has_an_error(run: Path, tmp_path: Path) -> None:
    result = ragassay.open_run(run)
    assert {*write_reports(result, tmp_path)} == {"html", "markdown", "csv", "junit"}
    notes = (Note("text", {"text": "Careful."}, severity="warning"),)
    summary = replace(result.summary, incomplete=2, suite="qa", notes=notes)
    lacking = replace(result, summary=summary)
    for one, of in ((lacking, ".qa"), (replace(result, _consistency=lacking), "")):
        write_junit(one, tmp_path / "x.xml")
        case = cases(tmp_path / "x.xml")["the run is complete"]
        assert [child.get("message") for child in case] == ["2 scores are missing."]
        assert ("Careful." in str(case[0].text)) is (one is lacking)
        assert case.get("classname") == f"ragassay{of}"


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    return ragassay.evaluate(records(), metrics="em"), tmp_path_factory.mktemp("any")


@given(text=st.text(min_size=1))
def test_any_text_makes_a_file_that_parses(scored: tuple[Result, Path], text: str) -> None:
    result, place = scored
    notes = (Note("text", {"text": text}),)
    summary = replace(result.summary, title=text, notes=notes, incomplete=1)
    gate = GateResult("em>=0.9", 0.5, False, why=text, metrics=("em",))
    write_junit(replace(result, summary=summary, gates=(gate,)), place / "x.xml")
    ElementTree.parse(place / "x.xml")
    for line in ci_reports.github_commands([replace(gate, gate=text)], [summary]):
        assert line.startswith("::error title=") and len(line.splitlines()) == 1
    gate = GateResult("a:b,c>=1", 0.2, None, why="50 %\nof it")
    (line,) = ci_reports.github_commands([gate])
    assert line.startswith("::error title=gate undecided%3A a%3Ab%2Cc>=1::gate a:b,c>=1: ")
    assert line.endswith("50 %25%0Aof it")


def test_github_shows_annotations_and_a_summary(run: Path, tmp_path, monkeypatch, capsys) -> None:
    place = tmp_path / "summary.md"
    place.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place))
    assert call(["report", str(run), "-o", str(tmp_path), "--github"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    assert lines[0] == "::notice title=gate passed%3A em>=0.2::gate em>=0.2: passed, mean 0.5000"
    assert [line.partition(" ")[0] for line in lines] == ["::notice", "::error", "::error"]
    text = place.read_text()
    assert text.startswith("before\n") and "- ❌ gate em" in text and "| em ↑ |" in text
    capsys.readouterr()
    words = ["-o", str(tmp_path), "--fail-under", "em>=0.2", "--github", "--json"]
    assert call(["report", str(run), *words]) == call(["compare", str(run), str(run), "--github"])
    found = capsys.readouterr()
    assert json.loads(found.out[: found.out.index("\n}\n") + 3])["n_samples"] == 6
    assert found.err.startswith("::notice title=gate passed%3A em>=0.2::")
    assert "| metric | new | old | difference | verdict |" in place.read_text()
    assert call(["compare", "none", str(run), "--github"]) == 2
    assert "::error title=ragassay::none: " in capsys.readouterr().err
    place = tmp_path / "other.md"
    named = {"GITHUB_STEP_SUMMARY": str(place)}
    assert ci_reports.add_to_step_summary("x", named) and place.read_text() == "x\n\n"
    assert not ci_reports.add_to_step_summary("x", {})
    with pytest.raises(UsageError, match="cannot be written"):
        ci_reports.add_to_step_summary("x", {"GITHUB_STEP_SUMMARY": str(tmp_path)})
    words = ["report", str(run), "-o", str(tmp_path), "--format", "junit"]
    assert call([*words, "--fail-under", "em>=0.1"]) == 0
    assert next(iter(cases(tmp_path / "junit.xml"))) == "em>=0.1"
    assert call([*words, "--fail-under", "em>=0.9"]) == 1
    assert call([*words, "--fail-under", "low(f1)>=0.5"]) == 3
    assert call([*words, "--fail-under", "em"]) == 2


def test_a_run_that_scored_nothing_is_an_error_everywhere(tmp_path: Path, capsys) -> None:
    data, out = tmp_path / "answers.jsonl", tmp_path / "out"
    data.write_text('{"id": "1", "query": "Why?", "answer": "So."}\n')
    assert call(["run", str(data), "-m", "em", "-o", str(out), "--github"]) == 3
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    assert lines == ["::error title=run incomplete::Nothing was scored."]
    assert call(["report", str(out), "--format", "junit"]) == 0
    (case,) = cases(out / "junit.xml").values()
    assert case.find("error") is not None


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Folders of a bad new run and of a good old one, over the same twenty queries."""
    place = tmp_path_factory.mktemp("two")
    for name, wrong in (("new", 15), ("old", 2)):
        data = [
            {"id": f"q{n:02}", "query": "Which?", "references": ["red fox"]}
            | {"answer": "blue" if n < wrong else "red fox"}
            for n in range(20)
        ]
        ragassay.evaluate(data, metrics="em,f1", output=str(place / name))
    return str(place / "new"), str(place / "old")


def test_gates_of_a_comparison_are_cases(two_runs, tmp_path, monkeypatch, capsys):
    new, old = two_runs
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    words = ["compare", new, old, "--primary", "em", "--junit", str(tmp_path / "junit.xml")]
    words += ["--fail-if-drop", "em>0.3", "--fail-if-drop", "f1>0.7", "--fail-if-worse"]
    assert call([*words, "--github", "-o", str(tmp_path / "c.md")]) == 1
    said = capsys.readouterr().out
    for name in ("step.md", "c.md"):
        step = (tmp_path / name).read_text()
        assert "Became wrong: q02 (" in step and "q06 (" in step and " and 8 more." in step
    found = cases(tmp_path / "junit.xml")
    assert " ".join(found) == "no drop em>0.3 no drop f1>0.7 --fail-if-worse a metric is compared"
    drop = found["no drop em>0.3"].find("failure")
    assert drop is not None and drop.text is not None
    assert drop.text.splitlines()[1:] == [f"q{n:02}: em 0.0000, before 1.0000" for n in range(2, 7)]
    sentence = str(drop.get("message"))
    assert "FAILED, a drop of 0.6500; one-sided" in sentence
    low, high = map(float, re.findall(r"0\.\d{4}", sentence)[1:])
    assert 0.3 < low < 0.65 < high < 1
    assert sentence.removeprefix("gate ") in " ".join(said.partition("::error")[0].split())
    assert f"::error title=gate failed%3A no drop em>0.3::{sentence.replace('%', '%25')}" in said
    assert found["no drop f1>0.7"].find("error") is not None, "undecided"
    worse = found["--fail-if-worse"].find("failure")
    assert worse is not None and worse.get("message") == "gate --fail-if-worse: FAILED, worse: em"
    assert found["a metric is compared"].find("error") is None
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "2", "1")
    data = [{"id": "q00", "query": "Which?", "answer": "blue"}]
    ragassay.evaluate(data, metrics="em,f1", output=str(tmp_path / "bare"))
    words = ["compare", new, str(tmp_path / "bare"), "--force"]
    assert call([*words, "--junit", str(tmp_path / "x.xml")]) == 3
    error = cases(tmp_path / "x.xml")["a metric is compared"].find("error")
    assert error is not None
    assert error.get("message") == "No metric could be compared: 1 query in common."
