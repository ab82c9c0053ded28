from .embedder import DEFAULT as DEFAULT, LocalEmbedder as LocalEmbedder
from .embedding import (
    Embedded as Embedded,
    Embedder as Embedder,
    is_blank as is_blank,
)
from .embedding_endpoint import TEXTS as TEXTS, EndpointEmbedder as EndpointEmbedder
from .vector_file import VectorFile as VectorFile
