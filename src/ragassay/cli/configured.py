"""The configuration of a command: from the file that it names, and from its flags."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.cli.flag_words import is_config
from ragassay.errors import UsageError

if TYPE_CHECKING:
    from ragassay.engine.config import RunConfig


def configured(data: Path | None, config: Path | None, flags: Mapping[str, Any]) -> RunConfig:
    """The configuration that a command is to use.

    Args:
        data: DATA: samples, or a configuration.
        config: the file that ``--config`` names.
        flags: the keys that flags set; they win over the file's, as DATA does.

    Raises:
        UsageError: nothing is named, or two configurations are, or an impossible flag.
        InputError: the file cannot be read, or something in it is wrong.
    """
    from ragassay.engine.config import make_config, read_config

    if data is not None and is_config(data):
        if config is not None:
            raise UsageError(
                f"{data} and {config} are both configurations. Name one of them, and the data."
            )
        data, config = None, data
    given = dict(flags) if data is None else {**flags, "data": str(data)}
    if config is not None:
        return read_config(config, given).config(given)
    if data is None:
        raise UsageError("No data is named. Give a file, or a configuration with --config.")
    return make_config(**given)
