"""Spans are found again after edits: all that survive, none at a wrong place. An edited one begins
and ends with its own words, whatever is inserted beside it. Chunks of any system are found, too."""

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import ragassay
from ragassay.base.sample import Passage
from ragassay.golden import anchor
from ragassay.golden.anchoring import Anchored
from ragassay.golden.documents import Document, load_documents
from ragassay.golden.golden_folder import with_contexts
from ragassay.golden.golden_item import GoldenItem, GoldSpan
from ragassay.golden.text_finding import ChunkAligner

TOWN = Path(ragassay.__file__).parent / "examples" / "town"
WORDS = ["the", "a", "of", "tower", "seven", "closed", "every", "north", "Monday", "may", "not"]


@pytest.fixture(scope="module")
def items(documents: dict[str, Document]) -> list[GoldenItem]:
    made = [GoldenItem.of_sample(one) for one in ragassay.load(TOWN / "queries.jsonl")]
    with_contexts(made, documents)
    return made


class Edited:
    """A document that is edited at random, and where its characters are now."""

    def __init__(self, document: Document, source: random.Random) -> None:
        self._document, self._source = document, source
        self._text = list(document.text)
        self._origin: list[int | None] = list(range(len(self._text)))

    def put(self, at: int, removed: int, text: str) -> None:
        self._text[at : at + removed] = text
        self._origin[at : at + removed] = [None] * len(text)

    def move(self) -> None:
        """A paragraph goes elsewhere."""
        text = "".join(self._text)
        start, end = self._source.choice([one.span() for one in re.finditer(r"[^\n]+\n?", text)])
        characters, origin = self._text[start:end], self._origin[start:end]
        del self._text[start:end], self._origin[start:end]
        begins = [one.start() for one in re.finditer(r"(?m)^", "".join(self._text))]
        at = self._source.choice(begins)
        self._text[at:at], self._origin[at:at] = characters, origin

    def edit(self) -> None:
        at = self._source.randrange(len(self._text))
        words = " ".join(self._source.choices(WORDS, k=self._source.randint(1, 12)))
        kind = self._source.choice(["insert", "delete", "replace", "paragraph", "move"])
        removed = {"delete": 200, "replace": 40}.get(kind)
        text = {"delete": "", "paragraph": f"\n{words * 9}.\n"}.get(kind, f" {words} ")
        if kind == "move":
            self.move()
        else:
            self.put(at, self._source.randint(1, removed) if removed else 0, text)

    def done(self) -> tuple[Document, dict[int, int]]:
        places = {origin: at for at, origin in enumerate(self._origin) if origin is not None}
        return replace(self._document, text="".join(self._text)), places


def survives(one: Anchored, document: Document, places: dict[int, int]) -> int | None:
    """Where a span's characters are now, all in their order; ``None`` where they are not."""
    start, end = places.get(one.old.start), places.get(one.old.end - 1)
    if start is None or end is None:
        return None
    return start if document.text[start : end + 1] == one.old.text else None


def test_after_a_thousand_random_edits_99_percent_are_found_and_none_wrong(
    documents: dict[str, Document], items: list[GoldenItem]
) -> None:
    source = random.Random(2026)
    n_surviving = n_found = 0
    for _ in range(60):
        edited, places = {}, {}
        for name, document in documents.items():
            one = Edited(document, source)
            for _ in range(source.randint(1, 4)):
                one.edit()
            edited[name], places[name] = one.done()
        for found in anchor(items, edited):
            name = found.old.document
            at = survives(found, edited[name], places[name])
            if at is None:
                assert found.found not in ("moved", "unchanged"), found
                continue
            n_surviving += 1
            if found.new is not None:
                assert (found.new.document, found.new.start) == (name, at), found
                assert found.new.text == found.old.text
                n_found += 1
    assert n_surviving > 3000 and n_found >= 0.99 * n_surviving


