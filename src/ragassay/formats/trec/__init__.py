"""TREC's files: runs, judgements, and the answers of its RAG tracks."""
