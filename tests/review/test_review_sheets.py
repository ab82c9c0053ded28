"""Sheets: written, filled in by others, read back; the page as a program."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from filled_sheets import filled, read, write
from ragassay.base.errors import InputError
from ragassay.cli.command_line import call
from ragassay.golden.golden_folder import GoldenSet
from ragassay.golden.golden_item import GoldenItem, NegativeReference
from ragassay.review.review_sheets import read_sheet, write_sheet
from ragassay.review.review_store import ReviewStore
from reviewed_set import TEXT, item_of, small, version

character = st.characters(exclude_categories=("Cs", "Cc"),
                          include_characters="\n=+-@'\t|[]\"\\:;,_x")  # fmt: skip
pieces = st.sampled_from(["_x0041_", "inaccurate: ", "(none)", "\n", '["a"]', "="])
cell = st.lists(character | pieces, min_size=1, max_size=20).map("".join)


def test_a_sheet_is_written_filled_in_and_taken_once(tmp_path: Path) -> None:
    store, path = small(tmp_path / "g"), tmp_path / "sheet.xlsx"
    assert write_sheet(store, path) == 3
    closes = TEXT.index("It closes")
    filled(
        path,
        i0={"decision": "accept"},
        i1={"decision": "Accept", "query": "When does it close?", "references": "six\nat six",
            "negative_references": "inaccurate: nine\nten", "tags": "hours, short\nby day; a, b",
            "gold": f"library {closes}-{closes + 17} grade 2", "answerability": " answerable ",
            "type": "factual", "complexity": "direct", "style": "terse", "language": "en"},
    )  # fmt: skip
    write(path, [*(rows := read(path))[:2], [], *rows[2:]])  # an empty row is none
    assert read_sheet(store, path, "ann") == (2, [])
    item = item_of(store, "i1")
    assert (item.status, item.reviewer, item.query) == ("accepted", "ann", "When does it close?")
    assert item.references == ["six", "at six"] and item.tags == [
        "hours", "short", "by day", "a, b",
    ]  # fmt: skip
    assert [(one.text, one.kind, one.by) for one in item.negative_references] == [
        ("nine", "inaccurate", "ann"),
        ("ten", None, "eve"),
    ]
    assert [(one.text, one.grade) for one in item.gold or ()] == [("It closes at six.", 2)]
    words = (item.type, item.complexity, item.style, item.language)
    assert words == ("factual", "direct", "terse", "en")
    assert item_of(store, "i0").status == "accepted" and item_of(store, "i2").status == "draft"
    assert read_sheet(store, path, "ann") == (0, [])
    assert write_sheet(store, path, overwrite=True) == 1


def test_wrong_values_and_conflicts_are_named_by_row_and_the_rest_is_taken(tmp_path: Path) -> None:
    store, path = small(tmp_path / "g", 10), tmp_path / "sheet.xlsx"
    write_sheet(store, path)
    filled(path, i0={"decision": "maybe"}, i1={"decision": "accept", "gold": "somewhere"},
           i2={"decision": "accept", "answerability": "perhaps"}, i3={"query": "Other?"},
           i4={"decision": "accept"}, i5={"decision": "accept", "gold": "library 5-900"},
           i6={"decision": "reject"}, i7={"decision": "reject"},
           i8={"decision": "accept", "tags": "[1]"})  # fmt: skip
    store.review("i4", "bob", "reject", version(store, "i4"))
    # A row that decides nothing says nothing of an item that others changed.
    store.review("i9", "bob", "accept", version(store, "i9"), fields={"query": "When?"})
    GoldenSet(store.folder, [one for one in store.golden().items if one.id != "i7"]).save()
    assert call(["golden", "review", str(tmp_path / "g"), "--read", str(path), "--reviewer", "ann"])
    assert item_of(store, "i6").status == "rejected"
    store.review("i6", "bob", "accept", version(store, "i6"))
    taken, troubles = read_sheet(store, path, "ann")
    assert taken == 0 and item_of(store, "i6").status == "accepted"
    wanted = ["row 2, column decision: 'maybe' is not a decision",
              "row 3, column gold: 'somewhere' is not a span", "row 4, column answerability: ",
              "row 5, column decision: the row changes query, and decides nothing",
              "row 6: i4: the item was changed by bob", "row 7, column gold: library has",
              "row 8: i6: the item was changed by bob",
              "row 9, column id: there is no item 'i7' in the set",
              "row 10, column tags: is a list of other things than the column holds"]  # fmt: skip
    assert len(troubles) == len(wanted)
    assert all(one.startswith(start) for one, start in zip(troubles, wanted, strict=True))


def test_a_sheet_is_read_again_after_others_decided_alike(tmp_path: Path) -> None:
    store, path = small(tmp_path / "g"), tmp_path / "sheet.xlsx"
    store.change_settings(overlap=1.0, people=2)
    write_sheet(store, path)
    filled(path, i0={"decision": "accept", "type": "factual"}, i1={"decision": "reject"})
    assert [read_sheet(store, path, "ann") for _ in range(2)] == [(2, []), (0, [])]
    assert read_sheet(store, path, "bob") == (2, [])
    assert [item_of(store, one).status for one in ("i0", "i1")] == ["accepted", "rejected"]
    filled(path, i2={"decision": "accept"})
    assert read_sheet(store, path, "ann") == (1, [])
    filled(path, i0={"decision": "reject"})
    n, wrong = read_sheet(store, path, "ann")
    assert n == 0 and "row 2: i0: the item was changed by bob in the meantime" in " ".join(wrong)


def test_a_text_that_looks_like_a_formula_is_written_as_text(tmp_path: Path) -> None:
    store, query = small(tmp_path / "g"), "=1+1|cmd"
    store.review("i0", "x", "accept", version(store, "i0"), fields={"query": query})
    store.undo("x")
    store = ReviewStore(tmp_path / "g")
    item = item_of(store, "i0")
    item.query = query
    GoldenSet(store.folder, [item]).save()
    path = tmp_path / "sheet.xlsx"
    write_sheet(store, path)
    assert read(path)[1][3] == query
    GoldenSet(store.folder, [item.model_copy(update={"query": "A bell: \a"})]).save()
    with pytest.raises(InputError, match="'i0' holds characters that no workbook holds"):
        write_sheet(store, tmp_path / "bell.xlsx")
    GoldenSet(store.folder, [item]).save()
    filled(path, i0={"decision": "accept"})  # the test's own writer makes a formula of it
    taken, (trouble,) = read_sheet(store, path, "ann")
    assert taken == 0 and trouble == "row 2, column query: holds a formula. Write the text itself."


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    query=cell,
    references=st.lists(cell.filter(str.strip), max_size=3),
    wrong=st.lists(st.tuples(cell.filter(str.strip), st.sampled_from([None, "off-style"]))),
    tags=st.lists(cell.map(str.strip).filter(bool), max_size=2, unique=True),
)
@example(query="=", references=["[1]", "a\nb"], wrong=[('["a"]', None)], tags=['["a"]', "a, b"])
def test_what_nobody_touched_comes_back_as_it_was(
    tmp_path_factory, query, references, wrong, tags
) -> None:
    folder = tmp_path_factory.mktemp("sheet")
    store = small(folder / "g", 1)
    item = item_of(store, "i0")
    made = GoldenItem.model_validate({**item.model_dump(), "query": query, "tags": tags})
    made.references = references
    made.negative_references = [NegativeReference(text=one, kind=kind) for one, kind in wrong]
    GoldenSet(store.folder, [made]).save()
    path = folder / "sheet.xlsx"
    write_sheet(store, path)
    # A row that differs from its item and decides nothing would be told.
    assert read_sheet(store, path, "ann") == (0, [])


def test_a_file_that_is_no_sheet_is_said(tmp_path: Path) -> None:
    store = small(tmp_path / "g")
    write(tmp_path / "b.xlsx", [["id", "query"], ["1", "x"]])
    with pytest.raises(InputError, match="has no column decision, version"):
        read_sheet(store, tmp_path / "b.xlsx", "ann")
    (tmp_path / "a.xlsx").write_bytes(b"no workbook")
    with pytest.raises(InputError, match="not a readable XLSX file"):
        read_sheet(store, tmp_path / "a.xlsx", "ann")
    words, before = ["golden", "review", str(tmp_path / "g")], store.settings()
    for more in ([], ["--reviewer", "a", "--where", "id=1"]):
        assert call([*words, "--overlap", "0.5", "--read", "a.xlsx", *more]) == 2
    assert call([*words, "--xlsx", "a.txt"]) == 2 and store.settings() == before
    path = tmp_path / "sheet.xlsx"  # one that is there is not written over
    command = [*words, "--xlsx", str(path)]
    assert call(command) == 0
    filled(path, i0={"decision": "accept"})
    filled_in = path.read_bytes()
    assert call(command) == 2 and path.read_bytes() == filled_in
    assert call([*command, "--overwrite", "--where", "query=When does it open? 1"]) == 0
    assert [cells[0] for cells in read(path)[1:]] == ["i1"]


def test_a_sheet_shows_what_almost_answers_an_unanswerable_query(tmp_path: Path) -> None:
    store = small(tmp_path / "g", 1)
    near = {"document": "library", "start": 0, "end": 26, "text": TEXT[:26]}
    lost = [{"document": "gone", "reason": "none"}, {"document": "gone", "text": "Old."}]
    item = item_of(store, "i0").model_copy(
        update={"gold": [], "provenance": {"nearly": {"spans": [near]}, "unplaced": lost}}
    )
    GoldenSet(store.folder, [item]).save()
    write_sheet(ReviewStore(store.folder), tmp_path / "s.xlsx")
    head, row = read(tmp_path / "s.xlsx")
    cells = dict(zip(head, row, strict=True))
    assert (cells["gold"], cells["gold_text"], cells["nearly"]) == ("(none)", "", TEXT[:26])
    assert cells["unplaced"] == "gone\nOld."


def test_a_document_that_cannot_be_read_is_told_in_the_column_of_gold(tmp_path: Path) -> None:
    store, path = small(tmp_path / "g"), tmp_path / "s.xlsx"
    for name in ("scan.md", "blank.md"):
        (store.folder / "documents" / name).write_text("  ", encoding="utf-8")
    write_sheet(store, path)
    filled(path, i0={"decision": "accept", "gold": "library 0-12"})
    taken, [trouble] = read_sheet(store, path, "ann")
    assert taken == 0 and trouble.startswith("row 2, column gold: 2 documents cannot be taken.")
    assert trouble.rstrip().endswith(".") and ".." not in trouble.replace("...", "")
    # Those that the set left out do not matter.
    left_out = {"scan.md": "holds no text", "blank.md": "holds no text"}
    made = GoldenSet(store.folder, GoldenSet.open(store.folder).items, None, left_out)
    made.save_manifest(made.documents())
    assert read_sheet(ReviewStore(store.folder), path, "ann") == (1, [])


@pytest.mark.parametrize("answerability", ["answerable", "partial", ""])
def test_an_answerable_item_without_references_is_not_accepted(tmp_path, answerability) -> None:
    store, path = small(tmp_path / "g", 4), tmp_path / "s.xlsx"
    items = store.golden().items
    items[3].references = []  # as it was before anybody saw it
    GoldenSet(store.folder, items).save()
    write_sheet(store, path)
    emptied = {"references": "", "answerability": answerability}
    filled(path, i0={"decision": "accept"} | emptied, i1={"decision": "accept", "references": "",
                                                          "answerability": "unanswerable"},
           i2={"decision": "reject"} | emptied, i3={"decision": "accept"})  # fmt: skip
    taken, [trouble] = read_sheet(store, path, "ann")
    assert taken == 3 and trouble.startswith("row 2, column references: the cell is empty, and ")
    assert item_of(store, "i0").status == "draft"


def test_the_program_serves_the_page_until_it_is_interrupted(tmp_path: Path) -> None:
    pytest.importorskip("fastapi", reason="needs the extra 'service'")
    import httpx2

    folder = small(tmp_path / "g").folder
    words = ["golden", "review", str(folder), "--reviewer", "ann", "--port", "0"]
    program = subprocess.Popen([sys.executable, "-m", "ragassay", *words], stdout=subprocess.PIPE,
                               text=True)  # fmt: skip
    try:
        assert program.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", program.stdout.readline())
        assert found is not None and 'value="ann"' in httpx2.get(found[0]).text
    finally:
        program.send_signal(signal.SIGINT)
        assert program.wait(30) in (0, 130)


def test_settings_are_kept_for_the_next_reviewer_and_wrong_ones_are_said(tmp_path, capsys) -> None:
    store, known = small(tmp_path / "g"), small(tmp_path / "known")
    review = ["golden", "review", str(store.folder), "--xlsx", str(tmp_path / "s.xlsx")]
    review.append("--overwrite")
    assert call([*review, "--overlap", "0.5", "--people", "3"]) == 0
    assert (store.settings().overlap, store.settings().people) == (0.5, 3)
    assert call([*review, "--people", "1"]) == 2 and "--people" in capsys.readouterr().err
    assert call([*review, "--calibration", str(known.folder)]) == 2
    assert "no known answers" in capsys.readouterr().err and store.settings().calibration is None
    known.review("i0", "ann", "reject", version(known, "i0"))
    assert call([*review, "--calibration", str(known.folder)]) == 0, "it is known to be wrong"
    assert store.settings().calibration == "../known"
    (store.folder / "review.json").write_text('{"people": 1}')
    assert call(review) == 2 and "review.json, field 'people'" in capsys.readouterr().err