POOL = (
    "The pool opens at nine in the morning. The sauna opens at nine in the evening. Bring a towel."
)
GOLD = "A solar panel of 20 watts feeds the station. The battery lasts 9 days without sun."
POWER = f"# Power\n\n{GOLD} In winter the panel is cleaned of snow every week.\n"
SHORT = "New first paragraph here.\n\n"
LONG = "This page was last edited by Ann in 2026. It replaces the older page.\n\n"


def found_in(text: str, old: str = POWER, gold: str = GOLD, **others: str) -> Anchored:
    """What is found of a text of an older document in its present text, and in other documents."""
    start = old.index(gold)
    item = GoldenItem(id="q", query="q?", gold=[GoldSpan.of("d", old, start, start + len(gold))])
    texts = {"d": text, **others} if text else others
    documents = {name: Document(name, f"{name}.md", one, "", "") for name, one in texts.items()}
    [one] = anchor([item], documents)
    return one


def test_of_two_equal_texts_the_surroundings_tell() -> None:
    one = found_in(f"News of the day. {POOL}", POOL, "opens at nine")
    assert (one.found, one.new and one.new.start) == ("moved", 26)
    assert found_in(POOL, POOL, "opens at nine").found == "unchanged"
    assert found_in(f"New. {POOL}", POOL, "opens at nine in the m", copy=POOL).new.document == "d"
    halves = ["Our large outdoor bath opens at nine. ", "A sauna for all guests opens at nine. "]
    one = found_in("".join(halves[::-1]), "".join(halves), "opens at nine.")
    assert (one.found, one.new and one.new.start) == ("moved", 61), "another one is at its place"
    one = found_in("The doors: Nine of them are shut.", "Nine. The pool opens.", "Nine")
    assert (one.found, one.new) == ("unsure", None)
    bare = GoldenItem(id="q", query="?",
                      gold=[GoldSpan(document="d", start=9, end=17, text="20 watts")])  # fmt: skip
    twice = {name: Document(name, name, f"So. {GOLD}", "", "") for name in "dx"}
    assert [len(one.places) for one in anchor([bare], twice)] == [2]
    gone = POOL.replace("The pool opens at nine in the morning. ", "Doors are shut on Sundays. ")
    one = found_in(gone, POOL, "opens at nine")
    assert (one.found, one.new) == ("unsure", None), "in another sentence it may be another fact"
    assert one.places == (("d", gone.index("opens at nine")),)
    fees = "A card costs 4 euros. " * 3
    one = found_in(fees + "Fees. ", "Fees. " + fees, "4 euros")
    assert (one.found, len(one.places)) == ("ambiguous", 3)


def test_an_edited_text_is_found_with_its_distance() -> None:
    old = "The pool opens at nine in the morning."
    one = found_in(POOL.replace("at nine in the morning", "at ten in the morning"), POOL, old)
    assert (one.found, one.new and one.new.text) == ("changed", old.replace("nine", "ten"))
    assert 0 < one.distance < 0.2
    # One in another document is moved, and one that is gone stays as it was.
    one = found_in("", POOL, "The sauna opens at nine in the evening.", renamed="Intro. " + POOL)
    assert (one.found, one.new and one.new.document) == ("moved", "renamed")
    gone = "Nothing of this kind is said any more, and nothing else either."
    one = found_in(gone, POOL, "Bring a towel.")
    assert (one.found, one.new, one.old.text) == ("lost", None, "Bring a towel.")


@pytest.mark.parametrize("above", ["", SHORT, LONG, LONG.strip() + " "])
@pytest.mark.parametrize("below", ["", "\n\nThe parts are listed below.\n\n", "\n\nThe sun.\n\n"])
@pytest.mark.parametrize("now", ["12 days", "nine full days"])
def test_new_text_beside_an_edited_span_is_no_part_of_it(above: str, below: str, now: str) -> None:
    edited = GOLD.replace("9 days", now)
    one = found_in(POWER.replace(GOLD, f"{above}{edited}{below}"))
    assert (one.found, one.new and one.new.text) == ("changed", edited)


@pytest.mark.parametrize(("then", "now"), [
    ("A solar", "One solar"), ("A solar", "Our big solar"), ("A solar panel", "Solar panel"),
    ("sun.", "light."), ("sun.", "any sunlight."),
    ("days without", "days, which we tested in the dark, without")])  # fmt: skip
