"""Reports for continuous integration: JUnit XML, GitHub's annotations and step summary, a badge.
All show the same gates."""
