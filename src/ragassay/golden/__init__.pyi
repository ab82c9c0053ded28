from .anchoring import Anchored as Anchored, anchor as anchor
from .chunk_alignment import ChunkAligner as ChunkAligner
from .documents import Document as Document, load_documents as load_documents
from .golden_diff import Change as Change, difference as difference
from .golden_folder import (
    QUERIES as QUERIES,
    GoldenSet as GoldenSet,
    is_golden as is_golden,
    schema as schema,
    with_contexts as with_contexts,
)
from .golden_item import (
    GoldenItem as GoldenItem,
    GoldSpan as GoldSpan,
    NegativeReference as NegativeReference,
    Utterance as Utterance,
)
from .golden_join import joined as joined
from .golden_sampling import sampled as sampled, split as split
