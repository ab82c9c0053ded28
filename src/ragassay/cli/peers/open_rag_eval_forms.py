"""Open RAG Eval's commands ``eval`` and ``generate-queries``, as commands of ours."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.base.errors import UsageError

_CONFIG = "eval_config.yaml"
"""Its default."""
_FLAGS = {"--num-queries": "--n", "--dry-run": "--dry-run"}


def open_rag_eval_form(words: Sequence[str]) -> list[str] | None:
    """The words of ours for those of one of its commands; ``None`` where they are not.

    Raises:
        UsageError: no configuration is named, or an output that the configuration has to name.
    """
    if words[:1] == ["eval"]:
        named = any(word.partition("=")[0] in ("--config", "-c") for word in words)
        return ["run", *words[1:], *([] if named else ["--config", _CONFIG])]
    if words[:1] != ["generate-queries"]:
        return None
    config, rest = None, []
    for word in (ahead := iter(words[1:])):
        flag, equals, value = word.partition("=")
        if flag == "--config":
            config = value if equals else next(ahead, None)
        elif flag == "--output":
            raise UsageError(
                "--output: name the file of queries in the configuration (output: base_filename, "
                "format). 'ragassay golden synthesize CONFIG -o DIR' names the folder of the "
                "golden set that is made beside it."
            )
        elif flag not in ("--verbose", "-v"):
            rest.append(_FLAGS.get(flag, flag) + equals + value)
    if config is None and not {"--help", "-h"} & set(rest):
        raise UsageError(
            "generate-queries needs --config FILE; ours is 'ragassay golden synthesize FILE'."
        )
    return ["golden", "synthesize", *([] if config is None else [config]), *rest]
