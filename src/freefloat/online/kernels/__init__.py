"""The compiled parts of the live filters."""
