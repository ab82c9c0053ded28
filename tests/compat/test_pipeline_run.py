"""Pipelines of several servers: renaming, loops, branches, going on from a step."""

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from pipeline_servers import server_folder
from ragassay.base.errors import RagassayError
from ragassay.cli import show
from ragassay.compat.ultrarag import mcp_servers, pipeline_file, pipelines
from ragassay.compat.ultrarag.binding import Binder
from ragassay.compat.ultrarag.pipeline_run import KeptSteps, StepError, StepRunner
from ragassay.compat.ultrarag.pipeline_tools import Flow, Progress, Tool

pytest.importorskip("mcp", reason="needs the extra 'mcp'")

WORDS = """
calls = []

@app.tool(output="text->word_ls")
def split(text: str) -> dict:
    return {"word_ls": text.split()}

@app.tool(output="word_ls,suffix->word_ls")
def extend(word_ls: list[str], suffix: str) -> dict:
    return {"word_ls": [word + suffix for word in word_ls]}

@app.tool(output="word_ls->length_ls")
def measure(word_ls: list[str]) -> dict:
    return {"length_ls": [len(word) for word in word_ls]}

@app.tool(output="word_ls->word_ls")
def by_length(word_ls: list[str]) -> dict:
    return {"word_ls": [
        {"data": word, "state": "short" if len(word) < 4 else "long"} for word in word_ls
    ]}

@app.tool(output="word_ls->loud_ls")
def shout(word_ls: list[str]) -> dict:
    return {"loud_ls": [word.upper() for word in word_ls]}

@app.tool(output="suffix->None")
def remember(suffix: str) -> None:
    calls.append(suffix)

@app.tool(output="->remembered")
def recall() -> dict:
    return {"remembered": calls}
"""
PARAMETERS = "text: a bb three\nsuffix: '!'\n"


