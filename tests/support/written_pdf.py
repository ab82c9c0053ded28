"""A PDF file with lines of text, made by hand: pypdf writes no text."""

from collections.abc import Sequence
from pathlib import Path


def pdf(path: Path, *pages: Sequence[str], password: str = "") -> None:
    """Writes the file.

    Args:
        path: of the file.
        pages: the lines of each page, in Latin-1.
        password: that it is encrypted with.
    """
    from pypdf import PdfReader, PdfWriter

    places = [4 + 2 * number for number in range(len(pages))]
    kids = " ".join(f"{place} 0 R" for place in places)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for place, lines in zip(places, pages, strict=True):
        shown = " T* ".join(f"({line}) Tj" for line in lines).encode("cp1252")
        stream = b"BT /F1 12 Tf 14 TL 72 720 Td %s ET" % shown
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (place + 1),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        ]
    body, offsets = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size, begin = len(objects) + 1, len(body)
    body += b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\n" % (
        size, table, size,
    )  # fmt: skip
    path.write_bytes(body + b"startxref\n%d\n%%%%EOF\n" % begin)
    if password:
        writer = PdfWriter(clone_from=PdfReader(path))
        writer.encrypt(password)
        writer.write(path)
