"""What a metric gives: a `Score` or an `Unscored`. There is no third thing: no NaN, no neutral 0.5,
no zero for "could not be measured"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Value = float | int | bool | str | list[int]
"""A score's value: a finite number, a flag, or a label (also a list of numbers, of chunks)."""

RECORD = "record"  # whoever gave a judged value of a record that does not say
AND = " + "  # joins the labels of several judges whose answers a score rests on


class Reason(StrEnum):
    """Why a metric has no value for a sample.

    ``incomplete`` reasons are failures of the scoring (exit code 3). ``by_system`` reasons are
    caused by the system: gates count such a sample at the worst and at the best value. The others
    are facts about the sample or the installation.
    """

    NOT_APPLICABLE = "not_applicable"
    """The metric does not apply: no gold passages, no contexts, no references, one run only."""
    MISSING_INPUT = "missing_input"
    """The sample lacks a part that the metric needs (for example its answer)."""
    UNDEFINED = "undefined"
    """The arithmetic has no result, as a reference that normalises to nothing."""
    NOTHING_RETRIEVED = "nothing_retrieved"
    """The system retrieved no passage, or none that holds what the metric looks at."""
    NOTHING_CITED = "nothing_cited"
    """The answer cites no passage."""
    NOTHING_CLAIMED = "nothing_claimed"
    """The answer makes no claim, as a refusal does."""
    EMPTY_ANSWER = "empty_answer"
    """The answer has no words."""
    NEEDS_EXTRA = "needs_extra"
    """An optional package, or a model, is not installed."""
    FAILED = "failed"
    """The metric itself broke down, or its model is damaged; the detail says how."""
    UNSUPPORTED = "unsupported"
    """This judge does not answer such questions (the offline judge and a rubric, for example)."""
    REFUSED = "refused"
    """The judge declined to answer."""
    UNPARSABLE = "unparsable"
    """The judge's reply, and its repair, do not hold an answer where one was agreed on."""
    CONTEXT_TOO_LONG = "context_too_long"
    """The request does not fit into the judge's context."""
    TIMEOUT = "timeout"
    """The judge did not answer before the deadline."""
    CONNECTION = "connection"
    """The judge could not be reached, or hung up."""
    SERVER_ERROR = "server_error"
    """The judge's server failed."""
    JUDGE_ERROR = "judge_error"
    """The code of a judge in Python raised an exception, or returned no text."""
    RATE_LIMITED = "rate_limited"
    """The judge's server went on turning requests away."""
    AUTH = "auth"
    """The server does not take this key, account or model name, or it is not the right one."""
    BUDGET = "budget"
    """Asking would have gone beyond the budget."""
    STOPPED = "stopped"
    """The system under test was not asked: the asking had ended before."""

    @property
    def by_system(self) -> bool:
        """Whether the system's own output leaves the metric nothing to measure."""
        return self in _EXCUSED

    @property
    def excused(self) -> Reason:
        """The reason where the system need not have given what is missing; itself for all that are
        not ``by_system``."""
        return _EXCUSED.get(self, self)

    @property
    def incomplete(self) -> bool:
        """Whether a run with such a score counts as unfinished."""
        return self in _INCOMPLETE

    @property
    def passing(self) -> bool:
        """Whether asking again may help: such a failure is never kept in a ledger."""
        return self in _PASSING


_EXCUSED = {
    Reason.NOTHING_RETRIEVED: Reason.NOT_APPLICABLE,
    Reason.NOTHING_CITED: Reason.UNDEFINED,
    Reason.NOTHING_CLAIMED: Reason.UNDEFINED,
    Reason.EMPTY_ANSWER: Reason.UNDEFINED,
}
_PASSING = frozenset(
    {
        *(Reason.TIMEOUT, Reason.CONNECTION, Reason.SERVER_ERROR, Reason.JUDGE_ERROR),
        *(Reason.RATE_LIMITED, Reason.AUTH, Reason.BUDGET, Reason.STOPPED),
    }
)
_INCOMPLETE = _PASSING | {
    *(Reason.FAILED, Reason.REFUSED, Reason.UNPARSABLE, Reason.CONTEXT_TOO_LONG)
}


