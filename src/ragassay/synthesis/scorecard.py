"""What a generator is worth: how much was accepted, why the rest was not, and how evenly the
documents are covered. One section for each generator and version of its prompts."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from ragassay.base.counts import plural
from ragassay.base.files import write_text
from ragassay.judges.offline.words import tokens
from ragassay.synthesis.bias import (
    FEWEST,
    Favour,
    favoured_content,
    favoured_places,
    favoured_words,
    measured,
)
from ragassay.synthesis.draft import Draft, Rejection
from ragassay.synthesis.mix import Kind
from ragassay.synthesis.sections import THIRDS, Corpus, part_of

_FAVOURED = 8
_FOLDS = 5


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
    """The scorecard of one run, in Markdown.

    Args:
        made: generator, checker, versions and seed.
        corpus: the documents.
        items: drafts that became items.
        spare: drafts that were accepted and not chosen.
        rejections: the others.
        kinds: what was wanted of each item.
        real: queries of users; none: not compared.
        not_tried: checks that the checker cannot do, with the number of drafts.
    """
    accepted = [*items, *spare]
    n = len(accepted) + len(rejections)
    lines = [f"## {made['generator']}, prompts {made['prompts']}", ""]
    lines += [f"Checker: {made['checker']}. Seed: {made['seed']}. Figures of the last run.", ""]
    lines += [
        f"{n} drafts: {len(accepted)} passed ({_share(len(accepted), n)}), of which {len(items)} "
        "were chosen.",
        "",
        *_table(("rejected for", "drafts", "share"), _reasons(rejections, n)),
    ]
    for check, number in not_tried.items():
        sentence = f"Not tried, as the checker answers no queries: {check} ({number} drafts)."
        lines += [sentence, ""]
    lines += _table(("kind", "wanted", "chosen"), _kinds(kinds, items))
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
    """Writes a section into a scorecard, in place of the one with the same heading.

    Args:
        path: of the file.
        section: as `scorecard` gives it.
    """
    head = "# Scorecard\n\n"
    old = path.read_text(encoding="utf-8").removeprefix(head) if path.exists() else ""
    earlier = [f"## {one}" for one in re.split("^## ", old, flags=re.MULTILINE)[1:]]
    heading = section.splitlines()[0]
    others = [one for one in earlier if one.splitlines()[0] != heading]
    write_text(path, head + "\n".join([*others, section]).rstrip() + "\n")


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


def _kinds(kinds: Sequence[Kind], items: Sequence[Draft]) -> list[tuple[object, ...]]:
    wanted, got = Counter(kinds), Counter(one.kind for one in items)
    every = sorted({*wanted, *got})
    return [(", ".join(value for _, value in one), wanted[one], got[one]) for one in every]


def _bias(corpus: Corpus, items: Sequence[Draft]) -> list[str]:
    """What the chosen items favour against the documents."""
    if not items:
        return ["Bias: nothing was chosen.", ""]
    places, words = favoured_places(corpus, items), favoured_words(corpus, items)
    mentioned = favoured_content(corpus, items)
    listed = [one for one in mentioned if one.kind != "name" or one.is_notable]
    names = sum(one.kind == "name" for one in mentioned)
    differ = [one for one in words if one.is_notable]
    more = [_times(one) for one in differ if one.ratio.value > 1][:_FAVOURED]
    less = [_times(one) for one in differ[::-1] if one.ratio.value < 1][:_FAVOURED]
    return [
        "### Bias against the documents",
        "",
        "How often the chosen items come from a place or mention something, and how often the "
        "documents lead to expect it; p: that a difference so large is chance, corrected within "
        "its table. Below 0.05 it is marked.",
        "",
        *_table(
            ("place", "items", "of the items", "of the words", *_TESTED),
            [
                (one.what, one.count, f"{one.rate:.0%}", f"{one.expected:.0%}", *_tested(one))
                for one in places
            ],
        ),
        *_table(("document", *THIRDS), _covered(corpus, items)),
        f"Groups, opinions (by lists of words: {_listed(corpus, items)}) and names that {FEWEST} "
        f"sentences or more mention, per 1,000 words. {names} names were compared; those that "
        "differ are listed.",
        "",
        *_table(
            ("what", "sentences", "queries and answers", "documents", *_TESTED),
            [
                (
                    f"{one.kind}: {one.what}{one.language and f' ({one.language})'}",
                    one.count,
                    f"{one.rate:.1f}",
                    f"{one.expected:.1f}",
                    *_tested(one),
                )
                for one in listed
            ],
        ),
        f"Wording: {len(differ)} of {len(words)} stems differ. More often than in the documents: "
        f"{', '.join(more) or 'none'}; less often: {', '.join(less) or 'none'}.",
        "",
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


_TESTED = ("times as often", "95 %", "p")


def _tested(one: Favour) -> tuple[str, str, str]:
    ratio = one.ratio
    marked = " *" if one.is_notable else ""
    interval = f"{ratio.low:.2f} to {ratio.high:.2f}"
    return f"{ratio.value:.2f}", interval, f"{ratio.p:.3f}{marked}"


def _times(one: Favour) -> str:
    times = "only there" if one.ratio.value == math.inf else f"{one.ratio.value:.1f} times"
    return f"{one.what} ({times})"


def _covered(corpus: Corpus, items: Sequence[Draft]) -> list[tuple[object, ...]]:
    used = Counter((name, part_of(place)) for draft in items for name, place in draft.places)
    return [(name, *(used[name, part] for part in THIRDS)) for name in corpus.documents]


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    if not rows:
        return []
    lines = [head, ["---"] * len(head), *rows]
    return [*(f"| {' | '.join(map(str, one))} |" for one in lines), ""]


def _share(number: int, n: int) -> str:
    return f"{number / n:.0%}" if n else "0%"
