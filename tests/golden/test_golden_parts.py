"""Splits of a golden set: what would give another query away stays in its part."""

import json
import random
import string
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from ragassay.base.sample import Turn
from ragassay.cli.command_line import call
from ragassay.golden.documents import Document
from ragassay.golden.golden_folder import GoldenSet
from ragassay.golden.golden_item import GoldenItem, GoldSpan
from ragassay.golden.golden_parts import groups, near_duplicates, split

TEXT = (
    "The pool opens at nine and closes at six, daily. A towel costs 2.50 euros. "
    "Bring soap\n\nNo dogs"
)
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")


def document(text: str) -> dict[str, Document]:
    return {"d": Document("d", "d.md", text, "", "text")}


def item(name: str, *texts: str, query: str = "", grade: int = 1, **fields: object) -> GoldenItem:
    """An item whose spans are these texts of TEXT."""
    gold = [GoldSpan.of("d", TEXT, at := TEXT.index(one), at + len(one), grade) for one in texts]
    return GoldenItem.model_validate(
        {"id": name, "query": query or f"{WORDS[ord(name) % 8]} {name}?", "gold": gold, **fields}
    )


@pytest.mark.parametrize(("one", "other", "are_together"), [
    ("opens at nine", "nine and closes", True), ("opens at nine", "closes at six", True),
    ("opens at nine", "A towel", False), ("daily.", "A towel", False),
    ("A towel", "euros", True), ("Bring soap", "No dogs", False), ("The pool", "The pool", True),
])  # fmt: skip
def test_spans_of_one_sentence_belong_together(one: str, other: str, are_together: bool) -> None:
    first, second = groups([item("a", one), item("b", other)], document(TEXT))
    assert (first == second) is are_together
    parts = [item("a", TEXT), item("b", "The pool"), item("c", "A towel"), item("d", "No dogs")]
    assert set(groups(parts, document(TEXT))) == {0}  # all share characters with the first
    # What is graded as not relevant links nothing.
    items = [item("a", "opens at nine"), item("b", "opens at nine", grade=0)]
    assert len(set(groups(items, document(TEXT)))) == 2


def test_near_duplicates_and_conversations_belong_together_through_others_too() -> None:
    begun = [Turn("user", "When does the pool open?"),
             Turn("agent", "At nine.")]  # fmt: skip
    items = [
        item("a", query="When does the pool open?"),
        item("b", query="When does it open?", history=begun),
        item("c", query="when does the pool open ?"), item("d", query="When does it open?"),
        item("e", query="when does it open", history=begun),
        item("f", query="Is smoking allowed?", metadata={"conversation": 7}),
        item("g", query="What about the lawn?", metadata={"conversation_id": "7"}),
    ]  # fmt: skip
    assert groups(items, {}) == [0, 1, 0, 3, 1, 5, 5], "a follow-up means another thing"
    turns = [item(name, query=f"{WORDS[at]}?") for at, name in enumerate("abcd")]
    for one, name in zip(turns, ("x::1", "x::2", "y::1", "z::1"), strict=True):
        one.id = name
    assert groups(turns, {}) == [0, 0, 2, 3]
    letters = random.Random(1)  # a large set
    queries = ["".join(letters.choices(string.ascii_lowercase, k=12)) for _ in range(520)]
    items = [GoldenItem(id=str(at), query=query) for at, query in enumerate(queries)]
    items[510].query = queries[505].upper()
    assert list(near_duplicates(items)) == [(505, 510)]


@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=40),
    share=st.sampled_from([0.1, 0.25, 0.5, 0.8]),
    seed=st.integers(0, 5),
)
def test_groups_stay_whole_and_parts_are_off_by_no_more_than_the_largest_group(
    sizes: list[int], share: float, seed: int
) -> None:
    together = [group for group, size in enumerate(sizes) for _ in range(size)]
    items = [GoldenItem(id=str(at), query="q?") for at in range(len(together))]
    shares = {"dev": share, "test": 1 - share}
    parts = split(items, shares, seed=seed, groups=together)
    held = {name: Counter(together[int(one.id)] for one in part) for name, part in parts.items()}
    assert held["dev"] + held["test"] == Counter(together)
    assert not held["dev"].keys() & held["test"].keys()
    for name, part in parts.items():
        assert abs(len(part) - shares[name] * len(items)) <= max(sizes)


