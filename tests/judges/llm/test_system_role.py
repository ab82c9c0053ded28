"""Models that take no system message are given its text in the user's message."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import ragassay

GRADE = json.dumps({"intent": "x", "match": 3, "trust": 3, "grade": 3})
WORDS = {
    "OpenAI": ("Unsupported value: 'messages[0].role' does not support 'system' with this model.",
               "messages[0].role"),
    "vLLM": ("System role not supported", None),
    "Gemma": ("Jinja error: Conversation roles: the role system is not supported", None),
}  # fmt: skip


@pytest.fixture(params=WORDS)
def endpoint(request: pytest.FixtureRequest) -> Iterator[tuple[str, list[Any]]]:
    asked: list[Any] = []
    message, param = WORDS[request.param]

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *words: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body)
            refused = any(one["role"] == "system" for one in body["messages"])
            error = {"message": message, "type": "invalid_request_error", "param": param}
            choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": GRADE}}
            reply = json.dumps({"error": error} if refused else {"choices": [choice]}).encode()
            self.send_response(400 if refused else 200)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1#tiny", asked
    server.shutdown()


def test_the_rules_go_into_the_users_message_and_the_signature_says_so(
    endpoint: tuple[str, list[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    url, asked = endpoint
    data = [{"id": f"{n}", "query": f"q{n}", "passages": [f"p{n}"]} for n in range(3)]
    summary = ragassay.evaluate(data, ["umbrela"], judge=url).summary
    assert summary.metrics["umbrela"].mean == 3.0
    assert "without=system" in summary.metrics["umbrela"].signature
    refused, *taken = asked
    rules, first = refused["messages"]
    assert rules["role"] == "system" and len(taken) == 3
    for body in taken:
        (only,) = body["messages"]
        assert only["role"] == "user" and only["content"].startswith(rules["content"])
        assert body["temperature"] == refused["temperature"]
    assert first["content"] in "".join(body["messages"][0]["content"] for body in taken)
    ragassay.evaluate(data, ["umbrela"], judge=url)
    assert len(asked) == 4, "the second run is answered by the ledger"
