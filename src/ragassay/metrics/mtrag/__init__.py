"""MT-RAG's metrics, and their conditioning on answers that say "I don't know"."""
