"""A system under test for tests: a real local HTTP server that answers by a function.

The function gets the number of the request (from 0) and its JSON, and returns a `Reply`, or
something that becomes JSON. ``hold`` of a reply is an event that the server waits for.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

from ragassay import Answers, ask


@dataclass
class Reply:
    """A reply that is not plain JSON with status 200."""

    body: bytes = b""
    status: int = 200
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    hold: threading.Event | None = None
    drop: bool = False
    """Whether the connection is closed without a reply."""
    framing: Literal["length", "chunked", "close"] = "length"
    """What tells the end of the body: its length, its last chunk, the end of the connection."""
    cut: bool = False
    """Whether the connection is closed before the end that the framing tells."""


def echo(number: int, asked: Any) -> Any:
    """An answer with one passage."""
    return {
        "answer": f"about {asked['question']}",
        "hits": [{"id": f"d{number % 3}", "text": "some text", "score": 0.5}],
        "took": {"in": 10, "out": 3},
    }


MAPPING = """\
url: {url}/ask
body: {{question: "{{{{query}}}}", turns: "{{{{history}}}}"}}
answer: answer
passages: hits
usage: {{input_tokens: took.in, output_tokens: took.out}}
"""


class SystemServer:
    """A context manager; on entry ``mine.yaml`` is its mapping.

    Args:
        rule: see the module.
    """

    def __init__(self, rule: Callable[[int, Any], Any] = echo) -> None:
        self.rule = rule
        self.asked: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def mapping(self) -> str:
        """A mapping file for `echo`."""
        return MAPPING.format(url=self.url)

    def __enter__(self) -> SystemServer:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                asked = json.loads(self.rfile.read(length) or b"null")
                with server._lock:
                    number = len(server.asked)
                    server.asked.append(asked)
                    server.headers.append(dict(self.headers))
                    server.paths.append(self.path)
                made = server.rule(number, asked)
                if not isinstance(made, Reply):
                    made = Reply(json.dumps(made).encode())
                if made.hold is not None:
                    made.hold.wait(30)
                if made.drop:
                    self.close_connection = True
                    return
                self.send_response(made.status)
                self.send_header("Content-Type", made.kind)
                if made.framing == "length":
                    self.send_header("Content-Length", str(len(made.body) + 50 * made.cut))
                elif made.framing == "chunked":
                    self.send_header("Transfer-Encoding", "chunked")
                for name, value in made.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if made.framing == "chunked":
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(made.body), made.body))
                    self.wfile.write(b"" if made.cut else b"0\r\n\r\n")
                else:
                    self.wfile.write(made.body)
                self.close_connection |= made.cut or made.framing == "close"

            do_GET = do_POST  # noqa: N815

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        # Seconds between looks at whether to end: half a second is the default.
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        Path("mine.yaml").write_text(self.mapping)
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


PLAIN = "url: URL/\nbody: {q: '{{query}}'}\nanswer: a\n"
"""A mapping file for replies of the form ``{"a": ...}``; URL stands for the server's."""


def ask_served(
    rule: Any, mapping: str = PLAIN, n: int = 1, target: str = "mine.yaml", **options: Any
) -> Answers:
    """What a server answers by a mapping file, mine.yaml, when it is asked one query after the
    other. A rule that is no function is the reply to each."""
    queries = [{"id": f"q{at}", "query": f"What is {at}?"} for at in range(n)]
    with SystemServer(rule if callable(rule) else lambda *_: rule) as server:
        Path("mine.yaml").write_text(mapping.replace("URL", server.url))
        return ask(queries, target.replace("URL", server.url), concurrency=1, **options)


def said(answers: Answers) -> list[str | None]:
    """The text of each answer, else its failure."""
    return [one.answer_text if one.answer else one.failure for one in answers.samples]
