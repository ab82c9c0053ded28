"""Where models are and how they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ModelOptions:
    """Where models are and how they run.

    Attributes:
        folders: a local folder for a model, by the model's name.
        device: ``cpu``, ``cuda``, ``cuda:1``; chosen by what the machine has where left out.
        dtype: ``float32`` (where left out), ``float16`` or ``bfloat16``.
        batch_size: texts that go through a model together at most; chosen by the device where left
            out. Scores do not depend on it, beyond rounding (1e-5 in single precision).
        cache_mib: memory for encodings that may be needed again.
    """

    folders: Mapping[str, str] = field(default_factory=dict)
    device: str | None = None
    dtype: str | None = None
    batch_size: int | None = None
    cache_mib: int = 1024


def in_half(options: ModelOptions) -> str:
    """The suffix that half precision adds to a model's identity, because it changes scores; else
    empty."""
    return "" if options.dtype in (None, "float32") else f":{options.dtype}"
