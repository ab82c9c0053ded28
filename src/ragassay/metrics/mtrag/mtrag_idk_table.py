"""The table of IDK conditioning: 1 for a right "I don't know", 0 for a wrong one.

`idk_condition` is the whole table (MT-RAG, step 5), row by row:

=============================  =====  ============  ==================
label                          idk 1  idk 0 or 0.5  idk not understood
=============================  =====  ============  ==================
UNANSWERABLE, CONVERSATIONAL   1      0             the value
ANSWERABLE, PARTIAL            0      the value     the value
UNDERSPECIFIED                 1 if ``underspecified_eval`` is 1, else 0
=============================  =====  ============  ==================

The shorter rule of MT-RAG's metrics page (``rule="spec"``) leaves out two cells: an answerable
query with an "I don't know" keeps its value, and so does a conversational one. The published code
treats a missing label as answerable without a word; here it is an error.
"""

from __future__ import annotations

from typing import Literal

from ragassay.base.errors import InputError
from ragassay.base.sample import ABSTAINING, Answerability

Rule = Literal["paper", "spec"]
Idk = float | str | None
"""An ``idk_eval``: 1, 0.5 or 0; any other text, or ``None``, is a reply that was not understood."""

NO_LABEL = (
    "IDK conditioning needs the task's label: 'answerability' or 'Answerability', in the record or "
    "in input[-1].enrichments"
)


def idk_condition(
    value: float,
    idk: Idk,
    answerability: Answerability | str | None,
    rule: Rule = "paper",
    *,
    underspecified: float | None = None,
) -> float:
    """The IDK-conditioned value of a metric.

    Args:
        value: the metric's own value.
        idk: the ``idk_eval`` of the answer.
        answerability: the query's label, in any case.
        rule: ``paper`` for the whole table, ``spec`` for the shorter rule.
        underspecified: for an UNDERSPECIFIED query, whether the answer says so (1 or not).

    Raises:
        InputError: no label, or an unknown one; or an UNDERSPECIFIED query without
            ``underspecified``.
    """
    cell = idk_cell(idk, answerability, rule, underspecified=underspecified)
    return value if cell is None else cell


def idk_cell(
    idk: Idk,
    answerability: Answerability | str | None,
    rule: Rule = "paper",
    *,
    underspecified: float | None = None,
) -> float | None:
    """The table's entry for an answer: 1, 0, or ``None`` where the metric's own value stands."""
    label = _label(answerability)
    abstained = idk == 1 if idk in (0, 0.5, 1) else None
    if rule == "spec":
        if label is Answerability.UNANSWERABLE and abstained is not None:
            return float(abstained)
        return None
    if label is Answerability.UNDERSPECIFIED:
        if underspecified is None:
            raise InputError(
                "an UNDERSPECIFIED query needs the judge's word on whether the answer says so",
                field="underspecified_eval",
            )
        return float(underspecified == 1)
    if label in ABSTAINING:
        return None if abstained is None else float(abstained)
    return 0.0 if abstained else None


def _label(answerability: Answerability | str | None) -> Answerability:
    if answerability is None or answerability == "":
        raise InputError("the label is missing", field="answerability", hint=NO_LABEL + ".")
    try:
        return Answerability(answerability.casefold())
    except ValueError:
        labels = ", ".join(label.upper() for label in Answerability)
        raise InputError(
            f"{answerability!r} is no label", field="answerability", hint=f"There are {labels}."
        ) from None
