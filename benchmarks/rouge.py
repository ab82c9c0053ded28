"""ROUGE-L against rouge-score, in the same process: the same bits, and how much sooner.

``python -m benchmarks.rouge [--quick]``: 600 pairs of 150 words (``--quick``: 100), unstemmed and
stemmed. Words follow Zipf's law over a made-up vocabulary with English endings, so that the stemmer
has work to do; each hypothesis is its reference with a third of the words replaced or moved.
"""

from __future__ import annotations

import itertools
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from rouge_score.rouge_scorer import RougeScorer

from ragassay.metrics.answer.word_overlap import PRF, rouge

N_PAIRS, N_WORDS, N_VOCABULARY, TARGET = 600, 150, 5_000, 50


def main() -> None:
    """Prints times and ratios, and fails where a bit differs."""
    n_pairs = 100 if "--quick" in sys.argv else N_PAIRS
    pairs = make_pairs(n_pairs, random.Random(0))
    rouge("load what is imported", "when first used", stem=True)
    print(f"ROUGE-L, {n_pairs} pairs of {N_WORDS} words")
    for stem in (False, True):
        scorer = RougeScorer(["rougeL"], use_stemmer=stem)
        peer = partial(peer_rouge, scorer)
        own = partial(own_rouge, stem)
        peer_time, theirs = timed(peer, pairs)
        first_time, ours = timed(own, pairs)
        again = [timed(own, pairs) for _ in range(3)]
        if any(found != theirs for found in (ours, *(values for _, values in again))):
            sys.exit("the values are not the same bits as rouge-score's")
        kind = "stemmed" if stem else "unstemmed"
        warm_time = min(seconds for seconds, _ in again)
        print(f"{kind:<9}  rouge-score {peer_time:7.3f} s   ragassay {first_time:7.4f} s", end="")
        print(f"   ratio {peer_time / first_time:4.0f} x", end="")
        print(f"   (again: {warm_time:7.4f} s, {peer_time / warm_time:4.0f} x)", end="")
        print("" if stem else f"   target: at least {TARGET} x")
    print("every precision, recall and F has the same bits")


def timed(
    score: Callable[[str, str], PRF], pairs: list[tuple[str, str]]
) -> tuple[float, list[PRF]]:
    """Seconds for all pairs, and the values."""
    began = time.perf_counter()
    found = [score(hypothesis, reference) for hypothesis, reference in pairs]
    return time.perf_counter() - began, found


def peer_rouge(scorer: Any, hypothesis: str, reference: str) -> PRF:
    """rouge-score's values as our tuple."""
    found = scorer.score(reference, hypothesis)["rougeL"]
    return PRF(found.precision, found.recall, found.fmeasure)


def own_rouge(stem: bool, hypothesis: str, reference: str) -> PRF:
    """ragassay's values."""
    return rouge(hypothesis, reference, measures=("rougeL",), stem=stem)["rougeL"]


def make_pairs(n_pairs: int, draw: random.Random) -> list[tuple[str, str]]:
    """Hypotheses with their references, `N_WORDS` words each."""
    syllables = [c + v for c, v in itertools.product("bcdfghlmnprst", "aeiou")]
    endings = ["", "", "s", "ed", "ing", "ation", "ness", "ly", "able", "ize"]
    vocabulary = [
        "".join(draw.choices(syllables, k=draw.randint(1, 3))) + draw.choice(endings)
        for _ in range(N_VOCABULARY)
    ]
    weights = [1 / rank for rank in range(1, N_VOCABULARY + 1)]
    pairs = []
    for _ in range(n_pairs):
        reference = draw.choices(vocabulary, weights, k=N_WORDS)
        hypothesis = list(reference)
        for at in draw.sample(range(N_WORDS), N_WORDS // 3):
            hypothesis[at] = draw.choice([*draw.choices(vocabulary, weights, k=1), hypothesis[-at]])
        pairs.append((" ".join(hypothesis).capitalize() + ".", " ".join(reference) + "."))
    return pairs


if __name__ == "__main__":
    main()