class Told:
    """Notes which steps ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.said: list[str] = []

    def begins(self, number: int, of: int, name: str) -> None:
        self.ran.append(f"{number}/{of} {name}")

    def says(self, sentence: str) -> None:
        self.said.append(sentence)

    def ended(self, number: int, of: int, name: str, seconds: float, given: Any) -> None:
        assert self.ran[-1] == f"{number}/{of} {name}"


@pytest.fixture
def words(here: Path) -> Path:
    """A working directory with a server of words."""
    server_folder(here / "servers" / "words", WORDS, PARAMETERS)
    return here


def pipeline(folder: Path, steps: str, servers: str = "words: servers/words") -> Path:
    path = folder / "made.yaml"
    path.write_text(f"servers:\n  {servers}\npipeline:\n{steps}", encoding="utf-8")
    return path


def test_results_become_variables_and_parameters_come_from_the_file(words: Path) -> None:
    path = pipeline(words, "- words.split\n- words.extend\n- words.measure\n")
    assert pipelines.build(path).is_new
    file = words / "parameters" / "made_parameter.yaml"
    assert file.read_text().split() == ["words:", "suffix:", "'!'", "text:", "a", "bb", "three"]
    file.write_text("words:\n  text: one two\n  suffix: '??'\n")
    done = pipelines.run(path, pipelines.Options(folder=words / "mine"), told := Told())
    assert done.variables == {"word_ls": ["one??", "two??"], "length_ls": [5, 5]}
    assert told.ran == ["1/3 words.split", "2/3 words.extend", "3/3 words.measure"]
    assert done.folder == words / "mine" and len([*done.folder.glob("*words.*.json")]) == 3


def test_inputs_and_outputs_are_renamed(words: Path) -> None:
    path = pipeline(
        words,
        "- words.split:\n    output: {word_ls: first}\n"
        "- words.extend:\n    input: {word_ls: first, suffix: $text}\n"
        "    output: {word_ls: second}\n"
        "- words.measure:\n    input: {word_ls: second}\n",
    )
    assert pipelines.run(path).variables == {
        "first": ["a", "bb", "three"], "second": ["aa bb three", "bba bb three", "threea bb three"],
        "length_ls": [11, 12, 15],
    }  # fmt: skip


def test_a_loop_of_branches_ends_rows_one_by_one(words: Path) -> None:
    path = pipeline(
        words,
        "- words.split\n- loop:\n    times: 5\n    steps:\n    - branch:\n        router:\n"
        "        - words.by_length\n        branches:\n          short:\n          - words.extend\n"
        "          long: []\n",
    )
    assert pipelines.run(path).variables == {"word_ls": ["a!!!", "bb!!", "three"]}


def test_a_run_goes_on_from_a_step_with_what_was_kept(words: Path) -> None:
    path = pipeline(words, "- words.split\n- words.extend\n- words.measure\n")
    pipelines.build(path)
    whole = pipelines.run(path)
    assert whole.folder == Path("output/made_steps")
    file = words / "parameters" / "made_parameter.yaml"
    told = Told()
    again = pipelines.run(path, pipelines.Options(begin="words.measure"), told)
    assert again.variables == whole.variables and told.ran == ["3/3 words.measure"]
    file.write_text(file.read_text().replace("'!'", "'+'"))
    with pytest.raises(RagassayError) as error:
        pipelines.run(path, pipelines.Options(begin="3"))
    assert str(error.value) == (
        "The step 2 (words.extend) was kept with other parameters than it has now. Run the "
        "pipeline without --from, or with --from 2."
    )
    assert (whole.folder / "03_words.measure.json").is_file(), "what is refused deletes nothing"
    changed = pipelines.run(path, pipelines.Options(begin="2"))
    assert changed.variables["word_ls"] == ["a+", "bb+", "three+"]


def test_what_steps_save_is_no_file_they_were_read_from(here) -> None:
    """Both steps write one file; UltraRAG's own folder of parameters is read, too."""
    servers = "benchmark: servers/benchmark\n  evaluation: servers/evaluation"
    again = "- evaluation.evaluate: {output: {eval_res: again}}\n"
    path = pipeline(here, f"- benchmark.get_data\n- evaluation.evaluate\n{again}", servers)
    (here / "parameter").mkdir()
    (here / "parameter" / "made_parameter.yaml").write_text(
        "benchmark:\n  benchmark: {path: a.jsonl, key_map: {pred_ls: said, gt_ls: gold}}\n"
        "evaluation: {metrics: [em], save_path: out.json}\n"
    )
    (here / "a.jsonl").write_text('{"said": "a", "gold": ["a"]}\n')
    whole = pipelines.run(path).variables
    assert whole["again"] == whole["eval_res"] == {"em": [1.0], "avg_em": 1.0}
    assert pipelines.run(path, pipelines.Options(begin="3")).variables == whole


def test_a_folder_is_looked_for_where_one_works_then_beside_the_file(words, monkeypatch) -> None:
    path = pipeline(words, "- words.split\n")
    (words / "work").mkdir()
    monkeypatch.chdir(words / "work")
    made = pipeline_file.read(path)
    assert mcp_servers.address(made, "words").folder == words / "servers" / "words"
    server_folder(words / "work" / "servers" / "words", WORDS)
    assert mcp_servers.address(made, "words").folder == Path("servers/words")
    (Path("servers/words") / "parameter.yaml").write_text("path: https://there/mcp\n")
    far = mcp_servers.address(made, "words")
    assert (far.kind, far.where) == ("url", "https://there/mcp")


def test_a_file_that_is_missing_is_told_with_its_parameter(words: Path) -> None:
    path = pipeline(words, "- evaluation.evaluate_trec\n", "evaluation: servers/evaluation")
    with pytest.raises(RagassayError, match=r"evaluation\.run_path: data/run_a\.txt: there is no"):
        pipelines.run(path)


def test_a_dry_run_lists_what_the_tools_of_each_step_take_and_give(words: Path) -> None:
    path = pipeline(
        words,
        "- words.split\n- loop:\n    times: 2\n    steps:\n    - words.extend\n"
        "- branch:\n    router:\n    - more.by_length\n    branches:\n      long: []\n"
        "      short:\n      - words.shout\n",
        "{words: servers/words, more: servers/words, gone: nowhere}",
    )
    assert pipelines.steps(path) == [
        "1 words.split: text -> word_ls", "2 words.extend: suffix, word_ls -> word_ls",
        "3 more.by_length: word_ls -> word_ls", "3 words.shout: word_ls -> loud_ls",
    ]  # fmt: skip


