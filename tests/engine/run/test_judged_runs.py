"""A run that asks a judge: its evidence, its cost, its failures, and the way back from a score."""

import asyncio
import threading
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import pytest

import ragassay
from attempt_metric import AttemptMetric
from ragassay import suites
from ragassay.base.errors import UsageError
from ragassay.base.score import Reason
from ragassay.cli.command_line import call
from ragassay.engine.config.run_config import make_config
from ragassay.engine.results.folders.run_folder import open_run
from ragassay.engine.run import prepared_run, rescoring
from ragassay.engine.run.judge_session import open_session, options_of
from ragassay.judges.judge import Failure, Judge, JudgeAnswer, Provenance
from ragassay.judges.judge_factory import JudgeOptions
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.judges.panel import Panel
from ragassay.judges.question import Question
from ragassay.judges.questions.answering import AnswerAttempted, Attempt
from ragassay.metrics.core.metric import register
from ragassay.reports.text import wording
from ragassay.reports.views import summary_view
from scripted_judge import Scripted


@register
@dataclass(frozen=True)
class Tried(AttemptMetric):
    """1 where the answer tries to answer."""

    name = "test_tried"


@register
@dataclass(frozen=True)
class TriedAgain(Tried):
    """The same question under another name."""

    name = "test_tried_again"


class Rule(Judge):
    """Answers by the length of the answer; fails on some."""

    label = "rule"  # type: ignore[assignment]

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.threads: set[str] = set()

    async def answer(self, question: Question, repeat: int = 0) -> JudgeAnswer | Failure:
        await asyncio.sleep(0)
        self.asked[question.key] += 1
        self.threads.add(threading.current_thread().name)
        made = Provenance(
            "rule", request=question.key, messages=question.messages(), reply="{}",
            prompt_hash=question.prompt_hash(), input_tokens=10, output_tokens=2, cost=0.001,
        )  # fmt: skip
        if "timeout" in question.answer:
            return Failure(question, Reason.TIMEOUT, "no reply within 1 s", made, repeat)
        said = "yes" if len(question.answer) > 3 else "no"
        return JudgeAnswer(question, Attempt(answered=said), made, repeat)


def records(n: int) -> list[dict]:
    answers = ["no", "a long answer", "timeout", "another answer"]
    return [{"id": f"q{at}", "query": f"what {at}?", "answer": answers[at % 4]} for at in range(n)]


BOTH = ["test_tried", "test_tried_again"]


def test_a_question_of_several_metrics_is_asked_once_and_its_cost_counted_once() -> None:
    judge = Rule()
    result = ragassay.evaluate(records(400), BOTH, judge=judge)
    assert len(judge.asked) == 400 and set(judge.asked.values()) == {1}
    spent = result.summary.judging
    assert spent is not None
    assert (spent.judge, spent.questions, spent.calls) == ("rule", 400, 400)
    assert (spent.input_tokens, spent.output_tokens) == (4000, 800)
    assert spent.cost == pytest.approx(0.4) and spent.failures == {"timeout": 100}
    assert judge.threads == {"ragassay-loop"}


def test_a_failed_answer_is_unscored_and_the_signature_names_judge_and_prompt() -> None:
    result = ragassay.evaluate(records(8), ["test_tried"], judge=Rule())
    metric = result.summary.metrics["test_tried"]
    assert (metric.n_scored, metric.n_total, metric.unscored) == (6, 8, {"timeout": 2})
    assert metric.mean == pytest.approx(4 / 6)
    assert (result.summary.incomplete, metric.judge) == (2, "rule")
    prompt = AnswerAttempted("a", "b").prompt_hash()
    assert metric.signature == f"test_tried|v1|answer_attempted:{prompt}|judge=rule"
    assert result.config["signatures"]["test_tried"] == metric.signature


