"""Which kinds of question there are."""

from __future__ import annotations

from functools import cache
from typing import Any

from ragassay.base import package_files
from ragassay.judges.question import Question


def kinds() -> dict[str, type[Question[Any]]]:
    """All types of question by their kind, those of extensions that are imported included."""
    _import_all()
    types: dict[str, type[Question[Any]]] = {}
    waiting: list[type[Question[Any]]] = list(Question.__subclasses__())
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        if "kind" in vars(cls):
            types[cls.kind] = cls
    return dict(sorted(types.items()))


@cache
def _import_all() -> None:
    for _ in package_files.modules("ragassay.judges.questions"):
        pass
