import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ragassay
from ragassay.base.errors import InputError
from ragassay.base.sample import Answer, Sample
from ragassay.base.score import Outcome, Reason, Score, Unscored
from ragassay.engine.config.metric_selection import own_metrics
from ragassay.judges.asking import Asker
from ragassay.judges.judge import Judge
from ragassay.judges.own_prompts import JudgePrompt, read_judge_prompt
from ragassay.judges.questions.grading import AnswerMatch
from ragassay.metrics.answer.answer_match import AnswerMatches, accepted, with_prompt
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import Window
from scripted_judge import Scripted

SAMPLE = Sample(
    id="q", query="What is the capital of France?",
    answer=Answer("Paris is the capital of France."), references=("Paris",),
)  # fmt: skip


def matcher(fails: bool = False) -> Scripted:
    """Matches where a reference occurs in the answer and no wrong answer does."""

    def said(question: Any) -> Any:
        right = any(text in question.answer for text in question.references)
        wrong = any(text in question.answer for text in question.wrong)
        reply = {"reasoning": f"right {right}, wrong {wrong}", "is_matching": right and not wrong}
        return Reason.TIMEOUT if fails else reply

    return Scripted(said)


def outcome(sample: Sample, judge: Judge, metric: AnswerMatches | None = None) -> Outcome:
    with Asker(judge) as asker:
        return Window([sample], asker).outcomes(metric or AnswerMatches())[0]


def made(**fields: Any) -> Sample:
    return Sample(**{"id": "q", "query": "Which?", "answer": Answer("b"), **fields})


def test_the_value_is_a_flag_and_one_of_several_references_is_enough() -> None:
    found = outcome(SAMPLE, matcher())
    assert isinstance(found, Score) and found.value is True
    assert found.explanation == "right True, wrong False" and len(found.evidence) == 1
    judge = matcher()
    found = outcome(made(references=("a", "b", " ")), judge)
    assert isinstance(found, Score) and found.value is True
    assert judge.questions[0].references == ("a", "b")
    assert found.parts == {"references": 2, "negative_references": 0}
    found = outcome(made(references=("b",), negative_references=("b", " ")), judge)
    assert judge.questions[1].wrong == ("b",)
    assert isinstance(found, Score) and found.value is False
    assert outcome(SAMPLE, matcher(fails=True)).reason is Reason.TIMEOUT

    class TooHigh(AnswerMatches):
        async def judge(self, sample: Sample, ask: Any) -> Outcome:
            return Score(7.0)

    beyond = outcome(SAMPLE, matcher(), TooHigh())
    assert isinstance(beyond, Unscored) and "7 is not from 0" in beyond.detail


@pytest.mark.parametrize(
    ("sample", "reason"),
    [(made(answer=None, references=("b",)), Reason.MISSING_INPUT),
     (made(query=None, references=("b",)), Reason.MISSING_INPUT),
     (made(), Reason.NOT_APPLICABLE), (made(references=("", "  ")), Reason.NOT_APPLICABLE)],
)  # fmt: skip
def test_without_its_parts_a_sample_is_unscored_and_nobody_is_asked(sample, reason) -> None:
    judge = matcher()
    assert outcome(sample, judge).reason is reason and not judge.questions


def test_groups_are_items_that_are_all_required() -> None:
    groups = (("Paris", "Paree"), ("London",), ("",))
    assert accepted(made(reference_groups=groups)) == ("Paris (or: Paree); London",)
    assert accepted(made(reference_groups=(("Paris", "Paree"),))) == ("Paris", "Paree")
    assert accepted(made(references=("Paris", "Paree"))) == ("Paris", "Paree")


def test_the_temperature_is_asked_for_and_part_of_the_signature() -> None:
    judge = matcher()
    metric = naming.parse("answer_match(temperature=0.2)")
    assert isinstance(metric, AnswerMatches) and str(metric) == "answer_match(temperature=0.2)"
    outcome(SAMPLE, judge, metric)
    assert judge.questions[0].sampling() == {"temperature": 0.2}
    assert metric.signature != AnswerMatches().signature


def test_instructions_of_ones_own_reach_the_judge_and_the_signature(no_metric_left: None) -> None:
    judge = matcher()
    strict = with_prompt(
        JudgePrompt(name="strict", instructions="Only the same words match.", temperature=0.5)
    )
    outcome(SAMPLE, judge, strict)
    assert judge.questions[0].instructions == "Only the same words match."
    outcome(SAMPLE, judge, replace(strict, temperature=0.0))  # the metric's own wins
    assert [one.sampling()["temperature"] for one in judge.questions] == [0.5, 0.0]
    system = judge.questions[0].messages()[0]["content"]
    assert system.startswith("Only the same words match.") and "impartial judge" not in system
    other = with_prompt(
        JudgePrompt(name="strict", instructions="Any words match.", temperature=0.5)
    )
    warm = with_prompt(JudgePrompt(name="strict", instructions="Any words match.", title="Warm"))
    assert warm.title == "Warm" and strict.title.endswith(", by the instructions strict")
    assert len({strict.signature, other.signature, warm.signature}) == 3


