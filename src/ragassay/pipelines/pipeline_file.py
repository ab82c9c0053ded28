"""Reads ``pipeline.yaml``: its servers and its steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError, meant_or_all
from ragassay.base.problem_words import shown_value
from ragassay.base.yaml_files import Marked, Place, marked, text_of

PIPELINE = "pipeline"
_KEYS = ("servers", PIPELINE)


@dataclass(frozen=True)
class ToolStep:
    """One call of a tool.

    Attributes:
        server: the server's name in the pipeline.
        tool: the tool's name.
        inputs: other sources than the tool declares: for an input the variable it is read from.
        outputs: other names than the tool declares: for an output its variable.
        place: where the step stands in the file.
    """

    server: str
    tool: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    place: Place

    @property
    def name(self) -> str:
        """The step as the file writes it."""
        return f"{self.server}.{self.tool}"


@dataclass(frozen=True)
class Loop:
    """Steps that are run several times, one after the other."""

    times: int
    steps: tuple[Step, ...]
    place: Place

    name = "loop"


@dataclass(frozen=True)
class Branch:
    """Steps that are run for some rows only.

    Attributes:
        router: steps of which one gives each row a state.
        branches: for each state the steps of its rows.
        place: where the branch stands in the file.
    """

    router: tuple[Step, ...]
    branches: Mapping[str, tuple[Step, ...]]
    place: Place

    name = "branch"


Step = ToolStep | Loop | Branch


@dataclass(frozen=True)
class Pipeline:
    """A pipeline as it is written.

    Attributes:
        path: of its file.
        servers: for each name what the file says of the server.
        steps: in order.
        marked: the file, with its lines.
    """

    path: Path
    servers: Mapping[str, Any]
    steps: tuple[Step, ...]
    marked: Marked

    def tools(self) -> Iterator[ToolStep]:
        """Every call of a tool, those within loops and branches too, in the order of the file."""
        return _tools(self.steps)

    def wrong(self, place: Place, problem: str, hint: str | None = None) -> InputError:
        """An error at a place of the file.

        Args:
            place: of what is wrong.
            problem: what is wrong there.
            hint: what to do.
        """
        return self.marked.wrong(place, problem, hint)


def is_pipeline(path: Path) -> bool:
    """Whether a file is a pipeline and not a configuration of a run: it has a key ``pipeline``."""
    if path.suffix.casefold() not in (".yaml", ".yml") or not path.is_file():
        return False
    try:
        body = marked(text_of(path), path, later_wins=True).value
    except InputError:
        return False
    return isinstance(body, dict) and PIPELINE in body


def read(path: Path) -> Pipeline:
    """Reads a pipeline. Of a key that is given twice the later one counts.

    Raises:
        InputError: no YAML, or not the form of a pipeline; with line and field.
    """
    content = marked(text_of(path), path, later_wins=True)
    body = content.value
    if not isinstance(body, dict) or PIPELINE not in body:
        raise content.wrong((), "is not a pipeline", "Begin with 'servers:' and 'pipeline:'.")
    _refuse_unknown(body, _KEYS, (), content)
    servers = body.get("servers")
    if not isinstance(servers, dict) or not servers:
        raise content.wrong(
            ("servers",),
            "names no server",
            "Write a line a server, as in evaluation: servers/evaluation.",
        )
    servers = {str(name): address for name, address in servers.items()}
    return Pipeline(path, servers, _steps(body[PIPELINE], (PIPELINE,), content, servers), content)


def _steps(
    body: Any, place: Place, content: Marked, servers: Mapping[str, Any]
) -> tuple[Step, ...]:
    if not isinstance(body, list) or not body:
        problem = "holds no step" if body == [] else "is not a list of steps"
        raise content.wrong(place, problem, "Write '- server.tool', a line a step.")
    return tuple(_step(one, (*place, str(at)), content, servers) for at, one in enumerate(body))


def _step(body: Any, place: Place, content: Marked, servers: Mapping[str, Any]) -> Step:
    if isinstance(body, str):
        return _tool_step(body, {}, place, content, servers)
    if not isinstance(body, dict) or len(body) != 1:
        raise content.wrong(
            place,
            "is not a step",
            "Write 'server.tool', or one of: loop, branch, server.tool with input and output.",
        )
    [(name, inside)] = body.items()
    at = (*place, str(name))
    if name == "loop":
        _check_keys(inside, ("times", "steps"), at, content)
        times = inside["times"]
        if not isinstance(times, int) or isinstance(times, bool) or times < 1:
            raise content.wrong(
                (*at, "times"), f"is {shown_value(times)}", "Write how often, 1 or more."
            )
        return Loop(times, _steps(inside["steps"], (*at, "steps"), content, servers), at)
    if name == "branch":
        _check_keys(inside, ("router", "branches"), at, content)
        branches = inside["branches"]
        if not isinstance(branches, dict) or not branches:
            raise content.wrong(
                (*at, "branches"), "names no state", "Write a list of steps a state."
            )
        return Branch(
            _steps(inside["router"], (*at, "router"), content, servers),
            {
                str(state): _steps(steps, (*at, "branches", str(state)), content, servers)
                if steps
                else ()  # rows of this state stay as they are
                for state, steps in branches.items()
            },
            at,
        )
    return _tool_step(str(name), {} if inside is None else inside, at, content, servers)


def _tool_step(
    name: str, renamed: Any, place: Place, content: Marked, servers: Mapping[str, Any]
) -> ToolStep:
    server, point, tool = name.partition(".")
    if not point or not tool:
        raise content.wrong(place, f"the step {name!r} is not 'server.tool'")
    if server not in servers:
        problem = f"the step {name!r} names a server that 'servers' lacks"
        raise content.wrong(place, problem, meant_or_all(server, servers))
    if not isinstance(renamed, dict):
        raise content.wrong(place, "is not a mapping", "It takes 'input' and 'output'.")
    for key, names in renamed.items():
        _refuse_unknown([key], ("input", "output"), place, content)
        if not isinstance(names, dict) or not all(
            isinstance(one, str) and one.removeprefix("$") for pair in names.items() for one in pair
        ):
            raise content.wrong(
                (*place, str(key)), "is not a mapping of names", "Write 'name: variable'."
            )
    return ToolStep(server, tool, renamed.get("input") or {}, renamed.get("output") or {}, place)


def _check_keys(body: Any, keys: tuple[str, ...], place: Place, content: Marked) -> None:
    if not isinstance(body, dict):
        raise content.wrong(place, "is not a mapping", f"It takes {' and '.join(keys)}.")
    for key in keys:
        if key not in body:
            raise content.wrong((*place, key), "is missing")
    _refuse_unknown(body, keys, place, content)


def _refuse_unknown(
    keys: Iterable[Any], known: tuple[str, ...], place: Place, content: Marked
) -> None:
    for key in keys:
        if key not in known:
            hint = f"There are: {', '.join(known)}."
            raise content.wrong((*place, str(key)), "is not a key that is known", hint)


def _tools(steps: tuple[Step, ...]) -> Iterator[ToolStep]:
    for step in steps:
        if isinstance(step, ToolStep):
            yield step
        elif isinstance(step, Loop):
            yield from _tools(step.steps)
        else:
            yield from _tools(step.router)
            for inside in step.branches.values():
                yield from _tools(inside)
