"""Commands of published tools: trec_eval, MT-RAG, pipelines of UltraRAG, plots of Open RAG Eval."""
