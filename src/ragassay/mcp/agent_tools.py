"""The tools of an agent: look at data, run a suite, explain a score, compare runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server.mcpserver import Context, MCPServer

from ragassay.base.errors import ArgumentError
from ragassay.engine.comparison.compare_runs import compare
from ragassay.engine.config.run_config import make_config
from ragassay.engine.plan import preview
from ragassay.engine.results import open_run
from ragassay.engine.run import rescoring
from ragassay.engine.run.prepared_run import PreparedRun, prepare
from ragassay.mcp.allowed_folders import AllowedFolders
from ragassay.mcp.calling import Progress, in_thread, in_words
from ragassay.mcp.tool_results import (
    Compared,
    ExplainedScores,
    MetricEntry,
    Metrics,
    RunDone,
    ValidatedFile,
)
from ragassay.reports.run_reports import write_reports
from ragassay.reports.views import catalogue_view as catalogue

RUNS = "runs"
"""Folder for runs that the agent does not name."""

_LONG = ("prompt", "system", "reply", "raw", "data")
"""Parts of a verdict that are shown only in full."""


def add(server: MCPServer[Any], folders: AllowedFolders, settings: Mapping[str, Any]) -> None:
    """Adds the tools to a server.

    Args:
        server: that offers them.
        folders: whose files they may use.
        settings: options of `RunConfig` for every run, such as the judge and the budget: a person
            chooses who is asked and paid, an agent does not.
    """

    def prepared(
        data: str,
        suite: list[str] | str | None,
        metrics: list[str] | str | None,
        columns: dict[str, str] | None,
        qrels: str | None,
        *,
        dry: bool = False,
        **options: Any,
    ) -> PreparedRun:
        path = folders.existing(data, "data")
        if path.suffix.casefold() in (".yaml", ".yml"):
            raise ArgumentError("data: a YAML file is a configuration. Name the file of samples.")
        arguments = {
            "suite": _listed(suite or None),
            "metrics": _listed(metrics or None),
            "columns": columns or None,
            "qrels": None if qrels is None else str(folders.existing(qrels, "qrels")),
        }
        config = make_config(data=str(path), **settings, **options, **arguments)
        return prepare(config, dry=dry)

    def list_metrics(suite: str | None = None, search: str | None = None) -> Metrics:
        """List the metrics: what each needs, its range and direction, what it is recommended for.

        Args:
            suite: Only those of a suite: qa, retrieval, ragreport, trecrag, mtrag, golden, chunks,
                consistency, serving.
            search: Only those whose name, title or recommendation holds this text.
        """
        with in_words():
            wanted = (search or "").casefold()
            entries = [
                MetricEntry(**{key: entry[key] for key in MetricEntry.model_fields})
                for entry in catalogue.all_entries(suite)
            ]
            return Metrics(
                metrics=[
                    one
                    for one in entries
                    if wanted in f"{one.name} {one.title} {one.recommended_for}".casefold()
                ]
            )

    async def validate_file(
        context: Context[Any, Any],
        data: str,
        suite: list[str] | str | None = None,
        metrics: list[str] | str | None = None,
        columns: dict[str, str] | None = None,
        qrels: str | None = None,
    ) -> ValidatedFile:
        """Read a file of samples to its end: what is in it, and how many samples each metric of a
        suite could score. A fault is named with its line and field.

        Args:
            data: File or folder: JSONL, CSV, Parquet, TREC run and more; the format is detected.
            suite: Suites to count samples for. Default: by the format of the data, mostly qa.
            metrics: Metrics to count samples for, in place of suites.
            columns: Names of columns that are not recognised, {"answer": "model_output"}.
            qrels: TREC or BEIR qrels, for a TREC run.
        """

        def work(report: Progress) -> ValidatedFile:
            run = prepared(data, suite, metrics, columns, qrels, dry=True)
            contents = preview(run, lambda n: report(n, None, "samples read"))
            fields = ("format", "n_samples", "n_queries", "systems", "parts", "applicable")
            return ValidatedFile(
                **{name: getattr(contents, name) for name in fields},
                not_here={name: str(why) for name, why in contents.extras.items()},
                notes=list(contents.warnings),
            )

        return await in_thread(context, work)

    async def run_suite(
        context: Context[Any, Any],
        data: str,
        suite: list[str] | str | None = None,
        metrics: list[str] | str | None = None,
        columns: dict[str, str] | None = None,
        qrels: str | None = None,
        limit: int | None = None,
        output: str | None = None,
    ) -> RunDone:
        """Evaluate a file of samples. Means come with 95 % intervals; what could not be scored is
        counted by reason and is in no mean.

        Args:
            data: File or folder with samples.
            suite: Suites to compute. Default: by the format of the data, mostly qa.
            metrics: Metrics to compute, in place of suites.
            columns: Names of columns that are not recognised, {"answer": "model_output"}.
            qrels: TREC or BEIR qrels, for a TREC run.
            limit: Only the first so many samples.
            output: New folder for the run. Default: runs/NAME of the data.
        """

        def work(report: Progress) -> RunDone:
            source = folders.existing(data, "data")
            wanted = output or f"{RUNS}/{source.stem}"
            target = folders.writable(wanted, "output")
            number = 1
            while output is None and target.exists():
                number += 1
                target = folders.writable(f"{wanted}-{number}", "output")
            run = prepared(data, suite, metrics, columns, qrels, limit=limit, output=str(target))
            total = run.source.count()
            result = run.run(lambda n: report(n, total, "samples scored"), keep=False)
            return RunDone.of(result, write_reports(result))

        return await in_thread(context, work)

    async def compare_runs(
        context: Context[Any, Any],
        new: str,
        old: str,
        metrics: list[str] | str | None = None,
        primary: list[str] | str | None = None,
    ) -> Compared:
        """Say whether the new run is really better: paired tests query by query, corrected for the
        number of metrics, with an interval of each difference and a verdict in words.

        Args:
            new: Folder of the new run.
            old: Folder of the old run, the baseline.
            metrics: Metrics to compare. Default: all that both have.
            primary: Metrics to test; the others are shown and weaken nothing. Default: all.
        """

        def work(report: object) -> Compared:
            a = open_run(folders.existing(new, "new"))
            b = open_run(folders.existing(old, "old"))
            return Compared.of(compare(a, b, metrics=_listed(metrics), primary=_listed(primary)))

        return await in_thread(context, work)

    async def explain_score(
        context: Context[Any, Any],
        run: str,
        sample: str,
        metric: str | None = None,
        system: str | None = None,
        full: bool = False,
    ) -> ExplainedScores:
        """Show why a sample has the scores it has: explanations, and the verdicts they rest on.

        Args:
            run: Folder of the run.
            sample: Id of the query.
            metric: One metric. Default: all of them.
            system: Which system, where the run holds several.
            full: Also the prompts and raw replies of the judge.
        """

        def work(report: object) -> ExplainedScores:
            source = open_run(folders.existing(run, "run"))
            explained = rescoring.explain(source, sample, metric, system=system)
            one = explained.sample
            scores = explained.to_json()["scores"]
            for score in scores if not full else ():
                score["verdicts"] = [
                    {key: value for key, value in verdict.items() if key not in _LONG}
                    for verdict in score["verdicts"]
                ]
            return ExplainedScores(
                sample=one.id,
                query=one.query,
                answer=None if one.answer is None else one.answer.text,
                references=list(one.references or ()),
                passages=[
                    {"id": passage.id, "text": passage.text} for passage in one.passages or ()
                ],
                scores=scores,
            )

        return await in_thread(context, work)

    for tool in (list_metrics, validate_file, run_suite, explain_score, compare_runs):
        server.add_tool(tool)


def _listed(names: list[str] | str | None) -> list[str] | None:
    """Names as a list: of one alone, or of several joined with commas, too."""
    return names.split(",") if isinstance(names, str) else names
