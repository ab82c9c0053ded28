"""What the pages of reports are made of: a folder a report, on the machine that shows it."""
