"""Who is asked: judges, the questions they answer, and the ledger of paid answers.

For a judge, a question or a judged metric of one's own; see docs/own-metrics.md and docs/judges.md.
"""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
