"""Nouns on disk: one schema from the dataclasses, read from and written to TOML and JSON."""
