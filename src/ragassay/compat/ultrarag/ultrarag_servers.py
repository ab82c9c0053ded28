"""The tools of UltraRAG's servers ``evaluation`` and ``benchmark``, with results of their shape:
what cannot be scored is ``None`` and in no mean; a row is the same record in every column."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ragassay.base.errors import (
    ArgumentError,
    CountedFact,
    InputError,
    OptionError,
    UsageError,
    meant_or_all,
    mistake,
    warn_user,
)
from ragassay.base.files import atomic
from ragassay.base.printable import few
from ragassay.compat.trec_eval import trec_evaluation
from ragassay.compat.ultrarag.pipeline_tools import PARAMETERS
from ragassay.engine import evaluate as evaluate_samples
from ragassay.engine.run import ranked_runs
from ragassay.formats.sources import json_files, opening
from ragassay.metrics.retrieval import trec_names
from ragassay.metrics.retrieval.trec_names import TrecMeasure

METRICS: tuple[str, ...] = tuple(PARAMETERS["evaluation"]["metrics"])
"""Metrics of short answers, by the names of UltraRAG's code."""

_KS = (1, 5, 10, 20, 50, 100)
_Text = Annotated[str, Field(strict=True)]
_Count = Annotated[int, Field(strict=True, ge=1)]
_PATH = TypeAdapter[Any](Annotated[str, Field(strict=True, pattern=r"^[^\x00]*$")])
_TAKES: Mapping[str, TypeAdapter[Any]] = {
    "pred_ls": TypeAdapter(list[_Text | None]),
    "gt_ls": TypeAdapter(list[list[_Text]]),
    "metrics": TypeAdapter(list[_Text]),
    "ks": TypeAdapter(list[_Count]),
    "n_resamples": TypeAdapter(_Count),
}
"""What arguments may be; all others are paths."""


class Evaluated(TypedDict):
    """What an evaluation gives: values and means by metric."""

    eval_res: dict[str, Any]


def evaluate(
    pred_ls: Sequence[str | None],
    gt_ls: Sequence[Sequence[str] | str],
    metrics: Sequence[str] | None = None,
    save_path: str | None = None,
) -> Evaluated:
    """Scores short answers against their gold answers.

    Args:
        pred_ls: an answer a question; ``None`` where there is none.
        gt_ls: for each question the list of all accepted answers (one text in place of a list is
            refused). A question without any scores 0, as in UltraRAG.
        metrics: of `METRICS`, in any case, ``Rouge_1`` for ``rouge-1``; all of them when left out.
        save_path: file for the result, as JSON; none when left out.

    Returns:
        Under ``eval_res`` for each metric its values (0 to 1) in the order of the questions, and
        ``avg_`` its mean over the questions with an answer (``None`` where there is none).

    Raises:
        ArgumentError: lists of different lengths, gold answers that are no lists of texts, or an
            unknown metric.

    Source: UltraRAG, servers/evaluation.
    """
    chosen = _chosen(METRICS if metrics is None else metrics, METRICS)
    _check_answers(pred_ls, gt_ls)
    rows = [
        {"query_id": str(at), "query": "", "answer": answer, "references": list(golds)}
        for at, (answer, golds) in enumerate(zip(pred_ls, gt_ls, strict=True))
    ]
    table = evaluate_samples(rows, metrics=chosen).to_polars() if rows else None
    body: dict[str, Any] = {}
    for name in chosen:
        values = [] if table is None else table[name].to_list()
        body[name] = [
            0.0 if value is None and answer is not None and not golds else value
            for value, answer, golds in zip(values, pred_ls, gt_ls, strict=True)
        ]
        scored = [value for value in body[name] if value is not None]
        body[f"avg_{name}"] = sum(scored) / len(scored) if scored else None
    warn_of_rows(
        [at for at, answer in enumerate(pred_ls) if answer is None],
        "{n} {row has|rows have} no answer and {is|are} in no mean",
    )
    warn_of_rows(
        [at for at, golds in enumerate(gt_ls) if not golds],
        "{n} {row has|rows have} no gold answer and {counts|count} 0, as in UltraRAG",
    )
    return _saved(body, save_path)


