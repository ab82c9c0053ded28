"""The tools of ``ragassay mcp``, by the official client: a session over both transports, that of
docs/mcp.md (``--approve`` records it anew), the rest in this process; and UltraRAG's runner, as it
talks to a server: ours stands in for its server of evaluations."""

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml

mcp = pytest.importorskip("mcp", reason="needs the extra 'mcp'")

from llm_server import LLMServer
from ragassay.compat.ultrarag.pipeline_tools import FLOWS, PARAMETERS
from ragassay.mcp.mcp_server import McpOptions, create_server

ROOT = Path(__file__).resolve().parents[2]
TOWN = ROOT / "src" / "ragassay" / "examples" / "town"
NAMES = {
    *("evaluate", "evaluate_trec", "evaluate_trec_pvalue", "get_data", "build"),
    *("list_metrics", "validate_file", "run_suite", "explain_score", "compare_runs"),
}
R = TypeVar("R")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the tools may use."""
    made = tmp_path_factory.mktemp("evaluations")
    for name in ("hybrid.jsonl", "keyword.jsonl"):
        (made / name).write_bytes((TOWN / name).read_bytes())
    return made


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as made:
        return int(made.getsockname()[1])


@pytest.fixture(scope="module")
def url(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service that offers the tools."""
    pytest.importorskip("fastapi", reason="needs the extra 'service'")
    port, store = free_port(), tmp_path_factory.mktemp("store")
    words = ["serve", str(store), "--port", str(port), "--mcp", str(folder), "--no-worker"]
    with subprocess.Popen(
        [sys.executable, "-m", "ragassay", *words], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline(), process.stdout.readline()]
        assert f"Agents use http://127.0.0.1:{port}/mcp." in lines[1], lines
        yield f"http://127.0.0.1:{port}/mcp"
        process.terminate()


@pytest.fixture
def client(folder: Path) -> Callable[[], Any]:
    """Makes a client of a server in this process."""
    return lambda: mcp.Client(create_server(McpOptions((folder,))))


@pytest.fixture(params=["stdio", "http"])
def served(request: pytest.FixtureRequest, folder: Path) -> Callable[[], Any]:
    """Makes a client of a server of its own, by either transport."""
    if request.param == "http":
        address = request.getfixturevalue("url")
        return lambda: mcp.Client(address)
    program = mcp.StdioServerParameters(
        command=sys.executable, args=["-m", "ragassay", "mcp", str(folder)], env=dict(os.environ)
    )
    return lambda: mcp.Client(program)


def used(client: Callable[[], Any], use: Callable[[Any], Awaitable[R]]) -> R:
    async def main() -> R:
        async with client() as connected:
            return await use(connected)

    return asyncio.run(main())


def test_the_tools_are_typed_and_described(served: Callable[[], Any]) -> None:
    async def use(connected: Any) -> Any:
        return (await connected.list_tools()).tools

    tools = {tool.name: tool for tool in used(served, use)}
    assert set(tools) == NAMES
    for name, tool in tools.items():
        assert tool.output_schema and "Raises:" not in tool.description, name
        assert tool.input_schema["additionalProperties"] is False, name
        chosen_by_a_person = {"judge", "budget", "base_url"}
        assert not chosen_by_a_person & set(tool.input_schema["properties"]), name
        assert all(f"{one}:" in tool.description for one in tool.input_schema["properties"]), name
    arguments = list(tools["evaluate_trec_pvalue"].input_schema["properties"])
    assert arguments[:3] == ["run_new_path", "run_old_path", "qrels_path"]
    assert arguments[3:] == ["metrics", "ks", "n_resamples", "save_path"]


def test_ultrarags_tool_gives_one_text_with_a_json_object(client: Callable[[], Any]) -> None:
    golds = [["14 December 1972 UTC", "December 1972"]]

    async def use(connected: Any) -> Any:
        arguments = {"pred_ls": ["December 1972"], "gt_ls": golds, "metrics": ["acc", "stringem"]}
        return await connected.call_tool("evaluate", arguments)

    result = used(client, use)
    [content] = result.content
    expected = {"acc": [1.0], "avg_acc": 1.0, "stringem": [0.5], "avg_stringem": 0.5}
    assert json.loads(content.text) == {"eval_res": expected} == result.structured_content


