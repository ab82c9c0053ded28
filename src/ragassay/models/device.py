"""Where a model runs, in which precision, and how many texts go through it at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from ragassay.base.errors import UsageError
from ragassay.models.model_options import ModelOptions
from ragassay.models.weights.weight_files import Unusable

if TYPE_CHECKING:
    import torch

R = TypeVar("R")

TOKENS = {"cpu": 4_096, "cuda": 65_536}
"""Tokens that go through a model together, padding included, unless a batch size is given."""

_MOST = 256  # texts that go through together at most, however short
_DTYPES = ("float32", "float16", "bfloat16")
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")
_NO_MEMORY = re.compile(r"not enough memory|can't allocate memory|out of memory|ALLOC_FAILED")


def check_device(name: str) -> str:
    """A name of a device, unchanged, or a `UsageError`; there may be none of it on this machine."""
    if not _DEVICE.fullmatch(name):
        raise UsageError(f"must be auto, cpu, cuda, cuda:N (N from 0) or mps, not {name!r}")
    return name


def device_of(options: ModelOptions) -> torch.device:
    """The device to run on, or a `UsageError` where this machine has none of that name."""
    import torch

    name = "auto" if options.device is None else options.device
    try:
        check_device(name)
    except UsageError as error:
        raise UsageError(f"--device: {error}.") from None
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device = torch.device(name)
    n = torch.cuda.device_count()
    if device.type == "cuda" and (device.index or 0) >= n:
        there_are = f"cuda:0 to cuda:{n - 1} only" if n else "no CUDA device that PyTorch can use"
        raise UsageError(f"--device {name}: this machine has {there_are}. 'cpu' is always there.")
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise UsageError(f"--device {name}: this machine has none. 'cpu' is always there.")
    return device


def dtype_of(options: ModelOptions) -> torch.dtype:
    """The precision to run in: single by default."""
    import torch

    name = options.dtype or "float32"
    if name not in _DTYPES:
        raise UsageError(f"--dtype {name}: must be one of {', '.join(_DTYPES)}.")
    dtype: torch.dtype = getattr(torch, name)
    return dtype


@contextmanager
def loading(device: torch.device) -> Iterator[None]:
    """Turns a lack of memory while a model is loaded into an `Unusable` that says what to do."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
        raise Unusable(
            f"the model does not fit into the memory of {device}: use another --device, or "
            "--dtype bfloat16"
        ) from error


def overflow(dtype: torch.dtype) -> str:
    """The message that a model's numbers are not finite, with what to do."""
    import torch

    if dtype == torch.float32:
        return "the model gave no finite numbers: its weights may be damaged, fetch them again"
    other = " or bfloat16" if dtype == torch.float16 else ""
    name = str(dtype).removeprefix("torch.")
    return f"the model gave no finite numbers in {name}: use --dtype float32{other}"


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Limits torch to ``n`` threads of the processor, and restores the number afterwards."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(min(n, before))
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Batches:
    """Groups texts of similar length, and halves the batches when memory runs out."""

    def __init__(self, device: torch.device, size: int | None = None) -> None:
        self._size = size or _MOST
        self._tokens = None if size else TOKENS.get(device.type, TOKENS["cpu"])

    def run(
        self, lengths: Sequence[int], forward: Callable[[Sequence[int]], Sequence[R]]
    ) -> list[R]:
        """The results of ``forward`` for all items, in the items' order."""
        order = sorted(range(len(lengths)), key=lambda at: -lengths[at])
        results_of: dict[int, R] = {}
        begin = 0
        while begin < len(order):
            batch = order[begin : begin + self._fitting(lengths[order[begin]])]
            try:
                results = forward(batch)
            except (RuntimeError, MemoryError) as error:
                if not out_of_memory(error):
                    raise
                self._halve(len(batch), lengths[batch[0]], error)
                continue
            results_of.update(zip(batch, results, strict=True))
            begin += len(batch)
        return [results_of[at] for at in range(len(lengths))]

    def _fitting(self, length: int) -> int:
        by_tokens = self._size if self._tokens is None else self._tokens // max(1, length)
        return max(1, min(self._size, by_tokens))

    def _halve(self, n: int, length: int, error: Exception) -> None:
        import torch

        if n == 1:
            raise MemoryError(
                f"a text of {length} tokens does not fit into memory ({error}); use another "
                "--device, or --dtype bfloat16"
            ) from error
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        if self._tokens is None:
            self._size = max(1, n // 2)
        else:  # the tokens were too many: as many short texts as before may go together
            self._tokens = max(1, n * length // 2)


def out_of_memory(error: Exception) -> bool:
    """Whether memory ran out, of the machine or of its GPU."""
    import torch

    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return bool(_NO_MEMORY.search(str(error)))
