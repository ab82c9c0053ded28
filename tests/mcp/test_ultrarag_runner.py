"""UltraRAG's runner, as it talks to a server: ours stands in for its server of evaluations."""

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ragassay.compat.ultrarag.pipeline_tools import FLOWS, PARAMETERS

mcp = pytest.importorskip("mcp", reason="needs the extra 'mcp'")

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "ultrarag" / "evaluation"


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


@pytest.fixture
def evaluation(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "evaluation"))


def test_short_answers(evaluation: Path, tmp_path: Path) -> None:
    saved = tmp_path / "output" / "x.json"
    variables = {
        "pred_ls": ["December 14, 1973", "It was December 1972, i.e. 14 December 1972 UTC"],
        "gt_ls": [["14 December 1972 UTC", "December 1972"]] * 2,
    }
    found = run_step(evaluation, "evaluate", variables, {"save_path": str(saved)})["eval_res"]
    assert found["f1"] == pytest.approx([4 / 7, 4 / 7])
    assert found["avg_acc"] == 0.5
    assert found["rouge-l"] == pytest.approx([0.4, 4 / 7])
    assert json.loads(saved.read_text()) == found


def test_an_error_is_the_tools_own_sentence(evaluation: Path) -> None:
    said = run_step(evaluation, "evaluate", {"pred_ls": ["a"], "gt_ls": ["Paris"]}, {})
    assert said.endswith("gt_ls.0: must be a valid list, not 'Paris'.")


def test_flows_and_parameters_are_the_published_ones(evaluation: Path) -> None:
    assert yaml.safe_load((FOLDER / "parameter.yaml").read_text()) == PARAMETERS["evaluation"]
    run_step(evaluation, "evaluate", {"pred_ls": ["a"], "gt_ls": [["a"]]}, {"save_path": ""})
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
