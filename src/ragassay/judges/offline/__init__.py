"""The embedded judge: deterministic, no model, no network.

It answers what three signals can tell: coverage of a text by the best window of others, the order
of words (`evidence`), and what differs in a near copy (`near_copy`); and a fitted classifier of
refusals (`refusal`). `questions` says which question is answered by what; to the rest the judge
says ``unsupported``.
"""

LONGEST = 200_000
"""Characters of a text that are read, from the first on."""
