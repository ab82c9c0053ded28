"""Commands: functions whose flags are made of the table options.txt and of `RunConfig`, and the
values of these flags."""

from __future__ import annotations

import inspect
import operator
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, update_wrapper
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from cyclopts import Group, Parameter, validators

from ragassay.base.errors import UsageError

if TYPE_CHECKING:
    from ragassay.engine.config.run_config import Option, RunConfig

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
"""What the table of options calls the types of values, and what cyclopts needs to know of each."""


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
    name, is_place = written.strip("?.").lower(), written[0].isupper()
    choices: Any = operator.getitem(Literal, tuple(kind.split("|")))
    typed, more = KINDS.get(kind.removesuffix("!"), (choices, {}))
    place: Any = inspect.Parameter.KEYWORD_ONLY
    if written.endswith("..."):
        place = inspect.Parameter.VAR_POSITIONAL
    elif is_place:
        by_name = inspect.Parameter.POSITIONAL_OR_KEYWORD
        place = by_name if flags else inspect.Parameter.POSITIONAL_ONLY
    elif not any(flag.startswith("--") for flag in flags):
        flags.insert(0, f"--{name.replace('_', '-')}")
    value: Any = None
    if has_default:
        value = default if typed is choices else typed(default)
    elif kind == "switch":
        value = False
    elif kind.endswith("!") or (is_place and not written.endswith("?")):
        value = inspect.Parameter.empty
    shown = Parameter(name=flags or None, help=help_text, negative=(), **more)
    annotation: Any = Annotated[typed if value is not None else typed | None, shown]
    return inspect.Parameter(name, place, default=value, annotation=annotation)


NONE = type(None)


def text_and_examples(doc: str) -> tuple[str, str]:
    """The text of a help, and its block of examples, which is shown last."""
    before, fence, rest = inspect.cleandoc(doc).partition("```sh\n")
    examples, end, after = rest.partition("```")
    return f"{before.rstrip()}\n\n{after.strip()}".rstrip(), f"{fence}{examples}{end}"


COMMANDS: dict[str, Command] = {}
"""All commands, by their names in the table, once their modules are imported."""


class Command:
    """A command: its own options are those of the table, and of the options of a run those of some
    ``groups`` and ``names``. The flags are there after `declare`: ``ragassay --help`` need not
    import what declares the options of a run."""

    def __init__(
        self,
        function: Callable[[Given], int | None],
        name: str,
        groups: Collection[str],
        names: Collection[str],
        without: Collection[str],
    ) -> None:
        update_wrapper(self, function)
        self.__doc__, self.examples = text_and_examples(function.__doc__ or "")
        self.name, self.takes_run_options = name.split()[-1], bool(groups or names)
        self._full_name, self._function = name, function
        self._chosen = groups, names, without
        self._options: dict[str, tuple[Option, Any]] = {}
        self.__signature__ = inspect.Signature()
        COMMANDS[name] = self

    def declare(self, *, common: bool = False) -> None:
        """Makes the flags; ``common`` hides options of a run that are not often used."""
        own = [_parameter(*row) for row in _table().get(self._full_name, {}).items()]
        own.sort(key=lambda parameter: parameter.kind)  # places first
        switches = [parameter for parameter in own if parameter.default is False]
        others = [parameter for parameter in own if parameter.default is not False]
        if self.takes_run_options:
            from ragassay.engine.config.run_config import GROUPS, RunConfig, options_of

            groups, names, without = self._chosen
            for place, (group, declared) in enumerate(GROUPS.items()):
                for name, field in declared.model_fields.items():
                    if name in without or not (group in groups or name in names):
                        continue
                    kinds = [kind for kind in get_args(field.annotation) if kind is not NONE]
                    optional = NONE in get_args(field.annotation)
                    kind, option = kinds[0] if optional else field.annotation, options_of(RunConfig)
                    self._options[name] = option[name], kind
                    # The first group is that of the command's own flags, which cyclopts makes.
                    shown: Any = {"group": Group(group, sort_key=place)} if place else {}
                    shown["show"] = name in COMMON or not common
                    others.append(_flag(name, option[name], kind, **shown))
        self.__signature__ = inspect.Signature([*others, *switches])

    def __call__(self, *arguments: Any, **words: Any) -> int | None:
        """Runs the command with what cyclopts read."""
        bound = self.__signature__.bind(*arguments, **words)
        bound.apply_defaults()
        given = Given(**bound.arguments, run_options={})
        for name, (option, kind) in self._options.items():
            value, flag = vars(given).pop(name), option.flags[0]
            if value is None:
                continue
            if kind == list[int]:
                value = numbers(flag, value)
            elif option.commas:
                value = listed(flag, value)
            if get_origin(kind) is dict:
                of_values = get_args(kind)[1]
                several, form = list[str] in get_args(of_values), (option.form, option.example)
                value = pairs(flag, value, *form, scalars=of_values is Any, several=several)
            given.run_options[name] = value
        return self._function(given)


def command(
    name: str, *groups: str, names: Collection[str] = (), without: Collection[str] = ("data",)
) -> Callable[[Callable[[Given], int | None]], Command]:
    """Makes a function a command, which takes the options of a run of these groups and names."""

    return lambda function: Command(function, name, groups, names, without)


