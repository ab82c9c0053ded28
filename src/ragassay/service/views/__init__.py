"""What the pages of reports are made of: a folder a report, made once, on the machine that shows
it."""