def test_each_option_of_asking_reaches_the_judge(here: Path) -> None:
    given: dict[str, Any] = {
        "concurrency": 1, "rpm": 2.0, "tpm": 3.0, "timeout": 4.0, "temperature": 0.5, "top_p": 1.0,
        "presence_penalty": -2, "frequency_penalty": 2, "max_tokens": 9, "key_file": "k",
        "key_variable": "V", "price": "1,2", "quorum": 2, "judge_name": "n", "language": "de",
    }  # fmt: skip
    assert options_of(make_config(**given, judge_seed=5)) == JudgeOptions(**given, seed=5)
    assert options_of(make_config(), dry=True) == JudgeOptions(dry=True)
    again, failed = {"refresh": True}, {"retry_failed": True}
    for chosen, reuse in ((again, "nothing"), (failed, "answers"), (again | failed, "nothing")):
        assert options_of(make_config(**chosen)).reuse == reuse
    for option in ({"budget": "2 calls"}, given | {"concurrency": None}, {"rpm": 2.0}, again):
        with pytest.raises(UsageError, match="is for judges given by name, and yours is an object"):
            open_session(make_config(**option), (), Rule())
    to_embedder = {"concurrency": 1, "rpm": 2.0, "budget": "1.00", "refresh": True}
    to_embedder |= {"tpm": 3.0, "timeout": 4.0, "ledger": "l.sqlite"}
    open_session(make_config(**to_embedder, embedder="http://h/v1#m"), (), Rule())
    for used, model in ((["qa", "trecrag"], "gpt-4o"), (["qa"], "gpt-4o-mini")):
        config, published = make_config(judge="openai"), [suites.get(name) for name in used]
        session = open_session(config, published, dry=True, environment={})
        assert session.judge.model == model


def test_a_vote_that_a_panel_lost_leaves_the_run_incomplete_although_nothing_is_unscored() -> None:
    said = {"answer_attempted": {"answered": "yes"}}
    panel = Panel([Scripted(said), Scripted(said), Scripted(Reason.TIMEOUT)])
    summary = ragassay.evaluate(records(4), ["test_tried"], judge=panel).summary
    assert summary.metrics["test_tried"].n_scored == summary.incomplete == summary.lost_votes == 4
    assert summary.n_missing == 0
    assert summary.judging is not None and summary.judging.lost_votes == {"timeout": 4}
    (note,) = (one for one in summary.notes if one.kind == "votes_lost")
    assert (note.counts["n"], note.counts["total"]) == (4, 12)


def test_the_run_folder_holds_each_answer_once_and_scores_name_theirs(tmp_path: Path) -> None:
    ragassay.evaluate(records(300), BOTH, judge=Rule(), save=tmp_path / "run")
    lines = (tmp_path / "run" / "judge_answers.jsonl").read_bytes().splitlines()
    judge_answers = {record["id"]: record for record in map(orjson.loads, lines)}
    assert len(lines) == len(judge_answers) == 300
    prepared_run.job_of(records(3), BOTH, False, judge=Rule(), save=tmp_path / "r").run(keep=False)
    lost = prepared_run.job_of(records(3), BOTH, False, judge=Rule()).run(keep=False)
    with pytest.raises(UsageError, match="kept its summary only"):
        list(lost.samples)
    assert len((tmp_path / "r" / "judge_answers.jsonl").read_bytes().splitlines()) == 3
    again = open_run(tmp_path / "run")
    assert again.columns.tally(BOTH[0]).judges == {"rule": 225}
    for row in again.scores:
        (one,) = row.evidence
        assert (judge_answers[one]["answer"] is None) == (row.value is None)
        assert judge_answers[one]["messages"][-1]["role"] == "user"


def test_every_score_is_computed_again_from_the_evidence(tmp_path: Path, capsys) -> None:
    result = ragassay.evaluate(records(300), BOTH, judge=Rule(), save=tmp_path / "run")
    again = rescoring.rescore(open_run(tmp_path / "run"))
    assert (again.n_scores, again.n_answers, again.different) == (600, 300, ())
    in_memory = ragassay.evaluate(records(8), BOTH, judge=Rule())
    assert rescoring.rescore(in_memory).different == ()
    lacking = rescoring.rescore(replace(in_memory, judge_answers={})).different
    assert len(lacking) == 16 and {again.reason for _, again in lacking} == {"missing_input"}
    assert result.summary.metrics["test_tried"].n_scored == 225
    assert call(["rescore", str(tmp_path / "run")]) == 0
    path = tmp_path / "run" / "judge_answers.jsonl"
    path.write_text(path.read_text().replace('{"answered":"yes"}', '{"answered":"no"}', 1))
    assert call(["rescore", str(tmp_path / "run")]) == 3
    assert "test_tried was True, and is False" in capsys.readouterr().out


def test_explain_leads_from_a_score_to_prompt_and_reply(tmp_path: Path, capsys) -> None:
    run = tmp_path / "run"
    ragassay.evaluate(records(4), BOTH, judge=Rule(), save=run)
    assert call(["explain", str(run), "q1", "test_tried", "--full"]) == 0
    shown = capsys.readouterr().out
    for piece in ("test_tried", "answer attempted", '{"answered":"yes"}', "what 1?", "reply: {}"):
        assert piece in shown and BOTH[1] not in shown
    assert call(["explain", str(run), "q1", "--json"]) == 0
    body = orjson.loads(capsys.readouterr().out)
    assert [one["score"]["metric"] for one in body["scores"]] == BOTH
    assert (answer := body["scores"][0]["judge_answers"][0])["input_tokens"] == 10
    assert "data" not in answer, "its prompt has them"
    assert call(["explain", str(run), "q11"]) == 2
    assert "no sample 'q11'" in capsys.readouterr().err
    assert call(["explain", str(run), "q1", "tried"]) == 2


