"""Judging at full pace: against the ideal, and from a ledger; calls for one sample.

``python -m benchmarks.judging [--quick]``. A server that speaks the OpenAI chat API and answers
after a given time runs in a process of its own; the real LLM judge asks it through its ledger. The
numbers are the whole way of a question: prompt, request, reply, validation, commit with full sync.
"""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CONCURRENCY = 64
TRIES = 3

Report = dict[str, float]


def main() -> None:
    """Runs each part in a process of its own, so that none warms another up."""
    if len(sys.argv) > 1 and sys.argv[1] == "--part":
        print(json.dumps(ask(*map(json.loads, sys.argv[2:]))))
        return
    quick = "--quick" in sys.argv
    pace(500 if quick else 2000)
    resume(2000 if quick else 20_000)
    calls()


def pace(n: int) -> None:
    print(
        f"{n} judged calls, concurrency {CONCURRENCY}, server in a process of its own; the best of "
        f"{TRIES},\nbecause other work on the machine can only add\n"
    )
    print(
        f"{'latency':>8} {'ideal s':>8} {'wall s':>7} {'ratio':>6} {'CPU ms/call':>12} "
        f"{'CPU share':>10} {'peak MiB':>9} {'before':>7}"
    )
    for latency in (0.2, 0.05):
        with serving(latency=latency) as url, tempfile.TemporaryDirectory() as folder:
            tries = [asked(url, f"{folder}/{at}.sqlite", n) for at in range(TRIES)]
        got = min(tries, key=lambda report: report["wall"])
        ideal = n * latency / CONCURRENCY
        print(
            f"{latency * 1000:>5.0f} ms {ideal:>8.2f} {got['wall']:>7.2f} "
            f"{got['wall'] / ideal:>5.2f}x {got['cpu'] / n * 1000:>12.2f} "
            f"{got['cpu'] / got['wall']:>9.0%} {got['peak']:>9.0f} {got['before']:>7.0f}"
        )
        assert got["calls"] == n


def resume(n: int) -> None:
    print(f"\nA finished run of {n} answers, asked again\n")
    with serving() as url, tempfile.TemporaryDirectory() as folder:
        ledger = f"{folder}/ledger.sqlite"
        first = asked(url, ledger, n)
        again = asked(url, ledger, n)
        size = Path(ledger).stat().st_size
    assert first["calls"] == n
    print(
        f"{'judge_answers':>9} {'first s':>8} {'again s':>8} {'calls':>6} {'peak MiB':>9} "
        f"{'file MiB':>9}"
    )
    print(
        f"{n:>9} {first['wall']:>8.2f} {again['wall']:>8.2f} {again['calls']:>6.0f} "
        f"{again['peak']:>9.0f} {size / 2**20:>9.1f}"
    )


def calls() -> None:
    """Counted on one sample as in reference/peers.md 4.2, whose figures stand below ours."""
    print(
        "\nCalls for one sample: 5 passages of 150 words, 4 sentences with a citation each, 6 "
        "claims,\n20 nuggets; 'in a row' is how many of them wait for one another\n"
    )
    print(f"{'suite':<30} {'calls':>6} {'tokens in':>10} {'tokens out':>11} {'in a row':>9}")
    suites = ("trecrag", "mtrag", "ragreport")
    one_sample(suites, 0.0)  # imports
    for names in (*((name,) for name in suites), ("answer_match",), (*suites, "answer_match")):
        fast, slow = (one_sample(names, latency) for latency in (0.3, 0.6))
        row = round((slow["wall"] - fast["wall"]) / 0.3)
        print(
            f"{' + '.join(names)[:30] if len(names) < 3 else 'all of these together':<30} "
            f"{fast['calls']:>6.0f} {fast['input']:>10,.0f} {fast['output']:>11,.0f} {row:>9}"
        )
    print("peers with their own metrics on such a sample, from reference/peers.md:")
    for name, n, read, written, deep in PEERS:
        print(f"{name:<30} {n:>6} {read:>10} {written:>11} {deep:>9}")


