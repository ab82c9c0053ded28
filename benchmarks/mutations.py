"""Mutation check: how many random errors in the code do the tests notice?

``python -m benchmarks.mutations`` runs the tests once to learn which test runs which line and how
long it takes (pytest-cov). It then makes one error at a time in a copy of the project (an operator
of Cosmic Ray at a random place) and runs the tests that run its line, shortest first, until one
fails. docs/mutations.md says how to use it.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import resource
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from difflib import unified_diff
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple
from xml.etree import ElementTree

from cosmic_ray import plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from coverage import CoverageData

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("engine", "stats", "metrics", "judges")
UNSEEN = ("@cache", "@lru_cache", "@abstractmethod", "@overload")
"""Decorators that change no answer."""
EQUIVALENT = ("_Is_Eq", "_IsNot_NotEq", "_Eq_Is", "_NotEq_IsNot")
"""Replacements that change nothing for booleans, small integers and members of enums."""
ALIVE = ("survived", "uncovered")
MEMORY = 12 << 30
"""Bytes that a process may allocate: an error can make a loop endless."""


class Mutant(NamedTuple):
    """One error: the nth place in a file where an operator applies, and the line of that place."""

    path: str
    operator: str
    nth: int
    line: int


def copy_to(tree: Path) -> None:
    """Copies the files that git knows, as they are in its index, with ``shared/`` beside them."""
    subprocess.run(["git", "checkout-index", "-af", f"--prefix={tree}/"], cwd=ROOT, check=True)
    shared = tree.parent / "shared"
    if not shared.exists() and (ROOT.parent / "shared").exists():
        shared.symlink_to(ROOT.parent / "shared")


def run_pytest(tree: Path, *arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    """Runs tests of a copy. No compiled files are written, see `outcome`."""
    env = {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    env = os.environ | env | {"COVERAGE_FILE": str(tree.parent / "coverage")}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=tree, env=env, text=True, **more)  # type: ignore[call-overload, no-any-return]


def map_tests(tree: Path, pytest_options: Sequence[str]) -> None:
    """Runs the tests of a copy; writes ``coverage`` and ``seconds.xml`` beside it."""
    subprocess.run([sys.executable, "-m", "compileall", "-q", "src"], cwd=tree, check=True)
    wanted = [f"--junitxml={tree.parent / 'seconds.xml'}", "-m", "not browser", *pytest_options]
    run_pytest(tree, "--cov=ragassay", "--cov-context=test", "--cov-report=", *wanted)


def seconds_of(report: Path) -> dict[str, float]:
    """How long each test took that passed, by its pytest id.

    A test whose id holds the path of the copy is left out: another copy does not have it.
    """
    passed = [case.attrib for case in ElementTree.parse(report).iter("testcase") if not len(case)]
    ids = [f"{one['classname'].replace('.', '/')}.py::{one['name']}" for one in passed]
    times = zip(ids, passed, strict=True)
    return {at: float(one["time"]) for at, one in times if str(report.parent) not in at}


def mutants_of(tree: Path, path: str) -> list[list[Mutant]]:
    """The mutants of a file, those of one place together.

    Left as they are, as no test can see a change there: annotations, the arguments of decorators,
    what is imported or declared for type checkers, and decorators that keep what was computed
    (speed) or forbid an instance of a class that has none. So are ``strict=True`` of `zip`, which
    asserts that our own sequences are of one length (without it, they are joined alike), and
    ``maxsize`` of `lru_cache` where it is called on a function: how much is kept.
    """
    code, fixed = (tree / path).read_text(encoding="utf-8"), []
    lines = code.splitlines()
    for node in ast.walk(ast.parse(code)):
        parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "zip":
            parts += [one.value for one in node.keywords if ast.unparse(one) == "strict=True"]
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "lru_cache":
            parts += [one.value for one in node.keywords]
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            parts.append(node.test)
        for part in [*parts, *getattr(node, "decorator_list", ())]:
            if part is not None:
                end = (part.end_lineno, part.end_col_offset)
                fixed.append(((part.lineno, part.col_offset), end))
    nodes, places = list(ast_nodes(get_ast(code))), defaultdict[object, list[Mutant]](list)
    for name in plugins.operator_names():
        operator = plugins.get_operator(name)
        if operator.arguments() or name.endswith(EQUIVALENT):
            continue
        positions = (span for node in nodes for span in operator().mutation_positions(node))
        for nth, (start, end) in enumerate(positions):
            line = lines[start[0] - 1]
            unseen = name.endswith("RemoveDecorator") and line.strip().startswith(UNSEEN)
            # Cosmic Ray takes the mark of parameters that have to be named for an operator.
            unseen = unseen or line[start[1] :].startswith("*,")
            if not unseen and not any(first <= start < last for first, last in fixed):
                places[start, end].append(Mutant(path, name, nth, start[0]))
    return list(places.values())


def changed(mutant: Mutant, code: str) -> str | None:
    """The code with the error; ``None`` where that is no Python."""
    made = mutate_code(code, plugins.get_operator(mutant.operator)(), mutant.nth)
    try:
        ast.parse(made)
    except SyntaxError:
        return None
    return str(made)


def draw(places: Sequence[list[Mutant]], n: int, seed: int, tree: Path) -> list[Mutant]:
    """One mutant of each of ``n`` random places; errors that are no Python do not count."""
    chance, sample = random.Random(seed), list[Mutant]()
    for place in chance.sample(places, len(places)):
        mutant = chance.choice(place)
        if changed(mutant, (tree / mutant.path).read_text(encoding="utf-8")) is not None:
            sample.append(mutant)
        if len(sample) == n:
            break
    return sample


def _contexts(data: CoverageData, path: Path, lines: range | None = None) -> set[str]:
    """The tests that run any line of a file, or any of some lines, with the phase of each."""
    contexts = data.contexts_by_lineno(str(path)).items()
    ran = [them for line, them in contexts if lines is None or line in lines]
    return set[str]().union(*ran) - {""}


def tests_of(
    mutant: Mutant, tree: Path, data: CoverageData, seconds: Mapping[str, float], limit: float
) -> list[str]:
    """The tests that run a mutant's statement, shortest first, up to ``limit`` seconds in all.

    What runs in a fixture belongs to all tests of the fixture's file. What runs at import belongs
    to all tests that run anything of the module's package, and to those in the folder of tests that
    is called like the module's layer: they may read what it declares without running it.
    """
    path = tree / mutant.path
    lines, in_function = range(0), False
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):  # outer ones come first
        if isinstance(node, ast.stmt) and node.lineno <= mutant.line <= (node.end_lineno or 0):
            body = getattr(node, "body", None)  # of a compound statement, only the head
            end = body[0].lineno if body else (node.end_lineno or 0) + 1
            inside = mutant.line >= end
            lines = range(mutant.line, mutant.line + 1) if inside else range(node.lineno, end)
            in_function |= inside and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    found = _contexts(data, path, lines)
    ran = data.contexts_by_lineno(str(path))
    in_function &= bool(found) or not any(ran.get(line) for line in lines)  # else ran at import
    if not in_function:  # who uses what the package declares?
        found = found.union(*(_contexts(data, one) for one in path.parent.glob("*.py")))
    tests = {one.rpartition("|")[0] for one in found}
    if not in_function:
        layer = f"tests/{Path(mutant.path).parts[2]}/"
        tests.update(test for test in seconds if test.startswith(layer))
    files = {one.partition("::")[0] for one in found if one.endswith("|setup")}
    chosen, total = list[str](), 0.0
    for test in sorted(seconds, key=lambda test: seconds[test]):
        if (test in tests or test.partition("::")[0] in files) and total < limit:
            chosen.append(test)
            total += seconds[test]
    return chosen


def outcome(mutant: Mutant, tree: Path, tests: Sequence[str], limit: float) -> tuple[str, str]:
    """What becomes of a mutant, and its diff.

    Killed mutants are "killed" by a test, "timed out", or "not collected" (the tests do not load).
    The others "survived", or are "uncovered": no test runs them.

    Raises:
        LookupError: a test of the map is not there.
    """
    path = tree / mutant.path
    code = path.read_text(encoding="utf-8")
    wrong = changed(mutant, code)
    assert wrong is not None
    lines = unified_diff(code.splitlines(), wrong.splitlines(), n=0, lineterm="")
    diff = "\n".join(list(lines)[2:])
    if not tests:
        return "uncovered", diff
    (tree / "chosen.txt").write_text("\n".join(tests), encoding="utf-8")
    # A compiled file is not made anew where the source has the same size and second.
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        compiled.unlink()
    path.write_text(wrong, encoding="utf-8")
    try:
        ran = run_pytest(tree, "-x", "@chosen.txt", capture_output=True, timeout=4 * limit + 60)
    except subprocess.TimeoutExpired:
        return "timed out", diff
    finally:
        path.write_text(code, encoding="utf-8")
    if ran.returncode not in (0, 1):  # nothing was run: because of the mutant, or of the map?
        plain = run_pytest(tree, "-q", "--collect-only", "@chosen.txt", capture_output=True)
        if plain.returncode:
            raise LookupError(f"the map names a test that is not there: {plain.stderr[-500:]}")
    return {0: "survived", 1: "killed"}.get(ran.returncode, "not collected"), diff


def main() -> int:
    """Prints what became of each mutant, and how many were killed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutations")
    parser.add_argument("--work", type=Path, required=True, help="a folder for copies and the map")
    parser.add_argument("--sample", type=int, default=200, help="how many mutants")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of tests for a mutant")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--packages", nargs="+", default=PACKAGES)
    parser.add_argument("pytest", nargs="*", help="after --: what pytest takes, such as test files")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    work, trees = given.work.resolve(), SimpleQueue[Path]()
    first = work / "copy0"
    for tree in [work / f"copy{at}" for at in range(given.workers)]:
        copy_to(tree)
        trees.put(tree)
    if not (work / "seconds.xml").exists():
        map_tests(first, given.pytest)
    data, seconds = CoverageData(str(work / "coverage")), seconds_of(work / "seconds.xml")
    data.read()
    files = [p for name in given.packages for p in (first / "src/ragassay" / name).rglob("*.py")]
    places = [p for file in sorted(files) for p in mutants_of(first, str(file.relative_to(first)))]
    sample = draw(places, given.sample, given.seed, first)
    tests = [tests_of(one, first, data, seconds, given.limit) for one in sample]

    def checked(mutant: Mutant, chosen: list[str]) -> str:
        tree = trees.get()
        found, diff = outcome(mutant, tree, chosen, given.limit)
        trees.put(tree)
        print(f"{found}: {mutant.path}:{mutant.line} {mutant.operator} ({len(chosen)} tests)")
        print(diff if found in ALIVE else "", flush=True)
        return found

    with ThreadPoolExecutor(given.workers) as pool:
        found = list(pool.map(checked, sample, tests))
    n_killed = sum(one not in ALIVE for one in found)
    print(f"{n_killed} of {len(found)} mutants killed, drawn from {len(places)} places")
    return 0


if __name__ == "__main__":
    sys.exit(main())
