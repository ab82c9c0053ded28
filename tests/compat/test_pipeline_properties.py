"""What holds for every way of rows through a branch."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ragassay.compat.ultrarag import pipeline_file
from ragassay.compat.ultrarag.binding import Binder
from ragassay.compat.ultrarag.pipeline_run import KeptSteps, StepError, StepRunner
from ragassay.compat.ultrarag.pipeline_tools import Flow, Progress, Tool


class Rows:
    """A server whose tools are functions of rows."""

    def __init__(self, items: list[Any], states: list[str]) -> None:
        self._routed = [
            {"data": item, "state": state} for item, state in zip(items, states, strict=True)
        ]
        self.parameters: Mapping[str, Any] = {}
        flows = {
            "route": "->rows",
            **{f"mark_{state}": "rows->marked" for state in "ab"},
            "lose": "rows->marked",
        }
        self.tools: Mapping[str, Tool] = {
            name: Tool(name, Flow.declared(flow, ["rows"], ())) for name, flow in flows.items()
        }

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], progress: Progress
    ) -> Mapping[str, Any]:
        del progress
        if tool.name == "route":
            return {"rows": list(self._routed)}
        rows = arguments["rows"]
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


def test_a_state_without_a_branch_names_its_row() -> None:
    with pytest.raises(
        StepError, match=r"p\.yaml, line 3: step 1 \(branch\): the router gives row 1 \(counted "
        r"from 0\) the state 'd', and 'branches' has: a, b, c\.",
    ):  # fmt: skip
        run(BRANCH % "mark_b", Rows([1, 2], ["a", "d"]))


def test_a_router_without_states_is_refused() -> None:
    steps = "- s.route\n- branch: {router: [s.mark_a], branches: {a: []}}\n"
    with pytest.raises(StepError, match="no step of the router gives a list of items with 'data'"):
        run(steps, Rows([1], ["a"]))
