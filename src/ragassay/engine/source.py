"""Where samples come from: a file, records in memory, or samples themselves."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay import formats
from ragassay.engine.config import RunConfig
from ragassay.errors import InputError, UsageError
from ragassay.samples import Sample
from ragassay.strict import dumps

if TYPE_CHECKING:
    import hashlib as _hashlib

Data = str | Path | Iterable[Any]
"""A path, an iterable of `Sample`s or mappings, or a data frame."""


@dataclass
class Source:
    """Samples that can be streamed once.

    ``fingerprint`` identifies the data: the SHA-256 of the file's bytes, or (in memory) of the
    samples that were read, in which case it is complete only after the last of them.
    """

    samples: Iterator[Sample]
    title: str
    format: str
    path: Path | None = None
    qrels: Path | None = None
    _hash: _hashlib._Hash = field(default_factory=hashlib.sha256)

    @property
    def fingerprint(self) -> str:
        """``sha256:...`` of the data."""
        if self.path is not None:
            for path in filter(None, (self.path, self.qrels)):
                _hash_path(self._hash, path)
        return f"sha256:{self._hash.hexdigest()}"


def open_source(data: Data, config: RunConfig) -> Source:
    """The samples of ``data``, with gold passages joined from ``config.qrels``.

    Raises:
        InputError: the data cannot be read (some faults show only while it streams).
    """
    if isinstance(data, str | Path):
        return _from_path(Path(data), config)
    source = Source(iter(()), "samples in memory", "memory")
    source.samples = _limited(_hashed(_from_memory(data, config), source), config.limit)
    return source


def _from_path(path: Path, config: RunConfig) -> Source:
    name = config.format or formats.detect(path).name
    if name == "trec_run":
        from ragassay.formats import trec

        if config.qrels is None:
            raise UsageError(
                f"{path} is a TREC run, which holds no judgements. Name them with --qrels FILE."
            )
        samples: Iterator[Sample] = iter(trec.read_run_samples(path, Path(config.qrels)))
        samples = _limited(samples, config.limit)
    else:
        samples = formats.read(
            path,
            format=config.format,
            columns=config.columns or None,
            separator=config.separator,
            system=config.system,
            limit=config.limit,
            gold=config.qrels,
        )
    qrels = None if config.qrels is None else Path(config.qrels)
    return Source(samples, path.name, name, path, qrels)


def _from_memory(data: Iterable[Any], config: RunConfig) -> Iterator[Sample]:
    if hasattr(data, "columns"):
        records: Iterable[Any] = data
    else:
        iterator = iter(data)
        first = next(iterator, None)
        if first is None:
            raise InputError("there are no samples")
        records = chain([first], iterator)
        if isinstance(first, Sample):
            return iter(records)
    return formats.from_records(
        records,
        columns=config.columns or None,
        separator=config.separator,
        system=config.system,
    )


def _hashed(samples: Iterator[Sample], source: Source) -> Iterator[Sample]:
    for sample in samples:
        source._hash.update(dumps(formats.to_record(sample)))
        yield sample


def _hash_path(digest: _hashlib._Hash, path: Path) -> None:
    for item in sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]:
        with item.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)


def _limited(samples: Iterator[Sample], limit: int | None) -> Iterator[Sample]:
    return samples if limit is None else islice(samples, limit)
