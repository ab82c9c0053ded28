"""Two small RAG systems as local HTTP servers: ``python examples/systems/serve.py``.

``keyword`` ranks by BM25 over words, ``hybrid`` by stems, headings, earlier turns and character
n-grams (examples/town/retrieval.py). Both answer by the sentence of the best passages that, with
the headings above it, shares most with the question, and cite it. Where none shares enough, or the
question names what no document names, they say that they do not know. They serve at ``/keyword``
and ``/hybrid``, and stream at ``/hybrid/stream``.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1] / "town"))

import retrieval  # noqa: E402

DOCUMENTS = HERE.parents[2] / "src" / "ragassay" / "examples" / "town" / "documents"
"""The documents that the systems know, unless others are named."""

DEPTH = 5
LEAST = 0.3
"""Share of the question's words, rare ones counting more, that a sentence must have to be an
answer."""
UNKNOWN = "I do not know."
NAME = re.compile(r"\b[A-ZÀ-Þ][a-zà-ÿ]+\b")

SEARCHES = {"keyword": retrieval.keyword_search, "hybrid": retrieval.hybrid_search}


class Corpus:
    """The documents (``.md``) of a folder, as paragraphs.

    Attributes:
        chunks: the paragraphs.
        holding: paragraphs that hold each stem.
        titles: the stems of each document's title.

    Raises:
        ValueError: there is no such folder, or nothing to search in it; a sentence.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise ValueError(
                f"There is no folder {folder}. Name one with Markdown files: --documents."
            )
        files = sorted(folder.glob("*.md"))
        self.chunks = [one for path in files for one in retrieval.chunks_of(path)]
        if not self.chunks:
            raise ValueError(
                f"The folder {folder} has no Markdown file (.md) with text, so the systems would "
                "have nothing to answer from. Name another: --documents."
            )
        self.holding = Counter(
            stem
            for one in self.chunks
            for stem in set(retrieval.stems(f"{one.title} {one.heading} {one.text}"))
        )
        self.titles = {frozenset(retrieval.stems(one.title.split(":")[0])) for one in self.chunks}


def answer(
    corpus: Corpus,
    system: str,
    question: str,
    turns: list[dict[str, str]],
    given: list[str] | None = None,
) -> dict[str, Any]:
    """What a system answers, as its API gives it; it does not search where it is given texts."""
    earlier = [turn["content"] for turn in turns if turn["role"] == "user"]
    if given is None:
        found = SEARCHES[system](corpus.chunks, question, earlier)[:DEPTH]
    else:
        found = [
            (retrieval.Chunk(f"given-{n}", "", 0, 0, text, "", ""), 1.0)
            for n, text in enumerate(given)
        ]
    text, source = UNKNOWN, ""
    if all(corpus.holding[one] for name in NAME.findall(question) for one in retrieval.stems(name)):
        least = LEAST if given is None else 0.0
        wanted = set(retrieval.stems(question))
        text, source = best_sentence(corpus, [chunk for chunk, _ in found], wanted, least)
    hits = [
        {"chunk": c.id, "content": c.text, "relevance": score, "file": c.document,
         "span": [c.start, c.end]}
        for c, score in found
    ]  # fmt: skip
    read = sum(len(c.text.split()) for c, _ in found) + len(question.split())
    return {
        "result": {"text": text, "sources": [source] if source else []},
        "hits": hits,
        "usage": {"read": read, "written": len(text.split())},
        "version": f"{system}-2",
    }


def best_sentence(
    corpus: Corpus, chunks: list[retrieval.Chunk], wanted: set[str], share: float
) -> tuple[str, str]:
    """The sentence that shares most with a question, and its chunk; of equal ones the one that has
    more of it without its headings. The title of a document that is named in full tells nothing.
    ``share`` of the question is the least that counts."""
    named = {stem for title in corpus.titles if title <= wanted for stem in title}
    asked = wanted - named or wanted
    rarity = {one: math.log(1 + len(corpus.chunks) / (1 + corpus.holding[one])) for one in asked}
    least = share * sum(rarity.values())
    best, text, source = (0.0, 0.0), UNKNOWN, ""
    for chunk in chunks:
        above = set(retrieval.stems(f"{chunk.title} {chunk.heading}"))
        for sentence in re.split(r"(?<=[.!?]) ", chunk.text):
            own = set(retrieval.stems(sentence))
            shares = tuple(sum(rarity[one] for one in asked & held) for held in (own | above, own))
            if shares > best and shares[0] >= least:
                best, text, source = shares, sentence, chunk.id
    return text, source


class Handler(BaseHTTPRequestHandler):
    """``POST /SYSTEM`` with ``{"question": ..., "turns": [...]}``; ``/SYSTEM/stream`` streams.
    ``"given": [...]`` are texts to answer from."""

    protocol_version = "HTTP/1.1"
    corpus: Corpus

    def do_POST(self) -> None:
        """Answers one question."""
        length = int(self.headers.get("Content-Length", 0))
        asked = json.loads(self.rfile.read(length))
        _, system, *rest = self.path.split("/")
        if system not in SEARCHES:
            self._send(404, "application/json", b'{"error": "there are /keyword and /hybrid"}')
            return
        turns, given = asked.get("turns") or [], asked.get("given")
        made = answer(self.corpus, system, asked["question"], turns, given)
        if rest == ["stream"]:
            self._stream(made)
        else:
            self._send(200, "application/json", json.dumps(made).encode())

    def _stream(self, made: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        words = made["result"]["text"].split(" ")
        events: list[Any] = [{"hits": made["hits"]}]
        events += [{"delta": f"{' ' if at else ''}{word}"} for at, word in enumerate(words)]
        events.append({"usage": made["usage"], "sources": made["result"]["sources"]})
        for event in events:
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Prints nothing."""


@contextmanager
def serving(port: int = 0, documents: Path = DOCUMENTS) -> Iterator[int]:
    """The servers while the block runs; gives their port."""
    handler = type("Handler", (Handler,), {"corpus": Corpus(documents)})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def main() -> None:
    """Serves until it is interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8100)
    parser.add_argument("--documents", type=Path, default=DOCUMENTS, help="folder of .md files")
    asked = parser.parse_args()
    try:
        with serving(asked.port, asked.documents) as port:
            sys.stdout.write(f"http://127.0.0.1:{port}/keyword and /hybrid\n")
            sys.stdout.flush()
            while True:
                time.sleep(3600)
    except KeyboardInterrupt:
        pass
    except ValueError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"Port {asked.port} cannot be used ({error.strerror}). Name another: --port.")


if __name__ == "__main__":
    main()
