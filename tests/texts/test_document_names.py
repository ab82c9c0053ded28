"""Which document a name means."""

import pytest

from ragassay.base.errors import InputError
from ragassay.texts.document_names import DocumentNames, same_document

NAMES = DocumentNames(
    {"pool": "pool.md", "guides/pool": "guides/pool.pdf", "guides/sauna": "guides/sauna.md",
     "old/sauna": "old/sauna.md", "v1.2": "v1.2.md", "release-1": "release-1.md",
     "plan": "plans/Plan.PDF"}
)  # fmt: skip


@pytest.mark.parametrize(("name", "found"), [
    ("pool", {"pool"}), ("./pool.md", {"pool"}), ("docs/pool.md", {"pool"}),
    ("pool.md", {"pool"}),  # whole, although guides/pool ends with it, too
    ("/srv/docs/pool.md", {"pool"}), ("file:///srv/docs/pool.md", {"pool"}),
    ("C:\\docs\\pool.md", {"pool"}), ("guides/pool.pdf", {"guides/pool"}),
    ("/srv/guides/pool.pdf", {"guides/pool"}),  # two parts in common, where pool has one
    ("guides/pool", {"guides/pool"}), ("old/sauna.md", {"old/sauna"}),
    ("sauna.md", {"guides/sauna", "old/sauna"}), ("sauna", {"guides/sauna", "old/sauna"}),
    ("pool.txt", set()), ("ol.md", set()), ("other/sauna.md", set()),  # other files
    ("v1.2.md", {"v1.2"}), ("", set()), ("/", set()),
    ("release-1.2", set()), ("plans/Plan", {"plan"}),  # .2 is no ending, .PDF is one
])  # fmt: skip
def test_a_name_means_the_document_whose_path_it_shares(name: str, found: set[str]) -> None:
    assert set(NAMES.find(name)) == found


def test_an_id_comes_before_a_path_and_an_ambiguous_name_is_an_error() -> None:
    assert DocumentNames({"a.md": "x/other.md", "b": "a.md"}).find("a.md") == ("a.md",)
    names = DocumentNames({"1": "a/pool.md", "2": "a/pool"})
    assert names.find("a/pool") == ("2",) and names.find(" pool.md\n") == ("1",)
    assert NAMES.one("docs/pool.md") == "pool" and NAMES.one("nowhere") is NAMES.one(None) is None
    with pytest.raises(InputError, match=r"'sauna\.md' may be any of 2 documents \(guides/sauna"):
        NAMES.one("sauna.md")
    for one, other, same in [
        ("a/pool.md", "pool", True), ("a/pool.md", "b/pool.md", False),
        ("pool.md", "pool.txt", False),
    ]:  # fmt: skip
        assert same_document(one, other) is same_document(other, one) is same
