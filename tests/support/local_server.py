"""A real HTTP server on a port of its own; what it answers is said by who inherits from it."""

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self


@dataclass
class Reply:
    """An answer of a server.

    Attributes:
        kind: the content type.
        hold: an event that the server waits for.
        drop: whether the connection is closed without a reply.
        framing: what tells the end of the body: its length, its last chunk, the connection's end.
        cut: whether the connection is closed before the end that the framing tells.
    """

    body: bytes = b""
    status: int = 200
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    hold: threading.Event | None = None
    drop: bool = False
    framing: Literal["length", "chunked", "close"] = "length"
    cut: bool = False


class LocalServer:
    """A context manager: answers each request by `reply`, in a thread of its own."""

    def reply(self, request: BaseHTTPRequestHandler, body: bytes) -> Reply:
        """The answer to a request (its ``command``, ``path`` and ``headers``)."""
        raise NotImplementedError

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except ConnectionError:  # the client is gone
                    self.close_connection = True

            def do_GET(self) -> None:
                _send(self, server.reply(self, _body_of(self)))

            do_POST = do_PUT = do_DELETE = do_HEAD = do_GET  # noqa: N815

            def log_message(self, *said: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        # Seconds between looks at whether to end: half a second is the default.
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _body_of(request: BaseHTTPRequestHandler) -> bytes:
    if "chunked" not in request.headers.get("Transfer-Encoding", ""):
        return request.rfile.read(int(request.headers.get("Content-Length") or 0))
    parts = []
    while size := int(request.rfile.readline(), 16):
        parts.append(request.rfile.read(size))
        request.rfile.readline()
    request.rfile.readline()
    return b"".join(parts)


def _send(request: BaseHTTPRequestHandler, made: Reply) -> None:
    if made.hold is not None:
        made.hold.wait(30)
    if made.drop:
        request.close_connection = True
        return
    request.send_response(made.status)
    headers = {"Content-Type": made.kind}
    if made.framing == "length":
        headers["Content-Length"] = str(len(made.body) + 50 * made.cut)
    elif made.framing == "chunked":
        headers["Transfer-Encoding"] = "chunked"
    for name, value in (headers | made.headers).items():
        request.send_header(name, value)
    request.end_headers()
    if made.framing == "chunked":
        end = b"" if made.cut else b"0\r\n\r\n"
        request.wfile.write(b"%x\r\n%s\r\n%s" % (len(made.body), made.body, end))
    elif request.command != "HEAD":
        request.wfile.write(made.body)
    request.close_connection |= made.cut or made.framing == "close"
