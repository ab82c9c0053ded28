"""Results that need all samples of a run, which no window has (idf weights)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar, cast

from ragassay.samples import Sample

T = TypeVar("T")


class AllSamples:
    """Results that need all samples of a run, each computed once and shared by the run's windows.

    Args:
        read: opens the samples from the beginning; ``None`` where they can be read only once.
    """

    def __init__(self, read: Callable[[], Iterable[Sample]] | None) -> None:
        self._read = read
        self._memo: dict[Hashable, Any] = {}

    @property
    def readable(self) -> bool:
        """Whether the samples can be read once more."""
        return self._read is not None

    def once(self, build: Callable[..., T], *args: Hashable) -> T:
        """``build(samples, *args)``, computed on the first call and remembered for the run.

        Args:
            build: a function of all samples and ``args``; the same one means the same result.
            *args: further arguments of ``build``; they are part of the key, so they must be
                hashable.

        Raises:
            ValueError: the samples can be read only once (see `readable`).
        """
        key = (build, args)
        if key not in self._memo:
            if self._read is None:
                raise ValueError("these samples can be read only once")
            self._memo[key] = build(self._read(), *args)
        return cast(T, self._memo[key])