def test_files_outside_are_refused(client: Callable[[], Any], folder: Path) -> None:
    outside = folder.parent / "secret.jsonl"
    outside.write_text('{"question": "q", "answer": "a"}\n')
    link, inner = folder / "link.jsonl", folder / "deep"
    (folder / "b.run").write_text("q Q0 d 1 1.0 tag\n")
    inner.mkdir(exist_ok=True)
    for at in (link, inner / "away.jsonl"):
        at.unlink(missing_ok=True)
        at.symlink_to(outside)
    asked: list[tuple[str, dict[str, Any]]] = []
    for path in (str(outside), "../secret.jsonl", "link.jsonl", "/etc/passwd"):
        keys = {"path": path, "key_map": {"q": "question"}}
        asked += [("validate_file", {"data": path}), ("run_suite", {"data": path})]
        asked.append(("get_data", {"benchmark": keys}))
    saved = {"pred_ls": ["a"], "gt_ls": [["a"]], "save_path": "../result.json"}
    asked.append(("evaluate", saved))
    asked.append(("build", {"parameter_file": "../secret.jsonl"}))
    (folder / "built").mkdir(exist_ok=True)
    (folder / "built/parameter.yaml").write_text("{}")
    (folder / "built/server.yaml").symlink_to(outside)
    asked.append(("build", {"parameter_file": "built/parameter.yaml"}))
    of_trec = dict.fromkeys(("run_path", "run_new_path", "run_old_path", "qrels_path"), "b.run")
    for name, paths in (
        ("evaluate_trec", ("run_path", "qrels_path")),
        ("evaluate_trec_pvalue", ("run_new_path", "run_old_path", "qrels_path")),
    ):
        for path in paths:  # one outside, the others within
            inside = {one: of_trec[one] for one in paths}
            asked.append((name, {**inside, path: "../secret.jsonl"}))
    asked.append(("run_suite", {"data": "hybrid.jsonl", "output": "../runs"}))
    asked.append(("validate_file", {"data": "deep"}))

    async def use(connected: Any) -> list[str]:
        results = [await connected.call_tool(name, arguments) for name, arguments in asked]
        assert all(one.is_error for one in results)
        return [str(one.content[0].text) for one in results]

    *outside_ones, through_a_link = used(client, use)
    for (name, arguments), sentence in zip(asked[:-1], outside_ones, strict=True):
        assert "lies outside" in sentence, (name, arguments, sentence)
    assert "leads out of" in through_a_link
    assert not (folder.parent / "result.json").exists()
    (inner / "away.jsonl").unlink()


ERRORS: list[tuple[str, dict[str, Any], str]] = [
    ("evaluate", {"pred_ls": ["a"], "gt_ls": ["Paris"]}, "gt_ls.0: must be a valid list"),
    ("evaluate", {"pred_ls": ["a"], "gt_ls": []}, "gt_ls ends before row 0"),
    ("evaluate_trec", {"run_path": "a.run", "qrels_path": "b"}, "run_path: there is no file"),
    ("validate_file", {"data": "hybrid.jsonl", "suite": ["qaa"]}, "Did you mean 'qa'"),
    ("validate_file", {"file": "x"}, "has no argument 'file'."),
    ("run_suite", {"data": "hybrid.jsonl", "limt": 3}, "no argument 'limt'. Did you mean 'limit'"),
    ("list_metrics", {"suit": "qa"}, "no argument 'suit'. Did you mean 'suite'"),
    ("run_suite", {"data": "hybrid.jsonl", "limit": "few"}, "run_suite: limit: "),
    ("run_suite", {"data": "config.yaml"}, "data: there is no file"),
    *(("run_suite", {"data": f"there.{end}"}, "a YAML file is a configuration")
      for end in ("yml", "YAML")),
    ("explain_score", {"run": "runs"}, "explain_score needs the argument 'sample'. It takes: run"),
    ("build", {"parameter_file": "list.yml"}, "is not a mapping of parameters"),
    ("list_metrics", {"suite": "nothing"}, "nothing"),
    ("explain_score", {"run": "hybrid.jsonl", "sample": "x"}, "hybrid.jsonl"),
    ("compare_runs", {"new": "none", "old": "runs"}, "there is no file 'none'"),
]  # fmt: skip


