"""The judge that asks a language model: requests, replies, and what its endpoint can do."""
