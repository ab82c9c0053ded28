"""A judge in Python is asked as any judge is: with ledger, limits, budget and evidence."""

import asyncio
import importlib
import json
import sys
from collections.abc import Iterator
from functools import partial, wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ragassay
from ragassay.base.errors import UsageError
from ragassay.cli.command_line import call
from ragassay.judges.judge_factory import make_judge, named_judges
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.python_judge import identity_of
from ragassay.transport.endpoints.endpoint import EndpointError
from ragassay.transport.endpoints.python_chat import PythonChat

SAID = json.dumps({"reasoning": "they say the same", "is_matching": True})
QUERIES = [{"id": f"{n}", "query": f"Who wrote book {n}?"} for n in range(4)]
DATA = [one | {"answer": f"Ann {one['id']}", "references": [f"Ann {one['id']}"]} for one in QUERIES]


class _Held:
    """A judge of one's own, a method of which answers."""

    def __init__(self, said: str) -> None:
        self.said = said

    def say(self, prompt: str) -> str:
        return self.said


MODULE = """
import json, types

def judge(prompt):
    with open("asked.txt", "a") as log:
        log.write("x")
    return json.dumps({"reasoning": "as it says", "is_matching": "Ann 1" in prompt})

async def later(prompt):
    return judge(prompt)

def of_messages(messages):
    assert [one["role"] for one in messages] == ["system", "user"]
    return judge(messages[-1]["content"])

def no_return(prompt): judge(prompt)
def mapping(prompt): return {"is_matching": True}
def raw(prompt): return b"{}"
def raises(prompt): raise ValueError("no luck\\ntoday")
def prose(prompt): return "yes, it does"
def cut(**how): return lambda prompt: types.SimpleNamespace(content='{"reas', **how)
cut_by_openai = cut(response_metadata={"finish_reason": "length"})
cut_by_anthropic = cut(response_metadata={"stop_reason": "max_tokens"})
cut_by_itself = cut(response_metadata={}, stop_reason="max_tokens")
def agrees(prompt): return json.dumps({"reasoning": "it does", "is_matching": True})
def agrees_too(prompt): return agrees(prompt)
def fails_on_one(prompt):
    if "book 1?" in prompt:
        raise ValueError("the server said 500")
    return agrees(prompt)
def takes_two(prompt, model): return ""
not_callable = 3
"""


