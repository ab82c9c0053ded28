"""Two small RAG systems as local HTTP servers: ``python examples/systems/serve.py``.

``keyword`` ranks by BM25 over words, ``hybrid`` by stems, headings, earlier turns and character
n-grams (examples/town/retrieval.py). Both answer by the sentence of the best passages that shares
most with the question, and cite it. They serve at ``/keyword`` and ``/hybrid``, and stream at
``/hybrid/stream``.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1] / "town"))

import retrieval  # noqa: E402

DOCUMENTS = HERE.parents[2] / "src" / "ragassay" / "examples" / "town" / "documents"
DEPTH = 5
LEAST = 0.34
"""Share of the question's words that a sentence must have to be an answer."""

SEARCHES = {"keyword": retrieval.keyword_search, "hybrid": retrieval.hybrid_search}
CHUNKS = [one for path in sorted(DOCUMENTS.glob("*.md")) for one in retrieval.chunks_of(path)]


def answer(system: str, question: str, turns: list[dict[str, str]]) -> dict[str, Any]:
    """What a system answers, as its API gives it."""
    earlier = [turn["content"] for turn in turns if turn["role"] == "user"]
    found = SEARCHES[system](CHUNKS, question, earlier)[:DEPTH]
    wanted = set(retrieval.stems(question))
    best, text, source = 0.0, "", ""
    for chunk, _ in found:
        for sentence in re.split(r"(?<=[.!?]) ", chunk.text):
            share = len(wanted & set(retrieval.stems(sentence))) / max(1, len(wanted))
            if share > best:
                best, text, source = share, sentence, chunk.id
    if best < LEAST:
        text, source = "I do not know.", ""
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
        "version": f"{system}-1",
    }


class Handler(BaseHTTPRequestHandler):
    """``POST /SYSTEM`` with ``{"question": ..., "turns": [...]}``; ``/SYSTEM/stream`` streams."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answers one question."""
        length = int(self.headers.get("Content-Length", 0))
        asked = json.loads(self.rfile.read(length))
        _, system, *rest = self.path.split("/")
        if system not in SEARCHES:
            self._send(404, "application/json", b'{"error": "there are /keyword and /hybrid"}')
            return
        made = answer(system, asked["question"], asked.get("turns") or [])
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
def serving(port: int = 0) -> Iterator[int]:
    """The servers while the block runs; gives their port."""
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
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
    with serving(parser.parse_args().port) as port:
        sys.stdout.write(f"http://127.0.0.1:{port}/keyword and /hybrid\n")
        sys.stdout.flush()
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
