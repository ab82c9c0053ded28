"""``ragassay demo``: the main job on bundled data."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ragassay.cli import show
from ragassay.cli.exits import OK
from ragassay.cli.flags import Switch

NEW, OLD = "hybrid", "keyword"
METRICS = [
    *("nDCG@10", "RR", "Recall@5", "P@5", "SpanHit@1", "SpanR@5", "CharIoU@5"),
    *("contains_answer", "exact_match", "token_f1.f", "rougeL(tokens=unicode).f", "BLEU"),
    *("citation.f1", "rl_f", "answerability_accuracy"),
]


def demo(
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("ragassay-demo"),
    json: Switch = False,
) -> int:
    """Evaluate two small RAG systems on a bundled dataset, compare them, write HTML reports.

    No key, no network, no configuration. The dataset is invented but real-looking: documents,
    questions with gold spans and references, unanswerable questions, and conversations.

    Args:
        output: Folder for the two run folders and the comparison.
        json: Print the comparison as JSON.
    """
    from ragassay.engine import compare, evaluate
    from ragassay.examples import path_of
    from ragassay.reports import folder
    from ragassay.reports.html import pages
    from ragassay.reports.text import terminal

    out = show.console()
    results = {}
    for name in (NEW, OLD):
        with show.progress(f"scoring {name}") as progress:
            results[name] = evaluate(path_of(name), METRICS, save=output / name, progress=progress)
        folder.write_reports(results[name])
    comparison = compare(results[NEW], results[OLD])
    page = output / "comparison.html"
    with show.status("writing the comparison"):
        pages.write_comparison(comparison, results[NEW], results[OLD], page)
    if json:
        show.json(comparison.to_json())
        return OK
    out.print(terminal.summary_table(results[NEW].summary))
    out.print(terminal.comparison_table(comparison))
    out.print("Look at them:", style="bold")
    paths = (page, *(output / name / "report.html" for name in (NEW, OLD)))
    runs = shlex.join(str(output / name) for name in (NEW, OLD))
    by_hand = f"The same by hand:  ragassay compare {runs}"
    show.lines(*(f"  {path.resolve()}" for path in paths), by_hand)
    return OK
