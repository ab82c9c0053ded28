"""Every kind of note has a sentence, and every sentence is some note's."""

import re
import string
from pathlib import Path

import pytest

import ragassay
from ragassay.base.note import Note
from ragassay.base.printable import plural
from ragassay.reports.text import wording

SOURCES = Path(ragassay.__file__).parent
BUILT = ("correction_", "metrics_only_in_", "offline_", "judge_", "labels_", "lacks_", "unscored_",
         "answers_", "words_", "support_", "retrieval_", "nuggets_", "gate_")  # fmt: skip
"""How kinds begin that are put together from parts."""
CLAUSES = ("gate_", "advice_")
"""How kinds begin that are a part of a sentence."""


def placeholders(text: str) -> dict[str, str]:
    """The places of a sentence, and how each is filled in."""
    return {name: form or "" for _, name, form, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("kind", sorted(wording.words()))
@pytest.mark.parametrize("n", [1, 3])
def test_each_kind_reads_as_a_sentence(kind: str, n: int) -> None:
    text = wording.words()[kind]
    counts = {name: n for name in re.findall(r"\{(\w+)", text) if name != "names"}
    counts.pop("advice", None)  # as in runs of older versions
    said = wording.said(Note(kind, counts, tuple("abc"[:n])))
    assert "{" not in said and "}" not in said and "  " not in said
    if kind != "text" and not kind.endswith("_short") and not kind.startswith(CLAUSES):
        assert said[-1] == "."
    for noun in filter(str.isalpha, {*placeholders(text).values()} - {"said"}):
        assert plural(n, noun) in said


def test_every_kind_with_words_is_made_somewhere() -> None:
    code = "\n".join(path.read_text() for path in SOURCES.rglob("*.py"))
    for kind in wording.words():
        kind = kind.removesuffix("_short")
        assert f'"{kind}"' in code or kind.startswith(BUILT), kind
