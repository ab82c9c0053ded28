"""Documents of a golden set: one canonical text each, in which offsets count characters, and its
headings."""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import logging
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ragassay.base.errors import InputError, UsageError
from ragassay.base.printable import plural
from ragassay.base.sample import GoldPassage
from ragassay.golden.golden_item import GoldSpan
from ragassay.texts.document_names import DocumentNames

MOST_BYTES = 200 * 1024**2
"""Bytes of a file that is read as a document."""

MOST_TOLD = 20
"""Faults that an error lists one by one."""


class Heading(NamedTuple):
    """A heading of a document (level 1 is the highest, 0 the title of the whole), or where a page
    of a PDF file begins; with its characters in the text, none where the title is no part of it."""

    title: str
    level: int
    start: int
    end: int
    is_page: bool = False


@dataclass(frozen=True)
class Document:
    """A document: its id is its path below the folder without the suffix; ``loader`` is what made
    the text, and its version."""

    id: str
    path: str
    text: str
    sha256: str
    loader: str
    headings: tuple[Heading, ...] = ()

    @property
    def title(self) -> Heading | None:
        """The heading of the whole document: the only one of the highest level, 0 or 1."""
        titles = [heading for heading in self.headings if not heading.is_page]
        highest = min((title.level for title in titles), default=2)
        first = [title for title in titles if title.level == highest]
        return first[0] if highest <= 1 and len(first) == 1 else None

    def parts(self) -> Iterator[tuple[Heading | None, int, int]]:
        """The text between the headings: the heading above it (``None`` before the first), its
        start and its end. Parts may be empty."""
        begins = [(None, 0), *((pair, pair.end) for pair in self.headings)]
        ends = [*(pair.start for pair in self.headings), len(self.text)]
        for (heading, begin), end in zip(begins, ends, strict=True):
            yield heading, begin, end


def text_at(documents: Mapping[str, Document], place: GoldPassage | GoldSpan) -> str:
    """The text of the documents at the place of a passage or span; empty where there is none."""
    document = documents.get(place.document or "")
    if document is None or place.start is None or place.end is None:
        return ""
    return document.text[place.start : place.end]


def names_of(documents: Mapping[str, Document]) -> DocumentNames:
    """Finds the documents by what systems, files and people call them."""
    return DocumentNames({name: document.path for name, document in documents.items()})


COPY = "holds the same text as"
"""The problem of a document with the text of another one, whose path follows."""


def load_documents(folder: Path, without: Container[str] = ()) -> dict[str, Document]:
    """The documents of a folder and of the folders within, by id, without some files. One
    `InputError` names all that cannot be read, are empty, or have the text or id of another."""
    return _loaded(folder, without, "Fix them or move them out")[0]


def readable_documents(
    folder: Path, *, skip: bool = False
) -> tuple[dict[str, Document], dict[str, str]]:
    """The documents of a folder for a golden set that is made of them, by id; and why a file (by
    its path) is left out."""
    ways = "Fix them, move them out, or leave them out (--skip-unreadable)"
    documents, left_out = _loaded(folder, (), ways, skip=skip)
    return documents, {name: error.problem for name, error in left_out.items()}


def _loaded(
    folder: Path, without: Container[str], ways: str, *, skip: bool = False
) -> tuple[dict[str, Document], dict[str, InputError]]:
    """The documents; and by its path what cannot be read or collides with one before it."""
    if not folder.is_dir():
        raise InputError("is not a folder of documents", path=folder)
    documents: dict[str, Document] = {}
    texts: dict[str, str] = {}
    paths: dict[str, str] = {}
    wrong: dict[str, InputError] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name in without or not path.is_file() or path.suffix.casefold() not in READERS:
            continue
        try:
            document = load(path, folder)
        except InputError as error:
            wrong[name] = error
            continue
        if document.text in texts:
            wrong[name] = InputError(f"{COPY} {texts[document.text]}", path=path)
        elif document.id in paths:
            problem = f"has the same name as {paths[document.id]} but for its end"
            wrong[name] = InputError(problem, path=path, hint="Rename one of them.")
        else:
            documents[document.id] = document
        texts.setdefault(document.text, document.path)
        if not skip or name not in wrong:  # where nothing is left out, a copy may be what is kept
            paths.setdefault(document.id, document.path)
    if wrong and not skip:
        raise one_error([*wrong.values()], folder, f"documents cannot be taken. {ways}", ways)
    if not documents and wrong:
        files = plural(len(wrong), "file")
        raise InputError(f"holds no document that can be read ({files} cannot)", path=folder)
    if not documents:
        raise InputError("holds no document", path=folder, hint=f"There are: {', '.join(READERS)}.")
    return documents, wrong