def evaluate_trec(
    run_path: str,
    qrels_path: str,
    metrics: Sequence[str] = trec_names.ULTRARAG,
    ks: Sequence[int] = _KS,
    save_path: str | None = None,
) -> Evaluated:
    """Evaluates a TREC run over the queries in both files.

    Args:
        run_path: TREC run; plain or gzip.
        qrels_path: TREC qrels; plain or gzip.
        metrics: of mrr, map, recall, ndcg and precision, in any case.
        ks: cut-offs of recall, ndcg and precision.
        save_path: file for the result, as JSON; none when left out.

    Returns:
        Under ``eval_res`` the means: ``map``, ``mrr``, ``ndcg@k``, ``P@k``, ``recall@k``, as far
        as they were asked for.

    Raises:
        InputError: a file that cannot be read, with its line.
        ArgumentError: an unknown metric or a cut-off below 1.

    Source: UltraRAG, servers/evaluation.
    """
    measures = _measures(metrics, ks)
    judged, tag = ranked_runs.read_judged(Path(qrels_path), Path(run_path), "qrels")
    scores = trec_evaluation.score(judged, tag, measures)
    return _saved(trec_evaluation.ultrarag_summary(scores), save_path)


def evaluate_trec_pvalue(
    run_new_path: str,
    run_old_path: str,
    qrels_path: str,
    metrics: Sequence[str] = trec_names.ULTRARAG,
    ks: Sequence[int] = _KS,
    n_resamples: int = 10_000,
    save_path: str | None = None,
) -> Evaluated:
    """Tests whether two TREC runs differ: a two-sided paired permutation test for each metric.

    A judged query that one run lacks counts 0 there; one that both lack is left out. Signs are
    drawn from a fixed seed, ties count, and no p-value is 0. Nothing is corrected for the number of
    metrics: 'ragassay trec' does that.

    Args:
        run_new_path: TREC run A, the new one.
        run_old_path: TREC run B, the old one.
        qrels_path: TREC qrels.
        metrics: of mrr, map, recall, ndcg and precision, in any case.
        ks: cut-offs of recall, ndcg and precision.
        n_resamples: random sign patterns; all patterns up to 16 queries.
        save_path: file for the result, as JSON; none when left out.

    Returns:
        Under ``eval_res`` for each metric ``A_mean``, ``B_mean``, ``diff`` (A - B), ``p_value`` and
        ``significant`` (p < 0.05).

    Raises:
        InputError: a file that cannot be read, with its line.
        ArgumentError: an unknown metric, a cut-off or a number of patterns below 1.

    Source: UltraRAG, servers/evaluation.
    """
    _check("n_resamples", n_resamples)
    measures = _measures(metrics, ks)
    judged = [
        ranked_runs.read_judged(Path(qrels_path), Path(path), "qrels")
        for path in (run_new_path, run_old_path)
    ]
    met = judged[0][0].in_run | judged[1][0].in_run
    scores = [trec_evaluation.score(*pair, measures, complete=True) for pair in judged]
    test = {"correction": "none", "n_resamples": n_resamples}
    (comparison,) = trec_evaluation.compared(scores, ("A", "B"), only=met, **test)
    return _saved(trec_evaluation.ultrarag_comparison(comparison), save_path)


def check_argument(tool: str, name: str, value: Any) -> None:
    """Refuses, with an `OptionError`, an argument that a tool cannot take, whatever the answers or
    runs are; ``pred_ls`` and ``gt_ls`` the tool checks itself."""
    optional = name == "save_path" or (tool == "evaluate" and name == "metrics")
    if name in ("pred_ls", "gt_ls") or (value is None and optional):
        return
    try:
        _check(name, value)
        if name == "metrics":
            _chosen(value, METRICS if tool == "evaluate" else trec_names.ULTRARAG)
    except ArgumentError as error:
        raise OptionError(name, str(error).removeprefix(f"{name} ")) from error


def _check(name: str, value: Any) -> None:
    """Refuses a value that an argument cannot have."""
    try:
        _TAKES.get(name, _PATH).validate_python(value)
    except ValidationError as error:
        place, problem = mistake(error)
        where = f"{name}.{place}:" if place else name
        raise ArgumentError(f"{where} {problem}.") from error


def _measures(metrics: Sequence[str], ks: Sequence[int]) -> list[TrecMeasure]:
    names = _chosen(metrics, trec_names.ULTRARAG)
    _check("ks", list(ks))
    cut = [name for name in names if name not in ("mrr", "map")]
    if cut and not ks:
        raise ArgumentError(
            f"ks is empty, and {' and '.join(cut)} need cut-offs, such as 1, 5, 10."
        )
    return trec_names.resolve(names, ks=tuple(ks) if cut else None, ultrarag=True)


