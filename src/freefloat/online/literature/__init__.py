"""Recursions of the literature behind the same interface, to compare with."""
