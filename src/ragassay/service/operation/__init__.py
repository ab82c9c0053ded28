"""What keeps a service running: backups, retention, metrics, the log."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
