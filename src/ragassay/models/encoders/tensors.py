"""The numbers of a model, by their names, from safetensors, a format that cannot hold code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.base.errors import first_line
from ragassay.models.device import out_of_memory
from ragassay.models.weights.weight_files import Unusable

if TYPE_CHECKING:
    from torch import Tensor

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
"""One file, or the list of several."""


def tensors_of(folder: Path) -> dict[str, Tensor]:
    """All tensors of a model's folder by name, on the processor.

    Raises:
        Unusable: the files are missing or damaged.
    """
    try:
        for name in (SINGLE, INDEX):
            if (folder / name).is_file():
                return _read(folder / name)
    except Unusable:
        raise
    except Exception as error:  # each format fails in its own way
        if out_of_memory(error):
            raise
        problem = first_line(error)
        raise Unusable(f"{folder / name} is damaged ({problem}); copy or fetch it again") from error
    raise Unusable(f"{folder} holds no weights as safetensors ({SINGLE} or {INDEX})")


def _read(path: Path) -> dict[str, Tensor]:
    from safetensors.torch import load_file

    if path.name == SINGLE:
        return dict(load_file(path))
    listed: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))["weight_map"]
    tensors: dict[str, Tensor] = {}
    for name in sorted(set(listed.values())):
        piece = path.parent / name
        if not piece.is_file():
            raise Unusable(f"{path.parent} lacks {name}, which {path.name} lists")
        tensors.update(load_file(piece))
    return tensors
