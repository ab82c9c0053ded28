"""Who is asked: judges, the questions they answer, and the ledger of paid answers.

docs/own-metrics.md and docs/judges.md show a judge, a question and a judged metric of one's own.
"""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
