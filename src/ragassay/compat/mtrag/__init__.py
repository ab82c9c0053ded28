"""MT-RAG's five steps over its record files."""
