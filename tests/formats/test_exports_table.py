"""The table of exports (``exports.yaml``): a row is all that a new one needs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ragassay import InputError
from ragassay.formats import SURE, Notes, all_formats, exports, load
from ragassay.formats.reading import head
from ragassay.formats.records.sample_records import Mapper

DOCS = Path(__file__).parents[2] / "docs" / "formats.md"


def documented_row() -> dict[str, Any]:
    """The row of ``docs/formats.md``, as one who follows that page writes it."""
    page = DOCS.read_text(encoding="utf-8").partition("## A format of your own")[2]
    (row,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert len(row.splitlines()) <= 10
    return dict(yaml.safe_load(row))


def test_the_documented_row_recognises_and_reads_an_export(tmp_path: Path) -> None:
    steps = [
        {"step": 1, "does": "retriever", "at": 1, "found": [{"id": "d", "text": "Emma is hers."}]},
        {"step": 2, "does": "llm", "at": 2, "found": "Austen."},
    ]
    ticket = {
        "ticket": 7, "opened": "2026-01-01T00:00:00Z", "customer": {"said": "Who wrote Emma?"},
        "reply": "Austen.", "steps": steps,
    }  # fmt: skip
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(ticket))
    (helpdesk,) = exports.formats_of(documented_row())
    assert helpdesk.sniff(head(path)) == SURE
    (sample,) = helpdesk.read(path, Mapper(path, notes=Notes()))
    assert (sample.id, sample.query, sample.answer_text) == ("7", "Who wrote Emma?", "Austen.")
    assert [(one.id, one.text) for one in sample.passages or ()] == [("d", "Emma is hers.")]
    assert sample.timestamp == 1767225600.0


def test_every_row_is_a_format_and_names_functions_that_there_are() -> None:
    table = exports.packages.table("ragassay.formats", "exports.yaml")
    assert table.keys() <= all_formats().keys()
    shapes = [shape for row in table.values() for shape in row.get("shapes", ())]
    named = {one.get("prepare") for shape in shapes for one in (shape, shape.get("request", {}))}
    named |= {row.get(part) for row in table.values() for part in ("items", "record", "samples")}
    assert named - {None} <= exports.FUNCTIONS.keys()


@pytest.mark.parametrize("more", [{"observations": ["o1"]}, {"observationCount": "1"}])
def test_traces_and_their_observations_may_be_two_files(tmp_path: Path, more: Any) -> None:
    trace = {"id": "t", "sessionId": "s", "input": "Who?", "output": "I.", **more}
    step = {"id": "o1", "traceId": "t", "type": "RETRIEVER", "name": "search"}
    trace["timestamp"], step["startTime"] = "2026-02-01", "2026-01-01"  # by two clocks
    traces, steps = tmp_path / "traces.json", tmp_path / "observations.json"
    traces.write_text(json.dumps([trace]))
    steps.write_text(json.dumps([{**step, "output": [{"page_content": "It is I."}]}]))
    found = ["It is I."]
    (tmp_path / ".DS_Store").write_bytes(b"\0")
    both: Any = [traces, steps]
    for files, texts in ((both, found), (both[::-1], found), (tmp_path, found), (traces, [])):
        notes = Notes()
        (sample,) = load(files, notes=notes)
        assert (sample.id, sample.query, sample.answer_text) == ("t", "Who?", "I.")
        assert [passage.text for passage in sample.passages or ()] == texts
        assert any("without their steps: 1" in note for note in notes) is (files == traces)
        assert not any("that are not there" in note for note in notes)
    traces.write_text(json.dumps([{**trace, "output": {"answer": "I.", "context": found}}]))
    load(traces, notes=(notes := Notes()))
    assert not list(notes), "its passages are there"
    (tmp_path / "scores").mkdir()
    scores = [{"id": "s", "traceId": key, "name": "liked", "value": 0, "dataType": "BOOLEAN"}
              for key in ("t", "other")]  # fmt: skip
    (tmp_path / "scores" / "1.json").write_text(json.dumps(scores))
    (sample,) = load(tmp_path, notes=(notes := Notes()))
    assert sample.metadata["score.liked"] == 0
    assert any("have scores and are not there: 1" in note for note in notes)
    with pytest.raises(InputError, match="holds scores alone"):
        load(tmp_path / "scores" / "1.json")
    said = r"'o1' .* already given in line 1 of .*observations\.json"
    with pytest.raises(InputError, match=said):
        load([traces, steps, steps])
    others = [{**step, "traceId": f"other {at}", "id": f"{at}"} for at in (0, 1)]
    steps.write_text(json.dumps(others))
    load([traces, steps], notes=(notes := Notes()))
    assert any("beside steps of 2 traces that are not there: 1" in note for note in notes)


@pytest.mark.parametrize(("around", "said"), [
    ([{"meta": {"page": 2, "limit": 1, "totalItems": 3, "totalPages": 3}}], "(of 3): 1"),
    ([{"meta": {"page": page, "totalPages": 2}} for page in (1, 2)], None),
    ([{"meta": {"page": 1, "totalPages": 2}}] * 2, "(of 2): 1"),  # of two lists
    ([{"cursors": {"next": "x", "prev": None}, "parsed_query": "q"}], "(of several): 1"),
    ([{"cursors": {"next": "x"}}, {"cursors": {"next": None}}], None),
    ([{"next_cursor": "x"}, {"next_cursor": "y"}], "(of several): 2"),
    ([{"hasMore": True}], "(of several): 1"), ([{"hasMore": False}], None),
])  # fmt: skip
def test_pages_of_an_export_that_are_missing_are_told(tmp_path, around, said) -> None:
    for at, beside in enumerate(around):
        run = {"id": f"r{at}", "run_type": "chain", "inputs": {"question": "Who?"}}
        (tmp_path / f"{at}.json").write_text(json.dumps({"data": [run], **beside}))
    notes = Notes()
    assert len(load(tmp_path / "*.json", notes=notes)) == len(around)
    told = [note for note in notes if note.startswith("pages read")]
    assert len(told) == (said is not None) and (said or "") in "".join(told)
    assert said is None or not any("around a list" in note for note in notes)
