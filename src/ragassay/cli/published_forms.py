"""Commands in the form of published tools, as commands of ours: MT-RAG's ``--step``, and Open RAG
Eval's ``eval`` and ``generate-queries``."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.base.errors import UsageError

MTRAG = "mtrag"


def published_form(words: Sequence[str]) -> tuple[list[str], str] | None:
    """The words of ours for those of a published tool, and a sentence that says so; ``None`` where
    they are not of such a form.

    Raises:
        UsageError: the words lack something, or name what belongs elsewhere.
    """
    if words[:1] in (["run"], [MTRAG]) and any(
        f"{word}=".startswith("--step=") for word in words[1:]
    ):
        ours = _step(words)
        sentence = f"'--step {ours[1]}' is MT-RAG's form of 'ragassay {ours[0]} {ours[1]}'."
        return ours, sentence
    if words[:1] == ["eval"]:
        named = any(_flag(word) in ("--config", "-c") for word in words)
        ours = ["run", *words[1:], *([] if named else ["--config", "eval_config.yaml"])]
    elif words[:1] == ["generate-queries"]:
        ours = _generate_queries(words[1:])
    else:
        return None
    return ours, f"'{words[0]}' is Open RAG Eval's name for '{' '.join(['ragassay', *ours])}'."


def _flag(word: str) -> str:
    return word.partition("=")[0]


def _step(words: Sequence[str]) -> list[str]:
    """``run --step STEP`` and ``mtrag --step STEP``."""
    rest = [*words[1:]]
    step, suite = _taken(rest, "--step"), _taken(rest, "--suite", "-s")
    if not step:
        raise UsageError("--step needs the name of a step: --step idk.")
    if suite not in (None, MTRAG):
        raise UsageError(f"--step belongs to the suite {MTRAG}, not to {suite}.")
    return [MTRAG, step, *rest]


def _taken(words: list[str], *flags: str) -> str | None:
    """Takes a flag and its value out of words; the value."""
    for at, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag in flags:
            del words[at]
            return value if equals else words.pop(at) if at < len(words) else None
    return None


def _generate_queries(words: Sequence[str]) -> list[str]:
    rest = [word for word in words if _flag(word) not in ("--verbose", "-v")]
    config = _taken(rest, "--config")
    if any(_flag(word) == "--output" for word in rest):
        raise UsageError(
            "--output: name the file of queries in the configuration (output: base_filename). "
            "'ragassay golden synthesize CONFIG -o DIR' names the folder of the golden set."
        )
    rest = [
        "--n" + word.removeprefix("--num-queries") if _flag(word) == "--num-queries" else word
        for word in rest
    ]
    return ["golden", "synthesize", *([] if config is None else [config]), *rest]
