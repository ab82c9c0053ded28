"""From a score back to the words behind it, and from those words to the score again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragassay.engine.folder import NUGGETS
from ragassay.engine.own_metrics import own_metrics
from ragassay.engine.results import Result, ScoreRow
from ragassay.engine.scoring import judged_among, score_stream
from ragassay.engine.verdicts import Record, Verdicts
from ragassay.errors import UsageError, did_you_mean
from ragassay.judges.asking import Asker
from ragassay.judges.judge import Judge
from ragassay.judges.ledger import Ledger
from ragassay.judges.question import Question, R_co
from ragassay.judges.verdict import Failure, Provenance, Verdict, evidence_id
from ragassay.metrics import naming
from ragassay.metrics.base import Metric
from ragassay.samples import Identity, Sample
from ragassay.scores import Reason
from ragassay.strict import dumps


@dataclass(frozen=True)
class Evidence:
    """One score and what stands behind it.

    ``verdicts`` are records as in ``verdicts.jsonl``; those of a judge that was sent no prompt have
    the question's ``data`` besides.
    """

    row: ScoreRow
    title: str
    signature: str
    verdicts: tuple[Record, ...]

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        return {
            "score": self.row.to_record(),
            "title": self.title,
            "signature": self.signature,
            "verdicts": [dict(record) for record in self.verdicts],
        }


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
            "scores": [one.to_json() for one in self.scores],
        }


@dataclass(frozen=True)
class Rescored:
    """What came of computing every score of a run again.

    ``different`` holds pairs (stored, recomputed). ``n_verdicts`` counts the verdicts used.
    """

    n_scores: int
    n_verdicts: int
    different: tuple[tuple[ScoreRow, ScoreRow], ...]

    def to_json(self) -> dict[str, Any]:
        """A mapping of plain values."""
        return {
            "scores": self.n_scores,
            "verdicts": self.n_verdicts,
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
    """The scores of a sample with the verdicts behind them.

    Args:
        result: a run.
        sample: the query's id.
        metric: one metric, by the name that the run shows or by its canonical name; all of them
            when left out.
        system: which system, where the run holds several.
        repeat: which repeat, where there are several.

    Raises:
        UsageError: no such sample or metric, or several samples of this id.
    """
    found = _find(result, sample, system, repeat)
    names = {entry.metric: name for name, entry in result.summary.metrics.items()}
    if metric is not None:
        metric = names.get(metric, metric)
        if metric not in result.summary.metrics:
            hint = did_you_mean(metric, result.summary.metrics)
            known = ", ".join(result.summary.metrics)
            raise UsageError(f"The run has no metric {metric!r}. {hint} There are: {known}.")
    rows = [
        row
        for row in result.scores
        if row.identity == found.identity and metric in (None, row.metric)
    ]
    data = _asked_data(result, found, rows)
    scores = []
    for row in rows:
        entry = result.summary.metrics[row.metric]
        records = (result.verdicts.get(one) for one in row.evidence)
        verdicts = tuple(
            record if record.get("messages") else {**record, "data": data.get(record["id"])}
            for record in records
            if record is not None
        )
        scores.append(Evidence(row, entry.title, entry.signature, verdicts))
    return Explained(found, tuple(scores))


def rescore(result: Result, ledger: Ledger | None = None) -> Rescored:
    """Computes every score of a run again, from its samples and verdicts alone: nobody is asked.

    Args:
        result: a run that was kept (in a folder, or whole in memory).
        ledger: take the answers from here instead of the run's own copies.

    Raises:
        UsageError: a metric that is not known here (one of somebody's own).
    """
    metrics = metrics_of(result)
    stored = iter(result.scores)
    judge = FromEvidence(result.verdicts, ledger)
    n, different = 0, []
    with Asker(judge, context=context_of(result)) as asker:
        for samples, outcomes in score_stream(result.samples, list(metrics.values()), asker):
            for at, sample in enumerate(samples):
                for name, column in zip(metrics, outcomes, strict=True):
                    again = ScoreRow.of(sample.identity, name, column[at])
                    before = next(stored)
                    n += 1
                    if not _same(before, again):
                        different.append((before, again))
    return Rescored(n, len(judge.used), tuple(different))


class FromEvidence(Judge):
    """Answers from the verdicts of a run."""

    def __init__(self, verdicts: Verdicts, ledger: Ledger | None = None) -> None:
        self._verdicts, self._ledger = verdicts, ledger
        self.used: dict[str, Question[Any]] = {}

    @property
    def label(self) -> str:
        """``evidence``."""
        return "evidence"

    async def answer(self, question: Question[R_co], repeat: int = 0) -> Verdict[R_co] | Failure:
        """What was said then; `MISSING_INPUT` where nothing was."""
        name = evidence_id(question, repeat)
        self.used[name] = question
        record = self._verdicts.get(name)
        made = Provenance("evidence", attempts=0)
        if record is None:
            detail = f"the run holds no verdict on this {question.kind}"
            return Failure(question, Reason.MISSING_INPUT, detail, made, repeat)
        answer = record["answer"]
        if answer is None:
            return Failure(question, Reason(record["reason"]), record["detail"], made, repeat)
        body = dumps(answer)
        if self._ledger is not None and record.get("request"):
            entry = self._ledger.find(record["request"])
            if entry is None or entry.answer is None:
                detail = f"the ledger holds no answer to this {question.kind}"
                return Failure(question, Reason.MISSING_INPUT, detail, made, repeat)
            body = entry.answer
        reply = question.reply.model_validate_json(body)
        return Verdict(question, question.check(reply), made, repeat)


def metrics_of(result: Result) -> dict[str, Metric]:
    """The metrics of a run by the names that it shows.

    Raises:
        UsageError: one is not known here.
    """
    own_metrics(result.config, result.folder)
    return {name: naming.parse(entry.metric) for name, entry in result.summary.metrics.items()}


def context_of(result: Result) -> dict[str, Any]:
    """What the metrics of a run may look up: its nugget bank, where it has one."""
    if not result.summary.nuggets or result.folder is None:
        return {}
    from ragassay.engine.nugget_bank import NuggetBank

    return {"nuggets": NuggetBank.read(result.folder / NUGGETS)}


def _asked_data(
    result: Result, sample: Sample, rows: Sequence[ScoreRow]
) -> Mapping[str, Mapping[str, Any]]:
    """The data of the questions behind some scores, found by asking the evidence again."""
    known = metrics_of(result)
    wanted = [known[row.metric] for row in rows if row.evidence]
    if not wanted:
        return {}
    judge = FromEvidence(result.verdicts)
    with Asker(judge, context=context_of(result)) as asker:
        for _ in score_stream([sample], judged_among(wanted), asker):
            pass
    return {name: question.data for name, question in judge.used.items()}


def _find(result: Result, name: str, system: str | None, repeat: int | None) -> Sample:
    found = [
        sample
        for sample in result.samples
        if sample.id == name and system in (None, sample.system) and repeat in (None, sample.repeat)
    ]
    if not found:
        ids = [identity[0] for identity in result.columns.identities]
        hint = did_you_mean(name, ids) or f"There are: {', '.join(dict.fromkeys(ids[:5]))} ..."
        raise UsageError(f"The run has no sample {name!r}. {hint}")
    if len(found) > 1:
        which = "; ".join(_spelled(sample.identity) for sample in found[:6])
        raise UsageError(f"{len(found)} samples have the id {name!r}: {which}. Say which one.")
    return found[0]


def _spelled(identity: Identity) -> str:
    _, system, repeat = identity
    return f"--system {system!r} --repeat {repeat}"


def _same(stored: ScoreRow, again: ScoreRow) -> bool:
    """Whether two rows say the same, whichever of them went through JSON."""
    plain = [dumps(replace(row, evidence=()).to_record()) for row in (stored, again)]
    return plain[0] == plain[1]


def differing(found: Iterable[tuple[ScoreRow, ScoreRow]]) -> Iterator[str]:
    """A sentence for each score that came out another."""
    for stored, again in found:
        before = stored.value if stored.value is not None else stored.reason
        after = again.value if again.value is not None else again.reason
        yield f"{stored.sample}: {stored.metric} was {before}, and is {after}"
