"""Least squares on tables of many rows and few columns."""
