"""The tools of an agent: look at data, run a suite, explain a score, compare runs; and the folders
whose files it may reach."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from anyio import from_thread
from mcp.server.mcpserver import Context

from ragassay.base.errors import ArgumentError
from ragassay.engine.comparison.compare_runs import compare
from ragassay.engine.config.run_config import make_config
from ragassay.engine.diagnosis.moved_classes import with_change
from ragassay.engine.results import open_run
from ragassay.engine.run import rescoring
from ragassay.engine.run.data_preview import preview
from ragassay.engine.run.prepared_run import PreparedRun, prepare
from ragassay.reports.run_reports import write_reports
from ragassay.reports.views import catalogue_view as catalogue
from ragassay.reports.views.comparison_view import primary_of, verdicts

EVERY_S = 0.2
"""Seconds between two notices of progress."""

_LONG = ("messages", "reply", "data")
"""Parts of an answer that are shown only in full."""

# What the answers show of each thing.
_OF_METRIC = (*("name", "title", "kind", "needs", "range", "higher_is_better", "suites"),)
_OF_FILE = ("format", "n_samples", "n_queries", "systems", "parts", "applicable")
_OF_MEAN = ("name", "mean", "low", "high", "n_scored", "n_total", "higher_is_better", "unscored")
_OF_DIFF = ("name", "a_mean", "b_mean", "diff", "low", "high", "p_adjusted", "n", "verdict", "why")

Names = list[str] | str | None
AgentContext = Context[Any, Any]


class AllowedFolders:
    """The folders below which files are read and written. A relative path is looked up in each; the
    first one that has it counts."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = [folder.resolve() for folder in folders]

    def existing(self, path: str, argument: str) -> Path:
        """A file or folder to read, with all links followed. An `ArgumentError` that names the
        argument where it lies outside, or is not there, or a link within it leads outside."""
        resolved = self.writable(path, argument)
        if not resolved.exists():
            raise ArgumentError(f"{argument}: there is no file {path!r} in {self._names()}.")
        for inner in resolved.rglob("*") if resolved.is_dir() else ():
            if inner.is_symlink() and not self._is_inside(inner.resolve()):
                raise ArgumentError(f"{argument}: {inner} leads out of {self._names()}.")
        return resolved

    def writable(self, path: str, argument: str) -> Path:
        """A file or folder to write, with all links followed; an `ArgumentError` where it lies
        outside."""
        if not self._folders:
            raise ArgumentError(
                f"{argument}: no folder is open, so no file can be reached. The person who started "
                "the server names a folder."
            )
        try:
            candidates = [(folder / path).resolve() for folder in self._folders]
        except (ValueError, RuntimeError):  # a null character, links in a circle
            candidates = []
        inside = [candidate for candidate in candidates if self._is_inside(candidate)]
        if not inside:
            raise ArgumentError(
                f"{argument}: {path!r} lies outside {self._names()}, the only place allowed. "
                "Use a path below it."
            )
        return next((item for item in inside if item.exists()), inside[0])

    def _is_inside(self, path: Path) -> bool:
        return any(path.is_relative_to(folder) for folder in self._folders)

    def _names(self) -> str:
        return " and ".join(map(str, self._folders))


