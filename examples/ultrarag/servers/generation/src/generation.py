"""A generator without a model: it quotes the sentences that share most words with the question.

It stands where a call of a language model stands in a real pipeline.
"""

from __future__ import annotations

import re

from ragassay.mcp import PipelineServer

app = PipelineServer(__file__)
_ready: list[int] = []
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """
        a an and are at be can do does for from have how i if in is it many much my of on or the
        there to we what when where which who with you your
        """,
    )
)


@app.tool(output="sentences->None")
def generation_init(sentences: int) -> None:
    """Notes how many sentences an answer has."""
    _ready[:] = [sentences]


@app.tool(output="prompt_ls->ans_ls")
def generate(prompt_ls: list[str]) -> dict[str, list[str]]:
    """Answers each prompt."""
    return {"ans_ls": [_answer(prompt, _ready[0]) for prompt in prompt_ls]}


def _answer(prompt: str, n: int) -> str:
    documents, _, question = prompt.partition("Documents:")[2].rpartition("Question:")
    wanted = _words(question)
    sentences = re.split(r"(?<=[.!?])\s+", documents.strip())
    best = sorted(sentences, key=lambda one: len(wanted & _words(one)), reverse=True)[:n]
    return rf"The documents say: \boxed{{{' '.join(best)}}}"


def _words(text: str) -> set[str]:
    return {word.rstrip("s") for word in re.findall(r"\w+", text.lower())} - _COMMON


if __name__ == "__main__":
    app.run()
