"""``ragassay validate``: check data or a configuration without evaluating."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ragassay.cli import show
from ragassay.cli.flags import Switch, configured, takes_options

NOT_OF_DATA = (
    *("data", "output", "fail_under", "trust_offline"),
    *("interval", "level", "n_resamples", "seed"),
)
"""Options that say neither which data there are nor what is to be measured of them."""


@takes_options("Parameters", names=("rubric", "nuggets"), without=NOT_OF_DATA)
def validate(
    data: Path | None = None,
    /,
    *,
    config: Annotated[Path | None, Parameter(name=["--config", "-c"])] = None,
    json: Switch = False,
    **given: Any,
) -> None:
    """Read DATA (or what a YAML configuration names) to its end and say what is in it.

    The first fault is named with its file, line and field, and the exit code is 2. With --suite or
    --metrics it also counts how many samples each metric applies to.

    ```sh
    ragassay validate answers.jsonl
    ragassay validate config.yaml
    ragassay validate answers.csv --config eval_config.yaml
    ```

    Args:
        data: File or folder with samples, or a YAML configuration.
        config: YAML configuration, beside DATA.
        json: Print what was found as JSON.
    """
    from ragassay.engine.run import prepare

    show.preview(prepare(configured(data, config, given), dry=True), as_json=json)
