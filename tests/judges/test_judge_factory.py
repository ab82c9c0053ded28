"""The words of ``--judge`` name a judge, or are refused with what to do."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_judging import KEY, grades
from ragassay.base.errors import UsageError
from ragassay.judges.judge import Judge
from ragassay.judges.judge_factory import JudgeOptions, address_of, make_judge
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.llm.llm_judge import LLMJudge
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.judges.panel import Panel
from ragassay.judges.replay import Replay
from ragassay.transport.providers_and_prices import Price, aliases, price_of, providers

KEYS = {name: KEY for provider in providers().values() for name in provider.keys}
ANSWER = {"match": 1, "trust": 1, "grade": 1}
AZURE = {"AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com/"}


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger(":memory:") as made:
        yield made


def made(ledger: Ledger, *words: str, **more: Any) -> Judge:
    more.setdefault("environment", KEYS)
    return make_judge(words, default_model="gpt-4o", ledger=ledger, **more)


def test_each_word_names_its_judge(ledger: Ledger, tmp_path: Path) -> None:
    assert isinstance(made(ledger, "offline"), OfflineJudge)
    assert isinstance(made(ledger, " Offline "), OfflineJudge)
    question = grades(1)[0]
    line = {"question": question.kind, "data": question.data, "answer": ANSWER}
    (tmp_path / "said.jsonl").write_text(json.dumps(line))
    replay = made(ledger, f"replay:{tmp_path / 'said.jsonl'}")
    assert isinstance(replay, Replay) and replay.label == "replay:said.jsonl"
    judge = made(ledger, "openai:gpt-5-mini")
    assert isinstance(judge, LLMJudge)
    assert (judge.label, judge.model) == ("openai:gpt-5-mini", "gpt-5-mini")
    assert judge.endpoint.url == "https://api.openai.com/v1"


@pytest.mark.parametrize(("word", "label", "url", "model"), [
    ("openai", "openai:gpt-4o", "https://api.openai.com/v1", "gpt-4o"),
    ("OpenAI:GPT-4o", "openai:GPT-4o", "https://api.openai.com/v1", "GPT-4o"),
    ("openrouter", "openrouter:openai/gpt-4o", "https://openrouter.ai/api/v1", "openai/gpt-4o"),
    ("azure", "azure:gpt-4o", "https://mine.openai.azure.com/openai/v1", "gpt-4o"),
    ("ollama:qwen3:8b", "ollama:qwen3:8b", "http://localhost:11434/v1", "qwen3:8b"),
    ("gemini:g-3", "google:g-3", "https://generativelanguage.googleapis.com", "g-3"),
    ("http://h:8/v1#org/m", "http://h:8/v1#org/m", "http://h:8/v1", "org/m"),
    ("HTTPS://h/v1/#m#x", "https://h/v1#m#x", "https://h/v1", "m#x"),
    ("http://[::1]:8000/v1#m", "http://[::1]:8000/v1#m", "http://[::1]:8000/v1", "m"),
])  # fmt: skip
def test_a_word_is_an_address_and_a_model(word: str, label: str, url: str, model: str) -> None:
    found = address_of(word, "gpt-4o", {**KEYS, **AZURE})
    assert (found.label, found.url, found.model) == (label, url, model)


@pytest.mark.parametrize(("word", "environment", "url"), [
    ("openai:m", {"OPENAI_BASE_URL": "http://proxy:4000/v1/"}, "http://proxy:4000/v1"),
    ("ollama:m", {"OLLAMA_HOST": "box:11434"}, "http://box:11434/v1"),
    ("ollama:m", {"OLLAMA_HOST": "http://box:1/v1"}, "http://box:1/v1"),
    ("azure:m", {"AZURE_OPENAI_ENDPOINT": "https://r.example/openai/v1"}, "https://r.example/openai/v1"),
])  # fmt: skip
def test_the_environment_may_move_a_provider(word, environment: dict[str, str], url: str) -> None:
    assert address_of(word, "gpt-4o", {**KEYS, **environment}).url == url


@pytest.mark.parametrize(("server", "url", "sent"), [
    ("http://localhost:8000", "http://localhost:8000/v1", True),
    ("https://Box.example/v1", "https://box.example:443/v2", True),
    ("http://localhost:8000", "http://localhost:8001/v1", False),
    ("https://box.example", "http://box.example:443/v1", False),
    ("https://box.example", "https://box.example.org", False),
    ("https://box.example", "https://box.example@evil.example", None),
])  # fmt: skip
def test_a_key_of_ones_own_is_for_one_server(server: str, url: str, sent: bool | None) -> None:
    environment = {"RAGASSAY_API_KEY": KEY, "RAGASSAY_BASE_URL": server}
    if sent is None:
        with pytest.raises(UsageError):
            address_of(f"{url}#m", "m", environment)
    else:
        assert (address_of(f"{url}#m", "m", environment).key.reveal() == KEY) is sent


def test_a_key_of_ones_own_for_no_server_is_refused() -> None:
    with pytest.raises(UsageError, match="export RAGASSAY_BASE_URL=http://box:8000") as caught:
        address_of("http://box:8000/v1#m", "m", {"RAGASSAY_API_KEY": KEY})
    assert KEY not in str(caught.value)
    # Another key goes nowhere near it, and no key needs no server.
    assert not address_of("http://box:8000/v1#m", "m", {}).key


@pytest.mark.parametrize(("word", "variable", "allowed"), [
    ("openai:m", "OPENAI_API_KEY", True), ("https://api.openai.com/v1#m", "OPENAI_API_KEY", True),
    ("https://box.example/v1#m", "OPENAI_API_KEY", False),
    ("https://api.openai.com.evil.example/v1#m", "OPENAI_API_KEY", False),
    ("groq:m", "OPENAI_API_KEY", False), ("https://box.example/v1#m", "RAGASSAY_API_KEY", False),
    ("https://box.example/v1#m", "TEAM_KEY", True), ("gemini:m", "GEMINI_API_KEY", True),
])  # fmt: skip
def test_a_file_cannot_carry_the_key_of_a_variable_elsewhere(
    ledger: Ledger, word: str, variable: str, allowed: bool
) -> None:
    keys = {"OPENAI_API_KEY": KEY, "RAGASSAY_API_KEY": KEY, "TEAM_KEY": KEY, "GROQ_API_KEY": "g",
            "GEMINI_API_KEY": KEY}  # fmt: skip
    options = JudgeOptions(key_variable=variable)
    if allowed:
        assert made(ledger, word, options=options, environment=keys)
    else:
        with pytest.raises(UsageError, match="RAGASSAY_BASE_URL"):
            made(ledger, word, options=options, environment=keys)


def test_a_missing_key_names_its_variable(ledger: Ledger) -> None:
    for word, variable in {
        "openai": "OPENAI_API_KEY", "azure:m": "AZURE_OPENAI_API_KEY",
        "openrouter:m": "OPENROUTER_API_KEY", "gemini:m": "GEMINI_API_KEY or GOOGLE_API_KEY",
    }.items():  # fmt: skip
        with pytest.raises(UsageError, match=variable) as caught:
            made(ledger, word, environment={"OTHER": "x", **AZURE})
        assert "--key-file" in str(caught.value)
    with pytest.raises(UsageError, match="variable TEAM_KEY, which is not set"):
        made(ledger, "openai", options=JudgeOptions(key_variable="TEAM_KEY"))
    with pytest.raises(UsageError, match="with --embedder-key-file"):
        address_of("openai", "m", {}, role="embedder")


@pytest.mark.parametrize(("word", "said"), [
    ("opneai:gpt-4o", "Did you mean 'openai'"), ("", "No judge is called ''"),
    ("gpt-4o", "Did you mean 'openai:gpt-4o'"),
    ("no_such_module:fn", "there is no module no_such_module here"),
    ("claude-sonnet-4", "Did you mean 'anthropic:claude-sonnet-4'"),
    ("ftp://h/v1#m", "No judge is called"), ("http:///v1#m", "begins with http"),
    ("http://localhost:8000/v1", "#model"), ("http://h:port/v1#m", "not a URL"),
    ("http://user:secret@h/v1#m", "RAGASSAY_API_KEY"),
    ("http://h/v1?key=secret#m", "RAGASSAY_API_KEY"), ("ollama:", "ollama:MODEL"),
    ("azure:m", "set AZURE_OPENAI_ENDPOINT"),
])  # fmt: skip
def test_a_word_that_names_nothing_is_refused_with_a_hint(ledger, word: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        made(ledger, word)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_key_in_the_judges_place_is_not_repeated(ledger: Ledger) -> None:
    with pytest.raises(UsageError) as caught:
        made(ledger, "sk-proj-0123456789abcdefghijklmnop")
    assert "0123456789" not in str(caught.value)
    with pytest.raises(UsageError, match="No judge is named"):
        made(ledger)


def test_every_provider_and_alias_makes_a_judge() -> None:
    for name in (*providers(), *aliases()):
        found = address_of(f"{name}:some-model", "gpt-4o", {**KEYS, **AZURE})
        if found.protocol == "litellm":
            continue  # a package in this process
        assert found.url.startswith("http") and not found.url.endswith("/")
        assert found.model == "some-model"


def test_options_reach_each_judge(ledger: Ledger, tmp_path: Path) -> None:
    pace: dict[str, Any] = {"rpm": 60, "tpm": 7, "timeout": 9.0, "temperature": 0.0, "seed": 3}
    more: Any = {"price": "1,2", "reuse": "answers", "language": "de", "prompts": {"x": "y"}}
    options = JudgeOptions(**pace, **more, quorum=3)
    panel = made(ledger, "openai:a", "ollama:b", "openai:c", options=options)
    assert isinstance(panel, Panel) and panel.quorum == 3
    for judge in panel.members:
        assert isinstance(judge, LLMJudge) and judge.parameters == {"temperature": 0.0, "seed": 3}
        assert (judge.price, judge.reuse, judge.language) == (Price(1, 2), "answers", "de")
        assert judge.prompts == {"x": "y"} and judge.sender.timeout == judge.endpoint.timeout == 9
        assert [bucket._rate * 60 for bucket in judge.sender.limiter._buckets] == [56, 77 / 12]
    plain = made(ledger, "openai:gpt-4o", options=JudgeOptions(dry=True), environment={})
    assert isinstance(plain, LLMJudge) and plain.parameters == {} and plain.reuse == "all"
    assert plain.price == price_of("gpt-4o") and plain.sender.limiter.most == 64
    (tmp_path / "key").write_text("sk-of-the-file")
    own = made(ledger, "openai:a", options=JudgeOptions(key_file=tmp_path / "key"))
    assert isinstance(own, LLMJudge) and own.endpoint.key.reveal() == "sk-of-the-file"
    options = JudgeOptions(concurrency=3, price="1,2", judge_name="mine", timeout=9.0)
    (own,) = (make_judge([len], default_model="", ledger=ledger, options=options),)
    assert isinstance(own, LLMJudge) and (own.price, own.label) == (Price(1, 2), "python:mine")
    assert (own.sender.limiter.most, own.sender.timeout, own.endpoint.timeout) == (3, 9, 9)


def test_the_name_of_an_operator_hides_what_it_stands_for(ledger: Ledger) -> None:
    own = "openai:gpt-4o"
    named = {"house": own, "old": "opneai:x", own: own, "people": "replay:/nowhere/labels.jsonl"}
    judge = made(ledger, "house", options=JudgeOptions(named=named))
    assert isinstance(judge, LLMJudge) and (judge.label, judge.model) == ("house", "gpt-4o")
    assert judge.endpoint.shown == "house" and judge.signature.startswith("house#")
    assert "gpt-4o" not in judge.signature and "house" in judge.endpoint.key.source
    assert made(ledger, own, options=JudgeOptions(named=named)).signature.startswith(f"{own}(")
    for word in ("old", "people"):
        with pytest.raises(
            UsageError, match=rf"{word} cannot be used now\. Ask the operator"
        ) as told:
            made(ledger, word, options=JudgeOptions(named=named))
        assert "opneai" not in str(told.value) and "nowhere" not in str(told.value)


def test_judges_of_one_endpoint_share_its_pace(ledger: Ledger) -> None:
    panel = made(ledger, "openai:a", "openai:b", "ollama:c", options=JudgeOptions(concurrency=7))
    assert isinstance(panel, Panel)
    a, b, c = panel.members
    assert isinstance(a, LLMJudge) and isinstance(b, LLMJudge) and isinstance(c, LLMJudge)
    assert a.sender.limiter is b.sender.limiter and a.sender.limiter is not c.sender.limiter
    assert a.sender.limiter.most == c.sender.limiter.most == 7
