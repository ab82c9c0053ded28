"""One schema of options: the flags, the keys of a file and the documentation come from it."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from option_tables import json_schema, option_table
from ragassay.cli.command import COMMANDS
from ragassay.cli.runs.run import run
from ragassay.engine.config.run_config import GROUPS, RunConfig

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, SCHEMA = DOCS / "configuration.md", DOCS / "configuration.schema.json"


def with_tables(text: str) -> str:
    for group in GROUPS:
        before, rest = text.split(f"<!-- options: {group} -->\n")
        _, after = rest.split("<!-- end -->", 1)
        text = f"{before}<!-- options: {group} -->\n{option_table(group)}\n<!-- end -->{after}"
    return text


def test_the_documentation_holds_the_options_as_they_are(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text(encoding="utf-8")
    schema = json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
    if request.config.getoption("--approve"):
        PAGE.write_text(with_tables(page), encoding="utf-8")
        SCHEMA.write_text(schema, encoding="utf-8")
        return
    again = "run pytest tests/cli/test_options.py --approve"
    assert with_tables(page) == page, again
    assert SCHEMA.read_text(encoding="utf-8") == schema, again
    assert set(re.findall(r"^- `(\w+)`", page, re.M)) == set(RunConfig.model_fields)


@pytest.mark.parametrize("name", [name for name in RunConfig.model_fields if name != "data"])
def test_each_option_is_a_flag_of_run(name: str) -> None:
    run.declare()
    assert name in run.__signature__.parameters


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("data: a.jsonl\nsuite: qa\nfail_under: f1>=0.5\nbudget: 5.0", True),
        ("from_timestamp: '2026-01-02'\nks: [1, 5]\nmodel_kwargs: {top_p: 0.9}", True),
        ("key_map: {answer: pred}\noptions: {min_grade: 2}", True),
        ("slice_by: turn\ncolumns:\noptions:\nseed: '100'\nlevel: ${LEVEL}", True),
        ("sute: qa", False), ("level: 2", False), ("ks: [[1]]", False), ("interval: exact", False),
        ("model_kwargs: {heat: 1}", False),
    ],
)  # fmt: skip
def test_the_schema_takes_what_a_file_may_say(text: str, good: bool) -> None:
    checker = jsonschema.Draft202012Validator(json_schema())
    assert checker.is_valid(yaml.safe_load(text)) == good


def test_the_schema_takes_the_examples_of_its_page() -> None:
    blocks = re.findall(r"^```yaml[^\n]*\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert blocks
    for text in blocks:
        jsonschema.validate(yaml.safe_load(text), json_schema())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_reads_options_that_the_table_gives_it(name: str) -> None:
    COMMANDS[name].declare()
    declared = {*COMMANDS[name].__signature__.parameters, "run_options", "of"}
    source = inspect.getsource(inspect.unwrap(COMMANDS[name]))
    assert set(re.findall(r"\bgiven\.(\w+)", source)) <= declared
