"""UltraRAG's tools, by their names, with their arguments and their results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server.mcpserver import Context, MCPServer

from ragassay.compat import ultrarag
from ragassay.compat.ultrarag.ultrarag_servers import PARAMETERS
from ragassay.mcp.allowed_folders import AllowedFolders
from ragassay.mcp.calling import in_thread, in_words
from ragassay.mcp.pipeline_server import evaluation_server
from ragassay.mcp.tool_results import Evaluated

_EVALUATION: Mapping[str, Any] = PARAMETERS["evaluation"]


def add(server: MCPServer[Any], folders: AllowedFolders) -> None:
    """Adds the tools to a server.

    Args:
        server: that offers them.
        folders: whose files they may use.
    """

    def saved(path: str | None) -> str | None:
        return str(folders.writable(path, "save_path")) if path else None

    async def evaluate(
        context: Context[Any, Any],
        pred_ls: list[str | None],
        gt_ls: list[list[str] | str],
        metrics: list[str] | None = None,
        save_path: str | None = None,
    ) -> Evaluated:
        """Score short answers against gold answers: acc, em, f1, coverem, stringem, ROUGE.

        Gives for each metric the values in the order of the questions (null without an answer)
        and avg_METRIC.

        Args:
            pred_ls: An answer a question; null where there is none.
            gt_ls: For each question the list of all accepted answers.
            metrics: Of acc, f1, em, coverem, stringem, rouge-1, rouge-2, rouge-l. Default: all.
            save_path: JSON file to write.
        """
        return await in_thread(
            context,
            lambda _: Evaluated(**ultrarag.evaluate(pred_ls, gt_ls, metrics, saved(save_path))),
        )

    async def evaluate_trec(
        context: Context[Any, Any],
        run_path: str,
        qrels_path: str,
        metrics: list[str] = _EVALUATION["ir_metrics"],
        ks: list[int] = _EVALUATION["ks"],
        save_path: str | None = None,
    ) -> Evaluated:
        """Evaluate a TREC run against qrels: mrr, map, recall@k, ndcg@k, P@k.

        Means are over the queries that stand in both files.

        Args:
            run_path: TREC run file.
            qrels_path: TREC qrels file.
            metrics: Some of mrr, map, recall, ndcg, precision.
            ks: Cut-offs of recall, ndcg and precision.
            save_path: JSON file to write.
        """

        def work(report: object) -> Evaluated:
            run = folders.existing(run_path, "run_path")
            qrels = folders.existing(qrels_path, "qrels_path")
            return Evaluated(
                **ultrarag.evaluate_trec(str(run), str(qrels), metrics, ks, saved(save_path))
            )

        return await in_thread(context, work)

    async def evaluate_trec_pvalue(
        context: Context[Any, Any],
        run_new_path: str,
        run_old_path: str,
        qrels_path: str,
        metrics: list[str] = _EVALUATION["ir_metrics"],
        ks: list[int] = _EVALUATION["ks"],
        n_resamples: int = _EVALUATION["n_resamples"],
        save_path: str | None = None,
    ) -> Evaluated:
        """Test whether two TREC runs differ: a two-sided paired permutation test a metric.

        Nothing is corrected for the number of metrics: with many of them expect some p < 0.05.

        Args:
            run_new_path: TREC run file A, the new one.
            run_old_path: TREC run file B, the old one.
            qrels_path: TREC qrels file.
            metrics: Some of mrr, map, recall, ndcg, precision.
            ks: Cut-offs of recall, ndcg and precision.
            n_resamples: Random sign patterns; all patterns up to 16 queries.
            save_path: JSON file to write.
        """

        def work(report: object) -> Evaluated:
            new = folders.existing(run_new_path, "run_new_path")
            old = folders.existing(run_old_path, "run_old_path")
            qrels = folders.existing(qrels_path, "qrels_path")
            return Evaluated(
                **ultrarag.evaluate_trec_pvalue(
                    str(new), str(old), str(qrels), metrics, ks, n_resamples, saved(save_path)
                )
            )

        return await in_thread(context, work)

    async def get_data(context: Context[Any, Any], benchmark: dict[str, Any]) -> dict[str, Any]:
        """Read columns of a JSONL, JSON or Parquet file; row N is the same record in every column.

        Args:
            benchmark: path (the file), key_map (for each column its field, such as {"q_ls":
                "question", "gt_ls": "golden_answers"}), limit (-1: all), shuffle, seed.
        """

        def work(report: object) -> dict[str, Any]:
            path = benchmark.get("path")
            if not isinstance(path, str):
                return dict(ultrarag.get_data(benchmark))  # which says what is missing
            allowed = folders.existing(path, "benchmark.path")
            return dict(ultrarag.get_data({**benchmark, "path": str(allowed)}))

        return await in_thread(context, work)

    def build(parameter_file: str) -> str:
        """Write server.yaml beside a parameter.yaml, for UltraRAG's runner: what each tool of the
        evaluation takes and gives.

        Args:
            parameter_file: The parameter.yaml.
        """
        with in_words():
            path = folders.existing(parameter_file, "parameter_file")
            folders.writable(str(path.with_name("server.yaml")), "parameter_file")
            program = path.parent / "src" / f"{path.parent.name}.py"
            return str(evaluation_server(str(program)).write_flows(path))

    for tool in (evaluate, evaluate_trec, evaluate_trec_pvalue, get_data, build):
        server.add_tool(tool)
