"""Judges in Python by their words: ``module:function``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragassay.base import plugins
from ragassay.base.errors import UsageError
from ragassay.judges.judge import Judge
from ragassay.judges.python_judge import identity_of
from ragassay.transport.providers import aliases, providers
from ragassay.user_code.object_loading import has_module, is_python_word, load_object

_OURS = ("offline", "replay")
"""Judges that are neither models nor code."""


def named_judges(judge: Any, *, typed: bool = True) -> list[Any]:
    """The judges that somebody named who may run code here: a word or an object, or several.

    Words of the form ``module:function`` become the objects that they name, unless the first part
    is a provider's name or that of another kind of judge.

    Args:
        judge: as it was given.
        typed: whether a person typed the words, see `load_object`.

    Raises:
        UsageError: the module has no such object, or fails.
    """
    if judge is None:
        return []
    listed = judge if isinstance(judge, list | tuple) else [judge]
    # A misspelt provider has the same form: where there is no such module, the word stays.
    return [
        load_object(one, "judge", typed=typed) if names_object(one) and has_module(one) else one
        for one in listed
    ]


def names_object(word: Any) -> bool:
    """Whether a judge's word means ``module:function``."""
    if not isinstance(word, str) or not is_python_word(word):
        return False
    first = word.strip().partition(":")[0].casefold()
    return first not in {*_OURS, *plugins.added("judges"), *providers(), *aliases()}


def word_of(judge: Any) -> str:
    """The word for a judge in a configuration: as it was given, or where the object is.

    Args:
        judge: a word or an object.

    Raises:
        UsageError: it is nothing that can be a judge.
    """
    if isinstance(judge, str):
        return judge
    if isinstance(judge, Judge):
        raise UsageError(
            f"The judge {judge.label} comes ready made, so it stands alone. Make the panel itself: "
            "ragassay.judges.Panel([...])."
        )
    return identity_of(judge).name


def check_judge_name(judges: Sequence[Any], name: str | None) -> None:
    """Refuses a name that is not for exactly one judge in Python.

    Args:
        judges: words and objects.
        name: for the answers of one of them.

    Raises:
        UsageError: see above.
    """
    n = sum(not isinstance(one, str) for one in judges)
    if name is not None and n != 1:
        problem = "there is none here" if n == 0 else f"there are {n} here"
        raise UsageError(
            f"--judge-name (judge_name={name!r}) names one judge in Python (a function, "
            f"module:function, a chat model), and {problem}."
        )
