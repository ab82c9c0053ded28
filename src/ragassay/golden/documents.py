"""Documents of a golden set: one canonical text each, in which offsets count characters."""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ragassay.errors import InputError, UsageError

MOST_BYTES = 200 * 1024**2
"""Bytes of a file that is read as a document."""


@dataclass(frozen=True)
class Document:
    """A document.

    Attributes:
        id: its path below the folder, without the suffix.
        path: of its file, relative to the folder.
        text: the canonical text.
        sha256: of the file's bytes.
        loader: what made the text, and its version, such as ``pypdf 7.1.0``.
    """

    id: str
    path: str
    text: str
    sha256: str
    loader: str


def load_documents(folder: Path) -> dict[str, Document]:
    """The documents of a folder and of the folders within, by id.

    Args:
        folder: with text, Markdown, HTML, PDF and DOCX files; others are left alone.

    Raises:
        InputError: no document, or one that cannot be read, is empty, encrypted or enormous, or
            two of the same text or id.
        UsageError: a package for this kind of file is missing.
    """
    if not folder.is_dir():
        raise InputError("is not a folder of documents", path=folder)
    found: dict[str, Document] = {}
    texts: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.suffix.casefold() not in _LOADERS:
            continue
        document = load(path, folder)
        if document.id in found:
            raise InputError(
                f"has the same name as {found[document.id].path} but for its end",
                path=path,
                hint="Rename one of them: a document is named without its suffix.",
            )
        if document.text in texts:
            raise InputError(
                f"holds the same text as {texts[document.text]}", path=path, hint="Keep one."
            )
        found[document.id] = document
        texts[document.text] = document.path
    if not found:
        raise InputError(
            "holds no document", path=folder, hint=f"There are: {', '.join(_LOADERS)}."
        )
    return found


def load(path: Path, folder: Path) -> Document:
    """One document.

    Args:
        path: of its file.
        folder: that its id starts from.

    Raises:
        InputError: it cannot be read, or holds no text.
        UsageError: a package for this kind of file is missing.
    """
    if path.stat().st_size > MOST_BYTES:
        raise InputError(f"is larger than {MOST_BYTES >> 20} MB", path=path, hint="Split it.")
    content = path.read_bytes()
    package, read = _LOADERS[path.suffix.casefold()]
    try:
        text = read(content)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{path} needs the package {package}: pip install 'ragassay[docs]'."
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(f"is not text in UTF-8 (byte {error.start})", path=path) from error
    except InputError as error:
        raise error.at(path=path) from error
    except Exception as error:  # the libraries raise many
        raise InputError(f"cannot be read ({error or type(error).__name__})", path=path) from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise InputError("holds zero bytes: it is binary", path=path)
    if not text.strip():
        raise InputError("holds no text", path=path, hint="A scanned page needs OCR first.")
    relative = path.relative_to(folder)
    version = f"{package} {importlib.metadata.version(package)}" if package else "utf-8"
    return Document(
        relative.with_suffix("").as_posix(),
        relative.as_posix(),
        text,
        hashlib.sha256(content).hexdigest(),
        version,
    )


def _plain(content: bytes) -> str:
    return content.decode("utf-8-sig")


def _html(content: bytes) -> str:
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(content)
    tree.strip_tags(["script", "style", "template", "noscript"])
    root = tree.body or tree.root
    text = root.text(separator="\n", strip=True) if root is not None else ""
    return "\n".join(line for line in text.split("\n") if line.strip())


def _pdf(content: bytes) -> str:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise InputError("is encrypted", hint="Save it without a password.")
    return "\n\n".join(page.extract_text() for page in reader.pages)


def _docx(content: bytes) -> str:
    import docx

    document = docx.Document(io.BytesIO(content))
    lines = []
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            lines += ["\t".join(cell.text for cell in row.cells) for row in block.rows]
        else:
            lines.append(block.text)
    return "\n".join(lines)


_LOADERS: Mapping[str, tuple[str, Callable[[bytes], str]]] = {
    ".txt": ("", _plain),
    ".md": ("", _plain),
    ".markdown": ("", _plain),
    ".html": ("selectolax", _html),
    ".htm": ("selectolax", _html),
    ".pdf": ("pypdf", _pdf),
    ".docx": ("python-docx", _docx),
}
"""For each suffix the package that reads it, and how."""
