"""What keeps a service running: backups, retention, metrics, the log."""
