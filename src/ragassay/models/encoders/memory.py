"""Caches of a model's results, up to a number of bytes, and a file for what has no room there.

A pass of a large encoder takes seconds; reading its vectors from a file takes a millisecond.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Hashable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar, cast

if TYPE_CHECKING:
    import torch

V = TypeVar("V")

_SHARE = 0.5
"""Share of the free space in the folder of temporary files that may be used."""


def text_key(text: str) -> bytes:
    """A key that replaces a text, so that the text need not be kept."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class ByteCache(Generic[V]):
    """Keeps values up to a number of bytes; the one unused for longest is dropped first.

    A value larger than the cache is not kept in it.
    """

    def __init__(self, limit: int, backing: Any = None) -> None:
        self.limit = limit
        self.size = 0
        self._values: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._backing = backing

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> V | None:
        """The value, which then counts as just used; ``None`` where it is not kept."""
        entry = self._values.get(key)
        if entry is None:
            return None if self._backing is None else self._backing.get(key)
        self._values.move_to_end(key)
        return entry[0]

    def put(self, key: Hashable, value: V, size: int) -> None:
        """Keeps a value of so many bytes; drops those unused for longest where there is no room."""
        previous = self._values.pop(key, None)
        if previous is not None:
            self.size -= previous[1]
        if size > self.limit:
            self._drop(key, value)
            return
        self._values[key] = (value, size)
        self.size += size
        while self.size > self.limit:
            oldest, (dropped, freed) = self._values.popitem(last=False)
            self.size -= freed
            self._drop(oldest, dropped)

    def _drop(self, key: Hashable, value: V) -> None:
        if self._backing is not None:
            self._backing.put(key, value)


class VectorFile:
    """Tensors of float32, shape (tokens, dimensions), by keys of bytes; each is written once.

    The file has no name and disappears with the process. It takes at most half of the free space in
    the folder of temporary files (``TMPDIR``); a tensor without room, or that cannot be written, is
    not kept.
    """

    def __init__(self, dimensions: int, device: torch.device) -> None:
        self._dimensions, self._device = dimensions, device
        self._file: BinaryIO | None = None
        self._places: dict[Hashable, tuple[int, int]] = {}
        self._end = self._most = 0
        self.full = False

    def get(self, key: Hashable) -> torch.Tensor | None:
        """The tensor; ``None`` where it is not kept."""
        import torch

        place = self._places.get(key)
        if place is None or self._file is None:
            return None
        begin, size = place
        self._file.seek(begin)
        content = bytearray(self._file.read(size))
        rows = torch.frombuffer(content, dtype=torch.float32).reshape(-1, self._dimensions)
        return rows.to(self._device)

    def put(self, key: Hashable, value: torch.Tensor) -> None:
        """Keeps a tensor, if there is room and it is not kept yet."""
        size = value.numel() * 4
        if self.full or not size or key in self._places:
            return
        try:
            if self._file is None:
                self._file = cast(BinaryIO, tempfile.TemporaryFile(buffering=0))  # noqa: SIM115
                self._most = int(shutil.disk_usage(tempfile.gettempdir()).free * _SHARE)
            if self._end + size > self._most:
                self.full = True
                return
            self._file.seek(self._end)
            content = value.cpu().contiguous().numpy().tobytes()
            self.full = self._file.write(content) != size  # a full disk takes only a part
        except OSError:
            self.full = True
            return
        if not self.full:
            self._places[key] = (self._end, size)
            self._end += size
