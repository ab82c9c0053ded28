"""Reading YAML, also into models, with errors that name file, line and field."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from ragassay.base.errors import InputError, did_you_mean, mistakes, system_problem

M = TypeVar("M", bound=BaseModel)

Place = tuple[str, ...]  # the keys that lead to a value; items of lists count from 0
Fill = Callable[[str, Place], str]  # gives what takes the place of a scalar's text


@dataclass(frozen=True)
class Marked:
    """What a YAML text holds (``value``), and the line of each key and item, from 1."""

    value: Any
    lines: Mapping[Place, int]
    path: object = None

    def line(self, place: Place) -> int | None:
        """The line of a place, or of the nearest one around it that is known."""
        around = (place[:n] for n in range(len(place), 0, -1))
        return next((self.lines[pair] for pair in around if pair in self.lines), None)

    def wrong(self, place: Place, problem: str, hint: str | None = None) -> InputError:
        """An error at a place."""
        field = ".".join(place) or None
        return InputError(problem, path=self.path, line=self.line(place), field=field, hint=hint)


def text_of(path: Path) -> str:
    """A text file, with or without a byte order mark."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({system_problem(error)})", path=path) from error


def value_of(text: str, path: object) -> Any:
    """What a YAML text holds; ``path`` names it in errors."""
    return marked(text, path).value


def marked(
    text: str, path: object, fill: Fill = lambda scalar, place: scalar, *, later_wins: bool = False
) -> Marked:
    """What a YAML text holds, with its lines; a key given twice is an error, unless ``later_wins``.
    ``fill`` changes scalars: a plain one (without quotation marks) that it changes is read again,
    so that it may become a number, or a list in brackets."""
    with explained(path):
        loader = _Loader(text, path, fill, later_wins=later_wins)
        return Marked(loader.get_single_data(), loader.lines, path)


_MOST_NODES = 100_000  # keys, items and scalars of a file with all its anchors written out


class _Loader(yaml.SafeLoader):  # libyaml's dies of deep nesting, this one raises an error
    """Notes the line of every key and item, changes scalars, and refuses too many aliases."""

    def __init__(self, text: str, path: object, fill: Fill, *, later_wins: bool) -> None:
        super().__init__(text)
        self._later_wins = later_wins
        self.lines: dict[Place, int] = {}
        self._place: Place = ()
        self._path, self._fill = path, fill
        self._most, self._n = max(_MOST_NODES, len(text)), 0
        self._sizes: dict[str, int] = {}  # of anchors

    def compose_node(self, parent: Any, index: Any) -> Any:
        """The next node; ``index`` is its number in a list, its key, or ``None`` for a key."""
        outer, n = self._place, self._n
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        if index is not None:
            is_value = isinstance(index, yaml.Node)
            self._place = (*outer, str(index.value if is_value else index))
            line = index.start_mark.line + 1 if is_value else line
            if self._place in self.lines and not self._later_wins:
                raise self._wrong("is given twice", line, "Keep one of them.", self._place)
            self.lines[self._place] = line
        node: Any = super().compose_node(parent, index)
        if isinstance(event, yaml.ScalarEvent):
            node.value = self._whole(node.value, line)
        is_alias, anchor = isinstance(event, yaml.AliasEvent), event.anchor or ""
        if is_alias and anchor not in self._sizes:
            raise self._wrong("an anchor contains itself", line)
        self._n += self._sizes[anchor] if is_alias else 1
        self._sizes[anchor] = self._n - n
        if self._n > self._most:
            problem = f"its anchors expand to more than {_MOST_NODES:,} values"
            raise self._wrong(problem, line, "Write out what is needed.")
        is_key = index is None and parent is not None
        place = (*outer, str(node.value)) if is_key else self._place
        self._place = outer
        return _filled(node, place, self._fill)

    def _whole(self, text: str, line: int) -> str:
        """The text with the halves of a character, as JSON escapes them, put together."""
        try:
            return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError as error:
            problem = "holds half a character (a lone surrogate)"
            hint = "Write the whole character."
            raise self._wrong(problem, line, hint, self._place) from error

    def _wrong(
        self, problem: str, line: int, hint: str | None = None, place: Place = ()
    ) -> InputError:
        field = ".".join(place) or None
        return InputError(problem, path=self._path, line=line, field=field, hint=hint)


def _filled(node: Any, place: Place, fill: Fill) -> Any:
    """The node with its text changed, or a new one where the text is something else now."""
    if not isinstance(node, yaml.ScalarNode):
        return node
    text = fill(node.value, place)
    if text == node.value:
        return node
    made = _read_again(text) if node.style is None else None
    if made is None:
        tag = "tag:yaml.org,2002:str"
        return yaml.ScalarNode(tag, text, node.start_mark, node.end_mark, style=node.style or '"')
    made.start_mark, made.end_mark = node.start_mark, node.end_mark
    return made


def _read_again(text: str) -> Any:
    """The node of a plain scalar, or of a list or mapping in brackets; ``None`` for all else, which
    is a text as it is (a path with ': ' or ' #' in it)."""
    if not text.strip():
        return yaml.ScalarNode("tag:yaml.org,2002:null", "", None, None)
    try:
        node = yaml.compose(text, yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    if isinstance(node, yaml.ScalarNode):
        return node if node.style is None and node.value == text.strip() else None
    return node if isinstance(node, yaml.CollectionNode) and node.flow_style else None


@contextmanager
def explained(path: object) -> Iterator[None]:
    """What the YAML parser complains about, as an `InputError` with its line."""
    try:
        yield
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or " ".join(str(error).split())
        if isinstance(error, yaml.constructor.ConstructorError) and "the tag '" in problem:
            problem = f"the tag {problem.partition('the tag ')[2]} is not known"
        line = mark.line + 1 if mark else None
        raise InputError(f"is not YAML ({problem})", path=path, line=line) from error
    except (RecursionError, ValueError) as error:
        raise InputError(f"cannot be read ({error})", path=path) from error


def parse(text: str, model: type[M], path: object) -> M:
    """The model that a YAML mapping holds."""
    content = marked(text, path)
    if not isinstance(content.value, dict):
        hint = f"It takes {_named(model)}."
        raise InputError("is not a mapping of keys", path=path, hint=hint)
    return validated(content, content.value, model)


def validated(content: Marked, body: Any, model: type[M], at: Place = ()) -> M:
    """The model that a part of a YAML text holds."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise _explained(error, model, content, at) from error


def _explained(
    error: ValidationError, model: type[BaseModel], content: Marked, at: Place
) -> InputError:
    # A key that is missing is most often one that is misspelt.
    unknown = next((item for item in error.errors() if item["type"] == "extra_forbidden"), None)
    if unknown is None:
        place, problem = mistakes(error)[0]
        return content.wrong((*at, *place), problem)
    inside = tuple(str(piece) for piece in unknown["loc"])
    inner = _model_at(model, inside[:-1])
    near = "" if inner is None else did_you_mean(inside[-1], inner.model_fields)
    hint = near or (f"There are {_named(inner)}." if inner is not None else None)
    return content.wrong((*at, *inside), "is not a known key", hint)


def _model_at(model: type[BaseModel], place: Place) -> type[BaseModel] | None:
    """The model of a nested place, as far as it is one."""
    for name in place:
        field = model.model_fields.get(name)
        kinds = () if field is None else (field.annotation, *get_args(field.annotation))
        inner = [k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)]
        if not inner:
            return None
        model = inner[0]
    return model


def _named(model: type[BaseModel]) -> str:
    return ", ".join(model.model_fields)
