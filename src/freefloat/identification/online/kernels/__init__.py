"""Compiled parts of live identification."""
