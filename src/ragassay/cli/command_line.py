"""The command ragassay: its app, its errors, its exit codes."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from cyclopts import App, CycloptsError, Group

from ragassay import __version__, formats
from ragassay.base import packages, printable
from ragassay.base.errors import (
    OptionError,
    RagassayError,
    RagassayWarning,
    system_problem,
    warn_user,
)
from ragassay.cli import golden, ledger, models, show, token_command
from ragassay.cli.command import COMMANDS, Given, command, text_and_examples
from ragassay.cli.show import GLOBAL_OPTIONS, GlobalOptions
from ragassay.formats.sources import opening

_SHOWN = 120
"""Characters of a file's name that an error of the operating system shows."""

PARTS = {
    "Evaluate": (
        *("demo", "run", "compare", "diagnose", "explain", "report", "plot", "rescore"),
        *("validate", "metrics"),
    ),
    "System under test": ("ask",),
    "Golden sets": ("golden",),
    "Service and agents": ("serve", "worker", "backup", "token", "mcp"),
    "Published tools": ("trec", "mtrag", "build"),
    "This machine": ("ledger", "models", "--install-completion", "--help", "--version"),
}
"""The parts of the help with their commands and groups of commands, in order."""

GROUPS = {"golden": golden, "ledger": ledger, "models": models, "token": token_command}
"""Groups of commands: the text above the module is the help."""

EXIT_CODES = (
    "Exit codes: 0 ok, 1 gate failed, 2 usage or bad input, 3 incomplete, 130 interrupted. "
    "Every command takes --quiet (-q, but not in trec: only errors, gates that did not pass and "
    "data such as --json), --no-progress (no bars) and --debug (a traceback)."
)
HELP = {"--help", "-h"}
HELP_ALL = "--help-all"
MORE = "--help-all shows every option; docs/configuration.md explains them."

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


@command("--install-completion")
def install_completion(given: Given) -> None:
    """Let the shell complete commands and options when Tab is pressed.

    ```sh
    ragassay --install-completion
    ```
    """
    for item in COMMANDS.values():
        item.declare()
    place = app.install_completion(
        shell=given.shell, output=given.output, add_to_startup=given.output is None
    )
    show.lines(f"completions: {place}")
    if given.output is None:
        show.lines(
            "Your shell's startup file loads them from now on. Start a new shell to use them."
        )


for _ in packages.modules(__package__):
    """Each module declares its commands."""
for _name, _module in GROUPS.items():
    _text = text_and_examples(_module.__doc__ or "")[0]
    _group_app = App(_name, help=_text, help_format="markdown")
    app.command(_group_app)
for _full_name, _command in COMMANDS.items():
    *_group, _name = _full_name.split()
    if _group:
        app[_group[0]].command(_command, name=_name)
    elif _name in GROUPS:
        app[_name].default(_command)
    else:
        app.command(_command, name=_name, help_format="markdown")
for _at, (_part, _names) in enumerate(PARTS.items()):
    _shown = Group(_part, sort_key=_at)
    for _place, _name in enumerate(_names):
        app[_name].group, app[_name].sort_key = _shown, _place
app["trec"].version_flags = ("--version", "-v")


INSTEAD = {
    "compare --slice-by": "Compare the samples of one slice: --where FIELD=VALUE.",
    "compare --fail-under": "Gate a difference: --fail-if-drop 'METRIC>SIZE'.",
    "run --fail-if-drop": "Compare two runs: ragassay compare NEW OLD --fail-if-drop.",
}
"""What to do in place of another command's option."""


def call(argv: list[str]) -> int:
    """Runs one command and returns its exit code. Errors are one sentence on standard error."""
    if sys.stderr is None:  # it was closed
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    if sys.stdout is None:
        return _complain("Standard output is closed: nothing could be shown.", show.USAGE)
    options, words = read(argv)
    before, by_flags = GLOBAL_OPTIONS.set(options), formats.BY_FLAGS.set(True)
    try:
        with show.remembered(), warnings.catch_warnings():
            warnings.simplefilter("always", RagassayWarning)
            warnings.showwarning = partial(_show_warning, set())
            if words[:1] != ["trec"]:  # reads standard input by itself, as trec_eval does
                words = [  # a lone "-" that is no flag's value
                    opening.STANDARD_INPUT if word == "-" and not last.startswith("-") else word
                    for last, word in zip(["", *words], words, strict=False)
                ]
            if words and words[0] in ("eval", "generate-queries"):
                words = _as_ours(*words)
            everything = HELP_ALL in words
            words = ["--help" if word == HELP_ALL else word for word in words]
            helps = not words or not HELP.isdisjoint(words)
            named = [element for element in COMMANDS.values() if element.name in words]
            for item in named:
                item.declare(common=helps and not everything)
            if helps:
                app.help_epilogue = " ".join(filter(None, (EXIT_CODES, packages.summary())))
                if not everything and any(element.takes_run_options for element in named):
                    app.help_epilogue = f"{MORE} {app.help_epilogue}"
                name = " ".join(word for word in app.parse_commands(words)[0] if word not in HELP)
                app.help_epilogue = f"{app.help_epilogue}\n\n{_examples(name)}".rstrip()
            code = app(words, exit_on_error=False, print_error=False, result_action="return_value")
            sys.stdout.flush()
    except KeyboardInterrupt:
        return _interrupted()
    except CycloptsError as error:
        chain = " ".join(["ragassay", *(error.command_chain or ())])
        flags = [f"{words[0]} {word.partition('=')[0]}" for word in words]
        known = [f"Unknown option: {flag.split()[1]}. {INSTEAD[flag]}"
                 for flag in flags if flag in INSTEAD]  # fmt: skip
        said = known[0] if known else " ".join(str(error).split())
        return _complain(f"{said} See '{chain} --help'.", show.USAGE)
    except BrokenPipeError:
        _discard_output()
        return show.PIPE_CLOSED
    except SystemExit as error:
        # How rich ends a program whose reader went away: with the code of a failed gate.
        if isinstance(error.__context__, BrokenPipeError):
            return show.PIPE_CLOSED
        raise
    except Exception as error:
        if show.is_received():  # a package has made another error of it
            return _interrupted()
        if options.debug:
            raise
        return _complain(_in_words(error), show.USAGE)
    finally:
        formats.BY_FLAGS.reset(by_flags)
        GLOBAL_OPTIONS.reset(before)
    return code if isinstance(code, int) else 0


