"""``ragassay build``, and ``ragassay run`` of a pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.base.errors import UsageError
from ragassay.cli import show
from ragassay.cli.command import Given, command
from ragassay.cli.show import console
from ragassay.reports.model import Column, Report, Table, table

if TYPE_CHECKING:
    from ragassay.compat.ultrarag.pipeline_run import Observer

_MEAN = "avg_"


@command("build")
def build(given: Given) -> None:
    """Write the parameter file of a PIPELINE, or print what the existing file lacks.

    The file is parameters/NAME_parameter.yaml beside the pipeline: the parameters of its steps,
    with the defaults of their servers. An existing file is not changed. Edit it, then run the
    pipeline. 'ragassay run' takes -o, the folder for the results of steps, and --from, the number
    or name of the step to begin with; results of earlier steps are those of the last run.

    ```sh
    ragassay build examples/eval_trec.yaml
    ragassay run examples/eval_trec.yaml
    ragassay run examples/eval_trec.yaml --from evaluation.evaluate
    ```
    """
    from ragassay.compat.ultrarag import pipelines

    with show.status("asking the servers"):
        built = pipelines.build(given.pipeline)
    if built.lacking:
        show.lines(f"{built.path} lacks these parameters, so their defaults apply:", "")
        show.lines(built.lacking)
    else:
        show.lines(f"parameters: {built.path} ({'new' if built.is_new else 'complete'})")
    show.warn(built.notes)


def run_pipeline(given: Given) -> int:
    """Runs the pipeline that the data of ``ragassay run`` are, and prints what its evaluations
    found. ``--from`` is the step to begin with, ``-o`` the folder for what its steps give."""
    from ragassay.compat.ultrarag import pipelines

    path: Path = given.data
    if given.more:
        raise UsageError(f"{path} is a pipeline, and {given.more[0]} cannot be given with it.")
    values = {**given.run_options, **({} if given.config is None else {"config": given.config})}
    output, begin = values.pop("output", None), values.pop("from_timestamp", None)
    if more := [f"--{name.replace('_', '-')}" for name in values]:
        raise UsageError(
            f"{path} is a pipeline, which takes --param, --from, -o, --dry-run and --json: "
            f"{', '.join(more)} would change nothing. Its parameter file says what its steps do."
        )
    options = pipelines.Options(given.param, begin, None if output is None else Path(output))
    if given.dry_run:
        with show.status("asking the servers"):
            steps = pipelines.steps(path, options)
        show.lines(*steps)
        return show.OK
    try:
        with _progress() as observer:
            finished = pipelines.run(path, options, observer)
    except KeyboardInterrupt:
        show.warn([f"{path}: the result of each step is kept: --from STEP continues."])
        raise
    results = {
        name: value
        for name, value in finished.variables.items()
        if isinstance(value, dict) and value and name.endswith("res")
    }
    if given.json:
        show.json(results)
    else:
        for name, value in results.items():
            show.report(Report(name, (_table(value),)))
        show.lines(f"steps: {finished.folder} (--from STEP continues from one of them)")
    show.warn(finished.notes)
    return show.OK


@contextmanager
def _progress() -> Iterator[Observer]:
    """Shows on standard error which step runs, and a line for each that has ended."""
    from ragassay.compat.ultrarag.pipeline_run import Observer

    out = console(stderr=True)
    spinner = out.status("starting the servers")

    class Shown(Observer):
        def begins(self, number: int, of: int, name: str) -> None:
            show.check()
            self._label = f"{number}/{of} {name}"
            spinner.update(self._label)

        def says(self, sentence: str) -> None:
            spinner.update(f"{self._label}: {sentence}")

        def ended(
            self, number: int, of: int, name: str, seconds: float, changed: Mapping[str, Any]
        ) -> None:
            gave = ", ".join(changed) or "nothing"
            sentence = f"{number}/{of} {name}: {gave} ({seconds:.2f} s)"
            out.print(sentence, markup=False, soft_wrap=True)

    with spinner if out.is_terminal else nullcontext():
        yield Shown()


def _table(result: Mapping[str, Any]) -> Table:
    """The means of an evaluation, or the tests of two runs."""
    tests = {name: value for name, value in result.items() if isinstance(value, dict)}
    if tests:
        heads = [*next(iter(tests.values()))]
        rows = [(name, *map(_number, test.values())) for name, test in tests.items()]
    else:
        heads, rows = ["mean", "n"], list(_means(result))
    return table([Column("metric", "name"), *map(Column, heads)], rows)


def _means(result: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for metric, value in result.items():
        values = result.get(metric.removeprefix(_MEAN))
        if metric.startswith(_MEAN) and isinstance(values, list):
            scored = sum(item is not None for item in values)
            n = f"{scored:,}" if scored == len(values) else f"{scored:,} of {len(values):,}"
            yield metric.removeprefix(_MEAN), _number(value), n
        elif not isinstance(value, list):
            yield metric, _number(value), ""


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4f}" if isinstance(value, int | float) else "-"
