from . import citation_parser as citation_parser
from .citable import Citable as Citable, passage_keys as passage_keys
from .citation_marks import marks as marks
from .citation_parser import (
    sentences as sentences,
    text_for_models as text_for_models,
    without_citations as without_citations,
)
from .citation_support import Citation as Citation, CitationOre as CitationOre
