"""What commands print, one after another in one folder, as it was approved. See `approved`.

``approved/sessions.txt`` lists the commands; the other files beside it are what they read, and
``> NAME TEXT`` writes one more. Of a command after ``~`` only the exit code counts. ``SERVER``
stands for the test server, whose answers follow from what it is asked.
"""

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from approved import check
from ragassay.cli.command_line import call
from ragassay.models.weights import weight_files

APPROVED = Path(__file__).parent / "approved"
TEXT = (APPROVED / "sessions.txt").read_text(encoding="utf-8")
SESSIONS = dict(part.split("\n", 1) for part in TEXT.split("== ")[1:])
DATA = [path for path in APPROVED.iterdir() if path.suffix != ".txt"]

VARYING = (
    (r"(127\.)?0\.0\.1:\d+", "HOST"), (r"[\d.]+ KiB|(?<=bytes\": )\d+", "N"),
    (r"\d+(\.\d+)? (s|ms|min|seconds?|bytes|kB|MB)\b", "N \\2"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|\+00:00)?", "TIME"),
    (r"(?m)\b20\d\d-\d\d-\d\d$", "DATE"),
)  # fmt: skip
"""What differs from one machine and moment to another."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("no_metric_left")
@pytest.mark.parametrize("name", SESSIONS)
def test_commands_print_what_was_approved(name, here, monkeypatch, capsys, server, request) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(weight_files, "find_spec", lambda package: None)  # no neural models
    for key in ("OPENAI_API_KEY", "RAGASSAY_CONFIG"):
        monkeypatch.delenv(key, raising=False)
    for file in DATA:
        shutil.copy(file, here)

    def printed() -> Iterator[str]:
        for line in SESSIONS[name].splitlines():
            if line.startswith("> "):
                _, file, text = line.split(" ", 2)
                Path(file).write_text(text.replace("\\n", "\n"), encoding="utf-8")
                yield f"$ {line}"
                continue
            words = line.removeprefix("~ ").replace("SERVER", server.url)
            code = call(shlex.split(words))
            out, error = capsys.readouterr()
            text = (
                f"$ {line}\n= {code}" if line.startswith("~") else f"$ {line}\n{out}{error}= {code}"
            )
            for pattern, mark in VARYING:
                text = re.sub(pattern, mark, text)
            yield text.replace(str(here), "FOLDER")

    approve = request.config.getoption("--approve")
    check(APPROVED / f"{name.replace(' ', '_')}_session.txt", printed(), approve)
