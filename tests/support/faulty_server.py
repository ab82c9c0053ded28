"""An MCP server over standard input and output with one fault: ``python faulty_server.py FAULT``.

It is written against the protocol and imports nothing, so that it starts at once and can do what a
library would not let it. Its tools: ``echo(text)`` gives ``{"text": text}``, ``faulty(text)`` does
what the fault says, ``build(parameter_file)`` writes ``server.yaml`` as UltraRAG's servers do.
"""

# ruff: noqa: T201 - what it prints is its fault

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

FLOWS = {
    "tools": {
        "echo": {"input": {"text": "$text"}, "output": ["text"]},
        "faulty": {"input": {"text": "$text"}, "output": ["text"]},
    }
}


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def tool(name: str, argument: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {argument: {"type": "string"}}}
    return {"name": name, "inputSchema": {**schema, "required": [argument]}}


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], **more}


def faulty(fault: str, text: str) -> dict[str, Any] | None:
    """What the faulty tool returns; ``None``: it answers nothing."""
    if fault == "dies":
        print("out of memory", file=sys.stderr, flush=True)
        os._exit(9)
    if fault == "hangs":
        Path("hanging").touch()
        time.sleep(600)
    if fault == "silent":
        return None
    return {
        "no-json": said("It is done, sir."), "list": said("[1, 2]"), "nothing": {"content": []},
        "nan": said('{"text": [NaN]}'), "other-key": said('{"answer": 1}'),
        "is-error": said("the index is empty", isError=True),
        "silent-error": {"content": [], "isError": True},
        "long-error": said("no\n" * 100_000, isError=True),
        "huge": said(json.dumps({"text": "x" * 3_000_000})), "no-result": {"contents": 5},
    }.get(fault, said(json.dumps({"text": text})))  # fmt: skip


def build(fault: str, parameter_file: str) -> dict[str, Any]:
    if fault == "hangs-in-build":
        time.sleep(600)
    if fault == "build-fails":
        return said("no space left", isError=True)
    written = {
        "build-writes-nothing": None, "build-writes-no-yaml": "tools: [",
        "build-writes-a-list": "- echo", "build-writes-no-entries": "tools:\n  echo: text",
        "build-writes-odd-entries": "tools:\n  echo: {input: [text], output: text}",
    }.get(fault, json.dumps(FLOWS))  # fmt: skip
    if written is not None:
        Path(parameter_file).with_name("server.yaml").write_text(written, "utf-8")
    return said("done")


def main(fault: str) -> None:
    if fault == "crashes":
        raise ImportError("No module named 'faiss'")
    if fault == "ends":
        return
    if fault == "noise-only":
        for _ in sys.stdin:
            print("Loading weights: 100%", flush=True)
        return
    if fault == "hangs-at-start":
        time.sleep(600)
    if fault == "stubborn":  # neither the end of its input nor SIGTERM ends it
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if fault == "prints":
        print("Loading weights: 100%\n\n{}", flush=True)
    if fault == "prints-latin-1":
        sys.stdout.buffer.write("Modèle prêt\n".encode("latin-1"))
    if fault == "complains-latin-1":
        sys.stderr.buffer.write("modèle absent\n".encode("latin-1"))
        sys.stderr.flush()
        sys.exit(1)
    for line in sys.stdin:
        request = json.loads(line)
        method, params = request.get("method"), request.get("params", {})
        if "id" not in request:
            continue
        if method == "initialize":
            version = params["protocolVersion"]
            result: dict[str, Any] | None = {
                "protocolVersion": "1999-01-01" if fault == "other-protocol" else version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "faulty", "version": "1"},
            }
        elif method == "tools/list":
            if fault == "refuses-to-list":
                send({"id": request["id"], "error": {"code": -32603, "message": "no licence"}})
                continue
            tools = [("echo", "text"), ("faulty", "text"), ("build", "parameter_file")]
            result = {"tools": [] if fault == "no-tools" else [tool(*one) for one in tools]}
        elif params["name"] == "build":
            result = build(fault, params["arguments"]["parameter_file"])
        elif params["name"] == "faulty":
            if fault == "refuses":
                send(
                    {"id": request["id"], "error": {"code": -32000, "message": "quota is used up"}}
                )
                continue
            if fault == "prints-in-call":
                print("step 1 of 3", flush=True)
            result = faulty(fault, params["arguments"]["text"])
        else:
            result = said(json.dumps({"text": params["arguments"]["text"]}))
        if result is not None:
            send({"id": request["id"], "result": result})
    if fault == "stubborn":
        time.sleep(600)


if __name__ == "__main__":
    main(sys.argv[1])
