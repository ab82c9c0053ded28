"""Commands that serve people, programs and agents: the service, its tokens, MCP."""
