"""MT-RAG's five steps over a file that grows: `ragassay mtrag --step`."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import ragassay
from llm_server import LLMServer
from mtrag_records import FIELDS, SAID, lines, record, task, written
from ragassay import InputError, Reason, UsageError
from ragassay.cli.command_line import call
from ragassay.cli.published_tools.mtrag_command import judge_words, mtrag
from ragassay.compat.mtrag.mtrag_steps import STEPS, StepOptions, run_steps
from ragassay.engine.results.summary import Summary
from ragassay.judges.asking import Asker
from ragassay.judges.judge import Judge
from ragassay.judges.offline.offline_judge import LABEL, offline_asker
from ragassay.judges.question import Question
from ragassay.judges.questions.checklists import ExtractClaims
from ragassay.metrics.core import naming
from scripted_judge import Scripted

mtrag.declare()

CONFIG = """
Recall: {func: recall, prediction: prediction, target: target}
RougeL_stemFalse: {func: rouge_l, prediction: prediction, target: target}
BertscoreP: {func: bert_prec, prediction: prediction, target: target}
BertscoreR: {func: bert_recall, prediction: prediction, target: target}
BertKPrec: {func: bert_prec, prediction: prediction, target: passage}
Extractiveness_RougeL: {func: extractiveness_rouge, prediction: prediction, target: passage}
Length: {func: length, prediction: prediction, target: target}
"""
BERT = {"BertscoreP": [0.1], "BertscoreR": [0.2], "BertKPrec": [0.3]}


def stepped(
    step: str, source: Path, target: Path, judge: Judge | None = None, **options: Any
) -> Summary:
    with Asker(judge or Scripted(SAID)) as asker:
        return run_steps(StepOptions(step, source, target, **options), asker)


def test_the_file_grows_step_by_step_and_ends_as_all_at_once_leaves_it(tmp_path: Path) -> None:
    records = [record(1, metrics=BERT), record(2, "UNANSWERABLE", metrics=BERT)]
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


@pytest.mark.parametrize(
    ("file", "tolerance"), [("llama405b_algorithmic_6.jsonl", 0.0), ("judged_42.jsonl", 1e-10)]
)
def test_published_files_come_out_as_published(shared, tmp_path, file, tolerance) -> None:
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


def test_nan_in_a_record_becomes_null_and_the_output_is_strict_json(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps(record(1, extra=float("nan"))) + "\n")
    stepped("algorithmic", source, tmp_path / "out.jsonl")
    text = (tmp_path / "out.jsonl").read_text()
    assert "NaN" not in text and json.loads(text)["extra"] is None


def test_each_step_asks_only_its_own_questions(tmp_path: Path) -> None:
    source = written(tmp_path / "in.jsonl", [record()])
    asked = {}
    for step in STEPS:
        judge = Scripted(SAID)
        summary = stepped(step, source, tmp_path / "out.jsonl", judge)
        asked[step] = judge.asked
        assert (summary.judging is None) is (not judge.asked)
    assert asked == {
        "algorithmic": [], "idk": ["says_idk"], "ragas": ["extract_claims", "claim_support"],
        "radbench": ["reference_rating"], "idk_condition": [],
    }  # fmt: skip


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
    assert "run the step idk first" in found["metrics_unscored"]["RL_F_idk"]
    stepped("idk", source, source)
    stepped("idk_condition", source, decoy)
    assert lines(decoy)[0]["metrics"]["RL_F_idk"] == [0.4]
    assert lines(decoy)[0]["metrics"]["RB_agg_idk"] == [0.2]


@pytest.mark.parametrize("label", ["ANSWERABLE", "UNANSWERABLE"])
@pytest.mark.parametrize("said", [{"claims": []}, *Reason])
def test_conditioning_alone_treats_a_null_as_all_steps_at_once_do(tmp_path, label, said) -> None:
    source = written(tmp_path / "in.jsonl", [record(1, label, metrics=BERT)])
    judge = Scripted({**SAID, "extract_claims": said})
    whole = stepped("all", source, tmp_path / "all.jsonl", judge)
    for step in STEPS:
        last = stepped(step, source, source, judge)
    assert lines(source) == lines(tmp_path / "all.jsonl")
    (found,) = lines(source)
    assert found["metrics"]["RL_F"] is None
    assert last.metrics["RL_F_idk"].unscored == whole.metrics["RL_F_idk"].unscored


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


class Named(Scripted):
    """A judge of another name."""

    def __init__(self, label: str, said: Any) -> None:
        super().__init__(said)
        self._label = label

    @property
    def label(self) -> str:
        return self._label


def claimless(n: int) -> Callable[[Question[Any]], Mapping[str, Any] | Reason]:
    """Answers as `SAID`, but finds no claims in the answer to question ``n``."""

    def said(question: Question[Any]) -> Mapping[str, Any] | Reason:
        if isinstance(question, ExtractClaims) and f"snow? {n}" in question.conversation:
            return {"claims": []}
        return SAID[question.kind]

    return said


def told(summary: Summary) -> list[str]:
    """Its warnings, but for what all records here have in common."""
    return [text for text in summary.warnings if "same conversation" not in text]


def grown(path: Path, records: list[dict[str, Any]], judge: Judge) -> Path:
    """The records after all steps, one by one, by a judge."""
    written(path, [{**one, "metrics": {**BERT, **one.get("metrics", {})}} for one in records])
    for step in STEPS:
        stepped(step, path, path, judge)
    return path


@pytest.mark.parametrize("null", [None, [None]])
def test_a_null_that_the_file_explains_is_not_filled_by_another_judge(tmp_path, null: Any) -> None:
    records = [record(n, "UNANSWERABLE" if n == 3 else "ANSWERABLE") for n in range(1, 6)]
    path = grown(tmp_path / "st.jsonl", records, Named("openai:gpt", claimless(2)))
    body = lines(path)
    assert body[1]["metrics"]["RL_F"] is None
    assert body[1]["metrics_judge"]["RL_F"] == "openai:gpt"
    body[1]["metrics"]["RL_F"] = null
    written(path, body)
    other = Scripted(SAID)
    result = ragassay.evaluate(path, "mtrag", metrics="RL_F,RL_F_idk,RB_llm", judge=other)
    assert not other.questions
    found = result.summary.metrics["RL_F"]
    assert (found.n_scored, found.unscored) == (4, {"nothing_claimed": 1})
    for metric in result.summary.metrics.values():
        assert metric.judge == "openai:gpt" and metric.n_given == metric.n_scored
        version = naming.parse(metric.metric).version
        assert metric.signature.endswith(f"|v{version}|given=all|judge=openai:gpt")
    assert not any("judges" in warning for warning in result.summary.warnings)
    row = next(row for row in result.scores if row.metric == "RL_F" and row.value is None)
    assert row.explanation == "the answer makes no claim that could be supported"
    ragassay.evaluate(path, "mtrag", metrics="RL_F", judge=other, options={"given": False})
    assert other.questions


@pytest.mark.parametrize("reason", [Reason.TIMEOUT, Reason.UNSUPPORTED, Reason.REFUSED])
def test_a_step_asks_again_what_failed_and_keeps_what_was_answered(tmp_path, reason) -> None:
    path = written(tmp_path / "st.jsonl", [record(1), record(2)])

    def said(question: Question[Any]) -> Mapping[str, Any] | Reason:
        return reason if "snow? 1" in str(question.data) else claimless(2)(question)

    first = stepped("ragas", path, path, Named("first", said))
    assert first.incomplete == (reason is not Reason.UNSUPPORTED)
    reasons = [one["metrics_unscored"]["RL_F"].partition(":")[0] for one in lines(path)]
    assert reasons == [reason, "nothing_claimed"]
    again = Named("second", SAID)
    stepped("ragas", path, path, again)
    one, two = lines(path)
    assert one["metrics"]["RL_F"] == [1 / 3] and one["metrics_judge"] == {"RL_F": "second"}
    assert "metrics_unscored" not in one
    assert two["metrics"]["RL_F"] is None and two["metrics_judge"] == {"RL_F": "first"}
    assert len(again.questions) == 2


def test_one_mean_of_two_judges_is_labelled_as_that_and_told(tmp_path: Path) -> None:
    path = grown(tmp_path / "st.jsonl", [record(n) for n in range(1, 13)], Named("gpt", SAID))
    body = lines(path)
    for name in ("RL_F", "RL_F_idk"):
        del body[4]["metrics"][name], body[4]["metrics_judge"][name]
    written(path, body)
    found = ragassay.evaluate(path, "mtrag", metrics="RL_F,RL_F_idk,idk_eval")
    metrics = found.summary.metrics
    assert metrics["RL_F"].judge == f"gpt + {LABEL}"
    assert metrics["RL_F"].judges == {"gpt": 11, LABEL: 1}
    for name in ("RL_F", "RL_F_idk"):
        assert f"judge={LABEL}|given=some|given_by=gpt" in metrics[name].signature
    assert metrics["idk_eval"].judge == "gpt"
    assert [text for text in found.summary.warnings if "different judges" in text] == [
        "RL_F is a mean over values of different judges (11 of gpt, 1 of offline-lexical/12). "
        "--option given=false judges all of them again.",
        "RL_F_idk is a mean over values of different judges (11 of gpt, 1 of gpt and "
        "offline-lexical/12). --option given=false judges all of them again.",
    ]


@pytest.mark.parametrize(
    ("label", "metrics", "missing"),
    [
        ("ANSWERABLE", {"idk_eval": [0], "RL_F": [0.5]}, "radbench"),
        ("ANSWERABLE", {"RL_F": [0.5], "RB_llm": [0.5]}, "idk"),
        # A full "I don't know" follows from conditional_idk and the label.
        ("ANSWERABLE", {"conditional_idk": [1], "RL_F": [0.5]}, "radbench"),
        # A conditioned value stands in the record already.
        ("ANSWERABLE", {"idk_eval": [0], "RL_F": [0.5], "RB_llm_idk": [0.5]}, ""),
        ("UNDERSPECIFIED", {"idk_eval": [0], "RL_F": [0.5], "RB_llm": [0.5]}, "idk"),
        ("UNANSWERABLE", {"idk_eval": [1]}, "ragas, radbench"),
    ],
)
def test_conditioning_names_the_steps_that_are_missing(tmp_path, label, metrics, missing) -> None:
    records = [record(1, label, metrics={"RB_agg": [0.5], **metrics})]
    source = written(tmp_path / "in.jsonl", records)
    found = stepped("idk_condition", source, tmp_path / "out.jsonl")
    said = [text for text in told(found) if "idk_condition asks no" in text]
    assert len(said) == bool(missing)
    if said:
        assert f"1 of 1 record lacks values of {missing}, and" in said[0]


CONDITIONED = ("RB_agg_idk", "RB_llm_idk", "RL_F_idk")


def test_the_shorter_rule_keeps_the_published_fields_and_is_noted_beside_them(tmp_path) -> None:
    given = {"idk_eval": [1.0], "RL_F": [0.5], "RB_llm": [0.5], "RB_agg": [0.5], "RL_F_idk": [0.5]}
    source = written(tmp_path / "in.jsonl", [record(1, metrics=given)])
    summary = stepped("idk_condition", source, source, options={"rule": "spec"})
    (found,) = lines(source)
    assert [found["metrics"][name] for name in CONDITIONED] == [[0.5]] * 3
    assert found["metrics_rule"] == "spec"
    assert not [name for name in found["metrics"] if "(" in name]
    assert [text for text in told(summary) if "rule=spec" in text] == [
        "3 values after IDK conditioning follow the shorter rule of MT-RAG's metrics page "
        "(rule=spec)."
    ]
    summary = stepped("idk_condition", source, source)
    (found,) = lines(source)
    assert [found["metrics"][name] for name in CONDITIONED] == [[0.0]] * 3
    assert "metrics_rule" not in found


def test_a_value_by_the_shorter_rule_is_never_taken_for_the_papers(tmp_path: Path) -> None:
    """Its record lacks the verdict by which the paper's table would give another value."""
    given = {"RL_F": [0.5], "RL_F_idk": [0.5]}
    one = record(1, metrics=given)
    for rules, kept in (({}, [0.5]), ({"metrics_rule": "spec"}, None)):
        source = written(tmp_path / "in.jsonl", [one | rules])
        stepped("idk_condition", source, source)
        assert lines(source)[0]["metrics"]["RL_F_idk"] == kept
    # Nor is one that contradicts its record.
    source = written(tmp_path / "in.jsonl", [record(1, metrics=given | {"idk_eval": [1.0]})])
    stepped("idk_condition", source, source)
    assert lines(source)[0]["metrics"]["RL_F_idk"] == [0.0]


