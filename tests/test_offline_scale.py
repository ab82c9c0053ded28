"""Many passages and long texts: the work grows with them, and what is not read is told."""

from __future__ import annotations

import cProfile
import pstats
import threading
from pathlib import Path
from typing import Any

import pytest

import ragassay
from ragassay.judges.offline.words import LONGEST
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
