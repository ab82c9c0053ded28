"""Many passages and long texts: the work grows with them, and what is not read is told."""

from __future__ import annotations

import cProfile
import pstats
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay.judges.offline import lists
from ragassay.judges.offline.claims import supported_share
from ragassay.judges.offline.matching import match
from ragassay.judges.offline.report import worth
from ragassay.judges.offline.words import LONGEST
from ragassay.judges.questions.matching import AnswerMatch
from ragassay.reports.folder import write_reports


def sample(n: int) -> dict[str, Any]:
    """A sample with so many different passages, on the query and beside it."""
    told = (
        "Bridge {0} of Aarwyk was opened in {1} by the mayor. Tram {0} crosses it every day.",
        "The harbour of Lindholm has {0} boats. Its museum was opened in {1}.",
    )
    texts = [told[at % 2].format(at, 1800 + at % 200) for at in range(n)]
    return {
        "id": "1",
        "query": "When was the Aarwyk bridge opened?",
        "passages": [{"id": f"p{at}", "text": text} for at, text in enumerate(texts)],
        "answer": "Bridge 0 of Aarwyk was opened in 1800 [1]. The museum is older [2] [4].",
    }


def calls(n: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Function calls of a run of trecrag with its reports, in all threads."""
    profiles: list[cProfile.Profile] = []
    plain = threading.Thread.run

    def profiled(thread: threading.Thread) -> None:
        profiles.append(cProfile.Profile())
        profiles[-1].runcall(plain, thread)

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "run", profiled)
        profiles.append(cProfile.Profile())
        result = profiles[0].runcall(ragassay.evaluate, [sample(n)], "trecrag")
        result.save(folder / str(n))
        profiles[0].runcall(write_reports, result, folder / str(n))
    return sum(pstats.Stats(one).total_calls for one in profiles)  # type: ignore[attr-defined]


def test_twice_the_passages_take_twice_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls(20, tmp_path, monkeypatch)  # what is loaded and compiled once
    once, twice = (calls(n, tmp_path, monkeypatch) for n in (2000, 4000))
    assert twice < 2.4 * once


@pytest.mark.parametrize("beyond", [0, 1])
def test_a_text_that_is_not_read_to_its_end_is_told_once_a_run(beyond: int) -> None:
    said = sample(3)
    said["passages"][1]["text"] = "The bridge is open. ".ljust(LONGEST + beyond, "x")
    result = ragassay.evaluate([said], ["umbrela", "umbrela_MRR", "nuggets.all"])
    told = [note for note in result.summary.warnings if "200,000 characters" in note]
    assert told == beyond * [
        "1 text was longer than 200,000 characters; the offline judge read no more of it."
    ]


LONG: dict[str, Callable[[int], tuple[Any, ...]]] = {
    "an answer of many claims": lambda n: (
        supported_share,
        said := " ".join(f"Tower{at} was built by Smith{at} in Aarwyk." for at in range(2 * n)),
        (said,),
    ),
    "a sentence": lambda n: (
        supported_share,
        said := " ".join(f"Name{at}" for at in range(4 * n)),
        (f"{said} x",),
    ),
    "a query": lambda n: (
        worth,
        " ".join(f"word{at}" for at in range(4 * n)),
        " ".join(f"The word{at} is a word{at + 1} of the text." for at in range(n)),
    ),
    "a reference": lambda n: (
        match,
        AnswerMatch(
            "How tall?",
            said := " ".join(f"The tower {at} is {at} metres tall." for at in range(n)),
            (f"{said} It is red.",),
        ),
    ),
}
"""The function that reads a text of a length, and what it gets."""


def seconds(name: str, n: int) -> float:
    """Processor time for a text, with no answer kept from before; the better of two."""
    return min(_seconds(*LONG[name](n)) for _ in range(2))


def _seconds(function: Callable[..., object], *given: object) -> float:
    for name_of, module in list(sys.modules.items()):
        if name_of.startswith("ragassay.judges.offline"):
            for cached in list(vars(module).values()):
                if hasattr(cached, "cache_clear") and cached.__module__ != lists.__name__:
                    cached.cache_clear()
    start = time.process_time()
    function(*given)
    return time.process_time() - start


@pytest.mark.parametrize("name", LONG)
def test_four_times_the_length_takes_no_eight_times_the_time(name: str) -> None:
    seconds(name, 50)  # what is loaded and compiled once
    once, four = (seconds(name, n) for n in (1000, 4000))
    assert four < 8 * once
