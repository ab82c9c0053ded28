"""Documents of each kind have one canonical text; what cannot be read is told."""

import hashlib
import json
import re
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from ragassay.base.errors import InputError, UsageError
from ragassay.cli.command_line import call
from ragassay.golden.documents import load_documents, one_error, readable_documents
from ragassay.golden.golden_folder import GoldenSet
from written_pdf import pdf


def test_each_kind_is_read(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx", reason="needs the extra 'docs'")
    pytest.importorskip("selectolax", reason="needs the extra 'docs'")
    (tmp_path / "deep").mkdir()
    name = "deep/a.markdown"
    (tmp_path / name).write_bytes("\ufeff# Title\r\n\r\nThe pool.\rA towel.".encode())
    (tmp_path / "b.HTM").write_text(
        "<html><head><style>p{}</style></head><body><p>The <b>pool</b> opens.</p>"
        "<script>alert(1)</script><noscript>Off</noscript><template>Off</template><p>Bring "
        "a towel.</p></body></html>"
    )
    pdf(tmp_path / "c.pdf", ["The pool opens at nine."])
    content = b"From a mail.\n" + (tmp_path / "c.pdf").read_bytes()
    (tmp_path / "c.pdf").write_bytes(content)
    made = docx.Document()
    made.add_paragraph("The pool opens at nine.")
    table = made.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "Monday", "closed"
    made.save(str(tmp_path / "d.docx"))
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    found = load_documents(tmp_path)
    assert list(found) == ["b", "c", "d", "deep/a"]
    assert found["deep/a"].text == "# Title\n\nThe pool.\nA towel."
    assert found["deep/a"].sha256 == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    assert found["b"].text.split() == ["The", "pool", "opens.", "Bring", "a", "towel."]
    assert found["c"].text.strip() == "The pool opens at nine."
    assert found["d"].text == "The pool opens at nine.\nMonday\tclosed"
    assert re.fullmatch(r"pypdf [\d.]+, reader 2", found["c"].loader)


@pytest.mark.parametrize(("name", "content", "complaint"), [
    ("a.md", b"", "a.md: holds no text"),
    ("a.md", b"\x00\x01 text", "holds zero bytes: it is binary. Documents are"),
    ("a.txt", b"\x00\x01\x80", "a.txt: is not text: it is binary. Documents are"),
    ("a.txt", b"\xff\xfea\x00", "is not text in UTF-8 (byte 0). Save it as UTF-8."),
    ("a.txt", b"caf\xe9", "is not text in UTF-8 (byte 3)"),
    ("a.pdf", b"no pdf", "a.pdf: is not a PDF file. Rename it"),
    ("a.pdf", b"%PDF-1.7 cut", "a.pdf: cannot be read"),
    ("a.docx", b"no docx", "a.docx: cannot be read")])  # fmt: skip
def test_what_cannot_be_read_is_told(name: str, content: bytes, complaint: str, tmp_path) -> None:
    pytest.importorskip("docx", reason="needs the extra 'docs'")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        load_documents(tmp_path)
    with pytest.raises(InputError, match="is not a folder of documents"):
        load_documents(tmp_path / name)
    assert complaint in str(error.value) and "OCR" not in str(error.value)
    assert error.value.path == tmp_path / name  # the error of the file itself


def test_an_encrypted_document_is_told_also_where_nothing_here_can_decrypt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pypdf = pytest.importorskip("pypdf", reason="needs the extra 'docs'")
    pdf(tmp_path / "a.pdf", ["The pool."], password="secret")
    with pytest.raises(InputError, match=r"is encrypted\. Save it without a password"):
        load_documents(tmp_path)
    pdf(tmp_path / "a.pdf", ["The pool."])
    writer = pypdf.PdfWriter(clone_from=tmp_path / "a.pdf")
    writer.encrypt("", "only printing needs it")
    writer.write(tmp_path / "a.pdf")
    assert load_documents(tmp_path)["a"].text == "The pool."
    pdf(tmp_path / "a.pdf", [""])
    with pytest.raises(InputError, match=r"a.pdf: holds no text. A scanned page needs OCR"):
        load_documents(tmp_path)
    refusal = pypdf.errors.DependencyError("cryptography>=3.1 is required for AES algorithm")
    monkeypatch.setattr(pypdf, "PdfReader", Mock(side_effect=refusal))
    with pytest.raises(InputError, match=r"is encrypted\. Save it without a password"):
        load_documents(tmp_path)


def test_markup_within_a_sentence_breaks_no_line(tmp_path: Path) -> None:
    pytest.importorskip("selectolax", reason="needs the extra 'docs'")
    (tmp_path / "a.html").write_text(
        "<h1>Bridge <em>toll</em></h1><p>The <b>toll</b> for a\n <a href='x'>small car</a> is "
        "<i>7</i>&nbsp;euros.</p><ul><li>Bikes: free</li><li>Trucks: <b>20</b></ul>One<br>two"
        "<table><tr><th>Day</th><td>Monday</td></tr></table><pre>x = 1\ny = 2</pre>"
    )
    assert load_documents(tmp_path)["a"].text.split("\n") == [
        "Bridge toll", "The toll for a small car is 7 euros.", "Bikes: free", "Trucks: 20", "One",
        "two", "Day Monday", "x = 1", "y = 2",
    ]  # fmt: skip


def test_what_cannot_be_read_is_left_out_where_that_is_wanted(here: Path, capsys) -> None:
    Path("docs").mkdir()
    Path("docs/shop.md").write_text("# Shop\n\n## Prices\n\nA new card costs 4 euros.\n")
    Path("docs/empty.md").write_bytes(b"")
    Path("q.jsonl").write_text('{"id": "a", "query": "Q?"}\n')
    commands = {"made": ["golden", "synthesize", "docs", "-o", "made", "--n", "1"],
                "taken": ["golden", "import", "q.jsonl", "--documents", "docs", "-o", "taken",
                          "--accept"]}  # fmt: skip
    for name, command in commands.items():
        assert call(command) == 2
        told = " ".join(capsys.readouterr().err.split())
        assert "docs/empty.md: holds no text." in told and "--skip-unreadable" in told
        assert not Path(name).exists()
    Path("docs/binary.txt").write_bytes(b"\xff\xfe")
    for name, command in commands.items():
        assert call(command) == 2
        assert "Fix them, move them out, or leave them out (--skip-unreadable):" in " ".join(
            capsys.readouterr().err.split()
        )
        assert call([*command, "--skip-unreadable"]) == 0
        told = " ".join(capsys.readouterr().err.split())
        assert "2 documents left out, because they cannot be taken: binary.txt is not text" in told
        manifest = json.loads((here / name / "documents.json").read_text())
        assert [one["path"] for one in manifest["left_out"]] == ["binary.txt", "empty.md"]
    # Commands that open the set leave them out, too, and a part of it does.
    assert call(["golden", "sample", "taken", "1", "-o", "part"]) == 0
    assert GoldenSet.open(Path("part")).left_out == GoldenSet.open(Path("taken")).left_out
    assert call(["golden", "anchor", "part"]) == 0
    assert len(GoldenSet.open(Path("part")).left_out) == 2
    capsys.readouterr()
    assert call(["golden", "check", "part", "--fail-on", "look"]) == 1
    assert "2 documents left out, because they cannot be read (binary.txt, empty.md)" in " ".join(
        capsys.readouterr().out.split()
    )


def test_documents_that_collide_are_told_at_once_and_left_out_where_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"a.md": "The same.", "b.md": "The same.", "b.txt": "Other.", "b2.md": "The same.",
             "c.md": "C.", "c.txt": "See."}  # fmt: skip
    with pytest.raises(InputError, match="holds no document"):
        load_documents(tmp_path)
    (tmp_path / "a.docx").write_bytes(b"x")
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "docx", None)
        told = r"a.docx needs the package .*: pip install 'ragassay\[docs\]'"
        with pytest.raises(UsageError, match=told):
            load_documents(tmp_path)
    (tmp_path / "a.docx").unlink()
    monkeypatch.setattr("ragassay.golden.documents.MOST_BYTES", 100)
    (tmp_path / "large.txt").write_bytes(b"long " * 100)
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match="5 documents cannot be taken") as error:
        readable_documents(tmp_path)
    assert "b.txt: has the same name as b.md but for its end" in str(error.value)
    assert "large.txt: is larger than 0 MB. Split it." in str(error.value)
    assert "--skip-unreadable" in str(error.value)
    assert "more" not in str(one_error([error.value] * 20, tmp_path, "faults"))
    assert str(one_error([error.value] * 21, tmp_path, "faults")).endswith("and 1 more.")
    (tmp_path / "large.txt").unlink()
    found, left_out = readable_documents(tmp_path, skip=True)
    assert [one.path for one in found.values()] == ["a.md", "b.txt", "c.md"]
    assert left_out.pop("c.txt") == "has the same name as c.md but for its end"
    assert left_out == dict.fromkeys(("b.md", "b2.md"), "holds the same text as a.md")
    for name in ("b.txt", "b2.md", "c.md", "c.txt"):
        (tmp_path / name).unlink()
    (tmp_path / "a.md").write_bytes(b"")
    (tmp_path / "b.md").write_bytes(b"")
    with pytest.raises(InputError, match=r"no document that can be read \(2 files cannot\)"):
        readable_documents(tmp_path, skip=True)