def one_error(wrong: Sequence[InputError], path: Path, several: str, hint: str = "") -> InputError:
    """The only error, with a further hint; or one for several, of which the first are named."""
    if len(wrong) == 1:
        return wrong[0].but(hint=" ".join(filter(None, (wrong[0].hint, hint and f"{hint}."))))
    lines = "".join(f"\n  {error}" for error in wrong[:MOST_TOLD])
    more = f"\n  and {len(wrong) - MOST_TOLD} more" if len(wrong) > MOST_TOLD else ""
    return InputError(f"{len(wrong)} {several}:{lines}{more}", path=path)


def load(path: Path, folder: Path) -> Document:
    """One document."""
    if path.stat().st_size > MOST_BYTES:
        raise InputError(f"is larger than {MOST_BYTES >> 20} MB", path=path, hint="Split it.")
    content = path.read_bytes()
    reader = READERS[path.suffix.casefold()]
    try:
        text, headings = reader.read(content)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{path} needs the package {reader.package}: pip install 'ragassay[docs]'."
        ) from error
    except UnicodeDecodeError as error:
        # Zeros without a byte order mark: no text in any encoding.
        if b"\0" in content and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise InputError("is not text: it is binary", path=path, hint=_TAKES) from error
        raise InputError(
            f"is not text in UTF-8 (byte {error.start})", path=path, hint="Save it as UTF-8."
        ) from error
    except InputError as error:
        raise error.at(path=path) from error
    except Exception as error:  # the libraries raise many
        raise InputError(f"cannot be read ({error or type(error).__name__})", path=path) from error
    if "\0" in text:
        raise InputError("holds zero bytes: it is binary", path=path, hint=_TAKES)
    if not text.strip():
        scanned = "A scanned page needs OCR first." if reader is READERS[".pdf"] else None
        raise InputError("holds no text", path=path, hint=scanned)
    loader, relative = "utf-8", path.relative_to(folder)
    if reader.package:
        version = importlib.metadata.version(reader.package)
        loader = f"{reader.package} {version}, reader {reader.version}"
    return Document(
        relative.with_suffix("").as_posix(),
        relative.as_posix(),
        text,
        hashlib.sha256(content).hexdigest(),
        loader,
        tuple(headings),
    )


Read = tuple[str, Sequence[Heading]]
"""A canonical text and its headings, in their order."""


@dataclass(frozen=True)
class Reader:
    """What reads the files of some suffixes, and the package that it needs; ``version`` is raised
    where it reads other texts or headings."""

    read: Callable[[bytes], Read]
    package: str = ""
    version: int = 1


def _plain(content: bytes) -> Read:
    text = _unix(content.decode("utf-8-sig"))
    found = (match for match in _MARKED.finditer(text) if match["title"])
    return text, [Heading(match["title"], len(match["marks"]), *match.span()) for match in found]


_MARKED = re.compile(
    r"\A---[ \t]*\n(?=\w[\w-]*:).*?^---[ \t]*$"
    r"|^ {0,3}(?P<fence>`{3,}|~{3,})[^`\n]*$(?:\n.*?^ {0,3}(?P=fence)[`~]*[ \t]*$|.*)"
    r"|^(?P<marks>#{1,6})[ \t]+(?P<title>[^\n]+?)[ \t#]*$",
    re.MULTILINE | re.DOTALL,
)
"""The YAML before a document, blocks of code, in which ``#`` begins a comment, and headings."""


_BREAK = "\x1e"
"""Stands for the end of a line while white space means nothing."""
_BEGIN, _END = "\x1d", "\x1f"
"""Stand before a heading, as many as its level, and after it; they are white space, too, and no
document has them."""

_LINES = (
    "address, article, aside, blockquote, br, caption, dd, details, div, dl, dt, fieldset, "
    "figcaption, figure, footer, form, h1, h2, h3, h4, h5, h6, header, hr, li, main, nav, ol, "
    "option, p, section, summary, table, title, tr, ul"
)
"""Elements on lines of their own; the others (b, a, span ...) are part of a line."""


