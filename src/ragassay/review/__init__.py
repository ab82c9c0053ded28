"""Review of golden sets by people: the log of reviews, its page, sheets, agreement."""
