"""The command ragassay: its app, its errors, its exit codes."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from cyclopts import App, CycloptsError, CycloptsPanel

from ragassay import __version__, extensions, printable
from ragassay.cli import golden_review, interrupt, show
from ragassay.cli.ask import ask
from ragassay.cli.compare import compare
from ragassay.cli.demo import demo
from ragassay.cli.explain import explain
from ragassay.cli.flags import OptionsCommand
from ragassay.cli.golden import golden
from ragassay.cli.golden_check import check as golden_check
from ragassay.cli.golden_isolate import isolate as golden_isolate
from ragassay.cli.golden_synthesize import synthesize
from ragassay.cli.ledger import ledger
from ragassay.cli.mcp_command import mcp
from ragassay.cli.metrics import metrics
from ragassay.cli.models import models
from ragassay.cli.mtrag_command import mtrag, published_form
from ragassay.cli.pipeline import build
from ragassay.cli.plot import plot
from ragassay.cli.report import report
from ragassay.cli.rescore import rescore
from ragassay.cli.run import run
from ragassay.cli.serve import serve, worker
from ragassay.cli.token import token
from ragassay.cli.trec import trec
from ragassay.cli.validate import validate
from ragassay.errors import OptionError, RagassayError, RagassayWarning

_SHOWN = 120
"""Characters of a file's name that an error of the operating system shows."""

COMMANDS: tuple[Callable[..., int | None], ...] = (
    *(demo, ask, run, compare, explain, report, plot, trec, mtrag),
    *(validate, metrics, rescore, build, mcp, serve, worker),
)

EXIT_CODES = (
    "Exit codes: 0 ok, 1 gate failed, 2 usage or bad input, 3 incomplete, 130 interrupted. Add "
    "--debug to see a traceback."
)
HELP = {"--help", "-h"}

app = App(
    name="ragassay",
    version=__version__,
    help=(
        "Evaluate RAG systems: retrieval, answers and citations, with statistics that say whether "
        "a difference is real. Start with 'ragassay demo'."
    ),
    help_epilogue=EXIT_CODES,
    help_format="plaintext",
    suppress_keyboard_interrupt=False,
)
for _place, _command in enumerate(COMMANDS):
    app.command(_command, sort_key=_place, help_format="markdown")
app["trec"].version_flags = ("--version", "-v")
for _command in (golden_check, golden_isolate):
    golden.command(_command)
assert golden_review  # it adds its commands to golden
for _place, _several in enumerate((golden, ledger, models, token), start=len(COMMANDS)):
    _several.sort_key = _place
    app.command(_several)


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command line and exits with its code."""
    sys.exit(call(list(sys.argv[1:] if argv is None else argv)))


def call(argv: list[str]) -> int:
    """Runs one command and returns its exit code. Errors are one sentence on standard error."""
    debug = "--debug" in argv
    if sys.stderr is None:  # it was closed
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    if sys.stdout is None:
        return _complain("Standard output is closed: nothing could be shown.", show.USAGE)
    try:
        with interrupt.heard(), warnings.catch_warnings():
            warnings.simplefilter("always", RagassayWarning)
            warnings.showwarning = _show_warning
            words = [word for word in argv if word != "--debug"]
            if (published := published_form(words)) is not None:
                warnings.warn(
                    f"'run --step' is MT-RAG's form of 'ragassay {published[0]} {published[1]}'.",
                    RagassayWarning,
                    stacklevel=1,
                )
            words = published or words
            for command in (*COMMANDS, synthesize):
                if isinstance(command, OptionsCommand) and command.name in words:
                    command.declare()
            if not words or not HELP.isdisjoint(words):
                app.help_epilogue = " ".join(filter(None, (EXIT_CODES, extensions.summary())))
            result = app(
                words,
                exit_on_error=False,
                print_error=False,
                result_action="return_value",
            )
            sys.stdout.flush()
    except KeyboardInterrupt:
        interrupt.settle()
        return _complain(
            "Interrupted. No file is half-written. What judges and endpoints answered is kept: the "
            "same command asks only for what is missing.",
            show.INTERRUPTED,
        )
    except CycloptsError as error:
        show.console(stderr=True).print(CycloptsPanel(error))
        return show.USAGE
    except BrokenPipeError:
        _give_output_up()
        return show.PIPE_CLOSED
    except SystemExit as error:
        # How rich ends a program whose reader went away: with the code of a failed gate.
        if isinstance(error.__context__, BrokenPipeError):
            return show.PIPE_CLOSED
        raise
    except Exception as error:
        if debug:
            raise
        return _complain(_in_words(error), show.USAGE)
    return result if isinstance(result, int) else 0


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Shows a warning as one sentence. Python's own function prints the source line as well."""
    del category, filename, lineno, file, line
    print(printable.lines(f"note: {message}"), file=sys.stderr)  # noqa: T201


def _in_words(error: Exception) -> str:
    """The sentence about an error."""
    if isinstance(error, OptionError):
        return _of_a_flag(error)
    if isinstance(error, RagassayError):
        return str(error)
    if isinstance(error, OSError):
        return _of_the_system(error)
    return (
        f"Unexpected {type(error).__name__}: {error}. This is a defect of ragassay; "
        "run again with --debug for the traceback."
    )


def _of_a_flag(error: OptionError) -> str:
    """The sentence about an impossible value, with the flag in place of the key."""
    from ragassay.engine.config import RunConfig, options_of

    name, _, place = error.key.partition(".")
    option = options_of(RunConfig).get(name)
    flag = f"--{name.replace('_', '-')}" if option is None else option.flags_of(name)[0]
    short = f" ({option.short})" if option is not None and option.short else ""
    return f"{flag}{short}{f', {place}' if place else ''}: {error.problem}."


def _of_the_system(error: OSError) -> str:
    """The sentence for what the operating system refused."""
    why = error.strerror or str(error)
    if error.filename is not None:
        name = str(error.filename)
        return f"{name if len(name) <= _SHOWN else f'{name[:_SHOWN]}…'}: {why}."
    _give_output_up()
    return f"The output cannot be written: {why}."


def _give_output_up() -> None:
    """Lets Python end without a further attempt to write output that no program reads."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(sentence: str, code: int) -> int:
    print(printable.lines(f"ragassay: {sentence}"), file=sys.stderr)  # noqa: T201
    return code
