"""Nothing that is shown commands the terminal: no data, no name of a file, no model's words."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from json_lines import jsonl
from ragassay import open_run
from ragassay.base import printable
from ragassay.cli.command_line import call
from ragassay.cli.show import HarmlessConsole
from ragassay.reports.run_reports import write_reports

EVIL = "\x1b]0;owned\x07\x1b[31m\x9b2J\x7f\r\u202a\u202e\u2066\u2069"
COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    records = [
        {
            "id": f"q{n}{EVIL}", "query": f"what?{EVIL}", "system": f"s{EVIL}",
            "answer": f"an answer {n}{EVIL}", "references": [f"a reference{EVIL}"],
            "passages": [{"id": f"p{EVIL}", "text": f"some text{EVIL}"}],
            "metadata": {f"key{EVIL}": f"value{EVIL}", "kind": f"k{n % 2}{EVIL}"},
        }
        for n in range(4)
    ]  # fmt: skip
    name = EVIL.replace("\x07", "")
    return jsonl(tmp_path / f"data{name}.jsonl", *records)


def test_no_command_lets_data_command_the_terminal(data: Path, tmp_path: Path, capsys) -> None:
    out = str(tmp_path / f"run{EVIL}")
    given = str(data)
    commands = [
        ["run", given, "-s", "qa,ragreport", "--slice-by", "kind", "-o", out],
        ["run", given, "-s", "qa", "--json"], ["run", given, "-s", "trecrag", "--dry-run"],
        ["validate", given], ["explain", out, f"q0{EVIL}"], ["explain", out, "absent"],
        ["compare", out, out], ["report", out], ["run", given, "-m", f"f1{EVIL}"],
        ["run", f"{given}{EVIL}"], ["run", given, EVIL, f"--flag{EVIL}"],
        ["run", given, "--slice-by", f"absent{EVIL}"], [f"absent{EVIL}"],
    ]  # fmt: skip
    for words in commands:
        call(words)
        captured = capsys.readouterr()
        shown = captured.out + captured.err
        assert shown and COMMANDS.search(shown) is None, words


def test_no_csv_and_no_page_that_is_written_holds_a_command(data: Path, tmp_path: Path) -> None:
    records = [json.loads(line) for line in data.read_text().splitlines()]
    again = [{**record, "repeat": 1} for record in records]
    jsonl(data, *records, *again)
    out = tmp_path / "run"
    suites = "qa,trecrag,ragreport,consistency"
    assert call(["run", str(data), "-s", suites, "--slice-by", f"key{EVIL}", "-o", str(out)]) in (
        0,
        3,
    )
    assert call(["compare", str(out), str(out), "-o", str(tmp_path / "compared.html")]) in (0, 3)
    write_reports(open_run(out), formats=["long-csv", "ore"])
    files = [path for path in tmp_path.rglob("*") if path.suffix in (".csv", ".html")]
    assert {"scores.csv", "trecrag.csv", "consistency.csv", "report.html"} <= {
        f.name for f in files
    }
    for path in files:
        text = path.read_bytes().decode()
        assert COMMANDS.search(text.replace("\r", "")) is None, path
        assert "\\u001b]0;owned" in text, path


def test_an_escaped_text_keeps_its_tabs_and_lines_and_stays_json() -> None:
    assert printable.escaped("a\tb\r\nc\rd\x0b\x1b\x9b") == "a\tb\r\nc\rd\\u000b\\u001b\\u009b"
    body = json.dumps({"a": EVIL}, ensure_ascii=False)
    assert json.loads(printable.escaped(body)) == {"a": EVIL}
    assert printable.one_line("a\tb\r\n\u2028c\x1bd\u202e\ud800") == "a b   c�d��"
    assert printable.lines("a\tb\r\n\x0c\u2028") == "a\tb�\n�\u2028"
    text = "\u200fשלום\u200e (1)"
    assert printable.escaped(text) == printable.lines(text) == printable.one_line(text) == text
    coded = json.dumps({"a": EVIL, "é": "ü\x85"}, ensure_ascii=False).encode()
    made = printable.in_json(coded)
    assert json.loads(made) == json.loads(coded) and COMMANDS.search(made.decode()) is None


def test_a_terminal_gets_no_commands_but_those_of_styles() -> None:
    stream = io.StringIO()
    console = HarmlessConsole(file=stream, force_terminal=True, color_system="truecolor", width=60)
    table = Table("head" + EVIL)
    table.add_row(Text(f"cell{EVIL}", "bold"))
    console.print(table)
    console.print(f"[red]styled[/red] {EVIL}", Text(EVIL))
    shown = stream.getvalue()
    assert "\x1b[1m" in shown and "\x1b[31m" in shown.replace("\x1b[31m\x9b", "")
    assert COMMANDS.search(re.sub(r"\x1b\[[0-9;]*m", "", shown)) is None
    assert "]0;owned" in shown, "what was written can still be read"


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_real_terminal_shows_marks(data: Path) -> None:
    import pty

    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "ragassay", "validate", str(data)]
    process = subprocess.Popen(command, stdout=follower, stderr=follower)
    os.close(follower)
    shown = b""
    while True:
        try:
            block = os.read(leader, 1 << 16)
        except OSError:  # how a pseudo-terminal says that all is read
            break
        if not block:
            break
        shown += block
    os.close(leader)
    assert process.wait() in (0, 3)
    assert b"\x1b]0;" not in shown and b"\xc2\x9b" not in shown and b"\x07" not in shown
    assert "�".encode() in shown
