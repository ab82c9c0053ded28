"""Spans are found again after edits: all that survive, none at a wrong place."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

import ragassay
from ragassay.golden import anchor
from ragassay.golden.anchoring import Anchored
from ragassay.golden.documents import Document, load_documents
from ragassay.golden.golden_folder import with_contexts
from ragassay.golden.golden_item import GoldenItem, GoldSpan

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
        if kind == "insert":
            self.put(at, 0, f" {words} ")
        elif kind == "delete":
            self.put(at, self._source.randint(1, 200), "")
        elif kind == "replace":
            self.put(at, self._source.randint(1, 40), f" {words} ")
        elif kind == "paragraph":
            self.put(at, 0, f"\n{words * 9}.\n")
        else:
            self.move()

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
    assert n_surviving > 3000
    assert n_found >= 0.99 * n_surviving


def one_span(text: str, wanted: str) -> tuple[list[GoldenItem], dict[str, Document]]:
    document = Document("d", "d.md", text, "", "utf-8")
    span = GoldSpan.of("d", text, text.index(wanted), text.index(wanted) + len(wanted))
    return [GoldenItem(id="q", query="q?", gold=[span])], {"d": document}


def found_in(text: str, items: list[GoldenItem], **others: str) -> Anchored:
    documents = {name: Document(name, f"{name}.md", one, "", "") for name, one in others.items()}
    if text:
        documents["d"] = Document("d", "d.md", text, "", "")
    [one] = anchor(items, documents)
    return one


POOL = (
    "The pool opens at nine in the morning. The sauna opens at nine in the evening. Bring a towel."
)


def test_of_two_equal_texts_the_surroundings_tell() -> None:
    items, _ = one_span(POOL, "opens at nine")
    one = found_in(f"News of the day. {POOL}", items)
    assert (one.found, one.new and one.new.start) == ("moved", 26)
    assert found_in(POOL, items).found == "unchanged"


def test_the_same_text_in_another_sentence_is_not_taken_for_it() -> None:
    items, _ = one_span(POOL, "opens at nine")
    gone = POOL.replace("The pool opens at nine in the morning. ", "Doors are shut on Sundays. ")
    one = found_in(gone, items)
    assert (one.found, one.new) == ("unsure", None)
    assert one.places == (("d", gone.index("opens at nine")),)


def test_equal_surroundings_are_ambiguous_and_list_the_places() -> None:
    text = "A card costs 4 euros. " * 3
    items, _ = one_span("Fees. " + text, "4 euros")
    one = found_in(text + "Fees. ", items)
    assert one.found == "ambiguous"
    assert len(one.places) == 3


def test_an_edited_text_is_found_with_its_distance() -> None:
    items, _ = one_span(POOL, "The pool opens at nine in the morning.")
    one = found_in(POOL.replace("at nine in the morning", "at ten in the morning"), items)
    assert (one.found, one.new and one.new.text) == (
        "changed",
        "The pool opens at ten in the morning.",
    )
    assert 0 < one.distance < 0.2


def test_a_span_goes_with_its_text_into_another_document() -> None:
    items, _ = one_span(POOL, "The sauna opens at nine in the evening.")
    one = found_in("", items, renamed="Intro. " + POOL)
    assert (one.found, one.new and one.new.document) == ("moved", "renamed")


def test_what_is_gone_is_lost_and_stays_as_it_was() -> None:
    items, _ = one_span(POOL, "Bring a towel.")
    one = found_in("Nothing of this kind is said any more, and nothing else either.", items)
    assert (one.found, one.new, one.old.text) == ("lost", None, "Bring a towel.")


LETTERS = (
    "A claim must be sent within 30 days after the fault appeared. Send the serial number, the log "
    "file and two photographs to the claims office in Utrecht."
)
CLAIMS = f"{LETTERS} Mr. Vos decides claims up to 2,000 euros; higher claims go to the board."
NEW_PART = "## Miscellaneous\n\nThe transfer is free for heirs. It is registered at once."


@pytest.mark.parametrize(
    ("now", "found"),
    [
        (f"{LETTERS}\n\n{NEW_PART}", "lost"),
        (CLAIMS.replace("decides", "settles"), "changed"),
        (CLAIMS.replace("30 days", "40 days"), "changed"),
    ],
)
def test_a_section_that_was_added_is_no_part_of_a_span(
    now: str, found: str, tmp_path: Path
) -> None:
    begin, end = "# Rules\n\n## Claims\n\n", "\n\n## Payment\n\nMoney is paid on Fridays.\n"
    file = tmp_path / "rules.md"
    file.write_text(f"{begin}{CLAIMS}{end}")
    text = load_documents(tmp_path)["rules"].text
    at = text.index(CLAIMS)
    span = GoldSpan.of("rules", text, at, at + len(CLAIMS))
    file.write_text(f"{begin}{now}{end}")
    documents = load_documents(tmp_path)
    [one] = anchor([GoldenItem(id="a", query="Who decides?", gold=[span])], documents)
    assert one.found == found
    assert (one.new is not None and one.new.text) == (found == "changed" and now)
    assert one.has_other_numbers == ("40" in now)
