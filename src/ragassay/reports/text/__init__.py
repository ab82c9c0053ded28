"""Results as text: terminal, Markdown, and the sentences below the tables."""
