"""What a generator is worth: how much was accepted, why the rest was not, and what it favours:
documents and their parts, groups of people, opinions, names, words. Counts beside what the
documents lead to expect, with exact tests.

A sentence of queries and first references that mentions something counts once, as does a sentence
of the documents; rates are by the words of either side. Groups and opinions are compared language
by language, items with documents in the same one. The p-values of places, of what is mentioned and
of words are corrected together (Holm), each of the three by itself.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from ragassay.base.counts import grouped, plural
from ragassay.base.files import write_text
from ragassay.judges.offline.words import content, sentences, tokens
from ragassay.stats.categorical import Ratio, rate_ratio, share_ratio
from ragassay.stats.corrections import adjusted_p
from ragassay.synthesis.draft import Draft, Rejection
from ragassay.synthesis.mix import Kind
from ragassay.synthesis.sections import NAME, THIRDS, Corpus, part_of
from ragassay.texts.languages import code_of, language_of, word_lists

FEWEST = 5
"""Sentences that must mention something, on both sides together, before it is tested."""
NOTABLE = 0.05
"""The corrected p-value below which a difference is reported."""
Sentences = Mapping[str, Sequence[str]]
"""Sentences by the code of their language."""


@dataclass(frozen=True)
class Count:
    """One thing that is mentioned, or a place that queries come from.

    Attributes:
        kind: ``group``, ``opinion``, ``name``, ``word``, ``document`` or ``part``.
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
    def is_place(self) -> bool:
        """Whether it is a document or a part of documents."""
        return self.kind in ("document", "part")

    @property
    def is_notable(self) -> bool:
        """Whether chance hardly explains it."""
        return self.ratio.p < NOTABLE


def favoured(corpus: Corpus, items: Sequence[Draft]) -> list[Count]:
    """What drafts that became items come from and mention, against the documents: places; then
    groups, opinions and names; then stems of words, of either the most favoured first."""
    ours = grouped(
        (_language(corpus, draft), text)
        for draft in items
        for query_or_answer in (draft.query, *draft.references[:1])
        for text in sentences(query_or_answer)
    )
    theirs = grouped(
        (corpus.language(section.document), text)
        for section in corpus.sections
        for text in sentences(section.text)
    )
    listed = [
        replace(one, language=code)
        for code in measured(corpus, items)[0]
        for one in _compared(ours.get(code, ()), theirs.get(code, ()), word_lists()[code].mentioned)
    ]
    own = [text for texts in ours.values() for text in texts]
    documents = [text for texts in theirs.values() for text in texts]
    words = _compared(own, documents, lambda text: {("word", stem) for stem in content(text)})
    favours = _corrected(_places(corpus, items))
    for counts in ([*listed, *_names(corpus, ours, theirs)], words):
        favours += sorted(_corrected(counts), key=_most_first)
    return favours


def _places(corpus: Corpus, items: Sequence[Draft]) -> list[Count]:
    """Documents and thirds of documents that items come from, against their words.

    An item comes from where its first gold span stands; an unanswerable one from where the span
    stands that almost answers it.
    """
    words: Counter[tuple[str, str]] = Counter()
    for section in corpus.sections:
        for part, text in section.thirds():
            for key in _keys(section.document, part):
                words[key] += len(tokens(text))
    counts = Counter(
        key
        for draft in items
        for document, place in draft.places[:1]
        for key in _keys(document, part_of(place))
    )
    total, n = words.total() / 2, len(items)
    places = []
    for key in [("document", one) for one in corpus.documents] + [("part", one) for one in THIRDS]:
        share = words[key] / total if total else 0.0
        if n and 0 < share < 1:
            ratio = share_ratio(counts[key], n, share)
            places.append(Count(*key, counts[key], counts[key] / n, share, ratio))
    return places


