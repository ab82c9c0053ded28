"""Documents of each kind have one canonical text; what cannot be read is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.golden import load_documents


def pdf(path: Path, *, password: str = "") -> None:
    """A page with a line of text, made by hand: pypdf writes no text."""
    from pypdf import PdfReader, PdfWriter

    stream = b"BT /F1 12 Tf 72 720 Td (The pool opens at nine.) Tj ET"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    body, offsets = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    body += b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\n" % (
        size, table, size,
    )  # fmt: skip
    path.write_bytes(body + b"startxref\n%d\n%%%%EOF\n" % body.index(b"xref\n"))
    if password:
        writer = PdfWriter(clone_from=PdfReader(path))
        writer.encrypt(password)
        writer.write(path)


def test_each_kind_is_read(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx", reason="needs the extra 'docs'")
    pytest.importorskip("selectolax", reason="needs the extra 'docs'")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.md").write_bytes("\ufeff# Title\r\n\r\nThe pool.".encode())
    (tmp_path / "b.html").write_text(
        "<html><head><style>p{}</style></head><body><p>The <b>pool</b> opens.</p>"
        "<script>alert(1)</script><p>Bring a towel.</p></body></html>"
    )
    pdf(tmp_path / "c.pdf")
    made = docx.Document()
    made.add_paragraph("The pool opens at nine.")
    table = made.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "Monday", "closed"
    made.save(str(tmp_path / "d.docx"))
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    found = load_documents(tmp_path)
    assert list(found) == ["b", "c", "d", "deep/a"]
    assert found["deep/a"].text == "# Title\n\nThe pool."
    assert found["b"].text.split() == ["The", "pool", "opens.", "Bring", "a", "towel."]
    assert found["c"].text.strip() == "The pool opens at nine."
    assert found["d"].text == "The pool opens at nine.\nMonday\tclosed"
    assert found["c"].loader.startswith("pypdf ")


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.md", b"", "a.md: holds no text"),
        ("a.md", b"\x00\x01 text", "holds zero bytes: it is binary"),
        ("a.txt", b"caf\xe9", "is not text in UTF-8 (byte 3)"),
        ("a.pdf", b"no pdf", "a.pdf: cannot be read"),
        ("a.docx", b"no docx", "a.docx: cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told(
    name: str, content: bytes, complaint: str, tmp_path: Path
) -> None:
    pytest.importorskip("docx", reason="needs the extra 'docs'")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        load_documents(tmp_path)
    assert complaint in str(error.value)


def test_an_encrypted_document_is_told(tmp_path: Path) -> None:
    pytest.importorskip("pypdf", reason="needs the extra 'docs'")
    pdf(tmp_path / "a.pdf", password="secret")
    with pytest.raises(InputError, match=r"is encrypted\. Save it without a password"):
        load_documents(tmp_path)


def test_the_same_text_twice_is_refused(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("The same.")
    with pytest.raises(InputError, match=r"b.md: holds the same text as a.md"):
        load_documents(tmp_path)
    (tmp_path / "b.md").unlink()
    (tmp_path / "a.txt").write_text("Another text.")
    with pytest.raises(InputError, match=r"a.txt: has the same name as a.md"):
        load_documents(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no document"):
        load_documents(tmp_path / "empty")
