"""A judge in Python is asked as any judge is: with ledger, limits, budget and evidence."""

from __future__ import annotations

import asyncio
import importlib
import json
import shutil
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

import ragassay
from llm_server import LLMServer
from ragassay.base.errors import UsageError
from ragassay.cli.command_line import call
from ragassay.judges.judge_factory import make_judge
from ragassay.judges.ledger.ledger_store import Ledger
from ragassay.judges.python_judge import identity_of, named_judges
from ragassay.user_code.object_loading import has_module

SAID = json.dumps({"reasoning": "they say the same", "is_matching": True})
DATA = [
    {
        "id": f"{n}",
        "query": f"Who wrote book {n}?",
        "answer": f"Ann {n}",
        "references": [f"Ann {n}"],
    }
    for n in range(4)
]


class _Held:
    """A judge of one's own, a method of which answers."""

    def __init__(self, said: str) -> None:
        self.said = said

    def say(self, prompt: str) -> str:
        return self.said


MODULE = """
import json, pathlib

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
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module of a user, in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "users_judges.py").write_text(MODULE)
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
    (verdict, *_) = first.judge_answers.values()
    assert json.loads(verdict["reply"])["reasoning"] == "as it says"
    again = run(f"users_judges:{name}")
    assert n_asked() == 4 and again.summary.judging is not None
    assert again.summary.judging.cached == 4
    assert again.summary.metrics["answer_match"].signature == (
        first.summary.metrics["answer_match"].signature
    )


def test_an_edited_file_is_another_judge_and_a_name_of_its_own_keeps_it(
    code: Any, tmp_path: Path
) -> None:
    before = run(code.judge), run(code.judge, judge_name="ann-1")
    assert n_asked() == 8
    (tmp_path / "users_judges.py").write_text(MODULE + "\n# edited")
    after = run(code.judge), run(code.judge, judge_name="ann-1")
    assert n_asked() == 12
    signed = [one.summary.metrics["answer_match"].signature for one in (*before, *after)]
    assert signed[0] != signed[2] and signed[1] == signed[3]
    with pytest.raises(ragassay.UsageError, match="was not computed alike"):
        before[0].compare(after[0])


def nested() -> Any:
    def judge(prompt: str) -> str:
        return SAID

    return judge


@pytest.mark.parametrize(
    ("judge", "why"),
    [
        (lambda prompt: SAID, "a lambda has no name"),
        ((lambda given: lambda prompt: given)(SAID), "a lambda has no name"),
        (nested(), "it is defined within another function"),
        (_Held(SAID).say, "it is a method of an object with a state of its own"),
        (SimpleNamespace(invoke=lambda messages: SAID), "its state cannot be told apart"),
    ],
)
def test_what_cannot_be_told_apart_is_known_as_that(judge: Any, why: str) -> None:
    assert why in identity_of(judge).unkept


def test_answers_of_what_cannot_be_told_apart_are_not_kept_and_the_summary_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
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


def test_a_function_whose_file_was_edited_after_the_import_is_not_kept(
    code: Any, tmp_path: Path
) -> None:
    assert identity_of(code.judge).unkept == ""
    (tmp_path / "users_judges.py").write_text(MODULE.replace('"Ann 1"', '"Ann 2"'))
    # The old code runs: its answers must not count as those of the new one.
    assert "changed after it was imported" in identity_of(code.judge).unkept


def test_chat_models_of_ones_own_are_told_apart_by_code_and_attributes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
class Chat:
    model = "tiny"
    def __init__(self, rules, api_key="a"):
        self.rules, self.api_key = {"rules": [rules]}, api_key
    def invoke(self, messages):
        return self.rules["rules"][0]
"""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "chat_one.py").write_text(source)
    (tmp_path / "chat_two.py").write_text(source)
    (tmp_path / "chat_three.py").write_text(f"{source}# edited")
    made = [importlib.import_module(f"chat_{name}").Chat for name in ("one", "two", "three")]
    same = identity_of(made[0]("be strict"))
    assert same.name == "Chat:tiny" and same.unkept == ""
    assert identity_of(made[0]("be strict", api_key="b")) == same
    assert identity_of(made[0]("be mild")) != same
    assert len({identity_of(one("be strict")) for one in made}) == 3