def test_what_an_agent_and_a_person_choose_reaches_the_run(tmp_path: Path) -> None:
    answers = [("q0", "a", "Ann"), ("q1", "a", "Ann"), ("q0", "b", "Bob")]
    rows: dict[str, list[dict[str, Any]]] = {"answers": [
        {"id": id_, "system": system, "query": "Who?", "reply": text, "references": ["Ann"]}
        for id_, system, text in answers
    ]}  # fmt: skip
    rows["labels"] = [
        {"question": "answer_attempted", "data": {"query": "Who?", "answer": text},
         "answer": {"answered": "no"}}
        for text in ("Ann", "Bob")
    ]  # fmt: skip
    for name, records in rows.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "a.run").write_text("q Q0 d 1 2.0 tag\nq Q0 e 2 1.0 tag\n")
    (tmp_path / "qrels.txt").write_text("q 0 e 1\n")
    chosen = {"judge": [f"replay:{tmp_path / 'labels.jsonl'}"]}
    answers_of = {"data": "answers.jsonl", "columns": {"answer": "reply"}}
    ranked = {"data": "a.run", "qrels": "qrels.txt", "metrics": ["RR"]}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("run_suite", {**answers_of, "metrics": "em,answered", "limit": 2}),
        ("run_suite", {**answers_of, "suite": "qa"}),
        ("explain_score", {"run": "runs/answers-2", "sample": "q0", "metric": "em", "system": "b"}),
        ("explain_score", {"run": "runs/answers", "sample": "q0", "metric": "answered"}),
        ("explain_score", {"run": "runs/answers", "sample": "q0", "full": True}),
        ("validate_file", {**answers_of, "metrics": "em"}), ("validate_file", ranked),
        ("run_suite", {**ranked, "output": "new/trec"}),
        ("run_suite", {**answers_of, "suite": "qa", "limit": 1, "output": "new/few"}),
        ("run_suite", {**answers_of, "suite": "qa", "limit": 2, "output": "new/more"}),
        ("compare_runs", {"new": "new/few", "old": "new/more"}),
        ("compare_runs", {"new": "new/few", "old": "new/more", "metrics": "em,acc"}),
        ("compare_runs", {"new": "new/few", "old": "new/more", "primary": "em,acc"}),
        ("list_metrics", {"search": "RECIPROCAL rank"}),
    ]  # fmt: skip

    told: list[tuple[float, float | None]] = []

    async def progress(done: float, of: float | None, message: str | None) -> None:
        told.append((done, of))

    async def use(connected: Any) -> list[Any]:
        call = partial(connected.call_tool, progress_callback=progress)
        results = [await call(name, arguments) for name, arguments in asked]
        assert not any(one.is_error for one in results), results
        return [one.structured_content for one in results]

    client = mcp.Client(create_server(McpOptions((tmp_path,), chosen)))
    first, second, by_b, short, full, file, trec, of_trec, _, _, compared, *few, found = used(
        lambda: client, use
    )
    assert {(3.0, None), (3.0, 3.0)} <= {*told}
    assert {one["name"]: one["mean"] for one in first["metrics"]} == {"em": 1, "answered": 0}
    assert (first["n_samples"], second["n_samples"], len(second["metrics"])) == (2, 3, 17)
    assert first["run"] == str(tmp_path / "runs/answers"), "a new folder for each"
    assert second["run"] == str(tmp_path / "runs/answers-2")
    assert (by_b["answer"], by_b["scores"][0]["score"]["value"]) == ("Bob", False)
    assert [one["score"]["metric"] for one in short["scores"]] == ["answered"]
    (said,), (more,) = (one["scores"][-1]["judge_answers"] for one in (short, full))
    assert more == {**said, "data": {"query": "Who?", "answer": "Ann"}}
    assert (file["applicable"], trec["applicable"]) == ({"em": 3}, {"RR": 1})
    assert (of_trec["run"], of_trec["metrics"][0]["mean"]) == (str(tmp_path / "new/trec"), 0.5)
    assert "1 query is in more, not in few." in compared["notes"]
    names = [one["name"] for one in compared["differences"]]
    assert len(names) == 8 and "em" not in names, "the headline of the suite"
    assert [{d["name"] for d in one["differences"]} for one in few] == [{"em", "acc"}] * 2
    assert {one["name"] for one in found["metrics"]} >= {"RR"}
    asked[:] = [("validate_file", {**answers_of, "metrics": "answered,bertscore.f"})]
    paid = mcp.Client(create_server(McpOptions((tmp_path,), {"judge": ["openai:gpt-4o"]})))
    file = used(lambda: paid, use)[0]  # needs no key
    assert (file["applicable"]["answered"], [*file["not_here"]]) == (3, ["bertscore.f"])
    asked[:] = [("run_suite", {**answers_of, "metrics": "answered,bertscore.f"})]
    explain = {"run": "runs/answers-3", "sample": "q1"}
    asked += [("explain_score", {**explain, "full": full}) for full in (False, True)]
    with LLMServer() as server:
        judges = {"judge": [f"{server.url}#{name}" for name in "ab"]}
        panel = create_server(McpOptions((tmp_path,), judges))
        scored, *explained = used(lambda: mcp.Client(panel), use)
    (said,), (more,) = (one["scores"][0]["judge_answers"] for one in explained)
    assert not [one for one in (said, *said["votes"]) if {"messages", "reply", "data"} & {*one}]
    assert all(vote["messages"] and vote["reply"] for vote in more["votes"]) and scored["notes"]


