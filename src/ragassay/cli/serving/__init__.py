"""Commands that serve people, programs and agents: the service, its tokens, MCP."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
