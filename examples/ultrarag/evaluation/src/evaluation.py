"""UltraRAG's server ``evaluation``, computed by ragassay: a folder for ``servers/evaluation``.

UltraRAG's runner starts it with the Python of its own environment, whose packages cannot stand
beside ragassay's. There it starts itself again with the Python that ``RAGASSAY_PYTHON`` names, else
with that of the command ``ragassay`` on the path.
"""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

NAME = "RAGASSAY_PYTHON"


def python_of_ragassay() -> str:
    """The interpreter that has ragassay: the one that its command names in its first line, else the
    one beside it."""
    command = shutil.which("ragassay")
    if command is None:
        sys.exit(
            f"evaluation: this Python has no ragassay. Set {NAME} to one that has it, or put the "
            "command 'ragassay' on the path."
        )
    with Path(command).open("rb") as script:
        first = script.readline(1000).decode(errors="replace").strip()
    named = first.removeprefix("#!").strip()
    if first.startswith("#!") and "python" in Path(named).name and Path(named).is_file():
        return named
    return str(Path(command).resolve().with_name("python"))


here = os.path.realpath(__file__)
if importlib.util.find_spec("ragassay") is None:
    python = os.environ.get(NAME) or python_of_ragassay()
    python = shutil.which(python) or python
    if os.environ.get("RAGASSAY_STARTED_BY") == here:
        sys.exit(f"evaluation: {sys.executable} has no ragassay. Set {NAME} to one that has it.")
    os.environ["RAGASSAY_STARTED_BY"] = here
    try:
        os.execv(python, [python, *sys.argv])
    except OSError as error:
        sys.exit(f"evaluation: {python} cannot be started ({error.strerror}). Set {NAME}.")

from ragassay.mcp import evaluation_server  # noqa: E402

app = evaluation_server(__file__)

if __name__ == "__main__":
    app.run()