@pytest.mark.parametrize("step", [
    "words.remember", "loop: {times: 2, steps: [words.extend, words.remember]}",
])  # fmt: skip
@pytest.mark.parametrize(("asked", "again"), [("words", True), ("more", False)])
def test_what_only_changed_a_server_is_done_again_for_later(words, asked, again, step) -> None:
    steps = f"- words.split\n- {step}\n- {asked}.recall\n"
    path = pipeline(words, steps, "{words: servers/words, more: servers/words}")
    whole, name = pipelines.run(path).variables, step.split(":")[0]
    assert whole["remembered"] == ["!"] * again * (1 + (name == "loop"))
    for told in (Told(), Told()):  # what was kept stays
        assert pipelines.run(path, pipelines.Options(begin="3"), told).variables == whole
        assert told.ran == [f"2/3 {name}"] * again + [f"3/3 {asked}.recall"]


PLAIN = """
from mcp.server.mcpserver import Context, MCPServer
server = MCPServer("plain")

@server.tool()
async def add(first: list[int], second: int, context: Context) -> dict[str, list[int]]:
    "Adds."
    await context.report_progress(3)
    await context.report_progress(1, 2, "half")
    return {"sum_ls": [one + second for one in first]}

@server.prompt()
def greet(names: str) -> list[str]:
    "Greets."
    import json
    return [f"Hello {name}" for name in json.loads(names)]

@server.tool()
def build(parameter_file: str) -> str:
    import pathlib, yaml
    entry = {"input": {"names": "name_ls"}, "output": ["greeting_ls"]}
    tools = {
        "names": {"input": {}, "output": ["name_ls"]},
        "add": {"input": {"first": "$first", "second": "$second"}, "output": ["sum_ls"]},
    }
    path = pathlib.Path(parameter_file).with_name("server.yaml")
    path.write_text(yaml.safe_dump({"tools": tools, "prompts": {"greet": entry}}))
    return "done"

@server.tool()
def names() -> dict[str, list[str]]:
    return {"name_ls": ["Ann", "Bo"]}

server.run("stdio")
"""


@pytest.mark.parametrize("where", ["begins", "says"])
def test_an_interrupt_is_told_once(where, words, caplog, monkeypatch) -> None:
    """A signal reaches whatever runs: a step, or the task that reads a server's progress."""

    class Interrupted(Told):
        def begins(self, number: int, of: int, name: str) -> None:
            super().begins(number, of, name)
            if where == "begins":
                signal.raise_signal(signal.SIGTERM)

        def says(self, sentence: str) -> None:
            if where == "says":
                signal.raise_signal(signal.SIGTERM)

    folder = server_folder(words / "servers" / "greeter", "", "first: [1]\nsecond: 2\n")
    (folder / "src" / "greeter.py").write_text(PLAIN)
    path = pipeline(words, "- greeter.add\n", "greeter: servers/greeter")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    told = Told()
    assert pipelines.run(path, observer=told).variables == {"sum_ls": [3]}
    assert told.said == ["1 of 2 half"]
    path = pipeline(words, "- greeter.add\n- greeter.add\n", "greeter: servers/greeter")
    with show.remembered(), pytest.raises(KeyboardInterrupt):
        pipelines.run(path, observer=Interrupted())
    gc.collect()  # asyncio tells of an exception that nobody took when its task is freed
    assert caplog.records == []


