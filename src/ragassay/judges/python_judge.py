"""A judge in Python: a user's function (named ``module:function``), a chat model of LangChain or
LlamaIndex, or a client of datapizza. It is asked as any model is; its answers are kept where the
object can be distinguished from one that would answer otherwise."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from types import SimpleNamespace
from typing import Any, cast

from typing_extensions import override

from ragassay.base.errors import UsageError
from ragassay.judges.judge import Judge
from ragassay.judges.ledger.ledger_store import MEMORY, Ledger
from ragassay.judges.llm.llm_judge import LLMJudge
from ragassay.transport.endpoints.endpoint import TIMEOUT_S
from ragassay.transport.endpoints.python_chat import PythonChat
from ragassay.user_code.code_sources import (
    is_as_written,
    is_defined_once,
    is_installed,
    own_classes,
    source_of,
)

_MODEL = ("model_name", "model", "model_id", "deployment_name", "azure_deployment")
"""Attributes by which chat models name the model that answers."""

_KEYS = re.compile(r"(^|_)(key|secret|password|credentials?|token)$", re.IGNORECASE)
_DEEPEST = 8
_UNKEPT = "its state cannot be distinguished from another's"


class _UnkeptError(Exception):
    """An object has a state that cannot be distinguished from another's."""


@dataclass(frozen=True, slots=True)
class ObjectIdentity:
    """What tells a judge in Python from others: a name for people, and in ``version`` what else its
    answers depend on. ``unkept`` says why its answers are not kept; empty where they are."""

    name: str
    version: str = ""
    unkept: str = ""


class PythonJudge(LLMJudge):
    """A Python object as a judge."""

    def __init__(
        self,
        judge: Any,
        name: str | None = None,
        *,
        ledger: Ledger,
        timeout: float = TIMEOUT_S,
        **options: Any,
    ) -> None:
        self.identity = ObjectIdentity(name) if name else identity_of(judge)
        self._own = Ledger(MEMORY) if self.identity.unkept else None
        shown, version = self.identity.name, self.identity.version
        super().__init__(
            PythonChat(judge, shown, version, timeout=timeout),
            shown,
            ledger=self._own or ledger,
            label=f"python:{shown}",
            timeout=timeout,
            **options,
        )

    @property
    @override
    def signature(self) -> str:
        version = self.identity.version
        return f"{self.label}({version})" if version else self.label

    @override
    async def close(self) -> None:
        await super().close()
        if self._own is not None:
            self._own.close()

    @override
    def remarks(self) -> tuple[str, ...]:
        if not self.identity.unkept:
            return ()
        return (
            f"The answers of {self.label} are not kept in the ledger, because "
            f"{self.identity.unkept}: the next run asks again. Name it with --judge-name "
            "(judge_name=...) to keep them; change that name when the judge changes.",
        )


def word_of(judge: Any) -> str:
    """The word for a judge in a configuration: as it was given, or where the object is; a
    `UsageError` where it is nothing that can be a judge."""
    if isinstance(judge, str):
        return judge
    if isinstance(judge, Judge):
        raise UsageError(
            f"The judge {judge.label} is an object, so it cannot be in a list. Make the panel "
            "itself: ragassay.judges.Panel([...])."
        )
    return identity_of(judge).name


