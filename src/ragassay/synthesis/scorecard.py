"""What a generator is worth: how much was accepted, why the rest was not, and which groups of
people and opinions it favours.

A sentence of queries and first references that mentions something counts once, as does a sentence
of the documents; rates are by the words of either side, language by language. p-values are
corrected together (Holm).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragassay.base.counts import grouped, plural
from ragassay.base.files import write_text
from ragassay.judges.offline.words import sentences, tokens
from ragassay.stats.categorical import Ratio, rate_ratio
from ragassay.stats.corrections import adjusted_p
from ragassay.synthesis.draft import Draft, Rejection
from ragassay.synthesis.mix import Kind
from ragassay.synthesis.sections import Corpus
from ragassay.texts.languages import code_of, language_of, word_lists

FEWEST = 5
"""Sentences that must mention something, on both sides together, before it is tested."""
NOTABLE = 0.05
"""The corrected p-value below which a difference is reported."""
_HEAD = ("what", "count", "share or rate", "expected", "times as often", "95 %", "p")
Row = tuple[object, ...]


@dataclass(frozen=True)
class Count:
    """A group of people or an opinion that is mentioned.

    Attributes:
        kind: ``group`` or ``opinion``.
        count: sentences of the items that mention it.
        rate: the same per 1,000 words.
        expected: what the documents have, likewise.
        ratio: how many times as often as in the documents, with interval; its p-value is corrected.
        language: the code of the list's.
    """

    kind: str
    what: str
    language: str
    count: int
    rate: float
    expected: float
    ratio: Ratio

    @property
    def is_notable(self) -> bool:
        """Whether chance hardly explains it."""
        return self.ratio.p < NOTABLE

    def row(self) -> Row:
        """Its row of the scorecard."""
        return (
            f"{self.kind}: {self.what} ({self.language})",
            self.count,
            f"{self.rate:.1f}",
            f"{self.expected:.1f}",
            f"{self.ratio.value:.2f}",
            f"{self.ratio.low:.2f} to {self.ratio.high:.2f}",
            f"{self.ratio.p:.3f}{' *' * self.is_notable}",
        )


def favoured(corpus: Corpus, items: Sequence[Draft]) -> list[Count]:
    """The groups and opinions that drafts mention, against the documents in their language, the
    most favoured first."""
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
    counts = [
        one
        for code in measured(corpus, items)[0]
        for one in _compared(code, ours[code], theirs.get(code, ()))
    ]
    values = adjusted_p([one.ratio.p for one in counts], "holm")
    corrected = [
        replace(one, ratio=replace(one.ratio, p=1.0 if p is None else p))
        for one, p in zip(counts, values, strict=True)
    ]
    return sorted(corrected, key=lambda one: (-one.ratio.value, one.ratio.p, one.what))


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


def _compared(code: str, ours: Sequence[str], theirs: Sequence[str]) -> list[Count]:
    """The ratios of what enough sentences in a language mention; not corrected yet."""
    mentioned = word_lists()[code].mentioned
    words, all_words = (sum(len(tokens(one)) for one in texts) for texts in (ours, theirs))
    if not words or not all_words:
        return []
    own_counts, document_counts = (
        Counter(key for text in texts for key in mentioned(text)) for texts in (ours, theirs)
    )
    return [
        Count(
            *key,
            code,
            count=own_counts[key],
            rate=1000 * own_counts[key] / words,
            expected=1000 * document_counts[key] / all_words,
            ratio=rate_ratio(own_counts[key], words, document_counts[key], all_words),
        )
        for key in sorted({*own_counts, *document_counts})
        if own_counts[key] + document_counts[key] >= FEWEST
    ]


def scorecard(
    made: Mapping[str, Any],
    corpus: Corpus,
    items: Sequence[Draft],
    n_spare: int,
    rejections: Sequence[Rejection],
    *,
    kinds: Sequence[Kind],
    not_tried: Mapping[str, int],
) -> str:
    """The scorecard of one run, in Markdown."""
    n_passed = len(items) + n_spare
    n = n_passed + len(rejections)
    reasons = Counter(one.why for one in rejections).most_common()
    wanted, got = Counter(kinds), Counter(one.kind for one in items)
    rows: list[Row] = [(why, count, _share(count, n)) for why, count in reasons]
    for kind in sorted({*wanted, *got}):
        shares = _share(got[kind], len(items)), _share(wanted[kind], len(kinds))
        rows.append((", ".join(value for _, value in kind), got[kind], *shares))
    lines = [
        f"## {made['generator']}, prompts {made['prompts']}",
        "",
        f"Checker: {made['checker']}. Seed: {made['seed']}. Figures of the last run.",
        "",
        f"{n} drafts: {n_passed} passed ({_share(n_passed, n)}), {len(items)} of them were chosen.",
        "",
        *_table(rows),
    ]
    for check, number in sorted(not_tried.items()):
        sentence = f"Not tried, as the checker answers no queries: {check} ({number} drafts)."
        lines += [sentence, ""]
    return "\n".join([*lines, *_bias(corpus, items)])


def save_scorecard(path: Path, section: str) -> None:
    """Writes a section into a scorecard, in place of the one with the same heading."""
    head = "# Scorecard\n\n"
    old = path.read_text(encoding="utf-8").removeprefix(head) if path.exists() else ""
    earlier = [f"## {one}" for one in re.split("^## ", old, flags=re.MULTILINE)[1:]]
    heading = section.splitlines()[0]
    others = [one for one in earlier if one.splitlines()[0] != heading]
    write_text(path, head + "\n".join([*others, section]).rstrip() + "\n")


def _bias(corpus: Corpus, items: Sequence[Draft]) -> list[str]:
    """What the chosen items favour against the documents."""
    if not items:
        return ["Bias: nothing was chosen.", ""]
    by_list, left_out = measured(corpus, items)
    languages = [f"{code} of {plural(n, 'item')}" for code, n in by_list.items()]
    for code, (n, why) in left_out.items():
        which = code or "a language that words do not tell"
        languages.append(f"not measured for {which}, of {plural(n, 'item')}: {why}")
    return [
        "### Bias against the documents",
        "",
        "How often the chosen items mention groups of people and opinions, and how often the "
        "documents do: sentences per 1,000 words. p: that a difference so large is chance, "
        "corrected for all rows. Below 0.05 it is marked.",
        "",
        f"By lists of words: {'; '.join(languages)}. What fewer than {FEWEST} sentences mention is "
        "left out.",
        "",
        *_table(one.row() for one in favoured(corpus, items)),
    ]


def _table(rows: Iterable[Row]) -> list[str]:
    """The table of counts; cells that a row lacks are empty."""
    full = [(*row, *[""] * (len(_HEAD) - len(row))) for row in rows]
    lines = [_HEAD, ["---"] * len(_HEAD), *full]
    return [*(f"| {' | '.join(map(str, one))} |" for one in lines), ""] if full else []


def _share(number: int, n: int) -> str:
    return f"{number / n:.0%}" if n else "0%"
