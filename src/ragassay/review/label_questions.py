"""The questions that metrics ask about answers, for people to answer in a judge's place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError, UsageError
from ragassay.base.sample import Sample
from ragassay.engine.config.run_config import OWN, POOLED, make_config
from ragassay.engine.results.folders.folder_reading import open_run
from ragassay.engine.run import rescoring
from ragassay.engine.run.prepared_run import prepare
from ragassay.engine.run.scoring import judged_among
from ragassay.judges import Failure, Judge, OfflineJudge, Provenance, Question, Verdict
from ragassay.judges.asking import Asker
from ragassay.judges.planning_judge import NOT_ASKED
from ragassay.judges.reply import R_co
from ragassay.metrics.core.metric import Metric

LABELLED = ("umbrela", "citation_sentences", "answer_match")
"""Metrics whose questions people answer where none are named: relevance of passages, support of
statements, correctness."""

Known = Callable[[Question[Any]], Verdict[Any] | Failure | None]


class AnswersToLabel:
    """Answers of systems, and the metrics whose questions about them people answer.

    Args:
        context: what the metrics look up, see `Asker.context`.
    """

    def __init__(
        self,
        samples: Iterable[Sample],
        metrics: Iterable[Metric],
        context: Mapping[str, Any] | None = None,
    ) -> None:
        self.samples = list(samples)
        self._metrics = judged_among(metrics)
        self._context = context
        if not self._metrics:
            raise UsageError(
                "No metric of these asks a judge, so there is nothing for people to answer. "
                f"Name some with --metrics, as in --metrics {','.join(LABELLED)}."
            )

    @classmethod
    def of(
        cls,
        path: Path,
        golden: Path,
        metrics: Sequence[str] = (),
        suite: Sequence[str] = (),
        nuggets: str = OWN,
    ) -> AnswersToLabel:
        """The answers of a run folder with the run's metrics, or of a file with those named."""
        if path.is_dir():
            if metrics or suite or nuggets != OWN:
                raise UsageError(
                    f"{path} is a run and has its own metrics. Leave --metrics, --suite and "
                    "--nuggets out, or name the file of answers."
                )
            run = open_run(path)
            shown = rescoring.metrics_of(run)
            return cls(run.samples, shown.values(), rescoring.context_of(run))
        if nuggets == POOLED:
            raise UsageError(
                "Pooled nuggets are written by a judge first: make a run with --nuggets pooled, "
                "and name its folder with --answers."
            )
        config = make_config(
            data=str(path),
            golden=golden,
            metrics=list(metrics) or ([] if suite else list(LABELLED)),
            suite=list(suite),
            nuggets=nuggets,
        )
        prepared = prepare(config, dry=True, judge=OfflineJudge())
        context: dict[str, Any] = {}
        if nuggets != OWN:
            from ragassay.formats import NuggetBank

            context["nuggets"] = NuggetBank.read(nuggets)
        samples = list(prepared.source.samples)
        if not samples:
            raise InputError("holds no answers", path=path)
        return cls(samples, prepared.plan.metrics.values(), context)

    def questions(self, samples: Sequence[Sample], known: Known) -> list[list[Question[Any]]]:
        """What the metrics ask about each sample: what follows from it, and what follows from the
        answers that are known."""
        judge = _Known(known)
        questions = []
        with Asker(judge, context=self._context) as asker:
            for sample in samples:
                judge.asked.clear()
                asker.submit(self._walk(sample, asker)).result()
                questions.append(list(judge.asked.values()))
        return questions

    async def _walk(self, sample: Sample, asker: Asker) -> None:
        scope = asker.scope()
        for metric in self._metrics:
            await metric.outcome(sample, scope)


class _Known(Judge):
    """Answers with what is known, and keeps what was asked."""

    label = "people"

    def __init__(self, known: Known) -> None:
        self.asked: dict[str, Question[Any]] = {}
        self._known = known

    async def answer(self, question: Question[R_co], repeat: int = 0) -> Verdict[R_co] | Failure:
        self.asked.setdefault(question.key, question)
        made = Provenance(self.label, attempts=0)
        answer = self._known(question)
        return answer or Failure(question, NOT_ASKED, "nobody answered it", made, repeat)