def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, source: str) -> Any:
    """A module of a user with this source."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / f"{name}.py").write_text(source)
    return importlib.import_module(name)


def test_functions_of_one_name_in_one_file_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
import os

judges = []
for tone in ("strict", "mild"):
    def judge(prompt, tone=tone):
        return tone
    judges.append(judge)

if os.environ.get("MILD"):
    def chosen(prompt): return "mild"
else:
    def chosen(prompt): return "strict"
"""
    code = imported(tmp_path, monkeypatch, "judges_in_a_loop", source)
    strict, mild = map(identity_of, code.judges)
    assert strict != mild and not strict.unkept and not mild.unkept
    before = identity_of(code.chosen)
    monkeypatch.setenv("MILD", "1")
    assert identity_of(importlib.reload(code).chosen) != before and not before.unkept


def test_models_are_told_apart_by_all_that_is_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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

class InSlots:
    __slots__ = ("model", "held")
    def __init__(self, held):
        self.model, self.held = "tiny", held
    def invoke(self, messages):
        return str(self.held)

class WithVersion:
    version = "1"
    def __init__(self, held):
        self.model = held
    def invoke(self, messages):
        return self.model

def say(prompt, words): return words
"""
    code = imported(tmp_path, monkeypatch, "models_of_a_user", source)

    def pairs() -> Iterator[tuple[Any, Any]]:
        for one, two in [
            ("a", "b"),
            (b"a", b"b"),
            ({"a"}, {"b"}),
            (code.Rules("a"), code.Rules("b")),
            ([code.Rules({"x": "a"})], [code.Rules({"x": "b"})]),
            ([[[[["a"]]]]], [[[[["b"]]]]]),
            ({"x": {"x": {"x": {"x": "a"}}}}, {"x": {"x": {"x": {"x": "b"}}}}),
            (lambda: "a", lambda: "b"),
            (partial(code.say, words="a"), partial(code.say, words="b")),
            (code.Model("a"), code.Model("b")),
            (code.Model("a").invoke, code.Model("b").invoke),
            (SimpleNamespace(rules="a"), SimpleNamespace(rules="b")),
        ]:
            yield code.Model(one), code.Model(two)
        yield code.InSlots("a"), code.InSlots("b")
        yield code.WithVersion("a"), code.WithVersion("b")

    for (one, two), (again, _) in zip(pairs(), pairs(), strict=True):
        assert identity_of(one) != identity_of(two)
        assert identity_of(one) == identity_of(again) and not identity_of(one).unkept
    endless: list[Any] = []
    endless.append(endless)
    assert not identity_of(code.Model(endless)).unkept


def test_a_model_whose_class_runs_other_code_than_its_files_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = "class Base:\n    def invoke(self, messages): return 'a'\n"
    mine = "from base_of_a_user import Base\nclass Mine(Base):\n    model = 'tiny'\n"
    imported(tmp_path, monkeypatch, "base_of_a_user", base)
    code = imported(tmp_path, monkeypatch, "class_of_a_user", mine)
    first = identity_of(code.Mine())
    assert not first.unkept
    (tmp_path / "base_of_a_user.py").write_text(base.replace("'a'", "'b'"))
    assert "changed after it was imported" in identity_of(code.Mine()).unkept
    for name in ("base_of_a_user", "class_of_a_user"):
        del sys.modules[name]
    importlib.invalidate_caches()
    shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
    assert identity_of(importlib.import_module("class_of_a_user").Mine()) != first
    # A class of a notebook's cell: an edit could not be seen.
    cell: dict[str, Any] = {"__name__": "cell_of_a_notebook"}
    exec("class Chat:\n    model = 'tiny'\n    def invoke(self, messages): return 'a'", cell)
    assert "no file holds the source of its class" in identity_of(cell["Chat"]()).unkept


@pytest.mark.parametrize(
    ("name", "reason", "words"),
    [
        ("no_return", "judge_error", r"returned None \(is a 'return' missing\?\).*answer_match"),
        ("mapping", "judge_error", "returned a dict when it was asked answer_match.*as a text"),
        ("raw", "judge_error", "returned bytes.*Look into the code of users_judges:raw"),
        (
            "raises",
            "judge_error",
            r"raised ValueError: no luck today \(users_judges.py:\d+\).*Look into",
        ),
        ("prose", "unparsable", "holds no JSON object"),
    ],
)
def test_a_wrong_reply_is_a_failure_that_is_told_and_never_a_score(
    code: Any, name: str, reason: str, words: str
) -> None:
    import re

    result = run(getattr(code, name))
    for row in result.scores:
        assert row.value is None and row.reason == reason
        assert re.search(words, row.explanation), row.explanation
        assert row.evidence
    assert result.summary.metrics["answer_match"].mean is None


def test_a_function_that_never_judges_is_not_asked_on_and_no_address_is_to_be_checked(
    code: Any,
) -> None:
    calls = []

    def none(prompt: str) -> None:
        calls.append(prompt)

    many = [{**DATA[0], "id": str(n), "query": f"Who wrote {n}?"} for n in range(60)]
    result = ragassay.evaluate(many, ["answer_match"], judge=none)
    (told,) = {row.explanation for row in result.scores if "in a row" in row.explanation}
    assert "Look into the code of" in told and "address" not in told
    assert len(calls) < 60 and result.summary.metrics["answer_match"].unscored == {
        "judge_error": 60
    }


@pytest.mark.parametrize(
    ("judge", "words"),
    [
        ("users_judges:takes_two", "called with one argument.*takes prompt, model"),
        ("users_judges:not_callable", "is an int, which cannot be asked"),
        ("users_judges:of_messages(1)", r"made in the module.*name it: users_judges:own_of_mess"),
        ("users_judges.py:judge", r"A module is named without '\.py': users_judges:judge\."),
        ("./inner/other.py:judge", r"A module is named without '\.py': inner\.other:judge\."),
        ("users_judges:juge", "has no 'juge'. Did you mean 'judge'"),
        ("opneai:mini", "No judge is called 'opneai:mini'. Did you mean 'openai'"),
        (ragassay.Sample, "is a class. Give an object of it"),
        (["offline", ragassay.judges.OfflineJudge()], "comes ready made"),
    ],
)
def test_what_cannot_judge_is_refused_at_once(code: Any, judge: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        run(judge)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"temperature": 0.5}, r"--temperature \(temperature=...\) is for models at endpoints"),
        ({"judge_seed": 5}, "--judge-seed"),
        ({"budget": "1.00"}, "no price"),
    ],
)
def test_options_that_a_function_cannot_be_told_are_refused(
    code: Any, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        run(code.judge, **options)


def test_a_name_is_for_one_judge_in_python(code: Any) -> None:
    for judge, n in (("offline", "none"), ([code.judge, code.later], "2")):
        with pytest.raises(UsageError, match=f"judge_name.*{n}"):
            run(judge, judge_name="x")


def test_budget_limit_and_panel_hold_for_functions(code: Any) -> None:
    result = run(code.judge, budget="3 calls")
    assert n_asked() == 3
    assert [row.reason for row in result.scores].count("budget") == 1
    panel = run([code.judge, code.later, "offline"], panel_rule="majority")
    assert panel.summary.judging is not None
    assert panel.summary.judging.judge.startswith("panel(python:users_judges:judge, ")


def test_functions_run_side_by_side_up_to_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    calls: list[str] = []
    both = threading.Barrier(2, timeout=60)

    def judge(prompt: str) -> str:
        calls.append(prompt)
        if len(calls) > 1:  # the first request travels alone
            both.wait()
        return SAID

    result = ragassay.evaluate(DATA[:3], ["answer_match"], judge=judge, concurrency=2)
    assert [row.value for row in result.scores] == [True] * 3


def test_a_rate_limit_of_a_client_in_the_function_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    class TooManyError(Exception):
        status_code = 429
        response = SimpleNamespace(headers={"retry-after-ms": "1"})

    calls: list[str] = []

    async def judge(prompt: str) -> str:
        calls.append(prompt)
        if len(calls) < 3:
            raise TooManyError("slow down")
        return SAID

    result = ragassay.evaluate(DATA[:1], ["answer_match"], judge=judge)
    assert [row.value for row in result.scores] == [True] and len(calls) == 3


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
        return SimpleNamespace(text=SAID, raw={})


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


@pytest.mark.parametrize(
    ("judge", "label", "tokens"),
    [
        (_ChatModel(), "python:_ChatModel:big", 40),
        (_Llm(), "python:_Llm:small", 0),
        (_Chat(), "python:_Chat:tiny", 0),
        (_Client(), "python:_Client:pizza", 40),
    ],
)
def test_chat_models_are_asked_by_the_methods_that_they_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judge: Any, label: str, tokens: int
) -> None:
    monkeypatch.chdir(tmp_path)
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
    "word",
    ["subprocess:getoutput", "users_app:os.system", "users_app:run", "installed_one:judge"],
)
def test_a_configuration_file_reaches_no_other_code_through_the_working_directory(
    code: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    word: str,
) -> None:
    packages = tmp_path / ".venv" / "lib" / "site-packages"
    packages.mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    (packages / "installed_one.py").write_text("def judge(prompt): open('ran.txt', 'w')")
    Path("users_app.py").write_text("import os\nfrom subprocess import run\n")
    Path("d.jsonl").write_text(json.dumps(DATA[0]))
    for names in (f"metrics: answer_match\njudge: {word}", f"metrics: [{word!r}]"):
        Path("c.yaml").write_text(f"data: d.jsonl\n{names}\n")
        assert call(["run", "c.yaml"]) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert "names only code of the working directory" in said and "elsewhere" in said
    assert not Path("ran.txt").exists()


def test_asking_for_a_module_changes_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "only_here.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    assert has_module("only_here:judge") and not has_module("nowhere_at_all:judge")
    assert sys.path == before and "only_here" not in sys.modules


def test_code_runs_only_where_a_person_names_it(code: Any) -> None:
    with Ledger(":memory:") as ledger, pytest.raises(UsageError, match="where a person names it"):
        make_judge(["users_judges:judge"], default_model="x", ledger=ledger)
    assert named_judges(["openai:gpt-4o", "offline", "replay:a.jsonl", "http://a/v1#m"]) == [
        *("openai:gpt-4o", "offline", "replay:a.jsonl", "http://a/v1#m")
    ]


LITELLM = """
import httpx2

