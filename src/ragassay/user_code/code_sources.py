"""What a user's own code is known by: the files that it runs."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

_INSTALLED = frozenset({"site-packages", "dist-packages"})
_RAGASSAY = Path(__file__).resolve().parent.parent


def source_of(value: Any, where: str = "") -> str:
    """The hash of the files that an object's answers come from. Empty where there is none.

    Those are the file that defines a function or class (of another object, the files that define
    its class and, by ``where``, that make it: ``module:name``), and all that these import, at
    whatever depth, of a user's own. Imports are read and not run.
    """
    is_defined = inspect.isroutine(value) or inspect.isclass(value)
    names = [getattr(value if is_defined else type(value), "__module__", None) or ""]
    if not is_defined and where:
        names.append(where.partition(":")[0])
    files = _imported_files(names)
    if len(files) > 1:
        lines = [f"{hashlib.sha256(files[file]).hexdigest()} {file}\n" for file in sorted(files)]
        return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]
    return "".join(hashlib.sha256(file).hexdigest()[:16] for file in files.values())


def _imported_files(names: list[str]) -> dict[str, bytes]:
    """What the files of modules hold, and those of a user's own that they import, by module."""
    contents: dict[str, bytes] = {}
    seen = set(names)
    queue = [(name, True) for name in dict.fromkeys(names)]
    while queue:
        name, is_first = queue.pop()
        file = _file_of(name)
        if file is None or not (is_first or _is_own(file)):
            continue
        contents[name] = file.read_bytes()
        fresh = _imported_names(name, file, contents[name]) - seen
        seen |= fresh
        queue += [(text, False) for text in fresh]
    return contents


def _imported_names(module: str, file: Path, source: bytes) -> set[str]:
    """The modules that a file may import, with the packages that these lie in."""
    modules = {module}
    package = module if file.stem == "__init__" else module.rpartition(".")[0]
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # a compiled module
        return modules
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            outer = package.split(".")[: 1 - node.level or None] if node.level else []
            base = ".".join([*outer, *filter(None, [node.module])])
            # A name of a package may be one of its modules.
            modules.update([base, *(f"{base}.{name.name}" for name in node.names)])
    return {
        ".".join(parts[:depth])
        for parts in (text.split(".") for text in modules)
        for depth in range(1, len(parts) + 1)
    }


def _file_of(module: str) -> Path | None:
    """The file that a module is read from; nothing is imported for it."""
    file = getattr(sys.modules.get(module), "__dict__", {}).get("__file__")
    if not isinstance(file, str):
        spec = _spec_of(module)
        file = spec.origin if spec is not None and spec.has_location else None
    return Path(file) if file and Path(file).is_file() else None


def _spec_of(module: str) -> ModuleSpec | None:
    """Where a module would be imported from."""
    outer, _, name = module.rpartition(".")
    if module in sys.stdlib_module_names:
        return None
    try:
        if not outer:
            return importlib.util.find_spec(name)
        package = _spec_of(outer)
        within = None if package is None else package.submodule_search_locations
        return None if within is None else PathFinder.find_spec(module, within)
    except (ImportError, ValueError):
        return None


def _is_own(file: Path) -> bool:
    """Whether a file is of no module of Python, of an installed package, or of ragassay."""
    return not any(
        is_of_python(path) or path.is_relative_to(_RAGASSAY) for path in (file, file.resolve())
    )


def is_as_written(defined: Any) -> bool:
    """Whether the functions that run are still those of their files, which may be edited since."""
    loaded = map(sys.modules.get, _imported_files([defined.__module__]))
    beside = [
        var
        for module in loaded
        # pytest rewrites what it loads itself.
        if module is not None and isinstance(module.__loader__, SourceFileLoader)
        for var in vars(module).values()
        if (inspect.isfunction(var) or inspect.isclass(var)) and var.__module__ == module.__name__
    ]
    return all(
        code in _codes_of_file(code) for value in (defined, *beside) for code in _own_codes(value)
    )


def _own_codes(defined: Any) -> Iterator[CodeType]:
    """The code of a function, or of the methods of a class, in the file of its module."""
    file = getattr(sys.modules.get(defined.__module__), "__file__", None)
    inner = (
        [getattr(var, "__func__", getattr(var, "fget", var)) for var in vars(defined).values()]
        if inspect.isclass(defined)
        else [defined]
    )
    for function in filter(callable, inner):
        code = getattr(inspect.unwrap(function), "__code__", None)
        # Methods that a decorator made (those of a dataclass) are in no file.
        if isinstance(code, CodeType) and (code.co_filename == file or function is defined):
            yield code


def is_defined_once(function: Any) -> bool:
    """Whether the file that defines a function has one function of its name."""
    code: CodeType | None = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return True
    return sum(code_type.co_qualname == code.co_qualname for code_type in _codes_of_file(code)) < 2


def _codes_of_file(code: CodeType) -> set[CodeType]:
    """The code of all functions in the file that a function is of; empty where it has none."""
    try:
        return _compiled(Path(code.co_filename).read_bytes(), code.co_filename)
    except (OSError, SyntaxError, ValueError):
        return set()


@lru_cache(maxsize=64)
def _compiled(source: bytes, file: str) -> set[CodeType]:
    return set(_codes(compile(source, file, "exec", dont_inherit=True)))


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of functions in the code of a file, at any depth."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from _codes(const)


def own_classes(cls: type) -> list[type]:
    """A class and those that it derives from, without those of packages."""
    return [kind for kind in cls.__mro__ if not is_installed(kind)]


def is_installed(cls: type) -> bool:
    """Whether a class is of Python or of an installed package."""
    if cls.__module__ in sys.builtin_module_names:
        return True
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return file is not None and is_of_python(Path(file).resolve())


def is_of_python(file: Path) -> bool:
    """Whether a file lies in Python's library or among installed packages."""
    return not _INSTALLED.isdisjoint(file.parts) or any(map(file.is_relative_to, _library()))


@cache
def _library() -> tuple[Path, ...]:
    """The folders of Python's standard library."""
    return tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib"))
