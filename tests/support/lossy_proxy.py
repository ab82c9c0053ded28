"""Stands before a service and loses what it answers, or is away for a while."""

from __future__ import annotations

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class LossyProxy:
    """A context manager. Hands requests on to a service of this machine.

    Args:
        port: of the service; may be changed.

    Attributes:
        lost: how many of the next answers are lost after the service gave them.
        busy: how many of the next requests are answered with 503 in its place.
        away: whether every request is cut off before it reaches the service.
        seen: methods and paths that arrived.
    """

    def __init__(self, port: int) -> None:
        self.port, self.lost, self.busy, self.away = port, 0, 0, False
        self.seen: list[str] = []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                proxy.seen.append(f"{self.command} {self.path}")
                body = self.body()
                if proxy.away:
                    self.close_connection = True
                    return
                if proxy.busy:
                    proxy.busy -= 1
                    self.answer(503, b'{"detail": "busy"}')
                    return
                there = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=60)
                try:
                    kept = {
                        name: value
                        for name, value in self.headers.items()
                        if name.casefold() not in ("transfer-encoding", "content-length", "host")
                    }
                    there.request(self.command, self.path, body, kept)
                    reply = there.getresponse()
                    content = reply.read()
                except OSError:
                    self.close_connection = True
                    return
                finally:
                    there.close()
                if proxy.lost:
                    proxy.lost -= 1
                    self.close_connection = True
                    return
                self.answer(reply.status, content)

            do_GET = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815

            def body(self) -> bytes:
                if "chunked" not in self.headers.get("Transfer-Encoding", ""):
                    return self.rfile.read(int(self.headers.get("Content-Length", 0)))
                parts = []
                while size := int(self.rfile.readline(), 16):
                    parts.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(parts)

            def answer(self, status: int, content: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *said: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> LossyProxy:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
