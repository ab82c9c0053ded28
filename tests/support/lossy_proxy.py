"""Stands before a service and loses what it answers, or is away for a while."""

import http.client
from http.server import BaseHTTPRequestHandler

from local_server import LocalServer, Reply


class LossyProxy(LocalServer):
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

    def reply(self, request: BaseHTTPRequestHandler, body: bytes) -> Reply:
        self.seen.append(f"{request.command} {request.path}")
        if self.away:
            return Reply(drop=True)
        if self.busy:
            self.busy -= 1
            return Reply(b'{"detail": "busy"}', 503)
        there = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        left_out = ("transfer-encoding", "content-length", "host")
        kept = {
            name: value for name, value in request.headers.items() if name.lower() not in left_out
        }
        try:
            there.request(request.command, request.path, body, kept)
            answer = there.getresponse()
            made = Reply(answer.read(), answer.status)
        except OSError:
            return Reply(drop=True)
        finally:
            there.close()
        if self.lost:
            self.lost -= 1
            return Reply(drop=True)
        return made
