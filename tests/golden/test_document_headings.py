"""Every kind of document has sections: its headings, with their places in the canonical text."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from ragassay.golden.documents import READERS, Document, load_documents
from ragassay.synthesis.sections import sections_of
from written_pdf import pdf

pytest.importorskip("docx", reason="needs the extra 'docs'")
pytest.importorskip("pypdf", reason="needs the extra 'docs'")
pytest.importorskip("selectolax", reason="needs the extra 'docs'")


def only(folder: Path) -> Document:
    (document,) = load_documents(folder).values()
    for one in document.headings:
        written = document.text[one.start : one.end]
        assert not written or one.title.casefold() in " ".join(written.split()).casefold()
    return document


def told(document: Document) -> list[tuple[str, int]]:
    return [(one.title, one.level) for one in document.headings]


def sections(document: Document) -> list[tuple[str, str, str]]:
    return [(one.title, one.heading, one.text) for one in sections_of(document)]


def test_headings_of_html(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        "<title>Town: pool</title><body>Welcome.<h1>The\n <em>pool</em></h1><p>It is warm."
        "<h2>Fees<br>and cards</h2>One euro.<h2><img src=x></h2><h3> </h3>More."
        "<div><h3><div>Children</div></h3><p>Free.</div>"
    )
    document = only(tmp_path)
    assert document.text == (
        "Welcome.\nThe pool\nIt is warm.\nFees\nand cards\nOne euro.\nMore.\nChildren\nFree."
    )
    assert told(document) == [("The pool", 1), ("Fees and cards", 2), ("Children", 3)]
    assert sections(document) == [("The pool", "", "Welcome."), ("The pool", "", "It is warm."),
                                  ("The pool", "Fees and cards", "One euro.\nMore."),
                                  ("The pool", "Children", "Free.")]  # fmt: skip
    # Without a first heading it is called by its title.
    (tmp_path / "a.html").write_text("<title>Town\n pool</title><h2>Fees</h2>One euro.")
    document = only(tmp_path)
    assert told(document) == [("Town pool", 0), ("Fees", 2)]
    assert sections(document) == [("Town pool", "Fees", "One euro.")]
    (tmp_path / "a.html").write_text("<h2>Fees</h2>One euro.")  # which is none of the whole
    assert sections(only(tmp_path)) == [("a", "Fees", "One euro.")]


def test_headings_of_word(tmp_path: Path) -> None:
    import docx
    from docx.enum.style import WD_STYLE_TYPE

    made = docx.Document()
    made.add_heading("The pool", 0)
    made.add_heading("Fees\nand cards", 1)
    made.add_paragraph("One euro.\nTwo.")
    own = made.styles.add_style("Our own", WD_STYLE_TYPE.PARAGRAPH)
    own.base_style = made.styles["Heading 2"]
    made.add_paragraph("Children", style="Our own")
    made.add_table(rows=1, cols=1).rows[0].cells[0].text = "free"
    made.add_heading("", 1)
    made.save(str(tmp_path / "a.docx"))
    document = only(tmp_path)
    assert told(document) == [("The pool", 0), ("Fees and cards", 1), ("Children", 2)]  # fmt: skip
    assert [one[1:] for one in sections(document)] == [("Fees and cards", "One euro.\nTwo."),
                                                       ("Children", "free")]  # fmt: skip
    assert {one[0] for one in sections(document)} == {"The pool"}


def test_pages_are_the_sections_of_a_pdf(tmp_path: Path) -> None:
    pdf(tmp_path / "a.pdf", ["The pool opens at"], ["nine o'clock."], ["The sauna is warm."])
    document = only(tmp_path)
    assert [document.text[start:end].strip() for _, start, end in document.parts()] == [
        "", "The pool opens at", "nine o'clock.", "The sauna is warm.",
    ]  # fmt: skip
    assert told(document) == [("page 1", 1), ("page 2", 1), ("page 3", 1)]
    (one,) = sections(document)
    assert one == ("a", "", document.text), "a sentence goes on from page to page"


def test_markdown_has_no_headings_in_code_and_several_first_headings_are_sections(tmp_path) -> None:
    (tmp_path / "a.md").write_text(
        "---\ntitle: Pool\n# a comment\n---\n# Pool\nWarm.\n\n```sh\n# a comment\nrm x\n```\n"
        "## Fees ##\nOne.\n# Sauna\nHot.\n~~~\n# b"
    )
    document = only(tmp_path)
    assert told(document) == [("Pool", 1), ("Fees", 2), ("Sauna", 1)]
    assert [one[:2] for one in sections(document)] == [
        ("a", ""), ("a", "Pool"), ("a", "Fees"), ("a", "Sauna"),
    ]  # fmt: skip


LINES = st.lists(st.sampled_from(["# A", "## B b ##", "text", "```", "~~~~", "", "#no", "#\tC"]))


@given(LINES)
def test_parts_of_markdown_and_headings_are_the_whole_text(lines: list[str]) -> None:
    text, headings = READERS[".md"].read("\n".join(lines).encode())
    document = Document("a", "a.md", text, "", "", tuple(headings))
    pieces, at = [], 0
    for heading, start, end in document.parts():
        pieces.append(text[at:start] if heading is None else text[heading.start : start])
        pieces.append(text[start:end])
        at = end
    assert "".join(pieces) == text
    for one in headings:
        assert text[one.start : one.end].lstrip("#").strip(" \t#") == one.title
