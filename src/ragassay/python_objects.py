"""Objects of a user's own code: found by ``module:name``, called in threads, told apart."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import importlib.util
import inspect
import os
import re
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import CodeType
from typing import Any

from ragassay.errors import UsageError, did_you_mean

_WORD = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_SHOWN = 200
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_NO_FILES = ("built-in", "frozen")
"""What the place of a module says where it has no file."""


def is_python_word(word: str) -> bool:
    """Whether a word has the form ``module:name``."""
    return _WORD.fullmatch(word.strip()) is not None


def object_hint(word: str) -> str:
    """What was meant by a word that nearly has the form ``module:name``; empty where that is not
    known.

    Args:
        word: that stands where such a word may stand.
    """
    path, _, name = word.strip().rpartition(":")
    if made := re.fullmatch(r"([A-Za-z_][\w.]*):([A-Za-z_][\w.]*)\(.*\)", word.strip()):
        own = made[2].rpartition(".")[2].lower()
        return (
            f"An object is made in the module, and not here: write 'own_{own} = {made[2]}(...)' in "
            f"{made[1]}.py and name it: {made[1]}:own_{own}. A function is {made[1]}:function."
        )
    if path.endswith(".py"):
        module = path.removesuffix(".py").removeprefix("./").replace("/", ".")
        if is_python_word(meant := f"{module}:{name}"):
            return f"A module is named without '.py': {meant}."
    return ""


def has_module(where: str) -> bool:
    """Whether the module of ``module:name``, or its outermost package, can be found from here."""
    outermost = where.strip().partition(":")[0].partition(".")[0]
    try:
        found = importlib.util.find_spec(outermost)
    except (ImportError, ValueError):
        return False
    # Services ask this too: only what loads code may change where modules are looked for.
    return (found or PathFinder.find_spec(outermost, [str(Path.cwd())])) is not None


def load_object(where: str, role: str, *, typed: bool = True) -> Any:
    """The object that ``module:name`` names. Modules of the working directory count.

    Args:
        where: ``module:function``, ``package.module:object.attribute``.
        role: what the object is for, in messages: ``target``, ``judge``, ``metric``.
        typed: whether a person typed the word. A configuration file may come from somebody else: it
            names only code that is defined in the working directory, and not what a module there
            imports (``app:os.system``).

    Raises:
        UsageError: there is no such module or object, or the module fails; or a file names code
            that lies elsewhere.
    """
    module, _, path = where.strip().partition(":")
    _look_here()
    if not typed and has_module(where) and not _is_here(module):
        raise UsageError(
            f"The {role} {where}: a configuration file names only code of the working directory, "
            f"and {module!r} lies elsewhere. Name it on the command line."
        )
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        if module == missing or module.startswith(f"{missing}."):
            raise UsageError(
                f"The {role} {where}: there is no module {module!r} here or among the installed "
                f"packages. {object_hint(where) or 'Run the command in the folder that holds it.'}"
            ) from error
        raise UsageError(
            f"The {role} {where}: its module needs {missing!r}, which is not installed."
        ) from error
    except UsageError as error:
        raise UsageError(f"The {role} {where}: {error}") from error
    except (Exception, SystemExit) as error:  # a script without a guard ends the process
        raise UsageError(
            f"The {role} {where}: its module cannot be imported "
            f"({described(error).removesuffix('.')})."
        ) from error
    for name in path.split("."):
        if not hasattr(found, name):
            there = [one for one in vars(found) if not one.startswith("_")] if found else []
            hint = did_you_mean(name, there)
            raise UsageError(f"The {role} {where}: {module} has no {path!r}. {hint}")
        found = getattr(found, name)
        if not typed and not _is_defined_here(found):
            raise UsageError(
                f"The {role} {where}: a configuration file names only code of the working "
                f"directory, and {name!r} is defined elsewhere. Name it on the command line."
            )
    return found


def described(error: BaseException, *, place: bool = False) -> str:
    """An exception in one line: its type and what it says, shortened; with a full stop.

    Args:
        error: of a user's code.
        place: whether to add the file and line where it was raised.
    """
    said = " ".join(str(error).split())
    said = said if len(said) <= _SHOWN else f"{said[: _SHOWN - 1]}…"
    said = f": {said.rstrip('.')}" if said else ""
    return f"{type(error).__name__}{said}{_place(error) if place else ''}."


def is_async(found: Callable[..., Any]) -> bool:
    """Whether calling an object gives a coroutine or an asynchronous generator."""
    own = getattr(found, "__call__", found)  # noqa: B004 - of an object with __call__
    return any(
        is_of_kind(one)
        for one in (found, own)
        for is_of_kind in (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    )


def source_of(found: Any, where: str = "") -> str:
    """The hash of the file that defines a function or class; of another object, of the files that
    define its class and that make it. Empty where there is none.

    Args:
        found: the object.
        where: ``module:name`` by which the object was found; empty where it was given as it is.
    """
    is_defined = inspect.isroutine(found) or inspect.isclass(found)
    names = [_module_of(found)]
    if not is_defined and where:
        names.append(where.partition(":")[0])
    held = [file.read_bytes() for one in dict.fromkeys(names) if (file := _file_of(one))]
    return hashlib.sha256(b"".join(held)).hexdigest()[:16] if held else ""


def loaded_source_of(found: Any, where: str = "") -> str:
    """The hash of `source_of`, and of the names and files of all loaded modules of a user's own.

    Those lie in the folder of the object's outermost package (of a plain module, the folder that it
    lies in) or in the working directory, and are not of Python, an installed package or ragassay.
    What the object imports when it is called is not seen.

    Args:
        found: the object.
        where: ``module:name`` by which the object was found; empty where it was given as it is.
    """
    names = dict.fromkeys((_module_of(found), where.partition(":")[0]))
    folders = [Path.cwd().resolve()]
    for outermost in {name.partition(".")[0] for name in names}:
        file = _file_of(outermost)
        inner = (
            getattr(sys.modules.get(outermost), "__path__", ()) if file is None else [file.parent]
        )
        folders += [Path(one).resolve() for one in inner]
    digest = hashlib.sha256(source_of(found, where).encode())
    for name in sorted(sys.modules):
        # Of the program itself nothing is known but its name, unless it holds the object.
        if name.partition(".")[0] == "ragassay" or (name == "__main__" and name not in names):
            continue
        file = _file_of(name)
        if file is None or _is_of_python(file) or _is_of_python(file.resolve()):
            continue
        if any(map(file.resolve().is_relative_to, folders)):
            digest.update(f"\n{name} {hashlib.sha256(file.read_bytes()).hexdigest()}".encode())
    return digest.hexdigest()[:16]


def _module_of(found: Any) -> str:
    """The name of the module that defines a function or class, or the class of another object."""
    is_defined = inspect.isroutine(found) or inspect.isclass(found)
    return getattr(found if is_defined else type(found), "__module__", None) or ""


def _file_of(module: str) -> Path | None:
    """The file that a loaded module was read from."""
    told = getattr(sys.modules.get(module), "__dict__", {}).get("__file__")
    return Path(told) if isinstance(told, str) and Path(told).is_file() else None


def is_as_written(found: Any) -> bool:
    """Whether the file that defines a function or class still holds the code that runs: a file may
    be edited after it was imported.

    Args:
        found: a function that a file defines at its top level, or a class.
    """
    if not inspect.isclass(found):
        code: CodeType | None = getattr(inspect.unwrap(found), "__code__", None)
        return code is None or code in _codes_of_file(code)
    file = getattr(sys.modules.get(found.__module__), "__file__", None)
    inner = (getattr(one, "__func__", getattr(one, "fget", one)) for one in vars(found).values())
    codes = [getattr(inspect.unwrap(one), "__code__", None) for one in inner if callable(one)]
    # Methods that a decorator made (those of a dataclass) are in no file.
    return all(c in _codes_of_file(c) for c in codes if c is not None and c.co_filename == file)


def is_defined_once(function: Any) -> bool:
    """Whether the file that defines a function has one function of its name."""
    code: CodeType | None = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return True
    return sum(one.co_qualname == code.co_qualname for one in _codes_of_file(code)) < 2


def _codes_of_file(code: CodeType) -> list[CodeType]:
    """The code of all functions in the file that a function is of; empty where it has none."""
    try:
        source = Path(code.co_filename).read_bytes()
        held = compile(source, code.co_filename, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return []
    return list(_codes(held))


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of functions in the code of a file, at any depth."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _codes(one)


def own_classes(cls: type) -> list[type]:
    """A class and those that it derives from, without those of Python and installed packages."""
    return [one for one in cls.__mro__ if not is_installed(one)]


def is_installed(cls: type) -> bool:
    """Whether a class is of Python or of an installed package."""
    if cls.__module__ in sys.builtin_module_names:
        return True
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return file is not None and _is_of_python(Path(file).resolve())


async def in_thread(work: Callable[[], Any]) -> Any:
    """Runs a function in a thread of its own. A function that hangs does not hold the process."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(take: Callable[[Any], None], value: Any) -> None:
        if not done.done():
            take(value)

    def run() -> None:
        try:
            outcome, take = work(), done.set_result
        except BaseException as error:  # also SystemExit of somebody's code
            if isinstance(error, StopIteration):  # a future cannot hold it
                error = RuntimeError("it raised StopIteration")
            outcome, take = error, done.set_exception
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, take, outcome)

    threading.Thread(target=run, daemon=True, name="ragassay-user-code").start()
    return await done


