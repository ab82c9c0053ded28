"""What stands between the generator and the evaluation."""

from __future__ import annotations

from ragassay.mcp import PipelineServer

app = PipelineServer(__file__)
_BOXED = r"\boxed{"


@app.tool(output="ans_ls->pred_ls")
def output_extract_from_boxed(ans_ls: list[str]) -> dict[str, list[str]]:
    r"""Takes what the last ``\boxed{...}`` of an answer holds; all of it where there is none."""
    return {"pred_ls": [_inside(answer) for answer in ans_ls]}


def _inside(answer: str) -> str:
    start = answer.rfind(_BOXED)
    if start < 0:
        return answer.strip().strip("$").strip()
    depth, begin = 1, start + len(_BOXED)
    for at in range(begin, len(answer)):
        depth += {"{": 1, "}": -1}.get(answer[at], 0)
        if depth == 0:
            return answer[begin:at].strip().strip("$").strip()
    return answer.strip().strip("$").strip()


if __name__ == "__main__":
    app.run()
