"""UltraRAG's server ``evaluation``, computed by ragassay: a folder for ``servers/evaluation``."""

from ragassay.mcp import evaluation_server

app = evaluation_server(__file__)

if __name__ == "__main__":
    app.run()
