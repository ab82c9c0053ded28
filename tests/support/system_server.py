"""A system under test for tests: a server that answers by a function of the number of the request
(from 0) and its JSON, which returns a `Reply`, or something that becomes JSON."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from local_server import LocalServer, Reply
from ragassay import Answers, ask

__all__ = ["PLAIN", "Reply", "SystemServer", "ask_served", "echo", "said"]


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


class SystemServer(LocalServer):
    """A context manager; on entry ``mine.yaml`` is its mapping."""

    def __init__(self, rule: Callable[[int, Any], Any] = echo) -> None:
        self.rule = rule
        self.asked: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self._lock = threading.Lock()

    @property
    def mapping(self) -> str:
        """A mapping file for `echo`."""
        return MAPPING.format(url=self.url)

    def __enter__(self) -> "SystemServer":
        super().__enter__()
        Path("mine.yaml").write_text(self.mapping)
        return self

    def reply(self, request: BaseHTTPRequestHandler, body: bytes) -> Reply:
        asked = json.loads(body or b"null")
        with self._lock:
            number = len(self.asked)
            self.asked.append(asked)
            self.headers.append(dict(request.headers))
            self.paths.append(request.path)
        made = self.rule(number, asked)
        return made if isinstance(made, Reply) else Reply(json.dumps(made).encode())


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
