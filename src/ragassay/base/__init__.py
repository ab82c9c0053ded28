"""The ground floor: samples, scores, notes and errors; files, JSON, YAML and printed text."""
