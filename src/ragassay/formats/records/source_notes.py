"""Remarks about the data of one source that are no errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragassay.base.errors import InputError
from ragassay.formats.records.notes import Notes
from ragassay.formats.records.option_words import OptionWords
from ragassay.formats.records.texts_within import text_paths
from ragassay.formats.records.values import field_values

_MOST_PATHS = 20
"""Paths that are listed where no column is known."""

_MISSING = frozenset({"nan", "n/a", "#n/a", "none", "null", "<na>", "nat"})
"""What programs write for a missing value, where the text holds nothing else."""

_LONGEST_MISSING = 8
"""Characters from which a text is none of these, with the blanks around it."""


class SourceNotes:
    """Makes the remarks about the data of one source.

    Args:
        notes: collects them; without it they are warnings, once all is read.
        words: how remarks and errors name options.

    Attributes:
        nothing_known: the error for a source whose every request was left out (`left_out`).
    """

    def __init__(self, notes: Notes | None, words: OptionWords | None) -> None:
        self._warns = notes is None
        self._notes = Notes() if notes is None else notes
        self._words = words or OptionWords()
        self._several = False
        self.nothing_known: InputError | None = None

    def note(self, fact: str, consequence: str, line: int | None = None, *, count: int = 1) -> None:
        """Adds a remark (see `Notes.add`), without its line where the source is several files.

        Args:
            fact: what occurs, in the plural.
            consequence: what follows, as a sentence.
            line: where it occurs.
            count: how often it occurs.
        """
        self._notes.add(fact, consequence, line=None if self._several else line, count=count)

    def warn(self, about: object) -> None:
        """Issues all remarks as warnings, where the caller gave no notes of their own.

        Args:
            about: the source.
        """
        if self._warns:
            self._notes.warn(about)

    def left_out(self, beside: Mapping[str, Any], line: int) -> None:
        """Notes that a request was left out, because no column of it is known.

        Args:
            beside: the inputs and outputs of the system.
            line: where it stands.
        """
        if self.nothing_known is None:
            paths = [path for key in beside for path in text_paths([beside[key]], key)]
            listed = ", ".join(paths[:_MOST_PATHS]) or "no texts"
            query = next((path for path in paths if path.startswith("inputs")), "inputs.<your key>")
            self.nothing_known = InputError(
                f"no column is known as a query, an answer or passages: {listed}",
                hint=f"Name them, for example {self._words.columns('query', query)}.",
            ).at(line=line)
        self.note(
            "traces without a question, an answer and passages",
            f"They were left out: {self.nothing_known.problem}. {self.nothing_known.hint}",
            line,
        )

    def tell_tools(self, line: int) -> None:
        """Notes that messages of tools were left out, and how they become passages.

        Args:
            line: where they stand.
        """
        self.note(
            "records with messages of tools",
            "They were left out. --passages-from tools (passages_from='tools') makes passages "
            "of what the tools gave.",
            line,
        )

    def fits_metadata(self, key: str, value: Any, line: int) -> bool:
        """Whether the value of an unknown field stays in the metadata; notes where it does not.

        Args:
            key: of the field.
            value: what it holds.
            line: where it stands.
        """
        if field_values.is_small(value):
            return True
        self.note(
            f"values of the unknown field {key!r} that are large or nested",
            "They were left out of the metadata.",
            line,
        )
        return False

    def tell_missing_words(self, parts: Mapping[str, Any], line: int) -> None:
        """Notes texts that hold only what programs write for a missing value. They stay texts: an
        answer may be ``None``.

        Args:
            parts: of a sample, by its fields.
            line: where it stands.
        """
        texts_of = {
            "queries": [parts["query"]],
            "answers": [parts["answer"] and parts["answer"].text],
            "references": parts.get("references", ()),
            "passages": [one.text for one in parts.get("passages") or ()],
            "gold passages": [one.text for one in parts.get("gold") or ()],
        }
        for subject, texts in texts_of.items():
            for text in texts:
                if text and len(text) < _LONGEST_MISSING and text.strip().casefold() in _MISSING:
                    self.note(
                        f"{subject} that say only 'nan', 'N/A', 'None' or the like",
                        "They count as texts. Where nothing was given, leave the cell empty (null "
                        "in JSON).",
                        line,
                    )