@dataclass(frozen=True, slots=True)
class Score:
    """A value that was measured.

    Examples:
        >>> from ragassay import Sample
        >>> from ragassay.metrics import parse
        >>> sample = Sample(id="1", answer="Paris!", references=("paris",))
        >>> found = parse("token_f1.f").score(sample)
        >>> found.value, sorted(found.parts)
        (1.0, ['f', 'p', 'r'])

    Attributes:
        value: finite number, flag, label, or list of whole numbers.
        parts: what the value is made of (per passage, per reference, indices), strict JSON.
        explanation: a sentence for a person, if the value needs it.
        evidence: ids of the answers behind the value (see ``ragassay.judges``).
        assumed: whether the value replaces a missing part of the sample, as the suite's published
            system does; means are shown with and without such values.
        given: whether the record held the value, so that nobody was asked.
        by: judges of the record's values that this value rests on; `RECORD` if the record does
            not name them.

    numpy's scalars become Python's.

    Raises:
        ValueError: the value, or a number inside ``parts``, is NaN or infinite, or of a type that
            is neither a number, a flag nor a text (in ``parts`` also: nothing, a list, a mapping).
    """

    value: Value
    parts: Mapping[str, Any] = field(default_factory=dict)
    explanation: str = ""
    evidence: tuple[str, ...] = ()
    assumed: bool = False
    given: bool = False
    by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        kind = type(self.value)
        if kind is not list or not {int}.issuperset(map(type, self.value)):  # type: ignore[arg-type]
            if kind not in _PLAIN and isinstance(self.value, Mapping | list | tuple | None):
                raise ValueError(f"a score holds a value of the type {kind.__name__}")
            object.__setattr__(self, "value", _plain(self.value, "a score"))
        if self.parts:
            object.__setattr__(self, "parts", _plain(self.parts, "parts"))

    @property
    def number(self) -> float | None:
        """The value as a float (flags count 0 and 1), or ``None`` for a label."""
        return None if isinstance(self.value, str | list) else float(self.value)


def label_of(value: str | list[int]) -> str:
    """A label as a text: a list as ``[1, 3]``."""
    return value if isinstance(value, str) else f"[{', '.join(map(str, value))}]"


@dataclass(frozen=True, slots=True)
class Unscored:
    """No value, and why.

    Examples:
        >>> from ragassay import Sample
        >>> from ragassay.metrics import parse
        >>> found = parse("token_f1.f").score(Sample(id="1", references=("paris",)))
        >>> str(found.reason), found.detail
        ('missing_input', 'the sample has no answer')

    Attributes:
        reason: the typed reason.
        detail: a sentence for a person: what is missing and, if it helps, what to do.
        evidence: ids of the judge's answers so far.
        lacks: the part that the sample lacks, where that is the reason (``texts``: of passages).
    """

    reason: Reason
    detail: str = ""
    evidence: tuple[str, ...] = ()
    lacks: str = field(default="", compare=False, repr=False)

    @property
    def words(self) -> str:
        """Reason and detail as a text: ``undefined: the answer makes no claim``."""
        return f"{self.reason}: {self.detail}"

    @classmethod
    def of_words(cls, text: str) -> Unscored:
        """What `words` wrote; any other text is an explanation of a value that is not there."""
        reason, _, detail = text.partition(": ")
        if reason in set(Reason):
            return cls(Reason(reason), detail)
        return cls(Reason.UNDEFINED, text)


Outcome = Score | Unscored
"""What a metric says about one sample."""


_PLAIN = frozenset({float, int, bool, str})


def _plain(value: Any, where: str) -> Any:
    """The value in Python's own types, as JSON has them."""
    if type(value) not in _PLAIN:
        if value is None:
            return None
        if isinstance(value, Mapping):
            return {key: _plain(item, f"{where}.{key}") for key, item in value.items()}
        if isinstance(value, list | tuple):
            items = [_plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
            return items if isinstance(value, list) else tuple(items)
        # A scalar of numpy's, which is not imported for this, gives its Python twin.
        value = value.item() if getattr(value, "shape", None) == () else value
        if not isinstance(value, int | float | str):
            raise ValueError(f"{where} holds a value of the type {type(value).__name__}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{where} holds {value}; a number must be finite, else use Unscored")
    return value
