"""Builds the bundled example: ``python examples/town/build.py``.

The documents are written by hand and lie in the package. From them, queries.yaml and answers.yaml
this writes, beside the documents, the queries and what two small RAG systems made of them: real
rankings (retrieval.py) and hand-written answers. The same input gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

import retrieval
from ragassay.base.sample import (
    Answer,
    Answerability,
    GoldPassage,
    Passage,
    Sample,
    Statement,
    Turn,
)
from ragassay.formats import native

HERE = Path(__file__).parent
TARGET = HERE.parents[1] / "src" / "ragassay" / "examples" / "town"
DEPTH = 5
SYSTEMS: Mapping[
    str, Callable[[Sequence[retrieval.Chunk], str, Sequence[str]], retrieval.Ranking]
] = {
    "keyword": retrieval.keyword_search,
    "hybrid": retrieval.hybrid_search,
}
_CITATION = re.compile(r" ?\[([a-z-]+-\d\d)\]")


def main(target: Path = TARGET) -> None:
    """Writes the queries and one file a system."""
    chunks = [
        chunk
        for path in sorted((TARGET / "documents").glob("*.md"))
        for chunk in retrieval.chunks_of(path)
    ]
    entries = yaml.safe_load((HERE / "queries.yaml").read_text(encoding="utf-8"))
    answers = yaml.safe_load((HERE / "answers.yaml").read_text(encoding="utf-8"))
    queries = [known(entry, entries, chunks) for entry in entries]
    if unanswered := {q["id"] for q in queries} ^ answers.keys():
        raise SystemExit(f"queries and answers do not fit: {sorted(unanswered)}")
    native.write((Sample(**q) for q in queries), target / "queries.jsonl")
    for name, search in SYSTEMS.items():
        samples = (answered(q, name, search, chunks, answers[q["id"]][name]) for q in queries)
        native.write(samples, target / f"{name}.jsonl")


def known(
    entry: Mapping[str, Any],
    entries: Sequence[Mapping[str, Any]],
    chunks: Sequence[retrieval.Chunk],
) -> dict[str, Any]:
    """What is known about a query, as arguments of `Sample`."""
    by_id = {other["id"]: other for other in entries}
    history: list[Turn] = []
    first = entry
    while "after" in first:
        first = by_id[first["after"]]
        history[:0] = [
            Turn("user", first["query"]),
            Turn("agent", max(first["references"], key=len)),
        ]
    metadata = {key: entry[key] for key in ("domain", "type", "difficulty")}
    metadata["turn"] = 1 + len(history) // 2
    if "conversation" in first:
        metadata["conversation"] = first["conversation"]
    return {
        "id": entry["id"],
        "query": entry["query"],
        "history": tuple(history),
        "references": tuple(entry["references"]),
        "negative_references": tuple(entry.get("negative", ())),
        "gold": tuple(gold(piece, chunks) for piece in entry.get("evidence", ())) or None,
        "answerability": Answerability(entry.get("answerability", "answerable")),
        "metadata": metadata,
    }


def gold(evidence: Mapping[str, str], chunks: Sequence[retrieval.Chunk]) -> GoldPassage:
    """The one place where the words stand, and the chunk that holds it."""
    ((document, words),) = evidence.items()
    places = [
        (chunk, match.start())
        for chunk in chunks
        if chunk.document == document
        for match in re.finditer(re.escape(words), chunk.text)
    ]
    if len(places) != 1:
        raise SystemExit(f"{document} holds {words!r} {len(places)} times, not once")
    chunk, at = places[0]
    start = chunk.start + at
    return GoldPassage(chunk.id, words, document, start, start + len(words))


def answered(
    query: Mapping[str, Any],
    system: str,
    search: Callable[[Sequence[retrieval.Chunk], str, Sequence[str]], retrieval.Ranking],
    chunks: Sequence[retrieval.Chunk],
    lines: Sequence[str],
) -> Sample:
    """The query with what a system retrieved and said."""
    earlier = [turn.text for turn in query["history"] if turn.speaker == "user"]
    found = search(chunks, query["query"], earlier)[:DEPTH]
    ranks = {chunk.id: rank for rank, (chunk, _) in enumerate(found, 1)}

    def numbered(match: re.Match[str]) -> str:
        if match[1] not in ranks:
            raise SystemExit(f"{system} did not retrieve {match[1]} for {query['id']}")
        return f" [{ranks[match[1]]}]"

    statements = [
        Statement(_CITATION.sub("", line), tuple(_CITATION.findall(line))) for line in lines
    ]
    text = " ".join(_CITATION.sub(numbered, line) for line in lines)
    passages = (Passage(c.text, c.id, score, c.document, c.start, c.end) for c, score in found)
    return Sample(
        **query,
        system=system,
        passages=tuple(passages),
        answer=Answer(text, tuple(statements)),
    )


if __name__ == "__main__":
    main()
