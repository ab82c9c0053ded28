"""Where each argument of a step comes from: checked before the first step runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ragassay.errors import InputError, OptionError, did_you_mean, meant_or_all
from ragassay.pipelines.pipeline_file import Branch, Loop, Pipeline, Step, ToolStep
from ragassay.pipelines.pipeline_tools import REQUIRED, Server, Tool
from ragassay.yaml_files import Marked


@dataclass(frozen=True)
class Call:
    """A step whose arguments are known.

    Attributes:
        step: as written.
        tool: that it calls.
        parameters: for each argument the parameter that it is.
        variables: for each argument the variable that it is.
        outputs: for each key of the result its variable; ``None`` where all keys become variables.
    """

    step: ToolStep
    tool: Tool
    parameters: Mapping[str, str]
    variables: Mapping[str, str]
    outputs: Mapping[str, str] | None


@dataclass
class Bound:
    """What the steps of a pipeline need.

    Attributes:
        calls: by the place of their steps.
        parameters: for each server those that its steps use.
        missing: variables that nothing gives, with the step.
        unset: parameters without a value and a default, with the step.
    """

    calls: dict[tuple[str, ...], Call] = field(default_factory=dict)
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: list[tuple[ToolStep, str]] = field(default_factory=list)
    unset: list[tuple[ToolStep, str]] = field(default_factory=list)


class Binder:
    """Goes through the steps in order, and knows which variables there are.

    Args:
        pipeline: whose steps are bound.
        servers: that it uses, started.
        values: values of parameters by server, where they are known; the defaults of the servers
            otherwise.
        content: the file that they stand in.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        servers: Mapping[str, Server],
        values: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
        content: Marked | None = None,
    ) -> None:
        self._pipeline, self._servers = pipeline, servers
        self._values, self._content = values, content
        self._known: set[str] = set()
        self._is_open = False  # whether a tool may have given more than is known
        self._bound = Bound()

    def bind(self) -> Bound:
        """What the steps need.

        Raises:
            InputError: an unknown tool or input; with line and field.
        """
        self._steps(self._pipeline.steps)
        return self._bound

    def _steps(self, steps: tuple[Step, ...]) -> None:
        for step in steps:
            if isinstance(step, Loop):
                self._steps(step.steps)
            elif isinstance(step, Branch):
                self._steps(step.router)
                before = set(self._known)
                for inside in step.branches.values():
                    # What one branch gives, another one's steps do not have.
                    after, self._known = self._known, set(before)
                    self._steps(inside)
                    self._known |= after
            else:
                self._tool_step(step)

    def _tool_step(self, step: ToolStep) -> None:
        server = self._servers[step.server]
        tool = server.tools.get(step.tool)
        if tool is None:
            raise self._wrong(
                step,
                f"the server {step.server!r} has no tool {step.tool!r}",
                meant_or_all(step.tool, server.tools),
            )
        sources = self._sources(step, tool)
        parameters = {key: source[1:] for key, source in sources.items() if source.startswith("$")}
        variables = {key: source for key, source in sources.items() if not source.startswith("$")}
        used = self._bound.parameters.setdefault(step.server, {})
        values = self._values.get(step.server, {})
        without: list[str] = []
        for argument, name in parameters.items():
            default = server.parameters.get(name, tool.arguments.get(argument, REQUIRED))
            if default is REQUIRED and name not in values:
                without.append(name)
            used[name] = values.get(name, None if default is REQUIRED else default)
        self._bound.unset += [(step, name) for name in without]
        for variable in variables.values():
            if variable not in self._known and not self._is_open:
                self._bound.missing.append((step, variable))
        try:
            gives = server.outputs(
                tool,
                {arg: used[name] for arg, name in parameters.items() if name not in without},
            )
        except OptionError as error:
            raise self._of_parameter(step, parameters[error.key], error.problem) from error
        outputs = self._outputs(step, gives)
        self._bound.calls[step.place] = Call(step, tool, parameters, variables, outputs)
        self._known.update(step.outputs.values() if outputs is None else outputs.values())
        self._is_open |= outputs is None

    def _sources(self, step: ToolStep, tool: Tool) -> dict[str, str]:
        """For each argument where it comes from."""
        if tool.flow is not None:
            declared = dict(tool.flow.inputs)
        else:
            declared = {
                name: name if name in self._known else f"${name}" for name in tool.arguments
            }
        # An input is named as the tool's argument, or as what the tool declares for it.
        names = {source.removeprefix("$"): argument for argument, source in declared.items()}
        names |= {argument: argument for argument in declared}
        for name, source in step.inputs.items():
            if name not in names:
                hint = did_you_mean(name, names) or meant_or_all(name, declared)
                raise self._wrong(step, f"{step.name} has no input {name!r}", hint)
            declared[names[name]] = source
        return declared

    def _outputs(self, step: ToolStep, gives: tuple[str, ...] | None) -> Mapping[str, str] | None:
        if gives is None:
            return None
        for name in step.outputs:
            if name not in gives:
                problem = f"{step.name} has no output {name!r}"
                raise self._wrong(step, problem, meant_or_all(name, gives))
        return {name: step.outputs.get(name, name) for name in gives}

    def _of_parameter(self, step: ToolStep, name: str, problem: str) -> InputError:
        if self._content is None or name not in self._values.get(step.server, {}):
            return self._wrong(step, f"the default of {name!r}: {problem}")
        problem, _, hint = problem.partition(". ")
        if hint and not hint.endswith((".", "?")):
            hint += "."
        return self._content.wrong((step.server, name), f"{problem} (step {step.name})", hint)

    def _wrong(self, step: ToolStep, problem: str, hint: str | None = None) -> InputError:
        return self._pipeline.wrong(step.place, problem, hint)


