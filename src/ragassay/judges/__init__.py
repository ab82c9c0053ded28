"""Who is asked: judges, the questions they answer, and the ledger of paid answers.

For a judge, a question or a judged metric of one's own; see docs/own-metrics.md and docs/judges.md.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragassay.judges.asking import Ask, Asker, Unanswered
    from ragassay.judges.judge import Judge
    from ragassay.judges.llm.llm_judge import LLMJudge
    from ragassay.judges.offline import OfflineJudge
    from ragassay.judges.panel import Panel
    from ragassay.judges.question import Question
    from ragassay.judges.replay import Replay
    from ragassay.judges.reply import Reply, whole
    from ragassay.judges.verdict import Failure, Provenance, Verdict

_HOME = {
    "Ask": "asking",
    "Asker": "asking",
    "Failure": "verdict",
    "Judge": "judge",
    "LLMJudge": "llm.llm_judge",
    "OfflineJudge": "offline",
    "Panel": "panel",
    "Provenance": "verdict",
    "Question": "question",
    "Replay": "replay",
    "Reply": "reply",
    "Unanswered": "asking",
    "Verdict": "verdict",
    "whole": "reply",
}

__all__ = [
    "Ask",
    "Asker",
    "Failure",
    "Judge",
    "LLMJudge",
    "OfflineJudge",
    "Panel",
    "Provenance",
    "Question",
    "Replay",
    "Reply",
    "Unanswered",
    "Verdict",
    "whole",
]


def __getattr__(name: str) -> Any:
    """Public names are imported when first used: most runs need few of them."""
    if name not in _HOME:
        raise AttributeError(f"module 'ragassay.judges' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"ragassay.judges.{_HOME[name]}"), name)
    globals()[name] = value
    return value
