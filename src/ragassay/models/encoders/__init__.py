"""Encoders of tokens, and BERTScore over them."""
