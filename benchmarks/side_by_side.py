"""The same 50 answers judged for faithfulness by ragas, deepeval, promptfoo, MLflow, pydantic-evals
and ragassay: lines to write, calls, tokens and seconds.

``python -m benchmarks.side_by_side [--ragas PYTHON] [--deepeval PYTHON] [--promptfoo COMMAND]
[--mlflow PYTHON] [--pydantic-evals PYTHON]``: the interpreters that have the packages, and the
command that starts promptfoo. What is not installed is skipped, and said. All ask a stub on this
machine, which replies after 0.2 s with what the requested form of reply allows: the values mean
nothing.

docs/coming-from.md has the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import ragassay

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE / "peers" / "faithfulness"
ROWS, LATENCY = 50, 0.2
QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "RAGAS_DO_NOT_TRACK": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    **{f"PROMPTFOO_DISABLE_{name}": "1" for name in ("TELEMETRY", "UPDATE", "REMOTE_GENERATION")},
}


def main() -> None:
    """Prints a row a tool."""
    parser = argparse.ArgumentParser()
    for tool in ("ragas", "deepeval", "promptfoo", "mlflow", "pydantic-evals"):
        parser.add_argument(f"--{tool}", default=None)
    parser.add_argument("--quick", action="store_true", help="ours only, ten rows")
    chosen = vars(parser.parse_args())
    quick = chosen.pop("quick")
    print(f"{'tool':<16}lines  calls  tokens in  seconds")
    for tool, place in {"ragassay": f"{sys.executable} -m ragassay", **chosen}.items():
        with tempfile.TemporaryDirectory() as folder, stub() as (url, seen):
            lines, command = job(tool, place or "", Path(folder), url, quick)
            if tool != "ragassay" and (quick or not place):
                print(
                    f"{tool:<16}not installed here (--{tool.replace('_', '-')} names where it is)"
                )
                continue
            paths = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "stub"}
            if tool != "ragassay":
                paths["PYTHONPATH"] = ""
            settings = {**os.environ, **QUIET, **paths, "PROMPTFOO_CONFIG_DIR": folder}
            started = time.perf_counter()
            done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True)
            seconds = time.perf_counter() - started
            if not seen:
                sys.exit(f"{tool}: nothing was asked\n{done.stdout[-1000:]}{done.stderr[-2000:]}")
            print(f"{tool:<16}{lines:>5}  {len(seen):>5}  {sum(seen):>9}  {seconds:>7.1f}")


def job(tool: str, place: str, folder: Path, url: str, quick: bool) -> tuple[int, list[str]]:
    """Writes the rows and what a user writes for a tool; gives its lines and the command."""
    rows = list(answers())[: 10 if quick else ROWS]
    keep(folder / "rows.jsonl", rows)
    named = {"query": "user_input", "contexts": "retrieved_contexts", "answer": "response"}
    keep(folder / "ragas.jsonl", [{named[k]: row[k] for k in named} for row in rows])
    tests = [
        {
            "vars": {"context": "\n\n".join(row["contexts"])}
            | {key: row[key] for key in ("query", "answer")},
            "assert": [{"type": "context-faithfulness", "threshold": 0.5}],
        }
        for row in rows
    ]
    keep(folder / "promptfoo_rows.jsonl", tests)
    if tool == "ragassay":
        judge = f"{url}#stub"
        words = ["run", "rows.jsonl", "-m", "faithfulness", "--judge", judge, "-o", "run"]
        return 1, [*shlex.split(place), *words]
    (script,) = SCRIPTS.glob(f"judged_by_{tool}.*")
    own = folder / ("judged.py" if script.suffix == ".txt" else script.name)
    shutil.copy(script, own)
    lines = sum(bool(line.strip()) for line in script.read_text().splitlines()) + 1
    if tool == "promptfoo":
        return lines, [*shlex.split(place), "eval", "-c", own.name, "--no-cache"]
    return lines, [*shlex.split(place), own.name]


def keep(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def answers() -> Iterator[dict[str, Any]]:
    """The answers of the bundled example, without what a judge of faithfulness does not see."""
    data = Path(ragassay.__file__).parent / "examples" / "town" / "hybrid.jsonl"
    for line in data.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        answer = row["answer"]
        text = answer if isinstance(answer, str) else answer["text"]
        contexts = [passage["text"] for passage in row["passages"]]
        yield {"id": row["id"], "query": row["query"], "contexts": contexts, "answer": text}


@contextmanager
def stub() -> Iterator[tuple[str, list[int]]]:
    """An endpoint of OpenAI's protocol; gives its URL and the (rough) tokens of each request."""
    seen: list[int] = []

    class Stub(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            words = json.dumps(asked.get("messages", asked.get("input")))
            seen.append(len(words) // 4)
            time.sleep(LATENCY)
            body = json.dumps(reply(asked, words)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Stub)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        server.server_close()


def reply(asked: Mapping[str, Any], words: str) -> dict[str, Any]:
    """A completion: what the form that was asked for allows, else two statements in lines."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    form = asked.get("response_format", {}).get("json_schema", {}).get("schema")
    if form:
        message["content"] = json.dumps(filled(form, form))
    elif asked.get("tools"):
        tool = asked["tools"][0]["function"]
        call = {
            "name": tool["name"],
            "arguments": json.dumps(filled(tool["parameters"], tool["parameters"])),
        }
        message["tool_calls"] = [{"id": "1", "type": "function", "function": call}]
    else:
        text = "\n".join(str(one.get("content")) for one in asked.get("messages", ()))
        found = re.findall(r"JSON Schema:\n(\{.*?\})\n?(?:Do not|$)", text)
        form = json.loads(found[-1]) if found else None
        verdict = "Final verdict for each statement in order: Yes. Yes."
        plain = verdict if "verdict" in words.lower() else "A statement.\nAnother statement."
        message["content"] = json.dumps(filled(form, form)) if form else plain
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": len(words) // 4, "completion_tokens": 20, "total_tokens": 0}
    made = {"id": "1", "object": "chat.completion", "created": 0, "model": "stub"}
    return {**made, "choices": [choice], "usage": usage}


def filled(form: Mapping[str, Any], root: Mapping[str, Any], n: int = 0) -> Any:
    """The simplest value that a JSON schema allows; lists have two items."""
    if "$ref" in form:
        target: Any = root
        for step in form["$ref"].split("/")[1:]:
            target = target[step]
        return filled(target, root, n)
    if "anyOf" in form:
        return filled(form["anyOf"][0], root, n)
    if "enum" in form:
        return form["enum"][0]
    kind = form.get("type", "object")
    if kind == "object":
        # MLflow's "result" is yes or no: its prompt says so, its schema does not.
        parts = form.get("properties", {}).items()
        return {name: "yes" if name == "result" else filled(each, root, n) for name, each in parts}
    if kind == "array":
        return [filled(form["items"], root, n) for n in range(form.get("minItems", 2))]
    simple = {"boolean": True, "integer": n + 1, "number": 1, "null": None}
    return simple.get(kind, f"statement {n}")


if __name__ == "__main__":
    main()
