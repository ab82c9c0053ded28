"""What a generator is worth: how much was accepted, why the rest was not, and how evenly the
documents are covered. One section for each generator and version of its prompts."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from ragassay.base.counts import plural
from ragassay.base.files import write_text
from ragassay.judges.offline.words import tokens
from ragassay.synthesis.bias import FEWEST, Count, favoured, measured
from ragassay.synthesis.draft import Draft, Rejection
from ragassay.synthesis.mix import Kind
from ragassay.synthesis.sections import Corpus

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
    for check, number in not_tried.items():
        sentence = f"Not tried, as the checker answers no queries: {check} ({number} drafts)."
        lines += [sentence, ""]
    lines += _bias(corpus, items)
    return "\n".join([*lines, f"Realism: {_realism(accepted, real)}", ""])


def _realism(accepted: Sequence[Draft], real: Sequence[str]) -> str:
    """How well queries can be told from real ones, in a sentence."""
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
    """For which languages groups and opinions were compared, and for which not."""
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