def _look_here() -> None:
    """Modules of the working directory can be imported from then on."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)


def _is_here(module: str) -> bool:
    """Whether the outermost package of a module lies in the working directory."""
    try:
        spec = importlib.util.find_spec(module.partition(".")[0])
    except ValueError:  # of a program that is run
        return False
    places = [] if spec is None else [spec.origin, *(spec.submodule_search_locations or ())]
    files = [Path(one).resolve() for one in places if one is not None and one not in _NO_FILES]
    return bool(files) and all(map(_is_own, files))


def _is_own(file: Path) -> bool:
    """Whether a file lies in the working directory, and is not of Python or a package that is
    installed there: a virtual environment may lie in it."""
    return file.is_relative_to(Path.cwd().resolve()) and not _is_of_python(file)


def _is_of_python(file: Path) -> bool:
    return not _INSTALLED.isdisjoint(file.parts) or any(map(file.is_relative_to, _library()))


@cache
def _library() -> tuple[Path, ...]:
    """The folders of Python's standard library."""
    return tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib"))


def _is_defined_here(found: Any) -> bool:
    """Whether an object is made, or a function or class defined, by code of the working
    directory."""
    if inspect.ismodule(found):
        return _is_here(found.__name__)
    if not (inspect.isroutine(found) or inspect.isclass(found)):
        return True  # an object that a module here made
    module = getattr(found, "__module__", None)
    return isinstance(module, str) and _is_here(module)


def _place(error: BaseException) -> str:
    """Where an exception was raised: file and line."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    return f" ({os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno})"  # noqa: PTH119
