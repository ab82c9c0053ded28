"""A judge in Python: a user's function, or a chat model of LangChain or LlamaIndex.

It is asked as any model is: the ledger, limits, budget and strict reading of replies are those of
`LLMJudge`. Answers are kept where the object can be told apart from another one that would answer
otherwise.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragassay.judges.ledger import MEMORY, Ledger
from ragassay.judges.llm import LLMJudge
from ragassay.python_objects import is_as_written, is_installed, source_of
from ragassay.transport.endpoints import SAMPLING, TIMEOUT_S, PythonChat

_MODEL = ("model_name", "model", "model_id", "deployment_name", "azure_deployment")
"""Attributes by which chat models name the model that answers."""

_SETTINGS = (*SAMPLING, "base_url", "openai_api_base", "api_base", "azure_endpoint", "top_k")
"""Attributes of chat models that change what comes back."""

_KEYS = re.compile(r"(^|_)(key|secret|password|credentials?|token)$", re.IGNORECASE)
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class ObjectIdentity:
    """What tells a judge in Python from another one.

    Attributes:
        name: of the object, for people.
        version: what else its answers depend on; enters the identity of requests.
        unkept: why its answers are not kept, as the end of a sentence; empty where they are.
    """

    name: str
    version: str = ""
    unkept: str = ""


class PythonJudge(LLMJudge):
    """A Python object as a judge.

    Args:
        found: the object, see `ragassay.transport.endpoints.PythonChat`.
        name: under which its answers are kept and compared; made from module, name and source where
            left out.
        ledger: where answers are kept, if the object can be identified.
        timeout: seconds until a question is given up.
        options: further arguments of `LLMJudge`.

    Raises:
        UsageError: the object cannot be asked.
    """

    def __init__(
        self,
        found: Any,
        name: str | None = None,
        *,
        ledger: Ledger,
        timeout: float = TIMEOUT_S,
        **options: Any,
    ) -> None:
        self.identity = ObjectIdentity(name) if name else identity_of(found)
        self._own = Ledger(MEMORY) if self.identity.unkept else None
        shown, version = self.identity.name, self.identity.version
        super().__init__(
            PythonChat(found, shown, version, timeout=timeout),
            shown,
            ledger=self._own or ledger,
            label=f"python:{shown}",
            timeout=timeout,
            **options,
        )

    @property
    def signature(self) -> str:
        """Label and version."""
        version = self.identity.version
        return f"{self.label}({version})" if version else self.label

    async def close(self) -> None:
        """Ends what it holds."""
        await super().close()
        if self._own is not None:
            self._own.close()

    def remarks(self) -> tuple[str, ...]:
        """That its answers were not kept, where they were not."""
        if not self.identity.unkept:
            return ()
        return (
            f"The answers of {self.label} are not kept in the ledger, because "
            f"{self.identity.unkept}: the next run asks again. Name it with --judge-name "
            "(judge_name=...) to keep them; change that name when the judge changes.",
        )


def identity_of(found: Any) -> ObjectIdentity:
    """What identifies an object.

    Of an object with an attribute ``version``: its name and that version. Of a function that a file
    defines at its top level: its name and the hash of that file. Of a chat model: its class, its
    model's name, the settings that it shows, and a hash of its other plain attributes, and of the
    file that defines its class where that is no installed package.
    """
    is_function = inspect.isroutine(found)
    own = getattr(found, "__qualname__", None) or type(found).__qualname__
    short = own.rpartition("<locals>.")[2].strip("<>")
    module = getattr(found, "__module__", None) or type(found).__module__
    place = short if module in ("__main__", "builtins") else f"{module}:{short}"
    version = getattr(found, "version", None)
    if isinstance(version, str | int) and str(version):
        return ObjectIdentity(place, f"version={version}")
    if not is_function:
        model = _model_of(found)
        if model:
            told = ",".join(filter(None, (_settings_of(found), f"state={_state_of(found)}")))
            return ObjectIdentity(f"{type(found).__name__}:{model}", told)
        return ObjectIdentity(place, unkept="its state cannot be told apart from another's")
    if own == "<lambda>" or own.endswith(".<lambda>"):
        return ObjectIdentity(place, unkept="a lambda has no name")
    if "<locals>" in own or getattr(found, "__closure__", None):
        return ObjectIdentity(place, unkept="it is defined within another function")
    if getattr(found, "__self__", None) is not None and not inspect.isbuiltin(found):
        return ObjectIdentity(place, unkept="it is a method of an object with a state of its own")
    source = source_of(found)
    if not source:
        return ObjectIdentity(place, unkept="no file holds its source")
    if not is_as_written(found):
        return ObjectIdentity(place, unkept="its file was changed after it was imported")
    return ObjectIdentity(place, f"source={source}")


def _model_of(found: Any) -> str:
    metadata = getattr(found, "metadata", None)  # LlamaIndex
    for holder in (found, metadata):
        for attribute in _MODEL:
            value = getattr(holder, attribute, None)
            if isinstance(value, str) and value:
                return value
    return ""


def _state_of(found: Any) -> str:
    """The hash of a chat model's class, and of its attributes that are texts, numbers, or lists and
    mappings of these."""
    cls = type(found)
    source = "" if is_installed(cls) else source_of(found)
    told = [cls.__module__, cls.__qualname__, source, _plain(getattr(found, "__dict__", {}))]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def _plain(value: Any, depth: int = 0) -> Any:
    """What JSON can hold of a value, without keys of servers, which do not change what is said."""
    if isinstance(value, str | int | float):
        return value
    if depth < _DEEPEST and isinstance(value, Mapping):
        return {
            str(name): _plain(one, depth + 1)
            for name, one in value.items()
            if not _KEYS.search(str(name))
        }
    if depth < _DEEPEST and isinstance(value, list | tuple):
        return [_plain(one, depth + 1) for one in value]
    return None


def _settings_of(found: Any) -> str:
    given = {name: getattr(found, name, None) for name in _SETTINGS}
    told = [f"{n}={v}" for n, v in given.items() if isinstance(v, str | int | float) and v != ""]
    # An address may hold a password or a key, and this is shown in reports.
    return re.sub(r"//[^/@,]*@|\?[^,]*", lambda found: "//" * (found[0][0] == "/"), ",".join(told))
