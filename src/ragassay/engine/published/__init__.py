"""Configuration files of published tools, translated into ours."""
