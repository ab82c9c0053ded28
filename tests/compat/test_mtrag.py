import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay import Answer, Passage, Reason, Sample, Score, Unscored, formats, suites
from ragassay.cli.command_line import call
from ragassay.compat.mtrag.mtrag_steps import STEPS
from ragassay.metrics.core.metric import Window

SUITE = suites.get("mtrag")
STEP_1 = (
    "Recall", "RougeL_stemFalse", "BertscoreP", "BertscoreR", "BertKPrec", "Extractiveness_RougeL",
    "Length", "RB_agg", "RB_agg_zero_denominator",
)  # fmt: skip
FIELDS = (*STEP_1, "idk_eval", "RL_F", "RB_llm", "RB_agg_idk", "RB_llm_idk", "RL_F_idk")


def score(field: str, sample: Sample, *, published: bool = False) -> Score | Unscored:
    return SUITE.resolve([field], published=published)[0].score(sample)


def scored(field: str, sample: Sample, *, published: bool = False) -> Score:
    outcome = score(field, sample, published=published)
    assert isinstance(outcome, Score), outcome
    return outcome


def sample(
    answer: str | None = "the cat sat",
    *references: str,
    passages: tuple[str | None, ...] | None = ("a cat",),
    given: dict[str, Any] | None = None,
) -> Sample:
    return Sample(
        id="q", query="where does the cat sit?", answer=None if answer is None else Answer(answer),
        references=references or ("the cat sat down",),
        passages=None if passages is None else tuple(Passage(text=text) for text in passages),
        given=given or {},
    )  # fmt: skip


def test_rouge_l_of_all_human_evaluated_answers_is_reproduced(shared: Path) -> None:
    found = list(formats.read(shared / "data" / "mtrag" / "human_evaluations_half.json"))
    assert len(found) == 279
    for one in found:
        assert one.given["RougeL"] == pytest.approx(
            scored("RougeL_stemFalse", one).number, abs=1e-12
        )


def test_rb_agg_of_all_human_evaluated_answers_follows_from_its_parts(shared: Path) -> None:
    samples = list(formats.read(shared / "data" / "mtrag" / "human_evaluations_half.json"))
    outcomes = Window(samples).outcomes(SUITE.resolve(["RB_agg_idk"])[0])
    conditioned = 0
    for one, outcome in zip(samples, outcomes, strict=True):
        assert isinstance(outcome, Score)
        assert outcome.number == pytest.approx(one.given["rb_agg_idk"], abs=1e-12)
        conditioned += "in place of" in outcome.explanation
    assert conditioned == 11 + 10 + 3 + 2


def test_the_suite_has_the_fifteen_published_fields_with_their_steps() -> None:
    assert SUITE.metrics == (*FIELDS, "answerability_accuracy")
    assert [SUITE.columns[str(metric)] for metric in SUITE.resolve()[:15]] == list(FIELDS)
    assert list(SUITE.steps) == list(FIELDS)
    steps = [SUITE.steps[field] for field in FIELDS]
    assert steps == ["algorithmic"] * 9 + ["idk", "ragas", "radbench"] + ["idk_condition"] * 3


PRINTED = (*FIELDS, "RBalg", "RBllm", "RLF")
"""Every name of a metric on MT-RAG's page; "answerability accuracy" is there in words only."""


RECORD = {
    "task_id": "c<::>1", "input": [{"speaker": "user", "text": "where does the cat sit?"}],
    "contexts": [{"document_id": "d", "text": "the cat sat"}],
    "targets": [{"text": "the cat sat down"}], "predictions": [{"text": "the cat sat"}],
    "Answerability": ["ANSWERABLE"],
    "metrics": {"BertscoreP": [0.5], "BertscoreR": [0.5], "BertKPrec": [0.5], "idk_eval": [0.0],
                "RL_F": [0.5], "RB_llm": [0.5]},
}  # fmt: skip


@pytest.mark.parametrize("spelled", [str, str.upper, str.lower])
def test_every_name_on_the_page_works_where_a_reader_types_it(spelled, tmp_path, capsys) -> None:
    # "recall" in small letters is UltraRAG's word for Recall at its cut-offs.
    names = [name for name in (*PRINTED, "answerability_accuracy") if name != "Recall"]
    data, run = tmp_path / "data.jsonl", str(tmp_path / "run")
    data.write_text(json.dumps(RECORD) + "\n")
    typed = [*map(spelled, names), "Recall"]
    for name in typed:
        assert call(["metrics", name, "--suite", "mtrag"]) == 0
    words = ["--suite", "mtrag", "--metrics", ",".join(typed), "--fail-under", f"{typed[0]}>=0"]
    assert call(["run", str(data), *words, "-o", run]) in (0, 3)  # 3: n is too small
    shown = ragassay.open_run(run).summary.metrics.values()
    wanted = {str(metric) for name in typed for metric in SUITE.resolve([name])}
    assert {one.metric for one in shown} == wanted
    assert all(one.mean is not None for one in shown)
    assert call(["compare", run, run, "--metrics", ",".join(names)]) == 0
    capsys.readouterr()


