"""How long the check of a golden set takes: ``python -m benchmarks.golden_checking``.

The bundled set is multiplied, each copy with other words. The peer is one plain pass of the metrics
over the same answers: what the check does beside that is its own cost.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
from pathlib import Path

import ragassay
from ragassay.engine.run.evaluation import evaluate
from ragassay.golden.checks.golden_checks import check
from ragassay.golden.checks.item_checks import METRICS
from ragassay.golden.documents import load_documents
from ragassay.golden.golden_folder import GoldenSet, with_contexts
from ragassay.golden.golden_item import GoldenItem

TOWN = Path(ragassay.__file__).parent / "examples" / "town"


def main() -> int:
    """Prints seconds, memory, and the ratio to the plain pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="500 items")
    n = 500 if parser.parse_args().quick else 10_000
    documents = load_documents(TOWN / "documents")
    source = random.Random(0)
    base = [GoldenItem.of_sample(one) for one in ragassay.load(TOWN / "queries.jsonl")]
    with_contexts(base, documents)
    items = []
    for at in range(n):
        item = base[at % len(base)].model_copy(deep=True)
        words = "".join(source.choices("abcdefghij", k=12))
        item.id, item.query = f"{item.id}-{at}", f"{words} {item.query} {words[::-1]}"
        item.references = [f"{one} {words[:4]}" for one in item.references]
        items.append(item)
    golden = GoldenSet(Path("golden"), items, TOWN / "documents")
    began = time.perf_counter()
    found = check(golden, evaluate=evaluate)
    took = time.perf_counter() - began
    samples = [
        {"id": one.id, "answer": two, "references": one.references}
        for one in items
        for two in one.references[:1]
    ]
    began = time.perf_counter()
    ragassay.evaluate(samples, metrics=METRICS)
    plain = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{n:,} items checked in {took:.1f} s, {memory:,.0f} MB, {len(found.findings):,} findings"
    )
    print(f"one pass of four metrics takes {plain:.1f} s: x {took / plain:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
