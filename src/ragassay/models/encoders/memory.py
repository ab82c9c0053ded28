"""Caches of a model's results, up to a number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from hashlib import blake2b
from typing import Generic, Protocol, TypeVar

V = TypeVar("V")


class BackingStore(Protocol[V]):
    """A second place for values that have no room in a cache."""

    def get(self, key: Hashable) -> V | None:
        """The value; ``None`` where it is not kept."""

    def put(self, key: Hashable, value: V) -> None:
        """Keeps a value, if there is room.

        Args:
            key: identifies the value.
            value: the value.
        """


def text_key(text: str) -> bytes:
    """A key that replaces a text, so that the text need not be kept."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class ByteCache(Generic[V]):
    """Keeps values up to a number of bytes; the one unused for longest is dropped first.

    A value larger than the cache is not kept in it.

    Args:
        limit: most bytes.
        beyond: takes values that have no room here, and is searched for them.
    """

    def __init__(self, limit: int, beyond: BackingStore[V] | None = None) -> None:
        self.limit = limit
        self.size = 0
        self._values: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._beyond = beyond

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> V | None:
        """The value, which then counts as just used; ``None`` where it is not kept."""
        entry = self._values.get(key)
        if entry is None:
            return None if self._beyond is None else self._beyond.get(key)
        self._values.move_to_end(key)
        return entry[0]

    def put(self, key: Hashable, value: V, size: int) -> None:
        """Keeps a value and drops those unused for longest where there is no room.

        Args:
            key: identifies the value.
            value: the value.
            size: its size in bytes.
        """
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
