"""The examples in the docstrings of the public surface run, and give what they print."""

import doctest
import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ragassay

ROOT = Path(ragassay.__file__).parent
FUNCTIONS = [name for name in dir(ragassay) if inspect.isfunction(getattr(ragassay, name))]
SHOWN = (*FUNCTIONS, "Sample", "Result", "Score", "Unscored")
"""What users call first; each of these has an example."""
API = (ROOT.parents[1] / "docs" / "api.md").read_text(encoding="utf-8")


def test_every_example_of_the_package_is_run() -> None:
    """By the names of the public surface."""
    run = {name.removeprefix("ragassay.") for name in FUNCTIONS}
    for name in dir(ragassay):
        found = getattr(ragassay, name)
        if not isinstance(found, ModuleType | str):
            run |= {test.name.rpartition(".")[2] for test in examples_of(name)}
    there = set()
    for path in ROOT.rglob("*.py"):
        if ">>>" in path.read_text(encoding="utf-8"):
            parts = path.relative_to(ROOT.parent).with_suffix("").parts
            module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
            finder = doctest.DocTestFinder(exclude_empty=True)
            tests = [test for test in finder.find(module, globs={}) if test.examples]
            for test in (one for one in tests if one.name != module.__name__):
                there.add(test.name.rpartition(".")[2])
                # Outside of a section "Examples:" the site takes them for quotations.
                assert not re.search(r"(?m)^>>>", inspect.cleandoc(test.docstring or "")), test.name
    assert there and there <= run


def examples_of(name: str) -> list[doctest.DocTest]:
    found: Any = getattr(ragassay, name)
    tests = doctest.DocTestFinder(recurse=isinstance(found, type)).find(found, name, globs={})
    return [test for test in tests if test.examples]


@pytest.mark.parametrize("name", SHOWN)
def test_the_public_surface_has_examples(name: str) -> None:
    assert examples_of(name), f"ragassay.{name} has no example in its docstring"
    assert f"::: ragassay.{name}\n" in API, f"docs/api.md does not show ragassay.{name}"


@pytest.mark.parametrize(
    "name", [name for name in dir(ragassay) if not isinstance(getattr(ragassay, name), ModuleType)]
)
def test_an_example_gives_what_it_prints(name: str, here) -> None:
    told: list[str] = []
    for test in examples_of(name):
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        assert runner.run(test, out=told.append).failed == 0, "".join(told)
