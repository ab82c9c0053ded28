"""A judge: gives the smallest valid answer to every question, as a baseline for real judges."""

from __future__ import annotations

from typing import Any

from ragassay.judges import Judge, JudgeOptions, Provenance, Question, Verdict


class Baseline(Judge):
    """Asks nobody."""

    label = "baseline"

    def leaves(self) -> tuple[Judge, ...]:
        """None: nothing is sent."""
        return ()

    async def answer(self, question: Question[Any], repeat: int = 0) -> Verdict[Any]:
        """The smallest valid answer."""
        return Verdict(question, question.smallest(), Provenance(self.label), repeat)


def baseline(name: str, options: JudgeOptions) -> Judge:
    """The judge of ``--judge baseline``; ``name`` is what stands after a colon."""
    del name, options
    return Baseline()
