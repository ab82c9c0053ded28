"""A small model hub: as much of its API as downloading a model needs, over real HTTP."""

import hashlib
import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote, urlsplit

from local_server import LocalServer, Reply


class HubServer(LocalServer):
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

    def reply(self, request: BaseHTTPRequestHandler, body: bytes) -> Reply:
        path = unquote(urlsplit(request.path).path).strip("/")
        name = next((name for name in self.repositories if f"{name}/" in f"{path}/"), None)
        if name is None:
            return Reply(status=404, headers={"X-Error-Code": "RepoNotFound"})
        if name in self.gated:
            return Reply(status=403, headers={"X-Error-Code": "GatedRepo"})
        commit, files = self.repositories[name]
        before, _, after = path.partition(name)
        verb, _, rest = after.strip("/").partition("/")
        revision, _, file = rest.partition("/")
        if revision not in ("", commit, "main"):
            return Reply(status=404, headers={"X-Error-Code": "RevisionNotFound"})
        sizes = {one: len(held) for one, held in files.items()}
        if before == "api/models/" and verb in ("", "revision"):
            siblings = [{"rfilename": one, "size": size} for one, size in sizes.items()]
            told = {"id": name, "sha": commit, "siblings": siblings}
            return Reply(json.dumps(told).encode())
        if before == "api/models/" and verb == "tree":
            listed = [
                {"type": "file", "path": one, "size": size, "oid": _hash(files[one])}
                for one, size in sizes.items()
            ]
            return Reply(json.dumps(listed).encode())
        if verb == "resolve" and file in files:
            if request.command == "GET":
                self.asked.append(f"{name}:{file}")
            headers = {"X-Repo-Commit": commit, "ETag": f'"{_hash(files[file])}"'}
            return Reply(files[file], headers=headers)
        return Reply(status=404, headers={"X-Error-Code": "EntryNotFound"})


def _hash(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()
