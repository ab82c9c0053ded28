"""UltraRAG's tools, by their names, with their arguments and their results."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragassay.compat import ultrarag
from ragassay.mcp.allowed_folders import AllowedFolders
from ragassay.mcp.pipeline_server import evaluation_server

_EVALUATIONS: Mapping[Callable[..., Any], Sequence[str]] = {
    ultrarag.evaluate: (),
    ultrarag.evaluate_trec: ("run_path", "qrels_path"),
    ultrarag.evaluate_trec_pvalue: ("run_new_path", "run_old_path", "qrels_path"),
}
"""Functions that are tools as they stand, each with the arguments that name a file to read."""


def ultrarag_tools(folders: AllowedFolders) -> list[Callable[..., Any]]:
    """The tools as functions that reach only the files of these folders."""

    def get_data(benchmark: dict[str, Any]) -> dict[str, Any]:
        """Read columns of a JSONL, JSON or Parquet file; row N is the same record in every column.

        Args:
            benchmark: path (the file), key_map (for each column its field, such as {"q_ls":
                "question", "gt_ls": "golden_answers"}), limit (-1: all), shuffle, seed.
        """
        path = benchmark.get("path")
        if isinstance(path, str):  # else the call says what is missing
            benchmark = {**benchmark, "path": str(folders.existing(path, "benchmark.path"))}
        return ultrarag.get_data(benchmark)

    def build(parameter_file: str) -> str:
        """Write server.yaml beside a parameter.yaml, for UltraRAG's runner: what each tool of the
        evaluation takes and gives.

        Args:
            parameter_file: The parameter.yaml.
        """
        path = folders.existing(parameter_file, "parameter_file")
        folders.writable(str(path.with_name("server.yaml")), "parameter_file")
        program = path.parent / "src" / f"{path.parent.name}.py"
        return str(evaluation_server(str(program)).write_flows(path))

    evaluations = [_within(folders, *row) for row in _EVALUATIONS.items()]
    return [*evaluations, get_data, build]


def _within(
    folders: AllowedFolders, function: Callable[..., Any], reads: Sequence[str]
) -> Callable[..., Any]:
    """A function with the paths that it reads, and writes (``save_path``), inside of folders."""

    @functools.wraps(function)
    def tool(**arguments: Any) -> Any:
        for name in reads:
            arguments[name] = str(folders.existing(arguments[name], name))
        if path := arguments.get("save_path"):
            arguments["save_path"] = str(folders.writable(path, "save_path"))
        return function(**arguments)

    # An agent reads what the tool takes and gives, and no errors and sources.
    tool.__doc__ = inspect.cleandoc(function.__doc__ or "").partition("\nRaises:")[0]
    return tool
