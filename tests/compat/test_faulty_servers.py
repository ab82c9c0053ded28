"""Servers that fail: one sentence each, which names the server, the step and the server's words."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from local_server import LocalServer, Reply
from ragassay.cli.command_line import call

pytest.importorskip("mcp", reason="needs the extra 'mcp'")

SERVER = Path(__file__).resolve().parents[1] / "support" / "faulty_server.py"
STEPS = "pipeline:\n- odd.echo\n- odd.faulty\n"
Complaint = Callable[..., str]


@pytest.fixture(autouse=True)
def _killed_soon(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    """A server that hangs is not waited for as long as a real one."""
    monkeypatch.setattr("mcp.client.stdio.PROCESS_TERMINATION_TIMEOUT", 0.05)
    monkeypatch.setattr("mcp.client.stdio.FORCE_KILL_TIMEOUT", 0.05)


def write(server: str, steps: str = STEPS) -> None:
    """A pipeline with one server, and its parameters."""
    Path("p.yaml").write_text(f"servers:\n  odd: {server}\n{steps}")
    Path("parameters").mkdir(exist_ok=True)
    Path("parameters/p_parameter.yaml").write_text("odd:\n  text: hello\n")


def with_fault(fault: str) -> str:
    """A server folder with a fault."""
    program = Path("odd/src/odd.py")
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(
        f"import runpy, sys\nsys.argv = ['', {fault!r}]\n"
        f"runpy.run_path({str(SERVER)!r}, run_name='__main__')\n"
    )
    Path("odd/parameter.yaml").write_text("text: hello\n")
    return "odd"


@pytest.fixture
def complaint(capfd: pytest.CaptureFixture[str]) -> Complaint:
    """What a run complains of; what else it prints are lines of steps."""

    def said(*words: str) -> str:
        assert call([*(words or ("run", "p.yaml"))]) == 2
        lines = capfd.readouterr().err.splitlines()
        assert [line for line in lines[:-1] if not re.match(r"\d+/\d+ ", line)] == []
        assert lines[-1].startswith("ragassay: ")
        return lines[-1].removeprefix("ragassay: ")

    return said


@pytest.mark.parametrize(("fault", "words"), [
    ("complains-latin-1", "the server ended. Its last words: 'mod\ufffdle absent'."),
    ("refuses-to-list", "no licence."),
    ("other-protocol", "Unsupported protocol version from the server: 1999-01-01."),
])  # fmt: skip
def test_a_server_that_does_not_start(fault: str, words: str, complaint: Complaint) -> None:
    write(with_fault(fault))
    assert complaint() == (
        f"p.yaml, line 2, field 'servers.odd': the server 'odd' does not start: {words}"
    )
    assert not Path("output").exists()


@pytest.mark.parametrize(("fault", "seconds", "words"), [
    ("hangs-at-start", 0.5, "no answer within 0.5 seconds."),
    ("noise-only", 2, "no answer within 2 seconds."),
])  # fmt: skip
def test_a_server_that_never_answers(fault, seconds, words, complaint, monkeypatch) -> None:
    monkeypatch.setattr("ragassay.compat.ultrarag.mcp_servers.START_S", seconds)
    write(with_fault(fault))
    assert complaint().endswith(f" does not start: {words}")


@pytest.mark.parametrize("fault", ["prints-latin-1", "prints-in-call", "stubborn"])
def test_a_server_that_only_prints_too_much_works(fault, capfd) -> None:
    write(with_fault(fault))
    assert call(["run", "p.yaml"]) == 0
    shown = [line.split(" (")[0] for line in capfd.readouterr().err.splitlines()]
    assert shown == ["1/2 odd.echo: text", "2/2 odd.faulty: text"]


@pytest.mark.parametrize(("fault", "words"), [
    ("dies", "the server ended. Its last words: 'out of memory'."),
    ("no-json", "the tool returned no JSON object: 'It is done, sir.'."),
    ("no-result", "its answer is not a result of MCP."), ("is-error", "the index is empty."),
    ("silent-error", "the tool failed without a message."), ("refuses", "quota is used up."),
    ("other-key", "the result lacks 'text'; it has: answer."),
])  # fmt: skip
def test_a_call_that_fails_keeps_what_was_computed(fault, words, complaint) -> None:
    write(with_fault(fault))
    said = complaint()
    assert said == (
        f"p.yaml, line 5: step 2 (odd.faulty), server 'odd': {words} Earlier results are "
        "kept: --from 2 continues."
    )
    kept = json.loads(Path("output/p_steps/01_odd.echo.json").read_bytes())
    assert kept["variables"] == {"text": "hello"}
    write(with_fault("none"))
    assert call(["run", "p.yaml", "--from", "2"]) == 0


@pytest.mark.parametrize("fault", ["hangs", "silent"])
def test_a_call_without_an_answer(fault: str, complaint: Complaint, monkeypatch) -> None:
    monkeypatch.setattr("ragassay.compat.ultrarag.mcp_servers.CALL_S", 1)
    write(with_fault(fault))
    assert "server 'odd': no answer within 1 second. Earlier" in complaint()


@pytest.mark.parametrize(("fault", "words"), [
    ("build-fails", "no space left."),
    ("build-writes-nothing", "its tool 'build' wrote no server.yaml beside the parameter file."),
    ("no-tools", "it has no tool 'build', which says what its tools take."),
    ("hangs-in-build", "no answer within 2 seconds."),
    ("build-writes-no-yaml", "what its tool 'build' wrote, server.yaml, is not YAML"),
    ("build-writes-odd-entries",
     "what its tool 'build' wrote, server.yaml, does not list tools with input and output."),
])  # fmt: skip
def test_a_server_folder_whose_build_fails(fault, words, complaint, monkeypatch) -> None:
    if fault.startswith("hangs"):
        monkeypatch.setattr("ragassay.compat.ultrarag.mcp_servers.START_S", 2)
    write(with_fault(fault))
    said = complaint("build", "p.yaml")
    assert f"p.yaml, line 2, field 'servers.odd': the server 'odd' does not start: {words}" in said


def test_a_number_that_json_lacks_is_none() -> None:
    write(with_fault("nan"))
    assert call(["run", "p.yaml"]) == 0
    kept = json.loads(Path("output/p_steps/02_odd.faulty.json").read_bytes())
    assert kept["variables"] == {"text": [None]}


class Odd(LocalServer):
    """Answers with what the path says, and never with MCP."""

    def reply(self, request: BaseHTTPRequestHandler, body: bytes) -> Reply:
        wanted = request.path.strip("/").split("?")[0]
        content = {"html": b"<!doctype html>", "empty": b""}.get(wanted, b'{"detail": "no"}')
        kind = "text/html" if wanted == "html" else "application/json"
        return Reply(content, int(wanted) if wanted.isdecimal() else 200, kind)


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with Odd() as made:
        yield made.url


def far(url: str) -> str:
    """A server folder that holds nothing but the address of its server."""
    Path("odd").mkdir()
    Path("odd/parameter.yaml").write_text(f"path: {url}\n")
    return "odd"


@pytest.mark.parametrize(("path", "words"), [
    ("html", "Unexpected content type: text/html."),
    ("401", """it answers 401 Unauthorized: '{"detail": "no"}'."""),
    ("empty", "its answer is not a message of MCP."),
])  # fmt: skip
def test_a_url_that_is_no_mcp_server(path, words, site, complaint) -> None:
    write(far(f"{site}/{path}?key=secret"))
    said = complaint()
    assert f"field 'servers.odd': the server '{site}/{path}' cannot be used: {words}" in said
    assert "secret" not in said


def test_a_url_where_nobody_listens(complaint: Complaint) -> None:
    write(far("http://me:secret@127.0.0.1:9/mcp"))
    assert "the server 'http://127.0.0.1:9/mcp' cannot be used: All connection" in complaint()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
@pytest.mark.parametrize(("number", "again"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
def test_an_interrupt_leaves_no_server(number: signal.Signals, again: bool, tmp_path: Path) -> None:
    write(with_fault("hangs"))
    running = subprocess.Popen(
        [sys.executable, "-c", "import signal; signal.signal(signal.SIGINT, "
         "signal.default_int_handler); from ragassay.cli.start import main; "
         "main(['run', 'p.yaml'])"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert running.stderr is not None
    assert running.stderr.readline().startswith("1/2 odd.echo")
    servers = children(running.pid)
    assert servers
    until(Path("hanging").is_file, "the call has not begun")
    running.send_signal(number)
    if again:  # a person who waits presses again
        time.sleep(0.3)
        running.send_signal(number)
    said = running.communicate(timeout=60)[1]
    assert running.returncode == 130
    assert "p.yaml: the result of each step is kept: --from STEP continues." in said
    # While the interpreter ends, Python itself tells where a second one came.
    assert again or "Traceback" not in said
    assert Path("output/p_steps/01_odd.echo.json").is_file()
    places = [Path(f"/proc/{server}") for server in servers]
    until(lambda: not any(place.exists() for place in places), "a server is still there")


def children(process: int) -> list[int]:
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(word) for word in text.split()]


def until(holds: Callable[[], bool], otherwise: str) -> None:
    for _ in range(1000):
        if holds():
            return
        time.sleep(0.02)
    pytest.fail(otherwise)


def test_an_async_tool_of_a_server_folder_is_a_step(complaint: Complaint) -> None:
    Path("odd/src").mkdir(parents=True)
    Path("odd/src/odd.py").write_text(
        "from ragassay.mcp import PipelineServer\n"
        "app = PipelineServer(__file__)\n"
        "@app.tool(output='text->text_ls')\n"
        "async def echo(text: str) -> dict[str, list[str]]:\n"
        "    return {'text_ls': [text]}\n"
        "@app.tool(output='text_ls->None')\n"
        "async def faulty(text_ls: list[str]) -> None:\n"
        "    raise KeyError('no index')\n"
        "app.run()\n"
    )
    Path("odd/parameter.yaml").write_text("text: hello\n")
    write("odd")
    said = complaint()
    assert "server 'odd': KeyError: 'no index' (odd.py, line 8). Earlier results" in said
    kept = json.loads(Path("output/p_steps/01_odd.echo.json").read_bytes())
    assert kept["variables"] == {"text_ls": ["hello"]}