def test_a_prompt_from_a_text_file_is_a_metric_named_after_it(tmp_path, no_metric_left) -> None:
    path = tmp_path / "very strict.txt"
    path.write_text("Only (!) the same words match, nothing else.\n")
    (metric,) = own_metrics({"judge_prompt": path})
    assert str(metric) == "answer_match_very_strict"
    assert naming.parse(str(metric)) == metric
    again = naming.parse("answer_match_very_strict(temperature=1)")
    assert naming.parse(str(again)) == again and type(again) is type(metric)
    for name, text, told in (
        ("p.YML", "name: m\ntitle: Mild.\ninstructions: ' Be mild.'", ("m", "Mild", "Be mild.")),
        (f"{'x' * 70}.md", "\n Be mild. ", (f"answer_match_{'x' * 47}", "", "Be mild.")),
        ("?_.txt", "x" * 50_000, ("answer_match_own", "", "x" * 50_000)),
    ):  # fmt: skip
        (tmp_path / name).write_text(text)
        found = read_judge_prompt(tmp_path / name)
        assert (found.name, found.title, found.instructions) == told


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [("empty.txt", " \n", "holds no instructions"), ("missing.txt", None, "cannot be read"),
     ("p.yaml", "name: x\n", "field 'instructions': is missing"),
     ("long.txt", "x" * 200_001, "has more than 200,000 bytes"),
     ("p.yaml", "name: em\ninstructions: x\n", "A metric is called 'em' already"),
     ("p.yaml", "name: x\ninstruction: x\ninstructions: y\n", "Did you mean 'instructions'"),
     ("p.yaml", "name: x\ninstructions: y\ntemperature: 3\n", "line 3, field 'temperature'"),
     ("p.yaml", "name: a b\ninstructions: y\n", "line 1, field 'name'")],
)  # fmt: skip
def test_a_wrong_prompt_file_says_what_is_wrong_and_where(
    name: str, text: str | None, says: str, tmp_path: Path, no_metric_left: None
) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError) as raised:
        own_metrics({"judge_prompt": path})
    assert says in str(raised.value) and str(path) in str(raised.value)


def test_the_offline_judge_matches_but_follows_no_instructions(no_metric_left: None) -> None:
    samples = [
        Sample(id="1", query="Capital of France?", answer=Answer("Paris."), references=("Paris",)),
        Sample(id="2", query="Capital of France?", answer=Answer("Rome."), references=("Paris",)),
    ]
    strict = with_prompt(
        JudgePrompt(name="strict_match", instructions="Only the same words match.")
    )
    result = ragassay.evaluate(samples, ["answer_match", strict])  # type: ignore[arg-type]
    assert result.summary.metrics["answer_match"].mean == 0.5
    assert result.summary.metrics["strict_match"].unscored == {"unsupported": 2}


SPEC_PROMPT = """You are an AI assistant acting as an impartial judge.
Respond with a JSON object containing two keys:
1.  `is_matching`: a boolean value (true if the prediction matches, false otherwise).
2.  `reasoning`: a brief explanation for your decision, especially if it's not a match.
"""


def test_the_published_prompt_asks_for_the_very_keys_that_the_schema_has() -> None:
    question = AnswerMatch("q", "a", ("r",), instructions=SPEC_PROMPT)
    system = question.messages()[0]["content"]
    assert set(question.schema()["properties"]) == {"is_matching", "reasoning"}
    assert not re.search(r"^match:", system, re.M) and re.search(r"^is_matching:", system, re.M)


@pytest.mark.parametrize("answer", [True, {"is_matching": True, "reasoning": "x"}, {"match": True}])
def test_labels_of_people_are_given_by_the_same_name(answer: object, tmp_path: Path) -> None:
    data = {"query": "q", "answer": "a", "references": ["r"]}
    label = {"question": "answer_match", "data": data, "answer": answer}
    (tmp_path / "labels.jsonl").write_text(json.dumps(label) + "\n")
    record = {"query": "q", "prediction": "a", "answer": "r"}
    judge = f"replay:{tmp_path / 'labels.jsonl'}"
    result = ragassay.evaluate([record], metrics="is_matching", judge=judge)
    assert result.summary.metrics["is_matching"].mean == 1.0
    other = {"query": "another", "prediction": "a", "answer": "r"}
    (row,) = ragassay.evaluate([other], metrics="is_matching", judge=judge).scores
    assert '"answer":{"is_matching":true}' in row.explanation


def test_similarity_is_the_highest_cosine_of_the_answer_with_a_reference() -> None:
    vectors = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [3.0, 4.0]}
    embedder = SimpleNamespace(embed=lambda texts: {t: vectors[t] for t in texts}, label="fake")
    models: Any = SimpleNamespace(embedder=embedder)
    one = made(answer=Answer("a"), references=("b", " ", "c"))
    (found,) = Window([one], models=models).outcomes(naming.parse("answer_similarity"))
    assert (found.value, found.parts["reference"]) == (pytest.approx(0.6), 2)
