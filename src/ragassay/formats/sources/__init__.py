"""Files of data: their bytes, text, lines, tables and JSON, with errors that say where."""
