"""Options of every command: how much it prints, and where its log goes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from ragassay.base.errors import UsageError
from ragassay.base.problem_words import system_problem

LOG = logging.getLogger("ragassay.cli")
LOG.addHandler(logging.NullHandler())  # without --log-file nothing is logged, on any stream
LOG.propagate = False

OWN_Q = ("trec",)
"""Commands that have ``-q`` for an option of their own, as trec_eval has."""

HELP = (
    "Every command takes --quiet, -q (prints errors, gates that did not pass, and data asked "
    "for, as by --json), --no-progress (no bars), --log-file FILE (adds notes, progress, gates and "
    "errors with their time) and --debug (a traceback)."
)


@dataclass(frozen=True)
class GlobalOptions:
    """What a command prints, shows and logs.

    Attributes:
        quiet: whether only errors and gates that did not pass are printed, and data.
        progress: whether bars are shown.
        debug: whether an error is shown with its traceback.
        log_file: where the log goes.
    """

    quiet: bool = False
    progress: bool = True
    debug: bool = False
    log_file: str | None = None


GLOBAL_OPTIONS: ContextVar[GlobalOptions] = ContextVar("global_options", default=GlobalOptions())  # noqa: B039


def read(argv: list[str]) -> tuple[GlobalOptions, list[str]]:
    """The global options in a command line, and its other words. Words after ``--`` stay, and so
    does ``-q`` where the command has it for another option (``trec``).

    Raises:
        UsageError: ``--log-file`` without a file.
    """
    end = argv.index("--") if "--" in argv else len(argv)
    switches, rest = set(), []
    log_file: str | None = None
    command = next((word for word in argv[:end] if not word.startswith("-")), "")
    short = {} if command in OWN_Q else {"-q": "--quiet"}
    words = iter(argv[:end])
    for written in words:
        word = short.get(written, written)
        name, sep, value = word.partition("=")
        if word in ("--quiet", "--no-progress", "--debug"):
            switches.add(word)
        elif name == "--log-file":
            log_file = value if sep else next(words, "")
            if not log_file or log_file.startswith("-"):
                raise UsageError("--log-file: name a file, as in --log-file ragassay.log.")
        else:
            rest.append(word)
    options = GlobalOptions(
        "--quiet" in switches, "--no-progress" not in switches, "--debug" in switches, log_file
    )
    return options, rest + argv[end:]


@contextmanager
def applied(options: GlobalOptions) -> Iterator[None]:
    """Applies the options within the block, and logs where a file is named.

    Raises:
        UsageError: the log cannot be written.
    """
    with ExitStack() as stack:
        stack.callback(GLOBAL_OPTIONS.reset, GLOBAL_OPTIONS.set(options))
        if options.log_file is not None:
            try:
                Path(options.log_file).parent.mkdir(parents=True, exist_ok=True)
                handler = logging.FileHandler(options.log_file, encoding="utf-8")
            except OSError as error:
                why = system_problem(error)
                raise UsageError(f"--log-file {options.log_file}: {why}.") from error
            stack.callback(handler.close)
            handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
            LOG.addHandler(handler)
            stack.callback(LOG.removeHandler, handler)
            LOG.setLevel(logging.INFO)
        yield
