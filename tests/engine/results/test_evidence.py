"""From a score to the words behind it and back: votes, metrics of one's own, what is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import pytest

import ragassay
from attempt_metric import AttemptMetric
from llm_rule import Request
from llm_server import LLMServer
from question_examples import EXAMPLES, PASSAGE
from ragassay.base.errors import UsageError
from ragassay.base.score import Outcome
from ragassay.cli.command_line import call
from ragassay.engine.results.folders.folder_reading import open_run
from ragassay.engine.results.result import Result
from ragassay.engine.run import rescoring
from ragassay.engine.run.rescoring import explain
from ragassay.judges.verdict import about_of, short
from ragassay.metrics.core import metric
from ragassay.metrics.core.metric import scored
from ragassay.metrics.core.window import Window
from ragassay.metrics.grounding.hallucination import Hhem
from ragassay.models.weights.weight_files import Unavailable
from ragassay.reports.html.pages import write_report
from ragassay.reports.views.verdict_view import nugget_table, spread
from scripted_judge import Scripted
from unpacked_pages import page_text

CHROMIUM = Path("/usr/bin/chromium")
RATINGS = {"first": 2, "second": 7, "third": 8, "fourth": 3}
DATA = [
    {
        "id": "q1",
        "query": "When was the bridge opened?",
        "answer": "In 1968.",
        "references": ["1968"],
        "passages": ["A museum.", PASSAGE],
    }
]


def rule(request: Request) -> Any:
    """Each model has a rating of its own."""
    model = request.body["model"]
    if "rating" in request.schema["properties"]:
        return {"explanation": f"so says {model}", "rating": RATINGS[model]}
    return {"match": 2, "trust": 2, "grade": 2 + (model == "second")}


@pytest.fixture(scope="module")
def voted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a panel's run and its ledger."""
    base_folder = tmp_path_factory.mktemp("voted")
    with LLMServer(rule) as server:
        ragassay.evaluate(
            DATA,
            ["rb_llm", "umbrela"],
            judge=[f"{server.url}#{model}" for model in RATINGS],
            ledger=str(base_folder / "ledger.sqlite"),
            save=base_folder / "run",
        )
    yield base_folder


def scores(result: Result) -> dict[str, Any]:
    return {row.metric: row.value for row in result.scores}


def test_a_panels_scores_are_computed_again_from_its_votes(voted: Path) -> None:
    run = str(voted / "run")
    assert scores(open_run(run)) == {"rb_llm": 0.5, "umbrela": 2.0}  # 5 is between 3 and 7
    assert next(iter(open_run(run).scores)).explanation == "votes: 2, 7, 8, 3"
    assert call(["rescore", run]) == 0


