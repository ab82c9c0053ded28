"""What a generator is worth: how much was accepted, why the rest was not, and which groups of
people and opinions it favours: sentences that mention them, by words and language, against the
documents; p-values are corrected together (Holm)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ragassay.base.files import write_text
from ragassay.base.printable import grouped, plural
from ragassay.judges.offline.words import sentences, tokens
from ragassay.stats.categorical import Ratio, rate_ratio
from ragassay.stats.corrections import adjusted_p
from ragassay.synthesis.draft import Draft, Kind, Rejection
from ragassay.synthesis.sections import Corpus
from ragassay.texts.languages import code_of, language_of, word_lists

FEWEST = 5
"""Sentences that must mention something, on both sides together, before it is tested."""
NOTABLE = 0.05
"""The corrected p-value below which a difference is reported."""


class Mentioned(NamedTuple):
    """A group of people or an opinion: ``n`` sentences of the items mention it, at a rate per 1,000
    words; what the documents have (``expected``), how many times as often, and the corrected p."""

    kind: str
    what: str
    language: str
    n: int
    rate: float
    expected: float
    ratio: Ratio
    p: float


def favoured(corpus: Corpus, items: Sequence[Draft]) -> list[Mentioned]:
    """The groups and opinions that drafts mention, against the documents in their language, the
    most favoured first. Languages without a list of words or a document are left out."""
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
    found = []
    for code in ours.keys() & theirs.keys() & word_lists().keys():
        n, n_all = (sum(len(tokens(text)) for text in texts[code]) for texts in (ours, theirs))
        mentioned = word_lists()[code].mentioned
        own, every = (
            Counter(key for text in texts[code] for key in mentioned(text))
            for texts in (ours, theirs)
        )
        for kind, what in {*own, *every} if n and n_all else ():
            count, other = own[kind, what], every[kind, what]
            if count + other >= FEWEST:
                rates = 1000 * count / n, 1000 * other / n_all
                ratio = rate_ratio(count, n, other, n_all)
                found.append(Mentioned(kind, what, code, count, *rates, ratio, ratio.p))
    found.sort(key=lambda row: (-row.ratio.value, row.p, row.what, row.language))
    corrected = adjusted_p([row.p for row in found], "holm")
    return [row._replace(p=p or 0.0) for row, p in zip(found, corrected, strict=True)]


def _language(corpus: Corpus, draft: Draft) -> str:
    """The language of a draft: what was wanted, else what its words tell, else its document's."""
    if wanted := draft.wanted.get("language"):
        return code_of(wanted)
    code = language_of(" ".join((draft.query, *draft.references[:1])))
    return code or (corpus.language(draft.sections[0].document) if draft.sections else "")


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
    reasons = Counter(rejection.why for rejection in rejections).most_common()
    wanted, got = Counter(kinds), Counter(item.kind for item in items)
    rows = [
        (", ".join(value for _, value in kind), got[kind],
         _share(got[kind], len(items)), _share(wanted[kind], len(kinds)))
        for kind in sorted({*wanted, *got})
    ]  # fmt: skip
    lines = [
        f"## {made['generator']}, prompts {made['prompts']}",
        "",
        f"Checker: {made['checker']}. Seed: {made['seed']}. Figures of the last run.",
        "",
        f"{n} drafts: {n_passed} passed ({_share(n_passed, n)}), {len(items)} of them were chosen.",
        "",
        *_table(
            ("rejected", "drafts", "share"), ((*reason, _share(reason[1], n)) for reason in reasons)
        ),
        *_table(("kind", "items", "share", "wanted"), rows),
    ]
    for check, number in sorted(not_tried.items()):
        sentence = f"Not tried, as the checker answers no queries: {check} ({number} drafts)."
        lines += [sentence, ""]
    by_list = Counter(_language(corpus, draft) for draft in items)
    languages = ", ".join(f"{code or '?'} ({plural(k, 'item')})" for code, k in by_list.items())
    return "\n".join(
        [
            *lines,
            "### Bias against the documents",
            "",
            "How often the chosen items mention groups of people and opinions, and how often the "
            "documents do: sentences per 1,000 words. p: that a difference so large is chance, "
            "corrected for all rows. Below 0.05 it is marked.",
            "",
            f"Languages of the items: {languages or 'none'}. A language without a list of words or "
            f"a document is not measured. What fewer than {FEWEST} sentences mention is left out.",
            "",
            *_table(
                ("what", "count", "rate", "expected", "times as often", "95 %", "p"),
                (
                    (
                        f"{row.kind}: {row.what} ({row.language})",
                        row.n,
                        f"{row.rate:.1f}",
                        f"{row.expected:.1f}",
                        f"{row.ratio.value:.2f}",
                        f"{row.ratio.low:.2f} to {row.ratio.high:.2f}",
                        f"{row.p:.3f}{' *' * (row.p < NOTABLE)}",
                    )
                    for row in favoured(corpus, items)
                ),
            ),
        ]
    )


def save_scorecard(path: Path, section: str) -> None:
    """Writes a section into a scorecard, in place of the one with the same heading."""
    head = "# Scorecard\n\n"
    old = path.read_text(encoding="utf-8").removeprefix(head) if path.exists() else ""
    earlier = [f"## {part}" for part in re.split("^## ", old, flags=re.MULTILINE)[1:]]
    heading = section.splitlines()[0]
    others = [text for text in earlier if text.splitlines()[0] != heading]
    write_text(path, head + "\n".join([*others, section]).rstrip() + "\n")


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A table, where it has a row."""
    lines = [head, ["---"] * len(head), *rows]
    return [*(f"| {' | '.join(map(str, line))} |" for line in lines), ""] if lines[2:] else []


def _share(number: int, n: int) -> str:
    return f"{number / n:.0%}" if n else "0%"
