"""From a value in a file to a part of a sample: texts, numbers, passages, answers, messages."""
