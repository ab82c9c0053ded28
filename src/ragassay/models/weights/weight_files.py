"""Where a model's files are: in a folder that the user names, or in the hub's local cache, pinned
by its commit. Nothing is downloaded here."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from ragassay.base import packages
from ragassay.base.errors import json_problem
from ragassay.base.score import Reason

WEIGHT_FILES = (  # one of them is enough
    *("model.safetensors", "model.safetensors.index.json"),
    *("pytorch_model.bin", "pytorch_model.bin.index.json"),
)

CONFIG = "config.json"


@dataclass(frozen=True)
class KnownModel:
    """Facts about a model, by its page. ``size`` is about the bytes of the files needed, ``commit``
    the one that is taken where none is named, ``tokenizer`` whether only that is needed,
    ``companions`` models whose tokenizer it needs, ``examples`` a source, a text and the score that
    the page gives."""

    what: str = ""
    licence: str = ""
    size: int = 0
    commit: str = ""
    tokenizer: bool = False
    companions: Sequence[str] = ()
    examples: Sequence[Sequence[Any]] = ()


KNOWN: Mapping[str, KnownModel] = {
    name: KnownModel(**facts)
    for name, facts in packages.table("ragassay.models", "known_models.yaml").items()
}
"""By name on the hub; all that are pinned."""

PINNED: Mapping[str, str] = {name: known.commit for name, known in KNOWN.items()}
"""The commit of each model that ragassay uses by itself. Others may be pinned as NAME@COMMIT."""


class Unavailable(Exception):  # noqa: N818 - it says what is the case
    """A model, or a package that it needs, is not on this machine. The message says what to do."""

    reason: ClassVar[Reason] = Reason.NEEDS_EXTRA  # of outcomes that need it

    def saying(self, sentence: str) -> Unavailable:
        """The same error with another message."""
        return type(self)(sentence)


class Unusable(Unavailable):
    """A model is on this machine but cannot be used: damaged, no such layer, no such precision."""

    reason = Reason.FAILED


BY_MODEL = frozenset({Unavailable.reason, Unusable.reason})
"""Reasons of a missing score that lie with a model, and not with the sample."""


@dataclass(frozen=True)
class Weights:
    """Which weights: a name on the hub or the path of a folder, and the commit (empty for a folder,
    and for a hub's model that nobody pinned)."""

    name: str
    revision: str = ""

    @classmethod
    def parse(cls, text: str) -> Weights:
        """Reads ``NAME`` or ``NAME@COMMIT``; ragassay's own models are pinned without one."""
        name, revision = text, ""
        if "@" in text and not Path(text).is_dir():
            name, _, revision = text.rpartition("@")
        return cls(name, revision or PINNED.get(name, ""))

    @property
    def spellings(self) -> tuple[str, ...]:
        """How a user may name the model: alone, or with the commit, short or complete."""
        return self.name, str(self), f"{self.name}@{self.revision}"

    def __str__(self) -> str:
        return f"{self.name}@{self.revision[:12]}" if self.revision else self.name


def facts(weights: Weights) -> KnownModel:
    """What is known about a model; no facts about one that only a user names."""
    return KNOWN.get(weights.name, KnownModel())


def folder_of(weights: Weights, folders: Mapping[str, str]) -> Path:
    """The local folder that holds all files of a model, or an `Unavailable`."""
    return _checked(place_of(weights, folders), weights)


def place_of(weights: Weights, folders: Mapping[str, str]) -> Path:
    """The local folder of a model, whatever files it holds, or an `Unavailable`."""
    user_folder = _user_folder(weights, folders)
    if user_folder or Path(weights.name).is_dir():
        folder = Path(user_folder or weights.name)
        if not folder.is_dir():
            raise Unavailable(f"{folder}, named for the model {weights.name}, is not a folder")
        return folder
    if is_path(weights.name):
        raise Unavailable(no_folder(weights.name))
    cached = _cached(weights)
    if cached is None:
        raise Unavailable(
            f"the model {weights} is not on this machine: 'ragassay models fetch {weights.name}' "
            f"downloads it, or name a folder that holds it with --model {weights.name}=FOLDER"
        )
    return cached


def no_folder(name: str) -> str:
    """The message for a path where there is no folder."""
    absolute = Path(name).absolute()
    return f"there is no folder {name}{'' if str(absolute) == name else f' ({absolute})'}"


def missing_folder(name: str) -> str:
    """`no_folder` for a path where there is none; empty for any other name."""
    return no_folder(name) if is_path(name) and not Path(name).is_dir() else ""


def identity(weights: Weights, folders: Mapping[str, str]) -> str:
    """Distinguishes these weights from others, for signatures: name and commit, or for a folder its
    last name and the hash of its files. `Unavailable` where the model is not on this machine."""
    if (
        weights.revision
        and _user_folder(weights, folders) is None
        and not Path(weights.name).is_dir()
    ):
        return str(weights)
    return f"{Path(weights.name).name}#{_fingerprint(place_of(weights, folders))}"


def label_of(weights: Weights, folders: Mapping[str, str]) -> str:
    """A model's name for people: a folder's is its `identity`, which shows what it holds."""
    return identity(weights, folders) if Path(weights.name).is_dir() else str(weights)


def is_path(name: str) -> bool:
    """Whether a name can only be a folder's: a hub's model is called ``name`` or ``owner/name``."""
    if name.startswith((".", "/", "~", "\\")) or re.match(r"[A-Za-z]:[\\/]", name):
        return True
    return ":" not in name and (name.endswith(("/", "\\")) or len(re.findall(r"[\\/]", name)) > 1)


def _user_folder(weights: Weights, folders: Mapping[str, str]) -> str | None:
    """The folder that the user names for a model, by its name with or without the commit."""
    return next((folders[name] for name in weights.spellings if name in folders), None)


def needs_packages() -> None:
    """An `Unavailable` where a package of the extra ``models`` is not installed."""
    for package in ("torch", "transformers"):
        if find_spec(package) is None:
            raise Unavailable(f"models need the package {package}: pip install 'ragassay[models]'")


def _cached(weights: Weights) -> Path | None:
    """The folder of a commit (or of the main branch) in the hub's cache, also where it lacks files
    of the repository; ``None`` where it is not there."""
    needs_packages()
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        cached = try_to_load_from_cache(weights.name, CONFIG, revision=weights.revision or None)
    except HFValidationError:
        return None
    return Path(cached).parent if isinstance(cached, str) else None


def json_of(path: Path) -> Any:
    """The content of a file of a model's configuration; ``None`` where there is none."""
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        problem = f"{path} is damaged ({json_problem(error)}); copy or fetch it again"
        raise Unusable(problem) from error


def _checked(folder: Path, weights: Weights) -> Path:
    if not (folder / CONFIG).is_file():
        raise Unusable(f"{folder} holds no {CONFIG}, so it is not a model's folder")
    if not any((folder / name).exists() for name in WEIGHT_FILES):
        raise Unusable(
            f"{folder} holds no weights of {weights.name} ({', '.join(WEIGHT_FILES)}): fetch the "
            f"model again with 'ragassay models fetch {weights.name}'"
        )
    return folder


_PIECE = 1 << 20  # bytes


@cache
def _fingerprint(folder: Path) -> str:
    """A hash of a model's files; of large ones, of size, beginning and end."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if not path.is_file() or path.suffix == ".md" or inside.parts[0].startswith("."):
            continue
        size = path.stat().st_size
        digest.update(f"{inside} {size}\n".encode())
        with path.open("rb") as stream:
            digest.update(stream.read(_PIECE))
            stream.seek(max(0, size - _PIECE))
            digest.update(stream.read(_PIECE))
    return digest.hexdigest()[:12]