def test_refresh_asks_for_all_that_judges_gave_and_keeps_what_models_gave(tmp_path: Path) -> None:
    labels = ["ANSWERABLE", "UNANSWERABLE", "UNDERSPECIFIED"]
    records = [record(n, label, metrics={}) for n, label in enumerate(labels, 1)]
    path = grown(tmp_path / "st.jsonl", records, Named("first", claimless(1)))
    before = lines(path)
    second = Named("second", SAID)
    summary = stepped("all", path, path, second, refresh=True)
    assert not told(summary) and len(second.questions) == 3 * 3 + 1 + 1
    for old, new in zip(before, lines(path), strict=True):
        assert set(new["metrics_judge"].values()) == {"second"}
        assert new["metrics"]["BertscoreR"] == old["metrics"]["BertscoreR"]
        assert new["metrics"]["RL_F"] == [1 / 3]
    stepped("idk_condition", path, path, refresh=True)
    assert lines(path)[0]["metrics"]["RL_F_idk"] == [1 / 3]
    # What a record brings in place of an idk_eval is judged again, too.
    written(path, [record(1, metrics={"conditional_idk": [1], "RL_F": [0.5]})])
    yes = Scripted({**SAID, "says_idk": {"says_idk": "yes"}})
    for refresh, value in ((False, 0.5), (True, 0.0)):
        stepped("all", path, tmp_path / "out.jsonl", yes, refresh=refresh)
        assert lines(tmp_path / "out.jsonl")[0]["metrics"]["RL_F_idk"] == [value]


