"""The two retrievers of the Alderbrook example: a plain baseline and a better one.

Both rank the same chunks, one a paragraph of a document. Both are deterministic.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragassay.texts import porter_stem

STOP = frozenset(
    re.findall(
        r"\w+",
        """
        a about all am an and any are as at be been but by can could did do does for from get go had
        has have how i if in is it its me may much my need of off on or our out she so some take
        that the their them there they this to too up was we what when where which who will with
        would you your
        """,
    )
)


@dataclass(frozen=True)
class Chunk:
    """One paragraph: characters ``[start, end)`` of a document, under a title and a heading."""

    id: str
    document: str
    start: int
    end: int
    text: str
    title: str
    heading: str


Ranking = list[tuple[Chunk, float]]


def chunks_of(path: Path) -> list[Chunk]:
    """The paragraphs of a Markdown file, headings left out."""
    text = path.read_text(encoding="utf-8")
    title = heading = ""
    found: list[Chunk] = []
    for block in re.finditer(r"\S.*", text):
        line = block.group()
        if line.startswith("# "):
            title = line[2:]
        elif line.startswith("## "):
            heading = line[3:]
        else:
            name = f"{path.stem}-{len(found) + 1:02d}"
            found.append(Chunk(name, path.stem, *block.span(), line, title, heading))
    return found


def keyword_search(chunks: Sequence[Chunk], query: str, earlier: Sequence[str]) -> Ranking:
    """BM25 over the words as they stand. Earlier turns are ignored."""
    documents = [Counter(words(chunk.text)) for chunk in chunks]
    return ranked(chunks, bm25(documents, Counter(words(query))))


def hybrid_search(chunks: Sequence[Chunk], query: str, earlier: Sequence[str]) -> Ranking:
    """BM25 over stems, with titles, headings and earlier turns, fused with a fuzzy match of
    character n-grams."""
    documents = [
        Counter(stems(f"{chunk.title} {chunk.heading} {chunk.heading} {chunk.text}"))
        for chunk in chunks
    ]
    wanted: defaultdict[str, float] = defaultdict(float)
    for age, turn in enumerate([query, *reversed(earlier)]):
        for stem in stems(turn):
            wanted[stem] += 0.5**age
    exact = bm25(documents, wanted)
    grams = [Counter(ngrams(f"{chunk.heading} {chunk.text}")) for chunk in chunks]
    fuzzy = cosine(grams, Counter(ngrams(" ".join([*earlier[-1:], query]))))
    best, closest = max(exact) or 1, max(fuzzy) or 1
    return ranked(chunks, [e / best + f / closest for e, f in zip(exact, fuzzy, strict=True)])


def ranked(chunks: Sequence[Chunk], scores: Sequence[float]) -> Ranking:
    """Chunks with a positive score, best first; ties go to the smaller id."""
    pairs = [(c, round(s, 4)) for c, s in zip(chunks, scores, strict=True) if s > 0]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0].id))


def bm25(documents: Sequence[Counter[str]], query: Mapping[str, float]) -> list[float]:
    """BM25 with k1 = 1.2 and b = 0.75; a query word counts with its weight."""
    n, sizes = len(documents), [sum(document.values()) for document in documents]
    mean = sum(sizes) / n
    scores = [0.0] * n
    for word, weight in query.items():
        holding = sum(word in document for document in documents)
        idf = math.log(1 + (n - holding + 0.5) / (holding + 0.5))
        for at, document in enumerate(documents):
            tf = document[word]
            norm = tf + 1.2 * (0.25 + 0.75 * sizes[at] / mean)
            scores[at] += weight * idf * 2.2 * tf / norm
    return scores


def cosine(documents: Sequence[Counter[str]], query: Counter[str]) -> list[float]:
    """Cosine of tf-idf vectors."""
    n = len(documents)
    held = Counter(word for document in documents for word in document)

    def weigh(counts: Counter[str]) -> dict[str, float]:
        return {w: (1 + math.log(c)) * math.log(1 + n / (1 + held[w])) for w, c in counts.items()}

    def length(vector: dict[str, float]) -> float:
        return math.sqrt(sum(v * v for v in vector.values())) or 1.0

    wanted = weigh(query)
    found = []
    for vector in map(weigh, documents):
        dot = sum(value * vector.get(word, 0.0) for word, value in wanted.items())
        found.append(dot / length(vector) / length(wanted))
    return found


def words(text: str) -> list[str]:
    """Lower-case words that carry meaning."""
    return [word for word in re.findall(r"[a-zäöüéà0-9]+", text.lower()) if word not in STOP]


def stems(text: str) -> list[str]:
    """Porter stems of the words."""
    return [porter_stem(word) for word in words(text)]


def ngrams(text: str) -> list[str]:
    """Four characters in a row."""
    line = " ".join(words(text))
    return [line[i : i + 4] for i in range(max(0, len(line) - 3))]
