"""The commands of ``ragassay golden``, a file a command."""