class Failed(Exception):
    def __init__(self, reply):
        super().__init__(reply.text)
        self.status_code, self.response = reply.status_code, reply

class Reply(dict):
    def model_dump(self):
        return dict(self)

async def acompletion(*, timeout, num_retries, max_retries, api_key="none", **request):
    async with httpx2.AsyncClient() as client:
        headers = {"Authorization": f"Bearer {api_key}"}
        url = open("url.txt").read() + "/chat/completions"
        reply = await client.post(url, json=request, headers=headers, timeout=timeout)
    if reply.status_code != 200:
        raise Failed(reply)
    return Reply(reply.json())
"""


def test_litellm_models_are_asked_by_the_package_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("httpx2")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LITELLM_BASE_URL", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install litellm.*proxy"):
        run("litellm:bedrock/model")
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LITELLM_BASE_URL", raising=False)
    (tmp_path / "litellm.py").write_text(LITELLM)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    with LLMServer(rejects=["seed"], faults=[None, "rate_limit"]) as server:
        Path("url.txt").write_text(server.url)
        result = run("litellm:bedrock/model")
        spent = result.summary.judging
        assert spent is not None and spent.judge == "litellm:bedrock/model"
        assert "without=seed" in spent.signature and spent.input_tokens > 0
        assert not spent.failures
        n = server.stats()["requests"]
        assert run("litellm:bedrock/model").summary.judging.cached == 4  # type: ignore[union-attr]
        assert server.stats()["requests"] == n
        monkeypatch.setenv("LITELLM_BASE_URL", server.url)  # a proxy: the package is not used
        moved = run("litellm:bedrock/model").summary.judging
        assert moved is not None and moved.calls >= 4
    sys.modules.pop("litellm", None)


def test_a_function_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    free = threading.Event()

    def judge(prompt: str) -> str:
        free.wait(30)
        return SAID

    try:
        result = ragassay.evaluate(DATA[:1], ["answer_match"], judge=judge, timeout=0.2)
    finally:
        free.set()
    (row,) = result.scores
    assert row.reason == "timeout" and "did not answer within 0.2 seconds" in row.explanation


def test_evaluating_inside_a_running_loop_works(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)

    async def judge(prompt: str) -> str:
        await asyncio.sleep(0)
        return SAID

    async def main() -> ragassay.Result:
        return run(judge)

    assert [row.value for row in asyncio.run(main()).scores] == [True] * 4


def told_of(
    *judges: str, capsys, gated: bool = True
) -> tuple[ragassay.Summary, str, list[tuple[str, str]]]:
    """The summary of a run by functions of the user's module, its terminal output on one line, and
    the test cases about what is there with their errors."""
    Path("answers.jsonl").write_text("".join(json.dumps(one) + "\n" for one in DATA))
    words = ["run", "answers.jsonl", "-m", "answer_match", "-o", "out", "--ledger", "own.sqlite"]
    words += ["--fail-under", "answer_match>=0.5"] if gated else []
    words += [word for name in judges for word in ("--judge", f"users_judges:{name}")]
    assert call(words) == 3
    said = " ".join(capsys.readouterr().out.split())
    cases = []
    if Path("out/junit.xml").exists():
        cases = list(ElementTree.parse("out/junit.xml").iter("testcase"))[1:]
    errors = [(one.get("name", ""), one.findtext("error") or "") for one in cases]
    return ragassay.open_run("out").summary, said, errors


def test_a_vote_that_is_lost_is_no_score_that_is_missing(code, capsys) -> None:
    panel = ("fails_on_one", "agrees", "agrees_too")
    summary, said, cases = told_of(*panel, capsys=capsys)
    assert summary.metrics["answer_match"].n_scored == 4
    assert (summary.incomplete, summary.n_missing, summary.lost_votes) == (1, 0, 1)
    assert "1 of 12 votes of the panel missing by accident (no score is missing" in said
    assert "1 of 12 votes lost (judge error): python:users_judges:fails_on_one raised" in said
    assert "scores missing" not in said and "score missing" not in said
    ((name, lost),) = cases
    assert name == "no score is missing by accident"
    assert lost.startswith("1 of 12 votes of the panel missing by accident (no score")


def test_a_score_that_is_missing_for_a_lost_vote_counts_once(code, capsys) -> None:
    summary, said, cases = told_of("fails_on_one", "agrees", capsys=capsys)
    assert summary.metrics["answer_match"].n_scored == 3
    assert summary.incomplete == 1 and not summary.lost_votes
    assert "1 score missing by accident" in said and "lost" not in said
    assert said.count("the server said 500") == 1
    ((name, told),) = cases
    assert name == "no score is missing by accident"
    assert told.startswith("1 score missing by accident.")


def test_a_function_that_tells_no_tokens_has_calls_and_no_price(code, capsys) -> None:
    summary, said, _ = told_of("prose", capsys=capsys, gated=False)
    assert summary.judging is not None
    assert summary.judging.calls == 8, "each question and its repair"
    assert summary.judging.unpriced == 8
    assert "4 questions, 8 calls, " in said
    assert "token" not in said and "--price" not in said
