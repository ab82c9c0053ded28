"""Chunks of any system are found in the documents."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from ragassay.base.sample import Passage
from ragassay.golden.documents import Document, load_documents
from ragassay.golden.text_finding import ChunkAligner


@pytest.fixture(scope="module")
def aligner(documents: dict[str, Document]) -> ChunkAligner:
    return ChunkAligner(documents)


@given(data=st.data())
def test_any_piece_is_found_whatever_its_whitespace(
    documents: dict[str, Document], aligner: ChunkAligner, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(documents)))
    text = documents[name].text
    start = data.draw(st.integers(0, len(text) - 200))
    end = data.draw(st.integers(start + 60, min(len(text), start + 700)))
    piece = text[start:end].strip()
    start = text.index(piece, start)
    changed = data.draw(st.sampled_from([" ", "\n", "\n\n  ", "\t"])).join(piece.split())
    found = aligner.passage(Passage(changed))
    assert found.document is not None and found.start is not None
    stands = documents[found.document].text[found.start : found.end]
    assert stands.split() == piece.split()


def test_a_changed_chunk_is_found_by_what_it_kept(documents: dict[str, Document]) -> None:
    text = documents["library"].text
    start = text.index("Adults may have")
    piece = text[start : start + 300].replace("twelve", "a dozen").replace("*", "")
    aligner = ChunkAligner(documents)
    found = aligner.passage(Passage(piece))
    assert found.document == "library"
    assert found.start is not None and abs(found.start - start) < 20
    assert aligner.counts["changed"] == 1


def test_what_the_documents_lack_is_counted_and_keeps_no_offsets(
    documents: dict[str, Document],
) -> None:
    aligner = ChunkAligner(documents)
    invented = "Quartz clocks were repaired by the seven keepers of the northern lighthouse."
    found = aligner.passage(Passage(invented, document="library", start=3, end=9))
    assert (found.start, found.end) == (None, None)
    assert aligner.counts["not_found"] == 1


def test_offsets_that_count_in_older_documents_are_found_anew() -> None:
    text = "Old words stand here, and they say what is right about the pool."
    aligner = ChunkAligner({"d": Document("d", "d.md", f"A new line.\n{text}", "", "")})
    found = aligner.passage(Passage(text, document="d", start=0, end=len(text)))
    assert (found.start, found.end) == (12, 12 + len(text))


def test_a_text_at_several_places_is_counted(tmp_path: Path) -> None:
    same = "Ask for the key at the desk downstairs."
    for name in ("east", "west"):
        (tmp_path / f"{name}.md").write_text(f"The {name} wing.\n\n{same}\n\nTwice? {name}.\n")
    documents = load_documents(tmp_path)
    for passage, repeated in (
        (Passage(same), 1),
        (Passage(same, document="west"), 0),
        (Passage("Twice?"), 1),
        (Passage("The west wing."), 0),
        (Passage(f"The west wing. {same}"), 0),
    ):
        aligner = ChunkAligner(documents)
        assert aligner.passage(passage).start is not None
        assert aligner.counts["repeated"] == repeated, passage
        aligner.passage(passage)  # known by now
        assert aligner.counts["repeated"] == 2 * repeated
