"""What is wrong with a golden set, or worth a look: by words, by documents and by a judge."""
