"""AutoNuggetizer's first half: from graded passages to the best nuggets of a query.

The published limits are enforced here, not only asked for in the prompt: passages of a grade, at
most so many rounds, nuggets and words, near-duplicates merged (`Distinct`), importance in
batches, vital ones first and the best kept.

Passages are read in windows. In each round, every window that brought something new in the round
before is asked what the list lacks. The rounds end when one brings nothing or the list is full. In
the first round no window may fill more than its share of the remaining room, so that later windows
contribute too. Where the list is ``refined``, every reply is the whole list, and the rounds end
when none changes it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from ragassay.base.score import Reason, Unscored
from ragassay.formats.nugget_bank_file import Nugget
from ragassay.judges import Question
from ragassay.judges.asking import Ask
from ragassay.judges.questions import ExtractNuggets, NuggetImportance
from ragassay.metrics.core.metric_parameters import param
from ragassay.metrics.relevance.umbrela import SHOTS_DOC, Shots, grades
from ragassay.texts.word_cutting import words as words_of


@dataclass(frozen=True)
class NuggetOptions:
    """How nuggets are made: parameters of every nugget metric. The defaults are Open RAG Eval's."""

    iterations: int = param(5, "most rounds of extraction", minimum=1)
    most: int = param(30, "most nuggets before the best are chosen", minimum=1)
    best: int = param(20, "nuggets kept, vital ones first", minimum=1)
    words: int = param(12, "most words in a nugget; longer ones are left out", minimum=1)
    batch: int = param(10, "nuggets in one question about importance or support", minimum=1)
    min_grade: int = param(
        1, "smallest UMBRELA grade of a passage with nuggets", minimum=0, maximum=3
    )
    window: int = param(10, "passages read together", minimum=1)
    refined: bool = param(
        False, "each reply is the whole list and replaces the one before, as published"
    )
    shots: Shots = param("zero", SHOTS_DOC)


async def make_nuggets(
    ask: Ask,
    query: str,
    texts: tuple[str, ...],
    options: NuggetOptions,
    earlier: tuple[str, ...] = (),
    always: bool = False,
) -> tuple[Nugget, ...] | Unscored:
    """The nuggets of a query from its passages; for `Ask.once`. `Unscored` where there are none."""
    if not texts:
        return Unscored(Reason.NOTHING_RETRIEVED, "nothing was retrieved, so there are no nuggets")
    by_text = await ask.once(grades, query, texts, options.shots, earlier)
    chosen = _relevant(by_text, options.min_grade) or (list(by_text) if always else [])
    if not chosen:
        return Unscored(
            Reason.NOTHING_RETRIEVED,
            f"no passage has a grade of {options.min_grade} or more, so there are no nuggets",
        )
    listed = await _extract(ask, query, chosen, options)
    if not listed.texts:
        why = f"; {listed.refused} were longer than {options.words} words" * bool(listed.refused)
        detail = f"the judge found no nuggets in the passages{why}"
        return Unscored(Reason.NOTHING_RETRIEVED, detail)
    return await _best(ask, query, listed.texts, options)


def _relevant(grades_of: Mapping[str, int], least: int) -> list[str]:
    """The texts with a grade of at least ``least``, best first; equal grades keep their order."""
    texts = [text for text, grade in grades_of.items() if grade >= least]
    return sorted(texts, key=lambda text: -grades_of[text])


