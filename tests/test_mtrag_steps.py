"""MT-RAG's five steps over a file that grows: `ragassay run --step`."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from llm_server import LLMServer
from ragassay import InputError, Reason, UsageError, suites
from ragassay.cli.steps import judge_words, run_step
from ragassay.engine.config import make_config
from ragassay.engine.mtrag_steps import STEPS, StepOptions, run_steps
from ragassay.engine.summary import Summary
from ragassay.judges.asking import Asker
from ragassay.judges.judge import Judge
from ragassay.judges.panel import Panel
from scripted_judge import Scripted

FIELDS = tuple(suites.get("mtrag").steps)
SAID = {
    "says_idk": {"says_idk": "no"},
    "extract_claims": {"claims": ["a", "b", "c"]},
    "claim_support": {"supported": [True, False, False]},
    "reference_rating": {"explanation": "", "rating": 7},
    "says_underspecified": {"asks": "yes"},
}
CONFIG = """
Recall: {func: recall, prediction: prediction, target: target}
RougeL_stemFalse: {func: rouge_l, prediction: prediction, target: target}
BertscoreP: {func: bert_prec, prediction: prediction, target: target}
BertscoreR: {func: bert_recall, prediction: prediction, target: target}
BertKPrec: {func: bert_prec, prediction: prediction, target: passage}
Extractiveness_RougeL: {func: extractiveness_rouge, prediction: prediction, target: passage}
Length: {func: length, prediction: prediction, target: target}
"""


def task(n: int = 1, label: str = "ANSWERABLE", **more: Any) -> dict[str, Any]:
    return {
        "task_id": f"conv<::>{n}",
        "conversation_id": "conv",
        "turn": n,
        "contexts": [{"document_id": "d1", "text": "Snow falls in the mountains.", "score": 0.5}],
        "input": [{"speaker": "user", "text": f"where does it snow? {n}", "metadata": {"a": [1]}}],
        "targets": [{"speaker": "agent", "text": "In the mountains of the west."}],
        "Answerability": [label],
        "unknown": {"nested": [1, {"deep": None}], "digits": 0.1234567890123456},
        **more,
    }


def record(n: int = 1, label: str = "ANSWERABLE", **more: Any) -> dict[str, Any]:
    return task(n, label, **{"predictions": [{"text": "It snows in the mountains."}], **more})


def written(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def stepped(
    step: str, source: Path, target: Path, judge: Judge | None = None, **options: Any
) -> Summary:
    with Asker(judge or Scripted(SAID)) as asker:
        return run_steps(StepOptions(step, source, target, **options), asker)


# --- what a step writes -------------------------------------------------------------------------


def test_the_file_grows_step_by_step_and_ends_as_all_at_once_leaves_it(tmp_path: Path) -> None:
    bert = {"BertscoreP": [0.1], "BertscoreR": [0.2], "BertKPrec": [0.3]}
    records = [record(1, metrics=bert), record(2, "UNANSWERABLE", metrics=bert)]
    source = written(tmp_path / "in.jsonl", records)
    grown = written(tmp_path / "grown.jsonl", records)
    sizes = []
    for step in STEPS:
        stepped(step, grown, grown)
        sizes.append(len(lines(grown)[0]["metrics"]))
    assert sizes == [9, 10, 11, 12, 15]
    stepped("all", source, tmp_path / "all.jsonl")
    assert lines(grown) == lines(tmp_path / "all.jsonl")
    assert set(lines(grown)[0]["metrics"]) == set(FIELDS)
    assert lines(grown)[0]["metrics"]["RL_F_idk"] == [1 / 3]
    assert lines(grown)[1]["metrics"]["RL_F_idk"] == [0.0]


def test_everything_else_in_a_record_stays_with_all_digits(tmp_path: Path) -> None:
    source = written(tmp_path / "in.jsonl", [record(1), record(2)])
    stepped("all", source, tmp_path / "new" / "folder" / "out.jsonl")
    for before, after in zip(
        lines(source), lines(tmp_path / "new" / "folder" / "out.jsonl"), strict=True
    ):
        assert {k: v for k, v in after.items() if not k.startswith("metrics")} == before
    metrics = after["metrics"]
    assert metrics["RL_F"] == [1 / 3] and metrics["RB_llm"] == [0.7]
    assert metrics["Recall"] == [1 / 2]


def test_a_null_says_why_and_a_later_value_takes_its_reason_away(tmp_path: Path) -> None:
    source = written(tmp_path / "in.jsonl", [record()])
    out = tmp_path / "out.jsonl"
    summary = stepped("idk", source, out, Scripted(Reason.UNPARSABLE))
    (found,) = lines(out)
    assert found["metrics"] == {"idk_eval": None}
    assert found["metrics_unscored"]["idk_eval"].startswith("unparsable: ")
    assert summary.incomplete == 1 and summary.metrics["idk_eval"].n_scored == 0
    stepped("idk", out, out)
    (found,) = lines(out)
    assert found["metrics"] == {"idk_eval": [0.0]} and "metrics_unscored" not in found


def test_without_contexts_two_fields_are_null(tmp_path: Path) -> None:
    given = {"BertscoreR": [0.5], "BertKPrec": [0.0]}
    source = written(tmp_path / "in.jsonl", [record(contexts=[], metrics=given)])
    stepped("algorithmic", source, tmp_path / "out.jsonl")
    (found,) = lines(tmp_path / "out.jsonl")
    assert found["metrics"]["BertKPrec"] is found["metrics"]["Extractiveness_RougeL"] is None
    assert found["metrics_unscored"]["BertKPrec"].startswith("not_applicable: ")
    assert found["metrics"]["RB_agg"] == [0.0]
    assert found["metrics"]["RB_agg_zero_denominator"] == [False]


def test_length_is_words_and_characters_where_published_values_are_asked_for(
    tmp_path: Path,
) -> None:
    source = written(tmp_path / "in.jsonl", [record()])
    for published, length in ((False, 5), (True, 26)):
        stepped("algorithmic", source, tmp_path / "out.jsonl", published=published)
        assert lines(tmp_path / "out.jsonl")[0]["metrics"]["Length"] == [length]


@pytest.mark.parametrize(
    ("file", "tolerance"), [("llama405b_algorithmic_6.jsonl", 0.0), ("judged_42.jsonl", 1e-10)]
)
def test_published_files_come_out_as_published(
    shared: Path, tmp_path: Path, file: str, tolerance: float
) -> None:
    source = shared / "data" / "mtrag" / file
    refusing = Scripted(Reason.REFUSED)
    stepped("all", source, tmp_path / "out.jsonl", refusing, published=True)
    before = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    after = lines(tmp_path / "out.jsonl")
    assert len(before) == len(after) > 5
    for old, new in zip(before, after, strict=True):
        assert set(new["metrics"]) == set(FIELDS)
        for field, values in old["metrics"].items():
            ours = new["metrics"][field]
            assert len(ours) == len(values)
            assert all(abs(a - b) <= tolerance for a, b in zip(ours, values, strict=True))
        if "idk_eval" in old["metrics"]:
            assert "metrics_unscored" not in new
    if file.startswith("judged"):
        assert not refusing.questions


@pytest.mark.parametrize("file", ["judged_42.jsonl", "llama405b_algorithmic_6.jsonl"])
def test_the_offline_judge_fills_every_field_or_says_why(
    shared: Path, tmp_path: Path, file: str
) -> None:
    source, out = shared / "data" / "mtrag" / file, tmp_path / "out.jsonl"
    summary = run_steps(StepOptions("all", source, out, options={"given": False}))
    for found in lines(out):
        assert set(found["metrics"]) == set(FIELDS)
        nulls = {name for name, values in found["metrics"].items() if values is None}
        assert nulls == set(found.get("metrics_unscored", {}))
    for metric in summary.metrics.values():
        assert metric.n_scored + sum(metric.unscored.values()) == metric.n_total
    assert summary.judging is not None and "offline" in summary.judging.judge


def test_a_file_that_was_written_is_read_without_a_word(tmp_path: Path) -> None:
    import warnings

    from ragassay import load

    plain = written(tmp_path / "in.jsonl", [record(1, unknown=1)])
    stepped("all", plain, tmp_path / "out.jsonl")
    assert "metrics_unscored" in lines(tmp_path / "out.jsonl")[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (sample,) = load(tmp_path / "out.jsonl")
    assert "metrics_unscored" not in sample.metadata


def test_nan_in_a_record_becomes_null_and_the_output_is_strict_json(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps(record(1, extra=float("nan"))) + "\n")
    stepped("algorithmic", source, tmp_path / "out.jsonl")
    text = (tmp_path / "out.jsonl").read_text()
    assert "NaN" not in text and json.loads(text)["extra"] is None


def test_a_file_whose_name_says_gzip_is_gzip(tmp_path: Path) -> None:
    source = written(tmp_path / "in.jsonl", [record()])
    stepped("idk", source, tmp_path / "out.jsonl.gz")
    body = gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes())
    assert json.loads(body)["metrics"] == {"idk_eval": [0.0]}
    stepped("ragas", tmp_path / "out.jsonl.gz", tmp_path / "more.jsonl")
    assert set(lines(tmp_path / "more.jsonl")[0]["metrics"]) == {"idk_eval", "RL_F"}


# --- judges -------------------------------------------------------------------------------------


def test_each_step_asks_only_its_own_questions(tmp_path: Path) -> None:
    source = written(tmp_path / "in.jsonl", [record()])
    asked = {}
    for step in STEPS:
        judge = Scripted(SAID)
        stepped(step, source, tmp_path / "out.jsonl", judge)
        asked[step] = judge.asked
    assert asked == {
        "algorithmic": [],
        "idk": ["says_idk"],
        "ragas": ["extract_claims", "claim_support"],
        "radbench": ["reference_rating"],
        "idk_condition": [],
    }


def test_a_value_that_is_there_is_not_asked_for_again_unless_told(tmp_path: Path) -> None:
    source = written(tmp_path / "in.jsonl", [record(metrics={"idk_eval": [1.0]})])
    judge = Scripted(SAID)
    stepped("idk", source, tmp_path / "out.jsonl", judge)
    assert not judge.asked and lines(tmp_path / "out.jsonl")[0]["metrics"]["idk_eval"] == [1.0]
    stepped("idk", source, tmp_path / "out.jsonl", judge, options={"given": False})
    assert judge.asked and lines(tmp_path / "out.jsonl")[0]["metrics"]["idk_eval"] == [0.0]


def test_conditioning_reads_its_input_and_asks_nobody(tmp_path: Path) -> None:
    source = written(tmp_path / "in.jsonl", [record(1, metrics={"RL_F": [0.4], "RB_agg": [0.2]})])
    decoy = written(tmp_path / "out.jsonl", [record(1, metrics={"idk_eval": [1.0]})])
    judge = Scripted(SAID)
    summary = stepped("idk_condition", source, decoy, judge)
    (found,) = lines(decoy)
    assert not judge.asked and summary.judging is None
    assert found["metrics"] == {
        "RL_F": [0.4], "RB_agg": [0.2], "RB_agg_idk": None, "RB_llm_idk": None, "RL_F_idk": None,
    }  # fmt: skip
    assert "run the steps idk" in found["metrics_unscored"]["RL_F_idk"]
    stepped("idk", source, source)
    stepped("idk_condition", source, decoy)
    assert lines(decoy)[0]["metrics"]["RL_F_idk"] == [0.4]
    assert lines(decoy)[0]["metrics"]["RB_agg_idk"] == [0.2]


@pytest.mark.parametrize("label", ["ANSWERABLE", "UNANSWERABLE"])
@pytest.mark.parametrize("said", [{"claims": []}, *Reason])
def test_conditioning_by_itself_treats_a_null_as_all_steps_at_once_do(
    tmp_path: Path, label: str, said: Any
) -> None:
    bert = {"BertscoreP": [0.1], "BertscoreR": [0.2], "BertKPrec": [0.3]}
    source = written(tmp_path / "in.jsonl", [record(1, label, metrics=bert)])
    judge = Scripted({**SAID, "extract_claims": said})
    whole = stepped("all", source, tmp_path / "all.jsonl", judge)
    for step in STEPS:
        last = stepped(step, source, source, judge)
    assert lines(source) == lines(tmp_path / "all.jsonl")
    (found,) = lines(source)
    assert found["metrics"]["RL_F"] is None
    assert last.metrics["RL_F_idk"].unscored == whole.metrics["RL_F_idk"].unscored


def test_conditioning_without_the_steps_before_it_scores_nothing(tmp_path: Path) -> None:
    given = {"idk_eval": [0.0], "RL_F": None}
    records = [record(1, metrics=given), record(2, "UNANSWERABLE", metrics=given)]
    source = written(tmp_path / "in.jsonl", records)
    summary = stepped("idk_condition", source, tmp_path / "out.jsonl")
    for field in ("RL_F_idk", "RB_llm_idk", "RB_agg_idk"):
        assert summary.metrics[field].mean is None, field
    for found in lines(tmp_path / "out.jsonl"):
        assert "run the steps idk, ragas" in found["metrics_unscored"]["RL_F_idk"]


@pytest.mark.parametrize("spelling", ["Answerability", "answerability"])
def test_conditioning_finds_the_label_in_both_spellings(tmp_path: Path, spelling: str) -> None:
    given = {"idk_eval": [1.0], "RL_F": [0.3], "RB_llm": [0.3], "RB_agg": [0.3]}
    one = record(metrics=given)
    del one["Answerability"]
    source = written(tmp_path / "in.jsonl", [{**one, spelling: ["UNANSWERABLE"]}])
    stepped("idk_condition", source, tmp_path / "out.jsonl")
    found = lines(tmp_path / "out.jsonl")[0]["metrics"]
    assert [found[name] for name in ("RB_agg_idk", "RB_llm_idk", "RL_F_idk")] == [[1.0]] * 3


def test_a_missing_label_is_an_error_and_the_run_incomplete(tmp_path: Path) -> None:
    one = record(metrics={"idk_eval": [0.0], "RL_F": [0.3]})
    del one["Answerability"]
    source = written(tmp_path / "in.jsonl", [one])
    summary = stepped("idk_condition", source, tmp_path / "out.jsonl")
    (found,) = lines(tmp_path / "out.jsonl")
    assert found["metrics"]["RL_F_idk"] is None and summary.incomplete
    assert "'Answerability'" in found["metrics_unscored"]["RL_F_idk"]


def test_underspecified_queries_get_the_verdict_that_conditioning_needs(tmp_path: Path) -> None:
    source = written(tmp_path / "in.jsonl", [record(1, "UNDERSPECIFIED"), record(2)])
    stepped("all", source, tmp_path / "all.jsonl")
    first, second = lines(tmp_path / "all.jsonl")
    assert first["metrics"]["underspecified_eval"] == [1.0]
    assert first["metrics"]["RL_F_idk"] == [1.0]
    assert "underspecified_eval" not in second["metrics"]
    assert "underspecified_eval" not in second["metrics_unscored"]


def test_a_panels_median_is_written_as_it_is(tmp_path: Path) -> None:
    source = written(tmp_path / "in.jsonl", [record()])
    seats = [
        Scripted({"reference_rating": {"explanation": "", "rating": points}}) for points in (4, 7)
    ]
    stepped("radbench", source, tmp_path / "out.jsonl", Panel(seats))
    assert lines(tmp_path / "out.jsonl")[0]["metrics"]["RB_llm"] == [pytest.approx(0.55)]


# --- tasks and predictions in two files -----------------------------------------------------------


def predictions(*numbers: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {"task_id": f"conv::{n}", "predictions": [{"text": "It snows."}], "model": "m", **more}
        for n in numbers
    ]


def test_predictions_are_joined_with_their_tasks(tmp_path: Path) -> None:
    tasks = written(tmp_path / "tasks.jsonl", [task(n) for n in (1, 2, 3)])
    source = written(tmp_path / "in.jsonl", predictions(3, 1))
    summary = stepped("all", source, tmp_path / "out.jsonl", tasks=tasks)
    first, second = lines(tmp_path / "out.jsonl")
    assert (first["turn"], second["turn"]) == (3, 1)
    assert first["task_id"] == "conv::3" and first["model"] == "m"
    assert first["targets"] == task()["targets"] and first["unknown"] == task()["unknown"]
    assert first["metrics"]["RB_llm_idk"] == [0.7]
    assert any("1 of 3 tasks" in warning for warning in summary.warnings)
    again = stepped("idk_condition", tmp_path / "out.jsonl", tmp_path / "out.jsonl")
    assert again.metrics["RL_F_idk"].n_scored == 2  # the output stands by itself


def test_the_contexts_that_a_system_saw_are_its_own(tmp_path: Path) -> None:
    tasks = written(tmp_path / "tasks.jsonl", [task()])
    own = [{"document_id": "x", "text": "It snows."}]
    source = written(tmp_path / "in.jsonl", predictions(1, contexts=own, targets=None))
    stepped("algorithmic", source, tmp_path / "out.jsonl", tasks=tasks)
    (found,) = lines(tmp_path / "out.jsonl")
    assert found["contexts"] == own and found["metrics"]["Extractiveness_RougeL"] == [1.0]
    assert found["targets"] == task()["targets"]


def test_one_file_twice_is_one_file(tmp_path: Path) -> None:
    source = written(tmp_path / "in.jsonl", [record()])
    stepped("idk", source, source, tasks=source)
    (found,) = lines(source)
    assert found.pop("metrics_judge")["idk_eval"]
    assert found == {**record(), "metrics": {"idk_eval": [0.0]}}


def test_a_record_says_who_was_asked_and_nobody_for_what_it_brought(tmp_path: Path) -> None:
    from ragassay.judges.offline import LABEL, offline_asker

    brought = {**record(), "task_id": "conv<::>2", "metrics": {"idk_eval": [0.0]}}
    source = written(tmp_path / "in.jsonl", [record(), brought])
    with offline_asker() as asker:
        run_steps(StepOptions("idk", source, tmp_path / "out.jsonl"), asker)
    new, old = lines(tmp_path / "out.jsonl")
    assert new["metrics_judge"] == {"idk_eval": LABEL} and "metrics_judge" not in old


@pytest.mark.parametrize(
    ("tasks", "source", "message"),
    [
        ([task(1)], predictions(2), r"in\.jsonl, line 1, field 'task_id'.*not in .*tasks\.jsonl"),
        ([task(1), task(1)], predictions(1), r"tasks\.jsonl, line 2.*already given in line 1"),
        ([task(1)], [{"predictions": [{"text": "a"}]}], r"line 1.*no task_id"),
        ([task(1)], predictions(1, 1), r"line 2.*already given"),
        ([task(1)], predictions(1, targets=[{"text": "other"}]), r"field 'targets'.*differ"),
        ([task(1)], predictions(1, answerability=["PARTIAL"]), r"ANSWERABLE.*PARTIAL|PARTIAL"),
    ],
)
def test_files_that_do_not_fit_are_refused_with_their_place(
    tmp_path: Path, tasks: list[Any], source: list[Any], message: str
) -> None:
    options = {"tasks": written(tmp_path / "tasks.jsonl", tasks)}
    with pytest.raises(InputError, match=message):
        stepped("idk", written(tmp_path / "in.jsonl", source), tmp_path / "out.jsonl", **options)
    assert not (tmp_path / "out.jsonl").exists()


# --- the choice of metrics ------------------------------------------------------------------------


def test_the_benchmarks_config_chooses_the_algorithmic_metrics(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(CONFIG)
    source = written(tmp_path / "in.jsonl", [record()])
    stepped("algorithmic", source, tmp_path / "out.jsonl", evaluators=config)
    assert list(lines(tmp_path / "out.jsonl")[0]["metrics"]) == list(FIELDS[:9])
    some = "Mine: {func: recall, target: target}\nLength: {func: length, target: target}\n"
    config.write_text(some)
    stepped("algorithmic", source, tmp_path / "out.jsonl", evaluators=config)
    assert lines(tmp_path / "out.jsonl")[0]["metrics"] == {"Mine": [1 / 2], "Length": [5]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a mapping"),
        ("- Recall", "not a mapping"),
        ("Recall: recall", "no metric's entry"),
        ("Recall: {func: recal, target: target}", "recall against target"),
        ("K: {func: k_prec, target: passage}", "no metric k_prec against passage"),
        ("Recall: {func: recall", "not YAML"),
    ],
)
def test_a_config_that_is_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    source = written(tmp_path / "in.jsonl", [record()])
    with pytest.raises(InputError, match=f"config.yaml.*{message}"):
        stepped("algorithmic", source, tmp_path / "o.jsonl", evaluators=tmp_path / "config.yaml")


def test_an_unknown_step_or_option_is_a_usage_error(tmp_path: Path) -> None:
    source = written(tmp_path / "in.jsonl", [record()])
    with pytest.raises(UsageError, match=r"no step 'radbenhc'\. Did you mean 'radbench'"):
        stepped("radbenhc", source, tmp_path / "o.jsonl")
    with pytest.raises(UsageError, match="No metric"):
        stepped("algorithmic", source, tmp_path / "o.jsonl", options={"give": False})


@pytest.mark.parametrize("metrics", [[1], "none"])
def test_metrics_that_are_no_object_are_refused(tmp_path: Path, metrics: Any) -> None:
    source = written(tmp_path / "in.jsonl", [record(metrics=metrics)])
    with pytest.raises(InputError, match="metrics"):
        stepped("idk", source, tmp_path / "o.jsonl")
    assert not (tmp_path / "o.jsonl").exists()


class Draining(Scripted):
    drained = False

    async def drain(self) -> None:
        self.drained = True
        await super().drain()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("a"), InputError("b")])
def test_a_step_that_ends_early_leaves_the_file_as_it_was(
    tmp_path: Path, error: BaseException
) -> None:
    source = written(tmp_path / "in.jsonl", [record(n) for n in range(1, 4)])
    before = source.read_bytes()

    def stop(n: int) -> None:
        if n == 2:
            raise error

    judge = Draining(SAID)
    with pytest.raises(type(error)), Asker(judge) as asker:
        run_steps(StepOptions("idk", source, source), asker, stop)
    assert judge.drained, "what is in flight is paid, and waited for"
    assert source.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"provider": None}, None),
        ({"provider": "openai"}, "openai"),
        ({"provider": "openai", "judge_model": "gpt-x"}, "openai:gpt-x"),
        ({"provider": "vllm", "judge_model": "org/m"}, "http://localhost:8001/v1#org/m"),
        ({"provider": "offline"}, "offline"),
    ],
)
def test_published_flags_name_a_judge(flags: Mapping[str, Any], words: str | None) -> None:
    assert judge_words(**flags) == words


@pytest.mark.parametrize(
    "flags",
    [
        {"provider": "hf", "judge_model": "m"},
        {"provider": "vllm"},
        {"provider": None, "judge_model": "m"},
        {"provider": "openai", "azure_host": "https://azure.invalid"},
    ],
)
def test_flags_that_name_no_judge_say_what_to_write(flags: Mapping[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"--(judge|provider)"):
        judge_words(**flags)


def test_a_key_on_the_command_line_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as caught:
        judge_words("openai", openai_key="sk-very-secret")
    assert "sk-very-secret" not in str(caught.value) and "--key-file" in str(caught.value)


def test_the_command_writes_the_file_and_prints_the_means(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"idk_eval": [0.0], "RL_F": [0.25], "RB_llm": [0.5], "RB_agg": [0.75]}
    source = written(tmp_path / "in.jsonl", [record(metrics=given)])
    config = make_config(output=str(tmp_path / "out.jsonl"), suite=["mtrag"])
    assert run_step("idk_condition", None, source, config) == 0
    said = capsys.readouterr().out
    assert re.search(r"RL_F_idk\s.*0\.25", said) and "out.jsonl" in said
    assert lines(tmp_path / "out.jsonl")[0]["metrics"]["RB_llm_idk"] == [0.5]
    assert run_step("idk_condition", source, None, config, json=True) == 0
    assert json.loads(capsys.readouterr().out)["totals"] == {
        "ranking_score": pytest.approx(3 / (4 + 2 + 4 / 3))
    }


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"output": None}, "-o"),
        ({"suite": ["qa"]}, "belongs to the suite mtrag"),
        ({"limit": 1}, "--limit"),
        ({"metrics": ["em"]}, "--metrics"),
    ],
)
def test_options_that_do_not_go_with_a_step_are_refused(
    tmp_path: Path, wrong: dict[str, Any], message: str
) -> None:
    source = written(tmp_path / "in.jsonl", [record()])
    options = {"output": str(tmp_path / "out.jsonl"), "suite": ["mtrag"]} | wrong
    with pytest.raises(UsageError, match=message):
        run_step("idk", source, None, make_config(**options))


def test_two_names_of_a_judge_are_refused(tmp_path: Path) -> None:
    source = written(tmp_path / "in.jsonl", [record()])
    config = make_config(output=str(tmp_path / "out.jsonl"), judge=["offline"])
    with pytest.raises(UsageError, match="Keep one"):
        run_step("idk", source, None, config, provider="openai")


def test_the_steps_run_against_a_real_endpoint_and_pay_once(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    source = written(tmp_path / "in.jsonl", [record(n) for n in range(1, 6)])
    with LLMServer() as server:
        config = make_config(
            output=str(tmp_path / "out.jsonl"),
            judge=[f"{server.url}#some-model"],
            ledger=str(tmp_path / "ledger.sqlite"),
        )
        answered = []
        for _ in range(2):
            run_step("idk", source, None, config)
            for step in ("ragas", "radbench", "idk_condition"):
                run_step(step, None, tmp_path / "out.jsonl", config)
            answered.append(server.stats()["answered"])
    # A list of claims may be empty, and then there is no second question.
    assert answered[0] == answered[1] and 15 <= answered[0] <= 20
    once = lines(tmp_path / "out.jsonl")
    for found in once:
        nulls = {name for name, values in found["metrics"].items() if values is None}
        assert nulls == set(found.get("metrics_unscored", {}))
        assert found["metrics"]["idk_eval"] in ([0.0], [0.5], [1.0])
        assert found["metrics"]["RB_llm"][0] in [n / 10 for n in range(1, 11)]