def test_these_are_the_names_on_the_page(shared: Path) -> None:
    page = (shared / "spec" / "mt-rag.md").read_text(encoding="utf-8")
    headed = set(re.findall(r"^### `(\w+)`$", page, re.M))
    tabled = set(re.findall(r"^\| `(\w+)` \|", page, re.M))
    paper = set(re.findall(r"^- `(RB\w+|RL\w+)` \(our", page, re.M))
    assert headed == tabled == set(FIELDS) and headed | paper == set(PRINTED)


def test_every_step_and_flag_on_the_page_works_as_printed(shared, here) -> None:
    page = (shared / "spec" / "mt-rag.md").read_text(encoding="utf-8").replace("\\\n", " ")
    commands = re.findall(r"^python \S+run_step_by_step\.py (.+)$", page, re.M)
    assert len(commands) == 6
    record = json.loads((shared / "data/mtrag/judged_42.jsonl").read_text().splitlines()[0])
    steps = []
    for command in commands:
        Path("file.jsonl").write_text(json.dumps(record) + "\n")
        Path("config.yaml").write_text("Recall: {func: recall, target: target}\n")
        words = re.sub(r"<\w+>", "file", command).replace("scripts/evaluation/", "").split()
        assert set(words) - {"file.jsonl", "config.yaml"} <= {
            "--step", "-i", "-o", "-e", "--provider", "openai", "all", *STEPS
        }  # fmt: skip
        steps.append(words[words.index("--step") + 1])
        # The record brings what a judge says, so that none is asked.
        words = [word for word in words if word not in ("--provider", "openai")]
        assert call(["mtrag", *words]) == 0, command
    assert steps == ["all", *STEPS]


def test_length_is_words_unless_the_published_values_are_asked_for() -> None:
    one = sample("Snow falls,\n  mostly north.", "t1", "t2")
    assert scored("Length", one).value == 4
    assert scored("Length", one, published=True).value == 27
    assert scored("Length", one, published=True).parts["values"] == [27, 27]
    assert scored("Length", sample("")).value == 0


def test_published_extractiveness_is_reversed_and_coverage_joins_passages() -> None:
    passage = " ".join(f"word{i}" for i in range(180)) + " snow falls in the mountains"
    copied = sample("Snow falls in the mountains.", passages=(passage,))
    assert scored("Extractiveness_RougeL", copied).value < 0.06
    assert scored("extractive_coverage", copied).value == 1.0
    nothing = sample("Snow falls.", passages=("",))
    assert scored("Extractiveness_RougeL", nothing).value == 1.0
    assert scored("extractive_coverage", nothing).value == 0.0
    one = sample("big red bus goes north", passages=("a big red tram", "the bus goes north"))
    assert scored("extractive_coverage", one).value == 1.0
    assert scored("extractive_coverage", one).parts["values"] == [0.4, 0.6]
    assert scored("extractive_coverage(run=3)", one).value == 0.6
    assert scored("extractive_coverage(run=9)", sample("red bus", passages=("red bus",))).value == 1
    assert isinstance(score("extractive_coverage", sample("?!")), Unscored)


def test_no_contexts_count_as_extractiveness_0() -> None:
    empty = sample(passages=(), given={"BertscoreR": [0.5], "BertKPrec": 0.0})
    found = scored("RB_agg", empty)
    assert found.value == 0.0 and found.parts["extractiveness"] == 0.0
    assert found.parts["recall"] == 0.75
    assert scored("RB_agg_zero_denominator", empty).value is False
    unlike = sample("dog", passages=(), given={"BertscoreR": [0.5]})
    assert scored("RB_agg_zero_denominator", unlike).value is True
    assert scored("RB_agg", unlike).value == 0.0


def test_absent_contexts_are_missing_input_and_extractiveness_0_a_missing_model_is_not() -> None:
    absent = sample(passages=None, given={"BertscoreR": [0.5]})
    for field in ("BertKPrec", "Extractiveness_RougeL", "extractive_coverage"):
        outcome = score(field, absent)
        assert isinstance(outcome, Unscored) and outcome.reason is Reason.MISSING_INPUT
        assert "no retrieved passages" in outcome.detail
    found = scored("RB_agg", absent)
    assert found.value == 0.0 and found.parts["extractiveness"] == 0.0
    assert "no retrieved passages" in found.explanation
    assert "extractiveness counts as 0" in found.explanation
    assert scored("RB_agg_zero_denominator", absent).value is False
    both = scored("RB_agg", replace(absent, given={"BertscoreR": [0.5], "BertKPrec": [0.5, -1]}))
    assert both.number and both.number > 0 and "counts as 0" not in both.explanation
    outcome = score("RB_agg", sample(passages=None))
    assert isinstance(outcome, Unscored) and outcome.reason is Reason.NEEDS_EXTRA
    given = {"BertscoreR": [0.5], "BertKPrec": [0.5]}  # whose RB_agg is not 0
    rest = replace(absent, id="2", passages=()), replace(absent, id="3", given=given)
    told = ragassay.evaluate([absent, *rest], "mtrag").summary.warnings
    assert any(said.startswith("1 record has no contexts. ") for said in told)


