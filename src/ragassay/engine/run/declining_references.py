"""A query whose references decline ("N/A", "I don't know") has no answer: it is read as labelled
unanswerable, without a reference, so that the system that declines too is right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ragassay.base.sample import Answerability, Sample
from ragassay.judges.offline.refusal import declines


@dataclass
class DecliningReferences:
    """Reads samples so, and counts those whose references decline."""

    n: int = 0

    def read(self, samples: Iterable[Sample]) -> Iterator[Sample]:
        """The samples, as they are understood."""
        for sample in samples:
            understood = by_reference(sample)
            self.n += understood is not sample
            yield understood


def by_reference(sample: Sample) -> Sample:
    """The sample, unanswerable where it has no label and all its references decline."""
    texts = [text for text in sample.references if text.strip()]
    if sample.answerability is not None or not texts or not all(map(declines, texts)):
        return sample
    return replace(sample, answerability=Answerability.UNANSWERABLE, references=())
