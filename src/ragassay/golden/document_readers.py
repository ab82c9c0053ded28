"""From the bytes of a file to one canonical text, and the headings that stand in it."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ragassay.base.errors import InputError


class Heading(NamedTuple):
    """A heading of a document, or where a page of a PDF file without bookmarks begins.

    Attributes:
        level: 1 for the highest; 0 for the title of the whole document.
        start, end: its characters in the canonical text; equal where the title is no part of it.
    """

    title: str
    level: int
    start: int
    end: int
    is_page: bool = False


Read = tuple[str, Sequence[Heading]]
"""A canonical text and its headings, in their order."""


@dataclass(frozen=True)
class Reader:
    """What reads the files of some suffixes.

    Attributes:
        package: that it needs; empty for none.
        version: is raised where it reads other texts or headings.
    """

    read: Callable[[bytes], Read]
    package: str = ""
    version: int = 1


def _plain(content: bytes) -> Read:
    text = _unix(content.decode("utf-8-sig"))
    return text, list(_markdown_headings(text))


_MARKED = re.compile(
    r"\A---[ \t]*\n(?=\w[\w-]*:).*?^---[ \t]*$"
    r"|^ {0,3}(?P<fence>`{3,}|~{3,})[^`\n]*$(?:\n.*?^ {0,3}(?P=fence)[`~]*[ \t]*$|.*)"
    r"|^(?P<marks>#{1,6})[ \t]+(?P<title>[^\n]+?)[ \t#]*$",
    re.MULTILINE | re.DOTALL,
)
"""What stands before a document as YAML, blocks of code, in which ``#`` begins a comment, and
headings."""


def _markdown_headings(text: str) -> Iterator[Heading]:
    for one in _MARKED.finditer(text):
        if one["title"]:
            yield Heading(one["title"], len(one["marks"]), one.start(), one.end())


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
"""Elements that stand on lines of their own; the others (b, a, span ...) are part of a line."""


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
    if title and not any(one.level == 1 for one in headings):
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
        raise InputError("is no PDF file", hint="Rename it to what it is.")
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what is wrong is told by our error
    try:
        reader = PdfReader(io.BytesIO(content))
        is_locked = reader.is_encrypted and not reader.decrypt("")
    except DependencyError:  # of the package that decrypts
        is_locked = True
    if is_locked:
        raise InputError("is encrypted", hint="Save it without a password.")
    pages = [_unix(page.extract_text()) for page in reader.pages]
    starts, at = [], 0
    for page in pages:
        starts.append(at)
        at += len(page) + len(_GAP)
    headings = list(_bookmarks(reader, pages, starts)) or [
        Heading(f"page {number}", 1, start, start, is_page=True)
        for number, start in enumerate(starts, start=1)
    ]
    return _GAP.join(pages), headings


def _bookmarks(reader: Any, pages: Sequence[str], starts: Sequence[int]) -> Iterator[Heading]:
    """The outline of a PDF file as headings: where a page has the bookmark's words as lines of
    their own, these; else the beginning of the page."""
    try:
        bookmarks = [
            (number, title, level)
            for one, level in _flat(reader.outline, 1)
            if (number := reader.get_destination_page_number(one)) is not None
            and 0 <= number < len(pages)
            and (title := " ".join(str(one.title or "").split()))
        ]
    except Exception:  # the library raises many; without its outline the file can still be read
        return
    at = 0
    for number, title, level in sorted(bookmarks, key=lambda one: one[0]):
        at = max(at, starts[number])
        words = r"\s+".join(map(re.escape, title.split()))
        line = re.compile(rf"^[ \t]*(?P<title>{words})[ \t]*$", re.MULTILINE | re.IGNORECASE)
        match = line.search(pages[number], at - starts[number])
        start, end = (at, at) if match is None else (
            starts[number] + match.start("title"), starts[number] + match.end("title"),
        )  # fmt: skip
        yield Heading(title, level, start, end)
        at = end


def _flat(outline: Sequence[Any], level: int) -> Iterator[tuple[Any, int]]:
    """Each bookmark with its level: a list within holds what is below the bookmark before it."""
    for one in outline:
        if isinstance(one, list):
            yield from _flat(one, level + 1)
        else:
            yield one, level


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
