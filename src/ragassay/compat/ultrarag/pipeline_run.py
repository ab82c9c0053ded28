"""Runs the steps of a pipeline, one after the other, and keeps what each gave in files: a later run
can go on from any of them."""

from __future__ import annotations

import re
import stat
import tempfile
import time
from collections.abc import Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

import orjson

from ragassay.base.errors import InputError, RagassayError, UsageError
from ragassay.base.files import cannot_write, write_bytes
from ragassay.base.printable import few, plural
from ragassay.compat.ultrarag.binding import MEMORY, Bound, Call
from ragassay.compat.ultrarag.pipeline_file import PIPELINE, Branch, Loop, Pipeline, Step, ToolStep
from ragassay.compat.ultrarag.pipeline_tools import Server, ServerError

Variables = dict[str, Any]

_START = b'{\n  "step": {'
"""How a file of this form begins: no other file of the folder is deleted."""


class KeptSteps:
    """The folder with a file a step, which is made with the first file."""

    def __init__(self, folder: Path, pipeline: Pipeline, bound: Bound) -> None:
        self.folder = folder
        self._pipeline, self._bound = pipeline, bound

    def keep(self, number: int, variables: Mapping[str, Any]) -> None:
        """Writes the variables that a step made or changed."""
        body = _json({"step": self._identity(number), "variables": variables})
        write_bytes(self._file(number), body)

    def begin(self, number: int) -> None:
        """Deletes what the steps from a number on gave in an earlier run."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for path in self.folder.glob("*_*.json"):
                step = path.name.split("_")[0]
                if step.isdecimal() and int(step) >= number:
                    with path.open("rb") as stream:
                        is_kept = stream.read(len(_START)) == _START
                    if is_kept:
                        path.unlink()
            tempfile.TemporaryFile(dir=self.folder).close()
        except OSError as error:
            raise cannot_write(self.folder, error) from error

    def before(self, number: int) -> Variables:
        """The variables before a step, as the last run left them."""
        variables: Variables = {}
        for earlier in range(1, number):
            path, name = self._file(earlier), self._pipeline.steps[earlier - 1].name
            again = f"Run the pipeline without --from, or with --from {earlier}."
            try:
                body = orjson.loads(path.read_bytes())
                kept, step_variables = dict(body["step"]), dict(body["variables"])
            except FileNotFoundError as error:
                raise UsageError(
                    f"The step {earlier} ({name}) has no kept output in {self.folder}. {again}"
                ) from error
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise InputError(
                    "is not the kept output of a step", path=path, hint=again
                ) from error
            now = orjson.loads(_json(self._identity(earlier)))
            if differs := [key for key in now if kept.get(key) != now[key]]:
                raise UsageError(
                    f"The step {earlier} ({name}) was kept with other {' and '.join(differs)} than "
                    f"it has now. {again}"
                )
            variables |= step_variables
        return variables

    def _identity(self, number: int) -> dict[str, Any]:
        """What must be the same for the output of a step to be used again: how the step is written,
        its parameters, the files that they name (with size and time of the last change)."""
        parameters = {
            f"{call.step.server}.{name}": self._bound.parameters[call.step.server][name]
            for place, call in self._bound.calls.items()
            if place[:2] == (PIPELINE, str(number - 1))
            for name in call.parameters.values()
        }
        files = {}
        for name, value in parameters.items():
            for text in value.values() if isinstance(value, dict) else [value]:
                if isinstance(text, str) and not name.endswith(".save_path"):
                    with suppress(OSError, ValueError):  # a text that is no path
                        if stat.S_ISREG((status := Path(text).stat()).st_mode):
                            files[text] = f"{status.st_size} {status.st_mtime_ns}"
        words = self._pipeline.marked.value[PIPELINE][number - 1]
        return {"words": words, "parameters": parameters, "files": files}

    def _file(self, number: int) -> Path:
        name = re.sub(r"[^\w.-]", "_", self._pipeline.steps[number - 1].name)
        return self.folder / f"{number:02}_{name}.json"


def _json(body: Any) -> bytes:
    return orjson.dumps(body, str, orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS)


def number_of(pipeline: Pipeline, wanted: str) -> int:
    """The number of a step, from 1, by its number or name."""
    names = [step.name for step in pipeline.steps]
    numbers = [at for at, name in enumerate(names, 1) if wanted in (str(at), name)]
    if not numbers:
        listed = ", ".join(f"{at} {name}" for at, name in enumerate(names, 1))
        raise UsageError(f"--from {wanted}: there is no such step. There are: {listed}.")
    if len(numbers) > 1:
        several = ", ".join(map(str, numbers))
        raise UsageError(
            f"--from {wanted}: this step occurs several times ({several}). Give its number."
        )
    return numbers[0]


class StepError(RagassayError):
    """A step that failed: the sentence names the step, its server and the server's words."""


