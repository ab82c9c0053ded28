import math
from datetime import date

import pytest
from hypothesis import given, strategies as st

from ragassay.base.errors import UsageError
from ragassay.judges.llm.messages import tokens_of, tokens_of_messages, tokens_of_question
from ragassay.judges.questions.checklists import AssignNuggets
from ragassay.judges.questions.grading import RelevanceGrade
from ragassay.transport.providers_and_prices import FREE, Price, as_of, price_of, prices

MINI = Price(0.15, 0.60)


PRICES = {
    # however it is named
    **dict.fromkeys(("gpt-4o-mini", "gpt-4o-mini-2024-07-18", "openai:gpt-4o-mini"), MINI),
    **dict.fromkeys(("openai/gpt-4o-mini", "GPT-4o-mini"), MINI),
    "https://api.openai.com/v1#gpt-4o-mini": MINI,
    # behind a local proxy: only its maker sells it
    "http://localhost:4000/v1#gpt-4o-mini": MINI,
    # the date of a version does not change the price, unless it is listed by itself
    **dict.fromkeys(("gpt-4o", "gpt-4o-2024-08-06"), Price(2.5, 10)),
    "gpt-4o-2024-05-13": Price(5, 15),
    # never a guess
    **dict.fromkeys(("gpt-4o-audio-preview", "gpt-4o-mini-search", "gpt-4o-2"), None),
    **dict.fromkeys(
        ("ft:gpt-4o-mini-2024-07-18:acme::x1", "llama-3.1-8b", "", "panel(a, b)"), None
    ),
    **dict.fromkeys(("https://api.example.com/v1#my-model", "https://8.8.8.8/v1#m"), None),
    "http://[#m": None,
    # what runs on one's own machines
    **dict.fromkeys(("http://localhost:8000/v1#m", "http://127.0.0.1:11434/v1#m"), FREE),
    **dict.fromkeys(("http://[::1]:8000/v1#m", "http://0.0.0.0:8000#m"), FREE),
    **dict.fromkeys(("http://nas.local/v1#m", "http://box.lan#m", "http://a.localhost:1#m"), FREE),
    **dict.fromkeys(("http://10.1.2.3/v1#m", "http://192.168.0.7:1234/v1#qwen3:8b"), FREE),
    **dict.fromkeys(("http://gpu-box:8000/v1#m", "http://vllm.internal/v1#m"), FREE),
}


@pytest.mark.parametrize(("name", "price"), PRICES.items())
def test_a_model_has_its_listed_price_none_or_is_free(name: str, price: Price | None) -> None:
    assert price_of(name) == price
    endpoint, _, model = name.rpartition("#")
    assert price_of(model, endpoint) == price


def test_dates_and_tags_of_a_version_do_not_change_the_price() -> None:
    assert price_of("gpt-4-0613") == price_of("gpt-4")
    assert price_of("claude-3-5-sonnet-20241022") == price_of("claude-3-5-sonnet-latest")
    assert price_of("claude-3-5-sonnet@20241022") == price_of("anthropic:claude-3-5-sonnet")
    assert price_of("models/gemini-2.0-flash-001") == price_of("google:gemini-2.0-flash")
    assert price_of("claude-sonnet-4-20250514") != price_of("claude-opus-4-20250514")


def test_the_cost_is_in_dollars_for_a_million_tokens() -> None:
    assert MINI.cost(1_000_000, 0) == 0.15
    assert MINI.cost(0, 500_000) == 0.30
    assert FREE.cost(1e9, 1e9) == 0


@given(*[st.floats(0, 1e6, allow_nan=False)] * 2)
def test_a_price_that_is_written_is_read_back(input_: float, output: float) -> None:
    price = Price(input_, output)
    assert Price.parse(f" ${price.input!r}, ${price.output!r} ") == price
    assert math.isclose(Price.parse(str(price)).input, input_, rel_tol=1e-5, abs_tol=1e-300)


@pytest.mark.parametrize("text", ["", "1", "1,2,3", "a,b", "-1,2", "nan,1", "1,inf", "1;2"])
def test_what_is_no_price_is_said_to_be_none(text: str) -> None:
    with pytest.raises(UsageError, match="two numbers"):
        Price.parse(text)


def test_the_list_has_a_date_and_plausible_prices() -> None:
    assert date.fromisoformat(as_of()) >= date(2025, 1, 1)
    assert len(prices()) > 20
    for name, price in prices().items():
        assert name == name.casefold(), name
        assert 0.01 < price.input < 1000, name
        # An embedding writes nothing.
        assert price.output == 0 if "embedding" in name else price.input < price.output < 1000, name


def test_tokens_grow_with_the_script_and_add_up() -> None:
    english = "The quick brown fox jumps over the lazy dog. " * 20
    expected = {
        english: len(english) / 4, "котёнок": 3.5, "図書館は何時": 6, "é": 0.5, "😀": 1, "": 0,
    }  # fmt: skip
    assert {text: tokens_of(text) for text in expected} == expected


@given(st.text(min_size=1), st.text(min_size=1), st.lists(st.text(min_size=1), max_size=4))
def test_the_tokens_of_a_question_are_those_of_its_messages(query, answer, nuggets) -> None:
    """Though only one question of each shape is rendered."""
    for question in (RelevanceGrade(query, answer), AssignNuggets(query, answer, tuple(nuggets))):
        around = tokens_of_question(question) - tokens_of_messages(question.messages())
        schema = tokens_of(str(question.schema()))
        assert around == pytest.approx(schema, abs=0.1 * schema + 12)
