"""Explains scores by the answers that they rest on, and computes scores again from them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ragassay.base.errors import InputError, RagassayError, UsageError, did_you_mean
from ragassay.base.json_data import dumps
from ragassay.base.sample import Sample
from ragassay.base.score import Reason
from ragassay.engine.comparison.offline_agreement import OFFLINE
from ragassay.engine.config.metric_selection import own_metrics
from ragassay.engine.models.needed_models import models_again, weights_among
from ragassay.engine.results.folders.run_folder import NUGGETS
from ragassay.engine.results.judge_answers import JudgeAnswers, Record
from ragassay.engine.results.result import Result
from ragassay.engine.results.score_rows import Rows, ScoreRow, with_samples
from ragassay.engine.results.summary import MetricSummary, shown
from ragassay.engine.run.scoring import judged_among, rows_of, score_stream
from ragassay.judges import Failure, Judge, JudgeAnswer, Provenance, Question
from ragassay.judges.asking import Asker
from ragassay.judges.judge import evidence_id
from ragassay.judges.offline.offline_judge import too_long
from ragassay.judges.question import R_co
from ragassay.judges.replay import vote_of
from ragassay.metrics.core import naming
from ragassay.metrics.core.metric import AllSamples, Metric
from ragassay.models.embedders.embedder import DEFAULT
from ragassay.models.weights.weight_files import BY_MODEL


@dataclass(frozen=True)
class Evidence:
    """One score and the answers that it rests on: records as in ``judge_answers.jsonl``. Those of a
    judge that was sent no prompt also have the ``data`` of the question, where the metric is known
    here, and ``cut`` names the texts that the offline judge did not read to their end."""

    row: ScoreRow
    metric: MetricSummary
    judge_answers: tuple[Record, ...]


@dataclass(frozen=True)
class Explained:
    """The evidence of a sample's scores, one entry a metric."""

    sample: Sample
    scores: tuple[Evidence, ...]

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        return {
            "sample": self.sample.id,
            "system": self.sample.system,
            "repeat": self.sample.repeat,
            "query": self.sample.query,
            "scores": [
                {
                    "score": score.row.to_record(),
                    "title": score.metric.title,
                    "signature": score.metric.signature,
                    "judge_answers": [dict(record) for record in score.judge_answers],
                }
                for score in self.scores
            ],
        }


@dataclass(frozen=True)
class Rescored:
    """The result of computing every score of a run again.

    ``different`` holds pairs (stored, recomputed). ``n_answers`` counts the answers used, and
    ``unmeasured`` the scores that need a neural model that is not on this machine: these are not
    computed."""

    n_scores: int
    n_answers: int
    different: tuple[tuple[ScoreRow, ScoreRow], ...]
    unmeasured: int = 0

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        return {
            "scores": self.n_scores,
            "judge_answers": self.n_answers,
            "unmeasured": self.unmeasured,
            "different": [
                {"stored": stored.to_record(), "recomputed": again.to_record()}
                for stored, again in self.different
            ],
        }


def explain(
    result: Result,
    sample: str,
    metric: str | None = None,
    *,
    system: str | None = None,
    repeat: int | None = None,
) -> Explained:
    """The scores of a sample (the query's id) with the answers that they rest on: of one metric, by
    any of its names, or of all. A `UsageError` where there is no such sample or metric, or several
    samples have this id, ``system`` and ``repeat``."""
    chosen_sample, by_metric = _find(result, sample, system, repeat)
    entries = result.summary.metrics
    chosen: Iterable[str] = entries
    if metric is not None:
        canonical = {name: entry.metric for name, entry in entries.items()}
        chosen = shown(metric, canonical, result.config.get("suite") or (), "this run", write=None)
    rows = [row for name, row in by_metric.items() if name in chosen]
    data = _asked_data(result, chosen_sample, rows)
    scores = []
    for row in rows:
        records = filter(None, map(result.judge_answers.get, row.evidence))
        answers = tuple(_with_data(record, data.get(record["id"])) for record in records)
        scores.append(Evidence(row, entries[row.metric], answers))
    return Explained(chosen_sample, tuple(scores))


def rescore(result: Result) -> Rescored:
    """Computes every score of a run again, from its samples and answers alone. No judge is asked. A
    `UsageError` where a metric is not known here (one of somebody's own)."""
    metrics = metrics_of(result)
    judge = FromEvidence(result.judge_answers)
    n, unmeasured, different = 0, 0, []
    modelled = {name for name, metric in metrics.items() if weights_among([metric], DEFAULT)}
    with Asker(judge, context=context_of(result)) as asker:
        models = models_again(result.config, result.folder)
        all_samples = AllSamples(lambda: result.samples)
        windows = score_stream(
            result.samples, list(metrics.values()), asker, models=models, all_samples=all_samples
        )
        rows = (row for window in windows for row in rows_of(window, list(metrics), ""))
        for before, again in zip(result.scores, rows, strict=True):
            lacks_model = again.metric in modelled and again.reason in BY_MODEL
            if lacks_model and before.reason != again.reason:
                unmeasured += 1
                continue
            n += 1
            # As JSON, since only one of them was read from it.
            pair = [replace(row, evidence=(), judge="") for row in (before, again)]
            if dumps(pair[0].to_record()) != dumps(pair[1].to_record()):
                different.append((before, again))
    return Rescored(n, len(judge.used), tuple(different), unmeasured)


