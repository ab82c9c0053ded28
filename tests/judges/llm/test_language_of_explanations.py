"""What a request is made of. Explanations come in the query's language; ``language`` sets another
one."""

import json
from typing import Any

import pytest

from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.llm.llm_judge import LLMJudge
from ragassay.judges.llm.messages import Request, build, lost, repair
from ragassay.judges.question import Question
from ragassay.judges.questions import AnswerMatch, RelevanceGrade
from ragassay.transport.endpoints.http_chats import OpenAIChat
from ragassay.transport.secrets import Secret

LINE = "Language of explanations: "
ENDPOINT = OpenAIChat("http://localhost:1/v1", Secret("", "NONE"))


def request(question: Any, dropped: Any = (), repeat: int = 0, **options: Any) -> Request:
    with Ledger(":memory:") as ledger:
        judge = LLMJudge(ENDPOINT, options.pop("model", "m"), ledger=ledger, **options)
        return build(judge, question, repeat, frozenset(dropped))


def prompt(question: Question[Any], language: str = "", **options: Any) -> str:
    return str(request(question, language=language, **options).prompt.messages[-1]["content"])


def match(query: str) -> AnswerMatch:
    return AnswerMatch(query, "At nine.", ("Nine",))


@pytest.mark.parametrize(("query", "language", "name"), [
    ("Wann öffnet das Bad?", "", "German"), ("泳池几点开门？", "", "Chinese"),
    ("When does the pool open?", "de", "German"),
    ("When does the pool open?", "Klingon", "Klingon"), ("Wann öffnet das Bad?", "en", "English"),
])  # fmt: skip
def test_the_prompt_names_the_language(query: str, language: str, name: str) -> None:
    assert prompt(match(query), language).count(f"{LINE}{name}.") == 1


def test_an_english_query_adds_no_line_so_that_paid_answers_stay_valid() -> None:
    assert LINE not in prompt(match("When does the pool open?"))
    assert LINE not in prompt(match("5 + 7?"))


def test_a_question_without_an_explanation_has_no_line() -> None:
    question = RelevanceGrade("Wann öffnet das Bad?", "Um neun.")
    assert prompt(question, "de") == prompt(question)


def test_the_language_that_a_sample_states_comes_before_its_querys() -> None:
    for query, stated, language, name in (
        ("When does the pool open?", "fi", "", "Finnish"), ("Wann öffnet das Bad?", "en", "", ""),
        ("Wann öffnet das Bad?", "fi", "fr", "French"), ("What?", "tlh", "", "Tlh"),
    ):  # fmt: skip
        asked = match(query)
        found = prompt(asked.stated(stated), language)
        assert asked.language == "" and asked.stated(stated).key == asked.key
        assert f"{LINE}{name}." in found if name else LINE not in found
    own = {"answer_match": "--- user ---\nRead {{ query }}"}
    german = match("Wann öffnet das Bad?")
    assert LINE not in prompt(german, prompts=own) and LINE in prompt(german, "de", prompts=own)


def test_a_request_leaves_out_what_is_rejected_and_knows_what_it_may_take() -> None:
    question = AnswerMatch("q", "a", ("r",), temperature=0.9)

    def sent(*dropped: str, repeat: int = 0, **parameters: Any) -> dict[str, Any]:
        return dict(request(question, dropped, repeat, parameters=parameters).prompt.parameters)

    assert sent() == {"seed": 42, "temperature": 0.9} and sent("seed") == {"temperature": 0.9}
    assert sent(repeat=2, temperature=None) == {"seed": 44}
    assert sent(repeat=2, seed="x")["seed"] == "x" and sent(repeat=2, top_k=3)["top_k"] == 3
    both = ("max_tokens", "max_completion_tokens")
    assert [sent(*both[:n], max_tokens=50).keys() & {*both} for n in range(3)] == [
        {both[0]}, {both[1]}, set(),
    ]  # fmt: skip
    for n, most, tokens in ((0, 50, 50), (1, 50, 50), (2, 50, 150), (0, 999, 150), (0, None, 150)):
        made = request(question, both[:n], parameters={"max_tokens": most})
        assert made.output_tokens == tokens and made.dropped == {*both[:n]}
    ways = ((), ("json_schema",), ("json_schema", "json_object"), ("json_object",))
    modes = [request(question, dropped).prompt.mode for dropped in ways]
    assert modes == ["json_schema", "json_object", "text", "json_schema"]
    newer = type("Newer", (AnswerMatch,), {"version": 99})("q", "a", ("r",), temperature=0.9)
    others = ({"seed": 7}, {"max_tokens": 50}, {"temperature": 0.5})
    keys = {request(question, parameters=one).key for one in ({}, *others)}
    keys |= {request(question, repeat=n, parameters={"seed": None}).key for n in (0, 1, 1)}
    keys |= {request(newer).key, request(question, model="other").key}
    assert len(keys) == 4 + 2 + 2
    rules, first = (message["content"] for message in question.messages("m"))
    (alone,) = request(question, ["system"]).prompt.messages
    usual = request(question).prompt.messages
    assert [message["role"] for message in usual] == ["system", "user"]
    assert alone == {"role": "user", "content": f"{rules}\n\n{usual[1]['content']}"}
    own = {question.kind: "--- user ---\nRead {{ query }}"}
    (said,) = request(question, ["system"], prompts=own).prompt.messages
    assert said["content"].startswith("Read q\n\n")
    assert usual[1]["content"].startswith(f"{first}\n\n") and usual[0]["content"] == rules


def test_what_has_a_substitute_is_not_lost() -> None:
    for dropped, said in {
        ("json_object",): (), ("json_object", "json_schema"): ("json_object", "json_schema"),
        ("max_tokens",): (), ("max_tokens", "max_completion_tokens"): ("max_tokens",),
        ("top_p", "seed"): ("seed", "top_p"),
    }.items():  # fmt: skip
        assert lost(dropped) == said


def test_a_repair_shows_the_bad_reply_and_what_is_wrong_with_it() -> None:
    asked = request(match("q")).prompt
    for reply, shown in {" bad\n": "bad", None: "(no reply)", " ": "(no reply)"}.items():
        *before, bad, again = repair(asked, reply, "it is prose").messages
        assert before == asked.messages and bad == {"role": "assistant", "content": shown}
        assert again["role"] == "user" and "it is prose" in again["content"]
        assert json.dumps(asked.schema, separators=(",", ":")) in again["content"]
    assert len(repair(asked, "x" * 5000, "").messages[-2]["content"]) == 4000