@pytest.mark.parametrize("ending", [KeyboardInterrupt, ValueError], ids=["interrupt", "bad data"])
def test_what_is_in_flight_arrives_however_a_run_ends(ending: type[BaseException]) -> None:
    class Slow(Rule):
        drained = False
        arrived = 0

        async def answer(self, question: Question, repeat: int = 0) -> JudgeAnswer | Failure:
            await asyncio.sleep(0.05)
            self.arrived += 1
            return await super().answer(question, repeat)

        async def drain(self) -> None:
            Slow.drained = True
            await asyncio.sleep(0.1)

    class Ending:
        def __iter__(self):
            yield from records(600)
            raise ending

    judge = Slow()
    with pytest.raises(ending):
        ragassay.evaluate(Ending(), ["test_tried"], judge=judge)
    assert Slow.drained and judge.arrived > 0


def test_a_question_that_failed_is_not_asked_again_in_the_same_run() -> None:
    """Its failure is the evidence of every score that rests on it."""
    data = [{"id": f"q{at}", "query": "what?", "answer": "timeout"} for at in range(300)]
    judge = Rule()
    result = ragassay.evaluate(data, ["test_tried"], judge=judge)
    assert set(judge.asked.values()) == {1}
    assert result.summary.metrics["test_tried"].unscored == {"timeout": 300}
    assert rescoring.rescore(result).different == ()


def test_offline_answers_that_are_replayed_stay_labelled_offline(tmp_path: Path) -> None:
    ragassay.evaluate(records(4), ["test_tried"], judge=OfflineJudge(), save=tmp_path / "run")
    words = f"replay:{tmp_path / 'run' / 'judge_answers.jsonl'}"
    save = tmp_path / "again"
    keep = {"save": save, "ledger": str(tmp_path / "ledger.sqlite")}
    again = ragassay.evaluate(records(4), ["test_tried"], judge=words, **keep)
    label = "replay:judge_answers.jsonl of offline-lexical/12"
    metric = again.summary.metrics["test_tried"]
    assert metric.judge == label and f"judge={label}#" in metric.signature
    assert {row.judge for row in again.scores} == {label}
    assert again.summary.judging is not None and again.summary.judging.judge == label
    assert wording.judge_of(metric) == "offline (replayed)"
    assert label in (save / "scores.jsonl").read_text()
    llm = ragassay.evaluate(records(4), ["test_tried"], judge=Rule())
    with pytest.raises(UsageError, match="of offline-lexical/12"):
        ragassay.compare(llm, again)


def test_the_judge_is_named_only_for_metrics_with_a_value_of_its_own() -> None:
    """Given values, and the lowest value for a missing part, are nobody's judgment here."""
    given = {"RL_F": 0.4, "RB_llm": 0.4, "idk_eval": 0}
    records = [
        {"id": f"q{n}", "query": "q", "answer": "a b", "passages": ["a b"], "metrics": given}
        for n in range(2)
    ]
    summary = ragassay.evaluate(records, ["RL_F", "RB_llm", "idk_eval"]).summary
    assert summary.judging is not None
    asked = replace(summary, judging=replace(summary.judging, questions=3, calls=3, disagreed=1))
    for one in (summary, asked):
        assert not any("Judged by" in note for note in summary_view.summary_notes(one))
    said = " ".join(summary_view.summary_notes(asked))
    assert "Asked of offline-lexical/" in said and "1 of 3 questions" in said

    records = [
        {"id": "1", "query": "When?", "answer": "At nine.", "passages": ["It opens at nine."]},
        {"id": "2", "query": "When?", "passages": ["It opens at nine."]},
    ]
    names = ["ragreport_faithfulness", "ragreport_relevance"]
    summary = ragassay.evaluate(records, names).summary
    faithfulness = summary.metrics["ragreport_faithfulness"]
    assert faithfulness.n_scored == faithfulness.n_assumed == 1, "nothing of it was judged"
    judges = {name: wording.judge_of(metric) for name, metric in summary.metrics.items()}
    assert judges == {"ragreport_faithfulness": "", "ragreport_relevance": "offline"}
