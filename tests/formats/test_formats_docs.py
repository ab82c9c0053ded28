"""The pages on formats say what is so."""

import re
from pathlib import Path

import pytest

from ragassay.formats import Notes, all_formats, detect, load
from ragassay.formats.records import field_names

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [(DOCS / f"{name}.md").read_text("utf-8") for name in ("formats", "fields", "exports")]
PAGE = "".join(PAGES)
EXAMPLES = re.findall(r"^```(\w+) (\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("language", "name", "content"), EXAMPLES)
def test_every_example_is_read_as_what_it_is_called(tmp_path, language, name, content) -> None:
    path = tmp_path / f"example.{language}"
    path.write_text(content, encoding="utf-8")
    assert detect(path).name == name
    assert load(path, notes=Notes())


def test_every_format_in_the_list_is_known_and_shown() -> None:
    table = PAGE.split("| format | what |")[1].split("\n\n")[0]
    listed = {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row[:40])}
    assert listed <= all_formats().keys()
    assert listed - {name for _, name, _ in EXAMPLES} == {
        *("parquet", "trec_run", "qrels", "beir", "hf_dataset", "xlsx"),
        *("mtrag", "ultrarag", "squad"),
    }


def test_the_table_of_names_is_the_one_in_force() -> None:
    table = PAGE.split("| field | other names |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|$", table, re.MULTILINE)
    listed = {field: tuple(re.findall(r"`([^`]+)`", names)) for field, names in rows}
    assert listed == dict(field_names.ALIASES)