def test_edited_first_and_last_words_stay_within_their_sentence(then: str, now: str) -> None:
    edited = GOLD.replace(then, now)
    one = found_in(POWER.replace(GOLD, LONG.strip() + " " + edited))
    assert (one.found, one.new and one.new.text) == ("changed", edited)


def test_a_span_within_a_sentence_ends_at_what_stood_around_it() -> None:
    old = "The pool opens at nine in the morning on every day but Monday. Bring a towel."
    one = found_in(old.replace("opens", "closes"), old, "opens at nine in the morning")
    assert one.new is not None and one.new.text == "closes at nine in the morning"
    # Characters without spaces between words are aligned one by one.
    old, gold = (
        "# 电源\n\n一块二十瓦的太阳能板为站点供电。电池在没有阳光时可以用九天。冬天每周清雪。\n",
        "电池在没有阳光时可以用九天。",
    )
    one = found_in(old.replace(gold, "新的一句话在这里。" + gold.replace("九", "十二")), old, gold)
    assert (one.found, one.new and one.new.text) == ("changed", gold.replace("九", "十二"))
    # White space at the ends stays with the span.
    one = found_in(POWER.replace("9 days", "12 days"), gold=GOLD + " ")
    assert one.new is not None and one.new.text == GOLD.replace("9 days", "12 days") + " "


def station(n: int, days: str = "9") -> str:
    return f"The battery of station {n} lasts {days} days without sun, and is changed in autumn."


def test_an_edited_sentence_is_not_taken_for_its_neighbour_that_reads_alike() -> None:
    old = "# Power\n\n" + "\n\n".join(station(n) for n in range(5)) + "\n"
    for n in range(1, 4):
        one = found_in(old.replace(station(n), station(n, "twelve")), old, station(n))
        assert (one.found, one.new and one.new.text) == ("changed", station(n, "twelve"))
    beside = f"New words here.\n\n{station(2, 'twelve')}\n\nAnd here, too."
    one = found_in(old.replace(station(2), beside), old, station(2))
    assert one.new is None or one.new.text == station(2, "twelve")
    # Nothing tells which of the others it was.
    one = found_in(old.replace(station(2) + "\n\n", ""), old, station(2))
    assert (one.found, one.new, len(one.places) > 1) == ("ambiguous", None, True)
    first, far = POWER.removeprefix("# Power\n\n"), "The archive holds letters. " * 30
    other = GOLD.replace("20 watts", "30 watts").replace("station", "mill")
    assert found_in(first.replace(GOLD, f"{far}{other} {far}"), first).found == "lost"


@pytest.mark.parametrize("n", [0, 3, 5])
def test_a_row_that_was_taken_out_is_not_taken_for_another_row(n: int) -> None:
    n_seats = (4, 2, 9, 3, 3, 8)
    rows = [f"| Room {at} | {seats} seats | heated |" for at, seats in enumerate(n_seats)]
    old = "\n".join(rows)
    one = found_in("\n".join(rows[:n] + rows[n + 1 :]), old, rows[n])
    assert one.new is None
    edited = [*rows[:n], rows[n].replace("heated", "cold"), *rows[n + 1 :]]
    one = found_in("\n".join(edited), old, rows[n])
    assert (one.found, one.new and one.new.text) == ("changed", edited[n])


LETTERS = (
    "A claim must be sent within 30 days after the fault appeared. Send the serial number, the log "
    "file and two photographs to the claims office in Utrecht."
)
CLAIMS = f"{LETTERS} Mr. Vos decides claims up to 2,000 euros; higher claims go to the board."
NEW_PART = "## Miscellaneous\n\nThe transfer is free for heirs. It is registered at once."


