"""Commands: functions whose flags are made of the table options.txt and of `RunConfig`."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Collection, Iterator
from functools import cache, update_wrapper
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_origin

from cyclopts import Group, Parameter, validators

from ragassay.cli.flags import kind_of, takes_many, value_of

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

COMMON = (
    *("suite", "metrics", "output", "columns", "format", "limit", "qrels", "fail_under"),
    *("judge", "concurrency", "budget"),
)
"""Options of a run that ``--help`` shows; ``--help-all`` shows all."""

KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "text": (str, {}),
    "hidden": (str, {"show": False}),  # understood only to say what to write instead
    "int": (int, {}),
    "float": (float, {}),
    "positive": (float, {"validator": validators.Number(gt=0)}),
    "path": (Path, {}),
    "run": (Path, {"allow_leading_hyphen": True}),  # a file, or "-"
    "switch": (bool, {"show_default": False}),
    "texts": (list[str], {}),  # may be given several times
    "words": (list[str], {"consume_multiple": True}),
    "paths": (list[Path], {}),
}
"""What the table of options calls the types of values, and what cyclopts is told of each."""


class Given(SimpleNamespace):
    """What the command line says: a value for each option of the command in the table, and in
    ``run_options`` the options of a run that were given, as `RunConfig` has them."""

    def of(self, *names: str) -> dict[str, Any]:
        """The values of some options, by name: keywords of what takes them as they are."""
        return {name: getattr(self, name) for name in names}


@cache
def _table() -> dict[str, dict[str, str]]:
    """By command its options: how each is declared, and its help."""
    text = resources.files(__package__).joinpath("options.txt").read_text(encoding="utf-8")
    rows: dict[str, dict[str, str]] = {}
    commands: list[str] = []
    for line in text.replace("\n    ", " ").splitlines():
        if line.startswith("  "):
            declared, _, help_text = line.strip().partition(": ")
            for name in commands:
                rows.setdefault(name, {})[declared] = help_text
        elif not line.startswith("#"):
            commands = line.removesuffix(":").split(", ")
    return rows


def _parameter(declared: str, help_text: str) -> inspect.Parameter:
    """The parameter of a row of the table, such as ``output -o path =answers.jsonl``."""
    words, has_default, default = declared.partition(" =")
    written, *flags, kind = words.split()
    name = written.strip("?.").lower()
    choices: Any = operator.getitem(Literal, tuple(kind.split("|")))
    typed, more = KINDS.get(kind.removesuffix("!"), (choices, {}))
    place: Any = inspect.Parameter.KEYWORD_ONLY
    if written.endswith("..."):
        place = inspect.Parameter.VAR_POSITIONAL
    elif written[0].isupper():
        by_name = inspect.Parameter.POSITIONAL_OR_KEYWORD
        place = by_name if flags else inspect.Parameter.POSITIONAL_ONLY
    long = f"--{name.replace('_', '-')}"
    if place is inspect.Parameter.KEYWORD_ONLY and not any(f.startswith("--") for f in flags):
        flags.insert(0, long)
    value: Any = None
    if has_default:
        value = default if typed is choices else typed(default)
    elif kind == "switch":
        value = False
    elif kind.endswith("!") or (written[0].isupper() and not written.endswith("?")):
        value = inspect.Parameter.empty
    told = Parameter(name=flags or None, help=help_text, negative=(), **more)
    annotation: Any = Annotated[typed if value is not None else typed | None, told]
    return inspect.Parameter(name, place, default=value, annotation=annotation)


COMMANDS: dict[str, Command] = {}
"""All commands, by their names in the table, once their modules are imported."""


class Command:
    """A command: its own options are those of the table.

    The flags are there after `declare`: ``ragassay --help`` need not import what declares the
    options of a run.

    Args:
        function: is called with what was `Given`, and gives the exit code (``None`` is 0).
        name: of the command, as the table has it.
        takes: whether it takes the option of a run of this name and group, beside its own.
        takes_run_options: whether it takes any.
    """

    def __init__(
        self,
        function: Callable[[Given], int | None],
        name: str,
        takes: Callable[[str, str], bool],
        takes_run_options: bool,
    ) -> None:
        update_wrapper(self, function)
        self.name, self.takes_run_options = name.split()[-1], takes_run_options
        self._full_name, self._function, self._takes = name, function, takes
        self._fields: dict[str, tuple[str, FieldInfo]] = {}
        self.__signature__ = inspect.Signature()
        COMMANDS[name] = self

    def declare(self, *, common: bool = False) -> None:
        """Makes the flags."""
        own = [_parameter(*row) for row in _table().get(self._full_name, {}).items()]
        own.sort(key=lambda one: one.kind)  # places first
        switches = [one for one in own if one.default is False]
        self._fields = {name: (group, field) for name, group, field in self._run_options()}
        flags = [_flag(name, *one, common=common) for name, one in self._fields.items()]
        others = [one for one in own if one.default is not False]
        self.__signature__ = inspect.Signature([*others, *flags, *switches])

    def _run_options(self) -> Iterator[tuple[str, str, FieldInfo]]:
        if not self.takes_run_options:
            return
        from ragassay.engine.config.run_config import GROUPS

        for group, declared in GROUPS.items():
            for name, field in declared.model_fields.items():
                if self._takes(name, group):
                    yield name, group, field

    def __call__(self, *arguments: Any, **words: Any) -> int | None:
        """Runs the command with what cyclopts read."""
        bound = self.__signature__.bind(*arguments, **words)
        bound.apply_defaults()
        given = Given(**bound.arguments, run_options={})
        for name, (_, field) in self._fields.items():
            if (value := vars(given).pop(name)) is not None:
                given.run_options[name] = value_of(name, field, value)
        return self._function(given)


def command(
    name: str, *groups: str, names: Collection[str] = (), without: Collection[str] = ("data",)
) -> Callable[[Callable[[Given], int | None]], Command]:
    """Makes a function a command, which takes the options of a run of these groups and names."""

    def takes(option: str, group: str) -> bool:
        return (group in groups or option in names) and option not in without

    return lambda function: Command(function, name, takes, bool(groups))


def _flag(name: str, group: str, field: FieldInfo, *, common: bool) -> inspect.Parameter:
    """The parameter of an option of a run; ``common`` hides one that is not often used."""
    from ragassay.engine.config.option import options_of
    from ragassay.engine.config.run_config import GROUPS, RunConfig

    option, kind = options_of(RunConfig)[name], kind_of(field)
    word: Any = str  # paths too: a `Path` would make another address of postgresql://...
    if takes_many(kind):
        word = list[word]
    elif get_origin(kind) is Literal or (kind in (bool, int, float) and not option.text):
        word = kind
    sentences = [option.help]
    if takes_many(kind):
        sentences.append("Repeat or join with commas." if option.commas else "Repeatable.")
    if option.default:
        sentences.append(f"Default: {option.default}.")
    place = list(GROUPS).index(group)
    # The first group is that of the command's own flags, which cyclopts makes.
    listed_in: Any = {"group": Group(group, sort_key=place)} if place else {}
    told = Parameter(
        name=[*option.flags_of(name), *([option.short] if option.short else [])],
        help=" ".join(sentences), negative=(), show=name in COMMON or not common, **listed_in,
    )  # fmt: skip
    annotation = Annotated[word | None, told]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )
