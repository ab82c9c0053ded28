"""Puts the gold passages of a file at their places in the documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragassay.base.counts import few
from ragassay.base.errors import InputError
from ragassay.base.sample import GoldPassage
from ragassay.golden.alignment.text_finding import MOST_SIGHTED, Likeness, TextFinder
from ragassay.golden.documents import Document, fault_lines, text_at


@dataclass(frozen=True)
class Placing:
    """What became of a gold passage of the file.

    Attributes:
        item: id of its item.
        file, line: where the file has it.
        number: of the gold passages of its record, from 0.
        said: as the file gives it.
        gold: at its place; ``None`` where it has none.
        likeness: of the text in the document: ``exact`` also where the file gives the place.
        distance: edits over characters between the text of the file and that of the document.
        reason: why it has no place.
    """

    item: str
    file: Path
    line: int | None
    number: int
    said: GoldPassage
    gold: GoldPassage | None = None
    likeness: Likeness = "exact"
    distance: float = 0.0
    reason: str = ""

    @property
    def where(self) -> str:
        """File, line and field, as messages name them."""
        line = "" if self.line is None else f", line {self.line}"
        return f"{self.file.name}{line}, field 'gold.{self.number}'"

    @property
    def is_moved(self) -> bool:
        """Whether it was found at another place than the file says."""
        return self.gold is not None and self.said.start not in (None, self.gold.start)

    @property
    def is_filled(self) -> bool:
        """Whether its text is from the document, because the file gives its place alone."""
        return self.gold is not None and not self.said.text


def placed(one: Placing, documents: Mapping[str, Document], finder: TextFinder) -> Placing:
    """What becomes of a gold passage."""
    wanted, here = one.said, text_at(documents, one.said)
    is_complete = len(here) == (wanted.end or 0) - (wanted.start or 0)
    if not wanted.text:
        has_text = is_complete and here.strip()
        gold = replace(wanted, text=here) if has_text else None
        return replace(one, gold=gold, reason="" if has_text else "it has no text")
    if is_complete and here == wanted.text:
        return replace(one, gold=wanted)
    among = f"in {wanted.document}" if wanted.document in documents else "in the documents"
    sighting = finder.find(wanted.text, wanted.document)
    if sighting is None:
        return replace(one, reason=f"the text stands nowhere {among}")
    if len(sighting.places) > 1:
        likeness = "" if sighting.likeness == "exact" else f" ({sighting.likeness})"
        places = few([f"{name}:{start}" for name, start, _ in sighting.places])
        n = len(sighting.places)
        count = f"{n} places or more" if n == MOST_SIGHTED else f"{n} places"
        return replace(one, reason=f"the text{likeness} stands at {count} {among}: {places}")
    [(name, start, end)] = sighting.places
    text = documents[name].text[start:end]
    gold = replace(wanted, document=name, start=start, end=end, text=text)
    return replace(one, gold=gold, likeness=sighting.likeness, distance=sighting.distance)


def unplaced_record(one: Placing) -> dict[str, Any]:
    """What provenance keeps of a passage without a place."""
    parts = {name: getattr(one.said, name) for name in ("text", "document", "id", "grade")}
    return {name: value for name, value in parts.items() if value} | {"reason": one.reason}


_HOW_TO_PLACE = (
    "Give the place of the text in the documents as they are now; leave gold out that is not "
    "there any more."
)


def misplaced_gold(one: Placing, documents: Mapping[str, Document]) -> InputError:
    """The error for gold at a place where its text does not stand."""
    gold = one.said
    here = documents.get(gold.document or "")
    place = f"characters {gold.start} to {gold.end or 'an end not given'} of {gold.document}"
    if here is None:
        problem = f"there is no document {gold.document!r}"
    elif (gold.end or 0) > len(here.text):
        problem = f"{place} do not exist: the document has {len(here.text):,}"
    elif not gold.text:
        problem = f"{place} hold no text"
    else:
        problem = f"{gold.text!r} is not what stands at {place}"
    reason, hint = one.reason, _HOW_TO_PLACE
    if not gold.text:
        reason = "the gold gives no text that could be found instead"
        hint = "Give the text, or start and end in the documents as they are now."
    return InputError(
        f"{problem}, and {reason}",
        path=one.file,
        line=one.line,
        field=f"gold.{one.number}",
        hint=hint,
    )


def joined_errors(wrong: Sequence[InputError], path: Path) -> InputError:
    """One error that lists several."""
    if len(wrong) == 1:
        return wrong[0]
    lines = fault_lines([one.but(hint=None) for one in wrong])
    problem = f"{len(wrong)} gold passages do not stand where they say:{lines}"
    return InputError(problem, path=path, hint=wrong[0].hint)