def _keys(document: str, part: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("document", document), ("part", part)


def measured(
    corpus: Corpus, items: Sequence[Draft]
) -> tuple[dict[str, int], dict[str, tuple[int, str]]]:
    """Items by language, where lists tell of groups and opinions and there is a document; and for
    each other language (empty where the words do not tell it) its items, and why they are not
    measured."""
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


def _names(corpus: Corpus, ours: Sentences, theirs: Sentences) -> list[Count]:
    """Words with capital letters within a sentence of the documents, without those in titles, which
    queries need to say what they are about, and those of languages in which other words have
    capitals, too."""
    lists = word_lists()
    codes = [one for one in theirs if one not in lists or lists[one].capitals_are_names]
    texts = [text for code in codes for text in theirs[code]]
    titles = {word for one in corpus.sections for word in tokens(f"{one.title} {one.heading}")}
    named = {name for text in texts for name in NAME.findall(text)}
    names = [name for name in named if not titles.intersection(tokens(name))]
    if not names:
        return []
    longest_first = sorted(sorted(names), key=len, reverse=True)
    any_name = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b")
    own = [text for code in codes for text in ours.get(code, ())]
    return _compared(own, texts, lambda text: {("name", one) for one in any_name.findall(text)})


def _compared(
    ours: Sequence[str], theirs: Sequence[str], mentioned: Callable[[str], set[tuple[str, str]]]
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


def _most_first(one: Count) -> tuple[float, float, str]:
    return -one.ratio.value, one.ratio.p, one.what


def _corrected(counts: Sequence[Count]) -> list[Count]:
    values = adjusted_p([one.ratio.p for one in counts], "holm")
    return [
        replace(one, ratio=replace(one.ratio, p=1.0 if p is None else p))
        for one, p in zip(counts, values, strict=True)
    ]


_WORDS = 8
"""Stems at either end that are listed."""
_FOLDS = 5
_HEAD = ("what", "count", "share or rate", "expected", "times as often", "95 %", "p")
Row = tuple[object, ...]


def scorecard(
    made: Mapping[str, Any],
    corpus: Corpus,
    items: Sequence[Draft],
    spare: Sequence[Draft],
    rejections: Sequence[Rejection],
    *,
    kinds: Sequence[Kind],
    real: Sequence[str],
    not_tried: Mapping[str, int],
) -> str:
    """The scorecard of one run, in Markdown."""
    accepted = [*items, *spare]
    n = len(accepted) + len(rejections)
    lines = [f"## {made['generator']}, prompts {made['prompts']}", ""]
    lines += [f"Checker: {made['checker']}. Seed: {made['seed']}. Figures of the last run.", ""]
    lines += [
        f"{n} drafts: {len(accepted)} passed ({_share(len(accepted), n)}), of which {len(items)} "
        "were chosen.",
        "",
        *_table(_of_drafts(rejections, n, kinds, items)),
    ]
    for check, number in sorted(not_tried.items()):
        sentence = f"Not tried, as the checker answers no queries: {check} ({number} drafts)."
        lines += [sentence, ""]
    lines += _bias(corpus, items)
    return "\n".join([*lines, f"Realism: {_realism(accepted, real)}", ""])


def _realism(accepted: Sequence[Draft], real: Sequence[str]) -> str:
    if not real:
        return "not measured; name real queries with --real."
    auc = told_apart([one.query for one in accepted], real)
    if auc is None:
        return f"not measured; it takes {_FOLDS} queries on either side."
    return (
        f"a classifier of words and their order tells these queries from the {len(real)} real "
        f"ones with an AUC of {auc:.2f} (0.50: it cannot; 1.00: always)."
    )


def save_scorecard(path: Path, section: str) -> None:
    """Writes a section into a scorecard, in place of the one with the same heading."""
    head = "# Scorecard\n\n"
    old = path.read_text(encoding="utf-8").removeprefix(head) if path.exists() else ""
    earlier = [f"## {one}" for one in re.split("^## ", old, flags=re.MULTILINE)[1:]]
    heading = section.splitlines()[0]
    others = [one for one in earlier if one.splitlines()[0] != heading]
    write_text(path, head + "\n".join([*others, section]).rstrip() + "\n")


def told_apart(written: Sequence[str], real: Sequence[str]) -> float | None:
    """The area under the ROC curve of a naive Bayes classifier, cross-validated, that tells written
    queries from real ones; ``None`` for fewer than five of either."""
    if min(len(written), len(real)) < _FOLDS:
        return None
    rows = [(_features(one), True) for one in written] + [(_features(one), False) for one in real]
    random.Random(0).shuffle(rows)
    scores: dict[bool, list[float]] = {True: [], False: []}
    for fold in range(_FOLDS):
        counts = {side: Counter[str]() for side in (True, False)}
        for at, (features, side) in enumerate(rows):
            if at % _FOLDS != fold:
                counts[side].update(features)
        size = len({*counts[True], *counts[False]}) + 1
        totals = {side: counts[side].total() + size for side in counts}
        for features, side in rows[fold::_FOLDS]:
            scores[side].append(
                sum(
                    math.log((counts[True][one] + 1) / totals[True])
                    - math.log((counts[False][one] + 1) / totals[False])
                    for one in features
                )
                / max(1, len(features))
            )
    wins = sum(
        (one > other) + 0.5 * (one == other) for one in scores[True] for other in scores[False]
    )
    return wins / (len(scores[True]) * len(scores[False]))


def _features(query: str) -> list[str]:
    words = ["^", *tokens(query), "$"]
    return words[1:-1] + [f"{one} {two}" for one, two in pairwise(words)]


def _of_drafts(
    rejections: Sequence[Rejection], n: int, kinds: Sequence[Kind], items: Sequence[Draft]
) -> list[Row]:
    """Reasons of rejections, and the kinds of items beside what was wanted."""
    reasons = Counter(one.why for one in rejections).most_common()
    wanted, got = Counter(kinds), Counter(one.kind for one in items)
    rows: list[Row] = [(why, count, _share(count, n)) for why, count in reasons]
    for one in sorted({*wanted, *got}):
        shares = _share(got[one], len(items)), _share(wanted[one], len(kinds))
        rows.append((", ".join(value for _, value in one), got[one], *shares))
    return rows


def _bias(corpus: Corpus, items: Sequence[Draft]) -> list[str]:
    """What the chosen items favour against the documents."""
    if not items:
        return ["Bias: nothing was chosen.", ""]
    counts = favoured(corpus, items)
    words = [one for one in counts if one.kind == "word"]
    differ = [one for one in words if one.is_notable]
    names = sum(one.kind == "name" for one in counts)
    kinds = ("document", "part", "group", "opinion")
    shown = [one for one in counts if one.kind in kinds or (one.kind == "name" and one.is_notable)]
    shown += differ if len(differ) <= 2 * _WORDS else differ[:_WORDS] + differ[-_WORDS:]
    return [
        "### Bias against the documents",
        "",
        "How often the chosen items come from a place or mention something, and how often the "
        "documents lead to expect it: shares of items and of words, else sentences per 1,000 "
        "words. p: that a difference so large is chance, corrected within places, within groups, "
        "opinions and names, and within words. Below 0.05 it is marked.",
        "",
        f"Groups, opinions (by lists of words: {_listed(corpus, items)}) and names that {FEWEST} "
        f"sentences or more mention. {names} names were compared; those that differ are listed.",
        "",
        f"Wording: {len(differ)} of {len(words)} stems differ; the first and the last of them are "
        "listed.",
        "",
        *_table(map(_row, shown)),
    ]


def _listed(corpus: Corpus, items: Sequence[Draft]) -> str:
    by_list, left_out = measured(corpus, items)
    return "; ".join(
        [
            *(f"{code} of {plural(n, 'item')}" for code, n in by_list.items()),
            *(
                f"not measured for {code or 'a language that words do not tell'}, of "
                f"{plural(n, 'item')}: {why}"
                for code, (n, why) in left_out.items()
            ),
        ]
    )


def _row(one: Count) -> Row:
    ratio, shown = one.ratio, ".0%" if one.is_place else ".1f"
    language = f" ({one.language})" if one.language else ""
    return (
        one.what if one.is_place else f"{one.kind}: {one.what}{language}",
        one.count,
        format(one.rate, shown),
        format(one.expected, shown),
        f"{ratio.value:.2f}",
        f"{ratio.low:.2f} to {ratio.high:.2f}",
        f"{ratio.p:.3f}{' *' * one.is_notable}",
    )


def _table(rows: Iterable[Row]) -> list[str]:
    """The table of counts; cells that a row lacks are empty."""
    full = [(*row, *[""] * (len(_HEAD) - len(row))) for row in rows]
    lines = [_HEAD, ["---"] * len(_HEAD), *full]
    return [*(f"| {' | '.join(map(str, one))} |" for one in lines), ""] if full else []


def _share(number: int, n: int) -> str:
    return f"{number / n:.0%}" if n else "0%"
