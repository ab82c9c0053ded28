"""UltraRAG's parameter files: which command of ours computes what they ask for."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any


def command_for(body: Mapping[str, Any]) -> str:
    """A sentence with the commands that do what a parameter file asks for; empty where a file is
    none of UltraRAG's."""
    evaluation = _mapping(body, "evaluation")
    data = _mapping(_mapping(body, "benchmark"), "benchmark")
    commands = [*_trec(evaluation), *_answers(evaluation, data)]
    if not commands:
        return ""
    return (
        "This is a parameter file of an UltraRAG pipeline, which is not run here. The same is "
        f"computed by: {'; '.join(commands)}."
    )


def _trec(evaluation: Mapping[str, Any]) -> Iterator[str]:
    for names in (("run_path",), ("run_new_path", "run_old_path")):
        paths = [evaluation.get(name) for name in ("qrels_path", *names)]
        if all(paths):
            yield " ".join(
                [
                    _words("ragassay trec", *paths),
                    *_listed("-m", evaluation.get("ir_metrics")),
                    *_listed("--ks", evaluation.get("ks")),
                    "--format ultrarag",
                ]
            )


def _answers(evaluation: Mapping[str, Any], data: Mapping[str, Any]) -> Iterator[str]:
    if data.get("path") and evaluation.get("metrics"):
        columns = [f"{name}={field}" for name, field in _mapping(data, "key_map").items()]
        yield " ".join(
            [
                _words("ragassay run", data["path"]),
                *_listed("-m", evaluation["metrics"]),
                *_listed("--columns", columns),
            ]
        )


def _mapping(body: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = body.get(key)
    return value if isinstance(value, dict) else {}


def _words(begin: str, *words: Any) -> str:
    return " ".join([begin, *(shlex.quote(str(word)) for word in words)])


def _listed(flag: str, values: Any) -> Iterator[str]:
    if isinstance(values, list) and values:
        yield _words(flag, ",".join(map(str, values)))
