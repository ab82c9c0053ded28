"""Checks of golden sets that need metrics and a judge."""
