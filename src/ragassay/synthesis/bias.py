"""What a generator favours against the documents: documents and their parts, groups of people,
opinions, names, words. Counts beside what the documents lead to expect, with exact tests.

A sentence of queries and first references that mentions something counts once, as does a sentence
of the documents; rates are by the words of either side. Groups and opinions are compared language
by language, items with documents in the same one. The p-values of a table are corrected together
(Holm).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ragassay.judges.offline.words import content, sentences, tokens
from ragassay.stats.categorical import Ratio, rate_ratio, share_ratio
from ragassay.stats.corrections import holm
from ragassay.synthesis.draft import Draft
from ragassay.synthesis.sections import NAME, THIRDS, Corpus, part_of
from ragassay.texts.languages import code_of, language_of, word_lists

FEWEST = 5
"""Sentences that must mention something, on both sides together, before it is tested."""
NOTABLE = 0.05
"""The corrected p-value below which a difference is reported."""


@dataclass(frozen=True)
class Count:
    """One thing that is mentioned, or a place that queries come from.

    Attributes:
        kind: ``group``, ``opinion``, ``name``, ``word``, ``document`` or ``part``.
        what: its name.
        count: sentences of the items that mention it, or items that come from there.
        rate: the same per 1,000 words; of places the share of items.
        expected: what the documents have, likewise.
        ratio: how many times as often as in the documents, with interval; its p-value is corrected.
        language: of groups and opinions, the code of the list's; else empty.
    """

    kind: str
    what: str
    count: int
    rate: float
    expected: float
    ratio: Ratio
    language: str = ""

    @property
    def is_notable(self) -> bool:
        """Whether chance hardly explains it."""
        return self.ratio.p < NOTABLE


def favoured_places(corpus: Corpus, items: Sequence[Draft]) -> list[Count]:
    """Documents and thirds of documents that items come from, against their words.

    An item comes from where its first gold span stands; an unanswerable one from where the span
    stands that almost answers it.

    Args:
        corpus: the documents.
        items: drafts that became items.
    """
    words: Counter[tuple[str, str]] = Counter()
    for section in corpus.sections:
        for part, text in section.thirds():
            n = len(tokens(text))
            words["document", section.document] += n
            words["part", part] += n
    counts: Counter[tuple[str, str]] = Counter()
    for draft in items:
        for document, place in draft.places[:1]:
            counts["document", document] += 1
            counts["part", part_of(place)] += 1
    total, n = words.total() / 2, len(items)
    places = []
    for key in [("document", one) for one in corpus.documents] + [("part", one) for one in THIRDS]:
        share = words[key] / total if total else 0.0
        if n and 0 < share < 1:
            ratio = share_ratio(counts[key], n, share)
            places.append(Count(*key, counts[key], counts[key] / n, share, ratio))
    return _corrected(places)


def favoured_content(corpus: Corpus, items: Sequence[Draft]) -> list[Count]:
    """Groups, opinions and names that queries and answers mention, against the documents.

    Names are words with capital letters within a sentence of the documents, without those in titles
    of documents, which queries need to say what they are about, and without those of languages in
    which other words have capitals, too.

    Args:
        corpus: the documents.
        items: drafts that became items.
    """
    ours, theirs = _by_language(corpus, items)
    favours: list[Count] = []
    for code in measured(corpus, items)[0]:
        of_lists = _compared(ours[code], theirs[code], word_lists()[code].mentioned)
        favours += [replace(one, language=code) for one in of_lists]
    return _in_order([*favours, *_favoured_names(corpus, ours, theirs)])


def measured(
    corpus: Corpus, items: Sequence[Draft]
) -> tuple[dict[str, int], dict[str, tuple[int, str]]]:
    """The languages whose lists tell of groups and opinions.

    Args:
        corpus: the documents.
        items: drafts that became items.

    Returns:
        Items by language, where there is a list and a document; and for each other language (empty
        where the words do not tell it) its items, and why they are not measured.
    """
    counts = Counter(_language(corpus, one) for one in items)
    of_documents = {corpus.language(one) for one in corpus.documents}
    why = {
        code: "no list of words" if code not in word_lists() else "no document in this language"
        for code in counts
        if code not in word_lists() or code not in of_documents
    }
    return (
        {code: n for code, n in counts.items() if code not in why},
        {code: (counts[code], reason) for code, reason in why.items()},
    )


def _language(corpus: Corpus, draft: Draft) -> str:
    """The language of a draft: what was wanted, else what its words tell, else its document's."""
    if wanted := draft.wanted.get("language"):
        return code_of(wanted)
    code = language_of(" ".join((draft.query, *draft.references[:1])))
    return code or (corpus.language(draft.sections[0].document) if draft.sections else "")


