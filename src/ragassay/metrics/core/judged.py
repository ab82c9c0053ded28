"""What metrics that ask a judge, or a neural model, share."""

from __future__ import annotations

import asyncio
import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, ClassVar

from ragassay.base.errors import InputError, LedgerError
from ragassay.base.sample import Sample
from ragassay.base.score import Outcome, Score, Unscored
from ragassay.judges import Question
from ragassay.judges.asking import Ask, Unanswered
from ragassay.metrics.core.metric import Metric, Window, failed
from ragassay.models.weights.weight_files import Unavailable
from ragassay.texts.languages import stated_language


class JudgedMetric(Metric):
    """A metric that asks a judge about one sample at a time: questions of the types ``asks``, which
    enter its signature."""

    asks: ClassVar[tuple[type[Question[Any]], ...]] = ()

    kind = "judge"

    @abstractmethod
    async def judge(self, sample: Sample, ask: Ask) -> Outcome:
        """The outcome for one sample that lacks nothing; ``await ask(question)`` gives the judge's
        typed answer, or raises `Unanswered`, which implementations do not catch: `outcome` turns it
        into `Unscored`."""

    async def outcome(self, sample: Sample, scope: Ask, users: Sequence[Metric] = ()) -> Outcome:
        """The outcome for any sample, with the keys of its answers as evidence. Nothing is asked if
        it, or each of the ``users`` of the outcome, lacks something. ``scope`` remembers the
        answers to the questions of the window."""
        lacking = self.lacks(sample)
        if lacking is None and users and all(lacks := [user.lacks(sample) for user in users]):
            lacking = lacks[0]
        if lacking is not None:
            return lacking
        ask = Ask(scope.asker, scope.memory, stated_language(sample))
        try:
            outcome = await self.judge(sample, ask)
            number = outcome.number if isinstance(outcome, Score) else None
            if number is not None and not self.allows(number):
                raise ValueError(f"the value {number:g} is not from {self.low} to {self.high}")
        except Unanswered as unanswered:
            outcome = Unscored(unanswered.reason, unanswered.detail)
        except (InputError, LedgerError):
            raise  # stored answers cannot be read, or none be kept: this concerns all samples
        except Exception as error:
            outcome = failed(self, error)
        return dataclasses.replace(outcome, evidence=tuple(ask.evidence))

    def score_window(self, window: Window) -> Sequence[Outcome]:
        """Asks the window's judge about all samples concurrently."""
        from ragassay.judges.offline.offline_judge import offline_asker

        with offline_asker() if window.asker is None else nullcontext(window.asker) as asker:
            scope = Ask(asker)

            async def every() -> Sequence[Outcome]:
                outcomes = (self.outcome(sample, scope) for sample in window.samples)
                return await asyncio.gather(*outcomes)

            return asker.submit(every()).result()


class ModelMetric(Metric):
    """A metric that a model measures, a whole window at a time. A sample that lacks something, or
    brings the value itself, never reaches the model."""

    kind = "model"

    def check(self) -> None:
        """Checks before the work begins that the parameters fit together, whatever the model."""

    def score_window(self, window: Window) -> Sequence[Outcome]:
        outcomes = [self.lacks(sample) or self.read(sample) for sample in window.samples]
        rows = [at for at, outcome in enumerate(outcomes) if outcome is None]
        if rows:
            try:
                measured = self.measure(window, rows)
            except Unavailable as error:
                measured = [Unscored(error.reason, str(error))] * len(rows)
            for at, outcome in zip(rows, measured, strict=True):
                outcomes[at] = outcome
        return [outcome for outcome in outcomes if outcome is not None]

    def read(self, sample: Sample) -> Outcome | None:
        """The value that the record brings, ``None`` where it brings none."""
        return None

    @abstractmethod
    def measure(self, window: Window, rows: Sequence[int]) -> Sequence[Outcome]:
        """The model's outcome for some samples of the window, in the order of ``rows``."""
