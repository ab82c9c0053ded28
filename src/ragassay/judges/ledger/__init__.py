"""The ledger of paid answers and vectors: its file, looking up, listing and cleaning."""

from ragassay.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