async def _extract(ask: Ask, query: str, texts: Sequence[str], options: NuggetOptions) -> Distinct:
    open_windows = batched(texts, options.window)
    listed = Distinct(words=options.words)
    for turn in range(options.iterations):
        fruitful = []
        for index, passages in enumerate(open_windows):
            room = options.most - len(listed.texts)
            share = -(-room // (len(open_windows) - index)) if turn == 0 else room
            if share <= 0:
                return listed
            known = tuple(listed.texts)
            if options.refined:
                whole = ExtractNuggets(query, passages, known, options.most, options.words, True)
                texts = (await ask(whole)).nuggets
                listed = Distinct(texts[: options.most], words=options.words)
                if tuple(listed.texts) != known:
                    fruitful.append(passages)
                continue
            reply = await ask(
                ExtractNuggets(query, passages, known, len(known) + share, options.words)
            )
            for text in reply.nuggets:
                if len(listed.texts) < len(known) + share:
                    listed.add(text)
            if len(listed.texts) > len(known):
                fruitful.append(passages)
        open_windows = fruitful
    return listed


async def _best(
    ask: Ask, query: str, texts: Sequence[str], options: NuggetOptions
) -> tuple[Nugget, ...]:
    batches = batched(texts, options.batch)
    replies = await ask.each([NuggetImportance(query, batch) for batch in batches])
    labels = [label for reply in replies for label in reply.labels]
    made = [Nugget(text, label) for text, label in zip(texts, labels, strict=True)]
    return tuple(sorted(made, key=lambda one: one.importance != "vital")[: options.best])


def most_asked(
    query: str, texts: Sequence[str], options: NuggetOptions, earlier: tuple[str, ...] = ()
) -> Iterator[Question[Any]]:
    """The most that may be asked for the nuggets of a query besides grades; for plans."""
    nuggets = placeholders(options.most, (query, *texts), earlier, options)
    distinct = list(dict.fromkeys(texts))
    rounds = min(options.iterations, options.most)
    for passages in batched(distinct, options.window):
        for turn in range(rounds):
            known = nuggets[: turn * options.most // rounds]
            most, words = options.most, options.words
            yield ExtractNuggets(query, passages, known, most, words, options.refined)
    for batch in batched(nuggets, options.batch):
        yield NuggetImportance(query, batch)


def placeholders(n: int, *made_from: Hashable) -> tuple[str, ...]:
    """Stand-ins for nuggets that are not made yet; different inputs have different ones.

    Their length, which a plan counts, is the same in each process.
    """
    name = blake2b(repr(made_from).encode(errors="surrogatepass"), digest_size=8).hexdigest()
    return tuple(f"fact {at} of {name}" for at in range(n))


def batched(items: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """Consecutive batches of at most ``size`` items."""
    return [tuple(items[at : at + size]) for at in range(0, len(items), size)]


_EMPTY_WORDS = frozenset({
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "being", "am",
})  # fmt: skip
_NEGATIONS = frozenset({
    "no", "not", "never", "nor", "none", "neither", "without", "cannot", "nt",
})  # fmt: skip
_ALIKE = 0.9


class Distinct:
    """A growing list of nuggets of which no two are the same.

    Two are the same where, word by word, they differ in nothing but case, punctuation, articles,
    forms of *be* and endings (Porter's stems); or where they are at least 90 % similar word by word
    and agree in every number and every negation. The rule is strict on purpose: a wrong merge loses
    a fact, and a missed one only gives a fact a little more weight.

    Attributes:
        texts: the nuggets, in the order in which they came.
        merged: how many were left out because they were there already.
        refused: how many were left out because they had no word, or too many.

    Args:
        texts: the first nuggets.
        words: most words in a nugget.
    """

    def __init__(self, texts: Iterable[str] = (), *, words: int) -> None:
        self.texts: list[str] = []
        self.merged = 0
        self.refused = 0
        self._words = words
        self._forms: list[tuple[str, ...]] = []
        for text in texts:
            self.add(text)

    def add(self, text: str) -> bool:
        """Adds a nugget that is new and holds 1 to ``words`` words; says whether it did.

        A longer nugget is left out entirely: shortened, it would be another fact.
        """
        nugget = " ".join(text.split())
        form = _form(nugget)
        if not form or len(nugget.split()) > self._words:
            self.refused += 1
            return False
        if any(_same(form, other) for other in self._forms):
            self.merged += 1
            return False
        self.texts.append(nugget)
        self._forms.append(form)
        return True


def _form(text: str) -> tuple[str, ...]:
    """The words that distinguish facts."""
    found = words_of(text.replace("n't", " not").replace("n’t", " not"), stem=True)
    return tuple(word for word in found if word not in _EMPTY_WORDS) or tuple(found)


def _same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    if one == other:
        return True
    if _marks(one) != _marks(other):
        return False
    from rapidfuzz.distance import Indel

    return Indel.normalized_similarity(one, other) >= _ALIKE


@lru_cache(maxsize=4096)
def _marks(words: tuple[str, ...]) -> list[str]:
    """Numbers and negations, which must agree in two wordings of one fact."""
    return sorted(
        word for word in words if word in _NEGATIONS or any(sign.isdigit() for sign in word)
    )
