"""trec_eval's command: its flags and its printing."""
