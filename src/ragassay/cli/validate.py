"""``ragassay validate``: check data or a configuration without evaluating."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ragassay.cli import show
from ragassay.cli.configured import configured
from ragassay.cli.exits import OK
from ragassay.cli.words import listed, mapping


def validate(
    data: Path | None = None,
    /,
    *,
    config: Annotated[Path | None, Parameter(name=["--config", "-c"])] = None,
    suite: Annotated[list[str] | None, Parameter(name=["--suite", "-s"], negative=())] = None,
    metrics: Annotated[list[str] | None, Parameter(name=["--metrics", "-m"], negative=())] = None,
    columns: Annotated[list[str] | None, Parameter(negative=())] = None,
    format: str | None = None,  # noqa: A002
    qrels: Path | None = None,
    separator: str | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Read DATA (or what a YAML configuration names) to its end and say what is in it.

    The first fault is named with its file, line and field, and the exit code is 2.

    ```sh
    ragassay validate answers.jsonl
    ragassay validate config.yaml
    ragassay validate answers.csv --config eval_config.yaml
    ```

    Args:
        data: File or folder with samples, or a YAML configuration.
        config: YAML configuration, beside DATA.
        suite: Also count how many samples each metric of this suite applies to.
        metrics: The same for these metrics.
        columns: Your column for one of our fields: answer=model_output.
        format: Input format, when detection is wrong.
        qrels: TREC or BEIR judgements to take gold passages from.
        separator: What separates the chunks in a context that is one string.
        json: Print what was found as JSON.
    """
    from ragassay.engine.plan.preview import preview
    from ragassay.engine.run.evaluation import prepare
    from ragassay.reports.text.preview import preview_table

    flags = {
        "suite": listed("--suite", suite),
        "metrics": metrics,
        "columns": mapping(columns),
        "format": format,
        "qrels": None if qrels is None else str(qrels),
        "separator": separator,
    }
    given = {key: value for key, value in flags.items() if value is not None}
    job = prepare(configured(data, config, given), dry=True)
    with show.progress("reading", job.source.count) as progress:
        found = preview(job, progress)
    if json:
        show.json(found.to_json())
    else:
        show.console().print(preview_table(found))
    show.warn(found.warnings)
    return OK
