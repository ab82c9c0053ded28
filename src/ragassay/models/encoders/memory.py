"""What a model has found, kept for the next who asks, up to so many bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar

V = TypeVar("V")


class Store(Protocol[V]):
    """A further place for values."""

    def get(self, key: Hashable) -> V | None:
        """The value; ``None`` where it is not kept."""

    def put(self, key: Hashable, value: V) -> None:
        """Keeps a value, if there is room."""


class ByteCache(Generic[V]):
    """Keeps values up to a number of bytes; the one unused for longest goes first.

    A value larger than the whole cache is not kept in it.

    Args:
        limit: bytes at most.
        beyond: where values go that have no room here, and are looked for.
    """

    def __init__(self, limit: int, beyond: Store[V] | None = None) -> None:
        self.limit = limit
        self.size = 0
        self._values: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._beyond = beyond

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> V | None:
        """The value, which counts as used now; ``None`` where it is not kept."""
        found = self._values.get(key)
        if found is None:
            return None if self._beyond is None else self._beyond.get(key)
        self._values.move_to_end(key)
        return found[0]

    def put(self, key: Hashable, value: V, size: int) -> None:
        """Keeps a value of ``size`` bytes, in place of what was unused for longest."""
        before = self._values.pop(key, None)
        if before is not None:
            self.size -= before[1]
        if size > self.limit:
            self._drop(key, value)
            return
        self._values[key] = (value, size)
        self.size += size
        while self.size > self.limit:
            old, (gone, freed) = self._values.popitem(last=False)
            self.size -= freed
            self._drop(old, gone)

    def _drop(self, key: Hashable, value: V) -> None:
        if self._beyond is not None:
            self._beyond.put(key, value)
