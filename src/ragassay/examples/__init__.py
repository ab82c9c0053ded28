"""A bundled example: a small town, seven of its documents, and two RAG systems that answer
queries about them.

Everything in it is invented. It is built by ``examples/town/build.py`` of the repository.
"""

from __future__ import annotations

from pathlib import Path

from ragassay.base import files
from ragassay.base.errors import UsageError

_TOWN = Path(__file__).parent / "town"
SYSTEMS = ("hybrid", "keyword")
"""The newer one, and its baseline."""
NAMES = ("keyword", "hybrid", "queries")
"""The two systems' samples, and the queries alone."""


def path_of(name: str) -> Path:
    """The native JSON Lines file of a system, or the queries without passages and answers.

    Raises:
        UsageError: there is no such example.
    """
    if name not in NAMES:
        raise UsageError(f"Unknown example {name!r}. There are: {', '.join(NAMES)}.")
    return _TOWN / f"{name}.jsonl"


def documents() -> dict[str, str]:
    """The documents that gold spans and passages point into, by name."""
    folder = _TOWN / "documents"
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}


def copy_to(folder: Path) -> list[Path]:
    """Copies the documents, the queries and the systems' samples.

    Args:
        folder: made where it is missing. What it holds of other names stays.

    Returns:
        What was written.

    Raises:
        UsageError: a file of one of the names is there with other contents, or the folder cannot be
            written.
    """
    sources = [*(path_of(name) for name in NAMES), *sorted((_TOWN / "documents").glob("*.md"))]
    written = [folder / source.relative_to(_TOWN) for source in sources]
    for source, target in zip(sources, written, strict=True):
        text = source.read_text(encoding="utf-8")
        if target.exists() and target.read_text(encoding="utf-8", errors="replace") != text:
            raise UsageError(f"{target} already exists, with other contents. Name another folder.")
        files.write_text(target, text)
    return written