def check(
    pipeline: Pipeline, bound: Bound, values: Mapping[str, Mapping[str, Any]], file: Path | None
) -> None:
    """Refuses a pipeline that lacks a variable or a parameter.

    Args:
        pipeline: as written.
        bound: what its steps need.
        values: of the parameters, as the file has them.
        file: the parameter file; ``None`` where there is none, and all parameters have their
            defaults.

    Raises:
        InputError: what is missing, with file and step.
    """
    build = f"'ragassay build {pipeline.path}'"
    for step, variable in bound.missing:
        raise pipeline.wrong(
            step.place, f"{step.name} takes {variable!r}, and no step before it gives that",
            _where_from(pipeline, variable, file),
        )  # fmt: skip
    for step, name in bound.unset if file is None else ():
        raise pipeline.wrong(
            step.place, f"{step.name} takes the parameter {name!r}, which has no default",
            f"{build} writes the file for its value.",
        )  # fmt: skip
    for call in bound.calls.values():
        server = call.step.server
        for name in call.parameters.values():
            if file is not None and name not in values.get(server, {}):
                raise InputError(
                    f"is missing, and the step {call.step.name} of {pipeline.path} takes it: the "
                    "pipeline is newer than this file",
                    path=file, field=f"{server}.{name}", hint=f"{build} adds it.",
                )  # fmt: skip


def _where_from(pipeline: Pipeline, variable: str, file: Path | None) -> str:
    reading = next((step for step in pipeline.tools() if step.tool == "get_data"), None)
    if reading is None:
        return "Rename an input with 'input: {NAME: VARIABLE}', or add the step that gives it."
    where = file or f"the file that 'ragassay build {pipeline.path}' writes"
    return (
        f"If the data have it, add '{variable}: FIELD' to {reading.server}.benchmark.key_map in "
        f"{where}."
    )


def refuse_unknown(
    values: Mapping[str, Mapping[str, Any]],
    servers: Mapping[str, Server],
    bound: Bound,
    content: Marked,
) -> list[str]:
    """Refuses parameters that no server has.

    Args:
        values: as the parameter file has them.
        servers: of the pipeline.
        bound: what its steps need.
        content: of the file.

    Returns:
        Those that the steps do not use, as ``server.name``.

    Raises:
        InputError: an unknown server or parameter.
    """
    unused = []
    for server, parameters in values.items():
        if server not in servers:
            problem = "is no server of the pipeline"
            raise content.wrong((server,), problem, meant_or_all(server, servers))
        known = {*servers[server].parameters, *bound.parameters.get(server, {})}
        for name in parameters:
            if name not in known:
                problem = f"the server {server!r} has no such parameter"
                hint = meant_or_all(name, sorted(known))
                raise content.wrong((server, name), problem, hint)
            if name not in bound.parameters.get(server, {}):
                unused.append(f"{server}.{name}")
    return unused