def test_an_error_says_what_to_do(client: Callable[[], Any], folder: Path) -> None:
    for name in ("there.yml", "there.YAML"):
        (folder / name).write_text("data: /etc/passwd\n")
    (folder / "list.yml").write_text("- a\n")

    async def use(connected: Any) -> list[Any]:
        return [await connected.call_tool(name, arguments) for name, arguments, _ in ERRORS]

    for result, (name, arguments, complaint) in zip(used(client, use), ERRORS, strict=True):
        assert result.is_error, (name, arguments)
        [content] = result.content
        assert complaint in str(content.text), (name, arguments)


PAGE = ROOT / "docs" / "mcp.md"
BEGIN, END = "<!-- session -->\n", "<!-- end -->"
METRICS = ["contains_answer", "token_f1.f"]
SESSION: list[tuple[str, dict[str, Any]]] = [
    ("list_metrics", {"suite": "qa", "search": "contains"}),
    ("validate_file", {"data": "hybrid.jsonl", "metrics": METRICS}),
    ("run_suite", {"data": "hybrid.jsonl", "metrics": METRICS}),
    ("run_suite", {"data": "keyword.jsonl", "metrics": METRICS}),
    ("compare_runs", {"new": "runs/hybrid", "old": "runs/keyword"}),
    ("explain_score",
     {"run": "runs/hybrid", "sample": "library-items-at-once", "metric": "token_f1.f"}),
]  # fmt: skip
MOST_ITEMS, MOST_TEXT = 2, 90


def short(value: Any) -> Any:
    """The value with long lists and texts cut."""
    if isinstance(value, dict):
        return {key: short(one) for key, one in value.items()}
    if isinstance(value, list):
        more = [f"... {len(value) - MOST_ITEMS} more"] if len(value) > MOST_ITEMS else []
        return [*map(short, value[:MOST_ITEMS]), *more]
    if isinstance(value, str) and len(value) > MOST_TEXT:
        return f"{value[:MOST_TEXT]}..."
    return round(value, 4) if isinstance(value, float) else value


def lines(body: dict[str, Any]) -> str:
    """JSON with a line a key, and a line an item of a list."""
    made = []
    for key, value in body.items():
        text = json.dumps(value, ensure_ascii=False)
        if isinstance(value, list) and value:
            items = ",\n".join(f"  {json.dumps(one, ensure_ascii=False)}" for one in value)
            text = f"[\n{items}\n ]"
        made.append(f' "{key}": {text}')
    return "{\n" + ",\n".join(made) + "\n}"


