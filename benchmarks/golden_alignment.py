"""How long it takes to find chunks in documents: ``python -m benchmarks.golden_alignment``.

Documents are made of random words. Every third chunk has its whitespace changed, every tenth some
words. The peer is a plain search of each chunk in each document, on a part of the chunks.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time

from ragassay.base.sample import Passage
from ragassay.golden.alignment.text_finding import ChunkAligner
from ragassay.golden.documents import Document

LEAST_FOUND = 0.999


def main() -> int:
    """Prints seconds, memory and how many chunks were found where they stand."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the data")
    quick = parser.parse_args().quick
    n_documents, n_chunks = (50, 1000) if quick else (1000, 100_000)
    source = random.Random(0)
    words = [
        "".join(source.choices("abcdefghijklmnop", k=source.randint(2, 9))) for _ in range(20_000)
    ]
    documents = {
        f"d{at}": Document(f"d{at}", f"d{at}.md", " ".join(source.choices(words, k=3000)), "", "")
        for at in range(n_documents)
    }
    chunks = [
        _chunk(documents[f"d{source.randrange(n_documents)}"], source) for _ in range(n_chunks)
    ]

    began = time.perf_counter()
    aligner = ChunkAligner(documents)
    indexed = time.perf_counter() - began
    right = 0
    for text, document, start, end in chunks:
        found = aligner.passage(Passage(text))
        near = (
            found.start is not None and abs(found.start - start) + abs((found.end or 0) - end) < 40
        )
        right += found.document == document and near
    took = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    part = chunks[: max(20, n_chunks // 1000)]
    began = time.perf_counter()
    for text, *_ in part:
        next((key for key, one in documents.items() if text in one.text), None)
    plain = (time.perf_counter() - began) / len(part) * n_chunks
    print(
        f"{n_chunks:,} chunks in {n_documents:,} documents: {took:.1f} s ({indexed:.1f} s for the "
        f"index), {memory:,.0f} MB, {right / n_chunks:.2%} found where they stand"
    )
    print(f"a plain search would take {plain:,.0f} s: x {plain / took:.1f}")
    return right / n_chunks < LEAST_FOUND


def _chunk(document: Document, source: random.Random) -> tuple[str, str, int, int]:
    """A piece of a document as a chunker may give it, with its place."""
    start = source.randrange(len(document.text) - 1000)
    start = document.text.index(" ", start) + 1
    end = document.text.index(" ", start + source.randint(200, 800))
    text = document.text[start:end]
    kind = source.randrange(30)
    if kind % 3 == 0:
        text = text.replace(" ", "\n  ")
    if kind % 10 == 0:
        words = text.split(" ")
        words[len(words) // 2] = "changed"
        text = " ".join(words)
    return text, document.id, start, end


if __name__ == "__main__":
    sys.exit(main())
