"""The words of errors and notes are in one file, and each kind is told by the code."""

import re
from pathlib import Path

import ragassay.formats
from ragassay.base.packages import table
from ragassay.formats.format_words import wrong

FILES = Path(ragassay.formats.__file__).parent.rglob("*.py")
SOURCE = "".join(path.read_text(encoding="utf-8") for path in FILES)


def test_every_kind_that_the_code_names_has_words_and_none_is_left_over() -> None:
    words = table("ragassay.formats", "format_words.yaml")
    errors = set(re.findall(r'\bwrong\(\s*"(\w+)"', SOURCE))
    notes = set(re.findall(r'\btell\(\s*"(\w+)"', SOURCE))
    assert errors <= words["errors"].keys() and notes <= words["notes"].keys()
    kinds = [*words["errors"], *words["notes"]]
    assert [kind for kind in kinds if f'"{kind}"' not in SOURCE] == []


def test_an_error_is_a_problem_and_what_to_do_about_it() -> None:
    found = wrong("row_width", line=3, n=2, width=5)
    assert (found.problem, found.line) == ("the row has 2 cells, the header 5", 3)
    assert found.hint == 'Put cells that hold a delimiter or a line break in "quotes".'
    assert wrong("no_object").hint is None
