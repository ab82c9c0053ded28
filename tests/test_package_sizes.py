"""No package grows unnoticed: the budget of lines stands in pyproject.toml."""

import tomllib
from pathlib import Path

import ragassay

ROOT = Path(ragassay.__file__).parent
PROJECT = Path(__file__).parents[1] / "pyproject.toml"
SPARE = 150
"""Lines that a package may be below its number before that is lowered."""


def test_each_package_keeps_its_number_of_lines() -> None:
    budget = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["ragassay"]["lines"]
    lines = {
        folder.name: sum(
            len(path.read_text(encoding="utf-8").splitlines())
            for path in folder.rglob("*.py*")
            if path.suffix in (".py", ".pyi")
        )
        for folder in ROOT.iterdir()
        if (folder / "__init__.py").exists()
    }
    assert lines.keys() == budget.keys()
    over = {name: n for name, n in lines.items() if n > budget[name]}
    assert not over, "take something out, or raise the number in pyproject.toml with a reason"
    under = {name: n for name, n in lines.items() if n < budget[name] - SPARE}
    assert not under, "lower the number in pyproject.toml"
