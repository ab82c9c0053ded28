"""``ragassay trec``: evaluate and compare TREC runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ragassay.cli import show
from ragassay.cli.exits import OK
from ragassay.cli.words import numbers
from ragassay.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from ragassay.engine.summary import Comparison
    from ragassay.engine.trec_eval import TrecScores
    from ragassay.metrics.trec_names import TrecMeasure

_Flag = Parameter(negative=())


def trec(
    qrels: Path,
    run: Path,
    /,
    *more: Path,
    measures: Annotated[list[str] | None, Parameter(name=["-m", "--measures"], negative=())] = None,
    per_query: Annotated[bool, Parameter(name=["-q", "--per-query"], negative=())] = False,
    complete: Annotated[bool, Parameter(name=["-c", "--complete"], negative=())] = False,
    level: Annotated[int, Parameter(name=["-l", "--level"])] = 1,
    max_docs: Annotated[int | None, Parameter(name=["-M", "--max-docs"])] = None,
    ks: str | None = None,
    format: Literal["table", "trec_eval", "ultrarag"] = "table",  # noqa: A002
    n_resamples: int = 10_000,
    seed: int = 0,
    json: Annotated[bool, _Flag] = False,
) -> int:
    """Evaluate a TREC run against qrels, as trec_eval does, or compare several runs.

    With one RUN its measures are printed. With several, each is tested against the LAST one, the
    baseline, as in 'ragassay compare NEW OLD'.

    ```sh
    ragassay trec qrels.txt run.txt
    ragassay trec qrels.txt run.txt -m nDCG@10 -m map -m P.5,10 -c
    ragassay trec qrels.txt run.txt -m all_trec -q --format trec_eval
    ragassay trec qrels.txt new.run baseline.run -m nDCG@10,AP
    ragassay trec qrels.txt run.txt -m MRR,MAP,Recall,NDCG,Precision --ks 1,5,10
    ragassay trec qrels.txt run.txt --format ultrarag
    ```

    One run is averaged over the queries that stand in both files, as in trec_eval; with -c over all
    judged queries, a missing one counting 0. Several runs are always compared over all judged
    queries. The output says which.

    Args:
        qrels: TREC qrels, BEIR qrels (TSV) or a BEIR folder; plain or gzip.
        run: TREC run; plain or gzip.
        more: Further runs; the last one is the baseline.
        measures: trec_eval's measures (map, ndcg_cut.10, P.5,10, official, all_trec) or ours
            (AP, nDCG@10; 'ragassay metrics' lists them). Repeatable. Default: official, or the
            retrieval suite for a comparison.
        per_query: Also print each query's values.
        complete: Average over all judged queries, also those that the run lacks.
        level: Lowest grade that counts as relevant, for measures of yes-or-no relevance.
        max_docs: Use only the first N documents of each query.
        ks: Cut-offs for UltraRAG's names recall, ndcg and precision, and for ours without one,
            joined with commas (default: 1,5,10,20,50,100).
        format: A table, trec_eval's very lines, or UltraRAG's: the JSON that its server writes,
            where mrr, map, recall, ndcg and precision (the default) are its own, not trec_eval's.
            In capitals, as in its tables (Recall, NDCG), its names need no --format.
        n_resamples: Random sign patterns of the test; all patterns up to 16 queries.
        seed: Seed of the sign patterns.
        json: Print JSON.
    """
    from ragassay.metrics import trec_names

    if level < 1 or (max_docs is not None and max_docs < 1):
        raise UsageError("-l and -M must be at least 1.")
    cutoffs = numbers("--ks", ks)
    ultrarag = format == "ultrarag"
    if ultrarag:
        if per_query or json or len(more) > 1:
            raise UsageError("--format ultrarag takes one run or two, and neither -q nor --json.")
        measures = measures or list(trec_names.ULTRARAG)
    if more:
        if per_query or format == "trec_eval":
            raise UsageError("-q and --format trec_eval take one run; a comparison is a table.")
        chosen = _comparable(measures, level, cutoffs, ultrarag=ultrarag)
        runs = [run, *more]
        return _compare(
            qrels, runs, chosen, max_docs, n_resamples, seed, json=json, ultrarag=ultrarag
        )
    named = measures or [trec_names.OFFICIAL]
    chosen = trec_names.resolve(named, rel=level, ks=cutoffs, ultrarag=ultrarag)
    scores = _scores(qrels, run, chosen, max_docs, complete=complete)
    if ultrarag:
        show.json({_ultrarag_key(measure.label): value for measure, value in scores.summary()})
    elif json:
        show.json(_as_json(scores, qrels, run, per_query=per_query))
    elif format == "trec_eval":
        sys.stdout.writelines(f"{line}\n" for line in scores.lines(per_query=per_query))
    else:
        out = show.console()
        out.print(f"{run.name}: {_averaged_over(scores)}", markup=False, soft_wrap=True)
        out.print(_table(scores, per_query=per_query))
    show.warn(_warnings(scores, run))
    return OK


def _scores(
    qrels: Path,
    run: Path,
    measures: Sequence[TrecMeasure],
    max_docs: int | None,
    *,
    complete: bool,
) -> TrecScores:
    from ragassay.engine import trec_eval
    from ragassay.engine.ranked_runs import read_rankings

    with show.console(stderr=True).status(f"evaluating {run.name}"):
        rankings, tag = read_rankings(qrels, run)
        return trec_eval.score(rankings, tag, measures, complete=complete, depth=max_docs)


def _comparable(
    names: list[str] | None, level: int, cutoffs: list[int] | None, *, ultrarag: bool
) -> list[TrecMeasure]:
    """The measures to compare: those that have a mean."""
    from ragassay.metrics import trec_names
    from ragassay.suites.retrieval import SUITE

    if names:
        found = trec_names.resolve(names, rel=level, ks=cutoffs, ultrarag=ultrarag)
    else:
        found = trec_names.ours(SUITE.metrics, rel=level)
    chosen = [
        m for m in found if m.metric is not None and m.summary and m.metric.aggregate == "mean"
    ]
    if not chosen:
        raise UsageError("None of these measures has a mean that could be compared.")
    return chosen


def _compare(
    qrels: Path,
    runs: list[Path],
    measures: list[TrecMeasure],
    max_docs: int | None,
    n_resamples: int,
    seed: int,
    *,
    json: bool,
    ultrarag: bool,
) -> int:
    import numpy as np

    from ragassay.engine.comparison import compare_arrays
    from ragassay.engine.slicing import CONVERSATION_KEYS, conversations_of_ids
    from ragassay.reports.terminal import comparison_table

    scored = [_scores(qrels, run, measures, max_docs, complete=True) for run in runs]
    matrices = [np.array(scores.columns, np.float64) for scores in scored]
    names = _names(runs, [scores.tag for scores in scored])
    conversations = conversations_of_ids(scored[-1].queries)
    clusters = None
    if conversations is not None:
        clusters = np.unique(np.array(conversations), return_inverse=True)[1]
    found = [
        compare_arrays(
            [measure.label for measure in measures],
            matrix,
            matrices[-1],
            a_name=name,
            b_name=names[-1],
            higher_is_better=[m.metric.higher_is_better for m in measures if m.metric],
            bounds=[(m.metric.low, m.metric.high) for m in measures if m.metric],
            clusters=clusters,
            clustered_by=CONVERSATION_KEYS[1],
            n_resamples=n_resamples,
            seed=seed,
        )
        for name, matrix in zip(names[:-1], matrices[:-1], strict=True)
    ]
    if ultrarag:
        show.json(_ultrarag_comparison(found[0]))
    elif json:
        show.json(_comparisons_as_json(found, scored[-1]))
    else:
        out = show.console()
        n = f"{len(scored[-1].queries):,}"
        out.print(f"mean over all {n} judged queries; one that a run lacks counts 0")
        for comparison in found:
            out.print(comparison_table(comparison))
    show.warn(
        sentence
        for scores, run in zip(scored, runs, strict=True)
        for sentence in _warnings(scores, run)
    )
    return OK


def _names(runs: list[Path], tags: list[str]) -> list[str]:
    """What the runs are called: tags where they tell the runs apart, else files."""
    for names in (tags, [run.name for run in runs]):
        if len(set(names)) == len(names):
            return names
    return [str(run) for run in runs]


def _averaged_over(scores: TrecScores) -> str:
    n = len(scores.queries)
    if scores.complete:
        return f"mean over all {n:,} judged queries ({scores.n_missing:,} not in the run count 0)"
    return f"mean over the {n:,} queries in both files, of {scores.n_judged:,} judged"


def _warnings(scores: TrecScores, run: Path) -> list[str]:
    found = []
    if scores.n_missing:
        what = "count 0" if scores.complete else "are left out; with -c they count 0"
        found.append(
            f"{run}: {scores.n_missing:,} of {scores.n_judged:,} judged queries are not in the "
            f"run and {what}."
        )
    if scores.n_unjudged:
        found.append(
            f"{run}: {scores.n_unjudged:,} queries of the run have no judgements and are left out."
        )
    return found


def _table(scores: TrecScores, *, per_query: bool) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("measure")
    table.add_column("metric", style="dim")
    table.add_column("query")
    table.add_column("value", justify="right")

    def add(measure: TrecMeasure, query: str, value: float | int | str) -> None:
        shown = f"{value:.4f}" if isinstance(value, float) else f"{value}"
        metric = "" if measure.metric is None else str(measure.metric)
        metric = "" if metric == measure.label else metric
        table.add_row(*(Text(cell) for cell in (measure.label, metric, query, shown)))

    if per_query:
        for measure, query, value in scores.per_query():
            add(measure, query, value)
        table.add_section()
    for measure, value in scores.summary():
        add(measure, "all", value)
    return table


def _as_json(scores: TrecScores, qrels: Path, run: Path, *, per_query: bool) -> dict[str, Any]:
    body: dict[str, Any] = {
        "qrels": str(qrels),
        "run": str(run),
        "tag": scores.tag,
        **_coverage(scores),
        "measures": {
            measure.label: {"metric": None if measure.metric is None else str(measure.metric)}
            for measure in scores.measures
        },
    }
    for measure, value in scores.summary():
        body["measures"][measure.label]["all"] = value
    if per_query:
        for measure, query, value in scores.per_query():
            body["measures"][measure.label].setdefault("queries", {})[query] = value
    return body


def _ultrarag_key(label: str) -> str:
    """What UltraRAG's file calls a measure: ``P@5`` for ``precision@5``."""
    name, at, k = label.partition("@")
    return f"P@{k}" if at and name.casefold() == "precision" else label.casefold()


def _ultrarag_comparison(found: Comparison) -> dict[str, Any]:
    """What UltraRAG's server writes of two runs; nothing is corrected for the number of tests."""
    return {
        _ultrarag_key(d.name): {
            "A_mean": d.a_mean,
            "B_mean": d.b_mean,
            "diff": d.diff,
            "p_value": d.p_value,
            "significant": d.significant,
        }
        for d in found.differences
    }


def _comparisons_as_json(found: list[Comparison], scores: TrecScores) -> dict[str, Any]:
    return {**_coverage(scores), "comparisons": [one.to_json() for one in found]}


def _coverage(scores: TrecScores) -> dict[str, Any]:
    return {
        "averaged_over": "judged queries" if scores.complete else "queries in both files",
        "n_queries": len(scores.queries),
        "n_judged": scores.n_judged,
        "n_missing": scores.n_missing,
        "n_unjudged": scores.n_unjudged,
    }
