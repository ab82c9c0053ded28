"""Reports for continuous integration: JUnit XML, GitHub's annotations and step summary.
All show the same gates."""