PEERS = (
    ("open-rag-eval, TREC", "17-20", "", "", "17-20"),
    ("ragas, 11 metrics", "39", "42,800", "6,400", "13"),
    ("deepeval, 6 metrics", "19", "14,200", "", "3"),
    ("RAGChecker, 11 metrics", "26", "", "", ""),
)


def one_sample(names: Sequence[str], latency: float) -> Report:
    """What a sample costs with some suites (or metrics), in this process."""
    import ragassay

    sys.path.insert(0, str(ROOT / "tests" / "support"))
    from llm_server import LLMServer  # type: ignore[import-not-found]

    passages = passages_of(5)
    answer = " ".join(f"{text[:60]} [{n}]." for n, text in enumerate(passages[:4], start=1))
    sample = {
        "id": "q1",
        "query": "What is known about the five?",
        "contexts": passages,
        "answer": answer,
        "references": [" ".join(text[:60] for text in passages)],
    }
    with LLMServer(rule, latency=latency) as server, tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        result = ragassay.evaluate(
            [sample], list(names), judge=f"{server.url}#m", ledger=f"{folder}/ledger.sqlite"
        )
        wall = time.perf_counter() - begun
    spent = result.summary.judging
    assert spent is not None and not spent.failures, spent
    return {
        "calls": spent.calls,
        "input": spent.input_tokens,
        "output": spent.output_tokens,
        "wall": wall,
    }


def rule(request: Any) -> Any:
    """Six claims, twenty nuggets and none left after these, every passage relevant."""
    from llm_server import default_rule

    said = default_rule(request)
    if "claims" in said:
        return {"claims": [f"Claim {n} holds." for n in range(6)]}
    if "nuggets" in said:
        listed = any(name.startswith("nuggets already") for name, _ in request.fences)
        return {"nuggets": [] if listed else [f"fact {n} on subject {n}" for n in range(20)]}
    if "trust" in said:
        return {"match": 2, "trust": 2, "grade": 2}
    return said


# --- the parts, each in its own process -------------------------------------------------------


def ask(url: str, ledger: str, n: int) -> Report:
    """``n`` different questions through an asker, as an engine's windows ask them."""
    from ragassay.judges.asking import Ask
    from ragassay.judges.questions import RelevanceGrade

    texts = passages_of(n)
    questions = [RelevanceGrade(f"What is {at}?", text) for at, text in enumerate(texts)]

    async def work(asker: Any) -> None:
        for begin in range(0, n, 4096):
            await Ask(asker).each(questions[begin : begin + 4096])

    return measured(url, ledger, work)


def measured(url: str, ledger: str, work: Any) -> Report:
    """Wall and CPU seconds, calls and peak memory, from an open judge to a closed one."""
    from ragassay.judges import JudgeOptions
    from ragassay.judges.asking import Asker
    from ragassay.judges.judge_factory import make_judge
    from ragassay.judges.ledger.ledger_store import Ledger

    options = JudgeOptions(concurrency=CONCURRENCY)
    with Ledger(ledger) as book:
        judge = make_judge([f"{url}#m"], default_model="m", ledger=book, options=options)
        asker = Asker(judge)
        asker.submit(asyncio.sleep(0)).result()  # opens the judge
        gc.freeze()  # as the command does
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        wall, cpu = time.perf_counter(), time.process_time()
        with asker:
            asker.submit(work(asker)).result()
    return {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "calls": asker.usage.calls,
        "failed": sum(asker.usage.failures.values()),
        "before": before,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def asked(*values: object) -> Report:
    """What `ask` reports in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.judging", "--part", *map(json.dumps, values)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=ROOT)
    report: Report = json.loads(done.stdout)
    assert not report["failed"], report
    return report


def serving(**settings: float) -> Any:
    """The tests' server, in a process."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    from llm_server import server_process

    return server_process(**settings)


def passages_of(n: int, seed: int = 0) -> list[str]:
    """Different passages of about 150 words."""
    import random

    draw = random.Random(seed)
    words = [f"{a}{b}" for a in "bcdfglmnprstv" for b in ("ad", "elo", "ira", "on", "ulet", "ys")]
    return [f"{at}: {' '.join(draw.choices(words, k=150))}." for at in range(n)]


if __name__ == "__main__":
    main()
