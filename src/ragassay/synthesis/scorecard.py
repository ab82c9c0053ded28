"""What a generator is worth: how much was accepted, why the rest was not, and how evenly the
documents are covered. One section for each generator and version of its prompts."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ragassay.judges.offline.language import content, tokens
from ragassay.synthesis.choosing import THIRDS, part_of
from ragassay.synthesis.draft import Draft, Rejection
from ragassay.synthesis.mix import Kind
from ragassay.synthesis.sections import Corpus

_FAVOURED = 8
_FOLDS = 5


def scorecard(
    made: Mapping[str, Any],
    corpus: Corpus,
    taken: Sequence[Draft],
    spare: Sequence[Draft],
    rejections: Sequence[Rejection],
    *,
    kinds: Sequence[Kind],
    real: Sequence[str],
    not_tried: Mapping[str, int],
) -> str:
    """The scorecard of one run, in Markdown.

    Args:
        made: generator, checker, versions and seed.
        corpus: the documents.
        taken: drafts that became items.
        spare: drafts that were accepted and not chosen.
        rejections: the others.
        kinds: what was wanted of each item.
        real: queries of users; none: not compared.
        not_tried: checks that the checker cannot do, with the number of drafts.
    """
    accepted = [*taken, *spare]
    n = len(accepted) + len(rejections)
    lines = [f"## {made['generator']}, prompts {made['prompts']}", ""]
    lines += [f"Checker: {made['checker']}. Seed: {made['seed']}. Figures of the last run.", ""]
    lines += [
        f"{n} drafts: {len(accepted)} passed ({_share(len(accepted), n)}), of which {len(taken)} "
        "were chosen.",
        "",
        *_table(("rejected for", "drafts", "share"), _reasons(rejections, n)),
    ]
    for what, number in not_tried.items():
        lines += [f"Not tried, because the checker cannot: {what} ({number} drafts).", ""]
    lines += _table(("kind", "wanted", "chosen"), _kinds(kinds, taken))
    lines += _table(("document", *THIRDS), _covered(corpus, taken))
    lines += [_favoured(corpus, taken), ""]
    told = told_apart([one.query for one in accepted], real)
    if not real:
        lines += ["Realism: not measured; name real queries with --real.", ""]
    elif told is None:
        lines += [f"Realism: not measured; it takes {_FOLDS} queries on either side.", ""]
    else:
        lines += [
            f"Realism: a classifier of words and their order tells these queries from the "
            f"{len(real)} real ones with an AUC of {told:.2f} (0.50: it cannot; 1.00: always).",
            "",
        ]
    return "\n".join(lines)


def told_apart(written: Sequence[str], real: Sequence[str]) -> float | None:
    """The area under the ROC curve of a naive Bayes classifier, cross-validated, that tells written
    queries from real ones; ``None`` for fewer than five of either.

    Args:
        written: by a generator.
        real: by users.
    """
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


def _reasons(rejections: Sequence[Rejection], n: int) -> list[tuple[object, ...]]:
    counts = Counter(one.why for one in rejections)
    return [(why, number, _share(number, n)) for why, number in counts.most_common()]


def _kinds(kinds: Sequence[Kind], taken: Sequence[Draft]) -> list[tuple[object, ...]]:
    wanted, got = Counter(kinds), Counter(one.kind for one in taken)
    every = sorted({*wanted, *got})
    return [(", ".join(value for _, value in one), wanted[one], got[one]) for one in every]


def _covered(corpus: Corpus, taken: Sequence[Draft]) -> list[tuple[object, ...]]:
    used = Counter((one.document, part_of(one.place)) for draft in taken for one in draft.sections)
    return [(name, *(used[name, part] for part in THIRDS)) for name in corpus.documents]


def _favoured(corpus: Corpus, taken: Sequence[Draft]) -> str:
    """The words that queries and answers have more often than the documents, and the reverse."""
    written = Counter(
        stem for one in taken for stem in content(" ".join((one.query, *one.references[:1])))
    )
    held = Counter(stem for one in corpus.sections for stem in content(one.text))
    if not written or not held:
        return "Wording: nothing was chosen."
    shares = {
        stem: math.log(
            ((written[stem] + 1) / (written.total() + 1)) / ((held[stem] + 1) / (held.total() + 1))
        )
        for stem in {*written, *held}
        if written[stem] + held[stem] > 2
    }
    ranked = sorted(shares, key=lambda stem: (-shares[stem], stem))
    more, less = ranked[:_FAVOURED], ranked[::-1][:_FAVOURED]
    return (
        "Wording, by stems, the strongest first: more often than in the documents: "
        f"{', '.join(more)}; less often: {', '.join(less)}."
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    if not rows:
        return []
    lines = [head, ["---"] * len(head), *rows]
    return [*(f"| {' | '.join(map(str, one))} |" for one in lines), ""]


def _share(number: int, n: int) -> str:
    return f"{number / n:.0%}" if n else "0%"