def _examples(name: str) -> str:
    """The examples of a command or a group of commands."""
    if name in GROUPS:
        return text_and_examples(GROUPS[name].__doc__ or "")[1]
    return COMMANDS[name].examples if name in COMMANDS else ""


def read(argv: list[str]) -> tuple[GlobalOptions, list[str]]:
    """The options of every command in a command line, and its other words. Words after ``--`` stay,
    and so does ``-q`` of ``trec``, which has it for another option, as trec_eval has."""
    end = argv.index("--") if "--" in argv else len(argv)
    name = next((word for word in argv[:end] if not word.startswith("-")), "")
    words = ["--quiet" if word == "-q" and name != "trec" else word for word in argv[:end]]
    given = {"--quiet", "--no-progress", "--debug"} & {*words}
    options = GlobalOptions(
        "--quiet" in given, "--no-progress" not in given, "--debug" in given, "--github" in words
    )
    return options, [word for word in words if word not in given] + argv[end:]


def _as_ours(name: str, *rest: str) -> list[str]:
    """The words of our command for Open RAG Eval's ``eval`` or ``generate-queries``; with a
    note."""
    if name == "eval":
        named = any(word.partition("=")[0] in ("--config", "-c") for word in rest)
        ours = ["run", *rest, *([] if named else ["--config", "eval_config.yaml"])]
    else:
        kept = (word for word in rest if word not in ("--config", "--verbose", "-v"))
        ours = ["golden", "synthesize"]
        ours += [word.removeprefix("--config=").replace("--num-queries", "--n") for word in kept]
    warn_user(f"'{name}' is Open RAG Eval's name for '{' '.join(['ragassay', *ours])}'.")
    return ours


def _interrupted() -> int:
    return _complain(
        "Interrupted. No file is half-written. What judges and endpoints answered is kept: the "
        "same command asks only for what is missing.",
        show.INTERRUPTED,
    )


def _show_warning(said: set[str], message: Warning | str, *_: Any, **__: Any) -> None:
    """Shows a warning as one sentence, once. Python's own function prints the source line, too."""
    if not (GLOBAL_OPTIONS.get().quiet or str(message) in said):
        said.add(str(message))
        print(printable.lines(f"note: {message}"), file=sys.stderr)  # noqa: T201


def _in_words(error: Exception) -> str:
    """The sentence about an error; about an impossible value with the flag in place of the key."""
    if isinstance(error, OptionError):
        from ragassay.engine.config.run_config import RunConfig, options_of

        name, _, place = error.key.partition(".")
        option = options_of(RunConfig).get(name)
        flag = f"--{name.replace('_', '-')}" if option is None else option.flags[0]
        short = f" ({option.short})" if option is not None and option.short else ""
        return f"{flag}{short}{f', {place}' if place else ''}: {error.problem}."
    if isinstance(error, RagassayError):
        return str(error)
    if isinstance(error, OSError):
        why = system_problem(error)
        if error.filename is not None:
            name = str(error.filename)
            return f"{name if len(name) <= _SHOWN else f'{name[:_SHOWN]}…'}: {why}."
        _discard_output()
        return f"The output cannot be written: {why}."
    return (
        f"Internal error ({type(error).__name__}: {error}). "
        "Please report it with the output of --debug."
    )


def _discard_output() -> None:
    """Lets Python end without a further attempt to write output that no program reads."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(sentence: str, code: int) -> int:
    if code == show.USAGE and GLOBAL_OPTIONS.get().github:
        from ragassay.reports import ci_reports

        print(ci_reports.command("error", "ragassay", sentence), file=sys.stderr)  # noqa: T201
    print(printable.lines(f"ragassay: {sentence}"), file=sys.stderr)  # noqa: T201
    return code
