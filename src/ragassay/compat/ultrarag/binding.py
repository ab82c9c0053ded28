"""The parameter file of a pipeline, and where each argument of a step comes from, found before the
first step runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ragassay.base.errors import InputError, OptionError, did_you_mean, meant_or_all
from ragassay.base.files import write_text
from ragassay.base.yaml_files import Marked, marked, text_of
from ragassay.compat.ultrarag.pipeline_file import Branch, Loop, Pipeline, Step, ToolStep
from ragassay.compat.ultrarag.pipeline_tools import REQUIRED, Server, Tool

_FOLDERS = ("parameters", "parameter")
"""Folders beside the pipeline: ours, as UltraRAG's page prints it, and the one its code writes."""

MEMORY = "memory_"
"""How the variable is called that holds all values of another one so far, oldest first."""
_MEMORY = re.compile(r"mem(?:ory)?_(.+)")

Values = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Built:
    """What ``build`` did with a parameter file: whether it was written, else the YAML of what it
    lacks, and what a person should know."""

    path: Path
    is_new: bool
    lacking: str = ""
    notes: tuple[str, ...] = ()


def parameter_file(pipeline: Path) -> Path:
    """The parameter file of a pipeline; where there is none, where ``build`` writes it."""
    places = [pipeline.parent / folder / f"{pipeline.stem}_parameter.yaml" for folder in _FOLDERS]
    return next((place for place in places if place.is_file()), places[0])


def _read(file: Path) -> tuple[Values, Marked]:
    """The parameters of each server, and the file with its lines.

    The later one of two equal keys counts."""
    content = marked(text_of(file), file, later_wins=True)
    body = {} if content.value is None else content.value
    if not isinstance(body, dict):
        raise content.wrong((), "is not a mapping of servers")
    values: dict[str, dict[str, Any]] = {}
    for server, parameters in body.items():
        if not isinstance(parameters, dict | None):
            raise content.wrong((str(server),), "is not a mapping of parameters")
        values[str(server)] = {str(name): value for name, value in (parameters or {}).items()}
    return values, content


def written(file: Path, needed: Values) -> Built:
    """Writes a parameter file. An existing one is not changed; what it lacks is printed."""
    held = _read(file)[0] if file.is_file() else None
    lacking = {
        server: {n: v for n, v in parameters.items() if n not in (held or {}).get(server, {})}
        for server, parameters in needed.items()
    }
    if held is not None:
        lacking = {server: parameters for server, parameters in lacking.items() if parameters}
    text: str = yaml.dump(lacking, Dumper=_Dumper, sort_keys=True, allow_unicode=True, width=100)
    if held is None:
        write_text(file, text)
        return Built(file, is_new=True)
    return Built(file, is_new=False, lacking=text if lacking else "")


