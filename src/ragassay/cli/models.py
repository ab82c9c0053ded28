"""``ragassay models``: which neural models there are, where they are, and getting them."""

from __future__ import annotations

import shlex
import sys
from typing import Literal

from cyclopts import App

from ragassay.base.errors import UsageError
from ragassay.cli.flags import Output, Repeated, Switch, pairs
from ragassay.cli.output import show

models = App(
    name="models",
    help="""Look after the neural models that some metrics need.

Without a command: list them, with what each is for, its licence and size, and where it is on this
machine. Nothing is downloaded, here or while scoring, unless `fetch` is called.

```sh
ragassay models
ragassay models --json
```
""",
    help_format="markdown",
)


@models.default
def listing(*, model: Repeated | None = None, json: Switch = False) -> None:
    """List the models.

    Args:
        model: NAME=FOLDER: a local folder for a model. Repeatable.
        json: Print as JSON.
    """
    from ragassay.engine.models.model_survey import survey
    from ragassay.models.weights.weight_files import Unavailable, needs_packages
    from ragassay.reports.views.models_view import as_json, models_report

    surveyed = survey(_folders(model))
    if json:
        show.json(as_json(surveyed))
    else:
        show.report(models_report(surveyed))
        try:
            needs_packages()
        except Unavailable as error:
            show.warn([f"{error}."])


@models.command
def fetch(
    name: str,
    /,
    *,
    revision: str | None = None,
    output: Output | None = None,
) -> None:
    """Download a model: the pinned commit, the files that are needed, and none of its code.

    It goes into the hub's cache, where metrics find it, or into a folder that can be copied to a
    machine without a network and named there with --model.

    Args:
        name: The model's name on the hub, or NAME@COMMIT.
        revision: Another commit than the pinned one.
        output: Folder to put it in, instead of the cache.
    """
    from ragassay.models.weights.fetching import fetch as download
    from ragassay.models.weights.weight_files import Weights

    weights = Weights.parse(name)
    if revision is not None:
        if "@" in name:
            raise UsageError("The commit is named twice: NAME@COMMIT, or --revision.")
        weights = Weights(weights.name, revision)
    errors = show.console(stderr=True)

    def print_now(sentence: str) -> None:
        errors.print(sentence, soft_wrap=True, markup=False)
        sys.stderr.flush()

    for one in download(weights, output, print_now):
        done = "is here" if one.files else "was here"
        show.lines(f"{one.weights} {done}: {one.folder}")
    if output is not None:
        show.lines(f"Use it with --model {shlex.quote(f'{weights.name}={output}')}")


@models.command
def check(
    *names: str,
    model: Repeated | None = None,
    device: str | None = None,
    dtype: Literal["float32", "float16", "bfloat16"] | None = None,
) -> int:
    """Load models and score a known pair with each; say ok, or what is wrong.

    Exit code 3 when one of them does not work.

    Args:
        names: Models to try (default: those that are on this machine).
        model: NAME=FOLDER: a local folder for a model. Repeatable.
        device: Where they run: auto, cpu, cuda, cuda:1, mps (default: auto, a CUDA GPU where there
            is one).
        dtype: Precision (default: float32).
    """
    from ragassay.engine.models.model_survey import check as tried, survey
    from ragassay.models.model_options import ModelOptions

    folders = _folders(model)
    options = ModelOptions(folders, device, dtype)
    chosen = names or tuple(one.name for one in survey(folders) if one.folder is not None)
    if not chosen:
        show.lines("No model is on this machine. 'ragassay models' lists them.")
        return show.INCOMPLETE
    works = True
    for name in chosen:
        with show.status(f"loading {name}"):
            checked = tried(name, options)
        works = works and checked.ok
        show.lines(f"{name}: {'ok' if checked.ok else 'not usable'}: {checked.sentence}")
    return show.OK if works else show.INCOMPLETE


def _folders(words: list[str] | None) -> dict[str, str]:
    from ragassay.engine.models.modelling import check_folders

    folders = pairs("--model", words, "NAME=FOLDER", "xlm-roberta-large=models")
    check_folders(folders)
    return folders