@pytest.fixture
def code(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module of a user, in the working directory."""
    monkeypatch.setattr(sys, "path", [str(here), *sys.path])
    (here / "users_judges.py").write_text(MODULE)
    sys.modules.pop("users_judges", None)
    import users_judges  # type: ignore[import-not-found]

    yield users_judges
    sys.modules.pop("users_judges", None)


def run(judge: Any, **options: Any) -> ragassay.Result:
    return ragassay.evaluate(DATA, ["answer_match"], judge=judge, ledger="own.sqlite", **options)


def n_asked() -> int:
    return len(Path("asked.txt").read_text()) if Path("asked.txt").exists() else 0


@pytest.mark.parametrize("name", ["judge", "later", "of_messages"])
def test_a_function_judges_and_its_answers_are_paid_for_once(code: Any, name: str) -> None:
    first = run(getattr(code, name))
    assert [row.value for row in first.scores] == [False, True, False, False]
    assert first.summary.judging is not None
    assert first.summary.judging.judge == f"python:users_judges:{name}"
    assert (first.summary.judging.calls, n_asked()) == (4, 4)
    assert not first.summary.warnings
    (judge_answer, *_) = first.judge_answers.values()
    assert json.loads(judge_answer["reply"])["reasoning"] == "as it says"
    again = run(f"users_judges:{name}")
    assert n_asked() == 4 and again.summary.judging is not None
    assert again.summary.judging.cached == 4
    assert len({one.summary.metrics["answer_match"].signature for one in (first, again)}) == 1


def test_an_edited_file_is_another_judge_and_a_name_of_its_own_keeps_it(code, tmp_path) -> None:
    before = run(code.judge), run(code.judge, judge_name="ann-1")
    assert n_asked() == 8
    (tmp_path / "users_judges.py").write_text(MODULE + "\n# edited")
    after = run(code.judge), run(code.judge, judge_name="ann-1")
    assert n_asked() == 12
    signed = [one.summary.metrics["answer_match"].signature for one in (*before, *after)]
    assert signed[0] != signed[2] and signed[1] == signed[3]
    with pytest.raises(ragassay.UsageError, match="was computed differently"):
        before[0].compare(after[0])


def nested() -> Any:
    def judge(prompt: str) -> str:
        return SAID

    return judge


@pytest.mark.parametrize(("judge", "why"), [
    (lambda prompt: SAID, "a lambda has no name"),
    ((lambda given: lambda prompt: given)(SAID), "a lambda has no name"),
    (nested(), "it is defined within another function"),
    ((lambda given: wraps(nested)(lambda prompt: given))(SAID), "within another function"),
    (_Held(SAID).say, "it is a method of an object with a state of its own"),
    (SimpleNamespace(invoke=lambda messages: SAID), "its state cannot be distinguished"),
])  # fmt: skip
def test_what_cannot_be_told_apart_is_known_as_that(judge: Any, why: str) -> None:
    assert why in identity_of(judge).unkept


def test_answers_of_what_cannot_be_told_apart_are_not_kept(here: Path) -> None:
    judge = nested()
    for _ in range(2):
        result = run(judge)
        assert result.summary.judging is not None and result.summary.judging.cached == 0
        (note,) = result.summary.warnings
        assert "within another function" in note and "judge_name" in note
        assert all(row.evidence for row in result.scores)
    assert run(judge, judge_name="mine").summary.warnings == ()
    kept = run(judge, judge_name="mine").summary.judging
    assert kept is not None and (kept.calls, kept.cached) == (0, 4)
    judge.version = "3"
    found = identity_of(judge)
    assert found.unkept == "" and found.version == "version=3"


def test_a_function_whose_file_was_edited_after_the_import_is_not_kept(code: Any, tmp_path) -> None:
    assert identity_of(code.judge).unkept == ""
    (tmp_path / "users_judges.py").write_text(MODULE.replace('"Ann 1"', '"Ann 2"'))
    # The old code runs: its answers must not count as those of the new one.
    assert "changed after it was imported" in identity_of(code.judge).unkept


def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, source: str) -> Any:
    """A module of a user with this source."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / f"{name}.py").write_text(source)
    return importlib.import_module(name)


def test_models_are_told_apart_by_all_that_is_their_own(tmp_path: Path, monkeypatch) -> None:
    source = """
import threading

class Rules:
    def __init__(self, text):
        self.text = text

class Model:
    model = "tiny"
    def __init__(self, held):
        self.held, self.lock = held, threading.Lock()
    def invoke(self, messages):
        return str(self.held)

class Slotted:
    __slots__ = ("x",)

class WithVersion:
    version = 1
    def __init__(self, held):
        self.model = held
    def invoke(self, messages):
        return self.model

def say(prompt, words): return words
def twice(prompt): return "a"
first = twice
def twice(prompt): return "b"
def kind(prompt, rules="a", *, words="a"): return words
"""
    code = imported(tmp_path, monkeypatch, "models_of_a_user", source)
    (site := tmp_path / "site-packages").mkdir()
    inner = "class Inner:\n    def __init__(self, model): self.model = model\n"
    package = imported(site, monkeypatch, "models_of_a_package", inner)

    def pairs() -> Iterator[tuple[Any, Any]]:
        for one, two in [
            ("a", "b"), (b"a", b"b"), (code.Rules("a"), code.Rules("b")),
            ([code.Rules({"x": "a"})], [code.Rules({"x": "b"})]),
            (SimpleNamespace(rules="a"), SimpleNamespace(rules="b")), ({"a"}, {"b"}),
            (Path("a"), Path("b")), (package.Inner("a"), package.Inner("b")),
        ]:  # fmt: skip
            yield code.Model(one), code.Model(two)
        yield code.WithVersion("a"), code.WithVersion("b")
        yield code.first, code.twice

    for (one, two), (again, _) in zip(pairs(), pairs(), strict=True):
        assert identity_of(one) != identity_of(two)
        assert identity_of(one) == identity_of(again) and not identity_of(one).unkept
    keys = [{"x": "a", "api_key": key} for key in ("old", "new")]
    assert identity_of(code.Model(keys[0])) == identity_of(code.Model(keys[1]))
    told = {identity_of(code.kind).version}
    for name, made_with in (("__defaults__", ("b",)), ("__kwdefaults__", {"words": "b"})):
        setattr(code.kind, name, made_with)
        told.add(identity_of(code.kind).version)
    assert len(told) == 3, "a function is its defaults, too"
    deep: Any = "a"
    for _ in range(9):
        deep = [deep]
    for untold in (
        code.say, partial(code.say, words="a"), code.Model("a").invoke, code.Slotted(), deep,
    ):  # fmt: skip
        assert "cannot be distinguished" in identity_of(code.Model(untold)).unkept
    assert identity_of(code.WithVersion("a")).version == "version=1,model=a"
    edited = {identity_of(code.Model("a"))}
    (sys.modules.pop("models_of_a_user"), (tmp_path / "models_of_a_user.py").unlink())
    again = imported(tmp_path, monkeypatch, "models_of_a_user", f"{source}# edited\n")
    assert identity_of(again.Model("a")) not in edited


@pytest.mark.parametrize(("name", "reason", "words"), [
    ("no_return", "judge_error", r"returned None \(is a 'return' missing\?\).*answer_match"),
    ("mapping", "judge_error", "returned a dict when it was asked answer_match.*as a text"),
    ("raw", "judge_error", "returned bytes.*Check the code of users_judges:raw"),
    ("raises", "judge_error", r"ValueError: no luck today \(users_judges.py:\d+\).*Check the code"),
    ("prose", "unparsable", "holds no JSON object"),
    *((f"cut_by_{one}", "unparsable", "cut off") for one in ("openai", "anthropic", "itself")),
])  # fmt: skip
def test_a_wrong_reply_is_a_failure_and_never_a_score(code, name, reason: str, words: str) -> None:
    import re

    result = run(getattr(code, name))
    for row in result.scores:
        assert row.value is None and row.reason == reason
        assert re.search(words, row.explanation), row.explanation
        assert row.evidence
    assert result.summary.metrics["answer_match"].mean is None


@pytest.mark.parametrize(("judge", "words"), [
    ("users_judges:takes_two", "called with one argument.*takes prompt, model"),
    ("users_judges:not_callable", "is an int, which cannot be asked"),
    ("users_judges:juge", "has no 'juge'. Did you mean 'judge'"),
    ("opneai:mini", "No judge is called 'opneai:mini'. Did you mean 'openai'"),
    (ragassay.Sample, "is a class. Give an object of it.* name it: ragassay.base.sample:chat"),
    (["offline", ragassay.judges.OfflineJudge()], "is an object"),
])  # fmt: skip
def test_what_cannot_judge_is_refused_at_once(code: Any, judge: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        run(judge)


@pytest.mark.parametrize(("options", "words"), [
    ({"temperature": 0.5}, r"--temperature \(temperature=...\) is for models at endpoints"),
    ({"judge_seed": 5}, "--judge-seed"), ({"budget": "1.00"}, "no price"),
    ({"key_variable": "OPENAI_API_KEY"}, "--key-variable"), ({"key_file": "key"}, "--key-file"),
])  # fmt: skip
def test_options_that_a_function_cannot_be_told_are_refused(code, options, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        run(code.judge, **options)


def test_a_name_is_for_one_judge_in_python(code: Any) -> None:
    for judge, n in (("offline", "none"), ([code.judge, code.later], "2")):
        with pytest.raises(UsageError, match=f"judge_name.*{n}"):
            run(judge, judge_name="x")


@pytest.mark.parametrize("status", [429, 503])
def test_a_rate_limit_of_a_client_in_the_function_is_waited_for(status, here) -> None:
    class TooManyError(Exception):
        status_code = status
        response = SimpleNamespace(headers={"retry-after-ms": "1"})

    calls: list[str] = []

    async def judge(prompt: str) -> str:
        calls.append(prompt)
        if len(calls) < 3:
            raise TooManyError("slow down")
        return SAID

    result = ragassay.evaluate(DATA[:1], ["answer_match"], judge=judge)
    assert [row.value for row in result.scores] == [True] and len(calls) == 3
    calls.clear()
    TooManyError.response.headers["retry-after-ms"] = "9e9"
    (row,) = ragassay.evaluate(DATA[1:2], ["answer_match"], judge=judge).scores
    assert row.value is None and "asks for a pause of 2500 hours" in row.explanation


@pytest.mark.parametrize(("error", "reason"), [
    (TimeoutError("x"), "timeout"), (ConnectionResetError("x"), "connection"),
    (ValueError("x"), "judge_error"),
])  # fmt: skip
def test_a_connection_of_the_functions_own_that_fails_is_tried_again(error, reason: str) -> None:
    def judge(prompt: str) -> Any:
        if prompt:
            raise error
        content = ["a", {"type": "text", "text": "b"}]
        return SimpleNamespace(content=content, response_metadata={"model": "m"})

    body, own = '{"messages": [{"role": "", "content": "%s"}], "asked": ""}', PythonChat(judge, "m")
    with pytest.raises(EndpointError) as caught:
        asyncio.run(own.send((body % "Is it?").encode()))
    assert (caught.value.reason, caught.value.again) == (reason, reason != "judge_error")
    said = asyncio.run(own.send((body % "").encode()))
    assert (said.text, said.model) == ("ab", "m")


class _Message:
    def __init__(self, content: Any) -> None:
        self.content = content
        self.usage_metadata = {"input_tokens": 10, "output_tokens": 4}
        self.response_metadata = {"model_name": "big-1", "finish_reason": "stop"}


# Without assert statements: pytest rewrites the code of functions with them, which is then not the
# code of their file.
class _ChatModel:
    """As LangChain's chat models look from outside."""

    model_name = "big"
    temperature = 0.0
    base_url = "http://user:secret@box:8000/v1?key=secret"

    async def ainvoke(self, messages: list[dict[str, str]]) -> _Message:
        if {"role", "content"} != set(messages[0]):
            raise AssertionError(messages)
        return _Message([{"type": "text", "text": SAID}])

    def invoke(self, messages: Any) -> Any:
        raise AssertionError("the asynchronous method is there")


class _Llm:
    """As LlamaIndex's models look from outside."""

    metadata = SimpleNamespace(model_name="small")

    def complete(self, prompt: str) -> Any:
        if not isinstance(prompt, str):
            raise AssertionError(prompt)
        counts = {"prompt_tokens": 10, "completion_tokens": 4}
        return SimpleNamespace(text=SAID, raw={}, additional_kwargs=counts)


class _Client:
    """As datapizza's clients look from outside."""

    model_name = "pizza"

    def invoke(self, input: Any, tools: Any = None, system_prompt: str | None = None) -> Any:  # noqa: A002
        if not isinstance(input, str):
            raise AssertionError(input)
        usage = SimpleNamespace(prompt_tokens=10, completion_tokens=4)
        return SimpleNamespace(text=SAID, content=[object()], usage=usage, stop_reason="stop")


class _Chat:
    model = "tiny"

    def chat(self, messages: Any) -> Any:
        return SimpleNamespace(message=_Message(SAID))


@pytest.mark.parametrize(("judge", "label", "tokens"), [
    (_ChatModel(), "python:_ChatModel:big", 40), (_Llm(), "python:_Llm:small", 40),
    (_Chat(), "python:_Chat:tiny", 0), (_Client(), "python:_Client:pizza", 40),
])  # fmt: skip
def test_chat_models_are_asked_by_their_methods(
    here: Path, judge: Any, label: str, tokens: int
) -> None:
    result = run(judge)
    spent = result.summary.judging
    assert spent is not None and spent.judge == label
    assert [row.value for row in result.scores] == [True] * 4
    assert spent.input_tokens == tokens
    assert "secret" not in json.dumps(result.summary.to_json())
    assert run(judge).summary.judging.cached == 4  # type: ignore[union-attr]


def test_the_command_line_takes_a_function(code: Any, capsys: pytest.CaptureFixture[str]) -> None:
    Path("d.jsonl").write_text("\n".join(json.dumps(one) for one in DATA))
    words = ["run", "d.jsonl", "--metrics", "answer_match", "--judge", "users_judges:judge"]
    assert call([*words, "--dry-run"]) == 0
    assert n_asked() == 0 and "users_judges:judge" in capsys.readouterr().out
    assert call([*words, "-o", "out"]) == 0
    assert n_asked() == 4
    capsys.readouterr()
    assert call(["run", "out/run.yaml"]) == 0 and n_asked() == 4
    Path("c.yaml").write_text("data: d.jsonl\nmetrics: answer_match\njudge: users_judges:judge\n")
    assert call(["run", "c.yaml"]) == 0 and n_asked() == 4


@pytest.mark.parametrize(
    "word", ["subprocess:getoutput", "users_app:os.system", "users_app:run", "installed_one:judge"]
)
def test_a_configuration_file_reaches_no_other_code_through_the_working_directory(
    code: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    word: str,
) -> None:  # fmt: skip
    packages = tmp_path / ".venv" / "lib" / "site-packages"
    packages.mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    (packages / "installed_one.py").write_text("open('ran.txt', 'w')\ndef judge(prompt): pass")
    Path("users_app.py").write_text("import os\nfrom subprocess import run\n")
    Path("d.jsonl").write_text(json.dumps(DATA[0]))
    for names in (f"metrics: answer_match\njudge: {word}", f"metrics: [{word!r}]"):
        Path("c.yaml").write_text(f"data: d.jsonl\n{names}\n")
        assert call(["run", "c.yaml"]) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert "names only code that is defined in the working directory" in said
    assert not Path("ran.txt").exists()


def test_code_runs_only_where_a_person_names_it(code: Any) -> None:
    with Ledger(":memory:") as ledger, pytest.raises(UsageError, match="if a person names it"):
        make_judge(["users_judges:judge"], default_model="x", ledger=ledger)
    for name in ("gemini", "replay"):  # a provider's other name, and a kind of our own
        Path(f"{name}.py").write_text(MODULE)
    words = ["openai:gpt-4o", "offline", "replay:judge", "http://a/v1#m", "gemini:judge"]
    assert named_judges(words) == words
    assert named_judges("users_judges:judge") == [code.judge] and named_judges(None) == []


def test_a_judge_that_returns_a_score_is_shown_how_to_be_a_metric(code: Any) -> None:
    for row in run(lambda prompt: 0.5).scores:
        assert row.reason == "judge_error" and "@ragassay.metric\n" in row.explanation
    with pytest.raises(UsageError) as raised:
        run(lambda question, answer, context: 0.5)
    assert "\n    def my_score(query, answer, passages):\n        return" in str(raised.value)


@pytest.mark.parametrize("wait", [0.0, 0.2])
@pytest.mark.parametrize("reply", ['{"reasoning": "n", "is_matching": true}', "{}"])
def test_one_kind_without_usable_replies_does_not_end_the_others(tmp_path, reply, wait) -> None:
    asked = []

    async def judge(prompt: str) -> str:
        asked.append(prompt)
        await asyncio.sleep(wait * ("is_matching" in prompt))
        return reply

    data = [{"id": f"{n}", "query": f"{n}?", "answer": "a", "references": "b"} for n in range(150)]
    options = {"judge": judge, "judge_name": "one", "ledger": str(tmp_path / "ledger.sqlite")}
    found = ragassay.evaluate(data, ["coherence", "answer_match"], **options).summary.metrics
    assert found["answer_match"].n_scored == (150 if "true" in reply else 0)
    assert ("true" in reply) == (len(asked) == 450) == (len(asked) > 300)
