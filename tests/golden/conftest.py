import shutil
from pathlib import Path

import pytest

import ragassay
from ragassay.cli.command_line import call
from ragassay.golden.documents import Document, load_documents

TOWN = Path(ragassay.__file__).parent / "examples" / "town"


@pytest.fixture
def desk(here: Path) -> Path:
    """A folder with a golden set of the bundled example, and its documents."""
    shutil.copytree(TOWN / "documents", "docs")
    words = ["golden", "import", str(TOWN / "queries.jsonl"), "--documents", "docs"]
    assert call([*words, "-o", "golden", "--accept"]) == 0
    return here


@pytest.fixture(scope="module")
def documents() -> dict[str, Document]:
    """The documents of the bundled example."""
    return load_documents(TOWN / "documents")