def test_a_signal_that_is_ignored_ends_no_pipeline(words: Path) -> None:
    class Hangup(Told):
        def begins(self, number: int, of: int, name: str) -> None:
            super().begins(number, of, name)
            signal.raise_signal(signal.SIGINT)

    path = pipeline(words, "- words.split\n- words.measure\n")
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert pipelines.run(path, observer=Hangup()).variables["length_ls"] == [1, 2, 5]
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_prompt_of_a_server_folder_gives_its_messages(words: Path) -> None:
    folder = server_folder(words / "servers" / "greeter", "")
    (folder / "src" / "greeter.py").write_text(PLAIN)
    program = words / ".venv" / "bin" / "python"  # of the environment above the folder
    interpreter(program, words / "started")
    path = pipeline(words, "- greeter.names\n- greeter.greet\n", "greeter: servers/greeter")
    assert pipelines.run(path).variables["greeting_ls"] == ["Hello Ann", "Hello Bo"]
    assert sorted(one.name for one in folder.iterdir()) == ["parameter.yaml", "src"]
    assert (words / "started").is_file()


def interpreter(program: Path, started: Path) -> Path:
    """A program that is the interpreter of these tests, and says that it was started."""
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\ntouch "{started}"\nexec "{sys.executable}" "$@"\n')
    program.chmod(0o755)
    return program


def test_the_interpreter_of_a_folder_is_the_one_on_the_path_or_ours(words, monkeypatch) -> None:
    folder = server_folder(words / "servers" / "greeter", "")
    (folder / "src" / "greeter.py").write_text(PLAIN)
    on_path = interpreter(words / "bin" / "python", words / "started")
    monkeypatch.setenv("PATH", f"{on_path.parent}:{os.environ['PATH']}")
    pipelines.run(pipeline(words, "- greeter.names\n", "greeter: servers/greeter"))
    (words / "started").unlink()
    # A server that is written with ragassay needs the interpreter that has it.
    pipelines.run(pipeline(words, "- words.split\n"))
    assert not (words / "started").exists()


def test_a_memory_holds_all_values_of_a_variable_so_far(words: Path) -> None:
    more = """
@app.tool(output="memory_word_ls,mem_length_ls->seen")
def look(words: list, lengths: list) -> dict:
    return {"seen": [words, lengths]}
"""
    server_folder(words / "servers" / "more", WORDS + more, PARAMETERS)
    steps = "- more.look\n- more.split\n- loop:\n    times: 2\n    steps:\n    - more.extend\n"
    path = pipeline(words, steps + "- more.look:\n    output: {seen: then}\n", "more: servers/more")
    found = pipelines.run(path).variables
    first = ["a", "bb", "three"]
    grown = [[f"{one}{end}" for one in first] for end in ("", "!", "!!")]
    assert found["seen"] == [[], []] and found["then"] == [grown, []]
    assert pipelines.run(path, pipelines.Options(begin="4")).variables["then"] == [grown, []]