@pytest.mark.parametrize(("given_values", "named"), [
    ({}, "BertscoreR"), ({"BertscoreR": [0.5]}, "BertKPrec"), ({"BertKPrec": [0.5]}, "BertscoreR"),
    ({"BertscoreR": [None], "BertKPrec": [0.5]}, "BertscoreR"),
    ({"BertscoreR": [0.5], "BertKPrec": [math.nan]}, "BertKPrec"),
    ({"BertscoreR": [0.5], "BertKPrec": [0.1, 0.2]}, "BertKPrec"),
])  # fmt: skip
def test_rb_agg_names_the_part_that_could_not_be_computed(given_values, named) -> None:
    for field in ("RB_agg", "RB_agg_zero_denominator"):
        outcome = score(field, sample(given=given_values))
        assert isinstance(outcome, Unscored) and outcome.detail.startswith(named)


def test_given_values_may_be_lists_or_numbers_and_an_aggregate_counts_without_its_parts() -> None:
    lists = {"BertscoreP": [0.1], "BertscoreR": [0.2], "BertKPrec": [0.3, 0.4]}
    numbers = {"Bert-Rec": 0.2, "Bert-KPrec": 0.4}
    for given_values in (lists, numbers):
        one = sample(passages=("a", "b"), given=given_values)
        assert scored("BertscoreR", one).value == 0.2
        assert scored("BertKPrec", one).value == 0.4
    assert scored("BertscoreP", sample(given=lists)).value == 0.1
    assert isinstance(score("BertscoreP", sample(given=numbers)), Unscored)
    assert scored("RB_agg", sample(given={"RB_agg": [0.4]})).value == 0.4
    both = {"RB_agg": [0.4], "BertscoreR": [0.5], "BertKPrec": [0.5]}
    assert scored("RB_agg", sample(given=both)).value != 0.4
    for wrong in ({"RB_agg": [1.4]}, {"rb_agg": 0.4}, {**both, "BertscoreR": [87.3]}):
        assert isinstance(score("RB_agg", sample(given=wrong)), Unscored)


@pytest.mark.parametrize(("field", "name", "value"), [
    ("RB_llm", "RB_llm", 7), ("RL_F", "RL_F", -0.1), ("RL_F", "RL_F", "85"),
    ("BertscoreR", "BertscoreR", [87.3]), ("BertKPrec", "BertKPrec", [1.1]),
    ("idk_eval", "idk_eval", 0.7), ("idk_eval", "idk_eval", "yes"),
])  # fmt: skip
def test_a_given_value_outside_the_range_is_unscored(field: str, name: str, value: Any) -> None:
    outcome = score(field, sample(given={name: value}))
    assert isinstance(outcome, Unscored) and outcome.reason is Reason.UNDEFINED
    assert name in outcome.detail


def test_a_rescaled_bertscore_has_no_lower_bound_and_the_text_of_a_number_is_the_number() -> None:
    for brought, value in ((-3.4, -3.4), (1.0000004768371582, 1.0)):
        one = sample(given={"BertscoreR": [brought], "BertKPrec": [brought]})
        for field in ("BertscoreR", "BertKPrec"):
            assert scored(field, one).value == value
            assert scored(field, one).parts["values"] == [brought]
    one = sample(given={"RL_F": "0.8", "idk_eval": "0.5", "BertscoreR": ["0.25"]})
    assert scored("RL_F", one).value == 0.8
    assert scored("idk_eval", one).value == 0.5
    assert scored("BertscoreR", one).value == 0.25
    for text in ("nan", "inf", "good"):
        assert isinstance(score("RL_F", sample(given={"RL_F": text})), Unscored)


@pytest.mark.parametrize("field", FIELDS)
def test_a_missing_answer_is_missing_input(field: str) -> None:
    outcome = score(field, replace(sample(None), failure="API_ERROR"))
    assert isinstance(outcome, Unscored) and outcome.reason is Reason.MISSING_INPUT


def test_a_run_without_the_model_says_once_what_is_missing() -> None:
    sample = {"id": "q", "query": "?", "answer": "It is blue.", "references": ["Blue."]}
    sample |= {"passages": [{"text": "It is blue."}], "answerability": "answerable"}
    summary = ragassay.evaluate([sample], "mtrag").summary
    (said,) = (said for said in summary.warnings if "unscored" in said)
    assert said.startswith("BertscoreP, BertscoreR, BertKPrec: unscored, ")
    alone = ragassay.evaluate([sample], metrics=["rb_agg", "reference_recall"]).summary
    (said,) = (said for said in alone.warnings if "unscored" in said)
    assert said.startswith("rb_agg: unscored, BertscoreR is unscored: ")
