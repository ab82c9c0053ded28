"""A file for vectors of tokens that have no room in memory.

A pass of a large encoder takes seconds; reading its vectors takes a millisecond.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Hashable
from hashlib import blake2b
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    import torch

_SHARE = 0.5
"""Share of the free space in the folder of temporary files that may be used."""


class VectorFile:
    """Tensors of float32, shape (tokens, dimensions), by keys of bytes; each is written once.

    The file has no name and disappears with the process. It takes at most half of the free space in
    the folder of temporary files (``TMPDIR``); a tensor without room, or that cannot be written, is
    not kept.

    Args:
        dimensions: length of a vector.
        device: the device of the tensors.
    """

    def __init__(self, dimensions: int, device: torch.device) -> None:
        self._dimensions, self._device = dimensions, device
        self._file: BinaryIO | None = None
        self._places: dict[bytes, tuple[int, int]] = {}
        self._end = self._most = 0
        self.full = False

    def get(self, key: Hashable) -> torch.Tensor | None:
        """The tensor; ``None`` where it is not kept."""
        import torch

        place = self._places.get(_short(key))
        if place is None or self._file is None:
            return None
        begin, size = place
        try:
            self._file.seek(begin)
            content = bytearray(self._file.read(size))
        except OSError:
            return None
        if len(content) != size:
            return None
        rows = torch.frombuffer(content, dtype=torch.float32).reshape(-1, self._dimensions)
        return rows.to(self._device)

    def put(self, key: Hashable, value: torch.Tensor) -> None:
        """Keeps a tensor, if there is room and it is not kept yet.

        Args:
            key: bytes that identify it.
            value: shape (tokens, dimensions).
        """
        short = _short(key)
        size = value.numel() * 4
        if self.full or not size or short in self._places:
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
            self._places[short] = (self._end, size)
            self._end += size


def _short(key: Hashable) -> bytes:
    """Sixteen bytes for a row of tokens, which may be as long as a text."""
    return blake2b(cast(bytes, key), digest_size=16).digest()
