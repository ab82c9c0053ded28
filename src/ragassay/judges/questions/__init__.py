"""The built-in questions, one file a family. Their templates lie in ``judges/prompts``."""