class _Dumper(yaml.SafeDumper):
    """Writes a text of several lines as a block, which a person can edit."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


@dataclass(frozen=True)
class Call:
    """A step whose arguments are known: each argument is a parameter or a variable. ``outputs`` has
    for each key of the result its variable."""

    step: ToolStep
    tool: Tool
    parameters: Mapping[str, str]
    variables: Mapping[str, str]
    outputs: Mapping[str, str]


@dataclass
class Bound:
    """What the steps of a pipeline need: calls by the place of their steps, parameters by server,
    variables that are missing and parameters without a value and a default (``unset``), variables
    of which a step takes all values so far (``memory_NAME``), and notes for a person."""

    calls: dict[tuple[str, ...], Call] = field(default_factory=dict)
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: list[tuple[ToolStep, str]] = field(default_factory=list)
    unset: list[tuple[ToolStep, str]] = field(default_factory=list)
    remembered: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


class Binder:
    """Finds for each step, in order, where its arguments come from. Without a parameter file all
    parameters have the defaults of their servers, which are started."""

    def __init__(
        self, pipeline: Pipeline, servers: Mapping[str, Server], file: Path | None = None
    ) -> None:
        self._pipeline, self._servers, self._file = pipeline, servers, file
        self._values: Values = {}
        self._content: Marked | None = None
        if file is not None:
            self._values, self._content = _read(file)
        self._variables: set[str] = set()
        self._bound = Bound()

    def bind(self, *, check: bool = False) -> Bound:
        """What the steps need. An unknown tool or input is an `InputError` with line and field;
        with ``check`` also what is missing, and an unknown parameter of the file."""
        self._steps(self._pipeline.steps)
        if check:
            if self._content is not None:
                self._note_unused(self._content)
            self._refuse_missing()
        return self._bound

    def _steps(self, steps: tuple[Step, ...]) -> None:
        for step in steps:
            if isinstance(step, Loop):
                self._steps(step.steps)
            elif isinstance(step, Branch):
                self._steps(step.router)
                before = set(self._variables)
                for inside in step.branches.values():
                    # What one branch gives, another one's steps do not have.
                    after, self._variables = self._variables, set(before)
                    self._steps(inside)
                    self._variables |= after
            else:
                self._tool_step(step)

    def _tool_step(self, step: ToolStep) -> None:
        server = self._servers[step.server]
        tool = server.tools.get(step.tool)
        if tool is None:
            problem = f"the server {step.server!r} has no tool {step.tool!r}"
            raise self._wrong(step, problem, meant_or_all(step.tool, server.tools))
        sources = self._sources(step, tool)
        parameters = {key: source[1:] for key, source in sources.items() if source.startswith("$")}
        variables = {key: source for key, source in sources.items() if not source.startswith("$")}
        used = self._bound.parameters.setdefault(step.server, {})
        values = self._values.get(step.server, {})
        known: dict[str, Any] = {}
        for argument, name in parameters.items():
            default = server.parameters.get(name, REQUIRED)
            used[name] = values.get(name, None if default is REQUIRED else default)
            if default is REQUIRED and name not in values:
                self._bound.unset.append((step, name))
            else:
                known[argument] = used[name]
        for argument, variable in variables.items():
            if variable in self._variables:
                continue
            if (memory := _MEMORY.fullmatch(variable)) is not None:
                self._bound.remembered.add(memory[1])
                variables[argument] = f"{MEMORY}{memory[1]}"
            else:
                self._bound.missing.append((step, variable))
        try:
            gives = server.outputs(tool, known)
        except OptionError as error:
            raise self._parameter_error(step, parameters[error.key], error.problem) from error
        for name in step.outputs:
            if name not in gives:
                problem = f"{step.name} has no output {name!r}"
                raise self._wrong(step, problem, meant_or_all(name, gives))
        outputs = {name: step.outputs.get(name, name) for name in gives}
        self._bound.calls[step.place] = Call(step, tool, parameters, variables, outputs)
        self._variables.update(outputs.values())

    def _sources(self, step: ToolStep, tool: Tool) -> dict[str, str]:
        """For each argument where it comes from."""
        declared = dict(tool.flow.inputs)
        # An input is named as the tool's argument, or as what the tool declares for it.
        names = {source.removeprefix("$"): argument for argument, source in declared.items()}
        names |= {argument: argument for argument in declared}
        for name, source in step.inputs.items():
            if name not in names:
                hint = did_you_mean(name, names) or meant_or_all(name, declared)
                raise self._wrong(step, f"{step.name} has no input {name!r}", hint)
            declared[names[name]] = source
        return declared

    def _parameter_error(self, step: ToolStep, name: str, problem: str) -> InputError:
        if self._content is None or name not in self._values.get(step.server, {}):
            return self._wrong(step, f"the default of {name!r}: {problem}")
        problem, _, hint = problem.partition(". ")
        if hint and not hint.endswith((".", "?")):
            hint += "."
        return self._content.wrong((step.server, name), f"{problem} (step {step.name})", hint)

    def _wrong(self, step: ToolStep, problem: str, hint: str | None = None) -> InputError:
        return self._pipeline.marked.wrong(step.place, problem, hint)

    def _refuse_missing(self) -> None:
        """Refuses a pipeline that lacks a variable or a parameter."""
        file = self._file or f"the file that 'ragassay build {self._pipeline.path}' writes"
        for step, variable in self._bound.missing:
            problem = f"{step.name} takes {variable!r}, and no earlier step gives that"
            hint = "Rename an input with 'input: {NAME: VARIABLE}', or add the step that gives it."
            for reading in self._pipeline.tools():
                if reading.tool == "get_data":
                    key_map = f"{reading.server}.benchmark.key_map"
                    hint = f"If the data have it, add '{variable}: FIELD' to {key_map} in {file}."
            raise self._wrong(step, problem, hint)
        for step, name in self._bound.unset:
            problem = f"{step.name} takes the parameter {name!r}, which has no default"
            raise self._wrong(step, problem, f"Write its value into {file}.")

    def _note_unused(self, content: Marked) -> None:
        """Refuses parameters of the file that no server has, and notes those that no step uses."""
        for server, parameters in self._values.items():
            if server not in self._servers:
                problem = "is not a server of the pipeline"
                raise content.wrong((server,), problem, meant_or_all(server, self._servers))
            used = self._bound.parameters[server]
            known = sorted({*self._servers[server].parameters, *used})
            for name in parameters:
                if name not in known:
                    problem = f"the server {server!r} has no such parameter"
                    raise content.wrong((server, name), problem, meant_or_all(name, known))
                if name not in used:
                    note = f"{self._file}: the pipeline does not use {server}.{name}."
                    self._bound.notes.append(note)
