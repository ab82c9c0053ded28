"""Documents of a golden set: one canonical text each, in which offsets count characters."""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragassay.base.counts import plural
from ragassay.base.errors import InputError, UsageError
from ragassay.base.sample import GoldPassage
from ragassay.golden.document_readers import READERS, Heading
from ragassay.golden.golden_item import GoldSpan
from ragassay.texts.document_names import DocumentNames

MOST_BYTES = 200 * 1024**2
"""Bytes of a file that is read as a document."""

MOST_CHARACTERS = 20_000_000
"""Characters of a document: about 10,000 pages."""

MOST_TOLD = 20
"""Faults that an error lists one by one."""


@dataclass(frozen=True)
class Document:
    """A document.

    Attributes:
        id: its path below the folder, without the suffix.
        path: of its file, relative to the folder.
        loader: what made the text, and its version, such as ``pypdf 7.1.0, reader 2``.
        headings: in their order, with their places in the text.
    """

    id: str
    path: str
    text: str
    sha256: str
    loader: str
    headings: tuple[Heading, ...] = ()

    @property
    def title(self) -> Heading | None:
        """The heading of the whole document: the only one of the highest level, 0 or 1."""
        titles = [one for one in self.headings if not one.is_page]
        highest = min((one.level for one in titles), default=2)
        first = [one for one in titles if one.level == highest]
        return first[0] if highest <= 1 and len(first) == 1 else None

    def parts(self) -> Iterator[tuple[Heading | None, int, int]]:
        """The text between the headings: the heading above it (``None`` before the first), its
        start and its end. Parts may be empty."""
        begins = [(None, 0), *((one, one.end) for one in self.headings)]
        ends = [*(one.start for one in self.headings), len(self.text)]
        for (heading, begin), end in zip(begins, ends, strict=True):
            yield heading, begin, end


def text_at(documents: Mapping[str, Document], place: GoldPassage | GoldSpan) -> str:
    """The text of the documents at the place of a passage or span; empty where there is none."""
    one = documents.get(place.document or "")
    if one is None or place.start is None or place.end is None:
        return ""
    return one.text[place.start : place.end]


def names_of(documents: Mapping[str, Document]) -> DocumentNames:
    """Finds the documents by what systems, files and people call them."""
    return DocumentNames({name: one.path for name, one in documents.items()})


COPY = "holds the same text as"
"""The problem of a document with the text of another one, whose path follows."""


def load_documents(folder: Path, without: Container[str] = ()) -> dict[str, Document]:
    """The documents of a folder and of the folders within, by id, without some files.

    Raises:
        InputError: no document, or some that cannot be read, are empty, encrypted or enormous, or
            have the text or id of another. All of them are named at once.
        UsageError: a package for this kind of file is missing.
    """
    return _loaded(folder, without, "Mend them or move them out")[0]


def readable_documents(
    folder: Path, *, skip: bool = False
) -> tuple[dict[str, Document], dict[str, str]]:
    """The documents of a folder for a golden set that is made of them.

    Returns:
        The documents by id; and of each file that is left out, by its path below the folder, why.
    """
    ways = "Mend them, move them out, or leave them out (--skip-unreadable)"
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
    lines = "".join(f"\n  {one}" for one in wrong[:MOST_TOLD])
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
            raise InputError("is no text: it is binary", path=path, hint=_TAKES) from error
        raise InputError(
            f"is not text in UTF-8 (byte {error.start})", path=path, hint="Save it as UTF-8."
        ) from error
    except InputError as error:
        raise error.at(path=path) from error
    except Exception as error:  # the libraries raise many
        raise InputError(f"cannot be read ({error or type(error).__name__})", path=path) from error
    if len(text) > MOST_CHARACTERS:
        raise InputError(
            f"holds {len(text):,} characters, more than {MOST_CHARACTERS:,}",
            path=path,
            hint="Split it.",
        )
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


_TAKES = f"Documents are {', '.join(READERS)}; give it the end of what it is."
