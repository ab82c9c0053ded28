"""What a word, a language and the name of a document are, for all that compares texts."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
