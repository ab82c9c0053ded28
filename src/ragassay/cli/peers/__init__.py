"""Commands in the form of published tools: trec_eval, MT-RAG, UltraRAG, Open RAG Eval."""
