"""Prompts made of questions and passages."""

from __future__ import annotations

from ragassay.mcp import PipelineServer

app = PipelineServer(__file__)


@app.tool(output="q_ls,ret_psg,template->prompt_ls")
def qa_rag_boxed(q_ls: list[str], ret_psg: list[list[str]], template: str) -> dict[str, list[str]]:
    """Puts each question and its passages into the template."""
    return {
        "prompt_ls": [
            template.replace("{documents}", "\n".join(passages)).replace("{question}", question)
            for question, passages in zip(q_ls, ret_psg, strict=True)
        ]
    }


if __name__ == "__main__":
    app.run()
