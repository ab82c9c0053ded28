"""Configuration files of Open RAG Eval (its page and its tool), translated into ours."""
