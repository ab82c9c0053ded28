"""Rubrics and judge prompts of a user's own: what they are, and reading them from YAML."""
