"""A small model hub: as much of its API as downloading a model needs, over real HTTP."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit


class HubServer:
    """Serves repositories at one commit each.

    Args:
        repositories: commit and files, by the model's name.
        gated: models that are not for everybody.
    """

    def __init__(
        self,
        repositories: Mapping[str, tuple[str, Mapping[str, bytes]]],
        gated: tuple[str, ...] = (),
    ) -> None:
        self.repositories = dict(repositories)
        self.gated = gated
        self.asked: list[str] = []
        """Files that were downloaded, as OWNER/NAME:FILE."""

    def __enter__(self) -> HubServer:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hub._answer(self, body=True)

            def do_HEAD(self) -> None:
                hub._answer(self, body=False)

            def log_message(self, *args: Any) -> None:
                del args

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, request: BaseHTTPRequestHandler, *, body: bool) -> None:
        path = unquote(urlsplit(request.path).path).strip("/")
        name = next((name for name in self.repositories if f"{name}/" in f"{path}/"), None)
        if name is None:
            return self._send(request, 404, b"", body, {"X-Error-Code": "RepoNotFound"})
        if name in self.gated:
            return self._send(request, 403, b"", body, {"X-Error-Code": "GatedRepo"})
        commit, files = self.repositories[name]
        before, _, after = path.partition(name)
        verb, _, rest = after.strip("/").partition("/")
        revision, _, file = rest.partition("/")
        if revision not in ("", commit, "main"):
            return self._send(request, 404, b"", body, {"X-Error-Code": "RevisionNotFound"})
        if before == "api/models/" and verb in ("", "revision"):
            told = {"id": name, "sha": commit, "siblings": [
                {"rfilename": one, "size": len(held)} for one, held in files.items()
            ]}  # fmt: skip
            return self._send(request, 200, json.dumps(told).encode(), body)
        if before == "api/models/" and verb == "tree":
            listed = [
                {"type": "file", "path": one, "size": len(held), "oid": _hash(held)}
                for one, held in files.items()
            ]
            return self._send(request, 200, json.dumps(listed).encode(), body)
        if verb == "resolve" and file in files:
            if body:
                self.asked.append(f"{name}:{file}")
            headers = {"X-Repo-Commit": commit, "ETag": f'"{_hash(files[file])}"'}
            return self._send(request, 200, files[file], body, headers)
        return self._send(request, 404, b"", body, {"X-Error-Code": "EntryNotFound"})

    @staticmethod
    def _send(
        request: BaseHTTPRequestHandler,
        status: int,
        content: bytes,
        body: bool,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        request.send_response(status)
        for key, value in (headers or {}).items():
            request.send_header(key, value)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        if body:
            request.wfile.write(content)


def _hash(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()