def test_the_page_records_a_session_over_either_transport(served, folder, request) -> None:
    shutil.rmtree(folder / "runs", ignore_errors=True)

    async def use(client: Any) -> list[str]:
        said = []
        for name, arguments in SESSION:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, result.content
            plain = json.dumps(result.structured_content).replace(str(folder), "evaluations")
            answer = lines(short(json.loads(plain)))
            said.append(f"`{name}` {json.dumps(arguments)}\n\n```json\n{answer}\n```\n")
        return said

    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    after, session = rest[rest.index(END) :], "\n".join(used(served, use))
    made = f"{before}{BEGIN}\n{session}\n{after}"
    assert (folder / "runs/hybrid/report.html").is_file()
    if request.config.getoption("--approve"):
        PAGE.write_text(made, encoding="utf-8")
        return
    assert made == page, "run pytest tests/mcp/test_mcp_tools.py --approve"


EVALUATION = ROOT / "examples" / "ultrarag" / "evaluation"


def run_step(folder: Path, step: str, variables: dict[str, Any], changes: dict[str, Any]) -> Any:
    """What the runner does with a pipeline of one step: it starts the server, calls ``build``,
    reads ``server.yaml``, fills the arguments, and reads the one text of the result."""
    program = folder / "src" / f"{folder.name}.py"
    parameter_file = folder / "parameter.yaml"

    async def main() -> Any:
        parameters = mcp.StdioServerParameters(
            command=sys.executable, args=[str(program)], env=dict(os.environ)
        )
        async with mcp.Client(parameters, mode="legacy") as client:
            built = await client.call_tool("build", {"parameter_file": str(parameter_file)})
            assert not built.is_error, built.content
            server = yaml.safe_load((folder / "server.yaml").read_text())
            assert Path(server["path"]) == program
            assert server["parameter"] == str(parameter_file)
            assert server["prompts"] == {}
            entry = server["tools"][step]
            values = yaml.safe_load(parameter_file.read_text()) | changes
            arguments = {
                argument: values[name[1:]] if name.startswith("$") else variables[name]
                for argument, name in entry["input"].items()
            }
            result = await client.call_tool(step, arguments)
            [content] = result.content
            if result.is_error:
                return content.text
            given = json.loads(content.text)
            assert set(given) == set(entry["output"])
            return given

    return asyncio.run(main())


def test_ultrarags_runner_gets_values_sentences_and_the_published_flows(tmp_path: Path) -> None:
    evaluation, saved = Path(shutil.copytree(EVALUATION, tmp_path / "evaluation")), tmp_path / "x/y"
    variables = {
        "pred_ls": ["December 14, 1973", "It was December 1972, i.e. 14 December 1972 UTC"],
        "gt_ls": [["14 December 1972 UTC", "December 1972"]] * 2,
    }
    found = run_step(evaluation, "evaluate", variables, {"save_path": str(saved)})["eval_res"]
    assert found["f1"] == pytest.approx([4 / 7, 4 / 7])
    assert found["avg_acc"] == 0.5
    assert found["rouge-l"] == pytest.approx([0.4, 4 / 7])
    assert json.loads(saved.read_text()) == found
    said = run_step(evaluation, "evaluate", {"pred_ls": ["a"], "gt_ls": ["Paris"]}, {})
    assert said.endswith("gt_ls.0: must be a valid list, not 'Paris'.")
    assert yaml.safe_load((EVALUATION / "parameter.yaml").read_text()) == PARAMETERS["evaluation"]
    tools = yaml.safe_load((evaluation / "server.yaml").read_text())["tools"]
    assert set(tools) == set(FLOWS["evaluation"])
    assert tools["evaluate"]["input"] == {
        "pred_ls": "pred_ls", "gt_ls": "gt_ls", "metrics": "$metrics", "save_path": "$save_path",
    }  # fmt: skip
    assert tools["evaluate_trec"]["input"] == {
        "run_path": "$run_path", "qrels_path": "$qrels_path", "metrics": "$ir_metrics",
        "ks": "$ks", "save_path": "$save_path",
    }  # fmt: skip
    assert tools["evaluate_trec_pvalue"]["output"] == ["eval_res"]
