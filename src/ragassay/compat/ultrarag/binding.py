"""Where each argument of a step comes from: checked before the first step runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragassay.base.errors import InputError, OptionError, did_you_mean, meant_or_all
from ragassay.base.yaml_files import Marked
from ragassay.compat.ultrarag import parameter_file
from ragassay.compat.ultrarag.pipeline_file import Branch, Loop, Pipeline, Step, ToolStep
from ragassay.compat.ultrarag.pipeline_tools import REQUIRED, Server, Tool

MEMORY = "memory_"
"""How the variable is called that holds all values of another one so far, oldest first."""
_MEMORY = re.compile(r"mem(?:ory)?_(.+)")


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
    """What the steps of a pipeline need: calls by the place of their steps, the parameters that are
    used of each server, variables that nothing gives and parameters without a value and a default
    (with the step), and variables of which a step takes all values so far (``memory_NAME``)."""

    calls: dict[tuple[str, ...], Call] = field(default_factory=dict)
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: list[tuple[ToolStep, str]] = field(default_factory=list)
    unset: list[tuple[ToolStep, str]] = field(default_factory=list)
    remembered: set[str] = field(default_factory=set)


class Binder:
    """Finds for each step, in order, where its arguments come from. Without a parameter file all
    parameters have the defaults of their servers, which are started."""

    def __init__(
        self, pipeline: Pipeline, servers: Mapping[str, Server], file: Path | None = None
    ) -> None:
        self._pipeline, self._servers, self._file = pipeline, servers, file
        self._values: parameter_file.Values = {}
        self._content: Marked | None = None
        if file is not None:
            self._values, self._content = parameter_file.read(file)
        self._variables: set[str] = set()
        self._bound = Bound()

    def bind(self) -> Bound:
        """What the steps need. An unknown tool or input is an `InputError` with line and field."""
        self._steps(self._pipeline.steps)
        return self._bound

    def bind_checked(self) -> tuple[Bound, list[str]]:
        """What the steps need, where all of it is there (else an `InputError`), and a note for each
        parameter of the file that no step uses."""
        bound = self.bind()
        notes = [] if self._content is None else self._note_unused(self._content)
        self._refuse_missing()
        return bound, notes

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
        for step, variable in self._bound.missing:
            problem = f"{step.name} takes {variable!r}, and no step before it gives that"
            raise self._wrong(step, problem, self._where_from(variable))
        for step, name in self._bound.unset:
            problem = f"{step.name} takes the parameter {name!r}, which has no default"
            place = self._file or f"the file that 'ragassay build {self._pipeline.path}' writes"
            raise self._wrong(step, problem, f"Write its value into {place}.")

    def _where_from(self, variable: str) -> str:
        """What to do about a variable that no step gives."""
        reading = next((step for step in self._pipeline.tools() if step.tool == "get_data"), None)
        if reading is None:
            return "Rename an input with 'input: {NAME: VARIABLE}', or add the step that gives it."
        where = self._file or f"the file that 'ragassay build {self._pipeline.path}' writes"
        return (
            f"If the data have it, add '{variable}: FIELD' to {reading.server}.benchmark.key_map "
            f"in {where}."
        )

    def _note_unused(self, content: Marked) -> list[str]:
        """Refuses parameters of the file that no server has, and notes those that no step uses."""
        notes = []
        for server, parameters in self._values.items():
            if server not in self._servers:
                problem = "is no server of the pipeline"
                raise content.wrong((server,), problem, meant_or_all(server, self._servers))
            used = self._bound.parameters[server]
            known = sorted({*self._servers[server].parameters, *used})
            for name in parameters:
                if name not in known:
                    problem = f"the server {server!r} has no such parameter"
                    raise content.wrong((server, name), problem, meant_or_all(name, known))
                if name not in used:
                    notes.append(f"{self._file}: the pipeline does not use {server}.{name}.")
        return notes
