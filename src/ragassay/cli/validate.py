"""``ragassay validate``: check data or a configuration without evaluating."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragassay.base.errors import InputError, UsageError
from ragassay.cli import show
from ragassay.cli.command import Given, command, configured

if TYPE_CHECKING:
    from ragassay.formats import Placement

NOT_OF_DATA = (
    *("data", "output", "fail_under", "trust_offline"),
    *("interval", "level", "n_resamples", "seed"),
)
"""Options that say neither which data there are nor what is to be measured of them."""


@command("validate", "Parameters", names=("rubric", "nuggets"), without=NOT_OF_DATA)
def validate(given: Given) -> int:
    """Read DATA (or what a YAML configuration names) to its end and say what is in it.

    The first fault is named with its file, line and field, and the exit code is 2. It says how many
    samples each metric applies to, which suites the data suit, which columns hold no field and what
    they may be (--columns). The exit code is 3 where no metric of the run can be scored.

    ```sh
    ragassay validate answers.jsonl
    ragassay validate export.csv --save-mapping mapping.yaml
    ragassay validate config.yaml
    ragassay validate answers.csv --config eval_config.yaml
    ```
    """
    from ragassay import formats
    from ragassay.engine.config.config_paths import save_mapping as saved
    from ragassay.engine.run.prepared_run import prepare
    from ragassay.judges.python_judge import named_judges

    chosen = configured(given.data, given.config, given.run_options, given.more)
    judges = named_judges(chosen.judge, typed="judge" in given.run_options)
    if chosen.data is None:
        raise UsageError("No data is named. Give a file, or a configuration with 'data'.")
    placement = formats.place(
        chosen.data,
        format=chosen.format,
        columns=chosen.columns,
        encoding=chosen.encoding,
        sheet=chosen.sheet,
        separator=chosen.separator,
        single_chunk=chosen.single_chunk,
        passages_from=chosen.passages_from,
    )
    if given.save_mapping is not None:
        saved(given.save_mapping, chosen, placement)
        file = given.save_mapping
        show.warn([f"{file} is written. Check it, then: ragassay run -c {file}"])
    try:
        scorable = show.preview(
            prepare(chosen, judge=judges, dry=True),
            as_json=given.json,
            every_suite=not (chosen.suite or chosen.metrics),
            placement=placement,
        )
    except InputError as error:
        perhaps = show.suggestions(placement)
        if not (perhaps and error.problem.startswith("no column is known")):
            raise
        raise error.but(hint=f"Perhaps: {perhaps}.") from None
    if not scorable and not given.json:
        show.warn(_as_questions(placement))
    return show.OK if scorable else show.INCOMPLETE


def _as_questions(placement: Placement) -> Iterator[str]:
    """A note on a file of questions without answers: which commands take it."""
    from ragassay.formats import folded
    from ragassay.golden.golden_item import GoldenItem

    known = {**placement.suggested, **placement.placed}
    if "query" not in known or known.keys() & {"answer", "passages", "passage_ids"}:
        return
    own = [name for name in placement.unplaced if folded(name) in GoldenItem.model_fields]
    fields = f" Golden sets have fields for {', '.join(own)}." if own else ""
    yield (
        "These are questions without answers and passages. 'ragassay ask' asks a system for them, "
        f"'ragassay golden import' makes a golden set of them.{fields}"
    )
