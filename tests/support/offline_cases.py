"""The cases of ``tests/judges/approved/offline_cases.txt``."""

from pathlib import Path

FILE = Path(__file__).parents[1] / "judges" / "approved" / "offline_cases.txt"


def offline_cases(name: str) -> list[list[str]]:
    """The parts of each line of a block."""
    block = FILE.read_text(encoding="utf-8").split(f"== {name}\n")[1].split("\n== ")[0]
    lines = [line for line in block.splitlines() if line.strip() and line[0] != "#"]
    return [line.split(" | ") for line in lines]