@given(st.integers(0, 5), st.lists(st.integers(1, 40), min_size=1, max_size=4))
def test_each_part_has_its_share_of_all_and_of_each_kind(seed: int, sizes: list[int]) -> None:
    kinds = Counter({f"k{at}": size for at, size in enumerate(sizes)})
    numbered = enumerate(kinds.elements())
    items = [GoldenItem(id=str(at), query="q", type=kind) for at, kind in numbered]
    shares = {"dev": 0.2, "test": 0.7, "rest": 0.1}
    for name, part in split(items, shares, seed=seed).items():
        assert abs(len(part) - shares[name] * len(items)) < 2
        for kind, n in Counter(one.type for one in part).items():
            assert abs(n - shares[name] * kinds[kind]) < 2


def test_the_command_tells_the_groups_and_how_far_shares_are_off(here, monkeypatch, capsys) -> None:
    Path("docs").mkdir()
    Path("docs/d.md").write_text(TEXT, encoding="utf-8")
    gold = {"opens": "opens at nine", "closes": "closes at six", "towel": "2.50 euros",
            "dogs": "No"}  # fmt: skip
    queries = dict(zip(gold, ("When, early?", "Until which hour?", "Price?", "Pets?"), strict=True))
    records = [{"id": name, "query": queries[name], "gold": [{"text": gold[name]}]}
               for name in gold]  # fmt: skip
    Path("q.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    assert call(["golden", "import", "q.jsonl", "--documents", "docs", "-o", "set"]) == 0
    capsys.readouterr()
    assert call(["golden", "split", "set", "--into", "dev=0.25,test=0.75"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("set: 4 items in 3 groups by shared sentences, near-duplicates and")
    assert told[0].endswith("the largest has 2")
    parts = {name: {one.id for one in GoldenSet.open(Path(f"set-{name}")).items}
             for name in ("dev", "test")}  # fmt: skip
    assert {"opens", "closes"} in (parts["dev"], parts["test"] - {"towel", "dogs"})
    n = len(parts["dev"])
    assert f"set-dev: {n} item{'s' * (n > 1)} ({n / 4:.1%}, wanted 25.0%)" in told
    four = "a=0.25,b=0.25,c=0.25,d=0.25"
    assert call(["golden", "split", "set", "--into", four]) == 2
    assert "the part d would be empty" in capsys.readouterr().err
    words = ["golden", "split", "set", "--into"]
    assert call([*words, "dev=0.5,test=0.6"]) == 2
    assert "The shares dev=0.5, test=0.6 sum to 1.1, not to 1." in capsys.readouterr().err
    assert call([*words, "dev=-0.5,test=1.5"]) == 2
    assert "The shares dev=-0.5, test=1.5 are not all above 0." in capsys.readouterr().err
    for wrong in ("dev=0.3,dev=1.0", "a/b=0.5,c=0.5", "=0.5,y=0.5", "x=nan,y=nan"):
        assert call([*words, wrong]) == 2
    assert "not all above 0" in capsys.readouterr().err
    # The second place is taken: nothing is written to the first.
    assert call(["golden", "split", "set", "--into", "a=0.5,test=0.5"]) == 2
    assert not Path("set-a").exists()
    monkeypatch.chdir("set")
    assert call(["golden", "split", ".", "--into", "x=0.5,y=0.5"]) == 0
    assert call(["golden", "check", "../set-x"]) == 1 and Path("../set-y").is_dir()


def test_a_sentence_in_two_documents_links_as_one_in_one_does() -> None:
    texts = {"d": TEXT, "copy": f"A copy.\n\n{TEXT}"}
    documents = {name: Document(name, name, text, "", "text") for name, text in texts.items()}
    towel = "A towel costs 2.50 euros."
    at = texts["copy"].index(towel)
    copied = GoldSpan.of("copy", texts["copy"], at, at + len(towel))
    one, third = item("a", f"{towel} Bring soap"), item("c", "No dogs")
    other = GoldenItem(id="b", query="What is a towel?", gold=[copied])
    end = len(texts["copy"])  # short words may be in two documents by chance
    short = GoldenItem(id="e", query="Pets?",
                       gold=[GoldSpan.of("copy", texts["copy"], end - 7, end)])  # fmt: skip
    assert groups([one, other, third, short], documents) == [0, 0, 2, 3]
