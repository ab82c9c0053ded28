"""Servers for the tests of pipelines: folders of UltraRAG's layout, and plain MCP servers."""

from pathlib import Path

HEAD = """
from ragassay.mcp import PipelineServer
app = PipelineServer(__file__)
"""
TAIL = """
if __name__ == "__main__":
    app.run()
"""


def server_folder(folder: Path, tools: str, parameters: str = "{}\n") -> Path:
    """A server folder.

    Args:
        folder: to make; its name is the server's.
        tools: Python source of functions under ``@app.tool(output=...)``.
        parameters: what ``parameter.yaml`` holds.
    """
    (folder / "src").mkdir(parents=True)
    (folder / "src" / f"{folder.name}.py").write_text(HEAD + tools + TAIL, encoding="utf-8")
    (folder / "parameter.yaml").write_text(parameters, encoding="utf-8")
    return folder
