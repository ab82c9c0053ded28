"""The HTML report and the HTML comparison of many queries: size on disk, and how soon they open.

``python -m benchmarks.report_pages [--quick]``. The data are made of the bundled example: its
queries, passages of four sentences out of its documents, a fifth of the longer words replaced at
random so that no two passages are alike, answers of two sentences with citations, and the demo's
metrics with the offline judge. Evaluating 10,000 samples takes most of the time (a minute for each
system, side by side); it is no part of what is measured.

Printed are the size, the seconds of CPU that writing a page takes, and Chromium's times (the median
of several): until the first rows stand in the table, how much of that its main thread works (which
a busy machine changes little), until a row is open, and until a search through all texts has its
rows. Without Chromium only the first two are printed.
"""

from __future__ import annotations

import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import ragassay
from ragassay.base.sample import Answer, Answerability, GoldPassage, Passage, Sample, Statement
from ragassay.engine.results import Result
from ragassay.examples import METRICS, documents, path_of
from ragassay.reports.html import pages

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
MAX_MB, MAX_S = 6.0, 1.0
"""What a page of 5,000 queries may take: on disk, and to open."""

TRIES = 5
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"[a-z]{4,}")


def made(n: int) -> tuple[list[Sample], list[Sample]]:
    """Two systems' samples of the same queries."""
    chance = random.Random(0)
    sentences = [
        one for text in documents().values() for one in _SENTENCE.split(text) if 30 < len(one) < 300
    ]
    words = sorted({word for one in sentences for word in _WORD.findall(one)})

    def varied(text: str) -> str:
        return _WORD.sub(lambda m: chance.choice(words) if chance.random() < 0.2 else m[0], text)

    corpus = [
        Passage(" ".join(varied(chance.choice(sentences)) for _ in range(4)), f"doc-{at:05d}")
        for at in range(2 * n)
    ]
    asked = [one.query_text for one in ragassay.load(path_of("hybrid"))]
    systems: tuple[list[Sample], list[Sample]] = ([], [])
    for at in range(n):
        query, gold = varied(asked[at % len(asked)]), corpus[at]
        for system, samples in enumerate(systems):
            passages = chance.sample(corpus, 5)
            if chance.random() < 0.7:
                passages[chance.randrange(5)] = gold
            said = [_SENTENCE.split(one.text or "")[0] for one in passages[:2]]
            samples.append(
                Sample(
                    id=f"q{at}",
                    query=query,
                    system=f"system {system}",
                    passages=tuple(passages),
                    answer=Answer(
                        f"{said[0]} [1] {said[1]} [2]",
                        tuple(
                            Statement(text, (one.id or "",))
                            for text, one in zip(said, passages, strict=False)
                        ),
                    ),
                    references=(_SENTENCE.split(gold.text or "")[0],),
                    gold=(GoldPassage(id=gold.id),),
                    answerability=Answerability.ANSWERABLE,
                    metadata={"topic": f"topic {at % 7}"},
                )
            )
    return systems


def evaluated(n: int, folder: str, system: int) -> Result:
    """The run of one of the systems."""
    return ragassay.evaluate(made(n)[system], METRICS, output=f"{folder}/{system}")


def timed(act: Callable[[], object]) -> float:
    """Seconds until something is done in a page."""
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def opened(browser: Any, path: Path, n: int) -> dict[str, float]:
    """Seconds that a page takes: to open, to open a row, to search."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def search() -> None:
        page.fill("#search", f"topic q{n - 1}")
        page.locator("#queries[aria-busy=false]").wait_for(timeout=120_000)

    def row() -> None:
        page.locator("#queries .expand").first.click()
        page.locator(".opened-row").first.wait_for()

    def start() -> None:
        page.goto(path.as_uri())
        page.wait_for_selector("#queries tbody tr")

    opening = timed(start)
    metrics = {
        one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]
    }
    found = {"open": opening, "its CPU": metrics["TaskDuration"]}
    found |= {"row": timed(row), "search": timed(search)}
    page.close()
    return found


def main() -> int:
    """Prints sizes and times; 1 where a page of 5,000 queries is too large."""
    n = 200 if "--quick" in sys.argv else 5_000
    with tempfile.TemporaryDirectory() as folder:
        with ProcessPoolExecutor(2) as workers:
            new, old = workers.map(partial(evaluated, n, folder), (0, 1))
        paths = {name: Path(folder) / f"{name}.html" for name in ("report", "comparison")}
        seconds = written(new, old, paths)
        sizes = {name: path.stat().st_size / 1e6 for name, path in paths.items()}
        times = in_browser(paths, n)
    print(f"{n:,} queries of {len(METRICS)} metrics\n")
    heads = ("MB", "written s", "open s", "its CPU s", "row s", "search s")
    print(f"{'page':<12}" + "".join(f"{head:>11}" for head in heads))
    for name in paths:
        cells = [sizes[name], seconds[name], *times.get(name, {}).values()]
        print(f"{name:<12}" + "".join(f"{cell:>11.2f}" for cell in cells))
    too_large = [name for name, size in sizes.items() if n == 5_000 and size > MAX_MB]
    for name in too_large:
        print(f"{name}: more than {MAX_MB:g} MB")
    for name, took in times.items():
        if n == 5_000 and took["open"] > MAX_S:
            print(f"{name}: opens in more than {MAX_S:g} s on this machine")
    return 1 if too_large else 0


def written(new: Result, old: Result, paths: dict[str, Path]) -> dict[str, float]:
    """Writes both pages; seconds of CPU that each took."""
    compared = ragassay.compare(new, old)
    begun = time.process_time()
    pages.write_report(new, paths["report"])
    middle = time.process_time()
    pages.write_comparison(compared, new, old, paths["comparison"])
    return {"report": middle - begun, "comparison": time.process_time() - middle}


def in_browser(paths: dict[str, Path], n: int) -> dict[str, dict[str, float]]:
    """The median seconds of some tries, by page; nothing without Chromium."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return {}
    if not CHROMIUM.exists():
        return {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        found = {}
        for name, path in paths.items():
            tries = [opened(browser, path, n) for _ in range(TRIES)]
            found[name] = {what: statistics.median(one[what] for one in tries) for what in tries[0]}
        browser.close()
    return found


if __name__ == "__main__":
    sys.exit(main())
