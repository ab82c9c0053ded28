"""Questions with what is expected of their answers (references, gold), joined to samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from ragassay.base.sample import Sample
from ragassay.formats.format_words import wrong
from ragassay.formats.records.field_names import NAMES
from ragassay.formats.records.field_values import folded_text
from ragassay.formats.records.passages import IN_QUERIES, refuse_ids
from ragassay.formats.records.sample_records import has_made_id

_EXPECTED = (*("references", "reference_groups", "negative_references"), *("gold", "answerability"))
"""Fields that say what is expected of the answer to a question."""

_BLANK = Sample(id="none")


class Questions:
    """What is expected, by the ids of questions, by the traces that they name and by their texts.
    Two questions of one id that expect different things are an error, with the path of their file;
    two of one trace or text are not joined by that."""

    def __init__(self, path: Path, samples: Iterable[Sample]) -> None:
        self.path = path
        self._by_id: dict[str, Sample] = {}
        self._others: dict[str | tuple[str, ...], Sample | None] = {}  # by trace, and by text
        for sample in samples:
            if _unlike(self._by_id.setdefault(sample.id, sample), sample):
                raise wrong("question_twice", path=path, field="id", id=sample.id)
            traces = (str(sample.metadata.get(name) or "") for name in NAMES["traces"])
            for key in (next(filter(None, traces), ""), _asked(sample) if sample.query else ""):
                if key and _unlike(self._others.setdefault(key, sample), sample):
                    self._others[key] = None
        self._conversations: dict[tuple[str, int, str], tuple[str, ...]] = {}
        self._several: set[str] = set()  # queries that a system was asked in several of them
        self._unused = {*self._by_id}
        self.ways, self.notes = Counter[str](), Counter[str]()  # how samples were joined, or not

    def joined(self, samples: Iterable[Sample], are_all: bool = True) -> Iterator[Sample]:
        """The samples with what is expected of them: by the question that names their trace or has
        their id, else by that with their query and history. A question without a history belongs to
        a query of one conversation only: from the first such query on, samples are held in memory
        until all are known. A sample without a question stays unchanged, and is counted.

        Raises:
            InputError: ``are_all`` samples without a question, or one has the id of one and the
                query of another.
        """
        waiting: list[Sample] = []
        for sample in samples:
            if self._must_wait(sample) or waiting:
                waiting.append(sample)
            else:
                yield self._joined(sample)
        yield from map(self._joined, waiting)
        if not are_all:
            return
        if self.notes and not self.ways:
            n = self.notes["references_unclear"]
            facts = {"n": n, "id": sample.id, "query": sample.query_text[:80]}
            raise wrong("nothing_clear" if n else "nothing_joined", path=self.path, **facts)
        self.notes["references_unused"] = len(self._unused)

    def _named(self, sample: Sample) -> Sample | None:
        return self._others.get(sample.id) or self._by_id.get(sample.id)

    def _must_wait(self, sample: Sample) -> bool:
        """Whether the samples after it decide what is expected of one; its conversation is kept."""
        asked = _asked(sample)
        if asked[:1] not in self._others:
            return False
        key = (sample.system, sample.repeat, asked[0])
        if self._conversations.setdefault(key, asked) != asked:
            self._several.add(asked[0])
        return asked not in self._others and self._named(sample) is None

    def _joined(self, sample: Sample) -> Sample:
        asked, named = _asked(sample), self._named(sample)
        same = self._others.get(asked)
        question = named or same
        if question is None and asked not in self._others and asked[0] not in self._several:
            question = self._others.get(asked[:1])
        if question is None:
            is_unclear = not self._others.keys().isdisjoint((asked, asked[:1]))
            self.notes["references_unclear" if is_unclear else "references_lacking"] += 1
            return sample
        if None not in (sample.query, question.query) and asked[0] != _asked(question)[0]:
            if same is not None and question.id == sample.id:
                facts = {"id": sample.id, "other": same.id, "query": question.query_text[:80]}
                raise wrong("two_questions", path=self.path, field="id", **facts)
            self.notes["references_reworded"] += 1
        self._unused.discard(question.id)
        is_made = named is None or has_made_id(sample)
        self.ways["by query" if is_made else "by id"] += 1
        expected = {name: getattr(question, name) for name in _unlike(_BLANK, question)}
        if question.references:
            expected["reference_groups"] = question.reference_groups
        refuse_ids(question.gold, sample.passages, "gold", IN_QUERIES)
        return replace(sample, query=sample.query or question.query, **expected)


def _asked(sample: Sample) -> tuple[str, ...]:
    """The query of a sample and the turns before it, as texts are compared."""
    turns = (f"{turn.speaker}: {turn.text}" for turn in sample.history)
    return tuple(map(folded_text, (sample.query_text, *turns)))


def _unlike(first: Sample | None, second: Sample) -> list[str]:
    """The fields in which two questions expect different things."""
    return [x for x in _EXPECTED if getattr(first, x, None) != getattr(second, x)]
