"""When two chunks are the same one, and how many hits that makes, one to one: a gold chunk makes at
most one retrieved chunk a hit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragassay.base.sample import GoldPassage, Passage

PART = 20
"""Characters of the shortest passage that counts as a part of a gold one."""


def vectors(rows: ArrayLike) -> NDArray[np.floating]:
    """Embeddings as a matrix, one a row: float32 stays so, anything else becomes float64."""
    try:
        matrix = np.asarray(rows)
        if matrix.dtype != np.float32:
            matrix = matrix.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError("embeddings must be rows of numbers, all of one length") from None
    if matrix.ndim != 2:
        raise ValueError(f"embeddings must be rows of numbers, not an array of {matrix.ndim} axes")
    if not np.isfinite(matrix).all():
        raise ValueError("an embedding holds a number that is not finite")
    return matrix


def cosine_matrix(left: ArrayLike, right: ArrayLike) -> NDArray[np.floating]:
    """Cosines between the rows of two matrices, -1 to 1, shape ``(len(left), len(right))``; 0 with
    a zero vector. Two float32 matrices give float32, anything else float64."""
    a, b = vectors(left), vectors(right)
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"embeddings differ in length: {a.shape[1]} and {b.shape[1]}")
    cosines: NDArray[np.floating] = np.clip(_unit(a) @ _unit(b).T, -1, 1)
    return cosines


def likeness(
    left: ArrayLike, right: ArrayLike, threshold: float
) -> tuple[NDArray[np.floating], NDArray[np.bool_]]:
    """The cosines between rows, and which of them are at least ``threshold``, up to rounding: 1e-9,
    or 1e-6 where single precision is involved, so that a vector is always similar to itself."""
    a, b = vectors(left), vectors(right)
    single = np.float32 in (a.dtype, b.dtype)
    cosines = cosine_matrix(a, b)
    return cosines, cosines >= threshold - (1e-6 if single else 1e-9)


def credited(relevant: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which retrieved chunks are hits, shape ``(n_retrieved,)``.

    A maximum bipartite matching, built in rank order by augmenting paths: a chunk that is credited
    once stays credited. So for every k the hits among the first k rows are a maximum matching of
    those rows, and no other maximum matching has better ranks.
    """
    n_retrieved, n_gold = relevant.shape
    finder: dict[int, int] = {}  # gold -> the retrieved chunk that is credited with it
    hits = (
        len(finder) < n_gold and _augmented(relevant, row, finder) for row in range(n_retrieved)
    )
    return np.fromiter(hits, np.bool_, n_retrieved)


def same_chunks(
    chunks: Sequence[Passage | GoldPassage], *, collapse_whitespace: bool = True, held: bool = False
) -> list[int]:
    """A label for each chunk; chunks with one label are the same chunk.

    Two chunks are the same when they share an id or a text, directly or through a third one; with
    ``held`` also when a passage holds a gold one, or a gold one alone holds `PART` characters or
    more of a passage (what several hold, as a heading, tells nothing). An empty text is equal to
    nothing.
    """
    parent = list(range(len(chunks)))

    def root(at: int) -> int:
        while parent[at] != at:
            at = parent[at]
        return at

    first: dict[tuple[str, str], int] = {}
    texts = [chunk.text or "" for chunk in chunks]
    if collapse_whitespace:
        texts = [" ".join(text.split()) for text in texts]
    for at, chunk in enumerate(chunks):
        for kind, value in (("id", chunk.id), ("text", texts[at])):
            if value:
                parent[root(at)] = root(first.setdefault((kind, value), at))
    is_gold = [isinstance(chunk, GoldPassage) for chunk in chunks]
    for at, text in enumerate(texts if held else ()):
        if len(text) >= (1 if is_gold[at] else PART):
            around = [n for n, t in enumerate(texts) if text in t and is_gold[n] != is_gold[at]]
            for other in around if is_gold[at] or len(around) == 1 else ():
                parent[root(other)] = root(at)
    return [root(at) for at in range(len(chunks))]


def _augmented(relevant: NDArray[np.bool_], row: int, finder: dict[int, int]) -> bool:
    """Credits ``row`` with a gold chunk where an augmenting path from it leads to a free one."""
    reached: dict[int, tuple[int, int | None]] = {}  # gold -> the row before, and the gold before
    queue: list[tuple[int, int | None]] = [(row, None)]
    for at, via in queue:
        for gold in np.flatnonzero(relevant[at]).tolist():
            if gold in reached:
                continue
            reached[gold] = (at, via)
            if gold in finder:
                queue.append((finder[gold], gold))
                continue
            free: int | None = gold
            while free is not None:
                finder[free], free = reached[free]
            return True
    return False


def _unit(matrix: NDArray[np.floating]) -> NDArray[np.floating]:
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    unit: NDArray[np.floating] = matrix / lengths
    return unit
