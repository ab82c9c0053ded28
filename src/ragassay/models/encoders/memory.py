"""A cache of a model's results, up to a number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from hashlib import blake2b
from typing import Generic, TypeVar

V = TypeVar("V")


def text_key(text: str) -> bytes:
    """A key that replaces a text, so that the text need not be kept."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class ByteCache(Generic[V]):
    """Keeps values up to a number of bytes; the one unused for longest is dropped first, and a
    value larger than the cache is not kept."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        self._values: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> V | None:
        """The value, which then counts as just used; ``None`` where it is not kept."""
        entry = self._values.get(key)
        if entry is None:
            return None
        self._values.move_to_end(key)
        return entry[0]

    def put(self, key: Hashable, value: V, size: int) -> None:
        """Keeps a value of so many bytes; drops those unused for longest where there is no room."""
        previous = self._values.pop(key, None)
        if previous is not None:
            self.size -= previous[1]
        if size > self.limit:
            return
        self._values[key] = (value, size)
        self.size += size
        while self.size > self.limit:
            _, (_, freed) = self._values.popitem(last=False)
            self.size -= freed
