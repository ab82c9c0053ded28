"""Where models are and how they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ModelOptions:
    """Where models are and how they run. ``folders``: a local folder by the model's name;
    ``dtype``: ``float32`` (where left out), ``float16`` or ``bfloat16``; ``batch_size``: texts that
    go through a model together at most (scores do not depend on it beyond rounding, 1e-5);
    ``cache_mib``: memory for encodings that may be needed again."""

    folders: Mapping[str, str] = field(default_factory=dict)
    device: str | None = None
    dtype: str | None = None
    batch_size: int | None = None
    cache_mib: int = 1024


def in_half(options: ModelOptions) -> str:
    """The suffix of a model's identity in half precision, which changes scores; else empty."""
    return "" if options.dtype in (None, "float32") else f":{options.dtype}"