def test_a_folder_may_hold_nothing_but_the_address_of_its_server(words: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    folder = words / "servers" / "far"
    folder.mkdir()
    (folder / "parameter.yaml").write_text(f"path: http://127.0.0.1:{port}/mcp\n")
    program = words / "far.py"
    program.write_text(PLAIN.replace('"stdio"', f'"streamable-http", port={port}'))
    path = pipeline(words, "- far.names\n- far.greet\n", "far: servers/far")
    with subprocess.Popen([sys.executable, program], stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(600):
                with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.1)
            assert pipelines.run(path).variables["greeting_ls"] == ["Hello Ann", "Hello Bo"]
        finally:
            server.terminate()


class Rows:
    """A server whose tools are functions of rows."""

    def __init__(self, items: list[Any], states: list[str]) -> None:
        self._routed = [
            {"data": item, "state": state} for item, state in zip(items, states, strict=True)
        ]
        self.parameters: Mapping[str, Any] = {}
        flows = dict.fromkeys(("mark_a", "mark_b", "lose", "count"), "rows->marked")
        flows |= dict.fromkeys(("route", "turned"), "->rows")
        self.tools: Mapping[str, Tool] = {
            name: Tool(name, Flow.declared(flow, ["rows"], ())) for name, flow in flows.items()
        }

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], progress: Progress
    ) -> Mapping[str, Any]:
        del progress
        if tool.name == "route":
            return {"rows": list(self._routed)}
        if tool.name == "turned":
            return {"rows": self._routed[::-1]}
        rows = arguments["rows"]
        if tool.name == "count":
            return {"marked": len(rows)}
        if tool.name == "lose":
            return {"marked": rows[1:]}
        return {"marked": [f"{tool.name}:{row}" for row in rows]}

    def outputs(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        del arguments
        return tool.flow.outputs


def run(steps: str, server: Rows) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "p.yaml"
        file.write_text(f"servers: {{s: s}}\npipeline:\n{steps}")
        pipeline = pipeline_file.read(file)
        started = {"s": server}
        bound = Binder(pipeline, started).bind()
        kept = KeptSteps(Path(folder) / "kept", pipeline, bound)
        return asyncio.run(StepRunner(pipeline, bound, started, kept).run(1))


BRANCH = "- branch: {router: [s.route], branches: {a: [s.mark_a], b: [s.%s], c: []}}\n"
ints = st.integers(-(2**60), 2**60)
routed = st.lists(st.tuples(ints, st.sampled_from("abc")), min_size=1, max_size=12)


@settings(max_examples=25)
@given(routed)
def test_rows_of_a_branch_meet_again_in_their_order(rows: list[tuple[int, str]]) -> None:
    items, states = [item for item, _ in rows], [state for _, state in rows]
    variables = run(BRANCH % "mark_b", Rows(items, states))
    assert variables["rows"] == items
    marked = [None if state == "c" else f"mark_{state}:{item}" for item, state in rows]
    assert variables.get("marked", [None] * len(rows)) == marked


@settings(max_examples=25)
@given(routed)
def test_a_branch_that_loses_a_row_is_refused(rows: list[tuple[int, str]]) -> None:
    states = [state for _, state in rows]
    server = Rows([item for item, _ in rows], states)
    if "b" not in states:
        run(BRANCH % "lose", server)
        return
    n = states.count("b")
    with pytest.raises(
        StepError, match=rf"state 'b' have {n} rows? .* and give {n - 1} items? for"
    ):
        run(BRANCH % "lose", server)


def test_what_one_branch_gives_only_later_steps_have(tmp_path: Path) -> None:
    given = "a: [s.mark_a], b: [{s.mark_b: {input: {rows: %s}, output: {marked: b}}}]"
    for taken, missing in (("rows", []), ("marked", ["marked"])):
        steps = f"- branch: {{router: [s.route], branches: {{{given % taken}}}}}\n"
        path = pipeline(tmp_path, f"{steps}- s.lose: {{input: {{rows: marked}}}}\n", "s: s")
        bound = Binder(pipeline_file.read(path), {"s": Rows([], [])}).bind()
        assert [variable for _, variable in bound.missing] == missing


def test_a_state_without_a_branch_names_its_row() -> None:
    with pytest.raises(
        StepError, match=r"p\.yaml, line 3: step 1 \(branch\): the router gives row 1 \(counted "
        r"from 0\) the state 'd', and 'branches' has: a, b, c\.",
    ):  # fmt: skip
        run(BRANCH % "mark_b", Rows([1, 2], ["a", "d"]))


def test_states_are_texts_and_those_of_two_lists_agree() -> None:
    steps = "- branch: {router: [%s], branches: {1: [s.mark_a], c: []}}\n"
    assert run(steps % "s.route", Rows([5, 6], [1, "c"]))["marked"] == ["mark_a:5", None]
    again = "s.route, {s.turned: {output: {rows: more}}}"
    with pytest.raises(StepError, match="'more' has other states than another list"):
        run(steps % again, Rows([5, 6], ["1", "c"]))
    single = run("- branch: {router: [s.route], branches: {a: [s.count]}}\n", Rows([5, 6], "aa"))
    assert single["marked"] == 2, "what is no list is no row's"
    steps = "- s.route\n- branch: {router: [s.mark_a], branches: {a: []}}\n"
    with pytest.raises(StepError, match="no step of the router gives a list of items with 'data'"):
        run(steps, Rows([1], ["a"]))
