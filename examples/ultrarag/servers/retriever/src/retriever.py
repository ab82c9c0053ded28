"""A retriever: BM25 over the paragraphs of a folder, by the library bm25s."""

from __future__ import annotations

from pathlib import Path

import bm25s

from ragassay.mcp import PipelineServer

app = PipelineServer(__file__)
_passages: list[str] = []
_tokens: list[list[str]] = []
_index: list[bm25s.BM25] = []


@app.tool(output="corpus_path->None")
def retriever_init(corpus_path: str) -> None:
    """Reads the passages: the paragraphs of a folder of Markdown files."""
    blocks = [
        block.strip()
        for path in sorted(Path(corpus_path).glob("*.md"))
        for block in path.read_text(encoding="utf-8").split("\n")
    ]
    _passages[:] = [block for block in blocks if block and not block.startswith("#")]
    if not _passages:
        raise ValueError(f"{corpus_path} holds no Markdown")


@app.tool(output="->None")
def retriever_embed() -> None:
    """Splits the passages into words: what an embedding is to a dense retriever."""
    _tokens[:] = bm25s.tokenize(_passages, stopwords="en", return_ids=False, show_progress=False)


@app.tool(output="index_path,overwrite->None")
def retriever_index(index_path: str, overwrite: bool) -> None:
    """Makes the index and saves it."""
    if Path(index_path).exists() and not overwrite:
        _index[:] = [bm25s.BM25.load(index_path)]
        return
    index = bm25s.BM25()
    index.index(_tokens, show_progress=False)
    index.save(index_path)
    _index[:] = [index]


@app.tool(output="q_ls,top_k->ret_psg")
def retriever_search(q_ls: list[str], top_k: int) -> dict[str, list[list[str]]]:
    """Finds the best passages for each question."""
    words = bm25s.tokenize(q_ls, stopwords="en", return_ids=False, show_progress=False)
    found, _ = _index[0].retrieve(words, k=min(top_k, len(_passages)), show_progress=False)
    return {"ret_psg": [[_passages[place] for place in places] for places in found]}


if __name__ == "__main__":
    app.run()
