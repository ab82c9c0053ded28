"""The layers of docs/architecture.md: imports go down, and never in a circle."""

import ast
import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import ragassay

ROOT = Path(ragassay.__file__).parent
GROUND = {"base"}
LAYERS = [
    *("user_code", "texts", "formats", "stats", "transport", "judges", "models", "metrics"),
    *("suites", "golden", "engine"),
    *("reports", "compat", "targets", "synthesis", "mcp", "client"),
    *("testing", "service", "review", "cli"),
]
ROOMS = [
    *("results", "comparison", "config", "open_rag_eval_config", "models"),
    *("run", "diagnosis"),
]
"""The packages of the engine, each importing only from those before it."""

BESIDE = {
    *(("formats", "stats"), ("stats", "formats")),
    *(("formats", "transport"), ("transport", "formats"), ("stats", "transport")),
    ("transport", "stats"),
}
"""Pairs of layers at one height, which do not know each other."""


def layer(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


@cache
def imports() -> tuple[tuple[str, str], ...]:
    """Every import inside the package, also those inside functions, without those for types alone:
    (importer, imported)."""
    return tuple(_imports())


def _imports() -> Iterator[tuple[str, str]]:
    for path in ROOT.rglob("*.py"):
        name = ".".join(["ragassay", *path.relative_to(ROOT).with_suffix("").parts])
        name = name.removesuffix(".__init__")
        tree = parsed(path)
        for_types = {
            id(node)
            for test in ast.walk(tree)
            if isinstance(test, ast.If)
            and isinstance(test.test, ast.Name)
            and test.test.id == "TYPE_CHECKING"
            for node in ast.walk(test)
        }
        for node in ast.walk(tree):
            if id(node) in for_types:
                continue
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ragassay"):
                for alias in node.names:
                    yield name, home_of(str(node.module), alias.name)
            elif isinstance(node, ast.Import):
                yield from ((name, a.name) for a in node.names if a.name.startswith("ragassay"))


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def exported(package: str) -> dict[str, str]:
    """The module of each name that a package exports, as its stub says."""
    stub = ROOT.parent / Path(*package.split(".")) / "__init__.pyi"
    if not stub.exists():
        return {}
    return {
        alias.name: f"{package}.{node.module or alias.name}" if node.level else str(node.module)
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@cache
def home_of(module: str, name: str) -> str:
    """The module that an imported name comes from."""
    below = f"{module}.{name}"
    if (ROOT.parent / Path(*below.split("."))).with_suffix(".py").exists():
        return below
    home = exported(module).get(name, module)
    return home if home == module else home_of(home, name)


def test_every_package_says_what_it_holds_and_a_face_names_what_there_is() -> None:
    for init in ROOT.rglob("__init__.py"):
        assert ast.get_docstring(parsed(init)), init
        package = ".".join(["ragassay", *init.relative_to(ROOT).parts[:-1]])
        found = importlib.import_module(package)
        for name in exported(package):
            assert getattr(found, name) is not None, f"{package}.{name}"


def through_the_top() -> Iterator[tuple[str, str]]:
    """What a module takes from the top package by an attribute (``ragassay.open_run``)."""
    for path in ROOT.rglob("*.py"):
        name = ".".join(["ragassay", *path.relative_to(ROOT).with_suffix("").parts])
        for node in ast.walk(parsed(path)):
            is_top = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            if is_top and node.value.id == "ragassay":
                yield name, home_of("ragassay", node.attr)


def test_every_import_goes_down_or_stays_in_its_layer() -> None:
    wrong = []
    for importer, imported in (*imports(), *through_the_top()):
        one, other = layer(importer), layer(imported)
        if one not in LAYERS and one not in GROUND:
            continue  # the package's face, __main__ and the bundled example stand outside
        if one in GROUND:
            allowed = other in GROUND | {""}
        else:
            allowed = other in GROUND | {"", "examples"} or (
                other in LAYERS
                and LAYERS.index(other) <= LAYERS.index(one)
                and (one, other) not in BESIDE
            )
        if not allowed:
            wrong.append(f"{importer} imports {imported}")
    assert not wrong


def test_the_rooms_of_the_engine_stand_in_a_line() -> None:
    wrong = []
    for importer, imported in imports():
        rooms = [one.split(".")[2:3] for one in (importer, imported) if layer(one) == "engine"]
        if len(rooms) == 2 and all(rooms):
            one, other = (ROOMS.index(room) for (room,) in rooms)
            wrong += [f"{importer} imports {imported}"] * (other > one)
    assert not wrong


def test_no_circle() -> None:
    """Imports inside functions count; those for types alone do not."""
    graph: dict[str, set[str]] = {}
    for importer, imported in imports():
        graph.setdefault(importer, set()).add(imported)
    done: set[str] = set()
    path: list[str] = []

    def walk(module: str) -> None:
        if module in path:
            raise AssertionError(" -> ".join([*path[path.index(module) :], module]))
        if module in done:
            return
        path.append(module)
        for below in sorted(graph.get(module, ())):
            if below != module:
                walk(below)
        path.pop()
        done.add(module)

    for module in sorted(graph):
        walk(module)


def test_no_folder_is_crowded() -> None:
    exempt = {"cli", "formats"}  # a command a file, a format a file
    crowded = {
        str(folder.relative_to(ROOT)): n
        for folder in (ROOT, *(one for one in ROOT.rglob("*") if one.is_dir()))
        if (n := len(list(folder.glob("*.py")))) > 16 and folder.name not in exempt
    }
    assert not crowded, "more than about fifteen files: find the rooms within"


def test_metrics_and_statistics_read_and_write_nothing() -> None:
    for name in ("metrics", "stats"):
        for path in (ROOT / name).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            for word in ("open(", "read_text", "write_text", "pathlib", "print("):
                assert word not in source, f"{path.name} has {word}"


def test_the_page_names_every_layer_in_order() -> None:
    page = (ROOT.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    picture = page[page.index("```") :]
    places = [picture.index(f"\n{name}/") for name in reversed(LAYERS)]
    assert places == sorted(places)
    assert all(f"\n{name}/" in picture for name in GROUND)


def test_no_two_files_have_one_name() -> None:
    names = [path.name for path in ROOT.rglob("*.py") if path.name != "__init__.py"]
    assert not {name for name in names if names.count(name) > 1}
