"""Reads ``pipeline.yaml``: its servers and its steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError, meant_or_all, shown_value
from ragassay.base.yaml_files import Marked, Place, marked, text_of

PIPELINE = "pipeline"


@dataclass(frozen=True)
class ToolStep:
    """One call of a tool. Inputs and outputs are renamed where the file says so: for an input the
    variable that it is read from, for an output its variable."""

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
    """Steps that are run for some rows only: a step of the router gives each row a state, and each
    state has its steps."""

    router: tuple[Step, ...]
    branches: Mapping[str, tuple[Step, ...]]
    place: Place

    name = "branch"


Step = ToolStep | Loop | Branch


@dataclass(frozen=True)
class Pipeline:
    """A pipeline as it is written: for each server what the file (``marked``) says of it, and the
    steps in order."""

    path: Path
    servers: Mapping[str, Any]
    steps: tuple[Step, ...]
    marked: Marked

    def tools(self) -> Iterator[ToolStep]:
        """Every call of a tool, those within loops and branches too, in the order of the file."""
        return _tools(self.steps)


def _tools(steps: Iterable[Step]) -> Iterator[ToolStep]:
    for step in steps:
        if isinstance(step, ToolStep):
            yield step
        elif isinstance(step, Loop):
            yield from _tools(step.steps)
        else:
            for inside in (step.router, *step.branches.values()):
                yield from _tools(inside)


def is_pipeline(path: Path) -> bool:
    """Whether a YAML file is a pipeline and not a configuration of a run: it has a key
    ``pipeline``."""
    try:
        body = marked(text_of(path), path, later_wins=True).value if path.is_file() else None
    except InputError:
        return False
    return isinstance(body, dict) and PIPELINE in body


def read(path: Path) -> Pipeline:
    """Reads a pipeline. The later one of two equal keys counts."""
    content = marked(text_of(path), path, later_wins=True)
    body = content.value
    if not isinstance(body, dict) or PIPELINE not in body:
        raise content.wrong((), "is not a pipeline", "Begin with 'servers:' and 'pipeline:'.")
    _refuse_unknown(content, body, ("servers", PIPELINE), ())
    servers = body.get("servers")
    if not isinstance(servers, dict) or not servers:
        hint = "Write one line per server, as in evaluation: servers/evaluation."
        raise content.wrong(("servers",), "names no server", hint)
    servers = {str(name): address for name, address in servers.items()}
    steps = _StepReader(content, servers).steps(body[PIPELINE], (PIPELINE,))
    return Pipeline(path, servers, steps, content)


class _StepReader:
    """Reads the steps of a file with these servers."""

    def __init__(self, content: Marked, servers: Mapping[str, Any]) -> None:
        self._content, self._servers = content, servers
        self._wrong = content.wrong

    def steps(self, body: Any, place: Place) -> tuple[Step, ...]:
        """The steps of a list."""
        if not isinstance(body, list) or not body:
            problem = "holds no step" if body == [] else "is not a list of steps"
            raise self._wrong(place, problem, "Write '- server.tool', one line per step.")
        return tuple(self._step(value, (*place, str(at))) for at, value in enumerate(body))

    def _step(self, body: Any, place: Place) -> Step:
        if isinstance(body, str):
            return self._tool_step(body, {}, place)
        if not isinstance(body, dict) or len(body) != 1:
            forms = "one of: loop, branch, server.tool with input and output"
            raise self._wrong(place, "is not a step", f"Write 'server.tool', or {forms}.")
        [(name, inside)] = body.items()
        at = (*place, str(name))
        if name == "loop":
            self._check_keys(inside, ("times", "steps"), at)
            times = inside["times"]
            if type(times) is not int or times < 1:
                problem = f"is {shown_value(times)}"
                raise self._wrong((*at, "times"), problem, "Write how often, 1 or more.")
            return Loop(times, self.steps(inside["steps"], (*at, "steps")), at)
        if name == "branch":
            self._check_keys(inside, ("router", "branches"), at)
            branches, of_states = inside["branches"], (*at, "branches")
            if not isinstance(branches, dict) or not branches:
                raise self._wrong(of_states, "names no state", "Write one list of steps per state.")
            read = {
                # Rows of a state without steps stay as they are.
                str(state): self.steps(steps, (*of_states, str(state))) if steps else ()
                for state, steps in branches.items()
            }
            return Branch(self.steps(inside["router"], (*at, "router")), read, at)
        return self._tool_step(str(name), {} if inside is None else inside, at)

    def _tool_step(self, name: str, renamed: Any, place: Place) -> ToolStep:
        server, point, tool = name.partition(".")
        if not point or not tool:
            raise self._wrong(place, f"the step {name!r} is not 'server.tool'")
        if server not in self._servers:
            problem = f"the step {name!r} names a server that 'servers' lacks"
            raise self._wrong(place, problem, meant_or_all(server, self._servers))
        if not isinstance(renamed, dict):
            raise self._wrong(place, "is not a mapping", "It takes 'input' and 'output'.")
        _refuse_unknown(self._content, renamed, ("input", "output"), place)
        for key, names in renamed.items():
            pairs = names.items() if isinstance(names, dict) else [("", "")]
            if not all(isinstance(x, str) and x.removeprefix("$") for pair in pairs for x in pair):
                problem = "is not a mapping of names"
                raise self._wrong((*place, str(key)), problem, "Write 'name: variable'.")
        inputs, outputs = (renamed.get(key) or {} for key in ("input", "output"))
        return ToolStep(server, tool, inputs, outputs, place)

    def _check_keys(self, body: Any, keys: tuple[str, ...], place: Place) -> None:
        if not isinstance(body, dict) or not {*keys} <= body.keys():
            raise self._wrong(place, f"is not a mapping of {' and '.join(keys)}")
        _refuse_unknown(self._content, body, keys, place)


def _refuse_unknown(
    content: Marked, keys: Iterable[Any], known: tuple[str, ...], place: Place
) -> None:
    for key in keys:
        if key not in known:
            hint = f"There are: {', '.join(known)}."
            raise content.wrong((*place, str(key)), "is not a known key", hint)
