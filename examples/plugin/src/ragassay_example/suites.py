"""A suite: metrics under the names that a team has for them."""

from __future__ import annotations

from ragassay.suites import Suite

STYLE = Suite(
    name="style",
    title="How answers are written",
    source="examples/plugin",
    metrics=("SentenceLength", "idk_eval"),
    aliases={"SentenceLength": "words_per_sentence"},
    columns={"words_per_sentence": "SentenceLength"},
)