class Observer:
    """Is called as a pipeline goes on, with a step's number (from 1) of so many, and its name; this
    one does nothing."""

    def begins(self, number: int, of: int, name: str) -> None:
        """A step begins."""

    def says(self, sentence: str) -> None:
        """The step says how far it is."""

    def ended(
        self, number: int, of: int, name: str, seconds: float, changed: Mapping[str, Any]
    ) -> None:
        """A step has ended, after so many seconds; the variables are those it made or changed."""


@dataclass
class StepRunner:
    """Runs steps with the servers that are started."""

    pipeline: Pipeline
    bound: Bound
    servers: Mapping[str, Server]
    kept: KeptSteps
    observer: Observer = field(default_factory=Observer)

    async def run(self, begin: int) -> Variables:
        """Runs the steps from a number on; a `StepError` where one fails, with what was computed
        kept."""
        variables = self.kept.before(begin)
        self.kept.begin(begin)
        later = {step.server for step in self.pipeline.tools() if int(step.place[1]) >= begin - 1}
        for number, step in enumerate(self.pipeline.steps, start=1):
            for part in (step,) if number >= begin else self._silent((step,), later):
                await self._top_step(number, part, variables, keep=number >= begin)
        return variables

    def _silent(self, steps: tuple[Step, ...], servers: Set[str]) -> tuple[Step, ...]:
        """Those of some steps, also in loops, that give nothing and call one of these servers: they
        were run for what they do to it."""
        silent: list[Step] = []
        for step in steps:
            if isinstance(step, Loop):
                inner = self._silent(step.steps, servers)
                silent += [replace(step, steps=inner)] if inner else []
            elif isinstance(step, ToolStep) and step.server in servers:
                silent += [] if self.bound.calls[step.place].outputs else [step]
        return tuple(silent)

    async def _top_step(self, number: int, step: Step, variables: Variables, *, keep: bool) -> None:
        of = len(self.pipeline.steps)
        self.observer.begins(number, of, step.name)
        began = time.monotonic()
        before = dict(variables)
        await self._steps(number, (step,), variables)
        changed = _changed(before, variables)
        try:
            if keep:
                self.kept.keep(number, changed)
        except TypeError as error:
            self._fail(number, step, f"its result cannot be kept as JSON ({error}).", error)
        self.observer.ended(number, of, step.name, time.monotonic() - began, changed)

    async def _steps(self, number: int, steps: tuple[Step, ...], variables: Variables) -> None:
        for step in steps:
            if isinstance(step, Loop):
                for _ in range(step.times):
                    await self._steps(number, step.steps, variables)
            elif isinstance(step, Branch):
                await self._branch(number, step, variables)
            else:
                await self._call(number, self.bound.calls[step.place], variables)

    async def _call(self, number: int, call: Call, variables: Variables) -> None:
        step, server = call.step, call.step.server
        arguments = {
            argument: self.bound.parameters[server][name]
            for argument, name in call.parameters.items()
        }
        for argument, name in call.variables.items():
            if name not in variables and name.removeprefix(MEMORY) in self.bound.remembered:
                variables[name] = []
            if name not in variables:
                had = ", ".join(variables) or "none"
                problem = f"no earlier step gave the variable {name!r}. There are: {had}."
                self._fail(number, step, problem)
            arguments[argument] = variables[name]
        try:
            result = await self.servers[server].call(call.tool, arguments, self._tell_progress)
        except ServerError as error:
            sentence = str(error)
            # A sentence about a file begins with its path: say which parameter names it.
            parameter = next(
                (
                    f"{server}.{name}: "
                    for argument, name in call.parameters.items()
                    if arguments[argument] and sentence.startswith(f"{arguments[argument]}:")
                ),
                "",
            )
            self._fail(number, step, f"{parameter}{sentence}", error)
        if lacking := [key for key in call.outputs if key not in result]:
            had = ", ".join(map(str, result)) or "nothing"
            self._fail(number, step, f"the result lacks {lacking[0]!r}; it has: {had}.")
        for key, variable in call.outputs.items():
            variables[variable] = result[key]
            if variable in self.bound.remembered:
                memory = f"{MEMORY}{variable}"
                variables[memory] = [*variables.get(memory, ()), result[key]]

    async def _branch(self, number: int, branch: Branch, variables: Variables) -> None:
        """Runs for the rows of each state the steps of its branch, and merges the rows again."""
        before = dict(variables)
        await self._steps(number, branch.router, variables)
        states = self._take_states(number, branch, before, variables)
        n = len(states)
        after_router = dict(variables)
        for state, steps in branch.branches.items():
            rows = [row for row, text in enumerate(states) if text == state]
            if not rows:
                continue
            own_before = {
                name: [value[row] for row in rows] if _has_rows(value, n) else value
                for name, value in after_router.items()
            }
            own = dict(own_before)
            await self._steps(number, steps, own)
            for name, value in _changed(own_before, own).items():
                if not isinstance(value, list):
                    variables[name] = value
                    continue
                if len(value) != len(rows):
                    self._fail(
                        number, branch,
                        f"the steps of the state {state!r} have {plural(len(rows), 'row')} "
                        f"(counted from 0: {few([str(row) for row in rows])}), and give "
                        f"{plural(len(value), 'item')} for {name!r}.",
                    )  # fmt: skip
                merged = list(variables[name]) if _has_rows(variables.get(name), n) else [None] * n
                for row, item in zip(rows, value, strict=True):
                    merged[row] = item
                variables[name] = merged

    def _take_states(
        self, number: int, branch: Branch, before: Variables, variables: Variables
    ) -> list[str]:
        """The state of each row, as the router gave it; its lists keep the rows alone."""
        states: list[str] | None = None
        for name, value in _changed(before, variables).items():
            if _is_routed(value):
                of_list = [str(item["state"]) for item in value]
                if states not in (None, of_list):
                    problem = f"{name!r} has other states than another list of the router."
                    self._fail(number, branch, problem)
                states = of_list
                variables[name] = [item["data"] for item in value]
        if states is None:
            problem = "no step of the router gives a list of items with 'data' and 'state'."
            self._fail(number, branch, problem)
        if unknown := sorted(set(states) - set(branch.branches)):
            self._fail(
                number, branch,
                f"the router gives row {states.index(unknown[0])} (counted from 0) the state "
                f"{unknown[0]!r}, and 'branches' has: {', '.join(branch.branches)}.",
            )  # fmt: skip
        return states

    def _tell_progress(self, done: float, of: float | None, sentence: str) -> None:
        share = f"{done:g} of {of:g}" if of else ""
        if text := " ".join(filter(None, (share, sentence))):
            self.observer.says(text)

    def _fail(
        self, number: int, step: Step, problem: str, cause: Exception | None = None
    ) -> NoReturn:
        line = self.pipeline.marked.line(step.place)
        where = f", server {step.server!r}" if isinstance(step, ToolStep) else ""
        advice = f" Earlier results are kept: --from {number} continues."
        raise StepError(
            f"{self.pipeline.path}, line {line}: step {number} ({step.name}){where}: "
            f"{problem}{advice if number > 1 else ''}"
        ) from cause


def _changed(before: Variables, after: Variables) -> Variables:
    """The variables that are new or hold another object than before."""
    return {
        name: value
        for name, value in after.items()
        if name not in before or before[name] is not value
    }


def _is_routed(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and item.keys() == {"data", "state"} for item in value)
    )


def _has_rows(value: Any, n: int) -> bool:
    return isinstance(value, list) and len(value) == n
