"""Files of JSON Lines."""

import json
from pathlib import Path
from typing import Any


def jsonl(path: str | Path, *records: Any) -> Path:
    """The file at a path, with a line a record."""
    Path(path).write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return Path(path)
