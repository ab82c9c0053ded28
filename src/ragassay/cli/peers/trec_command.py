"""``ragassay trec``: evaluate and compare TREC runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ragassay.base import printable
from ragassay.base.errors import UsageError, called
from ragassay.cli.flags import Switch, numbers
from ragassay.cli.output import show

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ragassay.compat.trec_eval.trec_evaluation import TrecScores
    from ragassay.metrics.retrieval.trec_names import TrecMeasure

_Run = Annotated[Path, Parameter(allow_leading_hyphen=True)]
"""A file, or ``-``, which would otherwise be an option without a name."""


def trec(
    qrels: Path,
    run: _Run,
    /,
    *more: _Run,
    measures: Annotated[list[str] | None, Parameter(name=["-m", "--measures"], negative=())] = None,
    per_query: Annotated[bool, Parameter(name=["-q", "--per-query"], negative=())] = False,
    no_summary: Annotated[bool, Parameter(name=["-n", "--no-summary"], negative=())] = False,
    complete: Annotated[bool, Parameter(name=["-c", "--complete"], negative=())] = False,
    level: Annotated[int, Parameter(name=["-l", "--level"])] = 1,
    max_docs: Annotated[int | None, Parameter(name=["-M", "--max-docs"])] = None,
    n_docs: Annotated[int, Parameter(name=["-N", "--n-docs"])] = 0,
    judged_only: Annotated[bool, Parameter(name=["-J", "--judged-only"], negative=())] = False,
    judgements: Annotated[
        Literal["qrels", "qrels_prefs", "qrels_jg", "prefs"], Parameter(name=["-R", "--judgements"])
    ] = "qrels",
    results: Annotated[Literal["trec_results"], Parameter(name=["-T", "--results"])] = (
        "trec_results"
    ),
    z_scores: Annotated[Path | None, Parameter(name=["-Z", "--z-scores"])] = None,
    debug_level: Annotated[str, Parameter(name=["-D", "--debug-level"])] = "0",
    old_format: Annotated[bool, Parameter(name=["-o", "--old-format"], negative=())] = False,
    ks: str | None = None,
    format: Literal["table", "trec_eval", "ultrarag"] = "table",  # noqa: A002
    correction: Literal["maxt", "holm", "bh", "none"] = "maxt",
    n_resamples: int = 10_000,
    seed: int = 0,
    json: Switch = False,
) -> None:
    """Evaluate a TREC run against qrels, as trec_eval does, or compare several runs.

    With one RUN its measures are printed. With several, each is tested against the LAST one, the
    baseline, as in 'ragassay compare NEW OLD'. A RUN of '-' is read from standard input.

    ```sh
    ragassay trec qrels.txt run.txt
    ragassay trec qrels.txt run.txt -m nDCG@10 -m map -m P.5,10 -c
    ragassay trec qrels.txt run.txt -m all_trec -q --format trec_eval
    ragassay trec qrels.txt run.txt -R qrels_prefs -m all_prefs
    ragassay trec qrels.txt new.run baseline.run -m nDCG@10,AP --correction holm
    zcat run.gz | ragassay trec qrels.txt -
    ragassay trec qrels.txt run.txt -m MRR,MAP,Recall,NDCG,Precision --ks 1,5,10
    ragassay trec qrels.txt run.txt --format ultrarag
    ```

    One run is averaged over the queries that stand in both files, as in trec_eval; with -c over all
    judged queries, a missing one counting 0. Several runs are always compared over all judged
    queries. The output says which.

    Args:
        qrels: TREC qrels, BEIR qrels (TSV) or a BEIR folder; plain or gzip. Other judgements
            with -R.
        run: TREC run; plain or gzip.
        more: Further runs; the last one is the baseline.
        measures: trec_eval's measures (map, ndcg_cut.10, P.5,10, official, all_trec) or ours
            (AP, nDCG@10; 'ragassay metrics' lists them). Repeatable. Default: official (prefs or
            qrels_jg with such judgements), or the retrieval suite for a comparison.
        per_query: Also print each query's values.
        no_summary: Print no values over all queries; for use with -q.
        complete: Average over all judged queries, also those that the run lacks.
        level: Lowest grade that counts as relevant, for measures of yes-or-no relevance.
        max_docs: Use only the first N documents of each query.
        n_docs: Number of documents in the collection, for utility.
        judged_only: Remove unjudged documents from the run before anything is computed.
        judgements: What the first file holds: qrels; qrels that say what is preferred to what
            (qrels_prefs); qrels of several groups, averaged over them (qrels_jg); preferences of
            five columns (prefs).
        results: What the run is; there is one format.
        z_scores: File of query, measure, mean and standard deviation: values are printed as
            deviations from the mean in standard deviations.
        debug_level: NUM or NUM.QUERY; with a query only that one is evaluated.
        old_format: Changes nothing, as in trec_eval 10.
        ks: Cut-offs for UltraRAG's names recall, ndcg and precision, and for ours without one,
            or in a comparison for those of the retrieval suite; joined with commas (default:
            1,5,10,20,50,100).
        format: A table, trec_eval's very lines, or UltraRAG's: the JSON that its server writes,
            where mrr, map, recall, ndcg and precision (the default) are its own, not trec_eval's.
            In capitals, as in its tables (Recall, NDCG), its names need no --format.
        correction: For several metrics of a comparison: step-down max-T, Holm, Benjamini-Hochberg,
            or none.
        n_resamples: Random sign patterns of the test; all patterns up to 16 queries.
        seed: Seed of the sign patterns.
        json: Print JSON.
    """
    from ragassay.formats.sources import standard_input
    from ragassay.metrics.retrieval import trec_names

    del results, old_format
    for flag, number, least in (("-l", level, 0), ("-M", max_docs, 1), ("-N", n_docs, 0)):
        if number is not None and number < least:
            raise UsageError(f"{flag} must be at least {least}.")
    query = _only_query(debug_level)
    cutoffs = numbers("--ks", ks)
    ultrarag = format == "ultrarag"
    if ultrarag:
        if per_query or json or len(more) > 1:
            raise UsageError("--format ultrarag takes one run or two, and neither -q nor --json.")
        measures = measures or list(trec_names.ULTRARAG)
    runs = [run, *more]
    for path in runs:
        if path.name.startswith("-") and path != STANDARD_INPUT:
            raise UsageError(
                f"There is no option {str(path)!r}. 'ragassay trec --help' lists them."
            )
    if runs.count(STANDARD_INPUT) > 1:
        raise UsageError("Only one run can be read from standard input ('-').")
    if STANDARD_INPUT in runs:
        standard_input.keep(sys.stdin)
        runs[runs.index(STANDARD_INPUT)] = Path(standard_input.NAME)
    if more:
        if per_query or no_summary or format == "trec_eval":
            raise UsageError("-q, -n and --format trec_eval take one run; a comparison is a table.")
        if z_scores is not None:
            raise UsageError("-Z takes one run; a comparison tests the values themselves.")
    if measures or not more or judgements != "qrels":
        chosen = trec_names.resolve(
            measures or (),
            rel=level,
            ks=cutoffs,
            judgements=judgements,
            n_docs=n_docs,
            ultrarag=ultrarag,
        )
    else:
        from ragassay import suites

        chosen = trec_names.ours(
            list(map(str, suites.get("retrieval").resolve(ks=cutoffs))), rel=level
        )

    def score(run: Path, measures: Sequence[TrecMeasure], *, complete: bool) -> TrecScores:
        from ragassay.compat.trec_eval import trec_evaluation
        from ragassay.engine.run import ranked_runs
        from ragassay.formats.trec.trec_preferences import read_scales

        with show.console(stderr=True).status(f"evaluating {_name(run)}"):
            scales = None if z_scores is None else read_scales(z_scores)
            judged, tag = ranked_runs.read_judged(qrels, run, judgements)
            return trec_evaluation.score(
                judged,
                tag,
                measures,
                complete=complete,
                depth=max_docs,
                judged_only=judged_only,
                scales=scales,
                query=query,
            )

    if more:
        test = {"correction": correction, "n_resamples": n_resamples, "seed": seed}
        _compare(runs, chosen, score, test, json=json, ultrarag=ultrarag)
        return
    from ragassay.compat.trec_eval import trec_printing as shown

    scores = score(runs[0], chosen, complete=complete)
    if ultrarag:
        show.json(shown.ultrarag_summary(scores))
    elif json:
        show.json(
            shown.as_json(scores, str(qrels), str(run), per_query=per_query, summary=not no_summary)
        )
    elif format == "trec_eval":
        lines = scores.lines(per_query=per_query, summary=not no_summary)
        sys.stdout.writelines(f"{printable.lines(line)}\n" for line in lines)
    else:
        show.lines(f"{_name(runs[0])}: {shown.averaged_over(scores)}")
        show.console().print(shown.table(scores, per_query=per_query, summary=not no_summary))
    show.warn(shown.warnings(scores, called(runs[0])))


def _only_query(debug_level: str) -> str | None:
    """The query of ``-D NUM.QUERY``; ``None`` for all of them."""
    number, point, query = debug_level.partition(".")
    if not number.isdecimal() or (point and not query):
        raise UsageError(f"-D {debug_level!r}: write NUM or NUM.QUERY, as in 1.301.")
    if int(number):
        show.warn(
            ["-D: there are no debug lines here; 'ragassay run' and 'explain' show the ranks."]
        )
    return query or None


def _compare(
    runs: list[Path],
    run_measures: list[TrecMeasure],
    score: Callable[..., TrecScores],
    test: dict[str, Any],
    *,
    json: bool,
    ultrarag: bool,
) -> None:
    import numpy as np

    from ragassay.compat.trec_eval import trec_printing as shown
    from ragassay.engine.comparison.differences import compare_arrays
    from ragassay.reports.views.comparison_view import comparison_report
    from ragassay.texts.conversation_names import CONVERSATION_KEYS, conversations_of_ids

    of_means = [
        (one, one.metric)
        for one in run_measures
        if one.metric is not None and one.summary and one.metric.aggregate == "mean"
    ]
    if not of_means:
        raise UsageError("None of these measures has a mean that could be compared.")
    results = [score(run, [one for one, _ in of_means], complete=True) for run in runs]
    matrices = [np.array(scores.columns, np.float64) for scores in results]
    names = _names(runs, [scores.tag for scores in results])
    conversations = conversations_of_ids(results[-1].queries)
    clusters = None if conversations is None else np.unique(conversations, return_inverse=True)[1]
    comparisons = [
        compare_arrays(
            [measure.label for measure, _ in of_means],
            matrix,
            matrices[-1],
            a_name=name,
            b_name=names[-1],
            higher_is_better=[metric.higher_is_better for _, metric in of_means],
            spans=[(metric.low, metric.high) for _, metric in of_means],
            clusters=clusters,
            clustered_by=CONVERSATION_KEYS[1],
            **test,
        )
        for name, matrix in zip(names[:-1], matrices[:-1], strict=True)
    ]
    if ultrarag:
        show.json(shown.ultrarag_comparison(comparisons[0]))
    elif json:
        show.json(shown.comparisons_as_json(comparisons, results[-1]))
    else:
        out = show.console()
        n = f"{len(results[-1].queries):,}"
        out.print(f"mean over all {n} judged queries; one that a run lacks counts 0")
        for comparison in comparisons:
            show.report(comparison_report(comparison, full=True))
    show.warn(
        sentence
        for scores, run in zip(results, runs, strict=True)
        for sentence in shown.warnings(scores, called(run))
    )


def _name(run: Path) -> str:
    return run.name if called(run) == str(run) else called(run)


def _names(runs: list[Path], tags: list[str]) -> list[str]:
    """Names of the runs: their tags where these are different, else their files."""
    for names in (tags, list(map(_name, runs))):
        if len(set(names)) == len(names):
            return names
    return list(map(called, runs))


STANDARD_INPUT = Path("-")
