"""What a command shows and how it ends: printed lines, tables and JSON, progress, signals, logs."""
