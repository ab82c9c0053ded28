"""The judge of a run: from a configuration to a judge with its ledger, limits and budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ragassay.base.errors import UsageError
from ragassay.base.printable import dollars, either, plural
from ragassay.engine.config.run_config import MODEL_KWARGS, Judging, RunConfig
from ragassay.engine.models.needed_models import cosine_of
from ragassay.judges import Judge
from ragassay.judges.asking import Asker
from ragassay.judges.offline.offline_judge import OfflineJudge
from ragassay.suites import Suite

if TYPE_CHECKING:
    from ragassay.judges import JudgeOptions
    from ragassay.judges.ledger.ledger_store import Ledger
    from ragassay.judges.llm.llm_judge import Reuse
    from ragassay.transport.budget import Budget

OFFLINE = "offline"

ABOUT_QUESTIONS = frozenset({"judge", "nuggets", "rubric", "judge_prompt"})
"""Options of the group `Judging` that choose the questions or the judge; the others say how a judge
is asked."""

SENDING = ("concurrency", "rpm", "tpm", "timeout", "ledger", "budget", "refresh")
"""Options that also hold for the requests to an embedder's endpoint."""


@dataclass
class JudgeSession:
    """A judge and what it needs; close it after the run. Whoever asks sets the ``asker``, whose
    state `doing` describes."""

    judge: Judge
    ledger: Ledger | None = None
    budget: Budget | None = None
    asker: Asker | None = None

    def doing(self) -> str:
        """The progress of the asking, in a few words."""
        if self.asker is None:
            return ""
        usage, waiting = self.asker.usage, self.asker.waiting
        if self.asker.ending:
            them = either(waiting, "it", "them")
            return f"waiting for {plural(waiting, 'answer')} in flight; Ctrl-C drops {them}"
        pieces = [f"{plural(usage.questions, 'question')} answered", f"{waiting:,} waiting"]
        if usage.cached:
            pieces.append(f"{usage.cached:,} from the ledger")
        if usage.failures.total():
            pieces.append(f"{usage.failures.total():,} failed")
        if usage.cost:
            pieces.append(dollars(usage.cost))
        return ", ".join(pieces)

    def close(self) -> None:
        """Closes the ledger."""
        if self.ledger is not None:
            self.ledger.close()


def open_session(
    config: RunConfig,
    suites: Sequence[Suite],
    judge: Judge | Sequence[Any] | None = None,
    *,
    dry: bool = False,
    environment: Mapping[str, str] | None = None,
    named: Mapping[str, str] | None = None,
) -> JudgeSession:
    """The judge that a configuration names (the embedded one where it names none)."""
    if isinstance(judge, Judge):
        others = {*ABOUT_QUESTIONS, *(SENDING if config.embedder is not None else ())}
        chosen = [n for n in Judging.model_fields if getattr(config, n) not in (None, False, {})]
        if useless := [name for name in chosen if name not in others]:
            raise UsageError(
                f"{useless[0]!r} is for judges given by name, and yours is an object. "
                "Set it where you make the object."
            )
        return JudgeSession(judge)
    words = list(judge or config.judge or [OFFLINE])
    if config.judge_name is not None:
        from ragassay.judges.judge_factory import check_judge_name

        check_judge_name(words, config.judge_name)
    unasked = (OFFLINE, "replay")  # no prompt is put to these
    kinds = [w.partition(":")[0].casefold() if isinstance(w, str) else "" for w in words]
    if config.prompts and all(kind in unasked for kind in kinds):
        raise UsageError(
            f"prompts: a prompt is for an LLM, and {', '.join(map(str, words))} reads none. "
            "Name an LLM as the judge (--judge openai:gpt-4o-mini)."
        )
    named = named or {}
    if [named.get(word, word) if isinstance(word, str) else word for word in words] == [OFFLINE]:
        return JudgeSession(OfflineJudge())
    from ragassay.judges.judge_factory import make_judge
    from ragassay.judges.ledger.ledger_store import DEFAULT, Ledger, look_into
    from ragassay.transport.budget import Budget

    published = [suite.default_model for suite in suites if suite.default_model]
    budget = None if config.budget is None else Budget.parse(config.budget)
    options = options_of(config, dry=dry)
    options = replace(options, encoder=partial(cosine_of, config), named=named)
    place = config.ledger or DEFAULT
    with ExitStack() as stack:
        ledger = look_into(place) if dry else Ledger(place)
        stack.callback(ledger.close)
        named_judge = make_judge(
            words,
            default_model=published[0] if published else "gpt-4o-mini",
            ledger=ledger,
            budget=budget,
            options=options,
            environment=environment,
        )
        stack.pop_all()
    return JudgeSession(named_judge, ledger, budget)


def options_of(config: Judging, *, dry: bool = False) -> JudgeOptions:
    """How a configuration's judges are asked."""
    from ragassay.judges import JudgeOptions
    from ragassay.judges.own_prompts import read_prompts

    reuse: Reuse = "nothing" if config.refresh else "answers" if config.retry_failed else "all"
    names = {field.name for field in fields(JudgeOptions)}
    names -= {"reuse", "dry", "encoder", "prompts", "named"}
    values: dict[str, Any] = {name: getattr(config, MODEL_KWARGS.get(name, name)) for name in names}
    chosen = {name: value for name, value in values.items() if value is not None}
    prompts = read_prompts(config.prompts) if config.prompts else None
    return JudgeOptions(**chosen, reuse=reuse, dry=dry, prompts=prompts)