def test_explain_shows_each_vote_with_model_cost_and_reply(voted: Path, capsys: Any) -> None:
    assert call(["explain", str(voted / "run"), "q1", "rb_llm"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for model, rating in RATINGS.items():
        assert f'#{model} {{"explanation":"so says {model}","rating":{rating}}}' in shown
    assert shown.count("tokens in") == 4
    assert "4 votes differ: rating 2 to 8" in shown
    assert "system:" not in shown
    assert call(["explain", str(voted / "run"), "q1", "rb_llm", "--full"]) == 0
    full = capsys.readouterr().out
    assert full.count("system:") == 1  # all four saw the same
    assert full.count("reply:") == 4
    assert PASSAGE in " ".join(full.split())


def test_explain_says_which_passage_a_grade_is_about(voted: Path, capsys: Any) -> None:
    assert call(["explain", str(voted / "run"), "q1", "umbrela"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f'on passage [2] "{short(PASSAGE)}"' in shown
    assert 'on passage [1] "A museum."' in shown


def test_a_verdict_written_without_about_is_explained_by_asking_the_evidence(
    voted: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for path in (voted / "run").iterdir():
        if path.is_file():
            (run / path.name).write_bytes(path.read_bytes())
    lines = [orjson.loads(line) for line in (run / "verdicts.jsonl").read_bytes().splitlines()]
    assert all(line.pop("about", None) for line in lines if line["question"] == "relevance_grade")
    (run / "verdicts.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)) + b"\n")
    found = rescoring.explain(open_run(run), "q1", "umbrela")
    assert [one["about"] for one in found.scores[0].verdicts] == [
        {"passage": "A museum."},
        {"passage": short(PASSAGE)},
    ]


def test_the_html_report_holds_each_vote_and_one_prompt(voted: Path, tmp_path: Path) -> None:
    result = open_run(voted / "run")
    write_report(result, tmp_path / "report.html")
    page = page_text(tmp_path / "report.html")
    assert "4 votes differ: rating 2 to 8" in page
    for model in RATINGS:
        assert page.count(f"so says {model}") >= 2  # the typed answer and the raw reply
    prompt = next(iter(result.judge_answers.values()))["votes"][0]["messages"][0][
        "content"
    ].splitlines()[0]
    assert page.count(prompt) == 1
    assert '"about":"passage [2]"' in page


def test_a_score_in_the_html_report_leads_to_its_verdicts(voted: Path, tmp_path: Path) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}")
    extra = [f"umbrela_P@{k}" for k in range(1, 12)]
    judge = Scripted({"relevance_grade": {"match": 2, "trust": 2, "grade": 2}})
    result = ragassay.evaluate(DATA, ["rb_llm", *extra], judge=judge)
    write_report(result, tmp_path / "many.html")
    write_report(open_run(voted / "run"), tmp_path / "voted.html")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.goto((tmp_path / "voted.html").as_uri())
        page.locator("#queries .expand").click()
        page.locator(".opened-row .links button").first.wait_for()  # the row is filled later
        assert page.locator(".links button").all_inner_texts() == ["[1]", "[2–3]"]
        page.locator(".links button", has_text="[2–3]").click()
        assert "lit" not in (page.locator(".evidence > li").first.get_attribute("class") or "")
        assert page.locator(".evidence > li.lit").count() == 2
        page.locator(".links button", has_text="[1]").click()
        assert page.locator(".evidence > li.lit > details[open]").count() == 1
        page.locator(".votes summary", has_text="so says third").click()
        assert "so says third" in page.locator(".votes details[open] pre").inner_text()
        page.goto((tmp_path / "many.html").as_uri())
        heads = page.locator("#queries thead button").all_inner_texts()
        assert heads[2:] == extra  # judged ones are all there; rb_llm has no score
        browser.close()


@dataclass(frozen=True)
class Polite(AttemptMetric):
    """A metric that a user wrote."""

    name = "test_polite"
    explanation = "it says please"


def test_a_metric_that_is_not_known_here_is_explained_all_the_same(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Scripted(
        {
            "answer_attempted": {"answered": "yes"},
            "relevance_grade": dict.fromkeys(("match", "trust", "grade"), 1),
        }
    )
    metric.register(Polite)
    try:
        ragassay.evaluate(DATA, ["test_polite", "umbrela"], judge=judge, save=tmp_path / "run")
    finally:
        metric._CLASSES.pop("test_polite")
        metric.registered.cache_clear()
    assert call(["explain", str(tmp_path / "run"), "q1"]) == 0
    shown = capsys.readouterr().out
    assert "it says please" in shown and '{"answered":"yes"}' in shown and "A museum." in shown
    assert call(["rescore", str(tmp_path / "run")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "'test_polite' is not known here" in said and "import the module" in said


def test_nuggets_are_one_table_in_explain_and_in_the_report(tmp_path: Path, capsys: Any) -> None:
    judge = Scripted(
        {
            "relevance_grade": {"match": 3, "trust": 3, "grade": 3},
            "extract_nuggets": {"nuggets": ["bridge opened 1968", "over the harbour"]},
            "nugget_importance": {"labels": ["vital", "okay"]},
            "assign_nuggets": {"labels": ["support", "partial_support"]},
        }
    )
    names = ["nuggets(iterations=1).all", "nuggets(iterations=1).vital"]
    result = ragassay.evaluate(DATA, names, judge=judge, save=tmp_path / "run")
    assert [len(row.parts["nuggets"]) for row in result.scores] == [2, 2]
    assert call(["explain", str(tmp_path / "run"), "q1"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.count("bridge opened 1968 vital support") == 1
    assert shown.count("over the harbour okay partial") == 1
    assert "nuggets: as above" in shown and '"assignments"' not in shown
    assert 'nuggets (2) "bridge opened 1968 | over the harbour"' in shown
    write_report(result, tmp_path / "report.html")
    page = page_text(tmp_path / "report.html")
    assert page.count('["over the harbour","okay","partial"]') == 1


def test_parts_that_are_no_table_are_left_alone() -> None:
    whole = {"nuggets": ["a"], "labels": ["vital"], "assignments": ["not_support"]}
    assert nugget_table(whole) == [("a", "vital", "not")]
    assert nugget_table({**whole, "labels": []}) == []
    assert nugget_table({**whole, "labels": ["vital", "okay"]}) == []
    assert nugget_table({"claims": ["a"]}) == []


def test_what_tells_one_question_from_another_is_said_in_short() -> None:
    about = {question.kind: about_of(question.data) for question in EXAMPLES}
    assert about["relevance_grade"] == {"passage": PASSAGE}
    assert about["citation_support"].keys() == {"statement", "passage"}
    assert about["assign_nuggets"] == {"nuggets (2)": "bridge opened 1968 | tram line"}
    assert about["satisfaction"] == about["says_idk"] == about["answer_match"] == {}
    long = about_of({"query": "q", "passage": "word\n" * 5000})["passage"]
    assert long.startswith("word word") and len(long) < 85 and long.endswith(" …")
    assert short(f"a{' ' * 300}b") == "a b" and short("a" * 80) == "a" * 80
    assert short("a" * 81) == f"{'a' * 80} …"


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ([{"grade": 1}], ""),
        ([{"grade": 1}, None], ""),
        (
            [{"grade": 1, "explanation": "good"}, {"grade": 1, "explanation": "bad"}],
            "2 votes agree",
        ),
        ([{"grade": 1}, {"grade": 3}, {"grade": 2}], "3 votes differ: grade 1 to 3"),
        ([{"s": "yes"}, {"s": "no"}, {"s": "no"}], "3 votes differ: s no 2, yes 1"),
        ([{"match": True}, {"match": False}], "2 votes differ: match true 1, false 1"),
        ([{"l": ["a", "b"]}, {"l": ["a", "c"]}], "2 votes differ: l in 1 of 2 entries"),
        ([{"l": [1]}, {"l": [1, 2]}], "2 votes differ: l"),
    ],
)
def test_the_spread_of_votes_is_said_in_words(answers: list[Any], says: str) -> None:
    assert spread({"votes": [{"answer": answer} for answer in answers]}) == says


def test_a_verdict_that_was_damaged_is_a_failure_and_no_crash() -> None:
    judge = Scripted({"relevance_grade": {"match": 3, "trust": 3, "grade": 3}})
    result = ragassay.evaluate(DATA, ["umbrela"], judge=judge)
    first = next(iter(result.judge_answers.values()))
    first["answer"]["grade"] = 9  # type: ignore[index]
    ((stored, again),) = rescoring.rescore(replace(result)).different
    assert (stored.value, again.reason) == (3.0, "failed")


def test_pieces_of_the_answer_are_marked_once_in_explain_and_in_the_report(
    tmp_path: Path, capsys: Any
) -> None:
    judge = Scripted({"citation_support": {"support": "partial"}})
    data = [{**DATA[0], "answer": "It opened in 1968 [1]. Entry is free."}]
    names = ["citation.precision", "citation.recall"]
    result = ragassay.evaluate(data, names, judge=judge, save=tmp_path / "run")
    assert call(["explain", str(tmp_path / "run"), data[0]["id"]]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.count("It opened in 1968 [0, 17)") == 1
    assert "pieces of the answer: as above" in shown and '"statements"' not in shown
    write_report(result, tmp_path / "report.html")
    page = page_text(tmp_path / "report.html")
    assert page.count('["",0,17,"partly",') == 1  # the answer has its text
    assert '"of":["citation.precision","citation.recall"]' in page
    titles = [metric.title for metric in result.summary.metrics.values()]
    assert len(set(titles)) == 2, "each part says what it is"


def test_a_huge_answer_is_explained_in_a_page(tmp_path: Path, capsys: Any) -> None:
    answer = " ".join(f"Fact number {n} holds since the year {n}." for n in range(2000))
    data = [{**DATA[0], "answer": answer}]
    ragassay.evaluate(data, ["rl_f"], save=tmp_path / "run")
    assert call(["explain", str(tmp_path / "run"), data[0]["id"]]) == 0
    shown = capsys.readouterr().out
    assert len(shown) < 20_000 and "--full shows them" in shown
    assert call(["explain", str(tmp_path / "run"), data[0]["id"], "--full"]) == 0
    assert len(capsys.readouterr().out) > 80_000


def test_explain_prints_the_label_that_is_lacking_and_it_works(tmp_path: Path, capsys: Any) -> None:
    labels = tmp_path / "people.jsonl"
    other = {"question": "relevance_grade", "data": {"query": "x", "passage": "y"}, "answer": 1}
    labels.write_text(json.dumps(other) + "\n")
    options = {"judge": f"replay:{labels}", "save": tmp_path / "run"}
    data = [{**DATA[0], "passages": ["A museum. " * 60]}]
    ragassay.evaluate(data, ["umbrela"], **options)
    assert call(["explain", str(tmp_path / "run"), data[0]["id"]]) == 0
    line = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
    assert line["data"]["passage"] == data[0]["passages"][0] and line["answer"] is None
    labels.write_text(json.dumps(other) + "\n" + json.dumps({**line, "answer": 2}) + "\n")
    assert scores(ragassay.evaluate(data, ["umbrela"], judge=f"replay:{labels}")) == {"umbrela": 2}


def test_a_score_of_a_model_that_is_not_here_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def measured(self: Hhem, window: Window, rows: Sequence[int]) -> Sequence[Outcome]:
        return [scored(0.5) for _ in rows]

    with monkeypatch.context() as here:
        here.setattr(Hhem, "measure", measured)
        result = ragassay.evaluate(DATA, ["hhem", "em"], save=tmp_path / "run")
    assert scores(result)["hhem"] == 0.5
    monkeypatch.setattr(Hhem, "measure", unavailable)
    again = rescoring.rescore(open_run(tmp_path / "run"))
    assert (again.unmeasured, again.n_scores, again.different) == (1, 1, ())
    assert call(["rescore", str(tmp_path / "run")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "rest on a model that is not here ('ragassay models'), or on vectors" in said


def unavailable(self: Hhem, window: Window, rows: Sequence[int]) -> Sequence[Outcome]:
    raise Unavailable("it is not here")


def test_a_run_says_once_why_a_model_gave_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Hhem, "measure", unavailable)
    result = ragassay.evaluate([{**DATA[0], "id": f"q{n}"} for n in range(3)], ["hhem", "em"])
    assert [said for said in result.summary.warnings if "hhem" in said] == [
        "hhem: unscored, it is not here."
    ]


def test_a_sample_that_is_not_there_or_there_twice_is_said_with_what_there_is() -> None:
    records = [{"id": f"q{at}", "answer": "a", "references": ["a"]} for at in (1, 2, 3, 4)]
    records += [{**records[0], "id": "q5"}, {**records[0], "id": "bridge"}]
    twice = [{**records[0], "repeat": 1}, {**records[1], "system": "a b"}]
    found = ragassay.evaluate([records[0], twice[0], *records[1:], twice[1]], "em")
    with pytest.raises(UsageError, match=r"no sample 'zzz'\. There are: q1, q2, q3, q4 \.\.\."):
        explain(found, "zzz")
    with pytest.raises(UsageError, match="Did you mean 'bridge'"):
        explain(found, "brigde")
    with pytest.raises(UsageError) as caught:
        explain(found, "q1")
    assert str(caught.value) == (
        "2 samples have the id 'q1': --system '' --repeat 0; --system '' --repeat 1. Say which one."
    )
    seven = ragassay.evaluate([{**records[0], "repeat": at} for at in range(7)], "em")
    with pytest.raises(UsageError, match=r"7 samples .*--repeat 5\. Say which one") as caught:
        explain(seven, "q1")
    assert explain(found, "q1", repeat=1).sample.repeat == 1
    assert explain(found, "q2", system="a b").sample.system == "a b"