def predictions(*numbers: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {"task_id": f"conv::{n}", "predictions": [{"text": "It snows."}], "model": "m", **more}
        for n in numbers
    ]


def test_predictions_are_joined_with_their_tasks(tmp_path: Path) -> None:
    all_tasks = [*map(task, (1, 2, 3)), task(4, task_id=4, targets=None)]
    tasks = written(tmp_path / "tasks.jsonl", all_tasks)
    fourth = predictions(4, task_id=4, targets=task()["targets"])
    source = written(tmp_path / "in.jsonl", [*predictions(3, 1), *fourth])
    summary = stepped("all", source, tmp_path / "out.jsonl", tasks=tasks)
    first, second, third = lines(tmp_path / "out.jsonl")
    assert (first["turn"], second["turn"], third["turn"]) == (3, 1, 4)
    assert first["task_id"] == "conv::3" and first["model"] == "m"
    assert first["targets"] == task()["targets"] and first["unknown"] == task()["unknown"]
    assert first["metrics"]["RB_llm_idk"] == [0.7]
    assert any("1 of 4 tasks" in warning for warning in summary.warnings)
    again = stepped("idk_condition", tmp_path / "out.jsonl", tmp_path / "out.jsonl")
    assert again.metrics["RL_F_idk"].n_scored == 3  # the output stands by itself


