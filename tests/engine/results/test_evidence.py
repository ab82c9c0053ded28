"""From a score to the words behind it and back: votes, metrics of one's own, what is shown."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import ragassay
from attempt_metric import AttemptMetric
from llm_rule import Request
from llm_server import LLMServer
from question_examples import PASSAGE
from ragassay.base.errors import UsageError
from ragassay.cli.command_line import call
from ragassay.engine.results.folders.run_folder import open_run
from ragassay.engine.results.result import Result
from ragassay.engine.run import rescoring
from ragassay.engine.run.rescoring import explain
from ragassay.judges.offline import LONGEST
from ragassay.judges.questions.grading import RelevanceGrade
from ragassay.metrics.core import metric
from ragassay.metrics.core.metric import scored
from ragassay.metrics.grounding.hallucination import Hhem
from ragassay.models.weights.weight_files import Unavailable
from ragassay.reports.views.evidence_view import evidence_report
from scripted_judge import Scripted

RATINGS = {"first": 2, "second": 7, "third": 8, "Qwen-4": 3}
DATA = [
    {
        "id": "q1", "query": "When was the bridge opened?", "answer": "In 1968.",
        "references": ["1968"], "passages": ["A museum.", PASSAGE],
    }
]  # fmt: skip


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
    with LLMServer(rule, rejects=("seed", "presence_penalty")) as server:
        ragassay.evaluate(
            DATA, ["rb_llm", "umbrela"], judge=[f"{server.url}#{model}" for model in RATINGS],
            ledger=str(base_folder / "ledger.sqlite"), save=base_folder / "run",
        )  # fmt: skip
    yield base_folder


def scores(result: Result) -> dict[str, Any]:
    return {row.metric: row.value for row in result.scores}


def test_a_panels_scores_are_computed_again_from_its_votes(voted: Path) -> None:
    run = str(voted / "run")
    assert scores(open_run(run)) == {"rb_llm": 0.5, "umbrela": 2.0}  # 5 is between 3 and 7
    assert next(iter(open_run(run).scores)).explanation == "votes: 2, 7, 8, 3"
    assert call(["rescore", run]) == 0
    # The prompts of all of them are in the signature, and what the endpoint does not take.
    prompts = sorted(RelevanceGrade("", "").prompt_hash(model) for model in ("first", "Qwen-4"))
    signature = open_run(run).summary["umbrela"].signature
    without = "-presence_penalty-seed|judge="
    assert f"|relevance_grade:{'+'.join(prompts)}{without}" in signature


def test_explain_shows_each_vote_with_model_cost_and_reply(voted: Path, capsys: Any) -> None:
    assert call(["explain", str(voted / "run"), "q1", "rb_llm"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for model, rating in RATINGS.items():
        assert f'#{model} {{"explanation":"so says {model}","rating":{rating}}}' in shown
    assert shown.count("tokens in") == 4
    assert "4 votes differ: rating " in shown
    assert "system:" not in shown
    assert call(["explain", str(voted / "run"), "q1", "rb_llm", "--full"]) == 0
    full = capsys.readouterr().out
    assert full.count("system:") == 1  # all four saw the same
    assert full.count("reply:") == 4
    assert PASSAGE in " ".join(full.split())


def test_what_is_explained_and_computed_again_is_all_that_a_score_rests_on(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    grades = [dict.fromkeys(("match", "trust", "grade"), grade) for grade in (1, 3)]
    judge = Scripted(lambda question: grades["1968" in question.data["passage"]])
    by: dict[str, Any] = {"metrics": "umbrela,em,f1", "judge": judge, "save": tmp_path / "run"}
    result = ragassay.evaluate(DATA, "trecrag,qa", **by)
    (evidence,) = explain(result, "q1", "mean_umbrela_score").scores  # an alias of the suite
    assert evidence.metric is result["mean_umbrela_score"]
    assert (evidence.metric.metric, evidence.row.value) == ("umbrela", 2.0)
    assert tuple(one["id"] for one in evidence.judge_answers) == evidence.row.evidence
    asked = [(one["data"]["passage"], one["answer"]["grade"]) for one in evidence.judge_answers]
    assert asked == [("A museum.", 1), (PASSAGE, 3)]
    whole = explain(result, "q1").to_json()
    assert [one["score"]["metric"] for one in whole["scores"]] == ["umbrela", "em", "f1"]
    assert whole["scores"][0]["signature"] == result.summary.metrics["umbrela"].signature
    none = {"scores": 3, "judge_answers": 2, "unmeasured": 0, "different": []}
    for run in (result, open_run(tmp_path / "run")):
        assert rescoring.rescore(run).to_json() == none
    path = tmp_path / "run" / "scores.jsonl"
    path.write_text(path.read_text().replace('"em","value":0.0', '"em","value":1.0'))
    again = rescoring.rescore(open_run(tmp_path / "run"))
    assert [*rescoring.differing(again.different)] == ["q1: em was 1.0, and is 0.0"]
    (pair,) = again.to_json()["different"]
    assert [pair[side]["value"] for side in ("stored", "recomputed")] == [1.0, 0.0]
    for n in (10, 11):
        many = replace(again, different=again.different * n)
        monkeypatch.setattr(rescoring, "rescore", lambda run, many=many: many)
        assert call(["rescore", str(tmp_path / "run")]) == 3
        said = capsys.readouterr().out
        assert said.count("em was 1.0") == 10 and ("... and" in said) is (n > 10)


def test_a_text_that_the_offline_judge_does_not_read_is_named() -> None:
    data = {**DATA[0], "passages": ["x" * (LONGEST + 1), PASSAGE]}
    found = explain(ragassay.evaluate([data], "umbrela"), "q1")
    assert "read no more than" in str(evidence_report(found))
    (evidence,) = found.scores
    assert f"|relevance_grade:v{RelevanceGrade.version}|judge=offline" in evidence.metric.signature
    assert [one.get("cut") for one in evidence.judge_answers] == [["passage"], None]
    claims = {"claims": [f"claim {n}" for n in range(31)], "supported": [True] * 31}
    many = replace(found, scores=(replace(evidence, row=replace(evidence.row, parts=claims)),))
    for full, last in ((False, "… and 1 more; --full shows them"), (True, "claim 30")):
        assert last in str(evidence_report(many, full=full))


@dataclass(frozen=True)
class Polite(AttemptMetric):
    """A metric that a user wrote."""

    name = "test_polite"
    explanation = "it says please"


def test_a_metric_that_is_not_known_here_is_explained_all_the_same(tmp_path, capsys, monkeypatch):
    grade = dict.fromkeys(("match", "trust", "grade"), 1)
    judge = Scripted({"answer_attempted": {"answered": "yes"}, "relevance_grade": grade})
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


def test_a_score_of_a_model_that_is_not_here_is_left_as_it_is(tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as here:
        here.setattr(Hhem, "measure", lambda metric, window, rows: [scored(0.5) for _ in rows])
        result = ragassay.evaluate(DATA, ["hhem", "em"], save=tmp_path / "run")
    assert scores(result)["hhem"] == 0.5
    monkeypatch.setattr(Hhem, "measure", Mock(side_effect=Unavailable("it is not here")))
    lacking = rescoring.rescore(ragassay.evaluate(DATA, ["hhem", "em"]))
    assert (lacking.unmeasured, lacking.n_scores, lacking.different) == (0, 2, ())
    again = rescoring.rescore(open_run(tmp_path / "run"))
    assert (again.unmeasured, again.n_scores, again.different) == (1, 1, ())
    assert call(["rescore", str(tmp_path / "run")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "rest on a model that is not here ('ragassay models'), or on vectors" in said


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
    assert "2 samples have" in str(caught.value) and "--system '' --repeat 1." in str(caught.value)
    assert [explain(found, "q1", repeat=at).sample.repeat for at in (0, 1)] == [0, 1]
    assert explain(found, "q2", system="a b").sample.system == "a b"
