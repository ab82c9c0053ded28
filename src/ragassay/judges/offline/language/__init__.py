"""What the rules know of language: words, numbers, units, sentences, and their lists."""