def test_the_contexts_that_a_system_saw_are_its_own(tmp_path: Path) -> None:
    tasks = written(tmp_path / "tasks.jsonl", [task()])
    own = [{"document_id": "x", "text": "It snows."}]
    same = [{"speaker": "user", "text": task()["input"][0]["text"]}]
    one = predictions(1, contexts=own, targets=None, input=same)
    source = written(tmp_path / "in.jsonl", one)
    stepped("algorithmic", source, tmp_path / "out.jsonl", tasks=tasks)
    (found,) = lines(tmp_path / "out.jsonl")
    assert found["contexts"] == own and found["metrics"]["Extractiveness_RougeL"] == [1.0]
    assert found["targets"] == task()["targets"]


def test_a_record_says_who_was_asked_and_nobody_for_what_it_brought(tmp_path: Path) -> None:
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
        ([task(1)], predictions(1, task_id=""), r"line 1.*no task_id"),
        ([task(1)], predictions(1, 1), r"line 2.*already given"),
        ([task(1)], [], r"in\.jsonl.*(holds no records|is empty)"),
        ([task(1)], predictions(1, targets=[{"text": "other"}]), r"field 'targets'.*differ"),
        (
            [task(1, input=[{"text": "Hi."}, {"text": "Who?"}])],
            predictions(1, input=[{"text": "Ho."}, {"text": "Who?"}]), r"field 'input'.*differ",
        ),
        ([task(1)], predictions(1, answerability=["PARTIAL"]), r"ANSWERABLE.*PARTIAL|PARTIAL"),
    ],
)  # fmt: skip
def test_files_that_do_not_fit_are_refused_with_a_place(tmp_path, tasks, source, message) -> None:
    options = {"tasks": written(tmp_path / "tasks.jsonl", tasks)}
    with pytest.raises(InputError, match=message):
        stepped("idk", written(tmp_path / "in.jsonl", source), tmp_path / "out.jsonl", **options)
    assert not (tmp_path / "out.jsonl").exists()


