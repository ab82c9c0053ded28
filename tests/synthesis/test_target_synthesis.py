"""Golden sets that systems write and check: functions, commands, HTTP endpoints, MCP tools."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import orjson
import pytest

from ragassay import examples
from ragassay.cli.command_line import call
from ragassay.golden.golden_folder import GoldenSet
from ragassay.golden.golden_item import GoldenItem

DOCUMENTS = Path(examples.__file__).parent / "town" / "documents"
WRITER = '''
"""Writes queries that ask for the end of a sentence, and checks them honestly."""
import json, re, sys
from collections import Counter

ASKS = "Please tell me the end of this: "
asked = Counter()

def sentences(texts):
    pieces = [one for text in texts for one in re.split(r"(?<=[.])\\s+|\\n", text)]
    return [one for one in pieces if len(one.split()) > 5]

def found(conversation, passages):
    begun = conversation.rsplit(ASKS, 1)[-1].removesuffix("?")
    return next((one for one in sentences(passages or ()) if one.startswith(begun)), "")

def write(query, metadata):
    asked[metadata["question"]] += 1
    data = metadata["data"]
    if metadata["question"] == "write_query":
        assert "You write queries" in query and data["passages"][0] in query
        all = sentences(data["passages"])
        return ASKS + all[metadata["seed"] % len(all)].rsplit(" ", 1)[0] + "?"
    right = found(data["conversation"], data["passages"])
    wrong = right.replace(".", " never.")
    return {"reply": {"answer": right, "quotes": [right], "inaccurate": wrong, "incomplete": ""}}

def check(query, metadata):
    asked[metadata["question"]] += 1
    data = metadata["data"]
    match metadata["question"]:
        case "claim_support":
            held = " ".join(data["passages"])
            entries = [{"number": n, "reason": "", "supported": one in held}
                       for n, one in enumerate(data["claims"], 1)]
            return json.dumps({"verdicts": entries})
        case "answer_from_passages":
            return found(data["conversation"], data["passages"]) or '{"answer": ""}'
        case "answer_match":
            same = data["answer"].strip() == data["references"][0].strip()
            return json.dumps({"reasoning": "", "is_matching": same})

def broken(query):
    raise RuntimeError("the model is on holiday")

def junk(query):
    return {"reply": {"foo": 1}}

def refuses(query):
    return "I'm sorry, I cannot help with that."

if __name__ == "__main__":
    request = json.load(sys.stdin)
    said = write(request["query"], request["metadata"])
    print(said if isinstance(said, str) else json.dumps(said))
'''
MIX = ("--mix", "answerability=answerable:1", "--mix", "type=factual:1")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of its own name, so that no test sees another's."""
    name = f"own_{abs(hash(tmp_path.name))}"
    (tmp_path / f"{name}.py").write_text(WRITER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield Path(name)
    sys.modules.pop(name, None)


def synthesize(generator: str, checker: str, *words: str, code: int = 0) -> list[GoldenItem]:
    command = ["golden", "synthesize", str(DOCUMENTS), "-o", "golden", "--generator", generator]
    assert call([*command, "--checker", checker, "--n", "4", *MIX, *words]) == code
    folder = Path("golden")
    return GoldenSet.open(folder).items if (folder / "queries.jsonl").exists() else []


def asked(module: Path) -> Counter[str]:
    found: Counter[str] = sys.modules[str(module)].asked  # type: ignore[attr-defined]
    return found


def test_a_function_writes_and_another_one_checks(desk: Path) -> None:
    items = synthesize(f"{desk}:write", f"{desk}:check")
    assert len(items) == 4
    for item in items:
        (span,) = item.gold or ()
        assert item.references == [span.text]
        assert [one.kind for one in item.negative_references] == ["inaccurate"]
        assert item.provenance["generator"] == f"write ({desk}:write)"
        assert item.provenance["checker"] == f"check ({desk}:check)"
    assert set(asked(desk)) == {
        "write_query", "write_answer", "claim_support", "answer_from_passages", "answer_match",
    }  # fmt: skip
    before = asked(desk).copy()
    Path("golden/queries.jsonl").unlink()
    assert [one.id for one in synthesize(f"{desk}:write", f"{desk}:check")] == [
        one.id for one in items
    ]
    assert asked(desk) == before, "the replies are in the ledger"


def test_a_command_writes_and_rules_check(desk: Path) -> None:
    items = synthesize(f"writer=command:python {desk}.py", "offline")
    assert len(items) == 4
    assert {one.provenance["generator"] for one in items} == {f"writer (python {desk}.py)"}


def test_one_system_for_both_is_refused_whatever_it_is_called(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert synthesize(f"one={desk}:write", f"two={desk}:write", code=2) == []
    assert "--same-model" in capsys.readouterr().err
    assert not asked(desk)


def test_a_plan_asks_no_system(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    synthesize(f"{desk}:write", f"{desk}:check", "--dry-run")
    assert "6 drafts: 6 calls for sure" in capsys.readouterr().out
    assert not asked(desk)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("broken", "RuntimeError: the model is on holiday"),
        ("refuses", "declined"),
        ("junk", "Wanted: a JSON object with query"),
    ],
)
def test_a_generator_that_fails_or_refuses_is_told_in_a_sentence(
    desk: Path, function: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert synthesize(f"{desk}:{function}", "offline", code=3) == []
    lines = Path("golden/rejected.jsonl").read_bytes().splitlines()
    records = [orjson.loads(line) for line in lines]
    assert {one["why"] for one in records} == {"not-written"}
    assert any(words in one["detail"] for one in records)
    told = " ".join(capsys.readouterr().err.split())
    assert "6 drafts, not-written: the generator" in told and words in told
    assert "--seed" not in told, "another seed changes nothing"
    assert ("--style-guide" if function == "refuses" else "--retry-failed") in told


def test_a_refusal_in_plain_text_is_no_unanswerable_query(desk: Path) -> None:
    mix = ("--mix", "answerability=unanswerable")
    assert synthesize(f"{desk}:refuses", f"{desk}:check", *mix, code=3) == []
    lines = Path("golden/rejected.jsonl").read_bytes().splitlines()
    assert {(one["why"], one["detail"]) for one in map(orjson.loads, lines)} == {
        ("not-written", "the generator declined: I'm sorry, I cannot help with that.")
    }
    assert "| not-written | 6 | 100% |" in Path("golden/scorecard.md").read_text()


@pytest.mark.parametrize(
    ("generator", "words"),
    [
        ("no_such_module:write", "no module"),
        ("command:no-such-program", "no program"),
        ("gone.yaml", "gone.yaml"),
        ("openai:gpt-4o,own:write", "a panel has judges only"),
        ("opnai:gpt-4o", "openai"),
    ],
)
def test_a_word_that_names_nothing_is_told(
    desk: Path, generator: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    del desk
    assert synthesize(generator, "offline", code=2) == []
    assert words in " ".join(capsys.readouterr().err.split())


TOOL = """
import hashlib
from mcp.server.mcpserver import MCPServer

app = MCPServer("mine")

@app.tool()
def write(prompt: str) -> str:
    assert "You write queries" in prompt
    return f"Who has the token {hashlib.md5(prompt.encode()).hexdigest()}?"

app.run()
"""


def test_a_tool_of_an_mcp_server_writes_queries(desk: Path) -> None:
    pytest.importorskip("mcp", reason="needs the extra 'mcp'")
    del desk
    Path("server.py").write_text(TOOL, encoding="utf-8")
    items = synthesize("mcp:python server.py#write", "offline", "--no-answers")
    assert len(items) == 4 and all(one.query.startswith("Who has the token") for one in items)
