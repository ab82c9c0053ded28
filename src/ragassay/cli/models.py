"""List, fetch and check the neural models that some metrics need.

Without a command: list them, with their use, licence, size, and place on this machine. Models are
downloaded by `fetch` only, never during a run.

```sh
ragassay models
ragassay models --json
```
"""

from __future__ import annotations

import shlex
from functools import partial

from ragassay.cli import show
from ragassay.cli.command import Given, command, pairs
from ragassay.cli.show import console


@command("models")
def listing(given: Given) -> None:
    """List the models."""
    from ragassay.engine.models.model_survey import survey
    from ragassay.models.weights.weight_files import Unavailable, needs_packages
    from ragassay.reports.views.catalogue_view import models_as_json, models_report

    surveyed = survey(_folders(given.model))
    if given.json:
        show.json(models_as_json(surveyed))
    else:
        show.report(models_report(surveyed))
        try:
            needs_packages()
        except Unavailable as error:
            show.warn([f"{error}."])


@command("models fetch")
def fetch(given: Given) -> None:
    """Download a model: the pinned commit, the files that are needed, and none of its code.

    It goes into the hub's cache, where metrics find it, or into a folder. For a machine without a
    network, copy the folder there and name it with --model.

    ```sh
    ragassay models fetch microsoft/deberta-xlarge-mnli
    ```
    """
    from ragassay.models.weights.fetching import fetch as download
    from ragassay.models.weights.weight_files import Weights

    weights = Weights.parse(given.name)
    tell = partial(console(stderr=True).print, soft_wrap=True, markup=False)
    for fetched in download(weights, given.output, tell):
        done = "is here" if fetched.files else "was here"
        show.lines(f"{fetched.weights} {done}: {fetched.folder}")
    if given.output is not None:
        show.lines(f"Use it with --model {shlex.quote(f'{weights.name}={given.output}')}")


@command("models check")
def check(given: Given) -> int:
    """Load models and score a known pair with each; say ok, or what is wrong.

    Exit code 3 when a model does not work.

    ```sh
    ragassay models check
    ```
    """
    from ragassay.engine.models.model_survey import check as tried, survey
    from ragassay.models.model_options import ModelOptions

    folders = _folders(given.model)
    options = ModelOptions(folders, given.device, given.dtype)
    chosen = given.names or [model.name for model in survey(folders) if model.folder is not None]
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
    from ragassay.engine.models.needed_models import check_folders

    folders = pairs("--model", words, "NAME=FOLDER", "xlm-roberta-large=models")
    check_folders(folders)
    return folders
