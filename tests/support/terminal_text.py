"""What a terminal shows."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType


def shown(
    renderable: RenderableType, width: int = 100, encoding: str = "utf-8", **options: object
) -> str:
    """The text of a renderable in a terminal of this width."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=stream, width=width, **options)  # type: ignore[arg-type]
    console.print(renderable)
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
