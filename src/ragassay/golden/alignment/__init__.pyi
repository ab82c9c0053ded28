from .anchoring import Anchored as Anchored, anchor as anchor
from .chunk_alignment import ChunkAligner as ChunkAligner
from .text_finding import (
    MOST_SIGHTED as MOST_SIGHTED,
    Likeness as Likeness,
    TextFinder as TextFinder,
)
