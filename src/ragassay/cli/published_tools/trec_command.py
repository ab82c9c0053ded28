"""``ragassay trec``: evaluate and compare TREC runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.base import printable
from ragassay.base.errors import UsageError, called
from ragassay.cli import show
from ragassay.cli.command import Given, command, numbers
from ragassay.cli.show import console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragassay.compat.trec_eval.trec_evaluation import TrecScores
    from ragassay.metrics.retrieval.trec_names import TrecMeasure


@command("trec")
def trec(given: Given) -> None:
    """Evaluate a TREC run against qrels, as trec_eval does, or compare several runs.

    With one RUN its measures are printed. With several, each is tested against the last RUN, the
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

    A single run is averaged over the queries of both files, as in trec_eval. With -c it is averaged
    over all judged queries, and a missing query counts 0. Several runs are always compared over
    all judged queries.
    """
    runs, query = _runs(given), _only_query(given.debug_level)
    measures = _measures(given)
    if given.more:
        _compare(given, runs, measures, query)
        return
    from ragassay.compat.trec_eval import trec_evaluation as shown

    scores = _score(given, runs[0], measures, complete=given.complete, query=query)
    of = {"per_query": given.per_query, "summary": not given.no_summary}
    if given.format == "ultrarag":
        show.json(shown.ultrarag_summary(scores))
    elif given.json:
        show.json(shown.as_json(scores, str(given.qrels), str(given.run), **of))
    elif given.format == "trec_eval":
        sys.stdout.writelines(f"{printable.lines(line)}\n" for line in scores.lines(**of))
    else:
        show.report(shown.trec_report(scores, _name(runs[0]), **of))
    show.warn(shown.warnings(scores, called(runs[0])))


def _runs(given: Given) -> list[Path]:
    """The runs, with the name of standard input for ``-``; refuses options that do not go
    together."""
    from ragassay.formats.sources import opening

    least = {"level": ("-l", 0), "max_docs": ("-M", 1), "n_docs": ("-N", 0)}
    for name, (flag, lowest) in least.items():
        number = getattr(given, name)
        if number is not None and number < lowest:
            raise UsageError(f"{flag} must be at least {lowest}.")
    runs = [given.run, *given.more]
    for path in runs:
        if path.name.startswith("-") and path != STANDARD_INPUT:
            raise UsageError(
                f"There is no option {str(path)!r}. 'ragassay trec --help' lists them."
            )
    if runs.count(STANDARD_INPUT) > 1:
        raise UsageError("Only one run can be read from standard input ('-').")
    if given.format == "ultrarag" and (given.per_query or given.json or len(given.more) > 1):
        raise UsageError("--format ultrarag takes one run or two, and neither -q nor --json.")
    of_one_run = (given.per_query, given.no_summary, given.z_scores, given.format == "trec_eval")
    if given.more and any(of_one_run):
        raise UsageError("-q, -n, -Z and --format trec_eval take one run; a comparison is a table.")
    if STANDARD_INPUT in runs:
        opening.keep_standard_input(sys.stdin)
        runs[runs.index(STANDARD_INPUT)] = Path(opening.STANDARD_INPUT)
    return runs


def _measures(given: Given) -> list[TrecMeasure]:
    from ragassay import suites
    from ragassay.metrics.retrieval import trec_names

    cutoffs, ultrarag = numbers("--ks", given.ks), given.format == "ultrarag"
    measures = given.measures or (list(trec_names.ULTRARAG) if ultrarag else [])
    if not measures and given.more and given.judgements == "qrels":
        names = [str(metric) for metric in suites.get("retrieval").resolve(ks=cutoffs)]
        return trec_names.ours(names, rel=given.level)
    of = given.of("judgements", "n_docs")
    return trec_names.resolve(measures, rel=given.level, ks=cutoffs, ultrarag=ultrarag, **of)


def _score(
    given: Given,
    run: Path,
    measures: Sequence[TrecMeasure],
    *,
    complete: bool,
    query: str | None = None,
) -> TrecScores:
    from ragassay.compat.trec_eval import trec_evaluation
    from ragassay.engine.run import ranked_runs
    from ragassay.formats.trec.trec_files import read_scales

    with console(stderr=True).status(f"evaluating {_name(run)}"):
        scales = None if given.z_scores is None else read_scales(given.z_scores)
        judged, tag = ranked_runs.read_judged(given.qrels, run, given.judgements)
        return trec_evaluation.score(
            judged,
            tag,
            measures,
            complete=complete,
            depth=given.max_docs,
            judged_only=given.judged_only,
            scales=scales,
            query=query,
        )


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
    given: Given, runs: list[Path], measures: Sequence[TrecMeasure], query: str | None
) -> None:
    import numpy as np

    from ragassay.compat.trec_eval import trec_evaluation
    from ragassay.reports.views.comparison_view import comparison_report
    from ragassay.texts.document_names import CONVERSATION_KEYS, conversations_of_ids

    of_means = [m for m in measures if m.summary and getattr(m.metric, "aggregate", "") == "mean"]
    if not of_means:
        raise UsageError("None of these measures has a mean that could be compared.")
    results = [_score(given, run, of_means, complete=True, query=query) for run in runs]
    names = _names(runs, [scores.tag for scores in results])
    conversations = conversations_of_ids(results[-1].queries)
    clusters = None if conversations is None else np.unique(conversations, return_inverse=True)[1]
    comparisons = trec_evaluation.compared(
        results,
        names,
        clusters=clusters,
        clustered_by=CONVERSATION_KEYS[1],
        **given.of("correction", "n_resamples", "seed"),
    )
    if given.format == "ultrarag":
        show.json(trec_evaluation.ultrarag_comparison(comparisons[0]))
    elif given.json:
        listed = [item.to_json() for item in comparisons]
        show.json({**trec_evaluation.coverage(results[-1]), "comparisons": listed})
    else:
        n = f"{len(results[-1].queries):,}"
        show.lines(f"mean over all {n} judged queries; a query that a run lacks counts 0")
        for comparison in comparisons:
            show.report(comparison_report(comparison, full=True))
    for scores, run in zip(results, runs, strict=True):
        show.warn(trec_evaluation.warnings(scores, called(run)))


def _name(run: Path) -> str:
    return run.name if called(run) == str(run) else called(run)


def _names(runs: list[Path], tags: list[str]) -> list[str]:
    """Names of the runs: their tags where these are different, else their files."""
    for names in (tags, list(map(_name, runs))):
        if len(set(names)) == len(names):
            return names
    return list(map(called, runs))


STANDARD_INPUT = Path("-")
