"""The service: a team logs what its RAG system does, and reads evaluation reports."""