def _html(content: bytes) -> Read:
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(content)
    element = None if tree.head is None else tree.head.css_first("title")
    title = "" if element is None else " ".join(element.text().split())
    tree.strip_tags(["script", "style", "template", "noscript"])
    root = tree.body or tree.root
    if root is None:
        return "", ()
    for node in root.css("pre"):
        node.replace_with(_BREAK + node.text().replace("\n", _BREAK) + _BREAK)
    for node in root.css(_LINES):
        level = int(node.tag[1]) if node.tag in _LEVELS else 0
        node.insert_before(_BREAK + _BEGIN * level)
        node.insert_after(_END * bool(level) + _BREAK)
    for node in root.css("td, th"):
        node.insert_after(" ")
    text, headings = _joined(_html_lines(root.text().split(_BREAK)))
    if title and not any(heading.level == 1 for heading in headings):
        headings.insert(0, Heading(title, 0, 0, 0))
    return text, headings


_LEVELS = ("h1", "h2", "h3", "h4", "h5", "h6")
_Line = tuple[str, int | None]
"""A line with the level of the heading that it is, or ``None``."""


def _html_lines(lines: Iterable[str]) -> Iterator[_Line]:
    """The lines that hold text; those of one heading are one."""
    level = 0
    pending: list[str] = []
    for line in lines:
        level = len(line) - len(line.lstrip(_BEGIN)) or level
        if words := " ".join(line.split()):
            pending.append(words)
        if pending and (not level or line.endswith(_END)):
            yield "\n".join(pending), level or None
            pending = []
        if line.endswith(_END):
            level = 0
    if pending:
        yield "\n".join(pending), None


def _joined(lines: Iterable[_Line]) -> tuple[str, list[Heading]]:
    texts, headings, at = [], [], 0
    for text, level in lines:
        title = " ".join(text.split())
        if level is not None and title:
            headings.append(Heading(title, level, at, at + len(text)))
        texts.append(text)
        at += len(text) + 1
    return "\n".join(texts), headings


_GAP = "\n\n"
"""Stands between the pages of a PDF file."""
_PDF_BEGINS = 1024
"""Bytes among which a PDF file says what it is; some have other bytes before."""


def _pdf(content: bytes) -> Read:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    if b"%PDF" not in content[:_PDF_BEGINS]:
        raise InputError("is not a PDF file", hint="Rename it to what it is.")
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # our own error says it
    try:
        reader = PdfReader(io.BytesIO(content))
        is_locked = reader.is_encrypted and not reader.decrypt("")
    except DependencyError:  # of the package that decrypts
        is_locked = True
    if is_locked:
        raise InputError("is encrypted", hint="Save it without a password.")
    pages = [_unix(page.extract_text()) for page in reader.pages]
    headings, at = [], 0
    for number, page in enumerate(pages, start=1):
        headings.append(Heading(f"page {number}", 1, at, at, is_page=True))
        at += len(page) + len(_GAP)
    return _GAP.join(pages), headings


def _docx(content: bytes) -> Read:
    import docx

    def lines() -> Iterator[_Line]:
        for block in docx.Document(io.BytesIO(content)).iter_inner_content():
            if hasattr(block, "rows"):
                for row in block.rows:
                    yield _unix("\t".join(cell.text for cell in row.cells)), None
            else:
                yield _unix(block.text), _level(block)

    return _joined(lines())


_STYLE = re.compile(r"heading ?([1-9])", re.IGNORECASE)


def _level(paragraph: Any) -> int | None:
    """The level of a paragraph that is a heading, by its style or one that this is based on."""
    style = paragraph.style
    for _ in range(_DEEPEST):
        if style is None:
            break
        if name := _STYLE.fullmatch(style.name or ""):
            return int(name[1])
        if (style.name or "").casefold() == "title":
            return 0
        style = style.base_style
    return None


_DEEPEST = 20
"""Styles that are based on one another; more of them are a circle."""


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


_PLAIN = Reader(_plain)
_HTML = Reader(_html, "selectolax", 2)
READERS: Mapping[str, Reader] = {
    ".txt": _PLAIN,
    ".md": _PLAIN,
    ".markdown": _PLAIN,
    ".html": _HTML,
    ".htm": _HTML,
    ".pdf": Reader(_pdf, "pypdf", 2),
    ".docx": Reader(_docx, "python-docx", 2),
}
"""For each suffix what reads it."""
_TAKES = f"Documents are {', '.join(READERS)}; give it the end of what it is."
