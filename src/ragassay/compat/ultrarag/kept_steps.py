"""What each step of a pipeline gave, in files: a later run can go on from any of them."""

from __future__ import annotations

import re
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from ragassay.base.errors import InputError, UsageError
from ragassay.base.files import cannot_write, write_bytes
from ragassay.compat.ultrarag.binding import Bound
from ragassay.compat.ultrarag.pipeline_file import PIPELINE, Pipeline

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