def test_the_benchmarks_config_chooses_the_algorithmic_metrics(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    source = written(tmp_path / "in.jsonl", [record()])
    for chosen in (range(7), (0, 1, 3, 4)):  # the aggregate needs four of them
        config.write_text("\n".join(CONFIG.splitlines()[1 + at] for at in chosen))
        stepped("algorithmic", source, tmp_path / "out.jsonl", evaluators=config)
        names = [FIELDS[at] for at in (*chosen, 7, 8)]
        assert list(lines(tmp_path / "out.jsonl")[0]["metrics"]) == names
    config.write_text("RB_agg: {}\nRB_agg_zero_denominator: {}\n")
    stepped("algorithmic", source, tmp_path / "out.jsonl", evaluators=config)
    assert list(lines(tmp_path / "out.jsonl")[0]["metrics"]) == [FIELDS[at] for at in (7, 8)]
    some = "{}: {{func: recall, target: target}}\nLength: {{func: length, target: target}}\n"
    for name in ("Recall", "Mine"):
        config.write_text(some.format(name))
        stepped("algorithmic", source, tmp_path / "out.jsonl", evaluators=config)
        assert lines(tmp_path / "out.jsonl")[0]["metrics"] == {name: [1 / 2], "Length": [5]}
    written(source, [record(n, conversation_id=f"c{n % 3}", kind=n % 2) for n in range(6)])
    for cluster_by, n in ((None, 3), ("kind", 2)):
        options = {"evaluators": config, "published": True, "cluster_by": cluster_by}
        found = stepped("algorithmic", source, tmp_path / "out.jsonl", **options)
        assert found.metrics["Mine"].n_clusters == n
    assert lines(tmp_path / "out.jsonl")[0]["metrics"]["Length"] == [26]


@pytest.mark.parametrize(("text", "message"), [
    ("", "not a mapping"), ("- Recall", "not a mapping"),
    ("Recall: recall", "not a metric's entry"),
    ("Recall: {func: recall, prediction: other, target: target}", "not a metric's entry"),
    ("Recall: {func: recal, target: target}", "recall against target"),
    ("K: {func: k_prec, target: passage}", "no metric k_prec against passage"),
    ("Recall: {func: recall", "not YAML"),
])  # fmt: skip
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
def test_a_step_that_ends_early_leaves_the_file_as_it_was(tmp_path, error: BaseException) -> None:
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


@pytest.mark.parametrize(("flags", "words"), [
    ({"provider": None}, None), ({"provider": "openai"}, "openai"),
    ({"provider": "openai", "judge_model": "gpt-x"}, "openai:gpt-x"),
    ({"provider": "vllm", "judge_model": "org/m"}, "http://localhost:8001/v1#org/m"),
    ({"provider": "offline"}, "offline"),
])  # fmt: skip
def test_published_flags_name_a_judge(flags: Mapping[str, Any], words: str | None) -> None:
    assert judge_words(**flags) == words


@pytest.mark.parametrize("flags", [{"provider": "vllm"}, {"provider": None, "judge_model": "m"}])
def test_flags_that_name_no_judge_say_what_to_write(flags: Mapping[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"--(judge|provider)"):
        judge_words(**flags)


def test_the_command_writes_the_file_and_prints_the_means(tmp_path, capsys) -> None:
    given = {"idk_eval": [0.0], "RL_F": [0.25], "RB_llm": [0.5], "RB_agg": [0.75]}
    source = written(tmp_path / "in.jsonl", [record(metrics=given)])
    out = tmp_path / "out.jsonl"
    assert mtrag("idk_condition", input=source, output=out) == 0
    said = capsys.readouterr().out
    assert re.search(r"RL_F_idk\s.*0\.25", said) and "out.jsonl" in said
    assert lines(tmp_path / "out.jsonl")[0]["metrics"]["RB_llm_idk"] == [0.5]
    assert mtrag("idk_condition", source, output=out, json=True) == 0
    assert json.loads(capsys.readouterr().out)["totals"] == {
        "ranking_score": pytest.approx(3 / (4 + 2 + 4 / 3))
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "-o FILE"), (["-o", "OUT", "--openai_key", "sk-secret"], "Unknown option"),
        (["-o", "OUT", "--limit", "1"], "Unknown option: --limit"),
        (["-o", "OUT", "--metrics", "em"], "Unknown option: --metrics"),
        (["-o", "OUT", "--rubric", "nope.yaml"], "--rubric"),
        (["-o", "OUT", "--nuggets", "pooled"], "--nuggets"),
        (["-o", "OUT", "--judge", "offline", "--provider", "openai"], "Keep one"),
        (["-o", "OUT", "--dry-run"], "--dry-run"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_with_a_step_are_refused(tmp_path, capsys, words, message) -> None:
    source = written(tmp_path / "in.jsonl", [record()])
    out = tmp_path / "out.jsonl"
    given = [str(out) if word == "OUT" else word for word in words]
    assert call(["mtrag", "--step", "idk", "-i", str(source), *given]) == 2
    assert message in capsys.readouterr().err and not out.exists()


def test_the_steps_run_against_a_real_endpoint_and_pay_once(tmp_path: Path) -> None:
    source = written(tmp_path / "in.jsonl", [record(n) for n in range(1, 6)])
    with LLMServer() as server:
        given: Any = {"output": tmp_path / "out.jsonl", "judge": [f"{server.url}#some-model"]}
        given["ledger"], answered = str(tmp_path / "ledger.sqlite"), []
        for _ in range(2):
            mtrag("idk", source, **given)
            for step in ("ragas", "radbench", "idk_condition"):
                mtrag(step, tmp_path / "out.jsonl", **given)
            answered.append(server.stats()["answered"])
    # A list of claims may be empty, and then there is no second question.
    assert answered[0] == answered[1] and 15 <= answered[0] <= 20
    once = lines(tmp_path / "out.jsonl")
    for found in once:
        nulls = {name for name, values in found["metrics"].items() if values is None}
        assert nulls == set(found.get("metrics_unscored", {}))
        assert found["metrics"]["idk_eval"] in ([0.0], [0.5], [1.0])
        assert found["metrics"]["RB_llm"][0] in [n / 10 for n in range(1, 11)]
