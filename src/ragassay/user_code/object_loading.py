"""Objects of a user's own code by ``module:name``."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from ragassay.base.errors import UsageError, did_you_mean
from ragassay.user_code.code_sources import is_of_python
from ragassay.user_code.object_calls import described

PYTHON_WORD = re.compile(r"\s*[A-Za-z_][\w.]*:[A-Za-z_][\w.]*\s*")
"""All of a word that has the form ``module:name``."""

_NO_FILES = ("built-in", "frozen")  # what the place of a module says where it has no file


def has_module(where: str) -> bool:
    """Whether the module of ``module:name``, or its outermost package, can be found from here."""
    outermost = where.strip().partition(":")[0].partition(".")[0]
    try:
        spec = importlib.util.find_spec(outermost)
    except (ImportError, ValueError):
        return False
    # Services ask this too: only what loads code may change where modules are looked for.
    return (spec or PathFinder.find_spec(outermost, [str(Path.cwd())])) is not None


def load_object(where: str, role: str, *, typed: bool = True) -> Any:
    """The object that ``module:name`` names. Modules of the working directory count.

    Args:
        where: ``module:function``, ``package.module:object.attribute``.
        role: what the object is for, in messages: ``target``, ``judge``, ``metric``.
        typed: whether a person typed the word. A configuration file may come from somebody else: it
            names only code that is defined in the working directory, and not what a module there
            imports (``app:os.system``).

    A `UsageError` where there is no such object, its module fails, or a file may not name it."""
    module, _, path = where.strip().partition(":")
    here = str(Path.cwd())
    elsewhere = "a configuration file names only code that is defined in the working directory"
    if here not in sys.path:
        sys.path.insert(0, here)
    if not typed and has_module(where) and not _is_here(module):
        raise UsageError(f"The {role} {where}: {elsewhere}. Name it on the command line.")
    try:
        loaded: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        problem = f"its module needs {missing!r}, which is not installed."
        if module == missing or module.startswith(f"{missing}."):
            problem = f"there is no module {module!r} here or among the installed packages. "
            problem += "Run the command in the folder that holds it."
        raise UsageError(f"The {role} {where}: {problem}") from error
    except UsageError as error:
        raise UsageError(f"The {role} {where}: {error}") from error
    except (Exception, SystemExit) as error:  # a script without a guard ends the process
        why = described(error).removesuffix(".")
        problem = f"its module cannot be imported ({why})."
        raise UsageError(f"The {role} {where}: {problem}") from error
    for name in path.split("."):
        if not hasattr(loaded, name):
            hint = did_you_mean(name, dir(loaded))
            raise UsageError(f"The {role} {where}: {module} has no {path!r}. {hint}")
        loaded = getattr(loaded, name)
        if not typed and not _is_defined_here(loaded):
            raise UsageError(f"The {role} {where}: {elsewhere}. Name it on the command line.")
    return loaded


def _is_here(module: str) -> bool:
    """Whether the outermost package of a module lies in the working directory."""
    try:
        spec = importlib.util.find_spec(module.partition(".")[0])
    except ValueError:  # of a program that is run
        return False
    places = [] if spec is None else [spec.origin, *(spec.submodule_search_locations or ())]
    files = [
        Path(place).resolve() for place in places if place is not None and place not in _NO_FILES
    ]
    # A virtual environment may lie in the working directory.
    here = Path.cwd().resolve()
    return bool(files) and all(
        file.is_relative_to(here) and not is_of_python(file) for file in files
    )


def _is_defined_here(value: Any) -> bool:
    """Whether code of the working directory makes an object, or defines a function or class."""
    if inspect.ismodule(value):
        return _is_here(value.__name__)
    if not (inspect.isroutine(value) or inspect.isclass(value)):
        return True  # an object that a module here made
    module = getattr(value, "__module__", None)
    return isinstance(module, str) and _is_here(module)