def _flag(name: str, option: Option, kind: Any, **more: Any) -> inspect.Parameter:
    """The parameter of an option of a run."""
    word: Any = str  # paths too: a `Path` would make another address of postgresql://...
    sentences = [option.help]
    if get_origin(kind) in (list, dict) and kind != list[int]:
        word = list[word]
        sentences.append("Repeat or join with commas." if option.commas else "Repeatable.")
    elif get_origin(kind) is Literal or (kind in (bool, int, float) and not option.text):
        word = kind
    if option.default:
        sentences.append(f"Default: {option.default}.")
    flags = [*option.flags, *([option.short] if option.short else [])]
    shown = Parameter(name=flags, help=" ".join(sentences), negative=(), **more)
    place = inspect.Parameter.KEYWORD_ONLY
    annotation = Annotated[word | None, shown]
    return inspect.Parameter(name, place, default=None, annotation=annotation)


def listed(flag: str, values: Sequence[str] | None) -> list[str] | None:
    """Repeated and comma-separated values as one list. An empty one is a `UsageError`: an unset
    variable of the shell must not silently change the meaning."""
    if values is None:
        return None
    names = [piece.strip() for value in values for piece in value.split(",")]
    if not all(names):
        raise UsageError(f"{flag} {','.join(values)!r}: a name is empty (an unset variable?).")
    return names


def pairs(
    flag: str,
    pieces: Sequence[str] | None,
    form: str = "NAME=VALUE",
    example: str = "min_grade=2",
    *,
    scalars: bool = False,
    several: bool = False,
) -> dict[str, Any]:
    """``name=value`` pieces as a mapping: with ``scalars`` values are YAML (3, 0.5, true, words, or
    nothing), with ``several`` a name may have several values, which become a list. A piece without
    an equals sign, or a second value, is a `UsageError` (``form`` and ``example`` say how to write
    it)."""
    import yaml

    values: dict[str, Any] = {}
    for piece in pieces or ():
        name, sep, text = (part.strip() for part in piece.partition("="))
        if not sep or not name or not (text or scalars):
            raise UsageError(f"{flag} {piece!r}: write {form}, as in {example}.")
        value = yaml.safe_load(text) if scalars else text
        if several and values.get(name, value) != value:
            before = values[name]
            value = [*(before if isinstance(before, list) else [before]), value]
        elif values.get(name, value) != value:
            noun = form.partition("=")[2].casefold()
            raise UsageError(f"{flag}: two {noun}s are named for {name}. Keep one of them.")
        values[name] = value
    return values


def numbers(flag: str, text: str | None) -> list[int] | None:
    """``1,5,10`` as whole numbers of at least 1; something else is a `UsageError`."""
    if text is None:
        return None
    try:
        values = [int(piece) for piece in text.split(",")]
    except ValueError as error:
        raise UsageError(f"{flag} {text!r}: write whole numbers, as in 1,5,10.") from error
    if min(values) < 1:
        raise UsageError(f"{flag} {text!r}: each must be at least 1.")
    return values


YAML = (".yaml", ".yml")
"""How the name of a configuration ends."""


def _is_data(path: Path) -> bool:
    """Whether a YAML file is a tool's results or data set, and no configuration."""
    from ragassay import formats

    return path.is_file() and any(
        path.suffix in each.suffixes and each.fits(formats.head(path)) == formats.SURE
        for each in formats.all_formats().values()
    )


def configured(
    data: Path | None, config: Path | None, flags: Mapping[str, Any], more: Sequence[Path] = ()
) -> RunConfig:
    """The configuration that a command is to use: of DATA (samples, or itself a configuration), the
    file that ``--config`` names, and flags, which win over it."""
    from ragassay.engine.config.run_config import make_config
    from ragassay.formats.sources import opening
    from ragassay.metrics.core import naming
    from ragassay.metrics.core.function_metrics import own_names

    if data is not None and data.suffix.casefold() in YAML and not _is_data(data):
        if config is not None:
            raise UsageError(
                f"{data} and {config} are both configurations. Name one of them, and the data."
            )
        data, config = None, data
    names = [str(name) for name in (data, *more) if name is not None]
    if opening.STANDARD_INPUT in names:
        opening.keep_standard_input(sys.stdin)
    keys = {**flags, "data": names if len(names) > 1 else names[0]} if names else dict(flags)
    if keys.get("metrics"):
        keys["metrics"] = naming.split(keys["metrics"])
        if ":" in "".join(keys["metrics"]):  # a function of the user's own: module:function
            keys["metrics"] = own_names(keys["metrics"])
    if config is not None:
        from ragassay.compat.open_rag_eval.published_config import read_config
        from ragassay.engine.run.config_reading import checked

        file = read_config(config, keys)
        if "metrics" not in keys and file.values.get("metrics"):
            file.values["metrics"] = own_names(naming.split(file.values["metrics"]), typed=False)
        return checked(file, keys)
    if data is None:
        raise UsageError("No data is named. Give a file, or a configuration with --config.")
    return make_config(**keys)
