"""Who is asked in a run: from a configuration to a judge with its ledger, limits and budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.engine.config import RunConfig
from ragassay.engine.scoring import judged_among
from ragassay.engine.summary import Spending
from ragassay.judges.asking import Asked, Asker
from ragassay.judges.judge import Judge
from ragassay.judges.offline import OfflineJudge
from ragassay.judges.questions.nuggets import AssignNuggets
from ragassay.metrics.base import Metric
from ragassay.suites import Suite

if TYPE_CHECKING:
    from ragassay.engine.nugget_bank import NuggetBank
    from ragassay.judges.budget import Budget
    from ragassay.judges.ledger import Ledger

LEDGER = Path(".ragassay") / "ledger.sqlite"
"""Where paid answers are kept, below the current folder, unless ``--ledger`` names another file."""

OFFLINE = "offline"


@dataclass
class Bench:
    """A judge and what it needs; close it after the run."""

    judge: Judge
    ledger: Ledger | None = None
    budget: Budget | None = None
    _asker: Asker | None = None

    @property
    def costs(self) -> bool:
        """Whether asking takes time and money: the embedded judge is no more than arithmetic."""
        return not isinstance(self.judge, OfflineJudge)

    def doing(self) -> str:
        """How far the asking is, in a few words."""
        if self._asker is None:
            return ""
        usage, waiting = self._asker.usage, self._asker.waiting
        pieces = [f"{usage.questions:,} questions answered", f"{waiting:,} waiting"]
        if usage.cached:
            pieces.append(f"{usage.cached:,} from the ledger")
        if usage.failures.total():
            pieces.append(f"{usage.failures.total():,} failed")
        if usage.cost:
            pieces.append(f"${usage.cost:,.2f}")
        return ", ".join(pieces)

    def asker(
        self,
        keep: Callable[[Asked], None] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Asker:
        """An asker of this judge; `doing` then speaks of it."""
        self._asker = Asker(self.judge, keep=keep, context=context)
        return self._asker

    def close(self) -> None:
        """Closes the ledger."""
        if self.ledger is not None:
            self.ledger.close()


def bench_for(
    config: RunConfig,
    suites: Sequence[Suite] = (),
    judge: Judge | None = None,
    *,
    dry: bool = False,
) -> Bench:
    """The judge that a configuration names (the embedded one where it names none).

    Args:
        config: names judges, limits, budget and ledger.
        suites: the first with a published default model decides it, where only a provider is named.
        judge: takes the place of the configuration's, where given.
        dry: nothing will be asked: no key is needed, and no ledger is made where there is none.

    Raises:
        UsageError: an unknown provider, a missing key or package, an impossible budget.
        InputError: the ledger, a key file or recorded verdicts cannot be read.
    """
    if judge is not None:
        return Bench(judge)
    words = config.judge or [OFFLINE]
    if words == [OFFLINE]:
        return Bench(OfflineJudge())
    from ragassay.judges.budget import Budget
    from ragassay.judges.ledger import Ledger
    from ragassay.judges.ledger_file import MEMORY
    from ragassay.judges.named import JudgeOptions, make_judge

    model = next((suite.default_model for suite in suites if suite.default_model), "gpt-4o-mini")
    budget = None if config.budget is None else Budget.parse(config.budget)
    chosen = {
        "concurrency": config.concurrency,
        "rpm": config.rpm,
        "tpm": config.tpm,
        "timeout": config.timeout,
        "temperature": config.temperature,
        "max_tokens": config.max_tokens,
        "seed": config.seed,
        "key_file": config.key_file,
        "price": config.price,
        "rule": config.panel_rule,
        "quorum": config.quorum,
        "reuse": "nothing" if config.refresh else "answers" if config.retry_failed else "all",
    }
    given: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    options = JudgeOptions(**given, dry=dry)
    place = Path(config.ledger or LEDGER)
    with ExitStack() as stack:
        ledger = Ledger(MEMORY if dry and not place.exists() else place)
        stack.callback(ledger.close)
        made = make_judge(words, default_model=model, ledger=ledger, budget=budget, options=options)
        stack.pop_all()
    return Bench(made, ledger, budget)


def spending(asker: Asker, seconds: float) -> Spending:
    """What was asked through an asker, for the summary."""
    usage = asker.usage
    return Spending(
        judge=asker.judge.label,
        signature=asker.judge.signature,
        questions=usage.questions,
        calls=usage.calls,
        cached=usage.cached,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost=round(usage.cost, 6),
        unpriced=usage.unpriced,
        failures=dict(usage.failures.most_common()),
        seconds=round(seconds, 3),
    )


def signature(metric: Metric, asker: Asker | None, bank: NuggetBank | None = None) -> str:
    """A metric's signature as it was really computed: with its judge, prompts and nugget bank.

    Two scores compare only where these agree; ``ragassay compare`` refuses otherwise.
    """
    judged = judged_among([metric])
    if not judged or asker is None:
        return metric.signature
    kinds = dict.fromkeys(question for one in judged for question in one.asks)
    parts = [metric.signature]
    for question in kinds:
        hashes = asker.usage.prompts.get(question.kind, ())
        shown = "+".join(sorted(hashes)) or f"v{question.version}"
        parts.append(f"{question.kind}:{shown}")
    parts.append(f"judge={asker.judge.signature}")
    if any(question.kind == AssignNuggets.kind for question in kinds):
        parts.append(f"nuggets={'own' if bank is None else bank.hash}")
    return "|".join(parts)