def identity_of(judge: Any) -> ObjectIdentity:
    """What identifies an object: its ``version`` and its model's name where it has one; of a
    function the hash of its file, and its defaults; of a chat model its class, its model's name,
    and a hash of its attributes (`_plain`) and of its class's files where that is no installed
    package."""
    is_function = inspect.isroutine(judge)
    own = getattr(judge, "__qualname__", None) or type(judge).__qualname__
    short = own.rpartition("<locals>.")[2].strip("<>")
    module = getattr(judge, "__module__", None) or type(judge).__module__
    place = short if module in ("__main__", "builtins") else f"{module}:{short}"
    version = getattr(judge, "version", None)
    model = "" if is_function else _model_of(judge)
    if isinstance(version, str | int) and str(version):
        details = f"version={version},model={model}" if model else f"version={version}"
        return ObjectIdentity(place, details)
    if not is_function:
        return _identity_of_model(judge, model, place)
    if own.endswith("<lambda>"):
        return ObjectIdentity(place, unkept="a lambda has no name")
    if "<locals>" in own or getattr(judge, "__closure__", None):
        return ObjectIdentity(place, unkept="it is defined within another function")
    if getattr(judge, "__self__", None) is not None and not inspect.isbuiltin(judge):
        return ObjectIdentity(place, unkept="it is a method of an object with a state of its own")
    source = source_of(judge)
    if not source:
        return ObjectIdentity(place, unkept="no file holds its source")
    if not is_as_written(judge):
        return ObjectIdentity(place, unkept="its file was changed after it was imported")
    details = f"source={source}"
    # A file may define several functions of one name: by conditions, or in a loop with defaults.
    if not is_defined_once(judge):
        details += f",line={judge.__code__.co_firstlineno}"
    made_with = ("__defaults__", "__kwdefaults__", "__dict__")
    values = [getattr(judge, name, None) or None for name in made_with]
    try:
        state = f",state={_hashed(values)}" if any(values) else ""
    except _UnkeptError:
        return ObjectIdentity(place, unkept=_UNKEPT)
    return ObjectIdentity(place, details + state)


def _identity_of_model(chat_model: Any, model: str, place: str) -> ObjectIdentity:
    if not model:
        return ObjectIdentity(place, unkept=_UNKEPT)
    for cls in own_classes(type(chat_model)):
        if not source_of(cls):
            return ObjectIdentity(place, unkept="no file holds the source of its class")
        if not is_as_written(cls):
            return ObjectIdentity(place, unkept="its file was changed after it was imported")
    try:
        state = _hashed([*_class_of(chat_model), _attributes_of(chat_model)])
    except _UnkeptError:
        return ObjectIdentity(place, unkept=_UNKEPT)
    return ObjectIdentity(f"{type(chat_model).__name__}:{model}", f"state={state}")


def _model_of(chat_model: Any) -> str:
    holders = (chat_model, getattr(chat_model, "metadata", None))  # that of LlamaIndex
    names = (getattr(holder, attribute, None) for holder in holders for attribute in _MODEL)
    return next((name for name in names if isinstance(name, str) and name), "")


def _hashed(value: Any) -> str:
    return hashlib.sha256(json.dumps(_plain(value), sort_keys=True).encode()).hexdigest()[:16]


def _class_of(value: Any) -> list[str]:
    """Name and source of an object's class; the sources of all classes that are no package's."""
    cls = type(value)
    sources = dict.fromkeys(source_of(own_class_name) for own_class_name in own_classes(cls))
    return [cls.__module__, cls.__qualname__, "+".join(sources)]


def _attributes_of(value: Any) -> dict[str, Any]:
    if any(vars(cls).get("__slots__") for cls in own_classes(type(value))):
        raise _UnkeptError
    attributes: dict[str, Any] = getattr(value, "__dict__", {})
    return attributes


def _plain(value: Any, depth: int = 0) -> Any:
    """What JSON can hold of a judge's state, without keys of servers, which do not change what is
    said: texts, numbers, collections, and objects that belong to the judge's own settings (of a
    user's classes, and models within a model). Other objects of packages (clients, locks) are left
    out: they differ from session to session. An `_UnkeptError` for anything else."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes | PurePath):
        return str(value)
    if depth >= _DEEPEST:
        raise _UnkeptError
    if isinstance(value, Mapping):
        kept = {name: item for name, item in value.items() if not _KEYS.search(str(name))}
        return {str(name): _plain(item, depth + 1) for name, item in kept.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(json.dumps(_plain(item, depth + 1), sort_keys=True) for item in value)
    if isinstance(value, functools.partial) or inspect.ismethod(value):
        raise _UnkeptError
    if inspect.isroutine(value):
        if not is_installed(cast("type", value)):
            raise _UnkeptError
        return [value.__module__, value.__qualname__]
    attributes = _attributes_of(value)
    is_model = any(isinstance(attributes.get(name), str) for name in _MODEL)
    if is_model or isinstance(value, SimpleNamespace) or not is_installed(type(value)):
        return [*_class_of(value), _plain(attributes, depth + 1)]
    return None
