"""Open RAG Eval's commands ``eval`` and ``generate-queries``, as commands of ours."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.base.errors import warn_user


def as_ours(words: Sequence[str]) -> list[str]:
    """The words of our command for one of Open RAG Eval's, with a note; others unchanged."""
    name, rest = (words[0] if words else ""), list(words[1:])
    if name == "eval":
        named = any(word.partition("=")[0] in ("--config", "-c") for word in rest)
        ours = ["run", *rest, *([] if named else ["--config", "eval_config.yaml"])]
    elif name == "generate-queries":
        kept = (word for word in rest if word not in ("--config", "--verbose", "-v"))
        ours = ["golden", "synthesize"]
        ours += [word.removeprefix("--config=").replace("--num-queries", "--n") for word in kept]
    else:
        return [*words]
    warn_user(f"'{name}' is Open RAG Eval's name for '{' '.join(['ragassay', *ours])}'.")
    return ours
