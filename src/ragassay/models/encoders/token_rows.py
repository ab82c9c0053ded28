"""Rows of tokens in the form that a model takes: of one length, with a mask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch
    from numpy.typing import ArrayLike


def padded(
    rows: Sequence[ArrayLike], lengths: Sequence[int], device: torch.device, pad: int = 0
) -> dict[str, torch.Tensor]:
    """The arguments with which a model is called.

    Args:
        rows: token numbers, as many as ``lengths`` says.
        lengths: of the rows, at least one.
        device: where the model is.
        pad: the number that fills up a row.

    Returns:
        ``input_ids`` and ``attention_mask`` (1 for a token, 0 for what fills up), each of shape
        (rows, longest).
    """
    import torch

    shape = (len(rows), max(lengths))
    ids, mask = np.full(shape, pad, np.int64), np.zeros(shape, np.int64)
    for at, (row, length) in enumerate(zip(rows, lengths, strict=True)):
        ids[at, :length] = row
        mask[at, :length] = 1
    return {
        "input_ids": torch.from_numpy(ids).to(device),
        "attention_mask": torch.from_numpy(mask).to(device),
    }
