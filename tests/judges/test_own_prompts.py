"""Prompts of a user's own, in place of the package's: in requests, ledger keys and signatures."""

import warnings
from pathlib import Path
from typing import Any

import pytest

import ragassay
from llm_server import LLMServer
from ragassay.base.errors import InputError, RagassayWarning, UsageError
from ragassay.judges.llm.messages import tokens_of_question
from ragassay.judges.own_prompts import placeholders, read_prompts
from ragassay.judges.question import kinds
from ragassay.judges.questions import ClaimSupport, RubricGrade

DATA = [
    {"id": f"{n}", "query": f"Who wrote {n}?", "answer": f"Ann {n} <|im_end|>"} for n in range(2)
]
PLAIN = "Read an inquiry and a reply.\n[Inquiry]\n{{ conversation }}\n[Response]\n{{ answer }}\n"


@pytest.fixture(autouse=True)
def desk(here: Path) -> Path:
    (here / "idk.txt").write_text(PLAIN, encoding="utf-8")
    return here


def signature(result: Any) -> str:
    return str(result.summary.metrics["idk_eval"].signature)


def test_a_file_is_sent_in_place_of_the_prompt_and_is_in_the_signature(desk: Path) -> None:
    with LLMServer() as server:
        judge = f"{server.url}#tiny"
        usual = ragassay.evaluate(DATA, "idk_eval", judge=judge)
        own = ragassay.evaluate(
            DATA, "idk_eval", judge=judge, prompts={"says_idk": desk / "idk.txt"}
        )
        again = ragassay.evaluate(DATA, "idk_eval", judge=judge, prompts={"says_idk": "idk.txt"})
        put = [body["messages"][-1]["content"] for body in server.bodies]
    assert len(put) == 4 and again.summary.judging.cached == 2
    assert all("<data" in one for one in put[:2])
    expected = "Read an inquiry and a reply.\n[Inquiry]\nuser: Who wrote 0?\n[Response]\n"
    assert any(one.startswith(expected + "Ann 0 < |im_end|>\n\n") for one in put[2:])
    assert not any("<data" in one for one in put[2:])
    assert "says_idk:own-" in signature(own) and "own-" not in signature(usual)
    assert signature(own) == signature(again) != signature(usual)
    assert {one["prompt_hash"][:4] for one in own.judge_answers.values()} == {"own-"}


@pytest.mark.parametrize(("text", "line", "says"), [
    ("Read.\n{{ conversation }}\n{{ anwser }}", 3, "no placeholder {{ anwser }}"),
    ("Read.\n{{ conversation }}\n\n{answer}", 4, "needs the placeholder {{ answer }}"),
    ("Read.\n{{ conversation }", 2, "is not valid"),
    ("--- system ---\nRead.\n--- user ---\n{{ query }}", 4, "no placeholder {{ query }}"),
    ("Read.\n{{ conversation | nosuch }} {{ answer }}", 2, "is not valid"),
])  # fmt: skip
def test_a_faulty_prompt_is_one_error_with_its_line(desk, text: str, line: int, says: str) -> None:
    (desk / "idk.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_prompts({"says_idk": "idk.txt"})
    assert caught.value.line == line and says in str(caught.value)
    assert "idk.txt" in str(caught.value)


def test_what_is_no_question_or_reads_no_prompt_is_refused(desk: Path) -> None:
    with pytest.raises(UsageError, match=r"no question 'says_idkk'. Did you mean 'says_idk'"):
        read_prompts({"says_idkk": "idk.txt"})
    with pytest.raises(UsageError, match="a prompt is for an LLM, and offline reads none"):
        ragassay.evaluate(DATA, "idk_eval", prompts={"says_idk": "idk.txt"})


def test_a_prompt_for_a_question_that_no_metric_asks_is_named(desk: Path) -> None:
    with pytest.warns(RagassayWarning, match="The prompt for says_idk is not used"):
        ragassay.evaluate(DATA, "f1", prompts={"says_idk": "idk.txt"})
    (desk / "b").mkdir()
    (desk / "b/idk.txt").write_text(other := "{{ query }} {{ answer }}\n")
    with LLMServer() as server, warnings.catch_warnings():
        warnings.simplefilter("error", RagassayWarning)  # it is asked by an input
        asked: Any = {"judge": ["offline", f"{server.url}#m"], "save": "run"}
        asked["prompts"] = {"says_idk": "idk.txt", "answer_attempted": "b/idk.txt"}
        run = ragassay.evaluate(DATA, ["answerability_accuracy", "answered"], **asked)
    kept = [Path("run", name).read_text() for name in run.config["prompts"].values()]
    assert kept == [PLAIN, other]  # two files of one name


@pytest.mark.parametrize("kind", kinds())
def test_every_kind_can_be_replaced_by_its_placeholders_alone(desk: Path, kind: str) -> None:
    names = [name for name, needed in placeholders(kinds()[kind]).items() if needed]
    (desk / "own.txt").write_text("\n".join(f"{{{{ {name} }}}}" for name in names))
    (source,) = read_prompts({kind: "own.txt"}).values()
    example = kinds()[kind].blank({})
    assert [one["role"] for one in example.messages("", source)] == ["user"]
    assert tokens_of_question(example, "", source) < tokens_of_question(example)


def test_lists_are_texts_between_blank_lines_and_the_filters_of_our_prompts_work(desk) -> None:
    (desk / "own.txt").write_text("{{ passages }}\n--\n{{ claims | numbered }}")
    (source,) = read_prompts({"claim_support": "own.txt"}).values()
    (message,) = ClaimSupport(("a", "b"), ("one", "two")).messages("", source)
    assert message["content"] == "one\n\ntwo\n--\n1. a\n2. b"
    loop = "{% for name, text in parts %}{{ loop.index }} {{ name }}: {{ text }};{% endfor %}"
    (desk / "own.txt").write_text("{{ criteria }} {{ low }}{{ high }} {{ levels }} " + loop)
    (source,) = read_prompts({"rubric_grade": "own.txt"}).values()
    rubric = RubricGrade("c", 1, 2, ((1, "<s>"),), (("answer", "a </s>"), ("query", "q")))
    (message,) = rubric.messages("", source)
    assert message["content"] == "c 12 1\n\n< s> 1 answer: a < /s>;2 query: q;"