def test_a_section_that_was_added_is_no_part_of_a_span() -> None:
    text = "# Rules\n\n## Claims\n\n{}\n\n## Payment\n\nMoney is paid on Fridays.\n".format
    assert found_in(text(f"{LETTERS}\n\n{NEW_PART}"), text(CLAIMS), CLAIMS).found == "lost"
    for then, now in (("decides", "settles"), ("30 days", "40 days")):
        edited = CLAIMS.replace(then, now)
        one = found_in(text(edited), text(CLAIMS), CLAIMS)
        assert (one.found, one.new and one.new.text) == ("changed", edited)
        assert one.has_other_numbers == ("40" in now)


@pytest.fixture(scope="module")
def aligner(documents: dict[str, Document]) -> ChunkAligner:
    return ChunkAligner(documents)


@given(data=st.data())
def test_any_piece_is_found_whatever_its_whitespace(documents, aligner, data) -> None:
    name = data.draw(st.sampled_from(sorted(documents)))
    text = documents[name].text
    start = data.draw(st.integers(0, len(text) - 200))
    end = data.draw(st.integers(start + 60, min(len(text), start + 700)))
    piece = text[start:end].strip()
    start = text.index(piece, start)
    changed = data.draw(st.sampled_from([" ", "\n", "\n\n  ", "\t"])).join(piece.split())
    found = aligner.passage(Passage(changed))
    assert found.document is not None and found.start is not None
    stands = documents[found.document].text[found.start : found.end]
    assert stands.split() == piece.split()


def test_a_changed_chunk_is_found_by_what_it_kept(documents: dict[str, Document]) -> None:
    text = documents["library"].text
    start = text.index("Adults may have")
    piece = text[start : start + 300].replace("twelve", "a dozen").replace("*", "")
    aligner = ChunkAligner(documents)
    found = aligner.passage(Passage(piece))
    assert found.document == "library" and found.start is not None and abs(found.start - start) < 20
    assert aligner.counts["changed"] == 1
    twins = {name: replace(documents["library"], id=name, path=f"{name}.md") for name in "ab"}
    for name in twins:  # of two documents that hold it the one that the chunk names
        assert ChunkAligner(twins).passage(Passage(piece, document=name)).document == name


def test_what_the_documents_lack_is_counted_and_keeps_no_offsets(documents) -> None:
    aligner = ChunkAligner(documents)
    invented = "Quartz clocks were repaired by the seven keepers of the northern lighthouse."
    found = aligner.passage(Passage(invented, document="library", start=3, end=9))
    assert (found.start, found.end) == (None, None) and aligner.counts["not_found"] == 1
    bare, blank, placed = (Passage(id="x"), Passage(" \n"),
                           Passage(document="library", start=3, end=9))  # fmt: skip
    assert [aligner.passage(one) for one in (bare, blank, placed)] == [bare, blank, placed]
    assert aligner.counts["not_found"] == 3, "a place needs no text"
    # Offsets that count in older documents are found anew.
    text = "Old words stand here, and they say what is right about the pool."
    aligner = ChunkAligner({"d": Document("d", "d.md", f"A new line.\n{text}", "", "")})
    found = aligner.passage(Passage(text, document="d", start=0, end=len(text)))
    assert (found.start, found.end) == (12, 12 + len(text))
    assert aligner.passage(Passage(text + " It is far." * 9)).start is None, "most is not there"


def test_a_text_at_several_places_is_counted(tmp_path: Path) -> None:
    same = "Ask for the key at the desk downstairs."
    for name in ("east", "west"):
        (tmp_path / f"{name}.md").write_text(f"The {name} wing.\n\n{same}\n\nTwice? {name}.\n")
    documents = load_documents(tmp_path)
    every = ((Passage(same), 1), (Passage(same, document="west"), 0), (Passage("Twice?"), 1),
             (Passage("for the key at the desk"), 1),
             (Passage("The west wing."), 0), (Passage(f"The west wing. {same}"), 0))  # fmt: skip
    for passage, repeated in every:
        aligner = ChunkAligner(documents)
        assert aligner.passage(passage).start is not None
        assert aligner.counts["repeated"] == repeated, passage
        aligner.passage(passage)  # known by now
        assert aligner.counts["repeated"] == 2 * repeated
    found = [aligner.passage(Passage(same, document=name)).document for name in ("east", "west")]
    assert found == ["east", "west"]