class AgentTools:
    """The tools, each a method whose docstring an agent reads. A person chooses, by ``settings``
    (options of `RunConfig`), who is asked and paid; an agent does not."""

    def __init__(self, folders: AllowedFolders, settings: Mapping[str, Any]) -> None:
        self._folders, self._settings = folders, settings
        self.all: Sequence[Callable[..., dict[str, Any]]] = (
            *(self.list_metrics, self.validate_file, self.run_suite),
            *(self.explain_score, self.compare_runs),
        )

    def list_metrics(self, suite: str | None = None, search: str | None = None) -> dict[str, Any]:
        """List the metrics: what each needs, and its range and direction.

        Args:
            suite: Only those of a suite: qa, retrieval, ragreport, trecrag, mtrag, golden, chunks,
                consistency, serving.
            search: Only those whose name or title holds this text.

        Returns:
            metrics: a list; kind is arithmetic, model or judge; needs are parts of a record.
        """
        wanted = (search or "").casefold()
        return {
            "metrics": [
                _shown(entry, _OF_METRIC)
                for entry in catalogue.all_entries(suite)
                if wanted in f"{entry['name']} {entry['title']}".casefold()
            ]
        }

    def validate_file(
        self,
        context: AgentContext,
        data: str,
        suite: Names = None,
        metrics: Names = None,
        columns: dict[str, str] | None = None,
        qrels: str | None = None,
    ) -> dict[str, Any]:
        """Read a file of samples to its end: what is in it, and how many samples each metric of a
        suite could score. A fault is named with its line and field.

        Args:
            data: File or folder: JSONL, CSV, Parquet, TREC run and more; the format is detected.
            suite: Suites to count samples for. Default: by the format of the data, mostly rag.
            metrics: Metrics to count samples for, in place of suites.
            columns: Names of columns that are not recognised, {"answer": "model_output"}.
            qrels: TREC or BEIR qrels, for a TREC run.

        Returns:
            format, n_samples, n_queries, notes; systems, parts of samples and applicable metrics,
            each with the number of samples; not_here: metrics whose model or package is missing.
        """
        report = _reporting(context)
        run = self._prepared(data, suite, metrics, columns, qrels, dry=True)
        contents = preview(run, lambda n: report(n, None, "samples read"))
        return {
            **{name: getattr(contents, name) for name in _OF_FILE},
            "not_here": {name: str(why) for name, why in contents.extras.items()},
            "notes": list(contents.warnings),
        }

    def run_suite(
        self,
        context: AgentContext,
        data: str,
        suite: Names = None,
        metrics: Names = None,
        columns: dict[str, str] | None = None,
        qrels: str | None = None,
        limit: int | None = None,
        output: str | None = None,
    ) -> dict[str, Any]:
        """Evaluate a file of samples. Means come with 95 % intervals; what could not be scored is
        counted by reason and is in no mean.

        Args:
            data: File or folder with samples.
            suite: Suites to compute. Default: by the format of the data, mostly rag.
            metrics: Metrics to compute, in place of suites.
            columns: Names of columns that are not recognised, {"answer": "model_output"}.
            qrels: TREC or BEIR qrels, for a TREC run.
            limit: Only the first so many samples.
            output: New folder for the run. Default: runs/NAME of the data.

        Returns:
            run (the folder, for explain_score and compare_runs), report (HTML for a person),
            n_samples, notes; metrics: mean and interval (low, high), n_scored of n_total, unscored
            (why samples have no score, and how many).
        """
        report = _reporting(context)
        source = self._folders.existing(data, "data")
        wanted = output or f"runs/{source.stem}"
        target = self._folders.writable(wanted, "output")
        number = 1
        while output is None and target.exists():
            number += 1
            target = self._folders.writable(f"{wanted}-{number}", "output")
        run = self._prepared(data, suite, metrics, columns, qrels, limit=limit, output=str(target))
        total = run.source.count()
        result = run.run(lambda n: report(n, total, "samples scored"), keep=False)
        summary, reports = result.summary, write_reports(result)
        means = [
            {key: getattr(metric, key) for key in _OF_MEAN} for metric in summary.metrics.values()
        ]
        return {
            "run": str(result.folder),
            "report": str(reports["html"]),
            "n_samples": summary.n_samples,
            "metrics": means,
            "notes": list(summary.warnings),
        }

    def compare_runs(
        self, new: str, old: str, metrics: Names = None, primary: Names = None
    ) -> dict[str, Any]:
        """Say whether the new run is really better: paired tests query by query, corrected for the
        number of metrics, with an interval of each difference and a verdict in words.

        Args:
            new: Folder of the new run.
            old: Folder of the old run, the baseline.
            metrics: Metrics to compare. Default: the headline of the suite that both have.
            primary: Metrics to test and show of them. Default: all.

        Returns:
            a (new), b (old), verdict (sentences), notes; differences: diff is a - b with its
            interval (low, high), p_adjusted is corrected for the number of metrics, why says why
            there is no verdict.
        """
        a, b = (open_run(self._folders.existing(*pair)) for pair in ((new, "new"), (old, "old")))
        comparison = primary_of(compare(a, b, metrics=metrics, primary=primary))
        found = comparison.to_json()
        notes = [str(note) for note in comparison.notes if note.severity == "note"]
        return {
            **_shown(found, ("a", "b")),
            "verdict": " ".join(verdicts(with_change(comparison))),
            "differences": [_shown(one, _OF_DIFF) for one in found["differences"]],
            "notes": [*comparison.warnings, *notes],
        }

    def explain_score(
        self,
        run: str,
        sample: str,
        metric: str | None = None,
        system: str | None = None,
        full: bool = False,
    ) -> dict[str, Any]:
        """Show why a sample has the scores it has: explanations, and the verdicts they rest on.

        Args:
            run: Folder of the run.
            sample: Id of the query.
            metric: One metric. Default: all of them.
            system: Which system, where the run holds several.
            full: Also the prompts and raw replies of the judge.

        Returns:
            sample, query, answer, references, passages; scores: value, explanation and parts of
            each metric, and the answers it rests on.
        """
        source = open_run(self._folders.existing(run, "run"))
        explained = rescoring.explain(source, sample, metric, system=system)
        item, scores = explained.sample, explained.to_json()["scores"]
        for score in scores if not full else ():
            score["judge_answers"] = _short(score["judge_answers"])
        return {
            "sample": item.id,
            "query": item.query,
            "answer": None if item.answer is None else item.answer.text,
            "references": list(item.references or ()),
            "passages": [
                {"id": passage.id, "text": passage.text} for passage in item.passages or ()
            ],
            "scores": scores,
        }

    def _prepared(
        self,
        data: str,
        suite: Names,
        metrics: Names,
        columns: dict[str, str] | None,
        qrels: str | None,
        *,
        dry: bool = False,
        **options: Any,
    ) -> PreparedRun:
        path = self._folders.existing(data, "data")
        if path.suffix.casefold() in (".yaml", ".yml"):
            raise ArgumentError("data: a YAML file is a configuration. Name the file of samples.")
        arguments = {
            "suite": suite or None,
            "metrics": metrics or None,
            "columns": columns or None,
            "qrels": None if qrels is None else str(self._folders.existing(qrels, "qrels")),
        }
        config = make_config(data=str(path), **self._settings, **options, **arguments)
        return prepare(config, dry=dry)


def _reporting(context: AgentContext) -> Callable[[float, float | None, str], None]:
    """A function that tells the agent how much is done, of how much (where that is known)."""
    last = 0.0
    loop = from_thread.run_sync(asyncio.get_running_loop)

    def report(done: float, of: float | None, sentence: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= EVERY_S or done == of:
            last = now
            report_sent = context.report_progress(done, of, sentence)
            # Judged samples finish in the judge's thread, where the server's loop is not.
            asyncio.run_coroutine_threadsafe(report_sent, loop).result()

    return report


def _short(answers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Answers, and those of the judges of a panel, without what is shown only in full."""
    kept = [{name: one[name] for name in one if name not in _LONG} for one in answers]
    return [{**one, "votes": _short(one["votes"])} if "votes" in one else one for one in kept]


def _shown(found: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: found[key] for key in keys}
