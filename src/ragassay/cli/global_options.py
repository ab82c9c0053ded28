"""Options of every command: how much it prints."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

OWN_Q = ("trec",)
"""Commands that have ``-q`` for an option of their own, as trec_eval has."""

HELP = (
    "Every command takes --quiet (-q but for trec: prints errors, gates that did not pass, and "
    "data asked for, as by --json), --no-progress (no bars) and --debug (a traceback)."
)


@dataclass(frozen=True)
class GlobalOptions:
    """Whether only errors, gates that did not pass and data are printed; whether bars are shown;
    whether an error is shown with its traceback."""

    quiet: bool = False
    progress: bool = True
    debug: bool = False


GLOBAL_OPTIONS: ContextVar[GlobalOptions] = ContextVar("global_options", default=GlobalOptions())  # noqa: B039


def read(argv: list[str]) -> tuple[GlobalOptions, list[str]]:
    """The global options in a command line, and its other words. Words after ``--`` stay, and so
    does ``-q`` where the command has it for another option (``trec``)."""
    end = argv.index("--") if "--" in argv else len(argv)
    command = next((word for word in argv[:end] if not word.startswith("-")), "")
    short = {} if command in OWN_Q else {"-q": "--quiet"}
    words = [short.get(word, word) for word in argv[:end]]
    given = {"--quiet", "--no-progress", "--debug"} & {*words}
    options = GlobalOptions("--quiet" in given, "--no-progress" not in given, "--debug" in given)
    return options, [word for word in words if word not in given] + argv[end:]
