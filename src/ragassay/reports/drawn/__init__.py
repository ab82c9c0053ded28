"""What draws a report: the terminal, Markdown, a notebook."""
