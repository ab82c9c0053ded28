"""A small RAG system: the passage with most words of the query, and its first sentence."""

from __future__ import annotations

import re
from typing import Any

PASSAGES = {
    "dune": "Dune was written by Frank Herbert. It was published in 1965.",
    "emma": "Emma was written by Jane Austen. It was published in 1815.",
    "ulysses": "Ulysses was written by James Joyce. It was published in 1922.",
    "walden": "Walden was written by Henry David Thoreau. It was published in 1854.",
    "dracula": "Dracula was written by Bram Stoker. It was published in 1897.",
    "persuasion": "Persuasion was written by Jane Austen. It was published in 1817.",
}


def answer(query: str) -> dict[str, Any]:
    """The answer to a query, with the passages that it rests on."""
    words = set(re.findall(r"\w+", query.casefold()))
    found = sorted(
        PASSAGES, key=lambda name: -len(words & set(re.findall(r"\w+", PASSAGES[name].casefold())))
    )
    sentences = PASSAGES[found[0]].split(". ")
    chosen = sentences[1] if "when" in words else sentences[0]
    passages = [{"id": name, "text": PASSAGES[name]} for name in found[:2]]
    return {"answer": f"{chosen.rstrip('.')}.", "passages": passages}