def _chosen(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """The known names for these names, each once."""
    if isinstance(names, str):
        raise ArgumentError(f"metrics is a text, {names!r}: write a list of names.")
    if not names:
        raise ArgumentError(f"metrics is empty. There are: {', '.join(known)}.")
    chosen = [name.casefold().replace("_", "-") for name in names]
    for name, wanted in zip(names, chosen, strict=True):
        if wanted not in known:
            hint = meant_or_all(wanted, known)
            raise ArgumentError(f"metrics names {name!r}, which is unknown. {hint}")
    return list(dict.fromkeys(chosen))


def _check_answers(pred_ls: Any, gt_ls: Any) -> None:
    _check("pred_ls", pred_ls)
    _check("gt_ls", gt_ls)
    if (n := len(pred_ls)) != len(gt_ls):
        less, n = ("pred_ls", n) if n < len(gt_ls) else ("gt_ls", len(gt_ls))
        raise ArgumentError(
            f"pred_ls has {len(pred_ls):,} items and gt_ls {len(gt_ls):,}: {less} ends "
            f"before row {n} (counted from 0). Both need an item a question."
        )


def _saved(body: dict[str, Any], save_path: str | None) -> Evaluated:
    """The result of a tool, also written to a file where one is named."""
    if save_path:
        text = json.dumps(body, indent=4, ensure_ascii=False, allow_nan=False)
        try:
            with atomic(save_path) as stream:
                stream.write(text.encode() + b"\n")
        except UsageError as error:  # whose advice is for options of a command
            problem = str(error).partition(" Choose ")[0]
            raise ArgumentError(f"save_path: {problem} Name another file.") from error
    return {"eval_res": body}


# The data


class Benchmark(BaseModel):
    """What `get_data` takes, with the defaults of UltraRAG's server."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    name: Any = None
    path: Annotated[str, Field(min_length=1, pattern=r"^[^\x00]+$")]
    key_map: Annotated[dict[str, str], Field(min_length=1)]
    limit: Literal[-1] | Annotated[int, Field(ge=1)] = -1
    seed: int = 42
    shuffle: bool = False


def get_data(benchmark: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Reads columns of a file.

    Args:
        benchmark: ``path`` of a JSONL, JSON or Parquet file; ``key_map``, the field for each
            column; ``limit``, records to take (-1: all); ``shuffle``, whether in random order, by
            ``seed``; ``name``, which means nothing here.

    Returns:
        For each column of ``key_map`` its items, in the order of the records.

    Raises:
        ArgumentError: an unknown or impossible value in ``benchmark``.
        InputError: a file that cannot be read, or a field that no record has.

    Source: UltraRAG, servers/benchmark.
    """
    asked = checked(benchmark)
    path, key_map = Path(asked.path), asked.key_map
    records = _records(path)
    if not records:
        raise InputError("holds no record", path=path)
    if asked.shuffle:
        random.Random(asked.seed).shuffle(records)
    if asked.limit > 0:
        records = records[: asked.limit]
    for column, field in key_map.items():
        _check_field(records, column, field, path)
    return {column: [record.get(field) for record in records] for column, field in key_map.items()}


def checked(benchmark: Any) -> Benchmark:
    """What `get_data` is given, checked; an `ArgumentError` names what is unknown or impossible."""
    body = dict(benchmark) if isinstance(benchmark, Mapping) else benchmark
    try:
        return Benchmark.model_validate(body)
    except ValidationError as error:
        field, problem = mistake(error)
        if field is None:
            problem, known = "is not a mapping of keys: it takes 'path' and 'key_map'", True
        else:
            known = field.partition(".")[0] in Benchmark.model_fields
        hint = "" if known else f" {meant_or_all(str(field), Benchmark.model_fields)}"
        place = "benchmark" if field is None else f"benchmark.{field}"
        raise ArgumentError(f"{place} {problem}.{hint}") from error


def _records(path: Path) -> list[dict[str, Any]]:
    """All records of a file."""
    suffix = path.suffix.casefold()
    if suffix in (".jsonl", ".json"):
        return [
            record for _, record in json_files.json_records(path, is_record=lambda record: True)
        ]
    if suffix != ".parquet":
        hint = "Name a .jsonl, .json or .parquet file."
        raise InputError(f"ends in {suffix or 'nothing'!r}", path=path, hint=hint)
    import polars

    with opening.by_polars(path, "Parquet"):
        return polars.read_parquet(path).to_dicts()


def _check_field(records: list[dict[str, Any]], column: str, field: str, path: Path) -> None:
    """Refuses a field that no record has, and warns of records without it."""
    without = [at for at, record in enumerate(records) if record.get(field) is None]
    if len(without) == len(records):
        present = dict.fromkeys(name for record in records for name in record)
        problem = f"no record has the field that key_map.{column} names"
        raise InputError(problem, path=path, field=field, hint=meant_or_all(field, present))
    fact = f"{{n}} {{record lacks|records lack}} the field {field!r}"
    warn_of_rows(without, fact, f": {column} has null there")


def warn_of_rows(rows: Sequence[int], fact: str, then: str = "") -> None:
    """Warns of rows, where there are any."""
    if rows:
        numbers = few([str(row) for row in rows])
        warn_user(CountedFact(f"{fact} (counted from 0: {numbers}){then}.", len(rows)))
