"""Who is asked: judges, the questions they answer, and the ledger of paid answers.

docs/own-metrics.md and docs/judges.md show a judge, a question and a judged metric of one's own.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