Sentences = dict[str, list[str]]
"""Sentences by the code of their language."""


def _by_language(corpus: Corpus, items: Sequence[Draft]) -> tuple[Sentences, Sentences]:
    """The sentences of the items and of the documents."""
    ours: Sentences = {}
    for draft in items:
        ours.setdefault(_language(corpus, draft), []).extend(_sentences_of(draft))
    theirs: Sentences = {}
    for section in corpus.sections:
        code = corpus.language(section.document)
        theirs.setdefault(code, []).extend(sentences(section.text))
    return ours, theirs


def _favoured_names(corpus: Corpus, ours: Sentences, theirs: Sentences) -> list[Count]:
    lists = word_lists()
    codes = [one for one in theirs if one not in lists or lists[one].capitals_are_names]
    texts = [text for code in codes for text in theirs[code]]
    titles = {word for one in corpus.sections for word in tokens(f"{one.title} {one.heading}")}
    names = {
        name
        for text in texts
        for name in NAME.findall(text)
        if not titles.intersection(tokens(name))
    }
    if not names:
        return []
    any_name = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names, key=len)[::-1]))})\b")
    own = [text for code in codes for text in ours.get(code, ())]
    return _compared(own, texts, lambda text: {("name", one) for one in any_name.findall(text)})


def favoured_words(corpus: Corpus, items: Sequence[Draft]) -> list[Count]:
    """Stems of words that queries and answers have, against the documents.

    Args:
        corpus: the documents.
        items: drafts that became items.
    """
    ours = [one for draft in items for one in _sentences_of(draft)]
    theirs = [one for section in corpus.sections for one in sentences(section.text)]
    favours = _compared(ours, theirs, lambda text: {("word", stem) for stem in content(text)})
    return _in_order(favours)


def _compared(
    ours: Sequence[str],
    theirs: Sequence[str],
    mentioned: Callable[[str], set[tuple[str, str]]],
) -> list[Count]:
    """The ratios of what enough sentences mention; not corrected yet."""
    words, all_words = (sum(len(tokens(one)) for one in texts) for texts in (ours, theirs))
    if not words or not all_words:
        return []
    own_counts, document_counts = (
        Counter(key for text in texts for key in mentioned(text)) for texts in (ours, theirs)
    )
    return [
        Count(
            *key,
            count=own_counts[key],
            rate=1000 * own_counts[key] / words,
            expected=1000 * document_counts[key] / all_words,
            ratio=rate_ratio(own_counts[key], words, document_counts[key], all_words),
        )
        for key in sorted({*own_counts, *document_counts})
        if own_counts[key] + document_counts[key] >= FEWEST
    ]


def _in_order(counts: Sequence[Count]) -> list[Count]:
    """With corrected p-values, the most favoured first."""
    return sorted(_corrected(counts), key=lambda one: (-one.ratio.value, one.ratio.p, one.what))


def _corrected(counts: Sequence[Count]) -> list[Count]:
    values = holm([one.ratio.p for one in counts])
    return [
        replace(one, ratio=replace(one.ratio, p=1.0 if p is None else p))
        for one, p in zip(counts, values, strict=True)
    ]


def _sentences_of(draft: Draft) -> list[str]:
    """The sentences of the query and its first reference."""
    return [one for text in (draft.query, *draft.references[:1]) for one in sentences(text)]