class FromEvidence(Judge):
    """Answers from the answers of a run, votes included."""

    label = "evidence"

    def __init__(self, judge_answers: JudgeAnswers) -> None:
        self._judge_answers = judge_answers
        self.used: dict[str, Question[Any]] = {}

    async def answer(
        self, question: Question[R_co], repeat: int = 0
    ) -> JudgeAnswer[R_co] | Failure:
        """The stored answer to a question; a `Failure` with `MISSING_INPUT` where there is none."""
        name = evidence_id(question, repeat)
        self.used[name] = question
        record = self._judge_answers.get(name)
        if record is None:
            detail = f"the run holds no answer on this {question.kind}"
            return Failure(question, Reason.MISSING_INPUT, detail, _MADE, repeat)
        try:
            return vote_of(record, question, repeat, "the run's evidence")
        except InputError as error:
            detail = f"the answer {name} does not answer this {question.kind}: {error}"
            return Failure(question, Reason.FAILED, detail, _MADE, repeat)


_MADE = Provenance("evidence", attempts=0)


def metrics_of(result: Result) -> dict[str, Metric]:
    """The metrics of a run by the names that it shows."""
    own_metrics(result.config, result.folder)
    metrics = {}
    for name, entry in result.summary.metrics.items():
        try:
            metrics[name] = naming.parse(entry.metric)
        except UsageError as error:
            raise UsageError(
                f"The metric {name!r} is not known here. If it is a class of your own, import the "
                "module that defines it, and call ragassay.engine.rescore(ragassay.open_run(DIR))."
            ) from error
    return metrics


def context_of(result: Result) -> dict[str, Any]:
    """What the metrics of a run may look up: its nugget bank, where it has one."""
    if result.bank is not None:
        return {"nuggets": result.bank}
    if not result.summary.nuggets or result.folder is None:
        return {}
    from ragassay.formats import NuggetBank

    return {"nuggets": NuggetBank.read(result.folder / NUGGETS)}


def _asked_data(
    result: Result, sample: Sample, rows: Sequence[ScoreRow]
) -> Mapping[str, Mapping[str, Any]]:
    """The data of the questions that some scores rest on; the metrics ask them again of the stored
    evidence. Metrics that are not known here are left out."""
    with suppress(RagassayError):
        own_metrics(result.config, result.folder)
    metrics = []
    for row in rows:
        if row.evidence:
            with suppress(UsageError):
                metrics.append(naming.parse(result.summary.metrics[row.metric].metric))
    if not metrics:
        return {}
    judge = FromEvidence(result.judge_answers)
    with Asker(judge, context=context_of(result)) as asker:
        for _ in score_stream([sample], list(judged_among(metrics)), asker):
            pass
    return {name: question.data for name, question in judge.used.items()}


def _with_data(record: Record, data: Mapping[str, Any] | None) -> Record:
    """An answer with all of the data that it is about, where no prompt contains it."""
    if data is None:
        return record
    extended = dict(record)
    answers = (record, *record.get("votes", ()))
    cut = [name for name, _ in too_long(data)]
    if cut and any(str(answer.get("judge", "")).startswith(OFFLINE) for answer in answers):
        extended["cut"] = cut
    has_prompt = any(answer.get("messages") for answer in answers)
    return extended if has_prompt else {**extended, "data": data}


def _find(result: Result, name: str, system: str | None, repeat: int | None) -> tuple[Sample, Rows]:
    """A sample and its scores. Raises as `explain` does."""
    matches = [
        (sample, rows)
        for (query, of, at), sample, rows in with_samples(result)
        if query == name and system in (None, of) and repeat in (None, at)
    ]
    if not matches:
        ids = [identity[0] for identity in result.columns.identities]
        hint = did_you_mean(name, ids) or f"There are: {', '.join(dict.fromkeys(ids[:5]))} ..."
        raise UsageError(f"The run has no sample {name!r}. {hint}")
    if len(matches) > 1:
        which = "; ".join(
            f"--system {shlex.quote(sample.system)} --repeat {sample.repeat}"
            for sample, _ in matches[:6]
        )
        raise UsageError(f"{len(matches)} samples have the id {name!r}: {which}. Say which one.")
    return matches[0]


def differing(pairs: Iterable[tuple[ScoreRow, ScoreRow]]) -> Iterator[str]:
    """A sentence for each score whose recomputed value differs."""
    for stored, again in pairs:
        before = stored.value if stored.value is not None else stored.reason
        after = again.value if again.value is not None else again.reason
        yield f"{stored.sample}: {stored.metric} was {before}, and is {after}"
