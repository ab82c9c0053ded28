"""The configuration in a run folder (``run.yaml``), with which the run can be repeated."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragassay import __version__
from ragassay.base import files
from ragassay.engine.config.config_paths import make_relative
from ragassay.engine.config.metric_selection import MetricSelection, published_names
from ragassay.engine.config.run_config import RunConfig
from ragassay.engine.results.folders.run_folder import RUBRICS
from ragassay.engine.results.summary import Summary
from ragassay.engine.run.source import Source
from ragassay.metrics.core import naming
from ragassay.metrics.core.function_metrics import FunctionMetric
from ragassay.metrics.core.metric import Metric


def resolved_config(
    config: RunConfig,
    plan: MetricSelection,
    source: Source,
    clustered_by: str | None,
    summary: Summary,
) -> dict[str, Any]:
    """The content of ``run.yaml``. Copies the user's own files into the run folder."""
    import numpy as np

    body = config.model_dump(exclude_none=True)
    for key in ("refresh", "retry_failed"):
        body.pop(key, None)  # who runs run.yaml again wants the same answers, not to pay again
    if "://" in body.get("ledger", ""):
        del body["ledger"]  # the address of a database may hold a password
    if config.output is not None:
        # Paths in a configuration are relative to it, so that run.yaml can be run again.
        make_relative(body, config.output)
        body |= _copied(config, Path(config.output))
    body["suite"] = [suite.name for suite in plan.suites]
    local = published_names(config, source.format, plan.suites)
    body["metrics"] = [_loadable_name(metric, name, local) for name, metric in plan.metrics.items()]
    if plan.consistency is not None:
        body["consistency_of"] = list(plan.consistency.of)
        body["consistency_metrics"] = list(plan.consistency.asked)
    body["cluster_by"] = clustered_by or config.cluster_by
    judged_by = {} if summary.judging is None else {"judged_by": summary.judging.signature}
    return {
        "ragassay": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        **body,
        "format": source.format,
        "fingerprint": source.fingerprint,
        "signatures": {name: metric.signature for name, metric in summary.metrics.items()},
        **judged_by,
    }


def _loadable_name(metric: Metric, name: str, local: Mapping[str, str]) -> str:
    """The name by which a metric is found when the run is run again: the place of a user's
    function, or the shown name where it means this metric, or else the canonical name."""
    if isinstance(metric, FunctionMetric) and metric.place:
        return f"{metric.place}{str(metric).removeprefix(metric.name)}"
    means_it = naming.is_known(name, local) and naming.parse_all(name, local=local) == [metric]
    return name if means_it else str(metric)


def _copied(config: RunConfig, folder: Path) -> dict[str, Any]:
    """Copies a user's own files into the run folder; the keys of run.yaml that name the copies."""
    from ragassay.judges.own_rubrics import read_rubric

    keys: dict[str, Any] = {}
    if config.rubric:
        # A rubric's name is unique in a run, that of its file need not be.
        keys["rubric"] = [
            _copy(Path(name), folder, f"{read_rubric(name).name}.yaml") for name in config.rubric
        ]
    if config.judge_prompt is not None:
        prompt = Path(config.judge_prompt)
        keys["judge_prompt"] = _copy(prompt, folder, prompt.name)
    if config.prompts:
        keys["prompts"] = {
            kind: _copy(Path(name), folder, f"{kind}.txt") for kind, name in config.prompts.items()
        }
    return keys


def _copy(source: Path, folder: Path, file_name: str) -> str:
    name = f"{RUBRICS}/{file_name}"
    if source.resolve() != (folder / name).resolve():
        files.write_bytes(folder / name, source.read_bytes())
    return name
